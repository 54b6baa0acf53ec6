#include "order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tfreel {
namespace {

// The finaliser of SplitMix64: every output bit depends on every input bit.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

// A round waits for the one before it. With so many positions side by side, the processor has
// something to do meanwhile.
constexpr std::size_t kAtOnce = 8;
constexpr std::size_t kBlock = 32 * kAtOnce;

constexpr std::uint64_t low_bits(int count) noexcept { return (std::uint64_t{1} << count) - 1; }

constexpr std::uint64_t top_bits(std::uint64_t x, int count) noexcept { return x >> (64 - count); }

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(size) {
  // Two bits at least, so that both halves exist; 64 at most, so that no half is wider than 32.
  const int bits = size <= 4 ? 2 : static_cast<int>(std::bit_width(size - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
  // Seed and epoch pass the mixer one after the other: (seed, epoch + 1) and (seed + 1, epoch)
  // share nothing.
  std::uint64_t state = mix(mix(seed + kGolden) ^ (epoch + kGolden));
  for (auto& key : keys_) key = mix(state += kGolden);
  if (bits <= 16) fill_tables();
}

void Permutation::fill_tables() {
  tables_.resize(kNarrowRounds);
  for (std::size_t round = 0; round < kNarrowRounds; ++round) {
    const std::uint64_t end = std::uint64_t{1} << bits_changed(round + 1);
    for (std::uint64_t half = 0; half < end; ++half) {
      tables_[round][half] =
          static_cast<std::uint8_t>(top_bits(mix(half + keys_[round]), bits_changed(round)));
    }
  }
}

template <std::size_t kRounds, typename Half, std::size_t kLanes, typename Change>
void Permutation::run_rounds(std::span<std::uint64_t, kLanes> values,
                             Change&& change) const noexcept {
  std::array<Half, kLanes> left;
  std::array<Half, kLanes> right;
  for (std::size_t i = 0; i < kLanes; ++i) {
    left[i] = static_cast<Half>(values[i] >> right_bits_);
    right[i] = static_cast<Half>(values[i] & low_bits(right_bits_));
  }
  for (std::size_t round = 0; round < kRounds; round += 2) {
    for (std::size_t i = 0; i < kLanes; ++i) left[i] ^= change(round, right[i]);
    for (std::size_t i = 0; i < kLanes; ++i) right[i] ^= change(round + 1, left[i]);
  }
  for (std::size_t i = 0; i < kLanes; ++i)
    values[i] = std::uint64_t{left[i]} << right_bits_ | right[i];
}

template <std::size_t kLanes>
void Permutation::scramble(std::span<std::uint64_t, kLanes> values) const noexcept {
  if (tables_.empty()) {
    run_rounds<kWideRounds, std::uint64_t>(values, [this](std::size_t round, std::uint64_t half) {
      return top_bits(mix(half + keys_[round]), bits_changed(round));
    });
  } else {
    run_rounds<kNarrowRounds, std::uint32_t>(
        values, [this](std::size_t round, std::uint32_t half) { return tables_[round][half]; });
  }
}

std::uint64_t Permutation::operator()(std::uint64_t position) const noexcept {
  do scramble(std::span<std::uint64_t, 1>(&position, 1));
  while (position >= size_);
  return position;
}

void Permutation::apply(std::span<std::uint64_t> positions) const noexcept {
  while (!positions.empty()) {
    const auto block = positions.first(std::min(positions.size(), kBlock));
    apply_to_block(block);
    positions = positions.subspan(block.size());
  }
}

void Permutation::apply_to_block(std::span<std::uint64_t> positions) const noexcept {
  std::array<std::uint64_t, kBlock> walking{};  // those that are outside, close together
  std::array<std::size_t, kBlock> places;       // where each of them belongs
  std::ranges::copy(positions, walking.begin());
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t count = positions.size(); count > 0;) {
    for (std::size_t i = 0; i < count; i += kAtOnce)
      scramble(std::span(walking).subspan(i).first<kAtOnce>());
    std::size_t outside = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (walking[i] < size_) {
        positions[places[i]] = walking[i];
      } else {
        places[outside] = places[i];
        walking[outside++] = walking[i];
      }
    }
    count = outside;
  }
}

}  // namespace tfreel
