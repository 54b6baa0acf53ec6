#include "decoder.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "crc32c.hpp"
#include "frame_buffer.hpp"

namespace tfreel {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Bytes framed(const std::vector<std::string>& records) {
  std::size_t size = 1;
  for (const auto& record : records) size += record.size() + kFrameOverhead;
  FrameBuffer frames(size);
  for (const auto& record : records) frames.append(as_bytes(record));
  return {frames.bytes().begin(), frames.bytes().end()};
}

struct Outcome {
  std::vector<std::string> records;
  std::vector<std::uint64_t> ordinals;
  std::vector<Fault> faults;
  bool finished = false;
};

// Feeds `stream` in pieces of `piece` bytes and collects everything that comes out.
Outcome decode(const Bytes& stream, DecoderOptions options, std::size_t piece) {
  Decoder decoder(options);
  Outcome outcome;
  std::size_t fed = 0;
  while (true) {
    const auto step = decoder.next();
    if (step == Decoder::Step::records) {
      const Block block = decoder.take_block();
      for (std::size_t i = 0; i < block.size(); ++i) {
        const auto payload = block.payload(i);
        outcome.records.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
        outcome.ordinals.push_back(block.first_record() + i);
      }
    } else if (step == Decoder::Step::fault) {
      outcome.faults.push_back(decoder.fault());
      if (!options.salvage) return outcome;
    } else if (step == Decoder::Step::finished) {
      outcome.finished = true;
      return outcome;
    } else if (fed == stream.size()) {
      decoder.finish();
    } else {
      const auto space = decoder.space();
      const std::size_t size = std::min({space.size(), piece, stream.size() - fed});
      std::memcpy(space.data(), stream.data() + fed, size);
      decoder.filled(size);
      fed += size;
    }
  }
}

DecoderOptions small_window() {
  DecoderOptions options;
  options.window_bytes = 32;
  return options;
}

const std::vector<std::string> kRecords{"", "a", std::string(300, 'x'), std::string(16, '\0'),
                                        "end"};

TEST(decoder_returns_the_records_for_every_chunking) {
  const Bytes stream = framed(kRecords);
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    const Outcome outcome = decode(stream, small_window(), piece);
    CHECK(outcome.records == kRecords);
    CHECK(outcome.finished);
    CHECK(outcome.faults.empty());
  }
}

TEST(decoder_names_the_byte_of_every_cut) {
  const Bytes stream = framed(kRecords);
  for (const bool known : {false, true}) {
    for (std::size_t cut = 0; cut < stream.size(); ++cut) {
      const Bytes part(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut));
      std::size_t whole = 0;
      std::size_t begin = 0;
      while (begin + kRecords[whole].size() + kFrameOverhead <= cut)
        begin += kRecords[whole++].size() + kFrameOverhead;
      auto options = small_window();
      if (known) options.size = cut;
      const Outcome outcome = decode(part, options, 7);
      CHECK_EQ(outcome.records.size(), whole);
      if (begin == cut) {
        CHECK(outcome.faults.empty() && outcome.finished);
        continue;
      }
      CHECK_EQ(outcome.faults.size(), 1u);
      const Fault& fault = outcome.faults.at(0);
      CHECK(fault.kind ==
            (cut - begin < kHeaderBytes ? FaultKind::truncated_header : FaultKind::truncated_body));
      CHECK_EQ(fault.begin, begin);
      CHECK_EQ(fault.record, whole);
      CHECK_EQ(fault.present, cut - begin);
    }
  }
}

TEST(salvage_loses_exactly_the_damaged_record_for_every_flipped_bit) {
  const Bytes stream = framed(kRecords);
  std::size_t begin = 0;
  for (std::size_t damaged = 0; damaged < kRecords.size(); ++damaged) {
    const std::size_t end = begin + kRecords[damaged].size() + kFrameOverhead;
    auto expected = kRecords;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(damaged));
    for (std::size_t bit = begin * 8; bit < end * 8; ++bit) {
      Bytes flipped = stream;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      auto options = small_window();
      options.salvage = true;
      options.size = flipped.size();
      const Outcome outcome = decode(flipped, options, 11);
      CHECK(outcome.records == expected);
      CHECK_EQ(outcome.faults.size(), 1u);
      CHECK_EQ(outcome.faults.at(0).begin, begin);
      CHECK_EQ(outcome.faults.at(0).end, end);
    }
    begin = end;
  }
}

TEST(forged_lengths_are_refused_before_anything_is_allocated) {
  for (const std::uint64_t length :
       {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 40,
        std::uint64_t{1} << 62, (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63,
        ~std::uint64_t{0} - 4, ~std::uint64_t{0}}) {
    Bytes stream = framed({"first"});
    stream.resize(stream.size() + kHeaderBytes);
    write_header(length, std::span(stream).last(kHeaderBytes));
    for (const bool known : {false, true}) {
      DecoderOptions options;
      if (known) options.size = stream.size();
      const Outcome outcome = decode(stream, options, 64);
      CHECK_EQ(outcome.records.size(), 1u);
      const Fault& fault = outcome.faults.at(0);
      CHECK(fault.kind == FaultKind::record_too_large || fault.kind == FaultKind::truncated_body);
      CHECK_EQ(fault.begin, 21u);
    }
  }
}

TEST(space_for_a_claimed_length_follows_what_arrives) {
  DecoderOptions options;  // of unknown size, so that nothing vouches for the claim
  Decoder decoder(options);
  auto space = decoder.space();
  write_header(std::uint64_t{1} << 30, space);
  decoder.filled(kHeaderBytes);
  CHECK(decoder.next() == Decoder::Step::starved);
  CHECK(decoder.space().size() <= options.window_bytes);
}

TEST(zero_tail_is_told_from_empty_records) {
  const std::vector<std::string> empties{"", "", ""};
  CHECK(decode(framed(empties), small_window(), 5).records == empties);
  for (const std::size_t zeros : {12u, 13u, 100u, 5000u}) {
    Bytes stream = framed({"one", "two"});
    const std::size_t begin = stream.size();
    stream.resize(begin + zeros);
    for (const bool salvage : {false, true}) {
      auto options = small_window();
      options.salvage = salvage;
      const Outcome outcome = decode(stream, options, 9);
      CHECK_EQ(outcome.records.size(), 2u);
      CHECK_EQ(outcome.faults.size(), 1u);
      CHECK(outcome.faults.at(0).kind == FaultKind::zero_filled_tail);
      CHECK_EQ(outcome.faults.at(0).begin, begin);
      CHECK_EQ(outcome.faults.at(0).end, begin + zeros);
    }
  }
}

TEST(zeros_in_the_middle_hide_no_record_behind_them) {
  // 256 as a length begins with a zero byte: the search must not swallow it with the zeros before.
  const std::vector<std::string> behind{std::string(256, 'y'), ""};
  for (std::size_t zeros = 12; zeros < 60; ++zeros) {
    Bytes stream = framed({"one"});
    stream.resize(stream.size() + zeros);
    const Bytes rest = framed(behind);
    stream.insert(stream.end(), rest.begin(), rest.end());
    auto options = small_window();
    options.salvage = true;
    const Outcome outcome = decode(stream, options, 13);
    CHECK(outcome.records == (std::vector<std::string>{"one", behind[0], behind[1]}));
    CHECK_EQ(outcome.faults.size(), 1u);
    CHECK_EQ(outcome.faults.at(0).end - outcome.faults.at(0).begin, zeros);
  }
}

TEST(a_million_sound_headers_without_payload_are_searched_in_linear_time) {
  // Each claims nearly all of the rest: without a budget the search would checksum terabytes.
  constexpr std::size_t kHeaders = 200000;
  Bytes stream(kHeaderBytes * kHeaders);
  for (std::size_t i = 0; i < kHeaders; ++i) {
    const std::size_t left = stream.size() - i * kHeaderBytes;
    const std::size_t claim = i % 2 == 0 ? left / 2 : stream.size() / 2;
    write_header(claim, std::span(stream).subspan(i * kHeaderBytes, kHeaderBytes));
  }
  stream[0] ^= std::byte{1};
  DecoderOptions options;
  options.salvage = true;
  options.size = stream.size();
  const Outcome outcome = decode(stream, options, 1 << 16);
  CHECK(outcome.records.empty());
  CHECK(outcome.finished);
}

TEST(a_byte_missing_from_a_payload_costs_no_other_record) {
  const std::vector<std::string> records{"zero", std::string(40, 'x'), "two", "three"};
  Bytes stream = framed(records);
  stream.erase(stream.begin() + 20 + 12 + 5);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{50}, stream.size()}) {
    auto options = small_window();
    options.salvage = true;
    const Outcome outcome = decode(stream, options, piece);
    CHECK(outcome.records == (std::vector<std::string>{"zero", "two", "three"}));
    CHECK_EQ(outcome.faults.size(), 1u);
    CHECK_EQ(outcome.faults.at(0).end, 20u + 12 + 39 + 4);
  }
}

TEST(ordinals_count_the_lost_record) {
  Bytes stream = framed({"zero", "one", "two"});
  stream[20 + 12] ^= std::byte{1};  // payload of "one"
  auto options = small_window();
  options.salvage = true;
  const Outcome outcome = decode(stream, options, 1000);
  CHECK(outcome.ordinals == (std::vector<std::uint64_t>{0, 2}));
}

TEST(without_verification_payloads_pass_and_headers_do_not) {
  Bytes stream = framed({"zero", "one"});
  stream[12] ^= std::byte{1};
  auto options = small_window();
  options.verify = false;
  CHECK_EQ(decode(stream, options, 1000).records.size(), 2u);
  stream[20] ^= std::byte{1};
  CHECK_EQ(decode(stream, options, 1000).faults.size(), 1u);
}

TEST(blocks_stay_whole_while_the_decoder_goes_on) {
  std::vector<std::string> records;
  for (int i = 0; i < 500; ++i)
    records.push_back(std::string(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26)));
  const Bytes stream = framed(records);
  Decoder decoder(small_window());
  std::vector<Block> blocks;
  std::size_t fed = 0;
  for (auto step = decoder.next(); step != Decoder::Step::finished; step = decoder.next()) {
    if (step == Decoder::Step::records) {
      blocks.push_back(decoder.take_block());
    } else if (fed == stream.size()) {
      decoder.finish();
    } else {
      const auto space = decoder.space();
      const std::size_t size = std::min({space.size(), std::size_t{1000}, stream.size() - fed});
      std::memcpy(space.data(), stream.data() + fed, size);
      decoder.filled(size);
      fed += size;
    }
  }
  std::size_t seen = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.size(); ++i, ++seen) {
      const auto payload = block.payload(i);
      CHECK(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()) ==
            records[seen]);
      CHECK_EQ(block.entries()[i].checksum, mask_crc(crc32c(payload)));
    }
  }
  CHECK_EQ(seen, records.size());
}

}  // namespace
}  // namespace tfreel
