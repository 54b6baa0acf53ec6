#include "order.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"

namespace tfreel::python {
namespace {

std::uint64_t index_at(const Permutation& permutation, std::uint64_t position) {
  if (position >= permutation.size()) throw nb::index_error("position out of range");
  return permutation(position);
}

nb::object indices(const Permutation& permutation, std::uint64_t start, std::uint64_t stop) {
  if (start > stop || stop > permutation.size()) throw nb::index_error("positions out of range");
  return new_array<std::uint64_t>(stop - start, [&](std::span<std::uint64_t> out) {
    const Unlocked unlocked;
    std::iota(out.begin(), out.end(), start);
    permutation.apply(out);
  });
}

nb::object take(const Permutation& permutation, const Array<std::uint64_t>& positions) {
  const auto wanted = span_of(positions);
  return new_array<std::uint64_t>(wanted.size(), [&](std::span<std::uint64_t> out) {
    std::ranges::copy(wanted, out.begin());
    const auto highest = std::ranges::max_element(out);
    if (highest != out.end() && *highest >= permutation.size())
      throw nb::index_error("position out of range");
    permutation.apply(out);
  });
}

}  // namespace

void bind_order(nb::module_& module) {
  nb::class_<Permutation>(module, "Permutation", "The order of one shuffled epoch over [0, size).")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), nb::arg("size"),
           nb::arg("seed"), nb::arg("epoch") = 0)
      .def("__len__", &Permutation::size)
      .def("__getitem__", &index_at, nb::arg("position"))
      .def("indices", &indices, nb::arg("start"), nb::arg("stop"),
           "The indices at positions [start, stop), as uint64.")
      .def("take", &take, nb::arg("positions"), "The indices at these positions, as uint64.");
}

}  // namespace tfreel::python
