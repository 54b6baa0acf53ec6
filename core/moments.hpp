// Sums of numbers and of their squares, without any rounding: so they are the same in every order,
// for any number of threads. Whoever asks for a mean rounds once, at the end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace tfreel {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

class IntMoments {
 public:
  void add(std::int64_t number) noexcept {
    sum_ += number;
    const auto size = static_cast<Uint128>(number < 0 ? -static_cast<Int128>(number) : number);
    add_squares(size * size, 0);
  }
  void merge(const IntMoments& other) noexcept {
    sum_ += other.sum_;
    add_squares(other.squares_, other.squares_above_);
  }

  Int128 sum() const noexcept { return sum_; }
  // The sum of squares, and what of it lies above 128 bits.
  Uint128 squares() const noexcept { return squares_; }
  std::uint64_t squares_above() const noexcept { return squares_above_; }

 private:
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

  // Of a finite number.
  void add(float number) {
    if (!bins_) bins_ = std::make_unique<std::array<Bin, kBins>>();
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::size_t exponent = bits >> 23 & 0xff;
    const std::uint64_t size = (bits & 0x7fffff) | (exponent != 0 ? 0x800000U : 0U);
    Bin& bin = (*bins_)[exponent];
    const auto amount = static_cast<std::int64_t>(size);
    bin.sum += bits >> 31 != 0 ? -amount : amount;
    bin.squares += size * size;
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

 private:
  std::unique_ptr<std::array<Bin, kBins>> bins_;
};

}  // namespace tfreel
