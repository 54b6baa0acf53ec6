#include "order.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

std::vector<std::uint64_t> all(const Permutation& permutation) {
  std::vector<std::uint64_t> found(permutation.size());
  std::iota(found.begin(), found.end(), std::uint64_t{0});
  permutation.apply(found);
  return found;
}

bool is_bijection(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

TEST(permutation_is_a_bijection_for_every_small_size) {
  for (std::uint64_t size = 0; size <= 1100; ++size) {
    CHECK(is_bijection(all(Permutation(size, size * 31 + 7, size % 3))));
  }
}

TEST(permutation_is_a_bijection_around_powers_of_two) {
  for (const std::uint64_t size : {65535u, 65536u, 65537u, 131071u, 131072u, 131073u, 1000003u}) {
    CHECK(is_bijection(all(Permutation(size, 1))));
  }
}

TEST(permutation_of_many_is_that_of_each) {
  for (const std::uint64_t size : {1u, 2u, 3u, 5u, 8u, 9u, 255u, 256u, 257u, 1000u, 70000u}) {
    const Permutation permutation(size, 3, 1);
    const auto found = all(permutation);
    for (std::uint64_t i = 0; i < size; ++i) CHECK_EQ(found[i], permutation(i));
  }
}

// These vectors are the promise that the order never changes: checkpoints of users depend on it. If
// this test fails, the code is wrong, never the vector.
TEST(permutation_order_never_changes) {
  const auto tiny = all(Permutation(10, 17));
  const std::vector<std::uint64_t> tiny_expected{9, 4, 3, 5, 8, 1, 6, 7, 2, 0};
  CHECK(tiny == tiny_expected);
  const auto second_epoch = all(Permutation(10, 17, 1));
  const std::vector<std::uint64_t> second_expected{2, 7, 4, 9, 0, 1, 6, 8, 5, 3};
  CHECK(second_epoch == second_expected);
  const Permutation million(1000000, 42, 3);
  const std::array<std::uint64_t, 6> million_expected{979072, 382127, 366817,
                                                      587721, 113233, 48928};
  for (std::size_t i = 0; i < million_expected.size(); ++i)
    CHECK_EQ(million(i), million_expected[i]);
  const Permutation huge((std::uint64_t{1} << 63) + 12345, 7);
  const std::array<std::uint64_t, 3> huge_expected{3991603636375127345u, 901929226756044119u,
                                                   4788409422624043372u};
  for (std::size_t i = 0; i < huge_expected.size(); ++i) CHECK_EQ(huge(i), huge_expected[i]);
}

TEST(permutation_depends_on_seed_and_epoch) {
  CHECK(all(Permutation(1000, 1)) != all(Permutation(1000, 2)));
  CHECK(all(Permutation(1000, 1, 0)) != all(Permutation(1000, 1, 1)));
  CHECK(all(Permutation(1000, 1, 1)) != all(Permutation(1000, 2, 0)));
}

// With 24 orders of four things, each should turn up about equally often over many seeds.
TEST(permutation_of_four_reaches_every_order_evenly) {
  std::map<std::vector<std::uint64_t>, int> counts;
  constexpr int kSeeds = 24000;
  for (int seed = 0; seed < kSeeds; ++seed)
    ++counts[all(Permutation(4, static_cast<std::uint64_t>(seed)))];
  CHECK_EQ(counts.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, count] : counts)
    chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(chi_squared < 60);  // 23 degrees of freedom: by chance once in 30,000
}

TEST(permutation_sends_each_position_everywhere_evenly) {
  constexpr std::uint64_t kSize = 101;
  std::vector<int> hits(kSize * kSize);
  constexpr int kSeeds = 20000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto order = all(Permutation(kSize, static_cast<std::uint64_t>(seed)));
    for (std::uint64_t i = 0; i < kSize; ++i) ++hits[i * kSize + order[i]];
  }
  const double expected = static_cast<double>(kSeeds) / kSize;
  double chi_squared = 0;
  for (const int hit : hits) chi_squared += (hit - expected) * (hit - expected) / expected;
  const double freedom = (kSize - 1.0) * (kSize - 1.0);
  CHECK(chi_squared > freedom - 6 * 142 &&
        chi_squared < freedom + 6 * 142);  // six standard deviations
}

// Neighbours must not stay neighbours: the correlation of consecutive values is that of chance.
TEST(permutation_scatters_neighbours) {
  const auto order = all(Permutation(200000, 5));
  const double mean = (order.size() - 1) / 2.0;
  double covariance = 0;
  double variance = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    covariance += (order[i] - mean) * (order[i + 1] - mean);
    variance += (order[i] - mean) * (order[i] - mean);
  }
  const double correlation = covariance / variance;
  CHECK(correlation > -0.012 && correlation < 0.012);
}

}  // namespace
}  // namespace tfreel
