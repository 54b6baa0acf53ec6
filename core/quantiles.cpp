#include "quantiles.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace tfreel {

void Quantiles::add_sorted(std::span<const Key> keys) {
  put(0, keys);
  make_room();
}

void Quantiles::add_counted(std::span<const Counted> counted) {
  // A count is a sum of powers of two, and each of them is the weight of a level.
  std::vector<std::vector<Key>> by_level;
  for (const Counted& each : counted) {
    for (std::uint64_t rest = each.count; rest != 0; rest &= rest - 1) {
      const auto level = static_cast<std::size_t>(std::countr_zero(rest));
      if (by_level.size() <= level) by_level.resize(level + 1);
      by_level[level].push_back(each.key);
    }
  }
  for (std::size_t level = 0; level < by_level.size(); ++level) put(level, by_level[level]);
  make_room();
}

void Quantiles::merge(const Quantiles& other) {
  for (std::size_t level = 0; level < other.levels_.size(); ++level) {
    put(level, other.levels_[level].keys);
  }
  error_ += other.error_;
  make_room();
}

std::vector<Counted> Quantiles::points() const {
  std::vector<Counted> points;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    for (const Key key : levels_[level].keys) points.push_back({key, std::uint64_t{1} << level});
  }
  std::ranges::sort(points, {}, &Counted::key);
  return points;
}

void Quantiles::put(std::size_t level, std::span<const Key> sorted) {
  if (levels_.size() <= level) levels_.resize(level + 1);
  std::vector<Key>& keys = levels_[level].keys;
  const auto before = static_cast<std::ptrdiff_t>(keys.size());
  keys.insert(keys.end(), sorted.begin(), sorted.end());
  std::inplace_merge(keys.begin(), keys.begin() + before, keys.end());
}

void Quantiles::make_room() {
  std::vector<Key> rising;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    Level& full = levels_[level];
    if (full.keys.size() < level_keys_) continue;
    const std::size_t pairs = full.keys.size() / 2;
    rising.resize(pairs);
    for (std::size_t i = 0; i < pairs; ++i) rising[i] = full.keys[2 * i + full.odd];
    full.odd = !full.odd;
    full.keys.erase(full.keys.begin(), full.keys.begin() + static_cast<std::ptrdiff_t>(2 * pairs));
    error_ += std::uint64_t{1} << level;
    put(level + 1, rising);
  }
}

}  // namespace tfreel
