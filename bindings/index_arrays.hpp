// The index of one file, in arrays of NumPy.
#pragma once

#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fetch.hpp"

namespace tfreel::python {

class IndexArrays {
 public:
  IndexArrays(Array<std::uint64_t> offsets, Array<std::uint64_t> lengths,
              Array<std::uint32_t> checksums)
      : offsets_(std::move(offsets)),
        lengths_(std::move(lengths)),
        checksums_(std::move(checksums)) {
    if (offsets_.shape(0) != lengths_.shape(0) || offsets_.shape(0) != checksums_.shape(0)) {
      throw nb::value_error("index columns differ in length");
    }
  }

  IndexColumns columns() const {
    return {span_of(offsets_), span_of(lengths_), span_of(checksums_)};
  }

 private:
  Array<std::uint64_t> offsets_;
  Array<std::uint64_t> lengths_;
  Array<std::uint32_t> checksums_;
};

}  // namespace tfreel::python
