#include "batch_reader.hpp"

#include "expect.hpp"
#include "fetch.hpp"

namespace tfreel {

std::optional<BatchReader::Fetched> BatchReader::fetch(const ReadPlan& plan,
                                                       const std::atomic<bool>& stopped) {
  Fetched fetched{.records = std::vector<Bytes>(plan.entries.size()),
                  .buffer = buffers_->take(plan.bytes),
                  .files = {}};
  const std::span entries(plan.entries);
  const std::span picks(plan.picks);
  std::uint64_t reads = 0;
  for (const ReadPlan::Part& part : plan.parts) {
    const auto file = shards_->open(part.shard, stopped);
    if (!file) return {};
    for (std::size_t first = part.begin; first < part.end;) {
      if (stopped.load(std::memory_order_relaxed)) return {};
      const auto rest = entries.subspan(first, part.end - first);
      const auto run = rest.first(run_length(rest));
      if (first + kExpectedAhead < part.end) file->expect(entries[first + kExpectedAhead].offset);
      const auto room = place_of_run(run, fetched.buffer->bytes());
      const auto found = file->view(room, run.front().offset);
      if (check_run(run, picks.subspan(first, run.size()), found)) return {};
      for (const Entry& entry : run) {
        const std::size_t begin = entry.position - run.front().position + kHeaderBytes;
        fetched.records[plan.rows[first++]] = found.subspan(begin, entry.length);
      }
      ++reads;
    }
    // What was not in memory was copied, and can be closed.
    if (file->is_held()) fetched.files.push_back(file);
  }
  shards_->count_reads(reads);
  return fetched;
}

std::optional<std::vector<Column>> BatchReader::parse(std::span<const Bytes> records) {
  auto found = tfreel::parse(records, features_, {.sequences = sequences_, .pool = &units_});
  if (auto* columns = std::get_if<std::vector<Column>>(&found)) return std::move(*columns);
  return {};
}

}  // namespace tfreel
