// CRC-32C (Castagnoli), the checksum of TFRecord files.
//
// Every function here is thread-safe, allocates nothing, and reads only the bytes it is given, at
// any alignment. The fastest implementation the CPU offers is picked at the first call; no
// compiler flag (-march and the like) is needed or consulted.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tfreel {

static_assert(std::endian::native == std::endian::little,
              "the CRC-32C code loads words as little-endian");

// CRC-32C of `bytes`, continuing from `crc`: the finished value of what came before, 0 at the
// start. So crc32c(b, crc32c(a)) is the CRC of a followed by b.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

// CRC-32C of the 8 little-endian bytes of `value`: what a TFRecord header holds, masked, beside
// its length. Inlines to a single instruction where the CPU has one.
std::uint32_t crc32c_u64(std::uint64_t value) noexcept;

// TFRecord stores checksums masked, so that a checksum over data that itself holds checksums does
// not degenerate: the CRC rotated right by 15 bits, plus a constant.
inline constexpr std::uint32_t kCrcMaskDelta = 0xa282ead8;

constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept {
  return std::rotr(crc, 15) + kCrcMaskDelta;
}

constexpr std::uint32_t unmask_crc(std::uint32_t masked) noexcept {
  return std::rotl(masked - kCrcMaskDelta, 15);
}

// One way to compute what crc32c() does, with the same meaning of `crc`.
struct Crc32cImplementation {
  std::string_view name;
  std::uint32_t (*extend)(std::uint32_t crc, const std::byte* data, std::size_t size) noexcept;
};

// Every implementation this CPU can run, best first: the first is the one crc32c() uses, the last
// is always the portable software one.
std::span<const Crc32cImplementation> crc32c_implementations() noexcept;

namespace crc32c_detail {

// Whether the CPU is known to have an instruction that takes a word into a CRC-32C. False until the
// first call of crc32c() has looked, and so safe to read even while statics are initialised.
extern constinit std::atomic<bool> has_word_instruction;

// crc32c_u64 by way of crc32c(), which also settles has_word_instruction.
std::uint32_t crc32c_u64_by_choice(std::uint64_t value) noexcept;

// That instruction, on the CRC's register as it is, not inverted. It is inline assembly because
// compilers do not inline its intrinsic into code for the baseline CPU, and a call would cost more
// than the instruction does.
#if defined(__x86_64__)
inline std::uint64_t extend_by_instruction(std::uint64_t state, std::uint64_t word) noexcept {
  asm("crc32q %1, %0" : "+r"(state) : "r"(word));
  return state;
}
#elif defined(__aarch64__)
inline std::uint64_t extend_by_instruction(std::uint64_t state, std::uint64_t word) noexcept {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(state) : "r"(word));
  return state;
}
#endif

}  // namespace crc32c_detail

inline std::uint32_t crc32c_u64(std::uint64_t value) noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
  if (crc32c_detail::has_word_instruction.load(std::memory_order_relaxed)) [[likely]] {
    return ~static_cast<std::uint32_t>(crc32c_detail::extend_by_instruction(0xffffffff, value));
  }
#endif
  return crc32c_detail::crc32c_u64_by_choice(value);
}

}  // namespace tfreel
