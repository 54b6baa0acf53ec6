// Protobuf's wire format: a message is a row of fields, each a tag (number and type) and a value.
// Like Cursor, this is a place that walks through bytes from outside, so every step is checked.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tfreel {

using Bytes = std::span<const std::byte>;

// Bytes that are not what a message may hold: where, and why. Thrown by whoever walks through them.
struct Malformed {
  const std::byte* at;
  const char* why;
};

// No message may be longer: protobuf's own limit.
inline constexpr std::size_t kLongestMessage = (std::size_t{1} << 31) - 1;
// Groups in groups are skipped to this depth, as protobuf does.
inline constexpr std::size_t kDeepestGroup = 100;
inline constexpr std::size_t kLongestVarint = 10;

enum class WireType : std::uint8_t { varint, fixed64, length, start_group, end_group, fixed32 };

struct Tag {
  std::uint32_t field;
  WireType type;
  bool is(std::uint32_t wanted_field, WireType wanted_type) const noexcept {
    return field == wanted_field && type == wanted_type;
  }
};

// The tag, as the one byte that it takes for a field below 16.
constexpr std::byte tag_byte(std::uint32_t field, WireType type) noexcept {
  return static_cast<std::byte>(field << 3 | static_cast<std::uint32_t>(type));
}

inline std::size_t varint_size(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}
inline void write_varint(std::byte* to, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::byte>(value | 0x80);
  *to = static_cast<std::byte>(value);
}

// The seven lower bits of each of eight bytes, one behind the other.
inline std::uint64_t join_groups(std::uint64_t word) noexcept {
  word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
  word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
  return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

class WireCursor {
 public:
  explicit WireCursor(Bytes bytes) noexcept : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool done() const noexcept { return at_ == end_; }
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  const std::byte* position() const noexcept { return at_; }
  Bytes rest() const noexcept { return {at_, remaining()}; }
  // Whether the next byte is this one; only looks.
  bool sees(std::byte byte) const noexcept { return at_ != end_ && *at_ == byte; }

  std::uint64_t take_varint() {
    if (at_ != end_ && *at_ < std::byte{0x80}) return std::to_integer<std::uint64_t>(*at_++);
    if (remaining() >= sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, at_, sizeof word);
      // The highest bit of each byte says that another one follows. Up to eight bytes are taken
      // without a branch on their number, which would often be mispredicted.
      const std::uint64_t ends = ~word & 0x8080808080808080;
      if (ends != 0) {
        const int last_bit = std::countr_zero(ends);
        at_ += last_bit / 8 + 1;
        return join_groups(word & (ends ^ (ends - 1)));
      }
    }
    return take_long_varint(kLongestVarint, ~std::uint64_t{0});
  }

  Tag take_tag() {
    const std::byte* begin = at_;
    const bool is_short = at_ != end_ && *at_ < std::byte{0x80};
    const std::uint64_t tag =
        is_short ? std::to_integer<std::uint64_t>(*at_++) : take_long_varint(5, 0xffffffff);
    const auto type = static_cast<std::uint8_t>(tag & 7);
    if (tag >> 3 == 0) throw Malformed{begin, "field number 0"};
    if (type > 5) throw Malformed{begin, "unknown wire type"};
    return {static_cast<std::uint32_t>(tag >> 3), static_cast<WireType>(type)};
  }

  // The bytes of a value with a length.
  Bytes take_bytes() {
    const std::byte* begin = at_;
    const bool is_short = at_ != end_ && *at_ < std::byte{0x80};
    const std::uint64_t size =
        is_short ? std::to_integer<std::uint64_t>(*at_++) : take_long_varint(5, kLongestMessage);
    if (size > remaining()) throw Malformed{begin, "a length that goes past the end"};
    return take(static_cast<std::size_t>(size));
  }

  // Bytes that are known to be there.
  Bytes take(std::size_t size) noexcept {
    const Bytes taken{at_, size};
    at_ += size;
    return taken;
  }

  template <typename Fixed>
  Fixed take_fixed() {
    if (remaining() < sizeof(Fixed)) throw Malformed{at_, "a number that goes past the end"};
    Fixed value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  // Steps over the value of a field whose tag was taken. Groups are counted, not entered, so that
  // their depth costs no stack.
  void skip(Tag tag) {
    if (tag.type != WireType::start_group) return skip_flat(tag);
    std::array<std::uint32_t, kDeepestGroup> open;
    std::size_t depth = 0;
    while (true) {
      const std::byte* begin = at_;
      if (tag.type == WireType::start_group) {
        if (depth == kDeepestGroup) throw Malformed{begin, "groups nested too deeply"};
        open[depth++] = tag.field;
      } else if (tag.type == WireType::end_group) {
        if (open[depth - 1] != tag.field) throw Malformed{begin, "a group that ends as another"};
        if (--depth == 0) return;
      } else {
        skip_flat(tag);
      }
      if (done()) throw Malformed{at_, "a group without an end"};
      tag = take_tag();
    }
  }

 private:
  void skip_flat(Tag tag) {
    switch (tag.type) {
      case WireType::varint:
        take_varint();
        return;
      case WireType::fixed64:
        take_fixed<std::uint64_t>();
        return;
      case WireType::length:
        take_bytes();
        return;
      case WireType::fixed32:
        take_fixed<std::uint32_t>();
        return;
      case WireType::start_group:
      case WireType::end_group:
        throw Malformed{at_, "the end of a group that did not begin"};
    }
  }

  // Of a tenth byte only one bit has room; like protobuf, this lets the others go.
  std::uint64_t take_long_varint(std::size_t most_bytes, std::uint64_t most) {
    const std::byte* begin = at_;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < most_bytes; ++i) {
      if (at_ == end_) throw Malformed{begin, "a number that goes past the end"};
      const auto byte = std::to_integer<std::uint64_t>(*at_++);
      value |= (byte & 0x7f) << 7 * i;
      if (byte >= 0x80) continue;
      if (value > most) throw Malformed{begin, "a number that is too large"};
      return value;
    }
    throw Malformed{begin, "a number that is too long"};
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace tfreel
