// The TFRecord frame: how one record lies in a file.
//
//   length   u64   little-endian
//   check    u32   masked CRC-32C of the eight length bytes
//   payload  length bytes
//   check    u32   masked CRC-32C of the payload
//
// A file is nothing but frames: no header, no footer, no sync marker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crc32c.hpp"
#include "cursor.hpp"

namespace tfreel {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kFooterBytes = 4;
inline constexpr std::size_t kFrameOverhead = kHeaderBytes + kFooterBytes;

// No payload may be longer: with its frame it would not fit a file offset.
inline constexpr std::uint64_t kLongestPayload =
    (std::uint64_t{1} << 63) - 1 - std::uint64_t{kFrameOverhead};

struct Header {
  std::uint64_t length;
  std::uint32_t stored;    // checksum as the file has it
  std::uint32_t computed;  // checksum as it should be
  bool sound() const noexcept { return stored == computed; }
};

// The header in the first kHeaderBytes of `bytes`, which must hold that many.
inline Header read_header(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  const std::uint64_t length = cursor.take_u64();
  const std::uint32_t stored = cursor.take_u32();
  return {length, stored, mask_crc(crc32c_u64(length))};
}

// The checksum in the last kFooterBytes of `frame`, which must hold that many.
inline std::uint32_t read_footer(std::span<const std::byte> frame) {
  return Cursor(frame.last(kFooterBytes)).take_u32();
}

// Writes the header for a payload of `length` bytes to the first kHeaderBytes of `out`.
void write_header(std::uint64_t length, std::span<std::byte> out);

// Writes the footer for `payload` to the first kFooterBytes of `out`.
void write_footer(std::span<const std::byte> payload, std::span<std::byte> out);

// Writes header, payload and footer to `out`, which must be just as long.
void write_frame(std::span<const std::byte> payload, std::span<std::byte> out);

}  // namespace tfreel
