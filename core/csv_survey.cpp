#include "csv_survey.hpp"

#include <algorithm>
#include <utility>

#include "csv_values.hpp"

namespace tfreel {
namespace {

constexpr std::size_t kLongestSample = 64;

}  // namespace

CsvSurvey::CsvSurvey(std::size_t columns, CsvDialect dialect, CsvPlace first,
                     std::ptrdiff_t names_column, std::size_t most_names)
    : dialect_(std::move(dialect)),
      next_(first),
      names_column_(names_column),
      most_names_(most_names),
      columns_(columns) {}

std::size_t CsvSurvey::feed(std::string_view bytes, bool last) {
  CsvReader reader(bytes, last, dialect_, next_, columns_.size());
  while (reader.next()) {
    // Others become no records, and so have no say.
    if (reader.cells_found() == columns_.size()) see(reader.cells(), reader.place().row);
  }
  next_ = reader.next_place();
  return reader.consumed();
}

void CsvSurvey::see(std::span<const CsvCell> cells, std::uint64_t row) {
  for (std::size_t i = 0; i < cells.size(); ++i) see_cell(columns_[i], cells[i], row);
  if (names_column_ < 0 || names_.size() > most_names_) return;
  const CsvCell& name = cells[static_cast<std::size_t>(names_column_)];
  if (!name.missing(dialect_)) names_.emplace(name.text);
}

void CsvSurvey::see_cell(CsvColumnSurvey& column, const CsvCell& cell, std::uint64_t row) {
  if (cell.missing(dialect_)) {
    ++column.empty;
    return;
  }
  if (cell.text.empty()) {
    ++column.quoted_empty;
    return;
  }
  ++column.cells;
  if (column.settled()) return;
  const CellMeaning found = meaning_of(cell.text);
  switch (found.meaning) {
    case Meaning::truth:
      ++column.truths;
      break;
    case Meaning::whole:
      ++column.wholes;
      column.least = std::min(column.least, found.whole);
      column.most = std::max(column.most, found.whole);
      break;
    case Meaning::real:
      ++column.reals;
      break;
    case Meaning::too_long:
      column.too_long_row = row;
      column.text = cell.text.substr(0, kLongestSample);
      break;
    case Meaning::text:
      column.text_row = row;
      column.text = cell.text.substr(0, kLongestSample);
      break;
  }
}

}  // namespace tfreel
