#include "wire.hpp"

#include <limits>

#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::field;
using check::groups;
using check::refusal;
using check::tag;
using check::times;
using check::varint;

constexpr const char* kPastTheEnd = "a number that goes past the end";
constexpr const char* kTooLong = "a number that is too long";
constexpr const char* kTooLarge = "a number that is too large";

std::string varint_refusal(const std::string& bytes) {
  return refusal([&] { WireCursor(bytes_of(bytes)).take_varint(); });
}

std::string tag_refusal(const std::string& bytes) {
  return refusal([&] { WireCursor(bytes_of(bytes)).take_tag(); });
}

std::string length_refusal(const std::string& bytes) {
  return refusal([&] { WireCursor(bytes_of(bytes)).take_bytes(); });
}

// Takes the first tag and skips its value.
std::string skip_refusal(const std::string& bytes) {
  return refusal([&] {
    WireCursor cursor(bytes_of(bytes));
    cursor.skip(cursor.take_tag());
  });
}

TEST(varints_of_every_length_are_read) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, ~std::uint64_t{0} >> bit}) {
      const std::string bytes = varint(value) + "x";
      WireCursor cursor(bytes_of(bytes));
      CHECK_EQ(cursor.take_varint(), value);
      CHECK_EQ(cursor.remaining(), 1u);
    }
  }
}

TEST(varints_may_be_longer_than_they_need_be) {
  const std::string zero = times(9, "\x80") + std::string(1, '\0');
  CHECK_EQ(WireCursor(bytes_of(zero)).take_varint(), 0u);
  const std::string five = "\x85" + times(8, "\x80") + std::string(1, '\0');
  CHECK_EQ(WireCursor(bytes_of(five)).take_varint(), 5u);
}

TEST(bits_beyond_the_64th_are_dropped) {
  const std::string all = times(9, "\xff") + "\x7f";
  CHECK_EQ(WireCursor(bytes_of(all)).take_varint(), std::numeric_limits<std::uint64_t>::max());
  const std::string none = times(9, "\x80") + "\x7e";
  CHECK_EQ(WireCursor(bytes_of(none)).take_varint(), 0u);
}

TEST(varints_that_end_too_soon_or_too_late_are_refused) {
  CHECK_EQ(varint_refusal(""), kPastTheEnd);
  for (std::size_t length = 1; length <= 9; ++length) {
    CHECK_EQ(varint_refusal(times(length, "\x80")), kPastTheEnd);
  }
  CHECK_EQ(varint_refusal(times(10, "\x80")), kTooLong);
  CHECK_EQ(varint_refusal(times(10, "\x80") + std::string(1, '\0')), kTooLong);
}

TEST(tags_have_a_field_and_a_type) {
  for (const std::uint32_t number : {1u, 15u, 16u, 2047u, 2048u, (1u << 29) - 1}) {
    const std::string bytes = tag(number, WireType::fixed32);
    const Tag found = WireCursor(bytes_of(bytes)).take_tag();
    CHECK_EQ(found.field, number);
    CHECK(found.type == WireType::fixed32);
    CHECK(found.is(number, WireType::fixed32));
    CHECK(!found.is(number, WireType::fixed64));
  }
  const std::string overlong = "\x8a\x80\x80\x80" + std::string(1, '\0');
  CHECK(WireCursor(bytes_of(overlong)).take_tag().is(1, WireType::length));
}

TEST(tags_that_mean_nothing_are_refused) {
  CHECK_EQ(tag_refusal(""), kPastTheEnd);
  CHECK_EQ(tag_refusal("\x80"), kPastTheEnd);
  for (char type = 0; type < 6; ++type) {
    CHECK_EQ(tag_refusal(std::string(1, type)), "field number 0");
  }
  CHECK_EQ(tag_refusal("\x0e"), "unknown wire type");
  CHECK_EQ(tag_refusal("\x0f"), "unknown wire type");
  CHECK_EQ(tag_refusal(varint(std::uint64_t{1} << 32 | 8)), kTooLarge);
  CHECK_EQ(tag_refusal("\x88" + times(4, "\x80") + std::string(1, '\0')), kTooLong);
}

TEST(lengths_are_claims) {
  const std::string three =
      "\x03"
      "abcd";
  WireCursor cursor(bytes_of(three));
  CHECK_EQ(check::text_of(cursor.take_bytes()), "abc");
  CHECK_EQ(cursor.remaining(), 1u);
  CHECK_EQ(length_refusal("\x04"
                          "abc"),
           "a length that goes past the end");
  CHECK_EQ(length_refusal(varint((1u << 31) - 1)), "a length that goes past the end");
  CHECK_EQ(length_refusal(varint(1u << 31)), kTooLarge);
  CHECK_EQ(length_refusal(varint(~std::uint64_t{0})), kTooLong);
  CHECK_EQ(length_refusal(""), kPastTheEnd);
  const std::string nothing(1, '\0');
  CHECK(WireCursor(bytes_of(nothing)).take_bytes().empty());
}

TEST(fixed_numbers_need_all_their_bytes) {
  const std::string seven = "abcdefg";
  CHECK_EQ(refusal([&] { WireCursor(bytes_of(seven)).take_fixed<std::uint64_t>(); }), kPastTheEnd);
  CHECK_EQ(WireCursor(bytes_of(seven)).take_fixed<std::uint32_t>(), 0x64636261u);
}

TEST(fields_of_every_type_are_skipped) {
  const std::string rest = "rest";
  for (const std::string& skipped :
       {tag(9, WireType::varint) + varint(300), tag(9, WireType::fixed64) + "abcdefgh",
        tag(9, WireType::fixed32) + "abcd", field(9, "abc"), groups(1, 1),
        tag(9, WireType::start_group) + field(1, "x") + tag(1, WireType::varint) + varint(5) +
            groups(0, 1)}) {
    const std::string bytes = skipped + rest;
    WireCursor cursor(bytes_of(bytes));
    cursor.skip(cursor.take_tag());
    CHECK_EQ(cursor.remaining(), rest.size());
  }
}

TEST(groups_nest_to_a_depth_of_100) {
  CHECK_EQ(skip_refusal(groups(100, 100)), "");
  CHECK_EQ(skip_refusal(groups(101, 101)), "groups nested too deeply");
  CHECK_EQ(skip_refusal(groups(5'000'000, 0)), "groups nested too deeply");
}

TEST(groups_must_end_as_they_began) {
  const std::string begin = tag(9, WireType::start_group);
  CHECK_EQ(skip_refusal(groups(0, 1)), "the end of a group that did not begin");
  CHECK_EQ(skip_refusal(groups(2, 1)), "a group without an end");
  CHECK_EQ(skip_refusal(begin + tag(8, WireType::end_group)), "a group that ends as another");
  CHECK_EQ(skip_refusal(begin + "\x0a\x7f"), "a length that goes past the end");
  CHECK_EQ(skip_refusal(begin + std::string(2, '\0')), "field number 0");
}

TEST(a_refusal_says_where) {
  const std::string bytes = field(1, "abc") +
                            "\x12\x05"
                            "ab";
  WireCursor cursor(bytes_of(bytes));
  cursor.skip(cursor.take_tag());
  const Tag found = cursor.take_tag();
  try {
    cursor.skip(found);
    CHECK(false);
  } catch (const Malformed& error) {
    CHECK_EQ(error.at - bytes_of(bytes).data(), 6);
  }
}

}  // namespace
}  // namespace tfreel
