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
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tfreel {

class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch = 0);

  std::uint64_t size() const noexcept { return size_; }

  // The index at `position`, which must be below size().
  std::uint64_t operator()(std::uint64_t position) const noexcept;

  // Puts the index at each position in its place; all of them must be below size(). Several times
  // as fast as one by one.
  void apply(std::span<std::uint64_t> positions) const noexcept;

 private:
  // Narrow halves mix little in a round, and are cheap: they have more of them.
  static constexpr std::size_t kNarrowRounds = 24;
  static constexpr std::size_t kWideRounds = 10;

  // What a round makes of one half, by each value of the other.
  using Table = std::array<std::uint8_t, 256>;

  int bits_changed(std::size_t round) const noexcept {
    return round % 2 == 0 ? left_bits_ : right_bits_;
  }
  void fill_tables();
  template <std::size_t kRounds, typename Half, std::size_t kLanes, typename Change>
  void run_rounds(std::span<std::uint64_t, kLanes> values, Change&& change) const noexcept;
  template <std::size_t kLanes>
  void scramble(std::span<std::uint64_t, kLanes> values) const noexcept;
  void apply_to_block(std::span<std::uint64_t> positions) const noexcept;

  std::uint64_t size_;
  int left_bits_;
  int right_bits_;
  std::array<std::uint64_t, kNarrowRounds> keys_{};
  std::vector<Table> tables_;  // of the rounds; none if the halves are too wide for them
};

}  // namespace tfreel
