// Any bytes, read as a text table: whole and in two pieces, with the same rows and the same faults.
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "csv_columns.hpp"
#include "csv_survey.hpp"

namespace {

using namespace tfreel;

constexpr std::size_t kColumns = 3;

struct Outcome {
  CsvPlace next;
  std::size_t used = 0;
  std::optional<CsvFault> fault;
};

// Looks at the bytes up to `cut` first, and then at all the rest.
Outcome survey(std::string_view bytes, std::size_t cut, const CsvDialect& dialect) {
  CsvSurvey survey(kColumns, dialect, {}, 1, 4);
  Outcome outcome;
  try {
    outcome.used = survey.feed(bytes.substr(0, cut), false);
    if (outcome.used > cut) std::abort();
    outcome.used += survey.feed(bytes.substr(outcome.used), true);
  } catch (const CsvFault& fault) {
    outcome.fault = fault;
  }
  outcome.next = survey.next_place();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CsvDialect dialect;
  dialect.missing = {"NA"};
  const Outcome whole = survey(bytes, 0, dialect);
  const Outcome pieces = survey(bytes, size / 2, dialect);
  if (whole.fault.has_value() != pieces.fault.has_value()) std::abort();
  if (whole.fault) {
    if (whole.fault->line != pieces.fault->line || whole.fault->row != pieces.fault->row) {
      std::abort();
    }
    return 0;
  }
  if (whole.next.row != pieces.next.row || whole.next.line != pieces.next.line) std::abort();
  if (whole.used != size || pieces.used != size) std::abort();
  const std::vector<CsvKind> kinds = {CsvKind::whole, CsvKind::real, CsvKind::text};
  const CsvTable table = read_csv(bytes, kinds, dialect, {});
  if (table.rows + table.rejects.size() != table.next.row - 1) std::abort();
  return 0;
}
