#include "near.hpp"

#include "check.hpp"

namespace tfreel {
namespace {

const std::vector<PictureHash> kHashes{{0, 0}, {1, 0}, {3, 0}, {0, ~std::uint64_t{0}}, {0, 1}};
const std::vector<std::uint64_t> kAll(5, 5);

TEST(near_pairs_are_those_that_differ_in_few_bits) {
  const auto found = near_pairs(kHashes, kAll, 0, 5, 1, {});
  CHECK_EQ(found.size(), 3u);  // 0–1, 0–4, 1–2
  CHECK(found[0].first == 0 && found[0].second == 1 && found[0].distance == 1);
  CHECK(found[1].second == 4);
  CHECK(found[2].first == 1 && found[2].second == 2);
  CHECK(near_pairs(kHashes, kAll, 0, 5, 0, {}).empty());
}

TEST(near_pairs_stay_within_their_limits) {
  CHECK_EQ(near_pairs(kHashes, kAll, 1, 2, 1, {}).size(), 1u);
  const std::vector<std::uint64_t> short_limits(5, 2);
  CHECK_EQ(near_pairs(kHashes, short_limits, 0, 5, 1, {}).size(), 1u);
  const std::vector<std::uint64_t> wrong_limits(5, 5000);
  CHECK_EQ(near_pairs(kHashes, wrong_limits, 0, 500, 1, {}).size(), 3u);
}

TEST(near_pairs_that_were_seen_are_left_out) {
  const std::vector<PictureHash> second_words{{0, ~std::uint64_t{0}}};
  CHECK_EQ(near_pairs(kHashes, kAll, 0, 5, 1, second_words).size(), 1u);
}

}  // namespace
}  // namespace tfreel
