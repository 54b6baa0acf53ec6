#include "near.hpp"

#include <algorithm>
#include <bit>

namespace tfreel {

std::vector<NearPair> near_pairs(std::span<const PictureHash> hashes,
                                 std::span<const std::uint64_t> limits, std::size_t begin,
                                 std::size_t end, unsigned most,
                                 std::span<const PictureHash> seen) {
  std::vector<NearPair> found;
  for (std::size_t i = begin; i < std::min(end, hashes.size()); ++i) {
    const PictureHash one = hashes[i];
    const std::size_t limit = std::min<std::size_t>(limits[i], hashes.size());
    for (std::size_t j = i + 1; j < limit; ++j) {
      const std::uint64_t low = one[0] ^ hashes[j][0];
      const std::uint64_t high = one[1] ^ hashes[j][1];
      const auto distance = static_cast<unsigned>(std::popcount(low) + std::popcount(high));
      if (distance > most) continue;
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const PictureHash& mask) {
        return ((low & mask[0]) | (high & mask[1])) == 0;
      });
      if (!known) found.push_back({i, j, distance});
    }
  }
  return found;
}

}  // namespace tfreel
