#include "csv.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "csv_columns.hpp"
#include "csv_survey.hpp"

namespace tfreel::python {
namespace {

std::string_view text_of(const BytesView& view) {
  return {reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()};
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

const char* word_of(CsvFault::What what) noexcept {
  constexpr const char* kWords[] = {"open_quote", "text_after_quote", "long_cell", "long_row"};
  return kWords[static_cast<std::size_t>(what)];
}

const char* word_of(CsvReject::What what) noexcept {
  constexpr const char* kWords[] = {"cells", "no_number", "too_large", "not_utf8", "nul"};
  return kWords[static_cast<std::size_t>(what)];
}

CsvKind kind_named(const std::string& name) {
  constexpr const char* kNames[] = {"", "int", "bool", "float", "text"};
  for (std::uint8_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<CsvKind>(i);
  }
  throw nb::value_error("kind must be '', 'int', 'bool', 'float' or 'text'");
}

void make_dialect(CsvDialect* self, const std::string& delimiter, std::vector<std::string> missing,
                  std::size_t longest_cell, std::size_t longest_row) {
  if (delimiter.size() != 1) throw nb::value_error("a delimiter is one byte");
  new (self) CsvDialect{delimiter[0], longest_cell, longest_row, std::move(missing)};
}

// What `work` gives, made without the GIL; or the fault that it met.
template <typename Work, typename Wrap>
nb::object or_fault(Work&& work, Wrap&& wrap) {
  using Result = decltype(work());
  std::optional<Result> result;
  std::optional<CsvFault> fault;
  {
    const Unlocked unlocked;
    try {
      result.emplace(work());
    } catch (const CsvFault& met) {
      fault = met;
    }
  }
  return fault ? nb::cast(*fault) : wrap(*result);
}

struct FirstRow {
  bool found;
  std::vector<std::string> cells;
  std::size_t consumed;
  std::uint64_t next_line;
};

nb::object first_row(nb::handle data, const CsvDialect& dialect, bool last,
                     std::size_t most_cells) {
  const BytesView view(data);
  const auto read = [&] {
    CsvReader reader(text_of(view), last, dialect, {}, most_cells);
    FirstRow row{reader.next(), {}, reader.consumed(), reader.next_place().line};
    for (const CsvCell& cell : reader.cells()) row.cells.emplace_back(cell.text);
    return row;
  };
  return or_fault(read, [](const FirstRow& row) -> nb::object {
    if (!row.found) return nb::none();
    nb::list cells;
    for (const std::string& cell : row.cells) cells.append(to_bytes(cell));
    return nb::make_tuple(cells, row.consumed, row.next_line);
  });
}

void make_survey(CsvSurvey* self, std::size_t columns, const CsvDialect& dialect,
                 std::uint64_t line, std::ptrdiff_t names_column, std::size_t most_names) {
  new (self) CsvSurvey(columns, dialect, {1, line}, names_column, most_names);
}

nb::object feed(CsvSurvey& survey, nb::handle data, bool last) {
  const BytesView view(data);
  return or_fault([&] { return survey.feed(text_of(view), last); },
                  [](std::size_t consumed) -> nb::object { return nb::int_(consumed); });
}

nb::list names_of(const CsvSurvey& survey) {
  nb::list names;
  for (const std::string& name : survey.names()) names.append(to_bytes(name));
  return names;
}

nb::object to_tuple(CsvColumn& column, CsvKind kind) {
  if (kind == CsvKind::left_out) return nb::none();
  nb::object values = kind == CsvKind::text   ? to_array(column.text)
                      : kind == CsvKind::real ? to_array(column.reals)
                                              : to_array(column.wholes);
  return nb::make_tuple(values, kind == CsvKind::text ? to_array(column.text_offsets) : nb::none(),
                        column.absent != 0 ? to_array(column.present) : nb::none());
}

nb::object read(nb::handle data, const std::vector<std::string>& kinds, const CsvDialect& dialect,
                std::uint64_t row, std::uint64_t line) {
  const BytesView view(data);
  std::vector<CsvKind> known;
  for (const std::string& name : kinds) known.push_back(kind_named(name));
  const auto work = [&] { return read_csv(text_of(view), known, dialect, {row, line}); };
  return or_fault(work, [&](CsvTable& table) -> nb::object {
    nb::list columns;
    for (std::size_t i = 0; i < known.size(); ++i) {
      columns.append(to_tuple(table.columns[i], known[i]));
    }
    nb::list rejects;
    for (CsvReject& reject : table.rejects) rejects.append(nb::cast(std::move(reject)));
    return nb::make_tuple(columns, to_array(table.row_numbers), rejects, table.next.row);
  });
}

}  // namespace

void bind_csv(nb::module_& module) {
  nb::class_<CsvDialect>(module, "CsvDialect", "How a text table is written, and its bounds.")
      .def("__init__", &make_dialect, nb::arg("delimiter"), nb::arg("missing"), nb::kw_only(),
           nb::arg("longest_cell"), nb::arg("longest_row"));

  nb::class_<CsvFault>(module, "CsvFault", "Why no more rows can be read.")
      .def_prop_ro("kind", [](const CsvFault& fault) { return word_of(fault.what); })
      .def_ro("row", &CsvFault::row)
      .def_ro("line", &CsvFault::line)
      .def_ro("column", &CsvFault::column);

  nb::class_<CsvReject>(module, "CsvReject", "A row that did not become one.")
      .def_prop_ro("kind", [](const CsvReject& reject) { return word_of(reject.what); })
      .def_prop_ro("row", [](const CsvReject& reject) { return reject.place.row; })
      .def_prop_ro("line", [](const CsvReject& reject) { return reject.place.line; })
      .def_ro("column", &CsvReject::column)
      .def_ro("found", &CsvReject::found)
      .def_prop_ro("text", [](const CsvReject& reject) { return to_bytes(reject.text); });

  nb::class_<CsvColumnSurvey>(module, "CsvColumnSurvey", "What was seen in one column.")
      .def_ro("cells", &CsvColumnSurvey::cells)
      .def_ro("empty", &CsvColumnSurvey::empty)
      .def_ro("quoted_empty", &CsvColumnSurvey::quoted_empty)
      .def_ro("truths", &CsvColumnSurvey::truths)
      .def_ro("wholes", &CsvColumnSurvey::wholes)
      .def_ro("reals", &CsvColumnSurvey::reals)
      .def_ro("least", &CsvColumnSurvey::least)
      .def_ro("most", &CsvColumnSurvey::most)
      .def_ro("too_long_row", &CsvColumnSurvey::too_long_row)
      .def_ro("text_row", &CsvColumnSurvey::text_row)
      .def_prop_ro("text", [](const CsvColumnSurvey& column) { return to_bytes(column.text); });

  nb::class_<CsvSurvey>(module, "CsvSurvey", "The first look at a text table, piece by piece.")
      .def("__init__", &make_survey, nb::arg("columns"), nb::arg("dialect"), nb::kw_only(),
           nb::arg("line"), nb::arg("names_column"), nb::arg("most_names"))
      .def("feed", &feed, nb::arg("data"), nb::arg("last"))
      .def_prop_ro("columns", &CsvSurvey::columns)
      .def_prop_ro("names", &names_of)
      .def_prop_ro("too_many_names", &CsvSurvey::too_many_names)
      .def_prop_ro("next_row", [](const CsvSurvey& survey) { return survey.next_place().row; })
      .def_prop_ro("next_line", [](const CsvSurvey& survey) { return survey.next_place().line; });

  module.def("first_csv_row", &first_row, nb::arg("data"), nb::arg("dialect"), nb::kw_only(),
             nb::arg("last"), nb::arg("most_cells"));
  module.def("read_csv", &read, nb::arg("data"), nb::arg("kinds"), nb::arg("dialect"),
             nb::kw_only(), nb::arg("row"), nb::arg("line"));
}

}  // namespace tfreel::python
