// NumPy arrays made by the core.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdlib>
#include <span>
#include <type_traits>

#include "bindings.hpp"
#include "buffer.hpp"
#include "numpy.hpp"

namespace tfreel::python {

template <typename Scalar>
using Array = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Scalar>
std::span<const Scalar> span_of(const Array<Scalar>& array) {
  return {array.data(), array.shape(0)};
}

template <typename Scalar>
inline constexpr int kNumpyType = std::is_same_v<Scalar, std::int64_t>    ? NPY_INT64
                                  : std::is_same_v<Scalar, std::uint64_t> ? NPY_UINT64
                                  : std::is_same_v<Scalar, std::uint32_t> ? NPY_UINT32
                                  : std::is_same_v<Scalar, float>         ? NPY_FLOAT32
                                                                          : NPY_UINT8;

// A new one-dimensional array of `size` values that `fill` writes.
template <typename Scalar, typename Fill>
nb::object new_array(std::size_t size, Fill&& fill) {
  npy_intp shape = static_cast<npy_intp>(size);
  nb::object array = nb::steal(PyArray_SimpleNew(1, &shape, kNumpyType<Scalar>));
  if (!array.is_valid()) throw nb::python_error();
  auto* data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()));
  fill(std::span<Scalar>(static_cast<Scalar*>(data), size));
  return array;
}

// The values of a buffer, as an array that owns them.
template <typename Scalar>
nb::object to_array(Buffer<Scalar>& buffer) {
  npy_intp shape = static_cast<npy_intp>(buffer.size());
  if (shape == 0) return new_array<Scalar>(0, [](std::span<Scalar>) {});
  nb::capsule owner(buffer.release().release(), [](void* owned) noexcept { std::free(owned); });
  nb::object array =
      nb::steal(PyArray_SimpleNewFromData(1, &shape, kNumpyType<Scalar>, owner.data()));
  if (!array.is_valid()) throw nb::python_error();
  auto* numpy = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (PyArray_SetBaseObject(numpy, owner.release().ptr()) != 0) throw nb::python_error();
  return array;
}

}  // namespace tfreel::python
