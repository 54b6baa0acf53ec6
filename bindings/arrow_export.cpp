// Columns on their way out, as the capsules of the Arrow C data interface. Python describes them;
// here the description becomes structs that other libraries take over and release when they like.
#include <nanobind/stl/string.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "arrow.hpp"
#include "bindings.hpp"

namespace tfreel::python {
namespace {

// A type, and what it consists of. It has no Python object in it, because streams are asked for
// their schema without the GIL.
struct Field {
  std::string format;
  std::string name;
  std::int64_t flags = 0;
  std::optional<std::string> metadata;
  std::vector<Field> children;
};

std::string c_string(nb::handle text) {
  Py_ssize_t size = 0;
  const char* characters = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (characters == nullptr) throw nb::python_error();
  std::string copy(characters, static_cast<std::size_t>(size));
  if (copy.find('\0') != std::string::npos) {
    throw nb::value_error("a name with a zero character in it cannot go to Arrow");
  }
  return copy;
}

Field read_field(nb::handle tuple) {
  Field field{c_string(tuple[0]), c_string(tuple[1]), nb::cast<std::int64_t>(tuple[2]), {}, {}};
  if (const nb::object metadata = tuple[3]; !metadata.is_none()) {
    const nb::bytes bytes(metadata);
    field.metadata.emplace(bytes.c_str(), bytes.size());
  }
  for (nb::handle child : nb::object(tuple[4])) field.children.push_back(read_field(child));
  return field;
}

// The pointers that Arrow wants beside its structs.
template <typename Struct>
std::vector<Struct*> places_of(std::vector<Owned<Struct>>& owned) {
  std::vector<Struct*> places;
  for (Owned<Struct>& one : owned) places.push_back(one.get());
  return places;
}

struct SchemaParts {
  Field field;
  std::vector<Owned<ArrowSchema>> children;
  std::vector<ArrowSchema*> places;
};

// Children that their consumer moved elsewhere are marked as released, and stay alive.
template <typename Struct, typename Parts>
void release(Struct* exported) {
  exported->release = nullptr;
  std::unique_ptr<Parts>(static_cast<Parts*>(exported->private_data));
}

Owned<ArrowSchema> export_schema(const Field& field) {
  auto parts = std::make_unique<SchemaParts>();
  for (const Field& child : field.children) parts->children.push_back(export_schema(child));
  parts->places = places_of(parts->children);
  parts->field = {field.format, field.name, field.flags, field.metadata, {}};
  ArrowSchema schema{};
  schema.format = parts->field.format.c_str();
  schema.name = parts->field.name.c_str();
  schema.metadata = field.metadata ? parts->field.metadata->data() : nullptr;
  schema.flags = field.flags;
  schema.n_children = static_cast<std::int64_t>(parts->places.size());
  schema.children = parts->places.data();
  schema.release = &release<ArrowSchema, SchemaParts>;
  schema.private_data = parts.release();
  return Owned<ArrowSchema>(schema);
}

// The memory of some Python objects, held until Arrow needs it no more.
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    // Consumers release from any thread, even after the interpreter has ended: then the memory is
    // left to the end of the process.
    if (views_.empty() || Py_IsInitialized() == 0) return;
    const Locked locked;
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
  }

  // A view may point into itself, so that none may move once it is there.
  void reserve(std::size_t count) { views_.reserve(count); }
  const void* hold(nb::handle object) {
    Py_buffer& view = views_.emplace_back();
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) == 0) return view.buf;
    views_.pop_back();
    throw nb::python_error();
  }

 private:
  std::vector<Py_buffer> views_;
};

struct ArrayParts {
  Held held;
  std::vector<const void*> buffers;
  std::vector<Owned<ArrowArray>> children;
  std::vector<ArrowArray*> places;
};

Owned<ArrowArray> export_array(nb::handle tuple) {
  auto parts = std::make_unique<ArrayParts>();
  const nb::object buffers = tuple[2];
  parts->held.reserve(nb::len(buffers));
  for (nb::handle buffer : buffers) {
    parts->buffers.push_back(buffer.is_none() ? nullptr : parts->held.hold(buffer));
  }
  for (nb::handle child : nb::object(tuple[3])) parts->children.push_back(export_array(child));
  parts->places = places_of(parts->children);
  ArrowArray array{};
  array.length = nb::cast<std::int64_t>(tuple[0]);
  array.null_count = nb::cast<std::int64_t>(tuple[1]);
  array.n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  array.n_children = static_cast<std::int64_t>(parts->places.size());
  array.buffers = parts->buffers.data();
  array.children = parts->places.data();
  array.release = &release<ArrowArray, ArrayParts>;
  array.private_data = parts.release();
  return Owned<ArrowArray>(array);
}

// A stream of what a Python iterator gives. It is asked for batches without the GIL, by any thread.
class Stream {
 public:
  Stream(nb::handle field, nb::handle arrays)
      : field_(read_field(field)), arrays_(nb::iter(arrays)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (Py_IsInitialized() == 0) {
      static_cast<void>(arrays_.release());  // as in Held
      return;
    }
    const Locked locked;
    arrays_.reset();
  }

  const Field& field() const noexcept { return field_; }
  const char* error() const noexcept { return error_.empty() ? nullptr : error_.c_str(); }

  // A released array is how a stream says that it has ended.
  int next(ArrowArray* out) {
    *out = ArrowArray{};
    if (Py_IsInitialized() == 0) return ECANCELED;
    const Locked locked;
    try {
      const nb::object array = nb::steal(PyIter_Next(arrays_.ptr()));
      if (array.is_valid()) {
        *out = export_array(array).move_out();
      } else if (PyErr_Occurred() != nullptr) {
        throw nb::python_error();
      }
      return 0;
    } catch (nb::python_error& error) {
      return failed(error);
    }
  }

  // Notes why a call failed, for the consumer to ask.
  int failed(int code, const char* why) {
    error_ = why;
    return code;
  }

 private:
  int failed(nb::python_error& error) {
    // With the name of its class: to others it is a text and a number.
    error_ = nb::cast<std::string>(error.type().attr("__name__"));
    error_ += ": ";
    error_ += nb::cast<std::string>(nb::str(error.value()));
    if (error.matches(PyExc_MemoryError)) return ENOMEM;
    if (error.matches(PyExc_KeyboardInterrupt)) return ECANCELED;
    return error.matches(PyExc_OSError) ? EIO : EINVAL;
  }

  Field field_;
  nb::object arrays_;
  std::string error_;
};

Stream& stream_of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    *out = export_schema(stream_of(stream).field()).move_out();
    return 0;
  } catch (const std::bad_alloc&) {
    return stream_of(stream).failed(ENOMEM, "out of memory");
  }
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  try {
    return stream_of(stream).next(out);
  } catch (const std::bad_alloc&) {
    return stream_of(stream).failed(ENOMEM, "out of memory");
  } catch (const std::exception& error) {  // nothing may pass the border
    return stream_of(stream).failed(EINVAL, error.what());
  }
}

const char* stream_error(ArrowArrayStream* stream) { return stream_of(stream).error(); }

Owned<ArrowArrayStream> export_stream(nb::handle field, nb::handle arrays) {
  auto parts = std::make_unique<Stream>(field, arrays);
  ArrowArrayStream stream{};
  stream.get_schema = &stream_schema;
  stream.get_next = &stream_next;
  stream.get_last_error = &stream_error;
  stream.release = &release<ArrowArrayStream, Stream>;
  stream.private_data = parts.release();
  return Owned<ArrowArrayStream>(stream);
}

// A capsule that releases what nobody took out of it.
template <typename Struct>
nb::object to_capsule(Owned<Struct> owned) {
  auto place = std::make_unique<Owned<Struct>>(std::move(owned));
  const auto destroy = [](PyObject* capsule) noexcept {
    std::unique_ptr<Owned<Struct>>(static_cast<Owned<Struct>*>(PyCapsule_GetContext(capsule)));
  };
  nb::object capsule = nb::steal(PyCapsule_New(place->get(), kCapsuleName<Struct>, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  PyCapsule_SetContext(capsule.ptr(), place.release());
  PyCapsule_SetDestructor(capsule.ptr(), destroy);
  return capsule;
}

}  // namespace

void bind_arrow_export(nb::module_& module) {
  module.def(
      "arrow_schema", [](nb::handle field) { return to_capsule(export_schema(read_field(field))); },
      nb::arg("field"), "A capsule with the type.");
  module.def(
      "arrow_array", [](nb::handle data) { return to_capsule(export_array(data)); },
      nb::arg("data"), "A capsule with the array. It keeps the buffers alive.");
  module.def(
      "arrow_stream",
      [](nb::handle field, nb::handle arrays) { return to_capsule(export_stream(field, arrays)); },
      nb::arg("field"), nb::arg("arrays"),
      "A capsule with a stream of what the iterable gives, one array at a time.");
}

}  // namespace tfreel::python
