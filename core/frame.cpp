#include "frame.hpp"

#include <cstring>

#include "crc32c.hpp"
#include "cursor.hpp"

namespace tfreel {

Header read_header(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  const std::uint64_t length = cursor.take_u64();
  const std::uint32_t stored = cursor.take_u32();
  return {length, stored, mask_crc(crc32c_u64(length))};
}

void write_header(std::uint64_t length, std::span<std::byte> out) {
  const std::uint32_t check = mask_crc(crc32c_u64(length));
  std::memcpy(out.first(sizeof length).data(), &length, sizeof length);
  std::memcpy(out.subspan(sizeof length, sizeof check).data(), &check, sizeof check);
}

void write_footer(std::span<const std::byte> payload, std::span<std::byte> out) {
  const std::uint32_t check = mask_crc(crc32c(payload));
  std::memcpy(out.first(sizeof check).data(), &check, sizeof check);
}

}  // namespace tfreel
