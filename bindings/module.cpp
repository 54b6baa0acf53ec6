#include <cxxabi.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bindings.hpp"
#define TFREEL_IMPORTS_NUMPY
#include "numpy.hpp"

namespace tfreel::python {

namespace {

template <typename Ask>
auto lock_or_wait_for_the_end(Ask&& ask) noexcept {
#if defined(__GLIBCXX__)
  try {
    return ask();
  } catch (const abi::__forced_unwind&) {
    while (true) ::pause();
  }
#else
  return ask();
#endif
}

}  // namespace

Unlocked::~Unlocked() {
  lock_or_wait_for_the_end([this] { PyEval_RestoreThread(state_); });
}

Locked::Locked() noexcept : state_(lock_or_wait_for_the_end(PyGILState_Ensure)) {}

BytesView::BytesView(nb::handle object) {
  if (PyBytes_Check(object.ptr())) {
    bytes_ = {reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(object.ptr())),
              static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))};
    return;
  }
  if (!PyByteArray_Check(object.ptr()) && !PyMemoryView_Check(object.ptr())) {
    PyErr_Format(PyExc_TypeError, "expected bytes, bytearray or memoryview, got %U",
                 type_name(object.ptr()).ptr());
    throw nb::python_error();
  }
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_ND) != 0) throw nb::python_error();
  if (buffer_.itemsize != 1 || buffer_.ndim > 1) {
    PyBuffer_Release(&buffer_);
    throw nb::type_error("expected a memoryview of single bytes");
  }
  bytes_ = {static_cast<const std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
}

BytesView::~BytesView() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

namespace {

// A failed system call arrives in Python as the OSError it is there.
void translate_system_error(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const std::system_error& failed) {
    errno = failed.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
  }
}

}  // namespace
}  // namespace tfreel::python

NB_MODULE(_core, module) {
  using namespace tfreel::python;
  nb::set_leak_warnings(
      false);  // a reader still alive when the interpreter ends is not a bug of the bindings
  nb::register_exception_translator(translate_system_error);
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
  bind_crc32c(module);
  bind_order(module);
  bind_block(module);
  bind_decoder(module);
  bind_fetch(module);
  bind_encoder(module);
  bind_decode(module);
  bind_frame_buffer(module);
  bind_columns(module);
  bind_outline(module);
  bind_pipeline(module);
  bind_table(module);
  bind_whole_files(module);
  bind_csv(module);
  bind_arrow_export(module);
  bind_arrow_import(module);
  bind_resize(module);
  bind_shuffle_buffer(module);
  bind_statistics(module);
  bind_digest(module);
}
