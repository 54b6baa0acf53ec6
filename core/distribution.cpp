#include "distribution.hpp"

#include <algorithm>

namespace tfreel {

void Distribution::flush() {
  if (batch_.empty()) return;
  sort_keys(batch_);
  count_ += batch_.size();
  least_ = std::min(least_, batch_.front());
  most_ = std::max(most_, batch_.back());
  std::vector<Counted> runs = runs_of(batch_);
  if (sketches_) {
    sketches_->quantiles.add_sorted(batch_);
    for (const Counted& run : runs) sketches_->distinct.add(run.key);
    frequent_.add_many(std::move(runs));
  } else {
    frequent_.add(runs);
    if (frequent_.full()) sketches_ = sketches_of(precision_, frequent_.counted());
  }
  frequent_.reduce();
  batch_.clear();
}

void Distribution::merge(const Distribution& other) {
  flush();
  count_ += other.count_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
  if (other.sketches_ && !sketches_) sketches_ = sketches_of(precision_, frequent_.counted());
  if (other.sketches_) {
    sketches_->quantiles.merge(other.sketches_->quantiles);
    sketches_->distinct.merge(other.sketches_->distinct);
  } else if (sketches_) {
    sketches_->quantiles.add_counted(other.frequent());
    for (const Counted& each : other.frequent()) sketches_->distinct.add(each.key);
  }
  frequent_.merge(other.frequent_);
  if (!sketches_ && frequent_.full()) sketches_ = sketches_of(precision_, frequent_.counted());
  frequent_.reduce();
}

double Distribution::distinct() const {
  return sketches_ ? sketches_->distinct.estimate() : static_cast<double>(frequent().size());
}

std::vector<Counted> Distribution::points() const {
  if (sketches_) return sketches_->quantiles.points();
  return {frequent().begin(), frequent().end()};
}

Distribution::Sketches Distribution::sketches_of(const Precision& precision,
                                                 std::span<const Counted> exact) {
  Sketches sketches{Quantiles(precision.level_keys), Distinct(precision.distinct_bits)};
  sketches.quantiles.add_counted(exact);
  for (const Counted& each : exact) sketches.distinct.add(each.key);
  return sketches;
}

}  // namespace tfreel
