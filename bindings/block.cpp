#include "block.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

namespace tfreel::python {
namespace {

template <typename Scalar, Scalar Entry::* member>
nb::object column(const Block& block) {
  return new_array<Scalar>(block.size(), [&](std::span<Scalar> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = block.entries()[i].*member;
  });
}

std::size_t checked_index(const Block& block, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(block.size());
  if (index < -size || index >= size) throw nb::index_error("record index out of range");
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

nb::object payload(const Block& block, std::int64_t index) {
  return to_bytes(block.payload(checked_index(block, index)));
}

nb::object to_list(const Block& block) {
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(block.size())));
  for (std::size_t i = 0; i < block.size(); ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                    to_bytes(block.payload(i)).release().ptr());
  }
  return list;
}

// An iterator of records whose subclass, in Python, brings the blocks. The step from record to
// record happens here, so that it costs no Python call; the step from block to block is policy and
// lives in Python.
struct BlockIterator {
  nb::object holder;  // keeps the block alive
  const Block* block = nullptr;
  std::size_t next = 0;
  bool advancing = false;

  void clear() {
    block = nullptr;
    next = 0;
    holder.reset();
  }
};

// Asks the subclass for the next block; false at the end or with a Python error set.
bool advance(BlockIterator& iterator, PyObject* self) {
  if (iterator.advancing) {
    PyErr_SetString(PyExc_RuntimeError,
                    "this reader is being advanced by another thread; give each thread a reader of "
                    "its own, or share it behind a lock");
    return false;
  }
  iterator.clear();  // first: a block nobody holds lends its memory to the next
  iterator.advancing = true;
  PyObject* found = PyObject_CallMethod(self, "_next_block", nullptr);
  iterator.advancing = false;
  if (found == nullptr) return false;
  iterator.holder = nb::steal(found);
  if (iterator.holder.is_none()) {
    iterator.clear();
    return false;
  }
  if (!nb::try_cast(iterator.holder, iterator.block)) {
    iterator.clear();
    PyErr_SetString(PyExc_TypeError, "_next_block must return a Block or None");
    return false;
  }
  return true;
}

PyObject* iterator_next(PyObject* self) {
  auto& iterator = *nb::inst_ptr<BlockIterator>(self);
  while (iterator.block == nullptr || iterator.next >= iterator.block->size()) {
    if (!advance(iterator, self)) return nullptr;
  }
  const auto bytes = iterator.block->payload(iterator.next++);
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                   static_cast<Py_ssize_t>(bytes.size()));
}

PyObject* iterator_self(PyObject* self) { return Py_NewRef(self); }

PyType_Slot iterator_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(iterator_self)},
                                {Py_tp_iternext, reinterpret_cast<void*>(iterator_next)},
                                {0, nullptr}};

}  // namespace

void bind_block(nb::module_& module) {
  nb::class_<Block>(module, "Block", "A run of records: one buffer, and where each lies in it.")
      .def("__len__", &Block::size)
      .def("__getitem__", &payload, nb::arg("index"))
      .def("to_list", &to_list, "The payloads as a list of bytes.")
      .def(
          "frames", [](const Block& block) { return to_bytes(block.frames()); },
          "Headers, payloads and footers of all records, as they were read.")
      .def_prop_ro(
          "nbytes", [](const Block& block) { return block.frames().size(); },
          "Bytes of all records, frames included.")
      .def_prop_ro("first_record", &Block::first_record, "Ordinal of the first record in its file.")
      .def_prop_ro("offsets", &column<std::uint64_t, &Entry::offset>,
                   "Stream offset of each record's first header byte.")
      .def_prop_ro("lengths", &column<std::uint64_t, &Entry::length>, "Length of each payload.")
      .def_prop_ro("checksums", &column<std::uint32_t, &Entry::checksum>,
                   "Masked checksum of each payload.");

  nb::class_<BlockIterator>(module, "BlockIterator", nb::type_slots(iterator_slots),
                            "Iterates over the records of the blocks that `_next_block` returns.")
      .def(nb::init<>())
      .def_prop_ro("_block",
                   [](const BlockIterator& it) {
                     return it.block == nullptr ? nb::none() : nb::object(it.holder);
                   })
      .def_prop_ro("_taken", [](const BlockIterator& it) { return it.next; })
      .def("_clear", &BlockIterator::clear);
}

}  // namespace tfreel::python
