// The first look at a text table: what is in its columns, so that each can be of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "csv.hpp"

namespace tfreel {

// What was seen in one column. Rows count from 1; 0 is none.
struct CsvColumnSurvey {
  std::uint64_t cells = 0;         // with something in them
  std::uint64_t empty = 0;         // without anything, not even quotes
  std::uint64_t quoted_empty = 0;  // only quotes
  std::uint64_t truths = 0;
  std::uint64_t wholes = 0;
  std::uint64_t reals = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();  // of whole numbers
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  std::uint64_t too_long_row = 0;  // the first with a whole number outside of int64
  std::uint64_t text_row = 0;      // the first with something that is no number and no truth
  std::string text;                // which is this, or the beginning of it

  bool settled() const noexcept { return text_row != 0 || too_long_row != 0; }
};

class CsvSurvey {
 public:
  // The different values of `names_column` are kept, up to `most_names`; -1 for no column.
  CsvSurvey(std::size_t columns, CsvDialect dialect, CsvPlace first, std::ptrdiff_t names_column,
            std::size_t most_names);

  // Looks at the complete rows in some bytes, which begin with one, and returns how many bytes they
  // take. Throws CsvFault.
  std::size_t feed(std::string_view bytes, bool last);

  const std::vector<CsvColumnSurvey>& columns() const noexcept { return columns_; }
  const std::unordered_set<std::string>& names() const noexcept { return names_; }
  bool too_many_names() const noexcept { return names_.size() > most_names_; }
  // Where the next row is.
  CsvPlace next_place() const noexcept { return next_; }

 private:
  void see(std::span<const CsvCell> cells, std::uint64_t row);
  void see_cell(CsvColumnSurvey& column, const CsvCell& cell, std::uint64_t row);

  CsvDialect dialect_;
  CsvPlace next_;
  std::ptrdiff_t names_column_;
  std::size_t most_names_;
  std::vector<CsvColumnSurvey> columns_;
  std::unordered_set<std::string> names_;
};

}  // namespace tfreel
