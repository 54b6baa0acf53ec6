// A hash of bytes, to tell values apart: the same on every machine, for ever, and about as fast as
// memory. It guards against nothing: whoever wants two values with one hash can make them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keys.hpp"
#include "wire.hpp"

namespace tfreel {

inline std::uint64_t hash_of(Bytes bytes) noexcept {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  // Four lanes, so that no multiplication waits for the one before.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  const auto mix = [](std::uint64_t lane, std::uint64_t word) {
    return std::rotl((lane ^ word) * kFactor, 29);
  };
  const std::size_t size = bytes.size();
  const auto rest_from = [&](std::size_t from) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + from, size - from < 8 ? size - from : 8);
    return word;
  };
  std::size_t at = 0;
  if (size <= 32) {
    std::uint64_t hash = size;
    for (; at < size; at += 8) hash = mix(hash, rest_from(at));
    return scattered(hash);
  }
  for (; at + 32 <= size; at += 32) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  for (; at < size; at += 8) lanes[at / 8 % 4] = mix(lanes[at / 8 % 4], rest_from(at));
  std::uint64_t hash = size;
  for (const std::uint64_t lane : lanes) hash = scattered(hash ^ lane) + kFactor;
  return scattered(hash);
}

}  // namespace tfreel
