#include "outline.hpp"

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "names.hpp"

namespace tfreel {
namespace {

std::string_view text_of(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One of the two maps of a message, over all records.
class MapOutliner {
 public:
  MapOutliner(std::span<const std::string> asked, bool in_lists, std::size_t most_others)
      : in_lists_(in_lists), most_(asked.size() + most_others) {
    for (const std::string& name : asked) add(name);
  }

  void read(Bytes record, std::uint32_t row) {
    row_ = row;
    touched_.clear();
    unlisted_here_ = 0;
    std::size_t position = 0;
    for_each_entry(record, in_lists_ ? 2 : 1, [&](Bytes bytes) {
      const MapEntry entry = read_entry(bytes);
      const std::size_t id = look_up(entry.key, position++);
      if (id == kNobody) {
        ++unlisted_here_;
        return check(entry);
      }
      drop_row(found_[id]);  // of two entries with one name the last counts
      touched_.push_back(id);
      in_lists_ ? add_steps(found_[id], entry) : add_unit(found_[id], entry);
    });
  }
  // All of the row is good, also in the other map.
  void keep() noexcept { unlisted_ += unlisted_here_; }
  // It is not: forgets what was read of it.
  void forget() {
    for (const std::size_t id : touched_) drop_row(found_[id]);
  }

  std::vector<Outlined> take() noexcept { return std::move(found_); }
  std::uint64_t unlisted() const noexcept { return unlisted_; }

 private:
  std::size_t add(std::string_view name) {
    const auto [at, is_new] = ids_.emplace(name, found_.size());
    if (is_new) found_.emplace_back().name = name;
    return at->second;
  }

  // Records of one writer mostly have the same names at the same positions.
  std::size_t look_up(Bytes key, std::size_t position) {
    constexpr std::size_t kMostGuesses = 4096;
    const std::string_view name = text_of(key);
    if (position < guesses_.size() && guesses_[position] != kNobody &&
        found_[guesses_[position]].name == name) {
      return guesses_[position];
    }
    const auto known = ids_.find(name);
    std::size_t id = known == ids_.end() ? kNobody : known->second;
    if (id == kNobody) {
      require_utf8(key);
      if (found_.size() < most_) id = add(name);
    }
    if (position < kMostGuesses) {
      if (guesses_.size() <= position) guesses_.resize(position + 1, kNobody);
      guesses_[position] = id;
    }
    return id;
  }

  struct Measured {
    Kind kind;
    std::size_t count;
  };

  Measured measure(Bytes feature) {
    const auto simple = read_simple(feature);
    const auto count = simple ? count_values(*simple) : std::nullopt;
    if (count) {
      if (simple->kind == Kind::ints && simple->run.size() > 1) require_varints(simple->run);
      return {simple->kind, *count};
    }
    values_.clear();
    values_.merge(feature);
    return {values_.kind, values_.size()};
  }

  // Whatever there is no room for must still be sound.
  void check(const MapEntry& entry) {
    if (!in_lists_) return values_.gather(entry);
    for_each_value(entry, [&](Bytes list) {
      for_each_feature(list, [&](Bytes feature) { measure(feature); });
    });
  }

  static void push(Outlined& into, const Measured& measured) {
    into.kinds.push_back(static_cast<std::uint8_t>(measured.kind));
    into.counts.push_back(static_cast<std::uint32_t>(measured.count));
  }

  void add_unit(Outlined& into, const MapEntry& entry) {
    if (entry.merged) {
      values_.gather(entry);
      push(into, {values_.kind, values_.size()});
    } else {
      push(into, measure(entry.value));
    }
    into.rows.push_back(row_);
  }

  void add_steps(Outlined& into, const MapEntry& entry) {
    const std::size_t before = into.kinds.size();
    // Said before they are counted, so that a row that ends in the middle can be dropped.
    into.rows.push_back(row_);
    into.steps.push_back(0);
    for_each_value(entry, [&](Bytes list) {
      for_each_feature(list, [&](Bytes feature) {
        push(into, measure(feature));
        into.steps[into.steps.size() - 1] = static_cast<std::uint32_t>(into.kinds.size() - before);
      });
    });
  }

  void drop_row(Outlined& from) noexcept {
    if (from.rows.size() == 0 || from.rows[from.rows.size() - 1] != row_) return;
    std::size_t units = 1;
    if (in_lists_) {
      units = from.steps[from.steps.size() - 1];
      from.steps.resize(from.steps.size() - 1);
    }
    from.kinds.resize(from.kinds.size() - units);
    from.counts.resize(from.counts.size() - units);
    from.rows.resize(from.rows.size() - 1);
  }

  bool in_lists_;
  std::size_t most_;
  std::vector<Outlined> found_;
  // A tree, not a hash table: no choice of names makes it slow.
  std::map<std::string, std::size_t, std::less<>> ids_;
  std::vector<std::size_t> guesses_;  // the feature at each position of the record before
  std::vector<std::size_t> touched_;  // features of this row
  Values values_;
  std::uint32_t row_ = 0;
  std::uint64_t unlisted_ = 0;
  std::uint64_t unlisted_here_ = 0;
};

}  // namespace

Outline outline(std::span<const Bytes> records, std::span<const std::string> features,
                std::span<const std::string> lists, const OutlineOptions& options) {
  MapOutliner of_features(features, false, options.most_others);
  MapOutliner of_lists(lists, true, options.most_others);
  Outline found;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].size() > kLongestMessage) {
      found.bad.push_back({i, 0, "it is larger than 2 GiB"});
      continue;
    }
    const auto row = static_cast<std::uint32_t>(i);
    bool in_lists = false;
    try {
      of_features.read(records[i], row);
      in_lists = options.sequences;
      if (in_lists) of_lists.read(records[i], row);
    } catch (const Malformed& error) {
      found.bad.push_back({i, static_cast<std::size_t>(error.at - records[i].data()), error.why});
      of_features.forget();
      if (in_lists) of_lists.forget();
      continue;
    }
    of_features.keep();
    if (in_lists) of_lists.keep();
  }
  found.unlisted = of_features.unlisted() + of_lists.unlisted();
  found.features = of_features.take();
  found.lists = of_lists.take();
  return found;
}

}  // namespace tfreel
