#include "distribution.hpp"

#include <algorithm>
#include <utility>

namespace tfreel {

void Distribution::take_batch() {
  if (sketches_) sketches_->quantiles.add_sorted(batch_);
  take(runs_of(batch_));
  batch_.clear();
}

void Distribution::add(Key key, std::uint64_t times) {
  const Counted counted{key, times};
  if (sketches_) sketches_->quantiles.add_counted({&counted, 1});
  take({counted});
}

// Takes sorted keys that were counted; quantiles have them already, if there are any.
void Distribution::take(std::vector<Counted> counted) {
  for (const Counted& each : counted) count_ += each.count;
  least_ = std::min(least_, counted.front().key);
  most_ = std::max(most_, counted.back().key);
  if (sketches_) {
    for (const Counted& each : counted) sketches_->distinct.add(each.key);
    frequent_.add_many(std::move(counted));
  } else {
    frequent_.add(counted);
    if (frequent_.full()) sketches_ = sketches_of(precision_, frequent_.counted());
  }
  frequent_.reduce();
}

void Distribution::merge(const Distribution& other) {
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
