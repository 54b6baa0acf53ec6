// Many records from Python, without a copy: a Block, or a list of Blocks, of columns of bytes (as
// tuples of data and offsets) and of anything else that holds bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "block.hpp"

namespace tfreel::python {

// Where a value of a column of bytes lies, checked: offsets may be anybody's.
std::span<const std::byte> value_at(std::span<const std::byte> data,
                                    std::span<const std::int64_t> offsets, std::size_t i);

class RecordViews {
 public:
  explicit RecordViews(nb::handle records);
  // The same records in another order: the i-th is then the one that was the order[i]-th.
  void reorder(std::span<const std::uint64_t> order);

  std::span<const std::span<const std::byte>> views() const noexcept { return views_; }

 private:
  using Column = std::pair<Array<std::uint8_t>, Array<std::int64_t>>;  // data and offsets

  void add_column(nb::handle column);

  nb::object owner_;  // a Block, or a tuple that nobody else can change
  std::deque<BytesView> buffers_;
  std::vector<Column> columns_;  // copies, where what was given is not as it has to be
  std::vector<std::span<const std::byte>> views_;
};

}  // namespace tfreel::python
