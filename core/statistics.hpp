// Records in, statistics of all their features out, for all records or for each group of them.
// Parts that were made apart are merged; the same parts merged in the same order give the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feature_statistics.hpp"

namespace tfreel {

// Why no more records can be taken. Nothing of the record at hand was counted.
struct StatisticsLimit {
  enum class What : std::uint8_t { features, groups, group_kind, group_size };
  What what;
};

struct StatisticsOptions {
  std::optional<std::vector<std::string>> columns;  // the features to look at; all without
  std::optional<std::string> by;                    // the feature whose values make groups
  std::size_t most_features = 10'000;
  std::size_t most_groups = 1'000;
};

// The value that the records of a group share: a number, bytes, or nothing, where a record has no
// value or several.
struct GroupKey {
  Kind kind = Kind::none;
  std::int64_t number = 0;
  std::string text;
  auto operator<=>(const GroupKey&) const = default;
};

class Statistics {
 public:
  struct Feature {
    std::string name;
    bool in_lists;
  };
  struct Group {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;                                   // of payloads
    std::vector<std::unique_ptr<FeatureStatistics>> features;  // as features(); those it has
  };

  explicit Statistics(StatisticsOptions options);
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;

  // Throws Malformed if this is neither an Example nor a SequenceExample, and StatisticsLimit; then
  // nothing was added.
  void add(Bytes record);
  // Call it before anything is asked, and before this is merged into another.
  void flush();
  void merge(const Statistics& flushed);
  // All there is to know, for `load` of another one with the same options, in another process.
  std::string save();
  // Takes the place of what is here. Throws std::out_of_range if that was never saved; then use it
  // no more.
  void load(Bytes saved);

  const std::vector<Feature>& features() const noexcept { return features_; }
  const std::map<GroupKey, Group>& groups() const noexcept { return groups_; }
  // All groups together; after `flush`.
  Group total() const;

 private:
  using Slots = std::map<std::string, std::size_t, std::less<>>;
  static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

  std::size_t slot_of(Bytes name, bool in_lists, std::size_t place);
  std::size_t new_slot(std::string_view name, bool in_lists);
  void look(Bytes record);
  void look_at_feature(Bytes entry, std::size_t place);
  void look_at_list(Bytes entry, std::size_t place);
  Lists* pending(std::size_t slot, Bytes entry);
  GroupKey key_of_record();
  Group& group_of(const GroupKey& key);
  FeatureStatistics& feature_in(Group& group, std::size_t slot) const;

  StatisticsOptions options_;
  Precision precision_;
  std::vector<Feature> features_;
  Slots slots_[2];                        // of features, and of feature lists
  std::vector<std::size_t> expected_[2];  // slots, in the order of the record before
  std::size_t by_slot_ = kNoSlot;

  // The record at hand.
  std::vector<Lists> found_;             // by slot
  std::vector<std::uint64_t> found_in_;  // the record for which `found_` holds, by slot
  std::vector<std::size_t> order_;       // the slots that it has
  std::uint64_t record_ = 0;
  Values one_;

  std::map<GroupKey, Group> groups_;
};

}  // namespace tfreel
