#include "statistics.hpp"

#include <algorithm>
#include <utility>

#include "names.hpp"
#include "saved.hpp"

namespace tfreel {
namespace {

constexpr std::size_t kLongestGroupKey = 1024;
constexpr std::size_t kMostWeHaveOrderOf = 1 << 12;

std::string_view text_of(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A run of numbers of one list, which will be decoded later: by then it must be sound.
void set_run(Lists& lists, Kind kind, Bytes run) {
  if (kind == Kind::floats) count_floats(run);
  if (kind == Kind::ints && !run.empty()) {
    if (run.back() >= std::byte{0x80}) {
      throw Malformed{run.data(), "a number that goes past the end"};
    }
    if (run.size() >= kLongestVarint) require_varints(run);  // fewer bytes cannot be too many
  }
  lists.run = {kind, run};
}

void decode(const Lists::Run& run, Values& values) {
  values.clear();
  if (run.kind == Kind::bytes) values.bytes.push_back(run.bytes);
  if (run.kind == Kind::ints) {
    for (WireCursor cursor(run.bytes); !cursor.done();) {
      values.ints.push_back(static_cast<std::int64_t>(cursor.take_varint()));
    }
  }
  if (run.kind == Kind::floats) values.floats.resize(count_floats(run.bytes));  // how many matters
}

void add_list(Lists& lists, const Values& values) {
  Values& all = lists.values;
  all.ints.insert(all.ints.end(), values.ints.begin(), values.ints.end());
  all.floats.insert(all.floats.end(), values.floats.begin(), values.floats.end());
  all.bytes.insert(all.bytes.end(), values.bytes.begin(), values.bytes.end());
  lists.lists.push_back({values.kind, static_cast<std::uint32_t>(values.size())});
}

}  // namespace

Statistics::Statistics(StatisticsOptions options)
    : options_(std::move(options)), precision_(options_.by ? kCoarse : kFine) {
  for (const std::string& name : options_.columns.value_or(std::vector<std::string>{})) {
    if (!slots_[0].contains(name)) new_slot(name, false);
  }
  if (options_.by) {
    const auto found = slots_[0].find(*options_.by);
    by_slot_ = found == slots_[0].end() ? new_slot(*options_.by, false) : found->second;
  } else {
    groups_[GroupKey{}];  // all records
  }
}

std::size_t Statistics::new_slot(std::string_view name, bool in_lists) {
  if (features_.size() >= options_.most_features) {
    throw StatisticsLimit{StatisticsLimit::What::features};
  }
  const std::size_t slot = features_.size();
  features_.push_back({std::string(name), in_lists});
  found_.emplace_back();
  found_in_.push_back(0);
  slots_[in_lists].emplace(name, slot);
  return slot;
}

// The slot of a name; none if nobody asked for it. Records of one writer mostly have the same names
// in the same order, so the guess is the one that had this place in the record before.
std::size_t Statistics::slot_of(Bytes name, bool in_lists, std::size_t place) {
  std::vector<std::size_t>& expected = expected_[in_lists];
  if (place < expected.size() && expected[place] != kNoSlot) {
    const std::string& guess = features_[expected[place]].name;
    const auto* bytes = reinterpret_cast<const std::byte*>(guess.data());
    if (guess.size() == name.size() && same_bytes(bytes, name.data(), name.size())) {
      return expected[place];
    }
  }
  const auto found = slots_[in_lists].find(text_of(name));
  std::size_t slot = found == slots_[in_lists].end() ? kNoSlot : found->second;
  if (slot == kNoSlot) {
    require_utf8(name);
    // Who asks for a column means features and feature lists: the former have their slots already.
    if (!options_.columns || slots_[0].contains(text_of(name)))
      slot = new_slot(text_of(name), in_lists);
  }
  if (place < kMostWeHaveOrderOf) {
    if (expected.size() <= place) expected.resize(place + 1, kNoSlot);
    expected[place] = slot;
  }
  return slot;
}

// Where the lists of a feature go. Of several entries with one name the last one counts, but all of
// them take room.
Lists* Statistics::pending(std::size_t slot, Bytes entry) {
  if (slot == kNoSlot) return nullptr;
  Lists& lists = found_[slot];
  const std::uint64_t before = found_in_[slot] == record_ ? lists.bytes : 0;
  if (found_in_[slot] != record_) order_.push_back(slot);
  found_in_[slot] = record_;
  lists.clear();
  lists.bytes = before + 1 + varint_size(entry.size()) + entry.size();
  return &lists;
}

void Statistics::look_at_feature(Bytes bytes, std::size_t place) {
  if (const auto brief = read_short_entry(bytes)) {
    Lists* lists = pending(slot_of(brief->key, false, place), bytes);
    if (lists == nullptr) return;
    return set_run(*lists, brief->kind, brief->value);
  }
  const MapEntry entry = read_entry(bytes);
  Lists* lists = pending(slot_of(entry.key, false, place), bytes);
  if (lists == nullptr) return;
  const auto simple = entry.merged ? std::nullopt : read_simple(entry.value);
  if (simple && (simple->kind == Kind::ints || simple->kind == Kind::floats)) {
    return set_run(*lists, simple->kind, simple->run);
  }
  one_.gather(entry);
  add_list(*lists, one_);
}

void Statistics::look_at_list(Bytes bytes, std::size_t place) {
  const MapEntry entry = read_entry(bytes);
  Lists* lists = pending(slot_of(entry.key, true, place), bytes);
  if (lists == nullptr) return;
  for_each_value(entry, [&](Bytes list) {
    for_each_feature(list, [&](Bytes feature) {
      one_.clear();
      one_.merge(feature);
      add_list(*lists, one_);
    });
  });
}

void Statistics::look(Bytes record) {
  ++record_;
  order_.clear();
  std::size_t place = 0;
  for_each_entry(record, 1, [&](Bytes entry) { look_at_feature(entry, place++); });
  place = 0;
  for_each_entry(record, 2, [&](Bytes entry) { look_at_list(entry, place++); });
}

GroupKey Statistics::key_of_record() {
  GroupKey key;
  if (by_slot_ == kNoSlot || found_in_[by_slot_] != record_) return key;
  const Lists& found = found_[by_slot_];
  if (found.run) decode(*found.run, one_);
  const Values& values = found.run ? one_ : found.values;
  if (!values.floats.empty()) throw StatisticsLimit{StatisticsLimit::What::group_kind};
  if (values.size() != 1) return key;
  if (!values.ints.empty()) {
    key.kind = Kind::ints;
    key.number = values.ints.front();
    return key;
  }
  const Bytes text = values.bytes.front();
  if (text.size() > kLongestGroupKey) throw StatisticsLimit{StatisticsLimit::What::group_size};
  key.kind = Kind::bytes;
  key.text = text_of(text);
  return key;
}

Statistics::Group& Statistics::group_of(const GroupKey& key) {
  const auto found = groups_.find(key);
  if (found != groups_.end()) return found->second;
  if (groups_.size() >= options_.most_groups + 1) {  // one more for those without a value
    throw StatisticsLimit{StatisticsLimit::What::groups};
  }
  return groups_[key];
}

FeatureStatistics& Statistics::feature_in(Group& group, std::size_t slot) const {
  if (group.features.size() <= slot) group.features.resize(features_.size());
  auto& feature = group.features[slot];
  if (!feature) feature = std::make_unique<FeatureStatistics>(precision_);
  return *feature;
}

void Statistics::add(Bytes record) {
  look(record);
  Group& group = options_.by ? group_of(key_of_record()) : groups_.begin()->second;
  ++group.records;
  group.bytes += record.size();
  for (const std::size_t slot : order_) {
    feature_in(group, slot).add(found_[slot], features_[slot].in_lists);
  }
}

void Statistics::flush() {
  for (auto& [key, group] : groups_) {
    for (auto& feature : group.features) {
      if (feature) feature->flush();
    }
  }
}

Statistics::Group Statistics::total() const {
  Group all;
  for (const auto& [key, group] : groups_) {
    all.records += group.records;
    all.bytes += group.bytes;
    for (std::size_t slot = 0; slot < group.features.size(); ++slot) {
      if (group.features[slot]) feature_in(all, slot).merge(*group.features[slot]);
    }
  }
  return all;
}

void Statistics::merge(const Statistics& other) {
  flush();
  for (const auto& [key, group] : other.groups_) {
    Group& ours = group_of(key);
    ours.records += group.records;
    ours.bytes += group.bytes;
    for (std::size_t i = 0; i < group.features.size(); ++i) {
      if (!group.features[i]) continue;
      const auto& [name, in_lists] = other.features_[i];
      const auto found = slots_[in_lists].find(name);
      const std::size_t slot =
          found == slots_[in_lists].end() ? new_slot(name, in_lists) : found->second;
      feature_in(ours, slot).merge(*group.features[i]);
    }
  }
}

std::string Statistics::save() {
  flush();
  Saver saver;
  saver.count(features_.size());
  for (auto& [name, in_lists] : features_) {
    saver(name);
    saver.flag(in_lists);
  }
  saver.count(groups_.size());
  for (auto& [key, group] : groups_) {
    GroupKey copy = key;
    saver(copy.kind, copy.number, copy.text, group.records, group.bytes);
    saver.count(group.features.size());
    for (auto& feature : group.features) saver.maybe(feature, precision_);
  }
  return saver.bytes();
}

void Statistics::load(Bytes saved) {
  Loader loader(saved);
  std::vector<std::size_t> slots(loader.count(0));
  for (std::size_t& slot : slots) {
    Feature feature;
    loader(feature.name);
    loader.flag(feature.in_lists);
    const auto found = slots_[feature.in_lists].find(feature.name);
    slot = found == slots_[feature.in_lists].end() ? new_slot(feature.name, feature.in_lists)
                                                   : found->second;
  }
  for (std::uint64_t left = loader.count(0); left != 0; --left) {
    GroupKey key;
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    loader(key.kind, key.number, key.text, records, bytes);
    loader.require(key.kind <= Kind::ints);
    Group& group = group_of(key);
    group.records = records;
    group.bytes = bytes;
    const std::uint64_t count = loader.count(0);
    loader.require(count <= slots.size());
    group.features.resize(features_.size());
    for (std::size_t i = 0; i < count; ++i) loader.maybe(group.features[slots[i]], precision_);
  }
  loader.require(loader.finished());
}

}  // namespace tfreel
