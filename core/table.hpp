// Columns in, framed Examples out: the way back of columns.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "block.hpp"
#include "example.hpp"

namespace tfreel {

// The values of one feature in all rows, as they lie in somebody's arrays.
struct TableColumn {
  std::string key;
  Kind kind = Kind::ints;
  std::span<const std::int64_t> ints = {};
  std::span<const float> floats = {};
  Bytes data = {};  // of bytes: all values
  // Of bytes: where each begins in `data`, and the end.
  std::span<const std::int64_t> value_offsets = {};
  std::size_t count = 1;  // of values in each row, if there are no offsets
  // Where the values of each row begin, and the end.
  std::span<const std::int64_t> row_offsets = {};
  std::span<const bool> present = {};  // for each row; all are if this is empty
};

// Throws std::invalid_argument if the offsets of a column do not fit its values.
void check_offsets(const TableColumn& column);

// Encodes rows [begin, end) of `columns`, sorted by their keys, each as one record of a block.
// Stops early, after at least one row, when the block holds about `enough_bytes`; the caller goes
// on from there. Offsets are checked; std::invalid_argument if they do not fit, std::length_error
// if a message gets too long.
Block encode_rows(std::span<const TableColumn> columns, std::size_t begin, std::size_t end,
                  BufferPool& pool, std::size_t enough_bytes = std::size_t{4} << 20);

// Enough bytes for a block of rows [0, rows): no less than they take, and not many times more.
// The columns are checked already.
std::size_t most_encoded_bytes(std::span<const TableColumn> columns, std::size_t rows);

}  // namespace tfreel
