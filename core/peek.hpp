// Numbers at any place of a value, in either order of bytes; nothing where the value ends before.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "wire.hpp"

namespace tfreel {

template <typename Number>
std::optional<Number> peek(Bytes value, std::uint64_t at,
                           std::endian order = std::endian::little) noexcept {
  if (at > value.size() || value.size() - at < sizeof(Number)) return {};
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    const std::size_t place = order == std::endian::little ? sizeof(Number) - 1 - i : i;
    const auto byte = std::to_integer<unsigned>(value[static_cast<std::size_t>(at) + place]);
    number = static_cast<Number>(static_cast<std::uint64_t>(number) << 8 | byte);
  }
  return number;
}

// Whether these bytes are at this place.
inline bool has_at(Bytes value, std::size_t at, std::string_view bytes) noexcept {
  return at <= value.size() && value.size() - at >= bytes.size() &&
         std::memcmp(value.data() + at, bytes.data(), bytes.size()) == 0;
}

}  // namespace tfreel
