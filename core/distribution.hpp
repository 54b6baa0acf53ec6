// How keys are distributed: their number, the least and the greatest, how many different ones, the
// most frequent, and quantiles. All of it is exact as long as there are few different keys, and in
// bounded memory always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "distinct.hpp"
#include "frequent.hpp"
#include "quantiles.hpp"

namespace tfreel {

// How much memory a distribution may take. Two are merged only if theirs is the same.
struct Precision {
  std::size_t batch_keys;     // that are sorted together
  std::size_t frequent_keys;  // up to so many different keys everything is exact
  std::size_t level_keys;     // of quantiles
  int distinct_bits;
};
inline constexpr Precision kFine{4096, 1024, 4096, 14};
inline constexpr Precision kCoarse{512, 256, 512, 11};  // where there are many groups

class Distribution {
 public:
  explicit Distribution(const Precision& precision) noexcept
      : precision_(precision), frequent_(precision.frequent_keys) {}

  // True if there is no room for more: then `flush`.
  bool add(Key key) {
    batch_.push_back(key);
    return batch_.size() >= precision_.batch_keys;
  }
  void add(Key key, std::uint64_t times);
  // Keys wait to be sorted together. Whoever asks for anything below calls this first. `on_sorted`
  // gets the keys that waited.
  template <typename OnSorted>
  void flush(OnSorted&& on_sorted) {
    if (batch_.empty()) return;
    sort_keys(batch_);
    on_sorted(std::span<const Key>(batch_));
    take_batch();
  }
  void flush() {
    flush([](std::span<const Key>) {});
  }
  // Both must be flushed.
  void merge(const Distribution& other);

  std::uint64_t count() const noexcept { return count_; }
  Key least() const noexcept { return least_; }
  Key most() const noexcept { return most_; }
  bool is_frequent(Key key) const noexcept { return frequent_.has(key); }
  // Whether everything is.
  bool exact() const noexcept { return !sketches_; }
  double distinct() const;
  std::span<const Counted> frequent() const noexcept { return frequent_.counted(); }
  std::uint64_t frequent_error() const noexcept { return frequent_.error(); }
  std::vector<Counted> points() const;
  std::uint64_t rank_error() const noexcept { return sketches_ ? sketches_->quantiles.error() : 0; }
  // Flushed.
  template <typename Archive>
  void visit(Archive& archive) {
    archive(count_, least_, most_, frequent_);
    bool sketched = sketches_.has_value();
    archive.flag(sketched);
    if (!sketched) return;
    if (!sketches_) sketches_ = sketches_of(precision_, {});
    archive(sketches_->quantiles, sketches_->distinct);
  }

 private:
  struct Sketches {
    Quantiles quantiles;
    Distinct distinct;
  };

  void take_batch();
  void take(std::vector<Counted> counted);
  static Sketches sketches_of(const Precision& precision, std::span<const Counted> exact);

  Precision precision_;
  std::uint64_t count_ = 0;
  Key least_ = std::numeric_limits<Key>::max();
  Key most_ = 0;
  std::vector<Key> batch_;
  Frequent frequent_;
  std::optional<Sketches> sketches_;  // when there are too many different keys to be exact
};

}  // namespace tfreel
