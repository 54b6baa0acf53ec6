#include "encoder.hpp"

#include <algorithm>
#include <utility>

namespace tfreel::python {
namespace {

// A desk that grew larger is not kept: one large record should not hold its memory for ever.
constexpr std::size_t kLargestIdleDesk = std::size_t{1} << 20;

template <typename Integer>
bool all_fit(std::span<const Integer> values) noexcept {
  return std::all_of(values.begin(), values.end(),
                     [](Integer value) { return std::in_range<std::int64_t>(value); });
}

}  // namespace

Desk::Desk(nb::object adapt, nb::object expand, nb::object tensor_type)
    : expand_(std::move(expand)),
      tensor_type_(std::move(tensor_type)),
      gathered_(std::move(adapt)) {}

Bytes Desk::example(nb::handle row) {
  writer_.clear();
  write_features(row);
  writer_.close(1, 0);
  return writer_.bytes();
}

Bytes Desk::sequence(nb::handle context, nb::handle lists) {
  writer_.clear();
  write_lists(lists);
  writer_.close(2, 0);
  const std::size_t before = writer_.size();
  write_features(context);
  writer_.close(1, before);
  return writer_.bytes();
}

bool Desk::take_row(PyObject* dict, Layout& layout) {
  row_.clear();
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  bool known = static_cast<std::size_t>(PyDict_GET_SIZE(dict)) == layout.size();
  bool plain = true;
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &key, &value) != 0;) {
    known = known && layout.has(row_.size(), key);
    plain = plain && reinterpret_cast<PyObject*>(Py_TYPE(value)) != tensor_type_.ptr();
    row_.push_back(nb::borrow(value));
  }
  if (!known && plain) layout.learn(dict);
  return plain;
}

void Desk::write_features(nb::handle dict) {
  nb::object expanded;
  if (!take_row(dict.ptr(), features_)) {
    expanded = nb::cast<nb::dict>(expand_(dict));
    // What is left over is a tensor without a proper name: refused for that.
    if (!take_row(expanded.ptr(), features_)) features_.learn(expanded.ptr());
  }
  const auto order = features_.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t place = order[i];
    PyObject* value = row_[place].ptr();
    if (value == Py_None) continue;
    write_entry(features_.key(place), features_.utf8(place), value);
  }
}

void Desk::write_entry(PyObject* name, Bytes key, PyObject* value) {
  if (write_scalar(key, value)) return;
  const std::size_t before = writer_.size();
  if (!write_array(value) && !write_buffer(value)) write_any(name, value);
  close_entry(writer_, key, before);
}

// The commonest values, without a stop between. False for all others.
bool Desk::write_scalar(Bytes key, PyObject* value) {
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && write_short_entry(writer_, key, number);
  }
  if (PyFloat_CheckExact(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    const auto rounded = static_cast<float>(number);
    return !overflows(number, rounded) && write_short_entry(writer_, key, rounded);
  }
  if (PyUnicode_CheckExact(value)) {
    const Bytes text = view_of_text(value);
    if (text.data() == nullptr) PyErr_Clear();
    return text.data() != nullptr && write_short_entry(writer_, key, text);
  }
  return PyBytes_CheckExact(value) && write_short_entry(writer_, key, view_of_bytes(value));
}

void Desk::write_any(PyObject* name, PyObject* value) {
  gathered_.clear(name);
  gathered_.add(value);
  gathered_.require_kind();
  write_gathered(0, gathered_.size());
}

// Arrays that are written just as they lie there. False for all others.
bool Desk::write_array(PyObject* value) {
  if (!PyArray_CheckExact(value)) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(value);
  if (!is_ordinary(array)) return false;
  if (PyArray_TYPE(array) == NPY_FLOAT) {
    write_floats(writer_, values_of<float>(array));
    return true;
  }
  bool fits = true;
  const bool integers = visit_integers(array, [&](auto values) {
    fits = all_fit(values);
    if (fits) write_ints(writer_, values);
  });
  return integers && fits;
}

// Bytes that somebody else holds: written from where they are. False for all others.
bool Desk::write_buffer(PyObject* value) {
  if (!PyMemoryView_Check(value) && !PyByteArray_Check(value)) return false;
  Py_buffer held;
  if (PyObject_GetBuffer(value, &held, PyBUF_ND) != 0) {  // with gaps, or released
    PyErr_Clear();
    return false;
  }
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&held, PyBuffer_Release);
  if (held.itemsize != 1 || held.ndim != 1) return false;
  const Bytes bytes{static_cast<const std::byte*>(held.buf), static_cast<std::size_t>(held.len)};
  write_bytes_list(writer_, {&bytes, 1});
  return true;
}

void Desk::write_gathered(std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  if (gathered_.kind == Kind::ints) {
    write_ints(writer_, std::span<const std::int64_t>(gathered_.ints).subspan(begin, count));
  } else if (gathered_.kind == Kind::floats) {
    write_floats(writer_, std::span(gathered_.floats).subspan(begin, count));
  } else {
    write_bytes_list(writer_, std::span(gathered_.bytes).subspan(begin, count));
  }
}

void Desk::write_lists(nb::handle dict) {
  // A tensor cannot be a list of rows; like anything else that cannot, it is refused by name.
  if (!take_row(dict.ptr(), lists_)) lists_.learn(dict.ptr());
  const auto order = lists_.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t place = order[i];
    PyObject* value = row_[place].ptr();
    if (value == Py_None) continue;
    const std::size_t before = writer_.size();
    write_list(lists_.key(place), value);
    close_entry(writer_, lists_.utf8(place), before);
  }
}

void Desk::write_list(PyObject* name, PyObject* rows) {
  nb::object items = nb::borrow(rows);
  if (PyArray_Check(rows) && PyArray_NDIM(reinterpret_cast<PyArrayObject*>(rows)) > 0) {
    items = nb::steal(PySequence_List(rows));
    if (!items.is_valid()) throw nb::python_error();
  } else if (!PyList_Check(rows) && !PyTuple_Check(rows)) {
    PyErr_Format(PyExc_TypeError,
                 "feature list %R must be a list, tuple or array of rows, each with the values of "
                 "one step; not %U",
                 name, type_name(rows).ptr());
    throw nb::python_error();
  }
  // All rows are gathered first: a row without values has the kind of the others.
  gathered_.clear(name);
  rows_.clear();
  bool all_absent = true;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    const nb::object row = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
    if (!row.is_none()) gathered_.add(row.ptr());
    rows_.push_back({gathered_.size(), row.is_none()});
    all_absent = all_absent && row.is_none();
  }
  if (!all_absent) gathered_.require_kind();
  for (std::size_t i = rows_.size(); i-- > 0;) {
    const std::size_t before = writer_.size();
    if (!rows_[i].absent) write_gathered(i == 0 ? 0 : rows_[i - 1].end, rows_[i].end);
    writer_.close(1, before);
  }
}

std::unique_ptr<Desk> Encoder::take_desk() {
  if (idle_ != nullptr) return std::move(idle_);
  return std::make_unique<Desk>(adapt_, expand_, tensor_type_);
}

void Encoder::give_back(std::unique_ptr<Desk> desk) noexcept {
  desk->forget_values();
  if (desk->capacity() <= kLargestIdleDesk) idle_ = std::move(desk);
}

namespace {

nb::object encode(Encoder& encoder, nb::dict row) { return encoder.example(row, to_bytes); }

nb::object encode_sequence(Encoder& encoder, nb::dict context, nb::dict feature_lists) {
  return encoder.sequence(context, feature_lists, to_bytes);
}

}  // namespace

void bind_encoder(nb::module_& module) {
  nb::class_<Encoder>(module, "Encoder", "Rows in, serialized Examples out.")
      .def(nb::init<nb::object, nb::object, nb::object>(), nb::arg("adapt"), nb::arg("expand"),
           nb::arg("tensor_type"))
      .def("encode", &encode, nb::arg("row"), "The Example of a row.")
      .def("encode_sequence", &encode_sequence, nb::arg("context"), nb::arg("feature_lists"),
           "The SequenceExample of a context and its feature lists.");
}

}  // namespace tfreel::python
