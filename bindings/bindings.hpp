// What the binding files share: each adds its part of the core to the module, and bytes cross the
// border here.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

#include "stable_abi.hpp"

namespace tfreel::python {

namespace nb = nanobind;

void bind_crc32c(nb::module_& module);
void bind_order(nb::module_& module);
void bind_outline(nb::module_& module);
void bind_block(nb::module_& module);
void bind_decoder(nb::module_& module);
void bind_fetch(nb::module_& module);
void bind_encoder(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_frame_buffer(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_pipeline(nb::module_& module);
void bind_table(nb::module_& module);
void bind_whole_files(nb::module_& module);
void bind_csv(nb::module_& module);
void bind_arrow_export(nb::module_& module);
void bind_arrow_import(nb::module_& module);
void bind_resize(nb::module_& module);
void bind_shuffle_buffer(nb::module_& module);
void bind_statistics(nb::module_& module);
void bind_digest(nb::module_& module);

// What the type of an object is called, for messages.
inline nb::object type_name(PyObject* object) { return nb::steal(PyType_GetName(Py_TYPE(object))); }

// While this lives, other Python threads may run. Like nanobind's gil_scoped_release, but safe when
// the interpreter ends meanwhile: then Python 3.11 to 3.13 end a thread that asks for the lock by
// unwinding its stack, which kills the process where that meets a function that must not throw.
// Here such a thread waits for the end instead, as it does from Python 3.14 on.
class Unlocked {
 public:
  Unlocked() noexcept : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// While this lives, its thread has the GIL, whether it had it before or not; for callbacks that
// other libraries call. As above, a thread that asks too late waits for the end.
class Locked {
 public:
  Locked() noexcept;
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// The bytes of a bytes, bytearray or memoryview of bytes, held while this lives. Anything else is a
// TypeError: an array of numbers has a buffer too, and is not what its writer meant.
class BytesView {
 public:
  explicit BytesView(nb::handle object);
  ~BytesView();
  BytesView(const BytesView&) = delete;
  BytesView& operator=(const BytesView&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  Py_buffer buffer_{};
  std::span<const std::byte> bytes_;
};

// What Python made; its error if it could not.
inline nb::object checked(PyObject* made) {
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

inline nb::object to_bytes(std::span<const std::byte> bytes) {
  return checked(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                           static_cast<Py_ssize_t>(bytes.size())));
}

// A list of `count` bytes objects; `each` calls what it is given with all of them.
template <typename Each>
nb::object list_of_bytes(std::size_t count, Each&& each) {
  nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(count)));
  Py_ssize_t i = 0;
  each([&](std::span<const std::byte> value) {
    PyList_SET_ITEM(list.ptr(), i++, to_bytes(value).release().ptr());
  });
  return list;
}

}  // namespace tfreel::python
