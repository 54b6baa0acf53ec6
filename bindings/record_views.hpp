// Many records from Python, without a copy: a Block, or a list of Blocks and of
// anything else that holds bytes.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "block.hpp"

namespace tfreel::python {

class RecordViews {
 public:
  explicit RecordViews(nb::handle records);
  // The same records in another order: the i-th is then the one that was the order[i]-th.
  void reorder(std::span<const std::uint64_t> order);

  std::span<const std::span<const std::byte>> views() const noexcept { return views_; }

 private:
  nb::object owner_;  // a Block, or a tuple that nobody else can change
  std::deque<BytesView> buffers_;
  std::vector<std::span<const std::byte>> views_;
};

}  // namespace tfreel::python
