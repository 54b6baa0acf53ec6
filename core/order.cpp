#include "order.hpp"

#include <bit>

namespace tfreel {
namespace {

// The finaliser of SplitMix64: every output bit depends on every input bit.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

constexpr std::uint64_t low_bits(int count) noexcept { return (std::uint64_t{1} << count) - 1; }

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch) noexcept
    : size_(size) {
  // Two bits at least, so that both halves exist; 64 at most, so that no half is wider than 32.
  const int bits = size <= 4 ? 2 : static_cast<int>(std::bit_width(size - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  // Narrow halves mix little in a round, and are cheap: give them more of them.
  rounds_ = bits <= 16 ? kMostRounds : 10;
  // Seed and epoch pass the mixer one after the other: (seed, epoch + 1) and (seed + 1, epoch)
  // share nothing.
  std::uint64_t state = mix(mix(seed + kGolden) ^ (epoch + kGolden));
  for (auto& key : keys_) key = mix(state += kGolden);
}

std::uint64_t Permutation::scramble(std::uint64_t value) const noexcept {
  std::uint64_t left = value >> right_bits_;
  std::uint64_t right = value & low_bits(right_bits_);
  for (int round = 0; round < rounds_; round += 2) {
    left ^= mix(right + keys_[static_cast<std::size_t>(round)]) >> (64 - left_bits_);
    right ^= mix(left + keys_[static_cast<std::size_t>(round) + 1]) >> (64 - right_bits_);
  }
  return left << right_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t position) const noexcept {
  do position = scramble(position);
  while (position >= size_);
  return position;
}

void Permutation::fill(std::uint64_t first, std::span<std::uint64_t> out) const noexcept {
  for (auto& index : out) index = (*this)(first++);
}

}  // namespace tfreel
