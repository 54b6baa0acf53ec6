#include "record_views.hpp"

#include <nanobind/stl/pair.h>

#include "arrays.hpp"

namespace tfreel::python {

std::span<const std::byte> value_at(std::span<const std::byte> data,
                                    std::span<const std::int64_t> offsets, std::size_t i) {
  const std::int64_t begin = offsets[i];
  const std::int64_t end = offsets[i + 1];
  if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > data.size()) {
    throw nb::value_error("offsets that do not fit their data");
  }
  return data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

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
    } else if (PyTuple_Check(record)) {
      add_column(record);
    } else {
      views_.push_back(buffers_.emplace_back(record).bytes());
    }
  }
}

void RecordViews::add_column(nb::handle column) {
  Column& parts = columns_.emplace_back();
  if (!nb::try_cast(column, parts)) throw nb::type_error("a record must be bytes, not a tuple");
  const auto bytes = std::as_bytes(span_of(parts.first));
  const auto places = span_of(parts.second);
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    views_.push_back(value_at(bytes, places, i));
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
