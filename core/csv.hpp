// Text tables (CSV, TSV) as rows of cells: RFC 4180, with any delimiter and any line ends.
//
// What the RFC leaves open: lines may end with LF, CRLF or CR. Lines without anything in them are
// no rows. A quote counts only at the very beginning of a cell; elsewhere it is a character like
// others, and behind a closing quote nothing but a delimiter or a line end may stand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfreel {

struct CsvDialect {
  char delimiter = ',';
  // Bounds on what one stray quote can swallow.
  std::size_t longest_cell = std::size_t{1} << 24;
  std::size_t longest_row = std::size_t{1} << 26;
  // What stands for nothing, beside nothing.
  std::vector<std::string> missing;
};

// Which row it is, and the line it begins at; both count from 1.
struct CsvPlace {
  std::uint64_t row = 1;
  std::uint64_t line = 1;
};

// Why no more rows can be read: behind this, nobody knows what is inside of quotes and what is not.
struct CsvFault {
  enum class What : std::uint8_t { open_quote, text_after_quote, long_cell, long_row };
  What what;
  std::uint64_t row;
  std::uint64_t line;  // of the quote or the cell
  std::size_t column;  // from 0
};

struct CsvCell {
  std::string_view text;  // without quotes
  bool quoted = false;

  // Whether it says that there is nothing. In quotes a word means itself.
  bool missing(const CsvDialect& dialect) const noexcept {
    return !quoted &&
           (text.empty() || std::ranges::find(dialect.missing, text) != dialect.missing.end());
  }
};

// Reads rows from bytes that begin with one. They need not end with one unless they are the last:
// then the caller comes again with the rest and more.
class CsvReader {
 public:
  // Of a row with more than `most_cells`, only the first ones are kept. The dialect must live as
  // long as this does.
  CsvReader(std::string_view bytes, bool last, const CsvDialect& dialect, CsvPlace first,
            std::size_t most_cells)
      : bytes_(bytes), last_(last), dialect_(dialect), at_row_(first), cells_(most_cells) {}

  // Goes to the next row; false if there is no complete one. Throws CsvFault.
  bool next();

  // Of the current row. The cells lie here until the next one.
  std::span<const CsvCell> cells() const noexcept {
    return std::span(cells_).first(std::min(found_, cells_.size()));
  }
  std::size_t cells_found() const noexcept { return found_; }
  CsvPlace place() const noexcept { return row_; }

  // How many bytes the rows so far take, and where the next one is.
  std::size_t consumed() const noexcept { return consumed_; }
  CsvPlace next_place() const noexcept { return at_row_; }

 private:
  enum class End : std::uint8_t { cell, row, bytes };

  bool skip_blank_lines();
  End take_cell();
  End take_quoted();
  End take_plain();
  End end_of_cell(std::string_view text, bool quoted);
  End take_line_end();
  std::string_view without_doubled(std::string_view text);
  void count_lines(std::string_view text) noexcept;
  void check_lengths(std::size_t cell_begin) const;
  [[noreturn]] void fail(CsvFault::What what, std::uint64_t line) const;

  std::string_view bytes_;
  bool last_;
  const CsvDialect& dialect_;
  CsvPlace at_row_;  // of the row that comes next

  CsvPlace row_;
  std::vector<CsvCell> cells_;  // as many as are kept of a row
  std::size_t found_ = 0;
  std::size_t at_ = 0;  // in bytes_
  std::size_t consumed_ = 0;
  std::uint64_t line_ = 1;
  std::deque<std::string> unescaped_;  // of the current row: cells with quotes in them
};

}  // namespace tfreel
