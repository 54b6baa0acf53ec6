#include "shuffle_buffer.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

// The vectors that the authors of Philox publish for ten rounds.
TEST(philox_gives_the_published_numbers) {
  Philox zeros(0, 0);
  for (const std::uint32_t word : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u})
    CHECK_EQ(zeros.next(), word);
}

// What an owner does with a passage: takes out who leaves, and puts who stays into slots.
std::vector<int> shuffled(std::uint64_t capacity, int count, std::size_t chunk) {
  ShuffleBuffer buffer(capacity, 87654321, 7);
  std::vector<int> slots, out;
  for (int begin = 0; begin < count; begin += static_cast<int>(chunk)) {
    const auto arriving = std::min(chunk, static_cast<std::size_t>(count - begin));
    const auto passage = buffer.arrive(arriving);
    for (const auto element : passage.leaving)
      out.push_back(element < capacity ? slots[element]
                                       : begin + static_cast<int>(element - capacity));
    for (std::size_t i = 0; i < passage.staying.size(); ++i) {
      if (passage.slots[i] >= slots.size()) slots.resize(passage.slots[i] + 1);
      slots[passage.slots[i]] = begin + static_cast<int>(passage.staying[i]);
    }
  }
  while (buffer.size() > 0)
    for (const auto slot : buffer.drain(3)) out.push_back(slots[slot]);
  return out;
}

TEST(shuffle_buffer_gives_every_element_once_and_the_same_order_for_any_chunks) {
  for (const std::uint64_t capacity : {1, 2, 7, 50, 1000}) {
    const auto expected = shuffled(capacity, 100, 1);
    auto sorted = expected;
    std::ranges::sort(sorted);
    std::vector<int> all(100);
    std::iota(all.begin(), all.end(), 0);
    CHECK(sorted == all);
    for (const std::size_t chunk : {2, 3, 16, 99, 100})
      CHECK(shuffled(capacity, 100, chunk) == expected);
  }
}

// As TensorFlow 2.21 gives them: Dataset.range(10).shuffle(4, seed=7,
// reshuffle_each_iteration=False).
TEST(shuffle_buffer_has_the_order_of_tensorflow) {
  CHECK(shuffled(4, 10, 10) == (std::vector<int>{3, 4, 0, 5, 1, 8, 2, 7, 6, 9}));
}

}  // namespace
}  // namespace tfreel
