// Quantiles of any number of keys in little memory, with a bound on the error that is proved, not
// probable.
//
// Keys of weight 1 come in at level 0. A level that is full is sorted already; every second of its
// keys goes up one level, with twice the weight, and the others are forgotten. The rank of a key
// then changes by at most the weight of one of them. All of these changes are added up: no answer
// is further off than `error()` says. (Munro and Paterson 1980; Manku, Rajagopalan, Lindsay 1998.)
// Whether the even or the odd ones go up alternates, so that most of the error cancels out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "keys.hpp"

namespace tfreel {

// A key, and how often it is there, or how many keys it stands for.
struct Counted {
  Key key;
  std::uint64_t count;
};

class Quantiles {
 public:
  // A level is full with so many keys.
  explicit Quantiles(std::size_t level_keys) noexcept : level_keys_(level_keys) {}

  void add_sorted(std::span<const Key> keys);
  // Each key as often as it was counted; sorted by key, and exact.
  void add_counted(std::span<const Counted> counted);
  void merge(const Quantiles& other);

  // The keys that are left with their weights, sorted; the weights add up to the number of keys
  // that came in.
  std::vector<Counted> points() const;
  // By how much the rank of any key among the points may differ from its true rank.
  std::uint64_t error() const noexcept { return error_; }
  template <typename Archive>
  void visit(Archive& archive) {
    const std::uint64_t levels = archive.count(levels_.size());
    if constexpr (Archive::kLoads) {
      archive.require(levels <= kMostLevels);
      levels_.resize(static_cast<std::size_t>(levels));
    }
    for (Level& level : levels_) {
      archive(level.keys);
      archive.flag(level.odd);
    }
    archive(error_);
  }

 private:
  static constexpr std::size_t kMostLevels = 48;  // of one more, a key would stand for 2^48 others
  struct Level {
    std::vector<Key> keys;
    bool odd = false;  // which ones go up next
  };

  void put(std::size_t level, std::span<const Key> sorted);
  void make_room();

  std::size_t level_keys_;
  std::vector<Level> levels_;
  std::uint64_t error_ = 0;
};

}  // namespace tfreel
