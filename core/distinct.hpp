// How many different keys there are, in a few kilobytes, whatever their number: HyperLogLog
// (Flajolet, Fusy, Gandouet, Meunier 2007). The typical error is 1.04 / sqrt(registers). The order
// of keys and of merging does not matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "keys.hpp"

namespace tfreel {

class Distinct {
 public:
  // 2^bits registers.
  explicit Distinct(int bits) : bits_(bits), registers_(std::size_t{1} << bits) {}

  // Keeps, in the register that the first bits of the hash name, how late in the others the first
  // one comes.
  void add(Key key) noexcept {
    const std::uint64_t hash = scattered(key);
    const auto zeros = std::min(std::countl_zero(hash << bits_), 64 - bits_);
    std::uint8_t& place = registers_[static_cast<std::size_t>(hash >> (64 - bits_))];
    place = std::max(place, static_cast<std::uint8_t>(zeros + 1));
  }
  void merge(const Distinct& other) noexcept {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      registers_[i] = std::max(registers_[i], other.registers_[i]);
    }
  }
  double estimate() const;
  template <typename Archive>
  void visit(Archive& archive) {
    archive.fixed(registers_);
    if constexpr (Archive::kLoads) {
      for (const std::uint8_t value : registers_) archive.require(value <= 64 - bits_ + 1);
    }
  }

 private:
  int bits_;
  std::vector<std::uint8_t> registers_;
};

}  // namespace tfreel
