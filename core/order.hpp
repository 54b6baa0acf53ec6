// A keyed permutation of [0, size): the order of a shuffled epoch, as arithmetic. No list of
// indices exists anywhere; any position can be asked for in constant time and memory.
//
// The order is a promise. For the same size, seed and epoch it is the same on every machine, thread
// count and version, for ever: checkpoints of users depend on it, and fixed vectors in the tests
// guard it.
//
// How: an alternating Feistel network over the smallest power of two that covers the set, followed
// by cycle walking (what falls outside [0, size) is sent through again; fewer than half of all
// steps do).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tfreel {

class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch = 0) noexcept;

  std::uint64_t size() const noexcept { return size_; }

  // The index at `position`, which must be below size().
  std::uint64_t operator()(std::uint64_t position) const noexcept;

  // Fills `out` with the indices at `first`, `first + 1`, …; all of them must be below size().
  void fill(std::uint64_t first, std::span<std::uint64_t> out) const noexcept;

 private:
  static constexpr int kMostRounds = 24;

  std::uint64_t scramble(std::uint64_t value) const noexcept;

  std::uint64_t size_;
  int left_bits_;
  int right_bits_;
  int rounds_;
  std::array<std::uint64_t, kMostRounds> keys_{};
};

}  // namespace tfreel
