#include "layout.hpp"

#include <algorithm>
#include <numeric>

#include "gather.hpp"

namespace tfreel::python {
namespace {

Bytes checked_utf8(PyObject* key) {
  if (!PyUnicode_Check(key)) {
    PyErr_Format(PyExc_TypeError, "names of features must be str, not %U (%R)",
                 type_name(key).ptr(), key);
    throw nb::python_error();
  }
  const Bytes utf8 = view_of_text(key);
  if (utf8.data() == nullptr) {
    PyErr_Format(PyExc_ValueError, "feature %R: its name is not valid Unicode", key);
    throw nb::python_error();
  }
  return utf8;
}

bool is_before(Bytes a, Bytes b) noexcept {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

bool Layout::equal(PyObject* a, PyObject* b) noexcept {
  // Both of the very type: comparing them calls no code of users, and cannot fail.
  return PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) && PyUnicode_Compare(a, b) == 0;
}

void Layout::learn(PyObject* dict) {
  std::vector<nb::object> keys;
  std::vector<Bytes> utf8;
  PyObject* key = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &key, nullptr) != 0;) {
    keys.push_back(nb::borrow(key));
    utf8.push_back(checked_utf8(key));
  }
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return is_before(utf8[a], utf8[b]); });
  keys_.swap(keys);
  utf8_.swap(utf8);
  order_.swap(order);
}

}  // namespace tfreel::python
