#include "record_views.hpp"

namespace tfreel::python {

RecordViews::RecordViews(nb::handle records) {
  const Block* block = nullptr;
  const auto add_block = [&] {
    for (std::size_t i = 0; i < block->size(); ++i) views_.push_back(block->payload(i));
  };
  // None would be cast too, to no block.
  if (nb::try_cast(records, block) && block != nullptr) {
    owner_ = nb::borrow(records);
    add_block();
    return;
  }
  owner_ = nb::steal(PySequence_Tuple(records.ptr()));
  if (!owner_.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_GET_SIZE(owner_.ptr());
  views_.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* record = PyTuple_GET_ITEM(owner_.ptr(), i);
    if (PyBytes_CheckExact(record)) {
      const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(record));
      views_.push_back(std::as_bytes(std::span(PyBytes_AS_STRING(record), size)));
    } else if (nb::try_cast(nb::handle(record), block) && block != nullptr) {
      add_block();
    } else {
      views_.push_back(buffers_.emplace_back(record).bytes());
    }
  }
}

void RecordViews::reorder(std::span<const std::uint64_t> order) {
  std::vector<std::span<const std::byte>> views;
  views.reserve(order.size());
  for (const std::uint64_t i : order) {
    if (i >= views_.size()) throw nb::index_error("order names a record that is not there");
    views.push_back(views_[i]);
  }
  views_ = std::move(views);
}

}  // namespace tfreel::python
