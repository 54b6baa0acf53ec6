#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "distribution.hpp"
#include "hashing.hpp"
#include "messages.hpp"
#include "moments.hpp"

namespace tfreel {
namespace {

std::vector<Key> random_keys(std::size_t count, Key most, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = random() % most;
  return keys;
}

std::vector<Key> in_order(std::vector<Key> keys) {
  std::ranges::sort(keys);
  return keys;
}

Distribution distribution_of(const std::vector<Key>& keys, const Precision& precision = kFine) {
  Distribution found(precision);
  for (const Key key : keys) {
    if (found.add(key)) found.flush();
  }
  found.flush();
  return found;
}

// The largest difference between the rank that the points say and the true one.
std::uint64_t worst_error(const std::vector<Counted>& points, const std::vector<Key>& sorted) {
  std::uint64_t worst = 0;
  std::uint64_t rank = 0;
  for (const Counted& point : points) {
    const auto true_rank = static_cast<std::uint64_t>(
        std::upper_bound(sorted.begin(), sorted.end(), point.key) - sorted.begin());
    rank += point.count;
    const bool last = &point == &points.back() || (&point + 1)->key != point.key;
    if (last) worst = std::max(worst, rank > true_rank ? rank - true_rank : true_rank - rank);
  }
  return worst;
}

std::uint64_t total(const std::vector<Counted>& points) {
  std::uint64_t sum = 0;
  for (const Counted& point : points) sum += point.count;
  return sum;
}

TEST(keys_lie_in_the_order_of_their_numbers) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK(key_of(kLeast) < key_of(std::int64_t{-1}));
  CHECK(key_of(std::int64_t{-1}) < key_of(std::int64_t{0}));
  CHECK_EQ(int_of(key_of(kLeast)), kLeast);
  const float floats[] = {-3.4e38F, -1.0F, -1e-45F, 0.0F, 1e-45F, 1.0F, 3.4e38F};
  for (std::size_t i = 0; i < std::size(floats); ++i) {
    CHECK_EQ(float_of(key_of(floats[i])), floats[i]);
    if (i != 0) CHECK(key_of(floats[i - 1]) < key_of(floats[i]));
  }
  CHECK_EQ(key_of(-0.0F), key_of(0.0F));
}

TEST(keys_are_sorted_whatever_their_range) {
  for (const Key most : {Key{1}, Key{10}, Key{3000}, Key{1} << 40, ~Key{0}}) {
    for (const std::size_t count : {0, 1, 255, 256, 5000}) {
      std::vector<Key> keys = random_keys(count, most);
      const std::vector<Key> expected = in_order(keys);
      sort_keys(keys);
      CHECK(keys == expected);
    }
  }
}

TEST(few_different_keys_are_counted_exactly) {
  const auto keys = random_keys(100'000, kFine.frequent_keys);
  const auto found = distribution_of(keys);
  CHECK(found.exact());
  CHECK_EQ(found.distinct(), 1024.0);
  CHECK_EQ(found.rank_error(), 0U);
  CHECK_EQ(worst_error(found.points(), in_order(keys)), 0U);
}

TEST(quantiles_are_never_further_off_than_they_say) {
  for (const std::size_t count : {5'000, 100'000, 1'000'000}) {
    const auto keys = random_keys(count, ~Key{0});
    const auto found = distribution_of(keys);
    CHECK(!found.exact());
    CHECK_EQ(found.count(), count);
    CHECK_EQ(total(found.points()), count);
    CHECK(worst_error(found.points(), in_order(keys)) <= found.rank_error());
    CHECK(found.rank_error() * 200 <= count);  // half a percent
  }
}

TEST(merged_quantiles_keep_their_promise) {
  std::vector<Key> all;
  Distribution merged(kCoarse);
  for (unsigned part = 0; part < 50; ++part) {
    // Parts of very different ranges and sizes, some of them exact.
    const auto keys = random_keys(10 + part * 300, Key{1} << (part + 4), part);
    all.insert(all.end(), keys.begin(), keys.end());
    merged.merge(distribution_of(keys, kCoarse));
  }
  CHECK_EQ(merged.count(), all.size());
  CHECK_EQ(total(merged.points()), all.size());
  CHECK(worst_error(merged.points(), in_order(all)) <= merged.rank_error());
  CHECK_EQ(merged.least(), *std::ranges::min_element(all));
  CHECK_EQ(merged.most(), *std::ranges::max_element(all));
}

TEST(different_keys_are_estimated_within_a_few_percent) {
  for (const std::size_t count : {2'000, 20'000, 300'000}) {
    const auto found = distribution_of(random_keys(count, ~Key{0}));
    CHECK(std::abs(found.distinct() / static_cast<double>(count) - 1) < 0.03);
  }
}

TEST(an_estimate_does_not_count_a_key_twice) {
  auto keys = random_keys(50'000, ~Key{0});
  const double once = distribution_of(keys).distinct();
  const auto again = keys;
  keys.insert(keys.end(), again.begin(), again.end());
  CHECK_EQ(distribution_of(keys).distinct(), once);
}

TEST(frequent_keys_are_found_among_many_and_their_counts_are_bounded) {
  auto keys = random_keys(200'000, ~Key{0});
  for (std::size_t i = 0; i < keys.size(); i += 10) keys[i] = 7;
  for (std::size_t i = 1; i < keys.size(); i += 50) keys[i] = 9;
  const auto found = distribution_of(keys);
  for (const auto& [key, count] : {Counted{7, 20'000}, Counted{9, 4'000}}) {
    CHECK(found.is_frequent(key));
    for (const Counted& each : found.frequent()) {
      if (each.key != key) continue;
      CHECK(each.count <= count);
      CHECK(each.count + found.frequent_error() >= count);
    }
  }
  CHECK(found.frequent().size() <= kFine.frequent_keys);
  CHECK(found.frequent_error() * kFine.frequent_keys <= 2 * keys.size());
}

TEST(many_of_one_key_count_as_if_they_came_one_by_one) {
  Distribution at_once(kFine);
  at_once.add(5, 100'000);
  at_once.flush();
  CHECK_EQ(at_once.count(), 100'000U);
  CHECK_EQ(at_once.frequent().front().count, 100'000U);
  Distribution sketched = distribution_of(random_keys(10'000, ~Key{0}));
  sketched.add(5, 1'000'000);
  CHECK_EQ(total(sketched.points()), 1'010'000U);
}

TEST(sums_of_whole_numbers_do_not_overflow) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  IntMoments moments;
  const std::vector<Key> keys(4096, key_of(kLeast));
  for (int i = 0; i < 4; ++i) moments.add_sorted(keys);
  CHECK(moments.sum() == static_cast<Int128>(kLeast) * 16384);
  CHECK(moments.squares() == 0);  // 2^126 · 2^14 is 2^140
  CHECK_EQ(moments.squares_above(), std::uint64_t{1} << 12);
  IntMoments repeated;
  repeated.add(kLeast, 16384);
  CHECK(repeated.sum() == moments.sum());
  CHECK_EQ(repeated.squares_above(), moments.squares_above());
}

TEST(small_and_large_whole_numbers_add_up_to_the_same) {
  IntMoments at_once;
  IntMoments one_by_one;
  std::vector<Key> keys;
  for (std::int64_t i = -2000; i < 2000; ++i) keys.push_back(key_of(i * 8191));
  at_once.add_sorted(keys);
  for (const Key key : keys) one_by_one.add(int_of(key));
  CHECK(at_once.sum() == one_by_one.sum());
  CHECK(at_once.squares() == one_by_one.squares());
}

TEST(sums_of_floats_lose_nothing) {
  FloatMoments moments;
  std::vector<Key> keys;
  for (const float number : {-3e38F, -1.0F, 1e-45F, 1.0F, 3e38F}) keys.push_back(key_of(number));
  moments.add_sorted(keys);
  Int128 sum = 0;
  for (const auto& bin : *moments.bins()) sum += bin.sum != 0 ? 1 : 0;
  CHECK(sum == 1);  // only that of the smallest float is left
  CHECK((*moments.bins())[0].sum == 1);
  CHECK((*moments.bins())[127].squares == static_cast<Uint128>(2) << 46);
}

TEST(hashes_depend_on_every_byte_and_on_the_size) {
  std::string text(100, 'a');
  const auto hash = [&] { return hash_of(check::bytes_of(text)); };
  const std::uint64_t before = hash();
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] ^= '\x80';
    CHECK(hash() != before);
    text[i] ^= '\x80';
  }
  CHECK(hash_of(check::bytes_of(std::string(8, '\0'))) !=
        hash_of(check::bytes_of(std::string(9, '\0'))));
}

}  // namespace
}  // namespace tfreel
