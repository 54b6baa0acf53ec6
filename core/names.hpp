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
  const auto difference = [&]<typename Word>(std::size_t at, Word) {
    Word x, y;
    std::memcpy(&x, a + at, sizeof x);
    std::memcpy(&y, b + at, sizeof y);
    return x ^ y;
  };
  // The last two words overlap, so that there is one branch for most names and none for each byte.
  if (size >= 8) {
    for (; size > 16; a += 8, b += 8, size -= 8) {
      if (difference(0, std::uint64_t{}) != 0) return false;
    }
    return (difference(0, std::uint64_t{}) | difference(size - 8, std::uint64_t{})) == 0;
  }
  if (size >= 4) {
    return (difference(0, std::uint32_t{}) | difference(size - 4, std::uint32_t{})) == 0;
  }
  for (std::size_t at = 0; at < size; ++at) {
    if (a[at] != b[at]) return false;
  }
  return true;
}

// A hash table of the names asked for. Only whoever asks puts names into it, so hostile records can
// make it no slower. It is made so large, and its hash so chosen, that mostly no two names share a
// slot: then the first look decides, and no branch in it is hard to predict.
class Names {
 public:
  // `names` must outlive this.
  explicit Names(std::span<const std::string_view> names) : names_(names.begin(), names.end()) {
    constexpr int kTries = 32;
    int bits = static_cast<int>(std::bit_width(8 * names.size() + 1));
    for (int i = 1; !fill(bits) && i < kTries; ++i) {
      salt_ += kMultiplier;
      if (i % 8 == 0) ++bits;
    }
  }

  // The position of `name` among the names, or kNobody.
  std::size_t find(Bytes name) const noexcept {
    for (std::size_t at = slot_of(name); slots_[at].position != kNobody; at = next(at)) {
      const Slot& slot = slots_[at];
      if (slot.name.size() == name.size() &&
          same_bytes(slot.name.data(), name.data(), name.size())) {
        return slot.position;
      }
    }
    return kNobody;
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

  struct Slot {
    Bytes name;
    std::size_t position = kNobody;
  };

  // Puts all names into a table of 2^bits slots; false if two wanted the same one.
  bool fill(int bits) {
    bool alone = true;
    shift_ = 64 - bits;
    slots_.assign(std::size_t{1} << bits, Slot{});
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Bytes name = bytes_of(names_[i]);
      std::size_t at = slot_of(name);
      for (; slots_[at].position != kNobody; at = next(at)) alone = false;
      slots_[at] = {name, i};
    }
    return alone;
  }
  // The upper bits of a product depend on all bits of its factors.
  std::size_t slot_of(Bytes name) const noexcept {
    return static_cast<std::size_t>(hash(name) >> shift_);
  }
  std::size_t next(std::size_t slot) const noexcept { return (slot + 1) & (slots_.size() - 1); }

  static Bytes bytes_of(std::string_view name) noexcept {
    return std::as_bytes(std::span(name.data(), name.size()));
  }
  std::uint64_t hash(Bytes name) const noexcept {
    const std::size_t size = name.size();
    std::uint64_t state = salt_ ^ size;
    const auto mix = [&](std::uint64_t word) {
      state = (state ^ word) * 0xff51afd7ed558ccd;
      state = (state ^ state >> 32) * kMultiplier;
    };
    const auto load = [&]<typename Word>(std::size_t at, Word) {
      Word word;
      std::memcpy(&word, name.data() + at, sizeof word);
      return std::uint64_t{word};
    };
    // The last load overlaps the one before, so that no byte has to be taken by itself.
    if (size >= 8) {
      for (std::size_t at = 0; at + 8 < size; at += 8) mix(load(at, std::uint64_t{}));
      mix(load(size - 8, std::uint64_t{}));
    } else if (size >= 4) {
      mix(load(0, std::uint32_t{}) | load(size - 4, std::uint32_t{}) << 32);
    } else {
      std::uint64_t word = 0;
      for (const std::byte byte : name) word = word << 8 | std::to_integer<std::uint64_t>(byte);
      mix(word);
    }
    return state;
  }

  std::uint64_t salt_ = kMultiplier;
  int shift_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::string_view> names_;
};

}  // namespace tfreel
