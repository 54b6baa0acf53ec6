// The numbers of one feature in many rows, where nobody knows beforehand how many there are: they
// are decoded as they come, one behind the other, and counted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "example.hpp"

namespace tfreel {

// A packed run of varints. What lies behind it, up to `readable`, may be read though not used: the
// last varints then need no more care than the others.
class VarintRun {
 public:
  VarintRun(Bytes run, const std::byte* readable)
      : at_(run.data()), end_(at_ + run.size()), readable_(readable) {
    if (!run.empty() && run.back() >= std::byte{0x80}) {
      throw Malformed{at_, "a number that goes past the end"};
    }
  }

  // Of a run that another thread changes, the last varint may seem to end behind it.
  std::size_t remaining() const noexcept {
    return at_ < end_ ? static_cast<std::size_t>(end_ - at_) : 0;
  }

  // Writes the varints that begin in the next `bytes` bytes, and returns how many there are. There
  // must be room for one more than `bytes`.
  std::size_t take(std::size_t bytes, std::int64_t* out) {
    const std::byte* stop = at_ + bytes;
    std::int64_t* next = out;
    while (at_ < stop) {
      if (*at_ < std::byte{0x80}) {
        *next++ = std::to_integer<std::int64_t>(*at_++);
      } else if (readable_ - at_ < kWord || !take_two(stop, next)) {
        WireCursor cursor({at_, end_});
        *next++ = static_cast<std::int64_t>(cursor.take_varint());
        at_ = cursor.position();
      }
    }
    return static_cast<std::size_t>(next - out);
  }

 private:
  static constexpr std::ptrdiff_t kWord = sizeof(std::uint64_t);

  // Two varints of one word, the second only if it begins before `stop`. Their lengths decide on no
  // branch, which would often be mispredicted. False if the word does not hold them.
  bool take_two(const std::byte* stop, std::int64_t*& next) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at_, sizeof word);
    const std::uint64_t ends = ~word & 0x8080808080808080;
    const std::uint64_t later_ends = ends & (ends - 1);
    if (later_ends == 0) return false;
    const int first_bits = std::countr_zero(ends) + 1;
    const int both_bits = std::countr_zero(later_ends) + 1;
    next[0] = static_cast<std::int64_t>(join_groups(word & (ends ^ (ends - 1))));
    next[1] = static_cast<std::int64_t>(
        join_groups((word & (later_ends ^ (later_ends - 1))) >> first_bits));
    const bool both = at_ + first_bits / 8 < stop;
    at_ += (both ? both_bits : first_bits) / 8;
    next += both ? 2 : 1;
    return true;
  }

  const std::byte* at_;
  const std::byte* end_;
  const std::byte* readable_;
};

class Numbers {
 public:
  // Adds a packed run as the numbers of one row, or of one step of a feature list, and returns how
  // many they are. The memory behind the run may be read up to `readable`.
  std::size_t add_run(Kind kind, Bytes run, const std::byte* readable) {
    return count(kind == Kind::ints ? add_ints(run, readable) : add_floats(run, readable));
  }
  // The same with numbers that were not in one run.
  std::size_t add(const Values& values) {
    std::copy(values.ints.begin(), values.ints.end(), ints_.room(values.ints.size()));
    ints_.resize(ints_.size() + values.ints.size());
    std::copy(values.floats.begin(), values.floats.end(), floats_.room(values.floats.size()));
    floats_.resize(floats_.size() + values.floats.size());
    return count(values.ints.size() + values.floats.size());
  }
  void add_none() { count(0); }

  // Forgets the last `units` rows or steps.
  void drop(Kind kind, std::size_t units) {
    for (; units != 0; --units) {
      if (kind == Kind::ints) ints_.resize(ints_.size() - counts_.back());
      if (kind == Kind::floats) floats_.resize(floats_.size() - counts_.back());
      counts_.pop_back();
    }
  }
  void clear() noexcept {
    ints_.clear();
    floats_.clear();
    counts_.clear();
  }

  std::span<const std::int64_t> ints() const noexcept { return ints_.span(); }
  std::span<const float> floats() const noexcept { return floats_.span(); }
  // Copies the numbers, all of one kind, to a column of it: from the `first` one there.
  void copy_to(std::int64_t* ints, float* floats, std::size_t first) const {
    if (ints_.size() != 0) std::ranges::copy(ints_.span(), ints + first);
    if (floats_.size() != 0) std::ranges::copy(floats_.span(), floats + first);
  }
  // How many numbers each row or step has.
  std::span<const std::uint32_t> counts() const noexcept { return counts_; }
  std::size_t memory() const noexcept {
    return ints_.capacity() * sizeof(std::int64_t) + floats_.capacity() * sizeof(float) +
           counts_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::size_t count(std::size_t numbers) {
    counts_.push_back(static_cast<std::uint32_t>(numbers));
    return numbers;
  }

  // Room is made for as many numbers as there are bytes, which is sooner done than counting. Of a
  // long run that would be too much, so it is taken in pieces.
  std::size_t add_ints(Bytes bytes, const std::byte* readable) {
    constexpr std::size_t kPiece = 4096;
    const std::size_t before = ints_.size();
    VarintRun run(bytes, readable);
    while (const std::size_t left = run.remaining()) {
      const std::size_t piece = std::min(left, kPiece);
      const std::size_t taken = run.take(piece, ints_.room(piece + 1));
      ints_.resize(ints_.size() + taken);
    }
    return ints_.size() - before;
  }

  std::size_t add_floats(Bytes run, const std::byte* readable) {
    constexpr std::size_t kShort = 32;  // bytes, copied sooner than it is asked how many they are
    const std::size_t numbers = count_floats(run);
    float* out = floats_.room(std::max(numbers, kShort / sizeof(float)));
    if (run.size() <= kShort && readable - run.data() >= static_cast<std::ptrdiff_t>(kShort)) {
      std::memcpy(out, run.data(), kShort);
    } else {
      read_floats(run, numbers, out);
    }
    floats_.resize(floats_.size() + numbers);
    return numbers;
  }

  Buffer<std::int64_t> ints_;
  Buffer<float> floats_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace tfreel
