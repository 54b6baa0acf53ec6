// The most frequent keys, in little memory: exact as long as there are few different ones. From
// then on the smallest counts are given up: as much as makes room is subtracted from every count,
// so that each is too small by at most `error()` (Misra and Gries 1982; Agarwal et al. 2012 for
// merging).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quantiles.hpp"

namespace tfreel {

// Sorted keys, each once, with how often it was there.
std::vector<Counted> runs_of(std::span<const Key> sorted);

class Frequent {
 public:
  explicit Frequent(std::size_t most) noexcept : most_(most) {}

  // Adds counts, sorted by key. May leave more keys than there is room for: then `reduce`.
  void add(std::span<const Counted> counted);
  // The same where exactness is lost already: of many keys, those that are there once are dropped.
  void add_many(std::vector<Counted> counted);
  void merge(const Frequent& other);
  bool full() const noexcept { return counted_.size() > most_; }
  void reduce();

  bool has(Key key) const noexcept;
  // Sorted by key.
  std::span<const Counted> counted() const noexcept { return counted_; }
  std::uint64_t error() const noexcept { return error_; }
  template <typename Archive>
  void visit(Archive& archive) {
    archive(counted_, error_);
  }

 private:
  std::size_t most_;
  std::vector<Counted> counted_;
  std::uint64_t error_ = 0;
};

}  // namespace tfreel
