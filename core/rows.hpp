// One record after the other, taken apart for its columns. Numbers of a known number are written
// to their column at once, other numbers one behind the other; of bytes it is noted where they lie
// and how much they are. When all of a stretch of records is known, the columns can grow to their
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "columns.hpp"
#include "example.hpp"
#include "map_reader.hpp"
#include "numbers.hpp"

namespace tfreel {

// The values of one feature of bytes in one row, or in one step of a feature list.
struct Unit {
  // A run of values; or, where they are not in one piece, the feature or even the entry around it.
  enum class Form : std::uint8_t { run, feature, entry };
  Bytes bytes;
  Form form = Form::run;
  bool absent = false;
  std::uint32_t row = 0;       // among the records of the stretch
  std::uint32_t count = 0;     // of values
  std::uint32_t payload = 0;   // their bytes in all
  std::size_t first = 0;       // where its values begin in the column
  std::size_t first_byte = 0;  // and their bytes
};

// What a stretch of records holds of one feature.
struct Units {
  // One a row; of feature lists, one a step.
  std::vector<Unit> strings;  // of bytes
  Numbers numbers;            // of numbers
  std::size_t first = 0;      // of numbers: where they begin in the column

  std::vector<std::uint32_t> steps;  // of feature lists: the number in each row
  std::vector<std::uint8_t> absent;  // whether each row has none at all

  void clear() noexcept;
  std::size_t memory() const noexcept;
};

// Memory for units that is reused: whoever parses batch after batch would otherwise ask the system
// for the same pages again and again. Threads may share one.
class UnitPool {
 public:
  UnitPool() { idle_.reserve(kMostIdle); }
  // Units for each of so many features.
  std::vector<Units> take(std::size_t features);
  void give_back(std::vector<Units> units) noexcept;

 private:
  static constexpr std::size_t kMostIdle = 16;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // what is larger is not kept
  std::mutex mutex_;
  std::vector<std::vector<Units>> idle_;
};

// Reads records on behalf of one thread.
class RowReader {
 public:
  RowReader(std::span<const FeatureSpec> features, std::span<Column> columns, bool sequences,
            UnitPool& pool);
  ~RowReader();
  RowReader(RowReader&&) = default;

  // Reads `records`, which are rows `first_row` and up. Nothing is kept from the stretch before.
  std::optional<ParseFault> read(std::span<const Bytes> records, std::size_t first_row);

  // What MapReader finds in a record, value by value.
  void take_value(std::size_t feature, Bytes value);
  // The same where nobody knows which feature comes next.
  void take_any(std::size_t feature, Bytes value);
  void take_entry(std::size_t feature, const MapEntry& entry) { read_feature(feature, entry); }

  // What was noted, for each feature.
  std::span<Units> units() noexcept { return units_; }
  // Writes the values of what was noted. The columns have grown, and all units know their place.
  std::optional<ParseFault> write(std::span<const Bytes> records, std::size_t first_row);

  static bool writes_at_once(const FeatureSpec& feature) noexcept {
    return feature.fixed && !feature.in_lists && feature.kind != Kind::bytes;
  }

 private:
  enum class Status : std::uint8_t { good, absent, wrong_kind, wrong_count };

  // What is known of a feature in the row that is being read.
  struct State {
    std::size_t row = kNobody;
    Status status = Status::absent;
    Kind found_kind = Kind::none;
    std::size_t found_count = 0;
    std::size_t step = 0;
  };

  // How the values of a feature get into its column. Single numbers, the most common case, and
  // floats of a known number have short ways of their own.
  enum class Way : std::uint8_t { single_int, single_float, floats, numbers, unit, steps };
  static Way way_of(const FeatureSpec& feature) noexcept;

  // Where the single numbers of a feature go, and what tells ints and floats apart: in numbers, so
  // that no branch has to ask.
  struct Single {
    std::byte* column = nullptr;
    Kind kind = Kind::none;
    std::size_t shortest = kNobody;  // bytes that a number takes at least in a record
    std::uint32_t as_is = 0;         // the bits that are the number's own, and no part of a varint
    std::size_t high = 0;            // where in the column its upper half is, if it has one
    std::byte* place(std::size_t row) const noexcept {
      return column + row * (sizeof as_is + high);
    }
  };
  static Single single_of(Way way, Column& column) noexcept;

  static MapReader map_of(std::span<const FeatureSpec> features, bool in_lists);
  bool read_known(std::size_t feature, Bytes value);
  bool read_single(std::size_t feature, Bytes value);
  void found_good(State& state) noexcept;
  void read_feature(std::size_t feature, const MapEntry& entry);
  Status read_numbers(const FeatureSpec& spec, Column& column, const MapEntry& entry, State& state);
  Status read_row(const FeatureSpec& spec, Units& units, const MapEntry& entry, State& state);
  Status read_steps(const FeatureSpec& spec, Units& units, const MapEntry& entry, State& state);
  Status add_unit(const FeatureSpec& spec, Units& units, Bytes feature, bool merged, State& state);
  Status add_numbers(const FeatureSpec& spec, Numbers& numbers, Bytes feature, bool merged,
                     State& state);
  Status locate(const FeatureSpec& spec, Bytes feature, bool merged, Unit& unit, State& state);
  void drop_row(const FeatureSpec& spec, Units& units);
  static Status check(const FeatureSpec& spec, Kind kind, std::size_t count, State& state);
  bool finish_row(ParseFault& fault);
  void fill_absent(std::size_t feature);
  void fill_absent_unit(const FeatureSpec& spec, Units& units);
  void write_unit(const FeatureSpec& spec, Column& column, const Unit& unit);
  const Values& gather(Bytes bytes, bool is_entry);

  std::span<const FeatureSpec> features_;
  std::span<Column> columns_;
  bool sequences_;
  MapReader context_;
  MapReader lists_;
  std::vector<Way> ways_;
  std::vector<Single> singles_;    // for those that take the way of single numbers
  std::vector<FloatsHead> heads_;  // for those that take the way of floats
  std::vector<State> states_;
  std::vector<Units> units_;
  UnitPool* pool_;
  Values values_;
  const std::byte* readable_ = nullptr;  // the end of this record: nothing behind it may be read
  std::size_t row_ = 0;                  // of the whole
  std::uint32_t local_row_ = 0;          // of the stretch
  std::size_t good_ = 0;                 // features found good in this row
};

}  // namespace tfreel
