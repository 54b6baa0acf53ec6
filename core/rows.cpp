#include "rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tfreel {
namespace {

constexpr std::byte kNameTag = tag_byte(1, WireType::length);
constexpr std::byte kValueTag = tag_byte(2, WireType::length);

std::size_t payload_of(std::span<const Bytes> values) noexcept {
  std::size_t size = 0;
  for (const Bytes value : values) size += value.size();
  return size;
}

// The length of what stands before the value's length in an entry as writers write it: tag, length
// and letters of the name, and the tag of the value. 0 if it is written otherwise.
std::size_t usual_head(Bytes entry) noexcept {
  if (entry.size() < 4 || entry[0] != kNameTag || entry[1] >= std::byte{0x80}) return 0;
  const std::size_t head = std::to_integer<std::size_t>(entry[1]) + 3;
  return entry.size() > head && entry[head - 1] == kValueTag ? head : 0;
}

ParseFault malformed(const Malformed& error, Bytes record, std::size_t row) {
  return {.what = ParseFault::What::malformed,
          .row = row,
          .offset = static_cast<std::size_t>(error.at - record.data()),
          .why = error.why};
}

}  // namespace

std::vector<Unit> UnitPool::take() {
  // Only tried: in the child of a fork, another thread's lock would never be given back.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || idle_.empty()) return {};
  auto units = std::move(idle_.back());
  idle_.pop_back();
  return units;
}

void UnitPool::give_back(std::vector<Unit> units) noexcept {
  if (units.capacity() == 0 || units.capacity() > kMostUnits) return;
  units.clear();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && idle_.size() < kMostIdle) idle_.push_back(std::move(units));
}

RowReader::RowReader(std::span<const FeatureSpec> features, std::span<Column> columns,
                     bool sequences, UnitPool& pool)
    : features_(features),
      columns_(columns),
      sequences_(sequences),
      context_(make_map(features, false)),
      lists_(make_map(features, true)),
      states_(features.size()),
      units_(features.size()),
      pool_(&pool) {
  for (const FeatureSpec& feature : features) ways_.push_back(way_of(feature));
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (ways_[i] >= Way::unit) units_[i].units = pool.take();
  }
}

RowReader::~RowReader() {
  for (Units& units : units_) pool_->give_back(std::move(units.units));
}

RowReader::Way RowReader::way_of(const FeatureSpec& feature) noexcept {
  if (feature.in_lists) return Way::steps;
  if (!writes_at_once(feature)) return Way::unit;
  if (feature.count != 1) return Way::numbers;
  return feature.kind == Kind::ints ? Way::single_int : Way::single_float;
}

RowReader::Map RowReader::make_map(std::span<const FeatureSpec> features, bool in_lists) {
  std::vector<std::size_t> chosen;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].in_lists != in_lists) continue;
    chosen.push_back(i);
    names.push_back(features[i].name);
  }
  return {std::move(chosen), Names(names), {}};
}

std::optional<ParseFault> RowReader::read(std::span<const Bytes> records, std::size_t first_row) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    units_[i].units.clear();
    units_[i].steps.clear();
    units_[i].absent.clear();
    if (!features_[i].in_lists && !writes_at_once(features_[i]))
      units_[i].units.resize(records.size());
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    row_ = first_row + i;
    local_row_ = static_cast<std::uint32_t>(i);
    good_ = 0;
    ParseFault fault{.row = row_};
    if (records[i].size() > kLongestMessage) {
      fault.what = ParseFault::What::too_large;
      return fault;
    }
    try {
      read_map(records[i], 1, context_);
      if (sequences_) read_map(records[i], 2, lists_);
    } catch (const Malformed& error) {
      return malformed(error, records[i], row_);
    }
    if (good_ < features_.size() && !finish_row(fault)) return fault;
  }
  return {};
}

void RowReader::read_map(Bytes record, std::uint32_t field, Map& map) {
  std::size_t position = 0;
  for_each_entry(record, field, [&](Bytes entry) {
    const std::size_t at = position++;
    const Map::Guess guess = at < map.guesses.size() ? map.guesses[at] : Map::Guess{};
    const bool known = !guess.head.empty() && entry.size() > guess.head.size() &&
                       same_bytes(entry.data(), guess.head.data(), guess.head.size());
    const std::size_t head = known ? guess.head.size() : usual_head(entry);
    if (head == 0) return read_unusual_entry(entry, map);
    WireCursor cursor(entry.subspan(head));
    const Bytes value = cursor.take_bytes();
    if (!cursor.done()) return read_unusual_entry(entry, map);
    const std::size_t feature = known ? guess.feature : look_up(entry.first(head), map, at);
    if (feature == kNobody || read_single(feature, value)) return;
    read_feature(feature, {{}, value, false, entry});
  });
}

// An entry that is not written in the usual way.
void RowReader::read_unusual_entry(Bytes entry, Map& map) {
  const MapEntry found = read_entry(entry);
  const std::size_t slot = map.names.find(found.key);
  if (slot == kNobody) return require_utf8(found.key);
  read_feature(map.features[slot], found);
}

// The feature of an entry that is not called as the one at this position of the record before.
std::size_t RowReader::look_up(Bytes head, Map& map, std::size_t position) {
  const Bytes key = head.subspan(2, head.size() - 3);
  const std::size_t slot = map.names.find(key);
  if (slot == kNobody) require_utf8(key);
  const std::size_t feature = slot == kNobody ? kNobody : map.features[slot];
  // A hostile record can have millions of entries: only as many are remembered as a real one has.
  constexpr std::size_t kMostGuesses = 4096;
  if (position < kMostGuesses) {
    if (map.guesses.size() <= position) map.guesses.resize(position + 1);
    map.guesses[position] = {head, feature};
  }
  return feature;
}

// Reads a single number that is written in the usual way; false if it is not.
inline bool RowReader::read_single(std::size_t feature, Bytes value) {
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
  } else {
    return false;
  }
  state.row = row_;
  state.status = Status::good;
  ++good_;
  return true;
}

void RowReader::read_feature(std::size_t feature, const MapEntry& entry) {
  const FeatureSpec& spec = features_[feature];
  State& state = states_[feature];
  const bool again = state.row == row_;
  if (again && state.status == Status::good) --good_;
  state.row = row_;
  if (ways_[feature] < Way::unit) {
    state.status = read_numbers(spec, columns_[feature], entry, state);
  } else if (ways_[feature] == Way::steps) {
    state.status = read_steps(spec, units_[feature], entry, state);
  } else {
    Unit& unit = units_[feature].units[local_row_];
    if (again) require_sound(spec, unit);
    state.status =
        locate(spec, entry.merged ? entry.whole : entry.value, entry.merged, unit, state);
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

RowReader::Status RowReader::locate(const FeatureSpec& spec, Bytes feature, bool merged, Unit& unit,
                                    State& state) {
  unit = Unit{};
  unit.row = local_row_;
  const auto simple = merged ? std::nullopt : read_simple(feature);
  std::size_t count = 0;
  std::size_t payload = 0;
  Kind kind = Kind::none;
  if (const auto counted =
          simple && simple->kind == spec.kind ? count_values(*simple) : std::nullopt) {
    count = *counted;
    kind = simple->kind;
    unit.bytes = simple->run;
    // Each value has a tag and a length of its own; what is left are the bytes.
    if (kind == Kind::bytes) read_bytes(simple->run, [&](Bytes value) { payload += value.size(); });
  } else {
    unit.form = merged ? Unit::Form::entry : Unit::Form::feature;
    unit.bytes = feature;
    const Values& values = gather(unit);
    count = values.size();
    kind = values.kind;
    payload = payload_of(values.bytes);
  }
  unit.count = static_cast<std::uint32_t>(count);
  unit.payload = static_cast<std::uint32_t>(payload);
  const Status status = check(spec, kind, count, state);
  unit.absent = status != Status::good;
  return status;
}

RowReader::Status RowReader::read_steps(const FeatureSpec& spec, Units& units,
                                        const MapEntry& entry, State& state) {
  // Of two lists with one name the last counts.
  if (units.steps.size() > local_row_) {
    for (const Unit& unit : std::span(units.units).last(units.steps.back())) {
      require_sound(spec, unit);
    }
    units.units.resize(units.units.size() - units.steps.back());
    units.steps.pop_back();
    units.absent.pop_back();
  }
  Status status = Status::good;
  std::uint32_t steps = 0;
  for_each_value(entry, [&](Bytes list) {
    for_each_feature(list, [&](Bytes feature) {
      Unit& unit = units.units.emplace_back();
      State found;
      Status step = locate(spec, feature, false, unit, found);
      if (step == Status::absent) {  // a step without a kind is a step without values
        step = spec.fixed && spec.count != 0 ? Status::wrong_count : Status::good;
        unit.absent = false;
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
  if (spec.in_lists) {
    units_[feature].steps.push_back(0);
    units_[feature].absent.push_back(true);
  } else if (!writes_at_once(spec)) {
    const std::size_t count = spec.fixed ? spec.count : 0;
    Unit& unit = units_[feature].units[local_row_];
    unit = Unit{};
    unit.row = local_row_;
    unit.count = static_cast<std::uint32_t>(count);
    unit.absent = true;
    for (const auto& value : spec.default_bytes) {
      unit.payload += static_cast<std::uint32_t>(value.size());
    }
  } else if (spec.kind == Kind::ints) {
    std::copy(spec.default_ints.begin(), spec.default_ints.end(), column.ints.data() + first);
  } else {
    std::copy(spec.default_floats.begin(), spec.default_floats.end(), column.floats.data() + first);
  }
}

// Values of a unit that a later entry of the same name replaces must be sound as well.
void RowReader::require_sound(const FeatureSpec& spec, const Unit& unit) {
  if (unit.form == Unit::Form::run && spec.kind == Kind::ints) require_varints(unit.bytes);
}

std::optional<ParseFault> RowReader::find_malformed(std::span<const Bytes> records,
                                                    std::size_t first_row) {
  std::optional<ParseFault> first;
  for (std::size_t i = 0; i < features_.size(); ++i) {
    for (const Unit& unit : units_[i].units) {
      if (first && first_row + unit.row >= first->row) break;
      try {
        require_sound(features_[i], unit);
      } catch (const Malformed& error) {
        first = malformed(error, records[unit.row], first_row + unit.row);
      }
    }
  }
  return first;
}

const Values& RowReader::gather(const Unit& unit) {
  if (unit.form == Unit::Form::entry) {
    values_.gather(read_entry(unit.bytes));
  } else {
    values_.clear();
    values_.merge(unit.bytes);
  }
  return values_;
}

std::optional<ParseFault> RowReader::write(std::span<const Bytes> records, std::size_t first_row) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    for (const Unit& unit : units_[i].units) {
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
    if (spec.fixed) {
      for (const auto& text : spec.default_bytes) add(std::as_bytes(std::span(text)));
    }
  } else if (unit.form == Unit::Form::run) {
    if (spec.kind == Kind::ints) read_ints(unit.bytes, unit.count, column.ints.data() + value);
    if (spec.kind == Kind::floats)
      read_floats(unit.bytes, unit.count, column.floats.data() + value);
    if (spec.kind == Kind::bytes) read_bytes(unit.bytes, add);
  } else {
    const Values& values = gather(unit);
    require_place(values.size() == unit.count &&
                  (values.kind == spec.kind || values.kind == Kind::none));
    std::copy(values.ints.begin(), values.ints.end(), column.ints.data() + value);
    std::copy(values.floats.begin(), values.floats.end(), column.floats.data() + value);
    for (const Bytes bytes : values.bytes) add(bytes);
  }
  if (spec.kind == Kind::bytes) {
    require_place(value == unit.first + unit.count && byte == unit.first_byte + unit.payload);
  }
}

}  // namespace tfreel
