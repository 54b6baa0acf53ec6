// Writing Example and SequenceExample (their fields are drawn in example.hpp).
//
// A message is written from its end to its front: on the wire a length stands before what it
// measures, and this way every length is known when its turn comes. Nothing is measured first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "example.hpp"
#include "wire.hpp"

namespace tfreel {

// The bytes of a message that grows at its front.
class WireWriter {
 public:
  std::size_t size() const noexcept { return capacity_ - at_; }
  Bytes bytes() const noexcept { return {data_.get() + at_, size()}; }
  std::size_t capacity() const noexcept { return capacity_; }
  void clear() noexcept { at_ = capacity_; }

  // Room for `count` bytes before all others, for the caller to fill. Throws std::length_error when
  // the message gets longer than any message may be.
  std::byte* take(std::size_t count) {
    if (count > at_) grow(count);
    at_ -= count;
    return data_.get() + at_;
  }

  void put_byte(std::byte byte) { *take(1) = byte; }
  void put_bytes(Bytes bytes) {
    std::byte* to = take(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  void put_varint(std::uint64_t value) {
    if (value < 0x80) return put_byte(static_cast<std::byte>(value));
    write_varint(take(varint_size(value)), value);
  }
  // Makes a field of what was written since the size was `before`.
  void close(std::uint32_t field, std::size_t before) {
    put_varint(size() - before);
    put_byte(tag_byte(field, WireType::length));
  }

 private:
  void grow(std::size_t count);

  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_ = 0;
  std::size_t at_ = 0;
};

// Ends a list of numbers: they are packed, that is, one field; without numbers there is none.
void close_packed(WireWriter& writer, Kind kind, std::size_t before);

// The content of a Feature: one list of values. Integers of any type must be within int64.
template <typename Integer>
void write_ints(WireWriter& writer, std::span<const Integer> values) {
  const std::size_t before = writer.size();
  for (std::size_t i = values.size(); i-- > 0;) {
    writer.put_varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i])));
  }
  close_packed(writer, Kind::ints, before);
}
void write_floats(WireWriter& writer, std::span<const float> values);
void write_bytes_list(WireWriter& writer, std::span<const Bytes> values);

// Makes an entry of a map of what was written since the size was `before`.
inline void close_entry(WireWriter& writer, Bytes key, std::size_t before) {
  writer.close(2, before);
  const std::size_t behind_key = writer.size();
  writer.put_bytes(key);
  writer.close(1, behind_key);
  writer.close(1, before);
}

// An entry with one value, if key and value are so short that no length in it takes more than a
// byte: then all of it is written in one go. False, and nothing done, if they are longer.
bool write_short_entry(WireWriter& writer, Bytes key, std::int64_t value);
bool write_short_entry(WireWriter& writer, Bytes key, float value);
bool write_short_entry(WireWriter& writer, Bytes key, Bytes value);

}  // namespace tfreel
