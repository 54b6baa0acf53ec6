#include "statistics.hpp"

#include <string>

#include "check.hpp"
#include "content.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using namespace check;

Statistics made(std::optional<std::string> by = {},
                std::optional<std::vector<std::string>> columns = {}) {
  return Statistics({std::move(columns), std::move(by), 10, 3});
}

const FeatureStatistics& feature(const Statistics::Group& group) { return *group.features.at(0); }

// What stopped it, as a number; -1 if nothing did.
template <typename Work>
int limit(Work&& work) {
  try {
    work();
  } catch (const StatisticsLimit& found) {
    return static_cast<int>(found.what);
  }
  return -1;
}

TEST(statistics_count_records_lists_and_values) {
  Statistics statistics = made();
  statistics.add(bytes_of(example(entry("a", ints({1, 2, 0})))));
  statistics.add(bytes_of(example(entry("a", ints({})))));
  statistics.add(bytes_of(example("")));
  statistics.flush();
  const auto all = statistics.total();
  CHECK_EQ(all.records, 3U);
  CHECK_EQ(feature(all).present, 2U);
  CHECK_EQ(feature(all).empty, 1U);
  CHECK_EQ(feature(all).ints->distribution.count(), 3U);
  CHECK_EQ(feature(all).ints->zeros, 1U);
}

TEST(statistics_take_the_last_of_repeated_names_and_the_bytes_of_all) {
  Statistics statistics = made();
  const std::string twice = entry("a", ints({1})) + entry("a", ints({5, 6}));
  statistics.add(bytes_of(example(twice)));
  statistics.flush();
  const auto all = statistics.total();
  CHECK_EQ(feature(all).present, 1U);
  CHECK_EQ(feature(all).ints->distribution.count(), 2U);
  CHECK_EQ(feature(all).bytes, twice.size());
}

TEST(statistics_count_nothing_of_a_record_that_is_malformed_at_its_end) {
  Statistics statistics = made();
  const std::string bad = entry("a", ints({1})) + entry("b", field(3, field(1, "\x80")));
  CHECK(!refusal([&] { statistics.add(bytes_of(example(bad))); }).empty());
  statistics.add(bytes_of(example(entry("c", ints({1})))));
  statistics.flush();
  const auto all = statistics.total();
  CHECK_EQ(all.records, 1U);
  for (std::size_t i = 0; i < all.features.size(); ++i) {
    CHECK_EQ(all.features[i] != nullptr, statistics.features()[i].name == "c");
  }
}

TEST(statistics_of_feature_lists_count_steps) {
  Statistics statistics = made();
  const std::string list = field(1, floats({1, 2})) + field(1, "") + field(1, strings({"x"}));
  statistics.add(bytes_of(field(2, field(1, field(1, "track") + field(2, list)))));
  statistics.flush();
  const auto all = statistics.total();
  CHECK(statistics.features().at(0).in_lists);
  CHECK_EQ(feature(all).steps.numbers().distribution.least(), key_of(std::int64_t{3}));
  CHECK_EQ(feature(all).lengths.numbers().distribution.count(), 3U);
  CHECK_EQ(feature(all).kinds[0], 1U);
  CHECK_EQ(feature(all).floats->distribution.count(), 2U);
}

TEST(statistics_stop_at_too_many_features) {
  Statistics statistics = made();
  for (int i = 0; i < 10; ++i) {
    statistics.add(bytes_of(example(entry("name " + std::to_string(i), ints({1})))));
  }
  const std::string more = example(entry("one more", ints({1})));
  CHECK_EQ(limit([&] { statistics.add(bytes_of(more)); }), 0);
  CHECK_EQ(statistics.total().records, 10U);
}

TEST(statistics_stop_at_groups_that_are_none) {
  Statistics statistics = made("g");
  const auto add = [&](const std::string& value) {
    return limit([&] { statistics.add(bytes_of(example(entry("g", value)))); });
  };
  for (int i = 0; i < 3; ++i) CHECK_EQ(add(ints({i})), -1);
  CHECK_EQ(add(ints({0, 1})), -1);  // no group of its own
  CHECK_EQ(add(ints({7})), 1);
  CHECK_EQ(add(floats({7})), 2);
  CHECK_EQ(add(strings({std::string(2000, 'x')})), 3);
  CHECK_EQ(statistics.total().records, 4U);
}

TEST(statistics_merge_to_what_one_pass_gives) {
  Statistics whole = made();
  Statistics first = made();
  Statistics second = made();
  for (int i = 0; i < 100; ++i) {
    const std::string name = i % 3 == 0 ? "a" : "b";
    const std::string record = example(entry(name, strings({std::to_string(i % 7)})));
    whole.add(bytes_of(record));
    (i < 50 ? first : second).add(bytes_of(record));
  }
  for (Statistics* each : {&whole, &first, &second}) each->flush();
  first.merge(second);
  const auto expected = whole.total();
  const auto found = first.total();
  CHECK_EQ(found.records, expected.records);
  for (std::size_t i = 0; i < 2; ++i) {
    const BytesStatistics& ours = *found.features[i]->strings;
    const BytesStatistics& theirs = *expected.features[i]->strings;
    CHECK_EQ(ours.values.count(), theirs.values.count());
    CHECK_EQ(ours.values.distinct(), 7.0);
    for (const Counted& each : theirs.values.frequent()) CHECK(ours.shown(each.key) != nullptr);
  }
}

TEST(statistics_look_only_at_what_was_asked_for) {
  Statistics statistics = made({}, std::vector<std::string>{"b"});
  statistics.add(bytes_of(example(entry("a", ints({1})) + entry("b", ints({2})))));
  statistics.flush();
  CHECK_EQ(statistics.features().size(), 1U);
  CHECK_EQ(feature(statistics.total()).ints->distribution.least(), key_of(std::int64_t{2}));
}

// Whatever is cut off, nothing is read behind the end: the sanitizers watch.
TEST(contents_of_values_that_end_anywhere) {
  using namespace std::string_literals;
  const std::string values[] = {
      "\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc0\0\x11\x08\0\x10\0\x20\x03\x01\x22\0"s,
      "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x20\0\0\0\x10\x08\x02\0\0\0"s,
      "GIF89a\x20\0\x10\0\xf0\0\0"s,
      "RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\x1f\xc0\x03\0\0"s,
      "RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x1f\0\0\x0f\0\0"s,
      "BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x20\0\0\0\xf0\xff\xff\xff"s,
      "II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x20\0\0\0\x01\x01\x04\0\x01\0\0\0\x10\0\0\0"s,
      "\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01\x22\x08\0\0\0\0\0\0\0\0"s,
      "\0\0\0\x1c"
      "ftypavif"s,
  };
  for (const std::string& value : values) {
    const ContentFacts whole = content_of(bytes_of(value));
    CHECK(whole.kind != Content::binary);
    if (whole.width != 0) CHECK(whole.width == 32 && whole.height == 16);
    for (std::size_t size = 0; size < value.size(); ++size) {
      const std::vector<char> cut(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
      content_of(std::as_bytes(std::span(cut)));
    }
  }
}

TEST(statistics_that_were_saved_are_the_same_elsewhere) {
  for (const auto& by : {std::optional<std::string>{}, std::optional<std::string>{"a"}}) {
    Statistics statistics = made(by);
    for (std::int64_t i = 0; i < 20'000; ++i) {
      const auto numbers = entry("a", ints({i % 2})) + entry("b", ints({i * i, -i}));
      statistics.add(bytes_of(example(numbers + entry("c", strings({std::to_string(i)})))));
    }
    const std::string saved = statistics.save();
    Statistics other = made(by);
    other.load(bytes_of(saved));
    CHECK_EQ(other.save(), saved);
    CHECK_EQ(other.total().records, 20'000U);
    // It goes on as the first one does.
    for (Statistics* each : {&statistics, &other}) {
      each->add(bytes_of(example(entry("b", ints({7})))));
    }
    CHECK_EQ(other.save(), statistics.save());
  }
}

TEST(bytes_that_nobody_saved_are_no_statistics) {
  Statistics statistics = made();
  for (std::int64_t i = 0; i < 3'000; ++i) {
    statistics.add(bytes_of(example(entry("b", ints({i})) + entry("c", strings({"x"})))));
  }
  const std::string saved = statistics.save();
  const auto refused = [](const std::string& bytes) {
    try {
      Statistics other = made();
      other.load(bytes_of(bytes));
      other.total();
    } catch (const std::out_of_range&) {
      return true;
    } catch (const StatisticsLimit&) {
      return true;
    }
    return false;
  };
  CHECK(!refused(saved));
  CHECK(refused(saved + "x"));
  for (std::size_t size = 0; size < saved.size(); size += 97) CHECK(refused(saved.substr(0, size)));
  for (std::size_t i = 0; i < saved.size(); i += 31) {  // whatever it says, it does no harm
    std::string changed = saved;
    changed[i] = static_cast<char>(changed[i] ^ 0xff);
    refused(changed);
  }
}

}  // namespace
}  // namespace tfreel
