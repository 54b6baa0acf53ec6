// What can be wrong with a stream of frames, as a value: whoever reads decides whether it is an
// error, a note in a report or a reason to stop.
#pragma once

#include <cstdint>
#include <string_view>

namespace tfreel {

enum class FaultKind : std::uint8_t {
  truncated_header,  // fewer than twelve bytes where a record should begin
  truncated_body,    // the stream ends inside a record
  length_crc,        // the header's checksum does not match
  data_crc,          // the payload's checksum does not match
  record_too_large,  // the header is sound and claims more than is allowed
  zero_filled_tail,  // nothing but zero bytes to the end of the stream
  index_stale,       // a sound record, but not the one the index promised
};

constexpr std::string_view fault_name(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::truncated_header:
      return "truncated_header";
    case FaultKind::truncated_body:
      return "truncated_body";
    case FaultKind::length_crc:
      return "length_crc";
    case FaultKind::data_crc:
      return "data_crc";
    case FaultKind::record_too_large:
      return "record_too_large";
    case FaultKind::zero_filled_tail:
      return "zero_filled_tail";
    case FaultKind::index_stale:
      return "index_stale";
  }
  return "unknown";
}

struct Fault {
  FaultKind kind;
  std::uint64_t record;        // ordinal of the damaged record
  std::uint64_t begin;         // stream offset of its first header byte
  std::uint64_t end;           // one past the last byte given up because of it
  std::uint32_t expected = 0;  // checksum the file stores (masked), for the two crc kinds
  std::uint32_t actual = 0;    // checksum of what is there (masked)
  std::uint64_t wanted = 0;  // bytes the record needs, for the truncated kinds and record_too_large
  std::uint64_t present = 0;  // bytes that are there (or allowed)
};

}  // namespace tfreel
