// Columns on their way in: the capsules of other libraries, opened. Python knows what the buffers
// mean, and so how long they are.
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "arrow.hpp"
#include "bindings.hpp"
#include "string_views.hpp"

namespace tfreel::python {
namespace {

template <typename Struct>
Owned<Struct> take_out(nb::handle capsule) {
  auto* found = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), kCapsuleName<Struct>));
  if (found == nullptr) throw nb::python_error();
  if (found->release == nullptr) throw nb::value_error("the capsule was used up before");
  return Owned<Struct>(*found);
}

// Pairs of strings, each with its length in front; only reading them tells where they end.
std::size_t metadata_size(const char* metadata) {
  const auto read = [&](std::size_t at) {
    std::int32_t value;
    std::memcpy(&value, metadata + at, sizeof value);
    return static_cast<std::size_t>(value);
  };
  std::size_t end = sizeof(std::int32_t);
  for (std::size_t strings = 2 * read(0); strings != 0; --strings) {
    end += sizeof(std::int32_t) + read(end);
  }
  return end;
}

nb::object to_tuple(const ArrowSchema& schema) {
  nb::object metadata = nb::none();
  if (schema.metadata != nullptr) {
    metadata = nb::bytes(schema.metadata, metadata_size(schema.metadata));
  }
  nb::list children;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    children.append(to_tuple(*schema.children[i]));
  }
  return nb::make_tuple(schema.format, schema.name == nullptr ? "" : schema.name, schema.flags,
                        metadata, children,
                        schema.dictionary == nullptr ? nb::none() : to_tuple(*schema.dictionary));
}

// An array of another library, or a part of it: all parts keep the whole alive.
class ImportedArray {
 public:
  explicit ImportedArray(Owned<ArrowArray> array)
      : whole_(std::make_shared<Owned<ArrowArray>>(std::move(array))), part_(whole_->get()) {}

  std::int64_t length() const noexcept { return part_->length; }
  std::int64_t null_count() const noexcept { return part_->null_count; }
  std::int64_t offset() const noexcept { return part_->offset; }
  std::int64_t buffer_count() const noexcept { return part_->n_buffers; }
  const void* buffer(std::size_t i) const {
    if (i >= static_cast<std::size_t>(part_->n_buffers)) throw nb::index_error();
    return part_->buffers[i];
  }
  std::vector<ImportedArray> children() const {
    std::vector<ImportedArray> all;
    for (std::int64_t i = 0; i < part_->n_children; ++i) all.push_back({*this, part_->children[i]});
    return all;
  }
  nb::object dictionary() const {
    if (part_->dictionary == nullptr) return nb::none();
    return nb::cast(ImportedArray(*this, part_->dictionary));
  }

 private:
  ImportedArray(const ImportedArray& whole, const ArrowArray* part)
      : whole_(whole.whole_), part_(part) {}

  std::shared_ptr<Owned<ArrowArray>> whole_;
  const ArrowArray* part_;
};

nb::object buffer_of(nb::handle self, std::size_t i, std::size_t nbytes) {
  const void* memory = nb::cast<const ImportedArray&>(self).buffer(i);
  if (memory == nullptr) return nb::none();
  return nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(memory, {nbytes}, self));
}

// A stream of another library, read one array at a time.
class ImportedStream {
 public:
  explicit ImportedStream(nb::handle capsule) : stream_(take_out<ArrowArrayStream>(capsule)) {
    const Unlocked unlocked;
    code_ = stream_->get_schema(stream_.get(), schema_.get());
  }

  nb::object field() {
    check();
    return to_tuple(*schema_.get());
  }

  // None at the end.
  nb::object next() {
    Owned<ArrowArray> array;
    {
      // The producer may need other Python threads to make progress.
      const Unlocked unlocked;
      const std::lock_guard lock(mutex_);
      if (code_ == 0) code_ = stream_->get_next(stream_.get(), array.get());
    }
    check();
    if (array.released()) return nb::none();
    return nb::cast(ImportedArray(std::move(array)));
  }

 private:
  void check() {
    if (code_ == 0) return;
    const char* why = stream_->get_last_error(stream_.get());
    PyErr_Format(PyExc_RuntimeError, "the producer of the Arrow stream failed: %s",
                 why == nullptr ? std::strerror(code_) : why);
    throw nb::python_error();
  }

  std::mutex mutex_;  // of a stream only one thread may ask at a time
  Owned<ArrowArrayStream> stream_;
  Owned<ArrowSchema> schema_;
  int code_ = 0;
};

nb::object join_views(const Array<std::uint8_t>& views, nb::list buffers) {
  std::vector<Array<std::uint8_t>> held;  // copies, where what was given is not contiguous
  std::vector<std::span<const std::byte>> sources;
  for (nb::handle buffer : buffers) {
    held.push_back(nb::cast<Array<std::uint8_t>>(buffer));
    sources.push_back(std::as_bytes(span_of(held.back())));
  }
  std::optional<JoinedStrings> joined;
  {
    const Unlocked unlocked;
    joined = join_string_views(std::as_bytes(span_of(views)), sources);
  }
  if (!joined) throw nb::value_error("a string view that does not fit its buffers");
  return nb::make_tuple(to_array(joined->data), to_array(joined->offsets));
}

}  // namespace

void bind_arrow_import(nb::module_& module) {
  nb::class_<ImportedArray>(module, "ArrowArray", "An array that another library made.")
      .def_prop_ro("length", &ImportedArray::length)
      .def_prop_ro("null_count", &ImportedArray::null_count)
      .def_prop_ro("offset", &ImportedArray::offset)
      .def_prop_ro("buffer_count", &ImportedArray::buffer_count)
      .def_prop_ro("children", &ImportedArray::children)
      .def_prop_ro("dictionary", &ImportedArray::dictionary)
      .def("buffer", &buffer_of, nb::arg("index"), nb::arg("nbytes"),
           "The first bytes of a buffer, without a copy; None where there is none.");

  nb::class_<ImportedStream>(module, "ArrowStream", "The stream in a capsule, taken out of it.")
      .def(nb::init<nb::handle>(), nb::arg("capsule"))
      .def("field", &ImportedStream::field, "The type of all arrays.")
      .def("next", &ImportedStream::next, "The next array; None at the end.");

  module.def(
      "read_arrow_schema",
      [](nb::handle capsule) { return to_tuple(*take_out<ArrowSchema>(capsule).get()); },
      nb::arg("capsule"), "The type in a capsule.");
  module.def(
      "read_arrow_array",
      [](nb::handle capsule) { return ImportedArray(take_out<ArrowArray>(capsule)); },
      nb::arg("capsule"), "The array in a capsule, taken out of it.");
  module.def("join_string_views", &join_views, nb::arg("views"), nb::arg("buffers"),
             "The bytes of all values, one behind the other, and where each begins.");
}

}  // namespace tfreel::python
