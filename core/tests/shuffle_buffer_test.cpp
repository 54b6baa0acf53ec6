#include "shuffle_buffer.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "row_exchange.hpp"

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

TEST(shuffle_buffer_without_room_is_refused) {
  bool refused = false;
  try {
    ShuffleBuffer(0, 1, 1);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
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

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

TEST(rows_go_out_of_slots_and_straight_through_and_into_slots) {
  auto slots = bytes({1, 1, 2, 2, 3, 3});
  const auto newcomers = bytes({7, 7, 8, 8});
  std::vector<std::byte> out(6);
  const std::vector<std::uint64_t> leaving{2, 10, 0};
  CHECK(copy_leaving({slots, 2}, {newcomers, 2}, 10, leaving, {out, 2}));
  CHECK(out == bytes({3, 3, 7, 7, 1, 1}));
  const std::vector<std::uint64_t> staying{1}, places{2};
  CHECK(copy_staying({newcomers, 2}, staying, places, {slots, 2}));
  CHECK(slots == bytes({1, 1, 2, 2, 8, 8}));
}

TEST(rows_that_do_not_exist_are_not_copied) {
  auto slots = bytes({1, 2});
  const auto newcomers = bytes({7});
  std::vector<std::byte> out(1);
  for (const std::uint64_t wrong : {2, 9, 11, 12}) {
    const std::vector<std::uint64_t> leaving{wrong};
    CHECK(!copy_leaving({slots, 1}, {newcomers, 1}, 10, leaving, {out, 1}));
  }
  const std::vector<std::uint64_t> both{0, 1};
  CHECK(!copy_leaving({slots, 1}, {newcomers, 1}, 10, both, {out, 1}));  // there is room for one
  const std::vector<std::uint64_t> none, first{0}, third{2};
  CHECK(!copy_staying({newcomers, 1}, third, first, {slots, 1}));
  CHECK(!copy_staying({newcomers, 1}, first, third, {slots, 1}));
  CHECK(!copy_staying({newcomers, 1}, first, none, {slots, 1}));
  CHECK(slots == bytes({1, 2}));
}

}  // namespace
}  // namespace tfreel
