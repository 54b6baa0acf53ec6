#include "crc32c.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

Bytes filled(std::size_t size, unsigned char first, int step) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(first + step * static_cast<int>(i));
  }
  return bytes;
}

// Bytes without a pattern, the same ones in every run.
Bytes scrambled(std::size_t size) {
  Bytes bytes(size);
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (auto& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state >> 32);
  }
  return bytes;
}

// The definition, a bit at a time.
std::uint32_t reference(std::span<const std::byte> bytes, std::uint32_t crc = 0) {
  crc = ~crc;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

// Checks an implementation on a copy of `bytes` that ends where its allocation does, `offset` bytes
// from a 64-byte boundary, so that the address sanitizer sees any read outside of it.
bool agrees(const Crc32cImplementation& implementation, std::span<const std::byte> bytes,
            std::size_t offset, std::uint32_t crc, std::uint32_t expected) {
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{64}); }
  };
  const std::unique_ptr<std::byte, Free> memory{
      static_cast<std::byte*>(::operator new(offset + bytes.size(), std::align_val_t{64}))};
  std::ranges::copy(bytes, memory.get() + offset);
  return implementation.extend(crc, memory.get() + offset, bytes.size()) == expected;
}

TEST(crc32c_gives_the_published_values) {
  CHECK_EQ(crc32c(filled(32, 0x00, 0)), 0x8a9136aau);
  CHECK_EQ(crc32c(filled(32, 0xff, 0)), 0x62a8ab43u);
  CHECK_EQ(crc32c(filled(32, 0, 1)), 0x46dd794eu);
  CHECK_EQ(crc32c(filled(32, 31, -1)), 0x113fdb5cu);
  CHECK_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  CHECK_EQ(crc32c({}), 0u);
}

TEST(masked_crcs_are_what_tfrecord_files_hold) {
  CHECK_EQ(mask_crc(crc32c(filled(8, 0, 0))), 0x07980329u);
  CHECK_EQ(mask_crc(crc32c_u64(0)), 0x07980329u);
  CHECK_EQ(mask_crc(crc32c({})), 0xa282ead8u);
}

TEST(unmask_crc_inverts_mask_crc) {
  static_assert(unmask_crc(mask_crc(0xe3069283)) == 0xe3069283);
  for (unsigned bit = 0; bit < 32; ++bit) {
    for (const std::uint32_t crc : {1u << bit, ~(1u << bit), (1u << bit) - 1}) {
      CHECK_EQ(unmask_crc(mask_crc(crc)), crc);
      CHECK_EQ(mask_crc(unmask_crc(crc)), crc);
    }
  }
}

TEST(crc32c_u64_is_the_crc_of_the_little_endian_bytes) {
  const Bytes bytes = scrambled(1024);
  for (std::size_t at = 0; at + 8 <= bytes.size(); ++at) {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes[at], sizeof value);
    value >>= at % 64;  // lengths are mostly small
    std::array<std::byte, 8> little_endian{};
    for (unsigned i = 0; i < 8; ++i) little_endian[i] = static_cast<std::byte>(value >> 8 * i);
    CHECK_EQ(crc32c_u64(value), reference(little_endian));
    CHECK_EQ(crc32c_detail::crc32c_u64_by_choice(value), reference(little_endian));
  }
}

TEST(the_first_implementation_is_in_use_and_the_last_is_software) {
  const auto implementations = crc32c_implementations();
  CHECK(!implementations.empty());
  CHECK_EQ(implementations.back().name, "software");
  const Bytes bytes = scrambled(4096);
  CHECK_EQ(crc32c(bytes), implementations.front().extend(0, bytes.data(), bytes.size()));
}

TEST(every_implementation_gives_the_reference_value_at_every_short_length_and_alignment) {
  const Bytes bytes = scrambled(2048);
  constexpr std::uint32_t kBefore = 0x12345678;
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto part = std::span{bytes}.first(length);
    const std::uint32_t from_start = reference(part);
    const std::uint32_t continued = reference(part, kBefore);
    for (const auto& implementation : crc32c_implementations()) {
      for (const std::size_t offset : {0, 1, 4, 7, 8, 31, 63}) {
        CHECK(agrees(implementation, part, offset, 0, from_start));
        CHECK(agrees(implementation, part, offset, kBefore, continued));
      }
    }
  }
}

TEST(every_implementation_gives_the_reference_value_at_long_lengths) {
  const Bytes bytes = scrambled((std::size_t{1} << 20) + 67);
  for (const std::size_t length :
       {std::size_t{3103}, std::size_t{3104}, std::size_t{3105}, std::size_t{4096},
        std::size_t{6208}, std::size_t{9999}, std::size_t{65536}, std::size_t{65537},
        std::size_t{262143}, std::size_t{1} << 20, bytes.size()}) {
    const auto part = std::span{bytes}.last(length);
    const std::uint32_t expected = reference(part);
    for (const auto& implementation : crc32c_implementations()) {
      for (const std::size_t offset : {0, 3})
        CHECK(agrees(implementation, part, offset, 0, expected));
    }
  }
}

TEST(a_crc_extended_over_the_rest_is_the_crc_of_the_whole_at_every_split) {
  const Bytes bytes = scrambled(1500);
  const std::uint32_t whole = reference(bytes);
  for (const auto& implementation : crc32c_implementations()) {
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
      const std::uint32_t before = implementation.extend(0, bytes.data(), split);
      CHECK_EQ(implementation.extend(before, bytes.data() + split, bytes.size() - split), whole);
    }
  }
  const auto all = std::span{bytes};
  CHECK_EQ(crc32c(all.subspan(700), crc32c(all.first(700))), whole);
}

// A polynomial of degree 32 with more than one term divides no single power of x: every flipped bit
// shows, wherever it is.
TEST(every_implementation_notices_every_flipped_bit) {
  Bytes bytes = scrambled(700);
  for (const auto& implementation : crc32c_implementations()) {
    const std::uint32_t before = implementation.extend(0, bytes.data(), bytes.size());
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
      CHECK(implementation.extend(0, bytes.data(), bytes.size()) != before);
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
    }
  }
}

}  // namespace
}  // namespace tfreel
