#include "table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "encode.hpp"
#include "frame.hpp"

namespace tfreel {
namespace {

// The part of something that two neighbouring offsets cut out.
struct Range {
  std::size_t begin;
  std::size_t size;
};

Range range_at(std::span<const std::int64_t> offsets, std::size_t i, std::size_t limit) {
  if (i + 1 >= offsets.size() || offsets[i] < 0 || offsets[i + 1] < offsets[i] ||
      static_cast<std::uint64_t>(offsets[i + 1]) > limit) {
    throw std::invalid_argument("offsets that do not fit their values");
  }
  return {static_cast<std::size_t>(offsets[i]),
          static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
}

std::size_t number_of_values(const TableColumn& column) noexcept {
  if (column.kind == Kind::ints) return column.ints.size();
  if (column.kind == Kind::floats) return column.floats.size();
  return column.value_offsets.empty() ? 0 : column.value_offsets.size() - 1;
}

Range values_of_row(const TableColumn& column, std::size_t row) {
  const std::size_t limit = number_of_values(column);
  if (!column.row_offsets.empty()) return range_at(column.row_offsets, row, limit);
  if (column.count != 0 && row >= limit / column.count) {
    throw std::invalid_argument("fewer values than rows need");
  }
  return {row * column.count, column.count};
}

Bytes string_at(const TableColumn& column, std::size_t i) {
  const Range range = range_at(column.value_offsets, i, column.data.size());
  return column.data.subspan(range.begin, range.size);
}

class RowWriter {
 public:
  // The message of one row; it lies here until the next.
  Bytes write(std::span<const TableColumn> columns, std::size_t row) {
    writer_.clear();
    for (std::size_t i = columns.size(); i-- > 0;) {
      const TableColumn& column = columns[i];
      if (column.present.empty() || column.present[row]) write_entry(column, row);
    }
    writer_.close(1, 0);
    return writer_.bytes();
  }

 private:
  void write_entry(const TableColumn& column, std::size_t row) {
    const Bytes key = std::as_bytes(std::span(column.key));
    const Range range = values_of_row(column, row);
    if (range.size == 1 && write_short(column, key, range.begin)) return;
    const std::size_t before = writer_.size();
    if (column.kind == Kind::ints) {
      write_ints(writer_, column.ints.subspan(range.begin, range.size));
    } else if (column.kind == Kind::floats) {
      write_floats(writer_, column.floats.subspan(range.begin, range.size));
    } else {
      strings_.clear();
      for (std::size_t i = 0; i < range.size; ++i) {
        strings_.push_back(string_at(column, range.begin + i));
      }
      write_bytes_list(writer_, strings_);
    }
    close_entry(writer_, key, before);
  }

  bool write_short(const TableColumn& column, Bytes key, std::size_t value) {
    if (column.kind == Kind::ints) return write_short_entry(writer_, key, column.ints[value]);
    if (column.kind == Kind::floats) return write_short_entry(writer_, key, column.floats[value]);
    return write_short_entry(writer_, key, string_at(column, value));
  }

  WireWriter writer_;
  std::vector<Bytes> strings_;
};

}  // namespace

void check_offsets(const TableColumn& column) {
  for (std::size_t i = 0; i + 1 < column.value_offsets.size(); ++i) {
    range_at(column.value_offsets, i, column.data.size());
  }
  for (std::size_t i = 0; i + 1 < column.row_offsets.size(); ++i) {
    range_at(column.row_offsets, i, number_of_values(column));
  }
}

std::size_t most_encoded_bytes(std::span<const TableColumn> columns, std::size_t rows) {
  constexpr std::size_t kTagAndLength = 6;  // of anything shorter than 2 GiB
  std::size_t bytes = rows * (kFrameOverhead + kTagAndLength);
  for (const TableColumn& column : columns) {
    // The entry, its key, its value, the list in it, and in a list of numbers their run.
    bytes += rows * (column.key.size() + 5 * kTagAndLength);
    bytes += column.ints.size() * kLongestVarint + column.floats.size_bytes();
    bytes += column.data.size() + number_of_values(column) * kTagAndLength;
  }
  return bytes;
}

Block encode_rows(std::span<const TableColumn> columns, std::size_t begin, std::size_t end,
                  BufferPool& pool, std::size_t enough_bytes) {
  RowWriter writer;
  std::vector<Entry> entries;
  std::shared_ptr<BufferPool::Buffer> buffer;
  std::size_t used = 0;
  for (std::size_t row = begin; row < end; ++row) {
    const Bytes message = writer.write(columns, row);
    const std::size_t frame_bytes = message.size() + kFrameOverhead;
    if (!buffer) buffer = pool.take(std::max(enough_bytes, frame_bytes));
    if (frame_bytes > buffer->capacity - used) break;
    const auto frame = buffer->bytes().subspan(used, frame_bytes);
    write_frame(message, frame);
    entries.push_back({used, message.size(), used, read_footer(frame)});
    used += frame_bytes;
  }
  return Block(std::move(buffer), begin, std::move(entries));
}

}  // namespace tfreel
