#include "batch_reader.hpp"

#include "fetch.hpp"

namespace tfreel {

bool BatchReader::fetch(const ReadPlan& plan, std::span<std::byte> buffer,
                        const std::atomic<bool>& stopped) {
  const std::span entries(plan.entries);
  const std::span picks(plan.picks);
  for (const ReadPlan::Part& part : plan.parts) {
    const auto file = shards_->open(part.shard);
    if (!file) return false;
    for (std::size_t first = part.begin; first < part.end;) {
      if (stopped.load(std::memory_order_relaxed)) return false;
      const auto rest = entries.subspan(first, part.end - first);
      const auto run = rest.first(run_length(rest));
      const auto place = place_of_run(run, buffer);
      const std::size_t got = file->read(place, run.front().offset);
      if (check_run(run, picks.subspan(first, run.size()), place, got)) return false;
      first += run.size();
    }
  }
  return true;
}

std::optional<std::vector<Column>> BatchReader::read(const ReadPlan& plan,
                                                     const std::atomic<bool>& stopped) {
  const auto buffer = buffers_->take(plan.bytes);
  if (!fetch(plan, buffer->bytes(), stopped)) return {};
  std::vector<Bytes> records(plan.entries.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Entry& entry = plan.entries[i];
    records[plan.rows[i]] = buffer->bytes().subspan(entry.position + kHeaderBytes, entry.length);
  }
  auto found = parse(records, features_, {.sequences = sequences_, .pool = &units_});
  if (auto* columns = std::get_if<std::vector<Column>>(&found)) return std::move(*columns);
  return {};
}

}  // namespace tfreel
