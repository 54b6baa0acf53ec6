#include "encode.hpp"

#include <algorithm>
#include <stdexcept>

namespace tfreel {
namespace {

constexpr std::size_t kSmallestBuffer = 1024;

constexpr const char* kTooLong = "an Example may have 2 GiB less one byte; this one has more";

constexpr std::uint32_t field_of(Kind kind) noexcept { return static_cast<std::uint32_t>(kind); }

}  // namespace

void WireWriter::grow(std::size_t count) {
  const std::size_t held = size();
  if (count > kLongestMessage - held) throw std::length_error(kTooLong);
  const std::size_t wider =
      std::max({held + count, std::min(2 * capacity_, kLongestMessage), kSmallestBuffer});
  auto data = std::make_unique_for_overwrite<std::byte[]>(wider);
  if (held != 0) std::memcpy(data.get() + wider - held, data_.get() + at_, held);
  data_ = std::move(data);
  at_ = wider - held;
  capacity_ = wider;
}

void close_packed(WireWriter& writer, Kind kind, std::size_t before) {
  if (writer.size() != before) writer.close(1, before);
  writer.close(field_of(kind), before);
}

void write_floats(WireWriter& writer, std::span<const float> values) {
  const std::size_t before = writer.size();
  writer.put_bytes(std::as_bytes(values));
  close_packed(writer, Kind::floats, before);
}

void write_bytes_list(WireWriter& writer, std::span<const Bytes> values) {
  const std::size_t before = writer.size();
  for (std::size_t i = values.size(); i-- > 0;) {
    const std::size_t behind = writer.size();
    writer.put_bytes(values[i]);
    writer.close(1, behind);
  }
  writer.close(field_of(Kind::bytes), before);
}

namespace {

// Key and value together: tags and lengths add at most 12 bytes, and 127 is the largest length that
// takes one byte.
constexpr std::size_t kShortEntry = 112;

// All of a short entry but its value, for which there is room where this points to. A packed run
// and a bytes value look the same from here.
std::byte* open_short_entry(WireWriter& writer, Bytes key, Kind kind, std::size_t value_size) {
  const auto byte = [](std::size_t size) { return static_cast<std::byte>(size); };
  constexpr std::byte kFirst = tag_byte(1, WireType::length);
  const std::size_t list = value_size + 2;
  const std::size_t feature = list + 2;
  const std::size_t entry = key.size() + feature + 4;
  std::byte* to = writer.take(entry + 2);
  *to++ = kFirst;
  *to++ = byte(entry);
  *to++ = kFirst;
  *to++ = byte(key.size());
  to = std::copy(key.begin(), key.end(), to);
  *to++ = tag_byte(2, WireType::length);
  *to++ = byte(feature);
  *to++ = tag_byte(field_of(kind), WireType::length);
  *to++ = byte(list);
  *to++ = kFirst;
  *to++ = byte(value_size);
  return to;
}

}  // namespace

bool write_short_entry(WireWriter& writer, Bytes key, std::int64_t value) {
  const auto number = static_cast<std::uint64_t>(value);
  const std::size_t size = varint_size(number);
  if (key.size() + size > kShortEntry) return false;
  write_varint(open_short_entry(writer, key, Kind::ints, size), number);
  return true;
}

bool write_short_entry(WireWriter& writer, Bytes key, float value) {
  if (key.size() + sizeof value > kShortEntry) return false;
  std::memcpy(open_short_entry(writer, key, Kind::floats, sizeof value), &value, sizeof value);
  return true;
}

bool write_short_entry(WireWriter& writer, Bytes key, Bytes value) {
  if (value.size() > kShortEntry || key.size() + value.size() > kShortEntry) return false;
  std::byte* to = open_short_entry(writer, key, Kind::bytes, value.size());
  std::copy(value.begin(), value.end(), to);
  return true;
}

}  // namespace tfreel
