// The entries of a map, record after record: which of the features asked for is each of them?
// Records of one writer mostly have the same entries in the same order, and of the same size. So
// the record before says what to expect, and one comparison tells whether that is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "example.hpp"
#include "names.hpp"

namespace tfreel {

class MapReader {
 public:
  // Looks for these features, which are called so. The names must outlive this.
  MapReader(std::vector<std::size_t> features, std::span<const std::string_view> names)
      : features_(std::move(features)), names_(names) {}

  // Reads the entries of the features asked for, of the map in that field of the record. Of values
  // in one piece it calls `sink.take_value(feature, Bytes)`, or `sink.take_any` where features come
  // in any order; of others `sink.take_entry(feature, const MapEntry&)`. Rows only grow, and their
  // records outlive this.
  template <typename Sink>
  void read(Bytes record, std::uint32_t field, std::size_t row, Sink& sink) {
    row_ = row;
    std::size_t position = 0;
    const auto read_all = [&](auto&& read_usual) {
      for_each_field(record, field, [&](Bytes map) {
        for (WireCursor cursor(map); !cursor.done();) {
          cursor = read_usual(cursor);
          if (!cursor.done()) read_other(cursor, position, sink);
        }
      });
    };
    if (unordered_ >= kMostUnordered) {
      return read_all([&](WireCursor at) { return read_by_name(at, sink); });
    }
    strangers_ = 0;
    read_all([&](WireCursor at) { return read_expected(at, position, sink); });
    if (strangers_ > position / 2) ++unordered_;
  }

 private:
  // What is thought of the entry at some position of a record.
  struct Guess {
    std::size_t feature = kNobody;
    Bytes head;  // tag, length and letters of the name, and the tag of the value
    // All that stands before the value, from the tag of the entry on: where that is the same, so
    // is the size, and the next entry begins where it is expected, without a look at lengths.
    Bytes front = {};
    std::size_t whole = kNobody;  // the size of the entry with its tag; kNobody without a front
    bool varies = false;          // no front is right for long
    std::size_t missed = 0;       // the row in which the front was last wrong
    std::size_t misses = 0;       // how often it was in a short time
  };

  // Reads entries for as long as they are what is expected. This is where most of the time goes:
  // nothing that the next entry needs is kept in memory.
  template <typename Sink>
  WireCursor read_expected(WireCursor cursor, std::size_t& position, Sink& sink) const {
    const auto guesses = std::span(guesses_).subspan(std::min(position, guesses_.size()));
    auto guess = guesses.begin();
    for (; guess != guesses.end(); ++guess) {
      const auto [value, size] = expected(cursor.rest(), *guess);
      if (size == 0) break;
      cursor.take(size);
      if (guess->feature != kNobody) sink.take_value(guess->feature, value);
    }
    position += static_cast<std::size_t>(guess - guesses.begin());
    return cursor;
  }

  // Reads entries for as long as they are short and written in the usual way, whatever their order.
  template <typename Sink>
  WireCursor read_by_name(WireCursor cursor, Sink& sink) const {
    while (!cursor.done()) {
      const Bytes entry = short_entry(cursor.rest());
      const std::size_t head = usual_head(entry);
      if (head == 0) break;
      const Bytes value = entry.subspan(head + 1);
      if (std::to_integer<std::size_t>(entry[head]) != value.size()) break;
      const std::size_t feature = feature_called(entry.subspan(2, head - 3));
      cursor.take(kShortEntryHead + entry.size());
      if (feature != kNobody) sink.take_any(feature, value);
    }
    return cursor;
  }

  struct Expected {
    Bytes value;
    std::size_t size = 0;  // of all of the entry; 0 if another one stands there
  };
  static Expected expected(Bytes bytes, const Guess& guess) noexcept {
    if (guess.varies) {
      const Bytes entry = short_entry(bytes);
      const std::size_t head = guess.head.size();
      if (entry.size() <= head || !same_bytes(entry.data(), guess.head.data(), head)) return {};
      const Bytes value = entry.subspan(head + 1);
      if (std::to_integer<std::size_t>(entry[head]) != value.size()) return {};
      return {value, kShortEntryHead + entry.size()};
    }
    const Bytes front = guess.front;
    if (guess.whole > bytes.size() || !same_bytes(bytes.data(), front.data(), front.size())) {
      return {};
    }
    return {bytes.subspan(front.size(), guess.whole - front.size()), guess.whole};
  }

  // The length of what stands before the value's length in an entry as writers write it: tag,
  // length and letters of the name, and the tag of the value. 0 if it is written otherwise.
  static std::size_t usual_head(Bytes entry) noexcept {
    constexpr std::byte kNameTag = tag_byte(1, WireType::length);
    constexpr std::byte kValueTag = tag_byte(2, WireType::length);
    if (entry.size() < 4 || entry[0] != kNameTag || entry[1] >= std::byte{0x80}) return 0;
    const std::size_t head = std::to_integer<std::size_t>(entry[1]) + 3;
    return entry.size() > head && entry[head - 1] == kValueTag ? head : 0;
  }

  // The entry in front, if its tag and length take one byte each; nothing if not.
  static constexpr std::size_t kShortEntryHead = 2;
  static Bytes short_entry(Bytes bytes) noexcept {
    constexpr std::byte kTag = tag_byte(1, WireType::length);
    if (bytes.size() < kShortEntryHead || bytes[0] != kTag || bytes[1] >= std::byte{0x80})
      return {};
    const auto size = std::to_integer<std::size_t>(bytes[1]);
    if (size > bytes.size() - kShortEntryHead) return {};
    return bytes.subspan(kShortEntryHead, size);
  }

  // Reads an entry that was not expected, and learns from it; or passes over what is none.
  template <typename Sink>
  void read_other(WireCursor& cursor, std::size_t& position, Sink& sink) {
    const std::byte* begin = cursor.position();
    const Tag tag = cursor.take_tag();
    if (!tag.is(1, WireType::length)) return cursor.skip(tag);
    const auto [feature, entry] = look_at(begin, cursor.take_bytes(), position++);
    if (feature == kNobody) return;
    if (entry.merged) {
      sink.take_entry(feature, entry);
    } else {
      sink.take_value(feature, entry.value);
    }
  }

  std::pair<std::size_t, MapEntry> look_at(const std::byte* begin, Bytes entry,
                                           std::size_t position);
  std::size_t feature_called(Bytes name) const {
    const std::size_t slot = names_.find(name);
    if (slot != kNobody) return features_[slot];
    require_utf8(name);
    return kNobody;
  }
  Guess* guess_at(std::size_t position);
  void learn_front(Guess& guess, Bytes front, std::size_t whole) const noexcept;

  std::vector<std::size_t> features_;
  Names names_;
  std::vector<Guess> guesses_;
  std::size_t row_ = 0;
  std::size_t strangers_ = 0;  // entries of this record that are called otherwise than expected
  std::size_t unordered_ = 0;  // records that were full of them
  static constexpr std::size_t kMostUnordered = 16;  // before nothing is expected any more
};

}  // namespace tfreel
