#include "encode.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const WireWriter& writer) {
  return {reinterpret_cast<const char*>(writer.bytes().data()), writer.size()};
}

void write_one(WireWriter& writer, std::int64_t value) {
  write_ints(writer, std::span<const std::int64_t>(&value, 1));
}

template <std::size_t size>
std::string literal(const char (&text)[size]) {
  return {text, size - 1};
}

TEST(an_entry_is_its_key_and_then_its_feature) {
  WireWriter writer;
  write_one(writer, 3);
  close_entry(writer, bytes_of("a"), 0);
  CHECK_EQ(text_of(writer), literal("\n\x0a\n\x01"
                                    "a\x12\x05\x1a\x03\n\x01\x03"));
}

TEST(lists_without_values_have_their_kind_and_nothing_else) {
  WireWriter ints;
  write_ints(ints, std::span<const std::int64_t>());
  CHECK_EQ(text_of(ints), literal("\x1a\x00"));
  WireWriter floats;
  write_floats(floats, {});
  CHECK_EQ(text_of(floats), literal("\x12\x00"));
  WireWriter bytes;
  write_bytes_list(bytes, {});
  CHECK_EQ(text_of(bytes), literal("\n\x00"));
}

TEST(a_negative_number_takes_ten_bytes) {
  WireWriter writer;
  write_one(writer, -1);
  CHECK_EQ(text_of(writer), literal("\x1a\x0c\n\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(integers_of_all_widths_are_written_alike) {
  const std::vector<std::int8_t> narrow{-1, 0, 127};
  const std::vector<std::int64_t> wide{-1, 0, 127};
  WireWriter from_narrow;
  WireWriter from_wide;
  write_ints(from_narrow, std::span<const std::int8_t>(narrow));
  write_ints(from_wide, std::span<const std::int64_t>(wide));
  CHECK_EQ(text_of(from_narrow), text_of(from_wide));
}

TEST(what_was_written_reads_back) {
  std::vector<std::int64_t> ints{0, std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  for (int bits = 0; bits < 63; ++bits) {
    ints.push_back(std::int64_t{1} << bits);
    ints.push_back((std::int64_t{1} << bits) - 1);
  }
  WireWriter writer;
  write_ints(writer, std::span<const std::int64_t>(ints));
  Values values;
  values.merge(writer.bytes());
  CHECK(values.ints == ints);

  const std::string large(5000, 'x');
  const std::vector<Bytes> texts{bytes_of(""), bytes_of(large), bytes_of("end")};
  writer.clear();
  write_bytes_list(writer, texts);
  values.clear();
  values.merge(writer.bytes());
  CHECK_EQ(values.bytes.size(), texts.size());
  CHECK_EQ(values.bytes[1].size(), large.size());
  CHECK_EQ(std::string(reinterpret_cast<const char*>(values.bytes[2].data()), 3), "end");
}

TEST(short_entries_are_the_same_as_others) {
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string text(length, 'k');
    const Bytes key = bytes_of(text);
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{127}, std::int64_t{-5}}) {
      WireWriter in_one_go;
      if (!write_short_entry(in_one_go, key, value)) continue;
      WireWriter step_by_step;
      write_one(step_by_step, value);
      close_entry(step_by_step, key, 0);
      CHECK_EQ(text_of(in_one_go), text_of(step_by_step));
    }
    const float number = 0.5F;
    WireWriter in_one_go;
    WireWriter step_by_step;
    if (write_short_entry(in_one_go, key, number)) {
      write_floats(step_by_step, {&number, 1});
      close_entry(step_by_step, key, 0);
      CHECK_EQ(text_of(in_one_go), text_of(step_by_step));
    }
    in_one_go.clear();
    step_by_step.clear();
    if (write_short_entry(in_one_go, bytes_of("k"), key)) {
      write_bytes_list(step_by_step, {&key, 1});
      close_entry(step_by_step, bytes_of("k"), 0);
      CHECK_EQ(text_of(in_one_go), text_of(step_by_step));
    }
  }
}

TEST(an_entry_too_long_to_be_short_is_not_touched) {
  const std::string text(200, 'k');
  WireWriter writer;
  CHECK(!write_short_entry(writer, bytes_of(text), std::int64_t{1}));
  CHECK(!write_short_entry(writer, bytes_of(text), 1.0F));
  CHECK(!write_short_entry(writer, bytes_of("k"), bytes_of(text)));
  CHECK_EQ(writer.size(), std::size_t{0});
}

TEST(a_writer_that_grows_keeps_what_it_has) {
  WireWriter writer;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    const char letter = static_cast<char>('a' + i % 26);
    writer.put_byte(static_cast<std::byte>(letter));
    expected.insert(expected.begin(), letter);
  }
  CHECK_EQ(text_of(writer), expected);
  writer.clear();
  CHECK_EQ(writer.size(), std::size_t{0});
}

TEST(a_message_longer_than_any_may_be_is_refused_before_it_takes_memory) {
  WireWriter writer;
  writer.put_byte(std::byte{1});
  bool refused = false;
  try {
    writer.take(kLongestMessage);
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
  CHECK_EQ(writer.size(), std::size_t{1});
}

}  // namespace
}  // namespace tfreel
