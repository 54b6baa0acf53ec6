#include "distinct.hpp"

#include <cmath>

namespace tfreel {
namespace {

// The two series by which registers that are empty, and those that are full, count in the estimate.
double weight_of_empty(double share) {
  if (share == 1.0) return HUGE_VAL;
  double sum = share;
  double factor = 1;
  for (double before = -1; sum != before; factor *= 2) {
    share *= share;
    before = sum;
    sum += share * factor;
  }
  return sum;
}

double weight_of_full(double share) {
  if (share == 0.0 || share == 1.0) return 0;
  double sum = 1 - share;
  double factor = 1;
  for (double before = -1; sum != before;) {
    share = std::sqrt(share);
    before = sum;
    factor /= 2;
    sum -= (1 - share) * (1 - share) * factor;
  }
  return sum / 3;
}

}  // namespace

// With the improved estimator of Ertl, "New cardinality estimation algorithms for HyperLogLog
// sketches" (2017), which has no bias for any number of keys.
double Distinct::estimate() const {
  const int longest = 64 - bits_ + 1;
  std::vector<double> registers_with(static_cast<std::size_t>(longest) + 1);
  for (const std::uint8_t value : registers_) ++registers_with[value];
  const auto count = static_cast<double>(registers_.size());
  double sum = count * weight_of_full(1 - registers_with.back() / count);
  for (int value = longest - 1; value >= 1; --value) {
    sum = (sum + registers_with[static_cast<std::size_t>(value)]) / 2;
  }
  sum += count * weight_of_empty(registers_with[0] / count);
  return count * count / (2 * std::log(2.0) * sum);
}

}  // namespace tfreel
