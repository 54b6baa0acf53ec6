#include "frame.hpp"

#include <algorithm>
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

void write_frame(std::span<const std::byte> payload, std::span<std::byte> out) {
  write_header(payload.size(), out);
  std::copy(payload.begin(), payload.end(), out.begin() + kHeaderBytes);
  write_footer(payload, out.last(kFooterBytes));
}

}  // namespace tfreel
