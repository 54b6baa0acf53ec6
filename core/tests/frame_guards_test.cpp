// Guards of frames, indexes and files that only a forger meets: each test fails without one of
// them (`make mutants`).
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "decoder.hpp"
#include "digest.hpp"
#include "fetch.hpp"
#include "file_reader.hpp"
#include "frame_buffer.hpp"
#include "read_plan.hpp"

namespace tfreel {
namespace {

using Content = std::vector<std::byte>;

Content payload_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

Content frame_of(const Content& payload) {
  Content frame(payload.size() + kFrameOverhead);
  write_frame(payload, frame);
  return frame;
}

Content header_of(std::uint64_t length) {
  Content header(kHeaderBytes);
  write_header(length, header);
  return header;
}

Content joined(std::initializer_list<Content> parts) {
  Content all;
  for (const Content& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Content broken(Content frame, std::size_t at) {
  frame[at] ^= std::byte{1};
  return frame;
}

void feed(Decoder& decoder, const Content& bytes) {
  std::size_t fed = 0;
  while (fed < bytes.size()) {
    const auto space = decoder.space();
    const std::size_t size = std::min(space.size(), bytes.size() - fed);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(fed), size, space.begin());
    decoder.filled(size);
    fed += size;
  }
}

// All that a decoder finds: a letter for each record and each fault.
std::string found_in(const Content& stream, DecoderOptions options) {
  Decoder decoder(options);
  feed(decoder, stream);
  decoder.finish();
  std::string found;
  while (found.size() < 100) {
    const auto step = decoder.next();
    if (step == Decoder::Step::records) found += std::string(decoder.take_block().size(), 'r');
    if (step == Decoder::Step::fault) found += 'f';
    if (step == Decoder::Step::starved) found += 's';
    if (step == Decoder::Step::finished || (step == Decoder::Step::fault && !options.salvage))
      break;
  }
  return found;
}

DecoderOptions salvaging(std::uint64_t size) {
  DecoderOptions options;
  options.salvage = true;
  options.size = size;
  return options;
}

TEST(no_record_is_awaited_behind_a_damaged_or_forged_header) {
  for (const Content& header : {broken(header_of(1 << 20), 9), header_of(std::uint64_t{1} << 40)}) {
    DecoderOptions options;
    options.size = 1 << 21;
    Decoder decoder(options);
    feed(decoder, joined({header, Content(100)}));
    CHECK(!decoder.awaited());
  }
}

TEST(records_above_the_limit_and_lengths_that_wrap_are_refused_without_verification_too) {
  for (const bool verify : {true, false}) {
    DecoderOptions options;
    options.verify = verify;
    options.max_record_bytes = 50;
    CHECK_EQ(found_in(frame_of(Content(50)), options), "r");
    CHECK_EQ(found_in(frame_of(Content(51)), options), "f");
    options.max_record_bytes = std::numeric_limits<std::uint64_t>::max();
    const auto wraps = std::numeric_limits<std::uint64_t>::max() - 4;
    CHECK_EQ(found_in(joined({header_of(wraps), Content(40)}), options), "f");
  }
}

TEST(a_claim_beyond_the_known_end_is_a_fault_at_once) {
  DecoderOptions options;
  options.size = 100;
  Decoder decoder(options);
  feed(decoder, joined({header_of(1 << 30), Content(20)}));
  CHECK(decoder.next() == Decoder::Step::fault);
  CHECK(decoder.fault().kind == FaultKind::truncated_body);
}

TEST(a_search_takes_only_what_is_sound_from_head_to_foot) {
  const Content good = frame_of(payload_of("good"));
  const Content other = frame_of(payload_of("another"));
  const auto wraps = std::numeric_limits<std::uint64_t>::max() - 4;
  const std::initializer_list<Content> middles = {
      broken(other, 9), broken(other, 13), header_of(wraps), header_of(1 << 20), header_of(60)};
  for (const Content& middle : middles) {
    const Content stream = joined({good, broken(good, 9), middle, good});
    CHECK_EQ(found_in(stream, salvaging(stream.size())), "rfr");
    CHECK_EQ(found_in(stream, salvaging(kUnknownSize)), "rfr");
  }
  // At the end there is nothing behind it that could be looked at.
  const Content cut = joined({broken(good, 9), header_of(1000), Content(20)});
  CHECK_EQ(found_in(cut, salvaging(kUnknownSize)), "f");
}

TEST(a_search_asks_for_no_more_than_there_is) {
  const Content stream = joined({broken(frame_of(Content(5)), 9), header_of(1 << 30)});
  Decoder decoder(salvaging(stream.size()));
  feed(decoder, stream);
  CHECK(decoder.next() != Decoder::Step::records);
  CHECK(decoder.space().size() < std::size_t{1} << 20);
}

struct TemporaryFile {
  explicit TemporaryFile(const Content& content) {
    std::fwrite(content.data(), 1, content.size(), file.get());
    std::fflush(file.get());
  }
  int descriptor() const { return fileno(file.get()); }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
};

TEST(a_reader_that_begins_behind_the_end_reads_nothing) {
  const TemporaryFile file(joined({frame_of(Content(4)), frame_of(Content(4))}));
  DecoderOptions options;
  options.offset = 20;
  options.size = 10;
  FileReader reader(file.descriptor(), options);
  CHECK(reader.next() == Decoder::Step::finished);
}

// One record of a file as an index that may lie tells of it.
struct Promise {
  std::uint64_t offset;
  std::uint64_t length;
  std::uint32_t checksum;
};

std::variant<Block, Fault> fetched(const Content& content, const std::vector<Promise>& promises) {
  const TemporaryFile file(content);
  std::vector<std::uint64_t> offsets, lengths, picks;
  std::vector<std::uint32_t> checksums;
  for (const Promise& promise : promises) {
    picks.push_back(picks.size());
    offsets.push_back(promise.offset);
    lengths.push_back(promise.length);
    checksums.push_back(promise.checksum);
  }
  const auto pool = std::make_shared<BufferPool>();
  return fetch(file.descriptor(), {offsets, lengths, checksums}, picks, *pool);
}

std::string kind_of(const std::variant<Block, Fault>& found) {
  const auto* fault = std::get_if<Fault>(&found);
  return fault == nullptr ? "block" : std::string(fault_name(fault->kind));
}

TEST(what_is_fetched_is_the_record_with_its_header_its_payload_and_its_checksum) {
  const Content inner = payload_of("inner");
  const Content frame = frame_of(inner);
  const std::uint32_t checksum = read_footer(frame);
  CHECK_EQ(kind_of(fetched(frame, {{0, 5, checksum}})), "block");
  CHECK_EQ(kind_of(fetched(broken(frame, 13), {{0, 5, checksum}})), "data_crc");
  CHECK_EQ(kind_of(fetched(frame, {{0, 5, checksum + 1}})), "index_stale");
  // A record that begins with another one and its checksum is still only itself.
  Content around = inner;
  around.insert(around.end(), frame.end() - kFooterBytes, frame.end());
  around.resize(around.size() + 30);
  CHECK_EQ(kind_of(fetched(frame_of(around), {{0, 5, checksum}})), "index_stale");
}

TEST(of_a_file_that_is_cut_the_first_record_that_is_not_whole_is_named) {
  const Content frame = frame_of(payload_of("inner"));
  const std::uint32_t checksum = read_footer(frame);
  const std::uint64_t size = frame.size();
  const std::vector<Promise> three{{0, 5, checksum}, {size, 5, checksum}, {2 * size, 5, checksum}};
  for (const std::size_t left : {std::size_t{0}, size - 1}) {
    Content content = joined({frame, frame});
    content.resize(size + left);
    const auto found = fetched(content, three);
    CHECK_EQ(kind_of(found), "truncated_body");
    CHECK_EQ(std::get<Fault>(found).record, 1u);
    CHECK_EQ(std::get<Fault>(found).present, left);
  }
  const auto behind =
      fetched(frame, {{0, 5, checksum}, {size, 5, checksum}, {2 * size, 5, checksum}});
  CHECK_EQ(kind_of(behind), "truncated_body");
}

TEST(an_index_of_impossible_lengths_is_refused_before_anything_is_read) {
  bool refused = false;
  try {
    fetched(frame_of(Content(5)), {{0, std::numeric_limits<std::uint64_t>::max() - 3, 0}});
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
}

bool plan_is_refused(std::uint64_t size, const std::vector<std::uint64_t>& offsets,
                     const std::vector<std::uint64_t>& lengths) {
  const std::vector<std::uint32_t> checksums(offsets.size());
  std::vector<std::uint64_t> picks;
  for (std::size_t i = 0; i < offsets.size(); ++i) picks.push_back(i);
  try {
    plan_records(Shards({{"", {size, 0}, {offsets, lengths, checksums}}}), picks);
  } catch (const std::length_error&) {
    return true;
  }
  return false;
}

TEST(a_plan_for_more_than_a_file_or_memory_has_is_refused) {
  CHECK(!plan_is_refused(100, {0, 50}, {34, 34}));
  CHECK(plan_is_refused(100, {0}, {101}));
  CHECK(plan_is_refused(100, {0}, {90}));
  CHECK(plan_is_refused(100, {51}, {34}));
  const std::uint64_t quarter = std::uint64_t{1} << 62;
  CHECK(
      plan_is_refused(2 * quarter, {0, 0, 0, 0}, {quarter, quarter + 1, quarter + 2, quarter + 3}));
}

TEST(records_of_different_lengths_are_not_equal_whatever_their_checksums_say) {
  const auto pool = std::make_shared<BufferPool>();
  const auto block_of = [&](std::string_view text) {
    auto buffer = pool->take(text.size() + kFrameOverhead);
    write_frame(std::as_bytes(std::span(text)),
                buffer->bytes().first(text.size() + kFrameOverhead));
    return Block(buffer, 0, {{0, text.size(), 0, 7}});
  };
  CHECK_EQ(count_equal(block_of("abc"), 0, block_of("abcdef"), 0), 0u);
  CHECK_EQ(count_equal(block_of("abcdef"), 0, block_of("abc"), 0), 0u);
  CHECK_EQ(count_equal(block_of("abc"), 0, block_of("abc"), 0), 1u);
}

}  // namespace
}  // namespace tfreel
