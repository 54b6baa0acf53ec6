// The only way to walk through bytes that came from outside. Every step is checked against what
// remains, so that a length read from a file can never move past the end of what was read.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace tfreel {

static_assert(std::endian::native == std::endian::little,
              "TFRecord integers are little-endian and are read as they lie in memory");

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  std::size_t remaining() const noexcept { return rest_.size(); }
  bool has(std::uint64_t size) const noexcept { return size <= rest_.size(); }

  // Each of these throws std::out_of_range rather than pass the end. Callers ask `has` first; the
  // throw is the second lock on the door.
  std::span<const std::byte> take(std::uint64_t size) {
    if (!has(size)) throw std::out_of_range("cursor moved past the end of its bytes");
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  std::uint32_t take_u32() { return take_integer<std::uint32_t>(); }
  std::uint64_t take_u64() { return take_integer<std::uint64_t>(); }

 private:
  template <typename Integer>
  Integer take_integer() {
    Integer value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::span<const std::byte> rest_;
};

}  // namespace tfreel
