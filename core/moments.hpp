// Sums of numbers and of their squares, without any rounding: so they are the same in every order,
// for any number of threads. Whoever asks for a mean rounds once, at the end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "keys.hpp"

namespace tfreel {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// How many keys may be added at once: so many squares of small numbers fit into 63 bits.
inline constexpr std::size_t kMostKeys = 4096;

class IntMoments {
 public:
  void add(std::int64_t number) noexcept {
    sum_ += number;
    const auto size = static_cast<Uint128>(number < 0 ? -static_cast<Int128>(number) : number);
    add_squares(size * size, 0);
  }
  void add(std::int64_t number, std::uint64_t times) noexcept {
    IntMoments doubled;
    doubled.add(number);
    for (; times != 0; times >>= 1) {
      if ((times & 1) != 0) merge(doubled);
      doubled.merge(IntMoments(doubled));
    }
  }
  // Keys of whole numbers, not more than kMostKeys.
  void add_sorted(std::span<const Key> keys) noexcept {
    if (keys.empty()) return;
    if (int_of(keys.front()) < -kSmall || int_of(keys.back()) > kSmall) {
      for (const Key key : keys) add(int_of(key));
      return;
    }
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (const Key key : keys) {
      const std::int64_t number = int_of(key);
      sum += number;
      squares += number * number;
    }
    sum_ += sum;
    add_squares(static_cast<Uint128>(squares), 0);
  }
  void merge(const IntMoments& other) noexcept {
    sum_ += other.sum_;
    add_squares(other.squares_, other.squares_above_);
  }

  Int128 sum() const noexcept { return sum_; }
  // The sum of squares, and what of it lies above 128 bits.
  Uint128 squares() const noexcept { return squares_; }
  std::uint64_t squares_above() const noexcept { return squares_above_; }
  template <typename Archive>
  void visit(Archive& archive) {
    archive(sum_, squares_, squares_above_);
  }

 private:
  static constexpr std::int64_t kSmall = std::int64_t{1} << 24;  // the squares of kMostKeys fit

  void add_squares(Uint128 squares, std::uint64_t above) noexcept {
    squares_ += squares;
    squares_above_ += above + (squares_ < squares ? 1 : 0);
  }

  Int128 sum_ = 0;
  Uint128 squares_ = 0;
  std::uint64_t squares_above_ = 0;
};

// Floats with one exponent are whole multiples of one number: those are added up.
class FloatMoments {
 public:
  struct Bin {
    Int128 sum = 0;
    Uint128 squares = 0;
  };
  static constexpr std::size_t kBins = 256;
  // What one is in bin 0, as a power of two; in bin i, i - 1 more. (Bin 0 is that of the
  // denormalized numbers, which have the exponent of bin 1.)
  static constexpr int kLeastExponent = -149;

  // Keys of finite floats, not more than kMostKeys.
  void add_sorted(std::span<const Key> keys) {
    if (keys.empty()) return;
    if (!bins_) bins_ = std::make_unique<std::array<Bin, kBins>>();
    // In their order, those with one exponent follow each other.
    for (auto next = keys.begin(); next != keys.end();) {
      const std::size_t exponent = exponent_of(*next);
      std::int64_t sum = 0;
      std::uint64_t squares = 0;
      for (; next != keys.end() && exponent_of(*next) == exponent; ++next) {
        const std::int64_t amount = amount_of(*next);
        sum += amount;
        squares += static_cast<std::uint64_t>(amount * amount);
      }
      (*bins_)[exponent].sum += sum;
      (*bins_)[exponent].squares += squares;
    }
  }
  void merge(const FloatMoments& other) {
    if (!other.bins_) return;
    if (!bins_) bins_ = std::make_unique<std::array<Bin, kBins>>();
    for (std::size_t i = 0; i < kBins; ++i) {
      (*bins_)[i].sum += (*other.bins_)[i].sum;
      (*bins_)[i].squares += (*other.bins_)[i].squares;
    }
  }

  // None if there are no numbers.
  const std::array<Bin, kBins>* bins() const noexcept { return bins_.get(); }
  template <typename Archive>
  void visit(Archive& archive) {
    archive.maybe(bins_);
  }

 private:
  static std::size_t exponent_of(Key key) noexcept {
    return std::bit_cast<std::uint32_t>(float_of(key)) >> 23 & 0xff;
  }
  static std::int64_t amount_of(Key key) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(float_of(key));
    const std::int64_t amount = (bits & 0x7fffff) | (exponent_of(key) != 0 ? 0x800000U : 0U);
    return bits >> 31 != 0 ? -amount : amount;
  }

  std::unique_ptr<std::array<Bin, kBins>> bins_;
};

}  // namespace tfreel
