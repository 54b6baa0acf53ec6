// The keys of a row in the order in which they are written. Rows come in thousands with the same
// keys, so a layout is learned once and then only compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "wire.hpp"

namespace tfreel::python {

class Layout {
 public:
  // Takes over the keys of a dict; a TypeError or ValueError if one cannot name a feature.
  void learn(PyObject* dict);

  std::size_t size() const noexcept { return keys_.size(); }
  // Whether the key at this place of a dict's own order is still the one that was learned.
  bool has(std::size_t place, PyObject* key) const noexcept {
    return place < keys_.size() && (keys_[place].ptr() == key || equal(keys_[place].ptr(), key));
  }
  // The places in the order in which features are written: by the bytes of their keys.
  std::span<const std::size_t> order() const noexcept { return order_; }
  PyObject* key(std::size_t place) const noexcept { return keys_[place].ptr(); }
  Bytes utf8(std::size_t place) const noexcept { return utf8_[place]; }

 private:
  static bool equal(PyObject* a, PyObject* b) noexcept;

  std::vector<nb::object> keys_;
  std::vector<Bytes> utf8_;  // lies in the keys
  std::vector<std::size_t> order_;
};

}  // namespace tfreel::python
