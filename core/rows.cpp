#include "rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "expect.hpp"

namespace tfreel {
namespace {

std::size_t payload_of(std::span<const Bytes> values) noexcept {
  std::size_t size = 0;
  for (const Bytes value : values) size += value.size();
  return size;
}

ParseFault malformed(const Malformed& error, Bytes record, std::size_t row) {
  return {.what = ParseFault::What::malformed,
          .row = row,
          .offset = static_cast<std::size_t>(error.at - record.data()),
          .why = error.why};
}

}  // namespace

void Units::clear() noexcept {
  strings.clear();
  numbers.clear();
  steps.clear();
  absent.clear();
}

std::size_t Units::memory() const noexcept {
  return strings.capacity() * sizeof(Unit) + numbers.memory() +
         steps.capacity() * sizeof(std::uint32_t) + absent.capacity();
}

std::vector<Units> UnitPool::take(std::size_t features) {
  std::vector<Units> units;
  // Only tried: in the child of a fork, another thread's lock would never be given back.
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock && !idle_.empty()) {
    units = std::move(idle_.back());
    idle_.pop_back();
  }
  units.resize(features);
  return units;
}

void UnitPool::give_back(std::vector<Units> units) noexcept {
  std::size_t bytes = 0;
  for (const Units& some : units) bytes += some.memory();
  if (bytes == 0 || bytes > kMostBytes) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && idle_.size() < kMostIdle) idle_.push_back(std::move(units));
}

RowReader::RowReader(std::span<const FeatureSpec> features, std::span<Column> columns,
                     bool sequences, UnitPool& pool)
    : features_(features),
      columns_(columns),
      sequences_(sequences),
      context_(map_of(features, false)),
      lists_(map_of(features, true)),
      heads_(features.size()),
      states_(features.size()),
      units_(pool.take(features.size())),
      pool_(&pool) {
  for (const FeatureSpec& feature : features) ways_.push_back(way_of(feature));
  for (std::size_t i = 0; i < features.size(); ++i) {
    singles_.push_back(single_of(ways_[i], columns[i]));
    if (ways_[i] == Way::floats) heads_[i] = FloatsHead(features[i].count);
  }
}

RowReader::~RowReader() { pool_->give_back(std::move(units_)); }

RowReader::Way RowReader::way_of(const FeatureSpec& feature) noexcept {
  if (feature.in_lists) return Way::steps;
  if (!writes_at_once(feature)) return Way::unit;
  if (feature.kind == Kind::floats) return feature.count == 1 ? Way::single_float : Way::floats;
  return feature.count == 1 ? Way::single_int : Way::numbers;
}

// The column has its size already, and stays where it is.
RowReader::Single RowReader::single_of(Way way, Column& column) noexcept {
  if (way == Way::single_int) {
    return {.column = reinterpret_cast<std::byte*>(column.ints.data()),
            .kind = Kind::ints,
            .shortest = 1,
            .as_is = 0,
            .high = sizeof(std::uint32_t)};
  }
  if (way == Way::single_float) {
    return {.column = reinterpret_cast<std::byte*>(column.floats.data()),
            .kind = Kind::floats,
            .shortest = sizeof(float),
            .as_is = 0xffffffff,
            .high = 0};
  }
  return {};
}

MapReader RowReader::map_of(std::span<const FeatureSpec> features, bool in_lists) {
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].in_lists != in_lists) continue;
    chosen.push_back(i);
    names.push_back(features[i].name);
  }
  return {std::move(chosen), names};
}

// Reads numbers of a known number, if they are written in the usual way and have a short way of
// their own; false if not.
inline bool RowReader::read_known(std::size_t feature, Bytes value) {
  State& state = states_[feature];
  if (state.row == row_) return false;  // a second one of that name
  if (ways_[feature] == Way::single_int) {
    if (!is_short_list(value, Kind::ints)) return false;
    WireCursor cursor(value.subspan(kShortListHead));
    if (cursor.done()) return false;
    const auto number = static_cast<std::int64_t>(cursor.take_varint());
    if (!cursor.done()) return false;
    columns_[feature].ints[row_] = number;
  } else if (ways_[feature] == Way::single_float) {
    if (value.size() != kShortListHead + sizeof(float) || !is_short_list(value, Kind::floats)) {
      return false;
    }
    std::memcpy(columns_[feature].floats.data() + row_, value.data() + kShortListHead,
                sizeof(float));
  } else if (ways_[feature] == Way::floats) {
    if (!heads_[feature].begins(value)) return false;
    const Bytes run = value.subspan(heads_[feature].size());
    std::memcpy(columns_[feature].floats.data() + row_ * features_[feature].count, run.data(),
                run.size());
  } else {
    return false;
  }
  found_good(state);
  return true;
}

inline void RowReader::found_good(State& state) noexcept {
  state.row = row_;
  state.status = Status::good;
  ++good_;
}

// Reads a single number of at most four bytes; false if it is another, or not written in the usual
// way. Whether it is a float, and how long it is, decides on no branch: where features come in any
// order, half of these branches would be mispredicted.
inline bool RowReader::read_single(std::size_t feature, Bytes value) {
  constexpr std::size_t kLongest = sizeof(std::uint32_t);
  const Single& single = singles_[feature];
  const std::size_t size = value.size() - kShortListHead;
  if (size < single.shortest || size > kLongest || !is_short_list(value, single.kind)) return false;
  State& state = states_[feature];
  if (state.row == row_) return false;  // it was there before
  std::uint32_t word;
  std::memcpy(&word, value.data() + value.size() - kLongest, sizeof word);
  word >>= 8 * (kLongest - size);
  // All bytes of a varint but the last say that another one follows.
  const std::uint32_t wrong = (word & 0x80808080) ^ 0x00808080U >> 8 * (kLongest - size);
  if ((wrong & ~single.as_is) != 0) return false;
  const auto joined = static_cast<std::uint32_t>(join_groups(word));
  const std::uint32_t low = (word & single.as_is) | (joined & ~single.as_is);
  const std::uint32_t high = 0;
  std::byte* const place = single.place(row_);
  std::memcpy(place + single.high, &high, sizeof high);  // first: a float has no upper half
  std::memcpy(place, &low, sizeof low);
  found_good(state);
  return true;
}

inline void RowReader::take_value(std::size_t feature, Bytes value) {
  if (!read_known(feature, value)) read_feature(feature, {.key = {}, .value = value});
}

inline void RowReader::take_any(std::size_t feature, Bytes value) {
  if (!read_single(feature, value)) take_value(feature, value);
}

std::optional<ParseFault> RowReader::read(std::span<const Bytes> records, std::size_t first_row) {
  for (Units& units : units_) units.clear();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i + kExpectedAhead < records.size()) expect(records[i + kExpectedAhead]);
    row_ = first_row + i;
    local_row_ = static_cast<std::uint32_t>(i);
    readable_ = records[i].data() + records[i].size();
    good_ = 0;
    ParseFault fault{.row = row_};
    if (records[i].size() > kLongestMessage) {
      fault.what = ParseFault::What::too_large;
      return fault;
    }
    try {
      context_.read(records[i], 1, row_, *this);
      if (sequences_) lists_.read(records[i], 2, row_, *this);
    } catch (const Malformed& error) {
      return malformed(error, records[i], row_);
    }
    if (good_ < features_.size() && !finish_row(fault)) return fault;
  }
  return {};
}

void RowReader::read_feature(std::size_t feature, const MapEntry& entry) {
  const FeatureSpec& spec = features_[feature];
  State& state = states_[feature];
  if (state.row == row_ && state.status == Status::good) --good_;  // the last one counts
  state.row = row_;
  if (ways_[feature] < Way::unit) {
    state.status = read_numbers(spec, columns_[feature], entry, state);
  } else if (ways_[feature] == Way::steps) {
    state.status = read_steps(spec, units_[feature], entry, state);
  } else {
    state.status = read_row(spec, units_[feature], entry, state);
  }
  if (state.status == Status::good) ++good_;
}

RowReader::Status RowReader::check(const FeatureSpec& spec, Kind kind, std::size_t count,
                                   State& state) {
  state.found_kind = kind;
  state.found_count = count;
  if (kind == Kind::none && !spec.kindless_is_empty) return Status::absent;
  if (kind != Kind::none && kind != spec.kind) return Status::wrong_kind;
  return spec.fixed && count != spec.count ? Status::wrong_count : Status::good;
}

RowReader::Status RowReader::read_numbers(const FeatureSpec& spec, Column& column,
                                          const MapEntry& entry, State& state) {
  const bool of_ints = spec.kind == Kind::ints;
  const std::size_t first = row_ * spec.count;
  const auto simple = entry.merged ? std::nullopt : read_simple(entry.value);
  if (simple && simple->kind == spec.kind) {
    const std::size_t count =
        spec.count == 1 && of_ints && simple->run.size() == 1 ? 1 : *count_values(*simple);
    const Status status = check(spec, simple->kind, count, state);
    if (status != Status::good) {
      if (of_ints) require_varints(simple->run);
      return status;
    }
    if (of_ints) read_ints(simple->run, count, column.ints.data() + first);
    if (!of_ints) read_floats(simple->run, count, column.floats.data() + first);
    return status;
  }
  values_.gather(entry);
  const Status status = check(spec, values_.kind, values_.size(), state);
  if (status != Status::good) return status;
  if (of_ints) std::copy(values_.ints.begin(), values_.ints.end(), column.ints.data() + first);
  if (!of_ints) {
    std::copy(values_.floats.begin(), values_.floats.end(), column.floats.data() + first);
  }
  return status;
}

// Of two entries with one name the last counts.
void RowReader::drop_row(const FeatureSpec& spec, Units& units) {
  if (units.absent.size() <= local_row_) return;
  const std::size_t count = spec.in_lists ? units.steps.back() : 1;
  if (spec.kind == Kind::bytes) units.strings.resize(units.strings.size() - count);
  if (spec.kind != Kind::bytes) units.numbers.drop(spec.kind, count);
  if (spec.in_lists) units.steps.pop_back();
  units.absent.pop_back();
}

RowReader::Status RowReader::read_row(const FeatureSpec& spec, Units& units, const MapEntry& entry,
                                      State& state) {
  drop_row(spec, units);
  units.absent.push_back(false);
  return add_unit(spec, units, entry.merged ? entry.whole : entry.value, entry.merged, state);
}

RowReader::Status RowReader::read_steps(const FeatureSpec& spec, Units& units,
                                        const MapEntry& entry, State& state) {
  drop_row(spec, units);
  // The most common steps have a short way: nothing in them is left to check.
  const bool of_any_numbers = spec.kind != Kind::bytes && !spec.fixed;
  Status status = Status::good;
  std::uint32_t steps = 0;
  for_each_value(entry, [&](Bytes list) {
    for_each_feature(list, [&](Bytes feature) {
      if (of_any_numbers && is_short_list(feature, spec.kind)) {
        units.numbers.add_run(spec.kind, feature.subspan(kShortListHead), readable_);
        ++steps;
        return;
      }
      State found;
      Status step = add_unit(spec, units, feature, false, found);
      if (step == Status::absent) {  // a step without a kind is a step without values
        step = spec.fixed && spec.count != 0 ? Status::wrong_count : Status::good;
      }
      if (status == Status::good && step != Status::good) {
        status = step;
        state.found_kind = found.found_kind;
        state.found_count = found.found_count;
        state.step = steps;
      }
      ++steps;
    });
  });
  units.steps.push_back(steps);
  units.absent.push_back(false);
  return status;
}

inline RowReader::Status RowReader::add_unit(const FeatureSpec& spec, Units& units, Bytes feature,
                                             bool merged, State& state) {
  if (spec.kind != Kind::bytes) return add_numbers(spec, units.numbers, feature, merged, state);
  return locate(spec, feature, merged, units.strings.emplace_back(), state);
}

inline RowReader::Status RowReader::add_numbers(const FeatureSpec& spec, Numbers& numbers,
                                                Bytes feature, bool merged, State& state) {
  const auto simple = merged ? std::nullopt : read_simple(feature);
  if (simple && simple->kind == spec.kind) {
    return check(spec, spec.kind, numbers.add_run(spec.kind, simple->run, readable_), state);
  }
  const Values& values = gather(feature, merged);
  if (values.kind == spec.kind) {
    numbers.add(values);
  } else {
    numbers.add_none();
  }
  return check(spec, values.kind, values.size(), state);
}

RowReader::Status RowReader::locate(const FeatureSpec& spec, Bytes feature, bool merged, Unit& unit,
                                    State& state) {
  unit.row = local_row_;
  const auto simple = merged ? std::nullopt : read_simple(feature);
  std::size_t count = 0;
  std::size_t payload = 0;
  Kind kind = Kind::none;
  if (const auto counted =
          simple && simple->kind == Kind::bytes ? count_values(*simple) : std::nullopt) {
    count = *counted;
    kind = simple->kind;
    unit.bytes = simple->run;
    // Each value has a tag and a length of its own; what is left are the bytes.
    read_bytes(simple->run, [&](Bytes value) { payload += value.size(); });
  } else {
    unit.form = merged ? Unit::Form::entry : Unit::Form::feature;
    unit.bytes = feature;
    const Values& values = gather(feature, merged);
    count = values.size();
    kind = values.kind;
    payload = payload_of(values.bytes);
  }
  unit.count = static_cast<std::uint32_t>(count);
  unit.payload = static_cast<std::uint32_t>(payload);
  return check(spec, kind, count, state);
}

// True if all is well with the row, though not every feature is there.
bool RowReader::finish_row(ParseFault& fault) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    const State& state = states_[i];
    const Status status = state.row == row_ ? state.status : Status::absent;
    if (status == Status::good) continue;
    if (status == Status::absent && !features_[i].required) {
      fill_absent(i);
      continue;
    }
    using What = ParseFault::What;
    fault.what = status == Status::absent       ? What::missing
                 : status == Status::wrong_kind ? What::wrong_kind
                                                : What::wrong_count;
    fault.feature = i;
    fault.found_kind = state.found_kind;
    fault.found_count = state.found_count;
    fault.step = state.step;
    return false;
  }
  return true;
}

void RowReader::fill_absent(std::size_t feature) {
  const FeatureSpec& spec = features_[feature];
  Column& column = columns_[feature];
  const std::size_t first = row_ * spec.count;
  if (!writes_at_once(spec)) {
    fill_absent_unit(spec, units_[feature]);
  } else if (spec.kind == Kind::ints) {
    std::copy(spec.default_ints.begin(), spec.default_ints.end(), column.ints.data() + first);
  } else {
    std::copy(spec.default_floats.begin(), spec.default_floats.end(), column.floats.data() + first);
  }
}

void RowReader::fill_absent_unit(const FeatureSpec& spec, Units& units) {
  drop_row(spec, units);
  units.absent.push_back(true);
  if (spec.in_lists) {
    units.steps.push_back(0);
  } else if (spec.kind != Kind::bytes) {
    units.numbers.add_none();
  } else {
    const auto count = static_cast<std::uint32_t>(spec.default_bytes.size());
    Unit& unit = units.strings.emplace_back(
        Unit{.bytes = {}, .absent = true, .row = local_row_, .count = count});
    for (const auto& value : spec.default_bytes) {
      unit.payload += static_cast<std::uint32_t>(value.size());
    }
  }
}

// All values of a feature, or of an entry whose values have to be merged.
const Values& RowReader::gather(Bytes bytes, bool is_entry) {
  if (is_entry) {
    values_.gather(read_entry(bytes));
  } else {
    values_.clear();
    values_.merge(bytes);
  }
  return values_;
}

std::optional<ParseFault> RowReader::write(std::span<const Bytes> records, std::size_t first_row) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    units_[i].numbers.copy_to(columns_[i].ints.data(), columns_[i].floats.data(), units_[i].first);
    for (const Unit& unit : units_[i].strings) {
      try {
        write_unit(features_[i], columns_[i], unit);
      } catch (const Malformed& error) {
        return malformed(error, records[unit.row], first_row + unit.row);
      }
    }
  }
  return {};
}

void RowReader::write_unit(const FeatureSpec& spec, Column& column, const Unit& unit) {
  std::size_t value = unit.first;
  std::size_t byte = unit.first_byte;
  // Another thread may write to a bytearray or a mapped file while it is read: what was counted
  // then no longer holds, and only what was counted has a place.
  const auto require_place = [&](bool has_place) {
    if (!has_place) throw Malformed{unit.bytes.data(), "a record that changes while it is read"};
  };
  const auto add = [&](Bytes bytes) {
    require_place(value < unit.first + unit.count &&
                  bytes.size() <= unit.first_byte + unit.payload - byte);
    column.value_offsets[value++] = static_cast<std::int64_t>(byte);
    if (!bytes.empty()) std::memcpy(column.data.data() + byte, bytes.data(), bytes.size());
    byte += bytes.size();
  };
  if (unit.absent) {
    for (const auto& text : spec.default_bytes) add(std::as_bytes(std::span(text)));
  } else if (unit.form == Unit::Form::run) {
    read_bytes(unit.bytes, add);
  } else {
    for (const Bytes bytes : gather(unit.bytes, unit.form == Unit::Form::entry).bytes) add(bytes);
  }
  require_place(value == unit.first + unit.count && byte == unit.first_byte + unit.payload);
}

}  // namespace tfreel
