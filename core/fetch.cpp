#include "fetch.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "crc32c.hpp"
#include "file.hpp"
#include "parallel.hpp"

namespace tfreel {
namespace {

// Where each pick will lie in the buffer.
struct Plan {
  std::vector<Entry> entries;
  std::size_t bytes = 0;
};

Plan plan_reads(const IndexColumns& index, std::span<const std::uint64_t> picks,
                std::uint64_t enough_bytes) {
  Plan plan;
  plan.entries.reserve(picks.size());
  for (const std::uint64_t pick : picks) {
    if (pick >= index.offsets.size()) throw std::out_of_range("record index out of range");
    if (index.lengths[pick] > kLongestPayload)
      throw std::length_error("index claims an impossible length");
    const Entry entry{index.offsets[pick], index.lengths[pick], plan.bytes, index.checksums[pick]};
    const std::uint64_t frame_bytes = entry.length + kFrameOverhead;
    if (!plan.entries.empty() && plan.bytes + frame_bytes > enough_bytes) break;
    plan.entries.push_back(entry);
    plan.bytes += frame_bytes;
  }
  return plan;
}

std::optional<Fault> check(std::span<const std::byte> frame, const Entry& promised,
                           std::uint64_t record) {
  const std::uint64_t wanted = promised.length + kFrameOverhead;
  Fault fault{.kind = FaultKind::truncated_body,
              .record = record,
              .begin = promised.offset,
              .end = promised.offset + wanted,
              .wanted = wanted,
              .present = frame.size()};
  if (frame.size() < wanted) return fault;
  const Header header = read_header(frame);
  if (!header.sound()) {
    fault.kind = FaultKind::length_crc;
    fault.expected = header.stored;
    fault.actual = header.computed;
    return fault;
  }
  const std::uint32_t stored = read_footer(frame);
  const std::uint32_t actual = mask_crc(crc32c(frame.subspan(kHeaderBytes, promised.length)));
  if (header.length == promised.length && stored == actual && stored == promised.checksum)
    return {};
  // A sound record that is not the promised one says that the index is wrong, not the file.
  const bool other_record = header.length != promised.length || stored == actual;
  fault.kind = other_record ? FaultKind::index_stale : FaultKind::data_crc;
  fault.expected = other_record ? promised.checksum : stored;
  fault.actual = actual;
  return fault;
}

// Reads and checks the records `entries`, which are `picks`; gives the first that is not as
// promised.
std::optional<Fault> read_entries(int descriptor, std::span<const Entry> entries,
                                  std::span<const std::uint64_t> picks,
                                  std::span<std::byte> buffer) {
  for (std::size_t first = 0; first < entries.size();) {
    const auto run = entries.subspan(first, run_length(entries.subspan(first)));
    const auto place = place_of_run(run, buffer);
    const auto found = place.first(read_at(descriptor, place, run.front().offset));
    if (auto fault = check_run(run, picks.subspan(first, run.size()), found)) return fault;
    first += run.size();
  }
  return {};
}

// Fewer reads than these are done sooner than a thread has started.
constexpr std::size_t kReadsPerThread = 128;

// One read brings no more than this, unless a single record is longer: what was read is checked
// while it is still in cache, and whoever wants to stop need not wait for long.
constexpr std::size_t kLargestRun = std::size_t{1} << 20;

std::size_t end_of(const Entry& entry) noexcept {
  return entry.position + static_cast<std::size_t>(entry.length) + kFrameOverhead;
}

}  // namespace

std::size_t run_length(std::span<const Entry> entries) noexcept {
  const Entry& first = entries.front();
  std::size_t count = 1;
  while (count < entries.size()) {
    const Entry& next = entries[count];
    if (next.offset - first.offset != next.position - first.position) break;
    if (end_of(next) - first.position > kLargestRun) break;
    ++count;
  }
  return count;
}

std::span<std::byte> place_of_run(std::span<const Entry> entries, std::span<std::byte> buffer) {
  const std::size_t begin = entries.front().position;
  return buffer.subspan(begin, end_of(entries.back()) - begin);
}

std::optional<Fault> check_run(std::span<const Entry> entries, std::span<const std::uint64_t> picks,
                               std::span<const std::byte> found) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t frame_bytes = static_cast<std::size_t>(entries[i].length) + kFrameOverhead;
    // A file that was cut may end in a record, or in the gap before one.
    const std::size_t skipped =
        std::min(entries[i].position - entries.front().position, found.size());
    const auto frame = found.subspan(skipped, std::min(frame_bytes, found.size() - skipped));
    if (const auto fault = check(frame, entries[i], picks[i])) return fault;
  }
  return {};
}

std::variant<Block, Fault> fetch(int descriptor, const IndexColumns& index,
                                 std::span<const std::uint64_t> picks, BufferPool& pool,
                                 std::size_t threads, std::uint64_t enough_bytes) {
  Plan plan = plan_reads(index, picks, enough_bytes);
  if (plan.entries.empty()) return Block();
  auto buffer = pool.take(plan.bytes);
  const std::span<const Entry> entries = plan.entries;
  std::mutex mutex;
  std::size_t faulty = entries.size();  // where the part begins that has the first fault
  std::optional<Fault> fault;
  in_parallel(entries.size(), kReadsPerThread, threads, [&](std::size_t begin, std::size_t end) {
    const auto found = read_entries(descriptor, entries.subspan(begin, end - begin),
                                    picks.subspan(begin, end - begin), buffer->bytes());
    const std::scoped_lock lock(mutex);
    if (!found || begin > faulty) return;
    faulty = begin;
    fault = found;
  });
  if (fault) return *fault;
  return Block(std::move(buffer), picks.front(), std::move(plan.entries));
}

}  // namespace tfreel
