#include "columns.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>

#include "parallel.hpp"
#include "rows.hpp"

namespace tfreel {
namespace {

// Records are read in stretches of about so many bytes, so that what is noted about them stays
// small (of whole numbers eight bytes, which may have been one) and what is written afterwards is
// still in cache.
constexpr std::size_t kStretchBytes = std::size_t{2} << 20;
constexpr std::size_t kStretchRows = std::size_t{1} << 16;
// Fewer rows than these are read sooner than a thread has started, whatever is in them.
constexpr std::size_t kRowsPerThread = 128;

std::size_t stretch_length(std::span<const Bytes> records) noexcept {
  std::size_t bytes = 0;
  std::size_t rows = 0;
  while (rows < records.size() && rows < kStretchRows && bytes < kStretchBytes) {
    bytes += records[rows++].size();
  }
  return rows;
}

// Goes on with offsets: each is the one before, and how much follows it.
void extend(Buffer<std::int64_t>& offsets, std::span<const std::uint32_t> counts) {
  std::int64_t* next = offsets.room(counts.size());
  std::int64_t end = next[-1];
  for (const std::uint32_t count : counts) *next++ = end += count;
  offsets.resize(offsets.size() + counts.size());
}

// Rows `row` and up.
void set_present(Column& column, std::size_t row, std::span<const std::uint8_t> absent) {
  for (const bool is_absent : absent) {
    if (column.present.size() <= row / 8) column.present.push_back(0);
    if (!is_absent) column.present[row / 8] |= static_cast<std::uint8_t>(1 << row % 8);
    if (is_absent) ++column.absent;
    ++row;
  }
}

// One part of a stretch: the rows that one thread reads.
struct Part {
  RowReader reader;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<ParseFault> fault;
};

class Parser {
 public:
  Parser(std::span<const Bytes> records, std::span<const FeatureSpec> features,
         const ParseOptions& options)
      : records_(records),
        features_(features),
        columns_(features.size()),
        threads_(options.threads) {
    shortest_ = kLongestMessage;
    std::size_t bytes = 0;
    for (const Bytes record : records_) {
      shortest_ = std::min(shortest_, record.size());
      bytes += record.size();
    }
    for (const FeatureSpec& spec : features_) stop_where_too_short(spec);
    for (std::size_t i = 0; i < features_.size(); ++i) prepare(features_[i], columns_[i]);
    const std::size_t most = std::max<std::size_t>(
        1, std::min({threads_, std::min(records_.size(), kStretchRows) / kRowsPerThread,
                     bytes / options.bytes_per_thread}));
    UnitPool& pool = options.pool == nullptr ? own_pool_ : *options.pool;
    parts_.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
      parts_.push_back(
          {.reader = RowReader(features_, columns_, options.sequences, pool), .fault = {}});
    }
  }

  std::variant<std::vector<Column>, ParseFault> run() {
    for (std::size_t begin = 0; begin < records_.size();) {
      const std::size_t end = begin + stretch_length(records_.subspan(begin));
      if (auto fault = read_stretch(begin, end)) return *fault;
      begin = end;
    }
    for (std::size_t i = 0; i < features_.size(); ++i) finish(columns_[i]);
    return std::move(columns_);
  }

 private:
  // How many records in front are long enough for the values that they must have. The memory for a
  // shape is asked for before it is known whether any record fills it: this keeps it in proportion.
  std::size_t count_long_enough(const FeatureSpec& spec) const {
    if (!spec.required) return records_.size();
    const std::size_t least = spec.kind == Kind::floats ? sizeof(float) : 1;
    if (shortest_ / least >= spec.count) return records_.size();
    const auto first = std::find_if(records_.begin(), records_.end(), [&](Bytes record) {
      return record.size() / least < spec.count;
    });
    return static_cast<std::size_t>(first - records_.begin());
  }

  // Nothing behind a record that is too short needs to be read: that one is a fault.
  void stop_where_too_short(const FeatureSpec& spec) {
    if (!RowReader::writes_at_once(spec)) return;
    records_ = records_.first(std::min(records_.size(), count_long_enough(spec) + 1));
  }

  void prepare(const FeatureSpec& spec, Column& column) {
    column.kind = spec.kind;
    column.rows = records_.size();
    if (RowReader::writes_at_once(spec)) {
      const std::size_t rows = count_long_enough(spec);
      constexpr auto kMost = std::numeric_limits<std::size_t>::max();
      if (spec.count != 0 && rows > kMost / spec.count) throw std::bad_alloc();
      if (spec.kind == Kind::ints) column.ints.resize(rows * spec.count);
      if (spec.kind == Kind::floats) column.floats.resize(rows * spec.count);
      return;
    }
    if (!spec.fixed) column.unit_offsets.push_back(0);
    if (spec.in_lists) column.step_offsets.push_back(0);
  }

  // Rows [begin, end): all threads read, one gives everything its place, all threads write.
  std::optional<ParseFault> read_stretch(std::size_t begin, std::size_t end) {
    used_ = std::max<std::size_t>(1, std::min(parts_.size(), (end - begin) / kRowsPerThread));
    in_parallel(used_, 1, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        Part& part = parts_[i];
        part.begin = begin + (end - begin) * i / used_;
        part.end = begin + (end - begin) * (i + 1) / used_;
        part.fault = part.reader.read(rows_of(part), part.begin);
      }
    });
    if (auto fault = first_fault()) return fault;
    if (std::ranges::all_of(features_, RowReader::writes_at_once)) return {};
    for (std::size_t i = 0; i < features_.size(); ++i) place(i);
    in_parallel(used_, 1, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        parts_[i].fault = parts_[i].reader.write(rows_of(parts_[i]), parts_[i].begin);
      }
    });
    return first_fault();
  }

  std::span<const Bytes> rows_of(const Part& part) const {
    return records_.subspan(part.begin, part.end - part.begin);
  }

  // Of the first bad row: parts follow each other, and each stops at its first.
  std::optional<ParseFault> first_fault() const {
    for (std::size_t i = 0; i < used_; ++i) {
      if (parts_[i].fault) return parts_[i].fault;
    }
    return {};
  }

  // Gives the units of one feature their places, and grows its column to hold them.
  void place(std::size_t feature) {
    const FeatureSpec& spec = features_[feature];
    if (RowReader::writes_at_once(spec)) return;
    Column& column = columns_[feature];
    for (std::size_t i = 0; i < used_; ++i) {
      Units& noted = parts_[i].reader.units()[feature];
      if (spec.kind == Kind::bytes) place_strings(spec, column, noted);
      if (spec.kind != Kind::bytes) place_numbers(spec, column, noted);
      if (spec.in_lists) extend(column.step_offsets, noted.steps);
      set_present(column, parts_[i].begin, noted.absent);
    }
  }

  static void place_numbers(const FeatureSpec& spec, Column& column, Units& noted) {
    noted.first = spec.kind == Kind::ints ? column.ints.size() : column.floats.size();
    column.ints.resize(column.ints.size() + noted.numbers.ints().size());
    column.floats.resize(column.floats.size() + noted.numbers.floats().size());
    if (!spec.fixed) extend(column.unit_offsets, noted.numbers.counts());
  }

  static void place_strings(const FeatureSpec& spec, Column& column, Units& noted) {
    std::size_t values = column.value_offsets.size() == 0 ? 0 : column.value_offsets.size() - 1;
    std::size_t bytes = column.data.size();
    for (Unit& unit : noted.strings) {
      unit.first = values;
      unit.first_byte = bytes;
      values += unit.count;
      bytes += unit.payload;
      if (!spec.fixed) column.unit_offsets.push_back(static_cast<std::int64_t>(values));
    }
    column.data.resize(bytes);
    column.value_offsets.resize(values + 1);
    column.value_offsets[values] = static_cast<std::int64_t>(bytes);
  }

  static void finish(Column& column) {
    if (column.kind == Kind::bytes && column.value_offsets.size() == 0) {
      column.value_offsets.push_back(0);
    }
    column.ints.shrink();
    column.floats.shrink();
    column.data.shrink();
    column.value_offsets.shrink();
    column.unit_offsets.shrink();
    column.step_offsets.shrink();
  }

  std::span<const Bytes> records_;
  std::span<const FeatureSpec> features_;
  std::vector<Column> columns_;
  std::size_t threads_;
  std::size_t shortest_ = 0;  // of the records, in bytes
  UnitPool own_pool_;
  std::vector<Part> parts_;
  std::size_t used_ = 0;  // parts of this stretch
};

}  // namespace

std::variant<std::vector<Column>, ParseFault> parse(std::span<const Bytes> records,
                                                    std::span<const FeatureSpec> features,
                                                    const ParseOptions& options) {
  return Parser(records, features, options).run();
}

}  // namespace tfreel
