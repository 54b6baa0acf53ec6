// The values of one feature, out of whatever Python objects hold them.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "example.hpp"
#include "numpy.hpp"

namespace tfreel::python {

// Numbers, text, bytes, lists, tuples and ordinary arrays are understood here. Anything else is
// given to `adapt(name, value)`, which makes something ordinary of it or raises: rare things may
// take their time, and their errors are easier told in Python.
class Gathered {
 public:
  explicit Gathered(nb::object adapt) : adapt_(std::move(adapt)) {}

  Kind kind = Kind::none;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<Bytes> bytes;

  void clear(PyObject* name);
  std::size_t size() const noexcept { return ints.size() + floats.size() + bytes.size(); }
  std::size_t capacity() const noexcept {
    return ints.capacity() * sizeof(std::int64_t) + floats.capacity() * sizeof(float) +
           bytes.capacity() * sizeof(Bytes);
  }
  // Adds a value, or all that are in it. Values of another kind than those before are a TypeError.
  void add(PyObject* value);
  // A TypeError unless the kind is known.
  void require_kind() const;

 private:
  void become(Kind found);
  void add_int(PyObject* value);
  void add_float(double value);
  void add_text(PyObject* value);
  void add_bytes(PyObject* value);
  void add_items(PyObject* items);
  void add_array(PyArrayObject* array);
  void add_adapted(PyObject* value);
  bool add_numpy_scalar(PyObject* value);
  template <typename Scalar>
  void add_ints(std::span<const Scalar> values);
  void add_doubles(std::span<const double> values);

  nb::object adapt_;
  PyObject* name_ = nullptr;         // of the feature; borrowed
  std::vector<nb::object> keepers_;  // keep alive what `bytes` points into
};

// Whether the values of an array lie one behind the other, as this machine would write them.
inline bool is_ordinary(PyArrayObject* array) noexcept {
  return PyArray_ISCARRAY_RO(array) && PyArray_ISNOTSWAPPED(array);
}

template <typename Scalar>
std::span<const Scalar> values_of(PyArrayObject* array) noexcept {
  return {static_cast<const Scalar*>(PyArray_DATA(array)),
          static_cast<std::size_t>(PyArray_SIZE(array))};
}

// Calls `visit` with the values of an ordinary array of integers or booleans; false for all others.
template <typename Visit>
bool visit_integers(PyArrayObject* array, Visit&& visit) {
  switch (PyArray_TYPE(array)) {
    case NPY_BOOL:
    case NPY_UBYTE:
      return visit(values_of<npy_ubyte>(array)), true;
    case NPY_BYTE:
      return visit(values_of<npy_byte>(array)), true;
    case NPY_SHORT:
      return visit(values_of<npy_short>(array)), true;
    case NPY_USHORT:
      return visit(values_of<npy_ushort>(array)), true;
    case NPY_INT:
      return visit(values_of<npy_int>(array)), true;
    case NPY_UINT:
      return visit(values_of<npy_uint>(array)), true;
    case NPY_LONG:
      return visit(values_of<npy_long>(array)), true;
    case NPY_ULONG:
      return visit(values_of<npy_ulong>(array)), true;
    case NPY_LONGLONG:
      return visit(values_of<npy_longlong>(array)), true;
    case NPY_ULONGLONG:
      return visit(values_of<npy_ulonglong>(array)), true;
    default:
      return false;
  }
}

// The bytes of a bytes object, and of text as UTF-8. For text that is none (lone surrogates) the
// data is null and a Python error set.
inline Bytes view_of_bytes(PyObject* bytes) noexcept {
  return {reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(bytes)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}
inline Bytes view_of_text(PyObject* text) noexcept {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  return {reinterpret_cast<const std::byte*>(data), static_cast<std::size_t>(size)};
}

// Whether rounding to a float made an infinity of something finite.
inline bool overflows(double value, float rounded) noexcept {
  return std::isinf(rounded) && !std::isinf(value);
}

}  // namespace tfreel::python
