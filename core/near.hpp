// Hashes that differ in a few bits only, as those of pictures do that look alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tfreel {

using PictureHash = std::array<std::uint64_t, 2>;

struct NearPair {
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t distance;
};

// Which of [begin, end) differ in at most `most` bits from one that comes after them, but before
// their limit. Not those that agree in all bits of one of `seen`: they were found before.
std::vector<NearPair> near_pairs(std::span<const PictureHash> hashes,
                                 std::span<const std::uint64_t> limits, std::size_t begin,
                                 std::size_t end, unsigned most, std::span<const PictureHash> seen);

}  // namespace tfreel
