#include "example.hpp"

#include <bit>
#include <numeric>

#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::entry;
using check::field;
using check::float_run;
using check::floats;
using check::int_run;
using check::ints;
using check::refusal;
using check::strings;
using check::tag;
using check::text_of;
using check::times;
using check::varint;

using Ints = std::vector<std::int64_t>;

Values merged(const std::string& feature) {
  Values values;
  values.merge(bytes_of(feature));
  return values;
}

std::string single_int(std::int64_t value) {
  return tag(1, WireType::varint) + varint(static_cast<std::uint64_t>(value));
}

TEST(lists_are_read_packed_unpacked_and_mixed) {
  const Ints wanted{1, -1, 300, std::numeric_limits<std::int64_t>::min()};
  const std::string run = int_run({wanted[0], wanted[1]});
  for (const std::string& list :
       {field(1, int_run(wanted)), field(1, run) + field(1, int_run({wanted[2], wanted[3]})),
        single_int(1) + single_int(-1) + single_int(300) + single_int(wanted[3]),
        field(1, run) + single_int(300) + single_int(wanted[3]),
        single_int(1) + field(1, int_run({-1, 300})) + field(1, "") + single_int(wanted[3]),
        field(9, "?") + field(1, int_run(wanted)) + check::groups(3, 3)}) {
    const Values values = merged(field(3, list));
    CHECK(values.kind == Kind::ints);
    CHECK(values.ints == wanted);
    CHECK_EQ(values.size(), wanted.size());
  }
}

TEST(floats_keep_their_bits) {
  const std::vector<std::uint32_t> bits{0x7f800001, 0x7fc00001, 0xffffffff, 0x80000000, 1};
  std::string run(bits.size() * 4, '\0');
  std::memcpy(run.data(), bits.data(), run.size());
  std::string single;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    single += tag(1, WireType::fixed32) + run.substr(4 * i, 4);
  }
  for (const std::string& list : {field(1, run), single}) {
    const Values values = merged(field(2, list));
    CHECK_EQ(values.floats.size(), bits.size());
    CHECK_EQ(std::memcmp(values.floats.data(), bits.data(), run.size()), 0);
  }
}

TEST(the_last_kind_counts_and_the_same_kind_merges) {
  CHECK(merged(floats({1}) + ints({2})).kind == Kind::ints);
  CHECK(merged(floats({1}) + ints({2})).ints == Ints{2});
  CHECK(merged(ints({1}) + floats({1}) + ints({2})).ints == Ints{2});
  const Ints both{1, 2, 3};
  CHECK(merged(ints({1}) + ints({2, 3})).ints == both);
  CHECK(merged(ints({1}) + field(9, "?") + ints({2, 3})).ints == both);
  CHECK(merged("").kind == Kind::none);
  CHECK(merged(ints({1}) + field(1, "")).kind == Kind::bytes);
  CHECK_EQ(merged(ints({1}) + field(1, "")).size(), 0u);
}

TEST(a_wrong_wire_type_is_an_unknown_field) {
  CHECK(merged(tag(3, WireType::varint) + varint(5)).kind == Kind::none);
  CHECK_EQ(merged(field(3, tag(1, WireType::fixed32) + "abcd")).size(), 0u);
  CHECK_EQ(merged(field(2, single_int(5))).size(), 0u);
  CHECK_EQ(merged(field(1, single_int(5))).size(), 0u);
}

TEST(values_that_are_broken_are_refused) {
  for (const std::string& feature :
       {field(3, field(1, "\x80")), field(3, field(1, times(10, "\x80") + "\x01")),
        field(2, field(1, "abcde")), field(2, tag(1, WireType::fixed32) + "abc"),
        field(3,
              "\x0a\x05"
              "ab"),
        field(1,
              "\x0a\x05"
              "ab"),
        std::string("\x1a\x05"
                    "ab"),
        ints({1}) + "\x80"}) {
    CHECK(!refusal([&] { merged(feature); }).empty());
  }
}

TEST(simple_features_are_known_for_what_they_are) {
  for (const std::size_t count :
       {0u, 1u, 2u, 30u, 31u, 61u, 62u, 63u, 64u, 125u, 126u, 127u, 128u, 1000u}) {
    Ints values(count);
    std::iota(values.begin(), values.end(), 0);
    const std::string of_ints = ints(values);
    const auto found = read_simple(bytes_of(of_ints));
    CHECK(found && found->kind == Kind::ints);
    CHECK_EQ(count_values(*found).value(), count);
    Ints read(count);
    read_ints(found->run, count, read.data());
    CHECK(read == values);
    const std::string of_floats = floats(std::vector<float>(count, 1.5f));
    const auto found_floats = read_simple(bytes_of(of_floats));
    CHECK(found_floats && found_floats->kind == Kind::floats);
    CHECK_EQ(count_values(*found_floats).value(), count);
    const std::string of_strings = strings(std::vector<std::string>(count, "ab"));
    const auto found_strings = read_simple(bytes_of(of_strings));
    CHECK(found_strings && found_strings->kind == Kind::bytes);
    CHECK_EQ(count_values(*found_strings).value(), count);
  }
  const auto none = read_simple({});
  CHECK(none && none->kind == Kind::none);
}

TEST(the_head_of_floats_is_known_by_their_number) {
  for (const std::size_t count : {1u, 2u, 30u, 31u, 32u, 33u, 4094u, 4096u, 1u << 20}) {
    const std::string feature = floats(std::vector<float>(count, 1.5f));
    const FloatsHead head(count);
    CHECK(head.begins(bytes_of(feature)));
    CHECK_EQ(head.size() + count * sizeof(float), feature.size());
    CHECK(!FloatsHead(count + 1).begins(bytes_of(feature)));
    CHECK(!head.begins(bytes_of(feature + "x")));
    for (std::size_t at = 0; at < head.size(); ++at) {
      std::string changed = feature;
      changed[at] ^= 1;
      CHECK(!head.begins(bytes_of(changed)));
    }
  }
  for (const std::size_t count : {std::size_t{0}, kLongestMessage / 4, std::size_t{1} << 62}) {
    CHECK(!FloatsHead(count).begins(bytes_of(floats({}))));
    CHECK(!FloatsHead(count).begins({}));
  }
}

// The quick look at a short feature must not see a run where there is none.
TEST(every_change_of_a_simple_feature_is_read_as_by_the_slow_way) {
  const std::string simple = ints({1, 2, 300});
  for (std::size_t at = 0; at < simple.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = simple;
      changed[at] = static_cast<char>(byte);
      Values slow;
      const std::string why = refusal([&] { slow = merged(changed); });
      std::size_t count = 0;
      Kind kind = Kind::none;
      const std::string quick_why = refusal([&] {
        const auto quick = read_simple(bytes_of(changed));
        const auto counted = quick ? count_values(*quick) : std::nullopt;
        if (!counted) {
          const Values values = merged(changed);
          kind = values.kind;
          count = values.size();
          return;
        }
        kind = quick->kind;
        count = *counted;
        if (kind == Kind::ints) {
          Ints read(count);
          read_ints(quick->run, count, read.data());
          CHECK(read == slow.ints);
        }
      });
      CHECK_EQ(quick_why.empty(), why.empty());
      if (why.empty()) {
        CHECK(kind == slow.kind);
        CHECK_EQ(count, slow.size());
      }
    }
  }
}

TEST(entries_are_taken_apart_in_any_order) {
  const std::string key = field(1, "k");
  const std::string value = field(2, "v");
  const std::string unknown = field(9, "?");
  for (const std::string& bytes :
       {key + value, value + key, unknown + key + value, key + unknown + value,
        field(1, "other") + key + value, key + tag(2, WireType::varint) + varint(1) + value}) {
    const MapEntry found = read_entry(bytes_of(bytes));
    CHECK_EQ(text_of(found.key), "k");
    CHECK_EQ(text_of(found.value), "v");
    CHECK(!found.merged);
  }
  CHECK(read_entry({}).key.empty());
  const std::string twice = field(2, ints({1})) + key + field(2, ints({2, 3}));
  const MapEntry found = read_entry(bytes_of(twice));
  CHECK(found.merged);
  Values values;
  values.gather(found);
  const Ints all{1, 2, 3};
  CHECK(values.ints == all);
}

TEST(entries_come_from_every_map_of_a_message) {
  const std::string message = field(1, entry("a", "") + field(9, "?") + entry("b", "")) +
                              field(2, entry("in the other", "")) + field(1, entry("c", ""));
  std::string names;
  const auto note = [&](Bytes bytes) { names += text_of(read_entry(bytes).key) + ";"; };
  for_each_entry(bytes_of(message), 1, note);
  CHECK_EQ(names, "a;b;c;");
  names.clear();
  for_each_entry(bytes_of(message), 2, note);
  CHECK_EQ(names, "in the other;");
}

TEST(names_are_utf8) {
  for (const char* good :
       {"", "ascii", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xf4\x8f\xbf\xbf", "long enough for eight at a time \xc3\xa9"}) {
    CHECK_EQ(refusal([&] { require_utf8(bytes_of(good)); }), "");
  }
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82",
        "\xe2\x28\xa1", "\xf0\x9f\x98", "sevenascii\xff"}) {
    CHECK_EQ(refusal([&] { require_utf8(bytes_of(bad)); }), "a name that is not UTF-8");
  }
  const std::string replaced = field(1, "\xff") + field(1, "k");
  CHECK_EQ(refusal([&] { read_entry(bytes_of(replaced)); }), "a name that is not UTF-8");
}

}  // namespace
}  // namespace tfreel
