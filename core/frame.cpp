#include "frame.hpp"

#include <cstring>

namespace tfreel {

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
