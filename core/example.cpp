#include "example.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "utf8.hpp"

namespace tfreel {
namespace {

// A varint ends with the byte whose highest bit is clear.
std::size_t count_varints(Bytes run) noexcept {
  std::size_t going_on = 0;  // bytes that another one follows
  std::size_t i = 0;
  for (; i + 8 <= run.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, run.data() + i, sizeof word);
    // Of the product, the highest byte is the sum of all bytes of the other factor.
    going_on += (word >> 7 & 0x0101010101010101) * 0x0101010101010101 >> 56;
  }
  for (; i < run.size(); ++i) going_on += run[i] >= std::byte{0x80};
  return run.size() - going_on;
}

}  // namespace

void require_utf8(Bytes key) {
  const std::size_t valid = valid_utf8({reinterpret_cast<const char*>(key.data()), key.size()});
  if (valid != key.size()) throw Malformed{key.data() + valid, "a name that is not UTF-8"};
}

MapEntry read_entry(Bytes entry) {
  MapEntry found;
  found.whole = entry;
  bool has_value = false;
  for (WireCursor cursor(entry); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.is(1, WireType::length)) {
      require_utf8(found.key);  // if there was one: it does not count, but it has to be sound
      found.key = cursor.take_bytes();
    } else if (tag.is(2, WireType::length)) {
      found.value = cursor.take_bytes();
      found.merged = has_value;
      has_value = true;
    } else {
      cursor.skip(tag);
    }
  }
  return found;
}

FloatsHead::FloatsHead(std::size_t count) noexcept {
  if (count == 0 || count > (kLongestMessage - kMost) / sizeof(float)) return;
  const std::size_t run = count * sizeof(float);
  const std::size_t list = 1 + varint_size(run) + run;
  bytes_[0] = tag_byte(static_cast<std::uint32_t>(Kind::floats), WireType::length);
  write_varint(&bytes_[1], list);
  size_ = 1 + varint_size(list);
  bytes_[size_] = tag_byte(1, WireType::length);
  write_varint(&bytes_[size_ + 1], run);
  size_ += 1 + varint_size(run);
  whole_ = size_ + run;
}

std::optional<SimpleFeature> read_any_simple(Bytes feature) {
  WireCursor cursor(feature);
  if (cursor.done()) return SimpleFeature{};
  const Tag tag = cursor.take_tag();
  if (tag.type != WireType::length || tag.field > 3) return {};
  const Bytes list = cursor.take_bytes();
  if (!cursor.done()) return {};
  const SimpleFeature found{static_cast<Kind>(tag.field), list};
  if (found.kind == Kind::bytes || list.empty()) return found;
  WireCursor inner(list);
  if (!inner.sees(tag_byte(1, WireType::length))) return {};
  inner.take_tag();
  const Bytes run = inner.take_bytes();
  if (!inner.done()) return {};
  return SimpleFeature{found.kind, run};
}

std::optional<std::size_t> count_values(const SimpleFeature& feature) {
  switch (feature.kind) {
    case Kind::none:
      return 0;
    case Kind::floats:
      return count_floats(feature.run);
    case Kind::ints:
      if (!feature.run.empty() && feature.run.back() >= std::byte{0x80}) {
        throw Malformed{feature.run.data(), "a number that goes past the end"};
      }
      return count_varints(feature.run);
    case Kind::bytes:
      break;
  }
  std::size_t count = 0;
  for (WireCursor cursor(feature.run); !cursor.done(); ++count) {
    if (!cursor.sees(tag_byte(1, WireType::length))) return {};
    cursor.take_tag();
    cursor.take_bytes();
  }
  return count;
}

void require_varints(Bytes run) {
  for (WireCursor cursor(run); !cursor.done();) cursor.take_varint();
}

void read_ints(Bytes run, std::size_t count, std::int64_t* out) {
  WireCursor cursor(run);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int64_t>(cursor.take_varint());
  if (!cursor.done()) throw Malformed{cursor.position(), "more values than were counted"};
}

void read_floats(Bytes run, std::size_t count, float* out) {
  if (run.size() != count * sizeof(float)) throw Malformed{run.data(), "not as many floats"};
  if (count != 0) std::memcpy(out, run.data(), run.size());
}

namespace {

void add_ints(std::vector<std::int64_t>& ints, Bytes list) {
  for (WireCursor cursor(list); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.is(1, WireType::varint)) {
      ints.push_back(static_cast<std::int64_t>(cursor.take_varint()));
    } else if (tag.is(1, WireType::length)) {
      for (WireCursor run(cursor.take_bytes()); !run.done();) {
        ints.push_back(static_cast<std::int64_t>(run.take_varint()));
      }
    } else {
      cursor.skip(tag);
    }
  }
}

void add_floats(std::vector<float>& floats, Bytes list) {
  for (WireCursor cursor(list); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.is(1, WireType::fixed32)) {
      floats.push_back(cursor.take_fixed<float>());
    } else if (tag.is(1, WireType::length)) {
      const SimpleFeature run{Kind::floats, cursor.take_bytes()};
      const std::size_t before = floats.size();
      const std::size_t count = *count_values(run);
      floats.resize(before + count);
      read_floats(run.run, count, floats.data() + before);
    } else {
      cursor.skip(tag);
    }
  }
}

void add_bytes(std::vector<Bytes>& bytes, Bytes list) {
  for (WireCursor cursor(list); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.is(1, WireType::length)) {
      bytes.push_back(cursor.take_bytes());
    } else {
      cursor.skip(tag);
    }
  }
}

}  // namespace

void Values::clear() noexcept {
  kind = Kind::none;
  bytes.clear();
  floats.clear();
  ints.clear();
}

void Values::merge(Bytes feature) {
  for (WireCursor cursor(feature); !cursor.done();) {
    const Tag tag = cursor.take_tag();
    if (tag.type != WireType::length || tag.field > 3) {
      cursor.skip(tag);
      continue;
    }
    const Bytes list = cursor.take_bytes();
    const auto found = static_cast<Kind>(tag.field);
    if (found != kind) clear();
    kind = found;
    if (kind == Kind::ints) add_ints(ints, list);
    if (kind == Kind::floats) add_floats(floats, list);
    if (kind == Kind::bytes) add_bytes(bytes, list);
  }
}

void Values::gather(const MapEntry& entry) {
  clear();
  for_each_value(entry, [&](Bytes feature) { merge(feature); });
}

}  // namespace tfreel
