// Rows of bytes on their way through a shuffle buffer: out of the slots in which they were kept, or
// straight through, and into the slots that were left. See shuffle_buffer.hpp for how they are
// called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tfreel {

// Rows of one size, one behind the other.
template <typename Byte>
struct Rows {
  std::span<Byte> bytes;
  std::size_t row_bytes;

  std::size_t size() const noexcept { return row_bytes == 0 ? 0 : bytes.size() / row_bytes; }
  std::span<Byte> operator[](std::size_t i) const noexcept {
    return bytes.subspan(i * row_bytes, row_bytes);
  }
};

// Copies the rows that leave to `out`, in their order: the slot of that number, or behind all slots
// (from `capacity` on) the newcomer. False, and nothing copied, if a number is too large.
bool copy_leaving(Rows<const std::byte> slots, Rows<const std::byte> newcomers,
                  std::uint64_t capacity, std::span<const std::uint64_t> leaving,
                  Rows<std::byte> out) noexcept;

// Copies the newcomers that stay into their slots. False, and nothing copied, if a number is too
// large.
bool copy_staying(Rows<const std::byte> newcomers, std::span<const std::uint64_t> staying,
                  std::span<const std::uint64_t> places, Rows<std::byte> slots) noexcept;

}  // namespace tfreel
