// NumPy arrays made by the core.
#pragma once

#include <nanobind/ndarray.h>

#include <memory>
#include <span>

#include "bindings.hpp"

namespace tfreel::python {

template <typename Scalar>
using Column = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Scalar>
std::span<const Scalar> span_of(const Column<Scalar>& column) {
  return {column.data(), column.shape(0)};
}

// A new one-dimensional array of `size` values that `fill` writes.
template <typename Scalar, typename Fill>
nb::object new_array(std::size_t size, Fill&& fill) {
  auto values = std::make_unique_for_overwrite<Scalar[]>(size);
  fill(std::span<Scalar>(values.get(), size));
  Scalar* data = values.get();
  nb::capsule owner(values.release(), [](void* owned) noexcept {
    std::unique_ptr<Scalar[]>(static_cast<Scalar*>(owned));
  });
  return nb::cast(nb::ndarray<nb::numpy, Scalar, nb::ndim<1>>(data, {size}, owner));
}

}  // namespace tfreel::python
