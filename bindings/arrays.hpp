// NumPy arrays made by the core.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

#include "bindings.hpp"
#include "buffer.hpp"

namespace tfreel::python {

template <typename Scalar>
using Array = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Scalar>
std::span<const Scalar> span_of(const Array<Scalar>& array) {
  return {array.data(), array.shape(0)};
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

// The values of a buffer, as an array that owns them.
template <typename Scalar>
nb::object to_array(Buffer<Scalar>& buffer) {
  using Value = std::conditional_t<std::is_same_v<Scalar, std::byte>, std::uint8_t, Scalar>;
  const std::size_t size = buffer.size();
  void* memory = buffer.release().release();
  nb::capsule owner(memory == nullptr ? std::malloc(1) : memory,
                    [](void* owned) noexcept { std::free(owned); });
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(owner.data(), {size}, owner));
}

}  // namespace tfreel::python
