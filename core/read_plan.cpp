#include "read_plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tfreel {
namespace {

// Records that are no further apart come with one read: the bytes between them cost less than
// another call.
constexpr std::uint64_t kLargestGap = 2048;

struct Pick {
  std::uint64_t position;  // in the set
  std::size_t row;         // among those that are wanted
};

std::vector<Pick> in_order_of_reading(std::span<const std::uint64_t> positions) {
  std::vector<Pick> picks;
  picks.reserve(positions.size());
  for (const std::uint64_t position : positions) picks.push_back({position, picks.size()});
  if (!std::ranges::is_sorted(picks, {}, &Pick::position)) {
    std::ranges::sort(picks, {}, &Pick::position);
  }
  return picks;
}

class Planner {
 public:
  Planner(const Shards& shards, std::size_t size) : shards_(shards) {
    plan_.entries.reserve(size);
    plan_.picks.reserve(size);
    plan_.rows.reserve(size);
  }

  void add(const Pick& pick) {
    if (plan_.parts.empty() || pick.position >= shards_.end_of(plan_.parts.back().shard)) {
      const std::size_t begin = plan_.entries.size();
      plan_.parts.push_back({shards_.find(pick.position), begin, begin});
    }
    ReadPlan::Part& part = plan_.parts.back();
    add_record(shards_[part.shard], pick.position - shards_.begin_of(part.shard),
               part.begin == part.end);
    plan_.rows.push_back(pick.row);
    ++part.end;
  }

  ReadPlan take() noexcept { return std::move(plan_); }

 private:
  void add_record(const Shard& shard, std::uint64_t record, bool first) {
    if (!first && record == plan_.picks.back()) {  // it comes once, and is meant again
      plan_.entries.push_back(plan_.entries.back());
    } else {
      const std::uint64_t gap = first ? 0 : gap_before(shard.index.offsets[record]);
      place(shard, record, gap);
    }
    plan_.picks.push_back(record);
  }

  // The bytes to leave between the last record and one at `offset`: those that lie between them in
  // the file too, unless they are many.
  std::uint64_t gap_before(std::uint64_t offset) const noexcept {
    const Entry& last = plan_.entries.back();
    const std::uint64_t gap = offset - (last.offset + last.length + kFrameOverhead);
    return gap <= kLargestGap ? gap : 0;
  }

  void place(const Shard& shard, std::uint64_t record, std::uint64_t gap) {
    const std::uint64_t offset = shard.index.offsets[record];
    const std::uint64_t length = shard.index.lengths[record];
    const std::uint64_t size = shard.state.size;
    if (length > size || size - length < kFrameOverhead || offset > size - length - kFrameOverhead)
      throw std::length_error("index claims more than its file has");
    if (length > std::numeric_limits<std::size_t>::max() - plan_.bytes - gap - kFrameOverhead)
      throw std::length_error("more records than memory holds");
    const std::size_t position = plan_.bytes + gap;
    plan_.entries.push_back({offset, length, position, shard.index.checksums[record]});
    plan_.bytes = position + length + kFrameOverhead;
  }

  const Shards& shards_;
  ReadPlan plan_;
};

}  // namespace

ReadPlan plan_records(const Shards& shards, std::span<const std::uint64_t> positions) {
  Planner planner(shards, positions.size());
  for (const Pick& pick : in_order_of_reading(positions)) planner.add(pick);
  return planner.take();
}

}  // namespace tfreel
