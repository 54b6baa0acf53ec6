#include "csv_columns.hpp"

#include <cstring>
#include <optional>

#include "csv_values.hpp"
#include "utf8.hpp"

namespace tfreel {
namespace {

using What = CsvReject::What;

constexpr std::size_t kLongestSample = 64;

class TableReader {
 public:
  TableReader(const std::vector<CsvKind>& kinds, const CsvDialect& dialect)
      : kinds_(kinds), dialect_(dialect) {
    table_.columns.resize(kinds.size());
    for (CsvColumn& column : table_.columns) column.text_offsets.push_back(0);
  }

  void add(const CsvReader& row) {
    if (row.cells_found() != kinds_.size()) {
      table_.rejects.push_back({What::cells, row.place(), 0, row.cells_found(), {}});
      return;
    }
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (const auto wrong = add_cell(i, row.cells()[i])) {
        const std::string_view text = row.cells()[i].text.substr(0, kLongestSample);
        table_.rejects.push_back({*wrong, row.place(), i, 0, std::string(text)});
        drop_row(i);
        return;
      }
    }
    table_.row_numbers.push_back(static_cast<std::int64_t>(row.place().row));
    ++table_.rows;
  }

  CsvTable finish(CsvPlace next) && {
    table_.next = next;
    return std::move(table_);
  }

 private:
  // What is wrong with the cell; then nothing is added.
  std::optional<What> add_cell(std::size_t i, const CsvCell& cell) {
    if (kinds_[i] == CsvKind::left_out) return std::nullopt;
    CsvColumn& column = table_.columns[i];
    const bool nothing =
        cell.missing(dialect_) || (cell.text.empty() && kinds_[i] != CsvKind::text);
    if (!nothing) {
      if (const auto wrong = add_value(column, kinds_[i], cell.text)) return wrong;
    }
    column.present.push_back(nothing ? 0 : 1);
    column.absent += nothing ? 1 : 0;
    return std::nullopt;
  }

  static std::optional<What> add_value(CsvColumn& column, CsvKind kind, std::string_view text) {
    if (kind == CsvKind::text) return add_text(column, text);
    if (kind == CsvKind::real) {
      const auto real = to_real(text);
      if (!real) return What::no_number;
      if (!real->fits) return What::too_large;
      column.reals.push_back(real->value);
      return std::nullopt;
    }
    const auto whole = kind == CsvKind::whole ? to_whole(text) : to_truth(text);
    if (!whole) return What::no_number;
    column.wholes.push_back(*whole);
    return std::nullopt;
  }

  static std::optional<What> add_text(CsvColumn& column, std::string_view text) {
    if (valid_utf8(text) != text.size()) return What::not_utf8;
    if (!text.empty() && std::memchr(text.data(), 0, text.size()) != nullptr) return What::nul;
    std::memcpy(column.text.room(text.size() + 1), text.data(), text.size());
    column.text.resize(column.text.size() + text.size());
    column.text_offsets.push_back(static_cast<std::int64_t>(column.text.size()));
    return std::nullopt;
  }

  // Takes back what the current row has in the columns before this one.
  void drop_row(std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) {
      if (kinds_[i] == CsvKind::left_out) continue;
      CsvColumn& column = table_.columns[i];
      const bool had = column.present[table_.rows] != 0;
      column.present.resize(table_.rows);
      if (had) {
        drop_value(column, kinds_[i]);
      } else {
        --column.absent;
      }
    }
  }

  static void drop_value(CsvColumn& column, CsvKind kind) {
    if (kind == CsvKind::real) {
      column.reals.resize(column.reals.size() - 1);
    } else if (kind == CsvKind::text) {
      column.text_offsets.resize(column.text_offsets.size() - 1);
      column.text.resize(
          static_cast<std::size_t>(column.text_offsets[column.text_offsets.size() - 1]));
    } else {
      column.wholes.resize(column.wholes.size() - 1);
    }
  }

  const std::vector<CsvKind>& kinds_;
  const CsvDialect& dialect_;
  CsvTable table_;
};

}  // namespace

CsvTable read_csv(std::string_view bytes, const std::vector<CsvKind>& kinds,
                  const CsvDialect& dialect, CsvPlace first) {
  CsvReader reader(bytes, true, dialect, first, kinds.size());
  TableReader table(kinds, dialect);
  while (reader.next()) table.add(reader);
  return std::move(table).finish(reader.next_place());
}

}  // namespace tfreel
