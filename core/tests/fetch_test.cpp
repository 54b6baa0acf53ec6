#include "fetch.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "cursor.hpp"
#include "frame_buffer.hpp"
#include "parallel.hpp"

namespace tfreel {
namespace {

// A temporary file with records "0", "11", "222", … and its index.
struct Indexed {
  static constexpr std::size_t kCount = 50;

  Indexed() {
    FrameBuffer frames(1 << 16);
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::string record(i, static_cast<char>('0' + i % 10));
      offsets.push_back(frames.size());
      lengths.push_back(i);
      frames.append(std::as_bytes(std::span(record.data(), record.size())));
      checksums.push_back(Cursor(frames.bytes().last(kFooterBytes)).take_u32());
    }
    std::fwrite(frames.bytes().data(), 1, frames.size(), file.get());
    std::fflush(file.get());
  }

  IndexColumns columns() const { return {offsets, lengths, checksums}; }
  int descriptor() const { return fileno(file.get()); }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint32_t> checksums;
};

std::shared_ptr<BufferPool> pool() { return std::make_shared<BufferPool>(); }

TEST(fetch_returns_records_in_the_order_asked_for) {
  const Indexed data;
  const std::vector<std::uint64_t> picks{7, 7, 3, 4, 5, 49, 0};
  const auto shared = pool();
  const auto found = fetch(data.descriptor(), data.columns(), picks, *shared);
  const auto& block = std::get<Block>(found);
  CHECK_EQ(block.size(), picks.size());
  for (std::size_t i = 0; i < picks.size(); ++i) CHECK_EQ(block.payload(i).size(), picks[i]);
}

TEST(fetch_by_several_threads_returns_the_same) {
  const Indexed data;
  std::vector<std::uint64_t> picks;
  for (std::uint64_t i = 0; i < 1000; ++i) picks.push_back(i * 7 % Indexed::kCount);
  const auto shared = pool();
  const auto one = std::get<Block>(fetch(data.descriptor(), data.columns(), picks, *shared));
  const auto four = std::get<Block>(fetch(data.descriptor(), data.columns(), picks, *shared, 4));
  CHECK(std::ranges::equal(one.frames(), four.frames()));
}

TEST(fetch_by_several_threads_gives_the_first_fault) {
  Indexed data;
  data.checksums[11] ^= 1;
  data.checksums[12] ^= 1;
  std::vector<std::uint64_t> picks(1000, 3);
  picks[400] = 11;
  picks[900] = 12;
  const auto shared = pool();
  for (int i = 0; i < 20; ++i) {
    const auto found = fetch(data.descriptor(), data.columns(), picks, *shared, 4);
    CHECK_EQ(std::get<Fault>(found).record, 11u);
  }
}

TEST(parallel_work_covers_the_range_once_and_throws_what_the_first_part_threw) {
  std::vector<int> touched(1000);
  in_parallel(1000, 10, 7, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++touched[i];
  });
  CHECK(std::ranges::all_of(touched, [](int n) { return n == 1; }));
  std::size_t thrown = 0;
  try {
    in_parallel(1000, 10, 4, [](std::size_t begin, std::size_t) {
      if (begin > 0) throw begin;
    });
  } catch (std::size_t begin) {
    thrown = begin;
  }
  CHECK_EQ(thrown, 250u);
}

TEST(fetch_stops_when_it_has_enough_but_never_before_the_first) {
  const Indexed data;
  const std::vector<std::uint64_t> picks{40, 41, 42};
  const auto shared = pool();
  const auto found = fetch(data.descriptor(), data.columns(), picks, *shared, 1, 1);
  CHECK_EQ(std::get<Block>(found).size(), 1u);
}

TEST(fetch_refuses_a_record_the_index_did_not_promise) {
  Indexed data;
  const auto shared = pool();
  const std::vector<std::uint64_t> picks{5};
  data.checksums[5] ^= 1;
  CHECK(std::get<Fault>(fetch(data.descriptor(), data.columns(), picks, *shared)).kind ==
        FaultKind::index_stale);
  data.checksums[5] ^= 1;
  data.offsets[5] = data.offsets[6];
  CHECK(std::get<Fault>(fetch(data.descriptor(), data.columns(), picks, *shared)).kind ==
        FaultKind::index_stale);
  data.offsets[5] += 1;
  CHECK(std::get<Fault>(fetch(data.descriptor(), data.columns(), picks, *shared)).kind ==
        FaultKind::length_crc);
}

TEST(fetch_past_the_end_of_the_file_is_a_truncated_record) {
  Indexed data;
  const auto shared = pool();
  data.offsets[49] += 10;
  const std::vector<std::uint64_t> picks{49};
  const auto fault = std::get<Fault>(fetch(data.descriptor(), data.columns(), picks, *shared));
  CHECK(fault.kind == FaultKind::truncated_body);
  CHECK_EQ(fault.present + 10, fault.wanted);
}

TEST(a_run_that_ends_in_a_gap_between_records_is_a_truncated_record) {
  const Indexed data;
  const std::vector<std::uint64_t> picks{20, 40};
  std::vector<Entry> entries;
  for (const std::uint64_t pick : picks) {
    entries.push_back({.offset = data.offsets[pick],
                       .length = data.lengths[pick],
                       .position = data.offsets[pick] - data.offsets[picks.front()],
                       .checksum = data.checksums[pick]});
  }
  std::vector<std::byte> bytes(data.offsets[45] - data.offsets[20]);
  const auto at = static_cast<long>(data.offsets[20]);
  CHECK_EQ(std::fseek(data.file.get(), at, SEEK_SET), 0);
  CHECK_EQ(std::fread(bytes.data(), 1, bytes.size(), data.file.get()), bytes.size());
  const std::span<const std::byte> found(bytes);
  CHECK(!check_run(entries, picks, found));
  for (const std::uint64_t end : {data.offsets[21], data.offsets[30], data.offsets[40]}) {
    const auto fault = check_run(entries, picks, found.first(end - data.offsets[20]));
    CHECK(fault && fault->kind == FaultKind::truncated_body && fault->record == 40);
  }
}

TEST(fetch_throws_on_a_pick_beyond_the_index) {
  const Indexed data;
  const auto shared = pool();
  const std::vector<std::uint64_t> picks{50};
  bool thrown = false;
  try {
    fetch(data.descriptor(), data.columns(), picks, *shared);
  } catch (const std::out_of_range&) {
    thrown = true;
  }
  CHECK(thrown);
}

}  // namespace
}  // namespace tfreel
