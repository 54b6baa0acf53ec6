// Text tables in, columns out: the second look, when the kind of each column is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "csv.hpp"

namespace tfreel {

enum class CsvKind : std::uint8_t { left_out, whole, truth, real, text };

// The values of one column, those of all rows that have one; and if some have none, which do.
struct CsvColumn {
  Buffer<std::int64_t> wholes;
  Buffer<float> reals;
  Buffer<std::uint8_t> text;
  Buffer<std::int64_t> text_offsets;
  Buffer<std::uint8_t> present;  // for each row
  std::size_t absent = 0;
};

// A row that did not become one, and why.
struct CsvReject {
  enum class What : std::uint8_t {
    cells,      // another number of them: `found`
    no_number,  // a cell that is not what its column holds
    too_large,  // a number that does not fit float32
    not_utf8,
    nul,
  };
  What what;
  CsvPlace place;
  std::size_t column = 0;
  std::size_t found = 0;
  std::string text;  // of the cell, or the beginning of it
};

struct CsvTable {
  std::size_t rows = 0;
  std::vector<CsvColumn> columns;  // one for each kind, also for those left out
  std::vector<CsvReject> rejects;
  Buffer<std::int64_t> row_numbers;  // of the rows
  CsvPlace next;
};

// Reads all rows of some bytes, which are whole rows. Throws CsvFault.
CsvTable read_csv(std::string_view bytes, const std::vector<CsvKind>& kinds,
                  const CsvDialect& dialect, CsvPlace first);

}  // namespace tfreel
