#include "numbers.hpp"

#include <algorithm>
#include <random>

#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::float_run;
using check::int_run;
using check::refusal;
using check::times;

using Ints = std::vector<std::int64_t>;

// The numbers of a run, which `behind` follows in memory that may be read.
Ints read(const std::string& run, const std::string& behind = "") {
  const std::string memory = run + behind;
  const Bytes bytes = bytes_of(memory);
  Numbers numbers;
  const std::size_t count =
      numbers.add_run(Kind::ints, bytes.first(run.size()), bytes.data() + bytes.size());
  CHECK_EQ(count, numbers.ints().size());
  CHECK_EQ(std::size_t{numbers.counts().back()}, count);
  return {numbers.ints().begin(), numbers.ints().end()};
}

Ints random_ints(std::size_t count, int most_bits) {
  static std::mt19937_64 random(7);
  Ints values(count);
  for (auto& value : values) {
    value = static_cast<std::int64_t>(random() >> (64 - 1 - random() % most_bits));
  }
  return values;
}

TEST(runs_of_any_varints_are_read) {
  for (const int most_bits : {7, 14, 21, 28, 35, 49, 63}) {
    for (std::size_t count = 0; count < 40; ++count) {
      const Ints values = random_ints(count, most_bits);
      const std::string run = int_run(values);
      for (const std::size_t more : {0, 1, 3, 7, 8, 20}) {
        CHECK(read(run, times(more, "\x01")) == values);
        CHECK(read(run, times(more, "\xff")) == values);
      }
    }
  }
  CHECK(read(int_run({-1, 5, -300, 300})) == (Ints{-1, 5, -300, 300}));
}

TEST(runs_longer_than_a_piece_are_read) {
  for (const int most_bits : {6, 20, 63}) {
    for (const std::size_t count : {4095u, 4096u, 4097u, 20000u}) {
      const Ints values = random_ints(count, most_bits);
      CHECK(read(int_run(values)) == values);
    }
  }
}

TEST(runs_that_do_not_end_with_a_number_are_refused) {
  for (const std::string run : {"\x80", "\x01\xff", "\x80\x80\x80\x80\x80\x80\x80\x80\x80"}) {
    CHECK_EQ(refusal([&] { read(run, times(20, "\x01")); }), "a number that goes past the end");
  }
  for (const std::size_t size : {10u, 11u, 20u}) {
    CHECK_EQ(refusal([&] { read(times(size, "\x80") + "\x01"); }), "a number that is too long");
  }
  Numbers numbers;
  const std::string odd = "12345";
  CHECK(!refusal([&] { numbers.add_run(Kind::floats, bytes_of(odd), nullptr); }).empty());
}

// As a bytearray does in another thread: no more is written than there is room for.
TEST(runs_that_change_while_they_are_read_do_no_harm) {
  for (std::size_t size = 1; size < 30; ++size) {
    for (std::size_t more = 0; more < 20; ++more) {
      std::string memory = times(size, "\x01") + times(more, "\xff");
      const Bytes bytes = bytes_of(memory);
      VarintRun run(bytes.first(size), bytes.data() + bytes.size());
      std::fill(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(size), '\xff');
      memory[0] = memory[size / 2] = 1;
      Ints out(size + 1);
      refusal([&] {
        while (const std::size_t left = run.remaining()) CHECK(run.take(left, out.data()) <= left);
      });
    }
  }
}

TEST(floats_are_added_behind_each_other) {
  Numbers numbers;
  std::vector<float> all;
  for (std::size_t count = 0; count < 20; ++count) {
    const std::vector<float> values(count, static_cast<float>(count));
    all.insert(all.end(), values.begin(), values.end());
    const std::string memory = float_run(values) + times(count % 3 * 16, "x");
    const Bytes bytes = bytes_of(memory);
    numbers.add_run(Kind::floats, bytes.first(4 * count), bytes.data() + bytes.size());
  }
  CHECK(std::ranges::equal(numbers.floats(), all));
  numbers.drop(Kind::floats, 2);
  CHECK_EQ(numbers.floats().size(), all.size() - 18 - 19);
  CHECK_EQ(numbers.counts().size(), 18u);
}

}  // namespace
}  // namespace tfreel
