#include "read_plan.hpp"

#include <atomic>
#include <stdexcept>

#include "check.hpp"
#include "fetch.hpp"
#include "shard_files.hpp"

namespace tfreel {
namespace {

using check::ShardSet;
using Positions = std::vector<std::uint64_t>;

// How many reads it takes to follow a plan.
std::size_t count_reads(const ReadPlan& plan) {
  std::size_t reads = 0;
  for (const ReadPlan::Part& part : plan.parts) {
    for (std::size_t first = part.begin; first < part.end; ++reads) {
      first += run_length(std::span(plan.entries).subspan(first, part.end - first));
    }
  }
  return reads;
}

std::size_t reads_for(const ShardSet& set, const Positions& positions) {
  return count_reads(plan_records(Shards(set.shards()), positions));
}

template <typename Error>
bool refuses(const std::vector<Shard>& shards, const Positions& positions) {
  try {
    plan_records(Shards(shards), positions);
  } catch (const Error&) {
    return true;
  }
  return false;
}

TEST(a_plan_reads_from_front_to_back_and_knows_the_rows) {
  const ShardSet set(3, 10);
  const ReadPlan plan = plan_records(Shards(set.shards()), Positions{25, 3, 14, 20, 3});
  CHECK(plan.picks == (Positions{3, 3, 4, 0, 5}));
  CHECK_EQ(plan.parts.size(), 3u);
  CHECK_EQ(plan.parts[2].shard, 2u);
  CHECK_EQ(plan.parts[2].end - plan.parts[2].begin, 2u);
  CHECK_EQ(plan.rows[2], 2u);
  CHECK_EQ(plan.rows[3], 3u);
  CHECK_EQ(plan.rows[4], 0u);
}

TEST(records_in_order_come_with_one_read_of_each_file) {
  const ShardSet set(2, 10);
  CHECK_EQ(reads_for(set, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), 2u);
  CHECK_EQ(reads_for(set, {}), 0u);
}

TEST(records_near_each_other_come_with_one_read_in_any_order) {
  const ShardSet set(1, 100);
  CHECK_EQ(reads_for(set, {40, 0, 44, 20, 42, 60, 20}), 1u);
}

TEST(records_far_from_each_other_are_read_one_by_one_and_once) {
  const ShardSet set(1, 10, 5000);
  CHECK_EQ(reads_for(set, {8, 0, 4, 8, 2, 6, 0}), 5u);
  CHECK_EQ(reads_for(set, {8, 0, 4, 7}), 3u);
  const ReadPlan plan = plan_records(Shards(set.shards()), Positions{8, 0, 8});
  CHECK_EQ(plan.entries[1].position, plan.entries[2].position);
  CHECK_EQ(plan.bytes, plan.entries[2].position + plan.entries[2].length + kFrameOverhead);
}

TEST(a_read_ends_after_a_megabyte) {
  const ShardSet set(1, 40, 100'000);
  Positions all(40);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  CHECK_EQ(reads_for(set, all), 4u);
}

TEST(a_plan_refuses_what_is_not_there) {
  const ShardSet set(2, 10);
  CHECK(refuses<std::out_of_range>(set.shards(), {3, 20}));
  CHECK(refuses<std::out_of_range>({}, {0}));
  auto shards = set.shards();
  for (const std::uint64_t claim : {shards[1].state.size, ~std::uint64_t{0}}) {
    Positions claims(10, claim);
    shards[1].index.lengths = claims;
    CHECK(refuses<std::length_error>(shards, {13}));
    shards[1].index.lengths = set.shards()[1].index.lengths;
    shards[1].index.offsets = claims;
    CHECK(refuses<std::length_error>(shards, {13}));
    shards[1].index.offsets = set.shards()[1].index.offsets;
    CHECK(!refuses<std::length_error>(shards, {13}));
  }
}

const std::atomic<bool> kGoOn = false;

TEST(shards_keep_few_files_open_and_those_that_are_used) {
  const ShardSet set(5, 1);
  Shards shards(set.shards(), {.most_open = 2});
  const auto used = shards.open(0, kGoOn);
  CHECK(shards.open(0, kGoOn) == used);
  std::vector<std::weak_ptr<const ShardFile>> opened;
  for (std::size_t i = 1; i < 5; ++i) opened.push_back(shards.open(i, kGoOn));
  CHECK_EQ(opened[0].expired() + opened[1].expired(), 2);
  CHECK_EQ(opened[2].expired() + opened[3].expired(), 0);
  CHECK(used->state() == set.shards()[0].state);
}

std::uint64_t bytes_of(const ShardSet& set) {
  std::uint64_t all = 0;
  for (const Shard& shard : set.shards()) all += shard.state.size;
  return all;
}

TEST(a_small_set_that_is_read_often_is_held_however_few_files_may_be_open) {
  const ShardSet set(5, 1000);
  Shards shards(set.shards(), {.most_open = 2, .most_held = bytes_of(set)});
  shards.count_reads(bytes_of(set) / 8192 - 1);
  for (std::size_t i = 0; i < 5; ++i) CHECK(!shards.open(i, kGoOn)->is_held());
  shards.count_reads(1);
  std::vector<std::weak_ptr<const ShardFile>> held;
  for (std::size_t i = 0; i < 5; ++i) held.push_back(shards.open(i, kGoOn));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(shards.open(i, kGoOn) == held[i].lock());
    CHECK(shards.open(i, kGoOn)->is_held());
  }
}

TEST(a_set_that_is_too_large_is_never_held) {
  const ShardSet set(5, 1000);
  Shards shards(set.shards(), {.most_held = bytes_of(set) - 1});
  shards.count_reads(1'000'000);
  for (std::size_t i = 0; i < 5; ++i) CHECK(!shards.open(i, kGoOn)->is_held());
}

TEST(who_is_stopped_leaves_it_to_others_to_hold_a_file) {
  const ShardSet set(1, 1000);
  Shards shards(set.shards(), {.most_held = bytes_of(set)});
  shards.count_reads(1'000'000);
  CHECK(!shards.open(0, true)->is_held());
  CHECK(shards.open(0, kGoOn)->is_held());
}

TEST(a_shard_that_changed_since_it_was_indexed_is_none) {
  const ShardSet set(1, 1);
  auto changed = set.shards();
  ++changed[0].state.mtime_ns;
  CHECK(Shards(changed).open(0, kGoOn) == nullptr);
  CHECK(Shards(set.shards()).open(0, kGoOn) != nullptr);
}

}  // namespace
}  // namespace tfreel
