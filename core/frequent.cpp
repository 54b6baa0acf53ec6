#include "frequent.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tfreel {
namespace {

// Takes the same from every count, and drops those that have nothing left.
void subtract(std::vector<Counted>& counted, std::uint64_t amount) {
  std::erase_if(counted, [&](const Counted& each) { return each.count <= amount; });
  for (Counted& each : counted) each.count -= amount;
}

}  // namespace

std::vector<Counted> runs_of(std::span<const Key> sorted) {
  std::vector<Counted> runs;
  runs.reserve(sorted.size());
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    runs.push_back({sorted[i], end - i});
    i = end;
  }
  return runs;
}

void Frequent::add(std::span<const Counted> counted) {
  std::vector<Counted> both;
  both.reserve(counted_.size() + counted.size());
  auto ours = counted_.begin();
  for (const Counted& each : counted) {
    while (ours != counted_.end() && ours->key < each.key) both.push_back(*ours++);
    if (ours != counted_.end() && ours->key == each.key) {
      both.push_back({each.key, each.count + (ours++)->count});
    } else {
      both.push_back(each);
    }
  }
  both.insert(both.end(), ours, counted_.end());
  counted_ = std::move(both);
}

void Frequent::add_many(std::vector<Counted> counted) {
  if (counted.size() > most_) {
    subtract(counted, 1);
    ++error_;
  }
  add(counted);
}

void Frequent::merge(const Frequent& other) {
  add(other.counted_);
  error_ += other.error_;
}

bool Frequent::has(Key key) const noexcept {
  return std::ranges::binary_search(counted_, key, {}, &Counted::key);
}

void Frequent::reduce() {
  if (!full()) return;
  std::vector<std::uint64_t> counts;
  counts.reserve(counted_.size());
  for (const Counted& each : counted_) counts.push_back(each.count);
  const auto first_lost = counts.begin() + static_cast<std::ptrdiff_t>(most_);
  std::nth_element(counts.begin(), first_lost, counts.end(), std::greater<>());
  const std::uint64_t amount = *first_lost;
  subtract(counted_, amount);
  error_ += amount;
}

}  // namespace tfreel
