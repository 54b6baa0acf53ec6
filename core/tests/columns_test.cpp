#include "columns.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "check.hpp"
#include "messages.hpp"
#include "rows.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::entry;
using check::example;
using check::field;
using check::floats;
using check::int_run;
using check::ints;
using check::strings;
using check::times;

using Ints = std::vector<std::int64_t>;
using Result = std::variant<std::vector<Column>, ParseFault>;

FeatureSpec spec(const char* name, Kind kind) {
  FeatureSpec made;
  made.name = name;
  made.kind = kind;
  return made;
}

FeatureSpec fixed(const char* name, Kind kind, std::size_t count) {
  FeatureSpec made = spec(name, kind);
  made.fixed = made.required = true;
  made.count = count;
  return made;
}

FeatureSpec in_lists(FeatureSpec made) {
  made.in_lists = true;
  return made;
}

Result parse_all(const std::vector<std::string>& records, const std::vector<FeatureSpec>& features,
                 std::size_t threads = 1, bool sequences = false) {
  // Each in memory of its size, so that the sanitizers see a look behind its end.
  std::vector<std::vector<std::byte>> exact;
  std::vector<Bytes> views;
  for (const auto& record : records) {
    const Bytes bytes = bytes_of(record);
    views.push_back(exact.emplace_back(bytes.begin(), bytes.end()));
  }
  return parse(views, features, {.sequences = sequences, .threads = threads});
}

const std::vector<Column>& columns(const Result& result) {
  CHECK(std::holds_alternative<std::vector<Column>>(result));
  return std::get<std::vector<Column>>(result);
}

ParseFault fault(const Result& result) {
  CHECK(std::holds_alternative<ParseFault>(result));
  return std::holds_alternative<ParseFault>(result) ? std::get<ParseFault>(result) : ParseFault{};
}

template <typename Scalar>
std::vector<Scalar> all(const Buffer<Scalar>& buffer) {
  const auto span = buffer.span();
  return {span.begin(), span.end()};
}

std::string text(const Column& column, std::size_t i) {
  const auto begin = static_cast<std::size_t>(column.value_offsets[i]);
  const auto end = static_cast<std::size_t>(column.value_offsets[i + 1]);
  return check::text_of(Bytes(column.data.data() + begin, end - begin));
}

TEST(columns_of_every_kind_are_filled) {
  const std::vector<std::string> records{
      example(entry("n", ints({7})) + entry("x", floats({1, 2})) +
              entry("s", strings({"one", ""}))),
      example(entry("s", strings({})) + entry("n", ints({-8})) + entry("x", floats({3, 4}))),
  };
  const auto result = parse_all(records, {fixed("n", Kind::ints, 1), fixed("x", Kind::floats, 2),
                                          spec("s", Kind::bytes), spec("gone", Kind::ints)});
  const auto& found = columns(result);
  CHECK(all(found[0].ints) == (Ints{7, -8}));
  CHECK(all(found[1].floats) == (std::vector<float>{1, 2, 3, 4}));
  CHECK(all(found[2].unit_offsets) == (Ints{0, 2, 2}));
  CHECK(all(found[2].value_offsets) == (Ints{0, 3, 3}));
  CHECK_EQ(text(found[2], 0), "one");
  CHECK_EQ(found[2].absent, 0u);
  CHECK(all(found[3].unit_offsets) == (Ints{0, 0, 0}));
  CHECK_EQ(found[3].absent, 2u);
}

TEST(no_records_make_empty_columns) {
  const auto result =
      parse_all({}, {fixed("n", Kind::ints, 3), spec("s", Kind::bytes), fixed("t", Kind::bytes, 2),
                     in_lists(spec("l", Kind::floats))});
  const auto& found = columns(result);
  CHECK(all(found[0].ints).empty());
  CHECK(all(found[1].value_offsets) == Ints{0});
  CHECK(all(found[2].value_offsets) == Ints{0});
  CHECK(all(found[3].step_offsets) == Ints{0});
}

TEST(defaults_stand_where_features_are_absent) {
  FeatureSpec numbers = fixed("n", Kind::ints, 2);
  numbers.required = false;
  numbers.default_ints = {5, 6};
  FeatureSpec words = fixed("s", Kind::bytes, 2);
  words.required = false;
  words.default_bytes = {"de", "fault"};
  const std::vector<std::string> records{
      "", example(entry("n", ints({1, 2})) + entry("s", strings({"a", "b"}))),
      example(entry("n", "") + entry("s", ""))};
  const auto result = parse_all(records, {numbers, words});
  const auto& found = columns(result);
  CHECK(all(found[0].ints) == (Ints{5, 6, 1, 2, 5, 6}));
  CHECK_EQ(text(found[1], 0) + text(found[1], 1) + text(found[1], 2) + text(found[1], 5),
           "defaultafault");
  CHECK_EQ(found[1].absent, 2u);
  CHECK_EQ(int{found[1].present[0]}, 2);
}

TEST(the_last_of_two_features_with_one_name_counts) {
  const std::vector<std::string> records{
      example(entry("n", ints({1, 2, 3})) + entry("n", ints({4}))),
      example(entry("n", floats({1})) + entry("n", ints({5}))),
      example(entry("n", ints({1}))) + example(entry("n", ints({6}))),
  };
  for (const auto& asked : {fixed("n", Kind::ints, 1), spec("n", Kind::ints)}) {
    const auto result = parse_all(records, {asked});
    CHECK(all(columns(result)[0].ints) == (Ints{4, 5, 6}));
  }
  CHECK(fault(parse_all({example(entry("n", ints({1})) + entry("n", ""))},
                        {fixed("n", Kind::ints, 1)}))
            .what == ParseFault::What::missing);
}

TEST(features_not_asked_for_may_be_broken) {
  const std::string record = example(entry("broken", "\x80") + entry("n", ints({1})));
  CHECK(all(columns(parse_all({record, record}, {fixed("n", Kind::ints, 1)}))[0].ints) ==
        (Ints{1, 1}));
  CHECK(fault(parse_all({record}, {spec("broken", Kind::ints)})).what ==
        ParseFault::What::malformed);
}

TEST(faults_say_what_and_where) {
  using What = ParseFault::What;
  const std::string good = example(entry("n", ints({1})));
  const auto asked = std::vector{fixed("n", Kind::ints, 1)};
  const auto first = [&](const std::string& bad) {
    return fault(parse_all({good, bad, good}, asked));
  };
  CHECK(first("").what == What::missing);
  CHECK(first(example(entry("n", floats({1, 2})))).what == What::wrong_kind);
  CHECK(first(example(entry("n", floats({1, 2})))).found_kind == Kind::floats);
  CHECK_EQ(first(example(entry("n", floats({1, 2})))).found_count, 2u);
  CHECK(first(example(entry("n", ints({1, 2})))).what == What::wrong_count);
  CHECK_EQ(first(example(entry("n", ints({1, 2})))).found_count, 2u);
  CHECK(first(good + "\x80").what == What::malformed);
  CHECK_EQ(first(good + "\x80").offset, good.size());
  CHECK_EQ(first(good + "\x80").row, 1u);
}

// Varints that are too long are found last, when their values are written.
TEST(the_first_bad_record_is_the_one_that_is_named) {
  const std::string good = example(entry("n", ints({1})) + entry("l", ints({1, 2})));
  const std::string too_long = field(3, field(1, times(10, "\x80") + std::string(1, '\0')));
  const std::string late = example(entry("n", ints({1})) + entry("l", too_long));
  for (const std::size_t threads : {1u, 3u}) {
    std::vector<std::string> records(2000, good);
    for (const std::size_t row : {1900u, 1500u, 700u, 3u}) {
      records[row] = row % 4 == 0 ? late : "";
      CHECK_EQ(
          fault(parse_all(records, {spec("l", Kind::ints), fixed("n", Kind::ints, 1)}, threads))
              .row,
          row);
      records[row - 1] = late;
      const auto found =
          fault(parse_all(records, {fixed("n", Kind::ints, 1), spec("l", Kind::ints)}, threads));
      CHECK_EQ(found.row, row - 1);
      CHECK(found.what == ParseFault::What::malformed);
    }
  }
}

TEST(replaced_values_must_be_sound) {
  const std::string too_long = field(3, field(1, times(10, "\x80") + std::string(1, '\0')));
  const std::string record = example(entry("n", too_long) + entry("n", ints({1})));
  for (const auto& asked : {spec("n", Kind::ints), fixed("n", Kind::ints, 1),
                            fixed("n", Kind::ints, 2), spec("n", Kind::floats)}) {
    CHECK(fault(parse_all({record}, {asked})).what == ParseFault::What::malformed);
  }
  const std::string lists =
      field(2, entry("n", field(1, too_long)) + entry("n", field(1, ints({1}))));
  const auto found = fault(parse_all({lists}, {in_lists(spec("n", Kind::ints))}, 1, true));
  CHECK(found.what == ParseFault::What::malformed);
}

TEST(feature_lists_keep_their_steps) {
  const auto list = [](std::string_view steps) { return field(2, entry("l", steps)); };
  const std::vector<std::string> records{
      list(field(1, ints({1, 2})) + field(1, "") + field(1, ints({3}))), "", list(""),
      list(field(1, ints({9}))) + list(field(1, ints({4})) + field(1, ints({})))};
  const auto result = parse_all(records, {in_lists(spec("l", Kind::ints))}, 1, true);
  const auto& found = columns(result)[0];
  CHECK(all(found.ints) == (Ints{1, 2, 3, 4}));
  CHECK(all(found.unit_offsets) == (Ints{0, 2, 2, 3, 4, 4}));
  CHECK(all(found.step_offsets) == (Ints{0, 3, 3, 3, 5}));
  CHECK_EQ(found.absent, 1u);
  CHECK_EQ(int{found.present[0]}, 0b1101);
  const auto uneven =
      fault(parse_all({records[0]}, {in_lists(fixed("l", Kind::ints, 2))}, 1, true));
  CHECK(uneven.what == ParseFault::What::wrong_count);
  CHECK_EQ(uneven.step, 1u);
}

// As a bytearray does in another thread, or a mapped file.
TEST(records_that_change_while_they_are_read_do_no_harm) {
  const std::string word(20, 'w');
  const std::string simple = entry("s", strings({word, word, word}));
  const std::string odd = entry("s", field(9, "?") + strings({word, word}) + strings({word}));
  for (const auto& inside : {simple, odd}) {
    for (std::size_t at = 0; at < inside.size() + 2; ++at) {
      for (const int byte : {0, 1, 5, 0x0a, 0x12, 0x1a, 42, 64, 0x80, 0xff}) {
        std::string record = example(inside);
        const std::vector<FeatureSpec> asked{spec("s", Kind::bytes)};
        std::vector<Column> made(1);
        made[0].kind = Kind::bytes;
        UnitPool pool;
        RowReader reader(asked, made, false, pool);
        const std::vector<Bytes> records{bytes_of(record)};
        CHECK(!reader.read(records, 0));
        const Unit& unit = reader.units()[0].strings[0];
        made[0].data.resize(unit.payload);
        made[0].value_offsets.resize(unit.count + 1);
        record[at] = static_cast<char>(byte);
        reader.write(records, 0);  // the sanitizers watch
      }
    }
  }
}

TEST(a_shape_that_no_record_fills_asks_for_no_memory) {
  const std::vector<std::string> records(2000, example(entry("n", ints({1}))));
  for (const Kind kind : {Kind::ints, Kind::floats}) {
    const auto found = fault(parse_all(records, {fixed("n", kind, (std::size_t{1} << 31) - 1)}, 3));
    CHECK_EQ(found.row, 0u);
  }
}

// What the entries of a record are called is guessed from the record before.
TEST(guesses_that_fail_do_no_harm) {
  std::vector<std::string> records;
  Ints wanted_a, wanted_b;
  const std::string other = entry("c", ints({0}));
  const std::string long_name = entry(times(200, "x"), ints({0}));
  for (std::int64_t i = 0; i < 5000; ++i) {
    std::vector<std::string> entries{entry("a", ints({i})),
                                     entry("bb", ints({-i})),
                                     other,
                                     long_name,
                                     field(1, field(2, ints({1})) + field(1, "aa")),
                                     field(1, field(1, "a") + field(1, "d") + field(2, ints({2})))};
    std::rotate(entries.begin(), entries.begin() + i % 6, entries.end());
    if (i % 7 == 0) std::swap(entries[1], entries[4]);
    std::string inside;
    for (const auto& one : entries) inside += one;
    records.push_back(example(inside));
    wanted_a.push_back(i);
    wanted_b.push_back(-i);
  }
  for (const std::size_t threads : {1u, 4u}) {
    const auto result =
        parse_all(records, {fixed("a", Kind::ints, 1), spec("bb", Kind::ints)}, threads);
    CHECK(all(columns(result)[0].ints) == wanted_a);
    CHECK(all(columns(result)[1].ints) == wanted_b);
  }
}

// Sizes that never change, that do now and then, that always do, and that need more bytes to tell.
TEST(sizes_that_change_do_no_harm) {
  const std::size_t count = 2000;
  std::vector<std::string> records;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const std::string now_and_then(i % 50 == 0 ? 9 : 4, 'n');
    const std::string always(i % 7, 'a');
    const std::string large(i % 3 * 100, 'l');
    std::string inside = entry("same", floats({1.5F})) + entry("rare", strings({now_and_then})) +
                         entry("often", strings({always})) + entry("large", strings({large})) +
                         entry("n", ints({n}));
    if (i % 400 == 399) inside += entry("often", strings({"the last one counts"}));
    records.push_back(example(inside));
  }
  const auto result =
      parse_all(records, {fixed("same", Kind::floats, 1), fixed("rare", Kind::bytes, 1),
                          fixed("often", Kind::bytes, 1), fixed("large", Kind::bytes, 1),
                          fixed("n", Kind::ints, 1)});
  const auto& found = columns(result);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_EQ(found[0].floats[i], 1.5F);
    CHECK_EQ(text(found[1], i).size(), i % 50 == 0 ? 9u : 4u);
    CHECK_EQ(text(found[2], i), i % 400 == 399 ? "the last one counts" : std::string(i % 7, 'a'));
    CHECK_EQ(text(found[3], i).size(), i % 3 * 100);
    CHECK_EQ(found[4].ints[i], static_cast<std::int64_t>(i));
  }
}

// All that the records before let expect is checked, wherever one ends or says something else.
TEST(what_is_expected_is_not_believed) {
  enum class Before : std::uint8_t { the_same, other_sizes, another_order };
  for (const auto kind : {Before::the_same, Before::other_sizes, Before::another_order}) {
    std::vector<std::string> before;
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t more = kind == Before::other_sizes ? i % 5 : 0;
      const std::string skipped = entry("skipped", strings({std::string(5 + more, 's')}));
      const std::string n = entry("n", ints({static_cast<std::int64_t>(1) << 7 * more}));
      const bool turned = kind == Before::another_order && i % 2 != 0;
      before.push_back(example(turned ? n + skipped : skipped + n));
    }
    const std::string sound = entry("skipped", strings({"sssss"})) + entry("n", ints({5}));
    for (std::size_t size = 0; size < sound.size(); ++size) {
      auto records = before;
      records.push_back(example(sound.substr(0, size)));
      const auto cut = fault(parse_all(records, {fixed("n", Kind::ints, 1)}));
      CHECK_EQ(cut.row, before.size());
    }
    for (std::size_t at = 0; at < sound.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = sound;
        flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
        auto records = before;
        records.push_back(example(flipped));
        const auto alone = parse_all({example(flipped)}, {fixed("n", Kind::ints, 1)});
        const auto result = parse_all(records, {fixed("n", Kind::ints, 1)});
        CHECK_EQ(result.index(), alone.index());
        if (alone.index() == 0) {
          CHECK_EQ(columns(result)[0].ints[before.size()], columns(alone)[0].ints[0]);
        } else {
          CHECK(fault(result).what == fault(alone).what);
        }
      }
    }
  }
}

// An entry whose length takes two bytes, the second of which looks like the beginning of a name.
// An Example of these entries, turned by so many places.
std::string turned(std::vector<std::string> entries, std::size_t places) {
  std::ranges::rotate(entries, entries.begin() + static_cast<std::ptrdiff_t>(places));
  std::string all;
  for (const auto& one : entries) all += one;
  return example(all);
}

// After these records of the features a, b and c, nothing is expected of the order any more.
std::vector<std::string> unordered() {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < 40; ++i) {
    records.push_back(
        turned({entry("a", ints({1})), entry("b", floats({1})), entry("c", ints({2}))}, i % 3));
  }
  return records;
}

const std::vector<FeatureSpec> kSingles{fixed("a", Kind::ints, 1), fixed("b", Kind::floats, 1),
                                        fixed("c", Kind::ints, 1)};

TEST(single_numbers_of_any_length_come_in_any_order) {
  Ints numbers{0, -1, std::numeric_limits<std::int64_t>::min()};
  for (int bit = 0; bit < 63; ++bit) {
    numbers.push_back(std::int64_t{1} << bit);
    numbers.push_back((std::int64_t{1} << bit) - 1);
  }
  auto records = unordered();
  const std::size_t before = records.size();
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    bits.push_back(static_cast<std::uint32_t>(numbers[i]) * 0x9e3779b9U | 0x80008000U);
    const auto real = floats({std::bit_cast<float>(bits.back())});
    records.push_back(
        turned({entry("a", ints({numbers[i]})), entry("b", real), entry("c", ints({~numbers[i]}))},
               i % 3));
  }
  const auto result = parse_all(records, kSingles);
  const auto& found = columns(result);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK_EQ(found[0].ints[before + i], numbers[i]);
    CHECK_EQ(std::bit_cast<std::uint32_t>(found[1].floats[before + i]), bits[i]);
    CHECK_EQ(found[2].ints[before + i], ~numbers[i]);
  }
}

TEST(of_single_numbers_in_any_order_the_last_counts) {
  auto records = unordered();
  records.push_back(example(entry("a", ints({5})) + entry("b", floats({5})) +
                            entry("a", ints({6})) + entry("c", ints({7})) +
                            entry("b", floats({8}))));
  const auto result = parse_all(records, kSingles);
  const auto& found = columns(result);
  CHECK_EQ(found[0].ints[40], 6);
  CHECK_EQ(found[1].floats[40], 8.0F);
  CHECK_EQ(found[2].ints[40], 7);
}

TEST(in_any_order_single_numbers_are_as_wrong_as_in_the_usual_one) {
  const auto run_of = [](std::uint32_t kind, const std::string& run) {
    return field(kind, field(1, run));
  };
  for (const std::string& wrong :
       {run_of(3, ""), run_of(3, "\x80"), run_of(3, "\x81\x81\x81\x81"), run_of(3, "\x01\x01"),
        run_of(3, "\x81\x01\x81\x01"), run_of(3, "\x01\x81\x81\x01"), run_of(2, ""),
        run_of(2, "\x01"), run_of(2, "\x01\x01\x01"), run_of(2, "12345"), run_of(2, "12345678"),
        run_of(1, "\x01"), std::string("\x1a"), std::string()}) {
    for (const bool of_ints : {true, false}) {
      const std::string a = entry("a", of_ints ? wrong : ints({1}));
      const std::string b = entry("b", of_ints ? floats({1}) : wrong);
      const std::string record = turned({a, b, entry("c", ints({2}))}, 1);
      auto records = unordered();
      records.push_back(record);
      const auto expected = std::get<ParseFault>(parse_all({record}, kSingles));
      const auto found = std::get<ParseFault>(parse_all(records, kSingles));
      CHECK_EQ(found.row, 40u);
      CHECK(found.what == expected.what && found.found_kind == expected.found_kind);
      CHECK_EQ(std::string(found.why), expected.why);
      CHECK_EQ(found.found_count, expected.found_count);
      CHECK_EQ(found.feature, expected.feature);
      CHECK_EQ(found.offset, expected.offset);
    }
  }
}

TEST(a_long_entry_is_not_taken_for_a_short_one) {
  const std::string name = times(10, "a");
  std::vector<std::string> records;
  for (std::size_t i = 0; i < 40; ++i) {
    records.push_back(example(entry(name, ints(Ints(i % 5, 1)))));
  }
  // Read with a length of one byte, this would be the feature, with the numbers 1, 1, 1, …
  const std::string lie = "\x12\x77" + ints(Ints(115, 1));
  const std::string key = times(9, "a") + lie.substr(0, 88);
  const std::string rest = lie.substr(88) + times(2000, "?");
  std::string inside = field(1, key);
  inside += field(2, field(9, rest.substr(0, 5 + (10 << 7) - inside.size() - 6)));
  records.push_back(example(field(1, inside)));
  CHECK_EQ(inside.size(), 5u + (10u << 7));
  const auto result = parse_all(records, {spec(name.c_str(), Kind::ints)});
  CHECK_EQ(columns(result)[0].unit_offsets[41] - columns(result)[0].unit_offsets[40], 0);
}

std::vector<std::string> many(std::size_t count, std::size_t size) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    std::string inside = entry("n", ints({n}));
    if (i % 5 != 0) inside += entry("l", ints(Ints(i % 3, n)));
    if (i % 9 != 0)
      inside += entry("s", strings({std::string(size, static_cast<char>('a' + i % 26))}));
    records.push_back(example(inside));
  }
  return records;
}

void check_many(std::size_t count, std::size_t size, std::size_t threads) {
  const auto records = many(count, size);
  const auto result = parse_all(
      records, {fixed("n", Kind::ints, 1), spec("l", Kind::ints), spec("s", Kind::bytes)}, threads);
  const auto& found = columns(result);
  std::size_t value = 0;
  std::size_t word = 0;
  bool same = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    same = same && found[0].ints[i] == n;
    const std::size_t length = i % 5 == 0 ? 0 : i % 3;
    same = same && found[1].unit_offsets[i + 1] - found[1].unit_offsets[i] ==
                       static_cast<std::int64_t>(length);
    for (std::size_t j = 0; j < length; ++j) same = same && found[1].ints[value++] == n;
    same = same && (found[1].present[i / 8] >> i % 8 & 1) == (i % 5 != 0);
    if (i % 9 == 0) continue;
    const std::string written = text(found[2], word++);
    same = same && written.size() == size &&
           (size == 0 || written[0] == static_cast<char>('a' + i % 26));
  }
  CHECK(same);
  CHECK_EQ(found[1].ints.size(), value);
  CHECK_EQ(found[2].value_offsets.size(), word + 1);
}

TEST(stretches_of_records_join_without_a_seam) {
  for (const std::size_t count : {65'535u, 65'536u, 65'537u, 140'000u}) check_many(count, 1, 2);
  check_many(70'000, 200, 3);  // 14 MiB: cut by bytes
  check_many(30, 1 << 20, 2);  // every stretch is a few records
  check_many(3, 9 << 20, 2);   // and here a single one
}

TEST(threads_make_no_difference) {
  for (const std::size_t threads : {1u, 2u, 5u, 64u}) check_many(3000, 3, threads);
}

}  // namespace
}  // namespace tfreel
