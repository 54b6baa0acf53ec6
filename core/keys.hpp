// Numbers as keys: unsigned integers that lie in the order of the numbers they stand for. What is
// counted, sorted and sketched are keys, so that no part of it is needed twice.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tfreel {

using Key = std::uint64_t;

inline constexpr Key kSignBit = Key{1} << 63;

constexpr Key key_of(std::int64_t number) noexcept { return static_cast<Key>(number) ^ kSignBit; }
constexpr std::int64_t int_of(Key key) noexcept {
  return static_cast<std::int64_t>(key ^ kSignBit);
}

// Of floats that are numbers. Both zeros have the key of the one without a sign.
constexpr Key key_of(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number + 0.0F);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000;
}
constexpr float float_of(Key key) noexcept {
  const auto bits = static_cast<std::uint32_t>(key);
  return std::bit_cast<float>(bits >> 31 != 0 ? bits & 0x7fffffff : ~bits);
}

// A number whose bits all depend on all bits of `key`.
constexpr std::uint64_t scattered(Key key) noexcept {
  key = (key ^ key >> 31) * 0x9fb21c651e98df25;
  key = (key ^ key >> 28) * 0xff51afd7ed558ccd;
  return key ^ key >> 32;
}

// Sorts keys, digit by digit from the lowest one that matters. Keys that lie close together, as
// those of labels and lengths do, have few of them.
inline void sort_keys(std::vector<Key>& keys) {
  constexpr int kDigitBits = 11;
  constexpr std::size_t kFew = 256;
  if (keys.size() < kFew) return std::sort(keys.begin(), keys.end());
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  const Key base = *least;
  const int bits = static_cast<int>(std::bit_width(*most - base));
  std::vector<Key> scratch(keys.size());
  std::array<std::uint32_t, std::size_t{1} << kDigitBits> starts;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [&](Key key) {
      return static_cast<std::size_t>((key - base) >> shift) & (starts.size() - 1);
    };
    starts.fill(0);
    for (const Key key : keys) ++starts[digit(key)];
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts) sum += std::exchange(start, sum);
    for (const Key key : keys) scratch[starts[digit(key)]++] = key;
    keys.swap(scratch);
  }
}

}  // namespace tfreel
