// Reading Example and SequenceExample, as protobuf reads them: fields in any order, lists in one
// packed run, several, or value by value; of repeated keys and kinds the last one counts; what is
// unknown is passed over.
//
//   Example          features = 1
//   Features         feature = 1: map of entries, key = 1, value = 2
//   Feature          one of: bytes_list = 1, float_list = 2, int64_list = 3
//   …List            value = 1, repeated
//   SequenceExample  context = 1: Features; feature_lists = 2: map of entries to FeatureList
//   FeatureList      feature = 1, repeated
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "wire.hpp"

namespace tfreel {

// The numbers are those of the fields of Feature.
enum class Kind : std::uint8_t { none = 0, bytes = 1, floats = 2, ints = 3 };

// One entry of a map: a key, and a message as its value.
struct MapEntry {
  Bytes key;
  Bytes value;          // if there is just one, or none (then it is empty)
  bool merged = false;  // there are several: they have to be merged, from `whole`
  Bytes whole = {};
};

// Takes apart the bytes of one entry.
MapEntry read_entry(Bytes entry);
// Throws if a key is not UTF-8, which protobuf does not allow.
void require_utf8(Bytes key);

// Calls `on_field(Bytes)` with each field of that number which has a length. Others are passed
// over.
template <typename OnField>
void for_each_field(Bytes message, std::uint32_t number, OnField&& on_field) {
  for (WireCursor cursor(message); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.is(number, WireType::length)) {
      on_field(cursor.take_bytes());
    } else {
      cursor.skip(tag);
    }
  }
}

// Calls `on_entry(Bytes)` with each entry of the maps in field `map_field` of `message`: of Example
// the one map is in field 1, of SequenceExample the two are in fields 1 and 2.
template <typename OnEntry>
void for_each_entry(Bytes message, std::uint32_t map_field, OnEntry&& on_entry) {
  for_each_field(message, map_field, [&](Bytes map) { for_each_field(map, 1, on_entry); });
}

// A feature of the shape that writers give it: one list, in one piece.
struct SimpleFeature {
  Kind kind = Kind::none;
  Bytes run;  // of ints and floats, the packed values; of bytes, the fields of the list
};
// Whether the feature is a short list of this kind of numbers, as most are: tag and length of the
// list, tag and length of the run, in one comparison.
inline constexpr std::size_t kShortListHead = 4;
inline bool is_short_list(Bytes feature, Kind kind) noexcept {
  const std::size_t size = feature.size();
  if (size < kShortListHead || size >= 0x80) return false;
  std::uint32_t head;
  std::memcpy(&head, feature.data(), sizeof head);
  const auto tag =
      std::to_integer<std::uint32_t>(tag_byte(static_cast<std::uint32_t>(kind), WireType::length));
  const auto run_tag = std::to_integer<std::uint32_t>(tag_byte(1, WireType::length));
  return head == (tag | static_cast<std::uint32_t>(size - 2) << 8 | run_tag << 16 |
                  static_cast<std::uint32_t>(size - 4) << 24);
}

// What stands before the numbers of a feature of so many floats, as writers write it: tag and
// length of the list, tag and length of the run. Where the number is known, so is all of this.
class FloatsHead {
 public:
  FloatsHead() = default;
  // Nothing begins with the head of no floats, or of more than a message can hold.
  explicit FloatsHead(std::size_t count) noexcept;

  std::size_t size() const noexcept { return size_; }
  bool begins(Bytes feature) const noexcept {
    return size_ != 0 && feature.size() == whole_ &&
           std::memcmp(feature.data(), bytes_.data(), size_) == 0;
  }

 private:
  static constexpr std::size_t kMost = 12;
  std::array<std::byte, kMost> bytes_{};
  std::size_t size_ = 0;
  std::size_t whole_ = 0;  // the size of the feature
};

// The feature as such, if it is one. Nothing is said about what is in the run.
std::optional<SimpleFeature> read_any_simple(Bytes feature);
inline std::optional<SimpleFeature> read_simple(Bytes feature) {
  for (const Kind kind : {Kind::ints, Kind::floats}) {
    if (is_short_list(feature, kind)) return SimpleFeature{kind, feature.subspan(kShortListHead)};
  }
  return read_any_simple(feature);
}

// How many floats a run holds; throws if the last is not whole.
inline std::size_t count_floats(Bytes run) {
  if (run.size() % sizeof(float) != 0) {
    throw Malformed{run.data(), "a run of floats that does not end with one"};
  }
  return run.size() / sizeof(float);
}
// How many values a run holds, checked as far as counting needs it. Nothing if it is not simple
// after all (a list of bytes may hold unknown fields).
std::optional<std::size_t> count_values(const SimpleFeature& feature);

// Throws unless the run is made of whole varints, none of them too long.
void require_varints(Bytes run);
// Writes the values of a run that holds `count`; throws if that is not so.
void read_ints(Bytes run, std::size_t count, std::int64_t* out);
void read_floats(Bytes run, std::size_t count, float* out);
template <typename OnValue>
void read_bytes(Bytes run, OnValue&& on_value) {
  for (WireCursor cursor(run); !cursor.done();) {
    cursor.take_tag();
    on_value(cursor.take_bytes());
  }
}

// An entry that is short enough for all of its lengths to take one byte, and of the shape that
// writers give it: key, then value, with one packed run or one bytes value.
struct ShortEntry {
  Bytes key;
  Kind kind;
  Bytes value;  // the run, or the bytes
};
inline std::optional<ShortEntry> read_short_entry(Bytes entry) noexcept {
  constexpr std::size_t kTagsAndLengths = 8;
  constexpr std::byte kFirst = tag_byte(1, WireType::length);
  constexpr std::byte kSecond = tag_byte(2, WireType::length);
  constexpr std::byte kThird = tag_byte(3, WireType::length);
  const std::size_t size = entry.size();
  if (size < kTagsAndLengths || size > 127 || entry[0] != kFirst) return {};
  const auto key_size = std::to_integer<std::size_t>(entry[1]);
  if (key_size > size - kTagsAndLengths) return {};
  const Bytes value = entry.subspan(2 + key_size);
  // Whether the field whose length is at `i` reaches just to the end.
  const auto fills = [&](std::size_t i) {
    return std::to_integer<std::size_t>(value[i]) == value.size() - i - 1;
  };
  if (value[0] != kSecond || !fills(1) || !fills(3) || value[4] != kFirst || !fills(5)) return {};
  const std::byte kind = value[2];
  if (kind != kFirst && kind != kSecond && kind != kThird) return {};
  return ShortEntry{entry.subspan(2, key_size), static_cast<Kind>(std::to_integer<int>(kind) >> 3),
                    value.subspan(6)};
}

// The values of any feature, however it is written.
struct Values {
  Kind kind = Kind::none;
  std::vector<Bytes> bytes;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;

  std::size_t size() const noexcept { return bytes.size() + floats.size() + ints.size(); }
  std::size_t capacity() const noexcept {
    return bytes.capacity() + floats.capacity() + ints.capacity();
  }
  void clear() noexcept;
  // Merges a Feature into what is there, as protobuf does.
  void merge(Bytes feature);
  // All of an entry's values; for a FeatureList's features, use `merge` on each.
  void gather(const MapEntry& entry);
};

// Calls `on_feature(Bytes)` with each feature of a FeatureList.
template <typename OnFeature>
void for_each_feature(Bytes list, OnFeature&& on_feature) {
  for_each_field(list, 1, on_feature);
}

// Calls `on_value(Bytes)` with each value of an entry: more than one has to be merged.
template <typename OnValue>
void for_each_value(const MapEntry& entry, OnValue&& on_value) {
  if (!entry.merged) return on_value(entry.value);
  for_each_field(entry.whole, 2, on_value);
}

}  // namespace tfreel
