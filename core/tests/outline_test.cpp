#include "outline.hpp"

#include <vector>

#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::entry;
using check::example;
using check::field;
using check::floats;
using check::ints;
using check::strings;
using check::times;

Outline outlined(const std::vector<std::string>& records,
                 const std::vector<std::string>& asked = {}, const OutlineOptions& options = {}) {
  std::vector<Bytes> views;
  for (const std::string& record : records) views.push_back(bytes_of(record));
  return outline(views, asked, {}, options);
}

template <typename Scalar>
std::vector<int> numbers(const Buffer<Scalar>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

std::string steps(const std::vector<std::string>& features) {
  std::string list;
  for (const std::string& feature : features) list += field(1, feature);
  return list;
}

std::string sequence(std::string_view lists) { return field(2, lists); }

using List = std::vector<int>;

TEST(an_outline_says_kind_and_count_of_every_feature) {
  const Outline found = outlined({example(entry("a", ints({1, 300})) + entry("b", strings({"x"}))),
                                  example(entry("b", floats({1, 2, 3}))),
                                  example(entry("a", "") + entry("b", field(3, "")))});
  CHECK_EQ(found.features.size(), 2u);
  CHECK_EQ(found.features[0].name, "a");
  CHECK(numbers(found.features[0].rows) == (List{0, 2}));
  CHECK(numbers(found.features[0].kinds) == (List{3, 0}));
  CHECK(numbers(found.features[0].counts) == (List{2, 0}));
  CHECK(numbers(found.features[1].rows) == (List{0, 1, 2}));
  CHECK(numbers(found.features[1].kinds) == (List{1, 2, 3}));
  CHECK(numbers(found.features[1].counts) == (List{1, 3, 0}));
  CHECK(found.bad.empty());
}

TEST(features_asked_about_come_first_also_if_nobody_has_them) {
  const Outline found = outlined({example(entry("b", ints({1})))}, {"z", "b"});
  CHECK_EQ(found.features[0].name, "z");
  CHECK_EQ(found.features[0].rows.size(), 0u);
  CHECK(numbers(found.features[1].rows) == (List{0}));
}

TEST(of_names_and_kinds_written_twice_the_last_counts) {
  const std::string two_values =
      field(1, field(1, "a") + field(2, ints({1})) + field(2, ints({2})));
  const Outline found =
      outlined({example(entry("a", ints({1, 2})) + entry("a", floats({1}))), example(two_values),
                example(entry("a", ints({1}) + strings({"x", "y"})))});
  CHECK(numbers(found.features[0].rows) == (List{0, 1, 2}));
  CHECK(numbers(found.features[0].kinds) == (List{2, 3, 1}));
  CHECK(numbers(found.features[0].counts) == (List{1, 2, 2}));
}

TEST(a_bad_record_is_listed_and_leaves_no_trace) {
  const std::string good = example(entry("a", ints({1})));
  const std::string long_number = field(3, field(1, times(10, "\xff") + "\x01"));
  const Outline found = outlined({good, example(entry("a", ints({1, 2})) + entry("b", long_number)),
                                  "\xff", good, good.substr(0, good.size() - 1)});
  CHECK(numbers(found.features[0].rows) == (List{0, 3}));
  CHECK(numbers(found.features[0].counts) == (List{1, 1}));
  CHECK_EQ(found.features[1].rows.size(), 0u);
  CHECK_EQ(found.bad.size(), 3u);
  CHECK_EQ(found.bad[0].row, 1u);
  CHECK_EQ(std::string(found.bad[0].why), "a number that is too long");
  CHECK_EQ(found.bad[2].row, 4u);
}

// It says so without a look: its first byte would be another fault.
TEST(a_record_that_is_too_large_is_not_read) {
  const std::byte zero{0};
  const std::vector<Bytes> records{Bytes(&zero, kLongestMessage + 1)};
  const Outline found = outline(records, {}, {}, {});
  CHECK_EQ(found.bad.size(), 1u);
  CHECK_EQ(std::string(found.bad[0].why), "it is larger than 2 GiB");
}

TEST(names_beyond_the_limit_are_counted_and_still_checked) {
  std::string many;
  for (int i = 0; i < 50; ++i) many += entry("name " + std::to_string(i), ints({i}));
  const OutlineOptions few{.most_others = 3};
  const Outline found = outlined({example(many), example(many)}, {"name 49"}, few);
  CHECK_EQ(found.features.size(), 4u);
  CHECK(numbers(found.features[0].rows) == (List{0, 1}));
  CHECK_EQ(found.unlisted, 92u);
  const Outline bad = outlined({example(many + entry("last", field(2, field(1, "abc"))))}, {}, few);
  CHECK_EQ(bad.bad.size(), 1u);
  CHECK_EQ(bad.unlisted, 0u);
}

TEST(feature_lists_are_outlined_step_by_step) {
  const OutlineOptions options{.sequences = true};
  const Outline found =
      outlined({example(entry("id", ints({7}))) +
                    sequence(entry("t", steps({ints({1}), "", floats({1, 2})}))),
                sequence(entry("t", steps({}))),
                sequence(entry("t", steps({ints({1, 2})})) + entry("t", steps({ints({3})}))),
                example(entry("id", ints({1}))) +
                    sequence(entry("t", steps({ints({1}), field(2, field(1, "abc"))})))},
               {}, options);
  CHECK_EQ(found.lists.size(), 1u);
  CHECK(numbers(found.lists[0].rows) == (List{0, 1, 2}));
  CHECK(numbers(found.lists[0].steps) == (List{3, 0, 1}));
  CHECK(numbers(found.lists[0].kinds) == (List{3, 0, 2, 3}));
  CHECK(numbers(found.lists[0].counts) == (List{1, 0, 2, 1}));
  CHECK(numbers(found.features[0].rows) == (List{0}));
  CHECK_EQ(found.bad.size(), 1u);
  CHECK_EQ(found.bad[0].row, 3u);
}

TEST(without_sequences_feature_lists_are_not_looked_at) {
  const Outline found = outlined({sequence(entry("t", "\xff"))});
  CHECK(found.bad.empty());
  CHECK(found.lists.empty());
}

}  // namespace
}  // namespace tfreel
