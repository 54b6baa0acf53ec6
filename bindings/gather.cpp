#include "gather.hpp"

#include <utility>

namespace tfreel::python {
namespace {

const char* name_of(Kind kind) noexcept {
  return kind == Kind::ints ? "int64" : kind == Kind::floats ? "float" : "bytes";
}

// Guards against lists that hold themselves: Python's own limit for recursion counts.
class Deeper {
 public:
  Deeper() {
    if (Py_EnterRecursiveCall(" in the values of a feature") != 0) throw nb::python_error();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

}  // namespace

void Gathered::clear(PyObject* name) {
  name_ = name;
  kind = Kind::none;
  ints.clear();
  floats.clear();
  bytes.clear();
  keepers_.clear();
}

void Gathered::require_kind() const {
  if (kind != Kind::none) return;
  PyErr_Format(PyExc_TypeError,
               "feature %R is empty, and nothing tells its kind; an empty array does: np.array([], "
               "np.int64), np.float32 or np.bytes_",
               name_);
  throw nb::python_error();
}

void Gathered::become(Kind found) {
  if (kind == found) return;
  if (kind == Kind::none) {
    kind = found;
    return;
  }
  const bool numbers = kind != Kind::bytes && found != Kind::bytes;
  PyErr_Format(PyExc_TypeError, "feature %R mixes %s and %s; a feature holds values of one kind%s",
               name_, name_of(kind), name_of(found), numbers ? ": write them all as float" : "");
  throw nb::python_error();
}

void Gathered::add(PyObject* value) {
  if (PyLong_Check(value)) return add_int(value);
  if (PyFloat_Check(value)) return add_float(PyFloat_AS_DOUBLE(value));
  if (PyUnicode_Check(value)) return add_text(value);
  if (PyBytes_Check(value)) return add_bytes(value);
  if (PyList_Check(value) || PyTuple_Check(value)) return add_items(value);
  if (PyArray_CheckExact(value)) return add_array(reinterpret_cast<PyArrayObject*>(value));
  if (!add_numpy_scalar(value)) add_adapted(value);
}

void Gathered::add_int(PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) return add_adapted(value);
  become(Kind::ints);
  ints.push_back(number);
}

void Gathered::add_float(double value) {
  const auto rounded = static_cast<float>(value);
  if (overflows(value, rounded)) return add_adapted(nb::float_(value).ptr());
  become(Kind::floats);
  floats.push_back(rounded);
}

void Gathered::add_text(PyObject* value) {
  const Bytes text = view_of_text(value);
  if (text.data() == nullptr) {
    PyErr_Clear();
    return add_adapted(value);
  }
  become(Kind::bytes);
  bytes.push_back(text);
  keepers_.push_back(nb::borrow(value));
}

void Gathered::add_bytes(PyObject* value) {
  become(Kind::bytes);
  bytes.push_back(view_of_bytes(value));
  keepers_.push_back(nb::borrow(value));
}

void Gathered::add_items(PyObject* items) {
  const Deeper deeper;
  // What `adapt` calls may change a list: its size is asked for anew, its items are held.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items, i));
    add(item.ptr());
  }
}

void Gathered::add_array(PyArrayObject* array) {
  if (!is_ordinary(array)) return add_adapted(reinterpret_cast<PyObject*>(array));
  if (visit_integers(array, [&](auto values) { add_ints(values); })) return;
  const int type = PyArray_TYPE(array);
  if (type == NPY_DOUBLE) return add_doubles(values_of<double>(array));
  if (type == NPY_FLOAT) {
    become(Kind::floats);
    const auto values = values_of<float>(array);
    floats.insert(floats.end(), values.begin(), values.end());
    return;
  }
  if (type == NPY_STRING && PyArray_SIZE(array) == 0) return become(Kind::bytes);
  add_adapted(reinterpret_cast<PyObject*>(array));
}

template <typename Scalar>
void Gathered::add_ints(std::span<const Scalar> values) {
  become(Kind::ints);
  for (const Scalar value : values) {
    if (!std::in_range<std::int64_t>(value)) {
      return add_adapted(nb::steal(PyLong_FromUnsignedLongLong(value)).ptr());
    }
    ints.push_back(static_cast<std::int64_t>(value));
  }
}

void Gathered::add_doubles(std::span<const double> values) {
  become(Kind::floats);
  for (const double value : values) {
    const auto rounded = static_cast<float>(value);
    if (overflows(value, rounded)) return add_adapted(nb::float_(value).ptr());
    floats.push_back(rounded);
  }
}

bool Gathered::add_numpy_scalar(PyObject* value) {
  if (PyArray_IsScalar(value, Timedelta)) return false;  // counts as an integer, and is none
  if (PyArray_IsScalar(value, Integer)) {
    const nb::object number = nb::steal(PyNumber_Index(value));
    if (!number.is_valid()) throw nb::python_error();
    add_int(number.ptr());
    return true;
  }
  if (PyArray_IsScalar(value, Bool)) {
    become(Kind::ints);
    ints.push_back(PyObject_IsTrue(value) == 1);
    return true;
  }
  if (PyArray_IsScalar(value, Float) || PyArray_IsScalar(value, Half)) {
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    add_float(number);
    return true;
  }
  return false;
}

void Gathered::add_adapted(PyObject* value) {
  const Deeper deeper;
  const nb::object adapted = adapt_(nb::handle(name_), nb::handle(value));
  keepers_.push_back(adapted);
  add(adapted.ptr());
}

}  // namespace tfreel::python
