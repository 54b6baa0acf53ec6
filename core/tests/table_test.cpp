#include "table.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::entry;
using check::example;
using check::ints;
using check::strings;
using check::text_of;
using Offsets = std::vector<std::int64_t>;

// The rows as messages; nothing if their offsets do not fit.
std::vector<std::string> encoded(const TableColumn& column, std::size_t rows) {
  const auto pool = std::make_shared<BufferPool>();
  std::vector<std::string> messages;
  try {
    const Block block = encode_rows({&column, 1}, 0, rows, *pool);
    for (std::size_t i = 0; i < block.size(); ++i) messages.push_back(text_of(block.payload(i)));
  } catch (const std::invalid_argument&) {
    messages.clear();
  }
  return messages;
}

bool fits(const TableColumn& column) {
  try {
    check_offsets(column);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

TEST(rows_of_a_table_are_examples) {
  const Offsets numbers{1, 2, 3}, offsets{0, 1, 3};
  TableColumn column{.key = "a", .ints = numbers, .row_offsets = offsets};
  const auto made = encoded(column, 2);
  CHECK_EQ(made.size(), 2u);
  CHECK(made[0] == example(entry("a", ints({1}))) && made[1] == example(entry("a", ints({2, 3}))));
  CHECK(fits(column));
}

TEST(offsets_of_a_table_lie_inside_and_never_go_back) {
  const Offsets numbers{1, 2, 3};
  for (const Offsets& offsets :
       {Offsets{0, 1}, Offsets{-1, 1, 2}, Offsets{0, 2, 1}, Offsets{0, 1, 4}}) {
    TableColumn column{.key = "a", .ints = numbers, .row_offsets = offsets};
    CHECK(encoded(column, 2).empty());
    CHECK(offsets.size() == 2 || !fits(column));
    TableColumn texts{
        .key = "a", .kind = Kind::bytes, .data = bytes_of("xyz"), .value_offsets = offsets};
    CHECK(encoded(texts, 2).empty());
  }
}

TEST(a_table_has_as_many_values_as_its_rows_need) {
  const Offsets numbers{1, 2, 3};
  TableColumn column{.key = "a", .ints = numbers, .count = 2};
  CHECK_EQ(encoded(column, 1).size(), 1u);
  CHECK(encoded(column, 2).empty());
}

}  // namespace
}  // namespace tfreel
