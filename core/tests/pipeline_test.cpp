#include "pipeline.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "check.hpp"
#include "shard_files.hpp"

namespace tfreel {
namespace {

using check::ShardSet;
using Positions = std::vector<std::uint64_t>;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::unique_ptr<BatchReader> reader(const ShardSet& set) {
  FeatureSpec number;
  number.name = "n";
  number.fixed = number.required = true;
  number.count = 1;
  return std::make_unique<BatchReader>(std::make_shared<Shards>(set.shards()), std::vector{number},
                                       false, 2);
}

void submit(Pipeline& pipeline, const Positions& positions) {
  pipeline.submit(positions, {positions.size()});
}

void submit_together(Pipeline& pipeline, const std::vector<Positions>& batches) {
  Positions positions;
  std::vector<std::size_t> sizes;
  for (const Positions& batch : batches) {
    positions.insert(positions.end(), batch.begin(), batch.end());
    sizes.push_back(batch.size());
  }
  pipeline.submit(positions, sizes);
}

Pipeline::Batch take(Pipeline& pipeline) {
  auto batch = pipeline.take(milliseconds(60'000));
  CHECK(batch.has_value());
  return batch ? std::move(*batch) : std::nullopt;
}

bool holds(const Pipeline::Batch& batch, const Positions& positions) {
  if (!batch) return false;
  const auto found = batch->front().ints.span();
  return std::equal(
      found.begin(), found.end(), positions.begin(), positions.end(),
      [](auto n, auto position) { return static_cast<std::uint64_t>(n) == position; });
}

Positions any_positions(std::mt19937_64& random, std::size_t size, std::uint64_t below) {
  Positions positions(size);
  for (auto& position : positions) position = random() % below;
  return positions;
}

std::size_t count_threads() {
  const std::filesystem::path tasks = "/proc/self/task";
  if (!std::filesystem::exists(tasks)) return 0;
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(tasks),
                                                std::filesystem::directory_iterator()));
}

TEST(a_pipeline_gives_batches_in_the_order_in_which_they_were_submitted) {
  const ShardSet set(7, 100);
  std::mt19937_64 random(1);
  for (const std::size_t threads : {1, 2, 5}) {
    Pipeline pipeline(reader(set), {.threads = threads});
    std::vector<Positions> asked;
    for (std::size_t i = 0; i < 60; ++i) {
      asked.push_back(any_positions(random, i % 4 == 0 ? 500 : i, 700));
      submit(pipeline, asked.back());
      if (i >= 8) CHECK(holds(take(pipeline), asked[i - 8]));
    }
    CHECK_EQ(pipeline.size(), 8u);
    for (std::size_t i = 52; i < 60; ++i) CHECK(holds(take(pipeline), asked[i]));
  }
}

TEST(a_pipeline_passes_over_a_bad_batch) {
  ShardSet set(3, 100);
  set[1].damage(50);
  Pipeline pipeline(reader(set), {.threads = 2});
  const Positions good{3, 140, 299};
  for (const Positions& positions :
       {good, Positions{7, 150, 151}, good, Positions{5, 300}, Positions{}, good}) {
    submit(pipeline, positions);
  }
  CHECK(holds(take(pipeline), good));
  CHECK(!take(pipeline));
  CHECK(holds(take(pipeline), good));
  CHECK(!take(pipeline));
  CHECK(holds(take(pipeline), {}));
  CHECK(holds(take(pipeline), good));
}

TEST(batches_that_are_submitted_together_come_one_by_one) {
  const ShardSet set(3, 100);
  std::mt19937_64 random(5);
  for (const std::size_t room : {std::size_t{0}, std::size_t{1} << 20}) {
    Pipeline pipeline(reader(set), {.threads = 2, .most_bytes = room});
    std::vector<Positions> asked;
    for (std::size_t group = 0; group < 20; ++group) {
      std::vector<Positions> batches;
      for (std::size_t i = 0; i < group; ++i)
        batches.push_back(any_positions(random, i % 5 == 2 ? 0 : 3 * i, 300));
      submit_together(pipeline, batches);
      asked.insert(asked.end(), batches.begin(), batches.end());
    }
    CHECK_EQ(pipeline.size(), asked.size());
    for (const Positions& positions : asked) CHECK(holds(take(pipeline), positions));
    CHECK_EQ(pipeline.size(), 0u);
    CHECK(!pipeline.take(milliseconds(1)));
  }
}

TEST(a_bad_batch_spoils_none_that_was_submitted_with_it) {
  ShardSet set(3, 100);
  set[1].damage(50);
  Pipeline pipeline(reader(set), {.threads = 2});
  const Positions good{3, 140, 299};
  const Positions damaged{7, 150};
  const Positions nowhere{300};
  const std::vector<Positions> batches{good, damaged, good, good, {}, nowhere, damaged, good};
  for (std::size_t i = 0; i < 3; ++i) submit_together(pipeline, batches);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const Positions& batch : batches) {
      const bool bad = batch == damaged || batch == nowhere;
      CHECK(bad ? !take(pipeline) : holds(take(pipeline), batch));
    }
  }
}

TEST(a_file_that_is_gone_is_a_bad_batch) {
  const ShardSet set(1, 10);
  auto shards = set.shards();
  shards[0].path += "-gone";
  Pipeline pipeline(std::make_unique<BatchReader>(std::make_shared<Shards>(std::move(shards)),
                                                  std::vector<FeatureSpec>{}, false, 1));
  submit(pipeline, {});
  submit(pipeline, {1});
  CHECK(take(pipeline).has_value());
  CHECK(!take(pipeline));
}

TEST(a_pipeline_with_room_for_one_batch_makes_them_all) {
  ShardSet set(2, 100, 1000);
  const std::size_t record = set[0].frame_bytes();
  std::mt19937_64 random(2);
  for (const std::size_t room : {std::size_t{0}, record * 25, record * 1000}) {
    Pipeline pipeline(reader(set), {.threads = 4, .most_bytes = room});
    std::vector<Positions> asked;
    for (std::size_t i = 0; i < 30; ++i) {
      asked.push_back(any_positions(random, 20, 200));
      submit(pipeline, asked.back());
    }
    for (const Positions& positions : asked) CHECK(holds(take(pipeline), positions));
  }
}

TEST(a_damaged_record_that_can_still_be_parsed_makes_no_batch) {
  ShardSet set(1, 10, 100);
  set[0].damage(3, 60);  // in the padding
  Pipeline pipeline(reader(set));
  submit(pipeline, {1, 2});
  submit(pipeline, {2, 3, 4});
  CHECK(holds(take(pipeline), {1, 2}));
  CHECK(!take(pipeline).has_value());
}

TEST(a_pipeline_has_no_thread_before_its_first_job_and_none_when_it_is_gone) {
  const ShardSet set(1, 100);
  const std::size_t before = count_threads();
  {
    Pipeline pipeline(reader(set), {.threads = 3});
    CHECK_EQ(count_threads(), before);
    submit(pipeline, {1});
    if (before > 0) CHECK_EQ(count_threads(), before + 1);
    for (std::size_t i = 0; i < 5; ++i) submit(pipeline, {1});
    if (before > 0) CHECK_EQ(count_threads(), before + 3);
  }
  CHECK_EQ(count_threads(), before);
}

TEST(a_pipeline_that_is_dropped_does_not_finish_its_work) {
  const ShardSet set(1, 1000, 4096);
  std::mt19937_64 random(3);
  const Positions wanted = any_positions(random, 1000, 1000);
  const auto start = steady_clock::now();
  {
    Pipeline pipeline(reader(set), {.threads = 2});
    for (std::size_t i = 0; i < 4000; ++i) submit(pipeline, wanted);
  }
  {
    Pipeline pipeline(reader(set), {.threads = 2});
    submit_together(pipeline, std::vector<Positions>(4000, wanted));
  }
  CHECK(steady_clock::now() - start < std::chrono::seconds(5));
}

TEST(nothing_comes_of_a_pipeline_that_was_asked_for_nothing) {
  const ShardSet set(1, 1);
  Pipeline pipeline(reader(set));
  CHECK(!pipeline.take(milliseconds(1)));
  submit(pipeline, {0});
  CHECK(holds(take(pipeline), {0}));
  CHECK(!pipeline.take(milliseconds(1)));
}

TEST(the_child_of_a_fork_can_drop_a_pipeline_that_is_at_work) {
  const ShardSet set(1, 1000, 4096);
  std::mt19937_64 random(4);
  auto pipeline = std::make_unique<Pipeline>(reader(set), PipelineOptions{.threads = 2});
  for (std::size_t i = 0; i < 100; ++i) submit(*pipeline, any_positions(random, 1000, 1000));
  const pid_t child = ::fork();
  if (child == 0) {
    pipeline.reset();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  for (std::size_t i = 0; i < 100; ++i) CHECK(take(*pipeline).has_value());
}

}  // namespace
}  // namespace tfreel
