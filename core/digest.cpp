#include "digest.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "blake2b.hpp"
#include "example.hpp"

namespace tfreel {
namespace {

Digest finished(Blake2b& hash) noexcept {
  Digest digest;
  hash.finish(std::as_writable_bytes(std::span(digest)));
  return digest;
}

std::string_view text_of(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Hashes the features of one record. Every part comes after its length, so that no two different
// contents are the same row of bytes.
class ContentHash {
 public:
  // Whether the record has features at all. Throws Malformed if it is no message.
  bool add_record(Bytes record) {
    bool any = false;
    for (const std::uint32_t map_field : {1u, 2u}) {
      gather_entries(record, map_field);
      any = any || !entries_.empty();
      add_entries(map_field == 2);
    }
    return any;
  }

  Digest finish() noexcept { return finished(hash_); }

 private:
  void gather_entries(Bytes record, std::uint32_t map_field) {
    entries_.clear();
    for_each_entry(record, map_field, [&](Bytes bytes) {
      entries_.push_back(read_entry(bytes));
      require_utf8(entries_.back().key);
    });
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const auto& a, const auto& b) { return text_of(a.key) < text_of(b.key); });
  }

  void add_entries(bool lists) {
    hash_.update(std::uint64_t{lists});
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      // Of entries with one name the last counts. The others still have to be sound.
      const bool counts =
          i + 1 == entries_.size() || text_of(entries_[i].key) != text_of(entries_[i + 1].key);
      Blake2b& to = counts ? hash_ : shadowed_;
      add_bytes(to, entries_[i].key);
      lists ? add_list(to, entries_[i]) : add_feature(to, entries_[i]);
    }
    hash_.update(~std::uint64_t{0});  // no name is so long
  }

  static void add_bytes(Blake2b& to, Bytes bytes) noexcept {
    to.update(std::uint64_t{bytes.size()});
    to.update(bytes);
  }

  void add_feature(Blake2b& to, const MapEntry& entry) {
    if (!entry.merged) return add_feature(to, entry.value);
    values_.gather(entry);
    add_values(to);
  }

  void add_feature(Blake2b& to, Bytes feature) {
    values_.clear();
    values_.merge(feature);
    add_values(to);
  }

  void add_list(Blake2b& to, const MapEntry& entry) {
    steps_.clear();
    for_each_value(entry, [&](Bytes list) {
      for_each_feature(list, [&](Bytes feature) { steps_.push_back(feature); });
    });
    to.update(std::uint64_t{steps_.size()});
    for (const Bytes feature : steps_) add_feature(to, feature);
  }

  void add_values(Blake2b& to) noexcept {
    to.update(static_cast<std::uint64_t>(values_.kind));
    to.update(std::uint64_t{values_.size()});
    to.update(std::as_bytes(std::span(values_.ints)));
    to.update(std::as_bytes(std::span(values_.floats)));
    for (const Bytes value : values_.bytes) add_bytes(to, value);
  }

  Blake2b hash_{sizeof(Digest)};
  Blake2b shadowed_{sizeof(Digest)};
  std::vector<MapEntry> entries_;
  std::vector<Bytes> steps_;
  Values values_;
};

}  // namespace

Digest digest_of_bytes(Bytes record) noexcept {
  Blake2b hash(sizeof(Digest));
  hash.update(record);
  return finished(hash);
}

Digest digest_of_content(Bytes record) {
  try {
    ContentHash hash;
    if (hash.add_record(record)) return hash.finish();
  } catch (const Malformed&) {
    // Then it is not features that it holds.
  }
  return digest_of_bytes(record);
}

std::size_t count_equal(const Block& a, std::size_t i, const Block& b, std::size_t j) {
  std::size_t count = 0;
  for (; i < a.size() && j < b.size(); ++i, ++j, ++count) {
    if (a.entries()[i].checksum != b.entries()[j].checksum) break;  // most often, this tells
    const Bytes one = a.payload(i);
    const Bytes other = b.payload(j);
    if (one.size() != other.size()) break;
    if (!one.empty() && std::memcmp(one.data(), other.data(), one.size()) != 0) break;
  }
  return count;
}

void StrongSum::add(Bytes record) noexcept {
  constexpr std::size_t kParts = sizeof(words_) / Blake2b::kMostBytes;
  std::array<std::byte, 32> digest;
  Blake2b of_record(digest.size());
  of_record.update(record);
  of_record.finish(digest);
  StrongSum one;
  for (std::size_t part = 0; part < kParts; ++part) {
    Blake2b longer(Blake2b::kMostBytes);
    longer.update(digest);
    longer.update(std::uint64_t{part});
    longer.finish(
        std::as_writable_bytes(std::span(one.words_)).subspan(part * Blake2b::kMostBytes));
  }
  merge(one);
}

void StrongSum::merge(const StrongSum& other) noexcept {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t sum = words_[i] + other.words_[i];
    const std::uint64_t total = sum + carry;
    carry = static_cast<std::uint64_t>(sum < words_[i]) | static_cast<std::uint64_t>(total < sum);
    words_[i] = total;
  }
}

std::array<std::byte, 32> StrongSum::digest() const noexcept {
  std::array<std::byte, 32> digest;
  Blake2b hash(digest.size());
  hash.update(std::as_bytes(std::span(words_)));
  hash.finish(digest);
  return digest;
}

}  // namespace tfreel
