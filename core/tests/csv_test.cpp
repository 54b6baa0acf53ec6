#include "csv.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "csv_columns.hpp"
#include "csv_survey.hpp"

namespace tfreel {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// In memory of exactly this size, so that the sanitizer sees a read beyond it.
std::vector<char> exactly(std::string_view text) { return {text.begin(), text.end()}; }

std::string_view view(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

Rows rows_of(std::string_view text, const CsvDialect& dialect = {}) {
  const auto bytes = exactly(text);
  CsvReader reader(view(bytes), true, dialect, {}, 100);
  Rows rows;
  while (reader.next()) {
    auto& row = rows.emplace_back();
    for (const CsvCell& cell : reader.cells()) row.emplace_back(cell.text);
  }
  return rows;
}

// The same with the text cut at one place, as if it came in two pieces.
Rows rows_cut_at(std::string_view text, std::size_t cut) {
  const CsvDialect dialect;
  Rows rows;
  CsvPlace place;
  std::size_t begin = 0;
  for (const std::size_t end : {cut, text.size()}) {
    const auto bytes = exactly(text.substr(begin, end - begin));
    CsvReader reader(view(bytes), end == text.size(), dialect, place, 100);
    while (reader.next()) {
      auto& row = rows.emplace_back();
      for (const CsvCell& cell : reader.cells()) row.emplace_back(cell.text);
      row.push_back("@" + std::to_string(reader.place().row) + ":" +
                    std::to_string(reader.place().line));
    }
    begin += reader.consumed();
    place = reader.next_place();
    if (end == text.size()) break;
  }
  return rows;
}

std::optional<CsvFault> fault_of(std::string_view text, const CsvDialect& dialect = {}) {
  const auto bytes = exactly(text);
  CsvReader reader(view(bytes), true, dialect, {}, 100);
  try {
    while (reader.next()) {
    }
  } catch (const CsvFault& fault) {
    return fault;
  }
  return std::nullopt;
}

TEST(cells_end_at_delimiters_and_lines_of_any_kind) {
  const Rows expected = {{"a", "b"}, {"1", ""}, {"", "2"}};
  CHECK(rows_of("a,b\n1,\n,2\n") == expected);
  CHECK(rows_of("a,b\r\n1,\r\n,2") == expected);
  CHECK(rows_of("a,b\r1,\r,2\r") == expected);
  CHECK(rows_of("\n\na,b\r\n\r\n1,\n\r,2\n\n") == expected);
  CsvDialect tabs;
  tabs.delimiter = '\t';
  CHECK(rows_of("a\tb\n1\t\n\t2", tabs) == expected);
  CHECK(rows_of("").empty());
  CHECK(rows_of("\n\r\n").empty());
}

TEST(quotes_hold_delimiters_line_ends_and_doubled_quotes) {
  CHECK(rows_of("\"a,b\",\"c\nd\"\n\"\"\"\",\"x\"\"y\"\"\"\n\"\",e\"f\n") ==
        (Rows{{"a,b", "c\nd"}, {"\"", "x\"y\""}, {"", "e\"f"}}));
}

TEST(a_cut_anywhere_changes_nothing) {
  const std::string_view text = "id,\"na\"\"me\"\r\n1,\"two\r\nlines\"\r\n\r\n3,\"\"\r4,x";
  const Rows whole = rows_cut_at(text, text.size());
  CHECK_EQ(whole.size(), 4u);
  CHECK_EQ(whole[3][2], "@4:6");
  for (std::size_t cut = 0; cut < text.size(); ++cut) CHECK(rows_cut_at(text, cut) == whole);
}

TEST(a_quote_that_never_closes_is_named_by_its_line) {
  const auto fault = fault_of("a,b\n1,2\n3,\"4\n5,6\n");
  CHECK(fault.has_value());
  CHECK(fault->what == CsvFault::What::open_quote);
  CHECK_EQ(fault->row, 3u);
  CHECK_EQ(fault->line, 3u);
  CHECK_EQ(fault->column, 1u);
}

TEST(an_open_quote_is_given_up_before_the_end_of_the_file) {
  CsvDialect dialect;
  dialect.longest_cell = 10;
  const auto bytes = exactly("a,\"" + std::string(11, 'x'));
  CsvReader reader(view(bytes), false, dialect, {}, 100);
  bool refused = false;
  try {
    reader.next();
  } catch (const CsvFault& fault) {
    refused = fault.what == CsvFault::What::open_quote;
  }
  CHECK(refused);
}

TEST(cells_and_rows_have_a_longest_one) {
  CsvDialect dialect;
  dialect.longest_cell = 10;
  dialect.longest_row = 25;
  CHECK(fault_of("0123456789,\"0123456789\"\n", dialect) == std::nullopt);
  CHECK(fault_of("01234567890\n", dialect)->what == CsvFault::What::long_cell);
  CHECK(fault_of("\"01234567890\"\n", dialect)->what == CsvFault::What::long_cell);
  CHECK(fault_of("x\n" + std::string(26, ','), dialect)->what == CsvFault::What::long_row);
}

TEST(text_behind_a_closing_quote_is_a_fault) {
  const auto fault = fault_of("a\n\"b\nc\" d\n");
  CHECK(fault.has_value());
  CHECK(fault->what == CsvFault::What::text_after_quote);
  CHECK_EQ(fault->row, 2u);
  CHECK_EQ(fault->line, 3u);
  CHECK_EQ(fault->column, 0u);
}

TEST(more_cells_than_asked_for_are_counted_and_not_kept) {
  const CsvDialect dialect;
  CsvReader reader("a,b,c,d\n", true, dialect, {}, 2);
  CHECK(reader.next());
  CHECK_EQ(reader.cells().size(), 2u);
  CHECK_EQ(reader.cells_found(), 4u);
}

TEST(a_survey_counts_what_is_in_a_column) {
  CsvDialect dialect;
  dialect.missing = {"NA"};
  CsvSurvey survey(4, dialect, {1, 2}, 3, 2);
  const std::string_view text = "1,0.5,true,x\nNA,2,\"\",y\n-3,inf,False,\nonly\n,,007,y\n12";
  const std::size_t used = survey.feed(text, false);
  CHECK_EQ(used, text.size() - 2);
  CHECK_EQ(survey.next_place().row, 6u);
  CHECK_EQ(survey.next_place().line, 7u);
  const auto& columns = survey.columns();
  CHECK_EQ(columns[0].wholes, 2u);
  CHECK_EQ(columns[0].empty, 2u);
  CHECK_EQ(columns[0].least, -3);
  CHECK_EQ(columns[0].most, 1);
  CHECK_EQ(columns[1].reals, 2u);
  CHECK_EQ(columns[1].wholes, 1u);
  CHECK_EQ(columns[2].truths, 2u);
  CHECK_EQ(columns[2].quoted_empty, 1u);
  CHECK_EQ(columns[2].text_row, 5u);
  CHECK_EQ(columns[2].text, "007");
  CHECK_EQ(survey.names().size(), 2u);
  CHECK(!survey.too_many_names());
}

TEST(columns_hold_the_values_of_good_rows_and_the_others_are_told) {
  const CsvDialect dialect;
  const std::vector<CsvKind> kinds = {CsvKind::whole, CsvKind::real, CsvKind::text};
  const std::string_view text = "1,0.5,a\n2,x,b\n3,1e99,c\n4,,\n5,5\n6,6,\xff\n,7,\"\"\n8,8,z\n";
  CsvTable table = read_csv(text, kinds, dialect, {1, 2});
  CHECK_EQ(table.rows, 4u);
  CHECK_EQ(table.next.row, 9u);
  CHECK_EQ(table.rejects.size(), 4u);
  CHECK(table.rejects[0].what == CsvReject::What::no_number);
  CHECK_EQ(table.rejects[0].place.line, 3u);
  CHECK_EQ(table.rejects[0].column, 1u);
  CHECK(table.rejects[1].what == CsvReject::What::too_large);
  CHECK(table.rejects[2].what == CsvReject::What::cells);
  CHECK_EQ(table.rejects[2].found, 2u);
  CHECK(table.rejects[3].what == CsvReject::What::not_utf8);
  const CsvColumn& ids = table.columns[0];
  CHECK_EQ(ids.wholes.size(), 3u);
  CHECK_EQ(ids.wholes[2], 8);
  CHECK_EQ(ids.absent, 1u);
  CHECK_EQ(table.columns[1].reals.size(), 3u);
  CHECK_EQ(table.columns[2].text_offsets.size(), 4u);
  CHECK_EQ(table.columns[2].text.size(), 2u);
  CHECK_EQ(table.columns[2].present[1], 0);
  CHECK_EQ(table.columns[2].present[2], 1);
}

}  // namespace
}  // namespace tfreel
