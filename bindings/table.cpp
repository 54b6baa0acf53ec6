#include "table.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"

namespace tfreel::python {
namespace {

// Columns of arrays, held while this lives.
class Table {
 public:
  explicit Table(std::size_t rows) : rows_(rows) {}

  // `values` are int64, float32, or the uint8 of all bytes; `row_offsets` or `count` say what of
  // them belongs to each row.
  void add(std::string key, nb::object values, nb::object value_offsets, nb::object row_offsets,
           std::size_t count, nb::object present) {
    TableColumn column;
    column.key = std::move(key);
    column.count = count;
    if (!value_offsets.is_none()) {
      column.kind = Kind::bytes;
      column.data = std::as_bytes(hold<std::uint8_t>(values));
      column.value_offsets = hold<std::int64_t>(value_offsets);
    } else if (nb::isinstance<Array<float>>(values)) {
      column.kind = Kind::floats;
      column.floats = hold<float>(values);
    } else {
      column.ints = hold<std::int64_t>(values);
    }
    if (!row_offsets.is_none()) {
      column.row_offsets = hold<std::int64_t>(row_offsets);
      if (column.row_offsets.size() != rows_ + 1) throw nb::value_error("not one offset a row");
    }
    if (!present.is_none()) {
      column.present = hold<bool>(present);
      if (column.present.size() != rows_) throw nb::value_error("not one mark a row");
    }
    check_offsets(column);
    const auto after = [](const std::string& name, const TableColumn& other) {
      return name < other.key;
    };
    columns_.insert(std::upper_bound(columns_.begin(), columns_.end(), column.key, after),
                    std::move(column));
  }

  // A block of rows from `begin` on: all, or as many as come at once.
  Block encode(std::size_t begin) const {
    static const auto pool = std::make_shared<BufferPool>();
    const Unlocked unlocked;
    return encode_rows(columns_, begin, rows_, *pool);
  }

  // All rows, in one block. Of the memory reserved for them, what is not needed is never touched.
  // It is of a round size, so that the next table of about this size can have it too.
  Block encode_all() const {
    static const auto pool = std::make_shared<BufferPool>();
    const Unlocked unlocked;
    const std::size_t room = std::bit_ceil(most_encoded_bytes(columns_, rows_));
    return encode_rows(columns_, 0, rows_, *pool, room);
  }

  std::size_t rows() const noexcept { return rows_; }

 private:
  template <typename Scalar>
  std::span<const Scalar> hold(nb::object& object) {
    // This one, and not the object: where that is of another type or not contiguous, it is a copy.
    const auto array = nb::cast<Array<Scalar>>(object);
    holders_.emplace_back(array);
    return span_of(array);
  }

  std::size_t rows_;
  std::vector<TableColumn> columns_;
  std::vector<nb::ndarray<nb::ro>> holders_;
};

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<Table>(module, "Table", "Columns that are to be encoded, row by row.")
      .def(nb::init<std::size_t>(), nb::arg("rows"))
      .def("add", &Table::add, nb::arg("key"), nb::arg("values"), nb::kw_only(),
           nb::arg("value_offsets").none() = nb::none(), nb::arg("row_offsets").none() = nb::none(),
           nb::arg("count") = 1, nb::arg("present").none() = nb::none())
      .def("encode", &Table::encode, nb::arg("begin"),
           "A Block of rows from `begin` on: all of them, or as many as come at once.")
      .def("encode_all", &Table::encode_all, "A Block of all rows.")
      .def("__len__", &Table::rows);
}

}  // namespace tfreel::python
