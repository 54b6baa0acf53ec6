#include "block.hpp"

#include <thread>

#include "arrays.hpp"
#include "bindings.hpp"
#include "encoder.hpp"
#include "file.hpp"
#include "sources.hpp"

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
  return list_of_bytes(block.size(), [&](auto&& add) {
    for (std::size_t i = 0; i < block.size(); ++i) add(block.payload(i));
  });
}

// An iterator of records whose subclass, in Python, brings the blocks. The step from record to
// record happens here, so that it costs no Python call; the step from block to block is policy and
// lives in Python. A file may come along with its block: long records that follow in it are then
// read by themselves, straight into the object that is given out.
struct BlockIterator {
  nb::object holder;  // keeps the block alive
  const Block* block = nullptr;
  std::size_t next = 0;
  nb::object file_holder;
  FileReader* file = nullptr;
  std::size_t long_records = 0;  // given out since clear(), beside those of blocks
  std::thread::id advanced_by;   // of no thread, unless a step is under way

  void drop_block() {
    block = nullptr;
    next = 0;
    holder.reset();
    offer_file(nullptr);
  }
  void clear() {
    drop_block();
    long_records = 0;
  }
  void offer_file(Bound<FileReader>* offered) {
    file = offered == nullptr ? nullptr : &offered->source;
    file_holder = offered == nullptr ? nb::object() : nb::find(offered);
  }
};

// While this lives, the iterator is being advanced, and no other thread may do so too.
class Advancing {
 public:
  explicit Advancing(BlockIterator& iterator) : iterator_(iterator) {
    iterator.advanced_by = std::this_thread::get_id();
  }
  ~Advancing() { iterator_.advanced_by = {}; }
  Advancing(const Advancing&) = delete;
  Advancing& operator=(const Advancing&) = delete;

 private:
  BlockIterator& iterator_;
};

bool is_free(const BlockIterator& iterator) {
  if (iterator.advanced_by == std::thread::id()) return true;
  PyErr_SetString(PyExc_RuntimeError,
                  iterator.advanced_by == std::this_thread::get_id()
                      ? "this reader is in the middle of a step"
                      : "this reader is being advanced by another thread; give each thread a "
                        "reader of its own, or share it behind a lock");
  return false;
}

// Asks the subclass for the next block; false at the end or with a Python error set.
bool advance(BlockIterator& iterator, PyObject* self) {
  iterator.drop_block();  // first: a block nobody holds lends its memory to the next
  nb::object found = nb::steal(PyObject_CallMethod(self, "_next_block", nullptr));
  if (!found.is_valid() || found.is_none()) return false;
  if (!nb::try_cast(found, iterator.block)) {
    PyErr_SetString(PyExc_TypeError, "_next_block must return a Block or None");
    return false;
  }
  iterator.holder = std::move(found);
  return true;
}

// The next record of the file that came with the block, if it is long; otherwise nullptr, and no
// error is set.
PyObject* long_record(BlockIterator& iterator) {
  if (iterator.file == nullptr) return nullptr;
  std::size_t length = 0;
  {
    const Unlocked unlocked;
    length = iterator.file->long_record();
  }
  if (length == 0) return nullptr;
  nb::object record =
      nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(length)));
  if (!record.is_valid()) {
    PyErr_Clear();  // memory is short: the next block will say so, if it finds none either
    return nullptr;
  }
  const auto out = std::as_writable_bytes(std::span{PyBytes_AS_STRING(record.ptr()), length});
  {
    const Unlocked unlocked;
    if (!iterator.file->read_long(out)) return nullptr;
  }
  ++iterator.long_records;
  return record.release().ptr();
}

PyObject* iterator_next(PyObject* self) {
  auto& iterator = *nb::inst_ptr<BlockIterator>(self);
  if (!is_free(iterator)) return nullptr;  // even with records left: it may be closed just now
  while (iterator.block == nullptr || iterator.next >= iterator.block->size()) {
    const Advancing advancing(iterator);
    // Long records come without a step in Python, where Ctrl-C would be noticed. What handles a
    // signal may not take records out of the middle of this step.
    if (iterator.file != nullptr && PyErr_CheckSignals() != 0) return nullptr;
    if (PyObject* record = long_record(iterator)) return record;
    if (!advance(iterator, self)) return nullptr;
  }
  const auto bytes = iterator.block->payload(iterator.next++);
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                   static_cast<Py_ssize_t>(bytes.size()));
}

// What a function gives, called while nobody else can advance the iterator.
nb::object alone(nb::handle self, nb::handle function) {
  auto& iterator = *nb::inst_ptr<BlockIterator>(self);
  if (!is_free(iterator)) throw nb::python_error();
  const Advancing advancing(iterator);
  return checked(PyObject_CallNoArgs(function.ptr()));
}

// Fails while another thread is in the middle of a step.
void check_others(const BlockIterator& iterator) {
  if (iterator.advanced_by == std::this_thread::get_id()) return;
  if (!is_free(iterator)) throw nb::python_error();
}

constexpr std::size_t kIdleBlocks = 8;  // as many as are on their way to a file at the same time

BufferPool& blocks_on_their_way() {
  static const auto pool = std::make_shared<BufferPool>(kIdleBlocks);
  return *pool;
}

// The list may change while others run: the records themselves are held here.
Block framed_bytes(nb::list records) {
  std::vector<nb::object> held;
  std::vector<std::span<const std::byte>> payloads;
  std::size_t total = 0;
  for (nb::handle record : records) {
    if (!PyBytes_Check(record.ptr())) throw nb::type_error("records must be bytes");
    held.push_back(nb::borrow(record));
    payloads.push_back(BytesView(record).bytes());
    total += payloads.back().size() + kFrameOverhead;
  }
  const Unlocked unlocked;
  BlockBuilder builder(blocks_on_their_way(), total);
  for (const auto payload : payloads) builder.append(payload);
  return builder.finish();
}

Block framed_rows(nb::list rows, Encoder& encoder, std::size_t expected) {
  BlockBuilder builder(blocks_on_their_way(), expected);
  for (nb::handle row : rows) {
    if (!PyDict_CheckExact(row.ptr())) throw nb::type_error("rows must be dicts");
    encoder.example(row, [&](Bytes message) {
      builder.append(message);
      return true;
    });
  }
  return builder.finish();
}

void write_to(const Block& block, int descriptor, bool to_disk) {
  constexpr std::size_t kWorthASync = std::size_t{1} << 20;
  const Unlocked unlocked;
  write_all(descriptor, {block.frames()});
  if (to_disk && block.frames().size() >= kWorthASync) begin_sync(descriptor);
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
      .def("write_to", &write_to, nb::arg("descriptor"), nb::kw_only(), nb::arg("to_disk"),
           "Writes all frames to the descriptor; asks for their way to the disk to begin.")
      .def_prop_ro(
          "nbytes", [](const Block& block) { return block.frames().size(); },
          "Bytes of all records, frames included.")
      .def_prop_ro("first_record", &Block::first_record, "Ordinal of the first record in its file.")
      .def_prop_ro("offsets", &column<std::uint64_t, &Entry::offset>,
                   "Stream offset of each record's first header byte.")
      .def_prop_ro("lengths", &column<std::uint64_t, &Entry::length>, "Length of each payload.")
      .def_prop_ro("checksums", &column<std::uint32_t, &Entry::checksum>,
                   "Masked checksum of each payload.");

  module.def("framed", &framed_bytes, nb::arg("records"), "A block of records, framed.");
  module.def("framed_rows", &framed_rows, nb::arg("rows"), nb::arg("encoder"), nb::arg("expected"),
             "A block of rows, encoded and framed; about `expected` bytes of them.");

  nb::class_<BlockIterator>(module, "BlockIterator", nb::type_slots(iterator_slots),
                            "Iterates over the records of the blocks that `_next_block` returns.")
      .def(nb::init<>())
      .def_prop_ro("_block",
                   [](const BlockIterator& it) {
                     return it.block == nullptr ? nb::none() : nb::object(it.holder);
                   })
      .def_prop_ro("_taken", [](const BlockIterator& it) { return it.next; })
      .def_ro("_long_records", &BlockIterator::long_records)
      .def("_offer_file", &BlockIterator::offer_file, nb::arg("file").none())
      .def("_check_others", &check_others)
      .def("_alone", &alone, nb::arg("function"))
      .def("_clear", &BlockIterator::clear);
}

}  // namespace tfreel::python
