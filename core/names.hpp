// Which of the features asked for is called so? Asked for every entry of every record, so a guess
// comes first: records of one writer mostly have the same names in the same order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "wire.hpp"

namespace tfreel {

inline constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

// Whether the first `size` bytes at `a` and at `b` are the same. For the short ones that names are
// this is quicker than memcmp.
inline bool same_bytes(const std::byte* a, const std::byte* b, std::size_t size) noexcept {
  const auto differ = [&]<typename Word>(std::size_t at, Word) {
    Word x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    return x != y;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 <= size; at += 8) {
      if (differ(at, std::uint64_t{})) return false;
    }
    return !differ(size - 8, std::uint64_t{});
  }
  if (size >= 4) return !differ(0, std::uint32_t{}) && !differ(size - 4, std::uint32_t{});
  for (std::size_t at = 0; at < size; ++at) {
    if (a[at] != b[at]) return false;
  }
  return true;
}

// A hash table of the names asked for. Only whoever asks puts names into it, so hostile records can
// make it no slower.
class Names {
 public:
  // `names` must outlive this.
  explicit Names(std::span<const std::string_view> names)
      : slots_(std::bit_ceil(2 * names.size() + 1), kNobody), names_(names.begin(), names.end()) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::size_t at = hash(bytes_of(names_[i])) & (slots_.size() - 1);
      while (slots_[at] != kNobody) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  // The position of `name` among the names, or kNobody.
  std::size_t find(Bytes name) const noexcept {
    std::size_t at = hash(name) & (slots_.size() - 1);
    for (; slots_[at] != kNobody; at = (at + 1) & (slots_.size() - 1)) {
      const Bytes known = bytes_of(names_[slots_[at]]);
      if (known.size() == name.size() && same_bytes(known.data(), name.data(), name.size())) {
        return slots_[at];
      }
    }
    return kNobody;
  }

 private:
  static Bytes bytes_of(std::string_view name) noexcept {
    return std::as_bytes(std::span(name.data(), name.size()));
  }
  static std::uint64_t hash(Bytes name) noexcept {
    std::uint64_t state = name.size() * 0x9e3779b97f4a7c15;
    const auto mix = [&](std::uint64_t word) {
      state = (state ^ word) * 0xff51afd7ed558ccd;
      state ^= state >> 32;
    };
    std::size_t at = 0;
    for (; at + 8 <= name.size(); at += 8) {
      std::uint64_t word;
      std::memcpy(&word, name.data() + at, 8);
      mix(word);
    }
    std::uint64_t rest = 0;
    for (; at < name.size(); ++at) rest = rest << 8 | std::to_integer<std::uint64_t>(name[at]);
    mix(rest);
    return state;
  }

  std::vector<std::size_t> slots_;
  std::vector<std::string_view> names_;
};

}  // namespace tfreel
