#include "crc32c.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

Bytes counting(std::size_t size, int first, int step) {
  Bytes bytes(size);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(first);
    first += step;
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

// The reference's values for every length of a beginning of `bytes`.
std::vector<std::uint32_t> references(std::span<const std::byte> bytes, std::uint32_t crc = 0) {
  std::vector<std::uint32_t> all{crc};
  for (const auto& byte : bytes) all.push_back(reference({&byte, 1}, all.back()));
  return all;
}

// Memory between two pages that must not be touched: a read outside of it ends the test.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((size + page_ - 1) / page_ * page_),
        mapping_(mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    CHECK(mapping_ != MAP_FAILED);
    CHECK_EQ(mprotect(begin(), size_, PROT_READ | PROT_WRITE), 0);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { munmap(mapping_, size_ + 2 * page_); }

  std::byte* begin() const { return static_cast<std::byte*>(mapping_) + page_; }
  std::byte* end() const { return begin() + size_; }

 private:
  std::size_t page_;
  std::size_t size_;
  void* mapping_;
};

using Implementation = Crc32cImplementation;

std::uint32_t crc_at(const Implementation& implementation, std::byte* place,
                     std::span<const std::byte> bytes, std::uint32_t crc = 0) {
  std::ranges::copy(bytes, place);
  return implementation.extend(crc, place, bytes.size());
}

TEST(crc32c_gives_the_published_values) {
  CHECK_EQ(crc32c(counting(32, 0x00, 0)), 0x8a9136aau);
  CHECK_EQ(crc32c(counting(32, 0xff, 0)), 0x62a8ab43u);
  CHECK_EQ(crc32c(counting(32, 0, 1)), 0x46dd794eu);
  CHECK_EQ(crc32c(counting(32, 31, -1)), 0x113fdb5cu);
  CHECK_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  CHECK_EQ(crc32c({}), 0u);
}

TEST(masked_crcs_are_what_tfrecord_files_hold) {
  CHECK_EQ(mask_crc(crc32c(counting(8, 0, 0))), 0x07980329u);
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
    value >>= at % 64;  // lengths of records are mostly small
    std::array<std::byte, 8> little_endian{};
    for (unsigned i = 0; i < 8; ++i) little_endian[i] = static_cast<std::byte>(value >> 8 * i);
    CHECK_EQ(crc32c_u64(value), reference(little_endian));
    CHECK_EQ(crc32c_detail::crc32c_u64_by_choice(value), reference(little_endian));
  }
}

TEST(the_last_implementation_is_the_software_one) {
  CHECK(!crc32c_implementations().empty());
  CHECK_EQ(crc32c_implementations().back().name, "software");
}

// The lengths reach beyond every threshold at which an implementation changes its ways.
TEST(every_implementation_is_right_at_every_length_and_stays_within_the_bytes_it_is_given) {
  const Bytes bytes = scrambled(5500);
  const GuardedMemory memory(bytes.size());
  const auto expected = references(bytes);
  for (const Implementation& implementation : crc32c_implementations()) {
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
      const auto part = std::span{bytes}.first(length);
      CHECK_EQ(crc_at(implementation, memory.end() - length, part), expected[length]);
      CHECK_EQ(crc_at(implementation, memory.begin(), part), expected[length]);
    }
  }
}

TEST(every_implementation_is_right_at_every_short_length_and_alignment) {
  constexpr std::uint32_t kBefore = 0x12345678;
  const Bytes bytes = scrambled(2048);
  const GuardedMemory memory(bytes.size() + 64);
  const auto expected = references(bytes);
  const auto expected_after = references(bytes, kBefore);
  for (const Implementation& implementation : crc32c_implementations()) {
    for (const std::size_t offset : {1u, 2u, 4u, 7u, 8u, 31u, 63u}) {
      std::byte* const place = memory.begin() + offset;
      for (std::size_t length = 0; length <= bytes.size(); ++length) {
        const auto part = std::span{bytes}.first(length);
        CHECK_EQ(crc_at(implementation, place, part), expected[length]);
        CHECK_EQ(crc_at(implementation, place, part, kBefore), expected_after[length]);
      }
    }
  }
}

TEST(every_implementation_is_right_at_long_lengths) {
  const Bytes bytes = scrambled((1u << 20) + 67);
  const GuardedMemory memory(bytes.size());
  const auto expected = references(bytes);
  for (const Implementation& implementation : crc32c_implementations()) {
    for (const std::size_t length :
         {8191u, 8192u, 8193u, 65536u, 65537u, 99999u, 262143u, 1u << 20, (1u << 20) + 67}) {
      const auto part = std::span{bytes}.first(length);
      CHECK_EQ(crc_at(implementation, memory.end() - length, part), expected[length]);
      CHECK_EQ(crc_at(implementation, memory.begin() + 3, part.first(length - 3)),
               expected[length - 3]);
    }
  }
}

TEST(a_crc_extended_by_the_rest_is_the_crc_of_the_whole_at_every_split) {
  const Bytes bytes = scrambled(5000);
  const std::uint32_t whole = reference(bytes);
  for (const Implementation& implementation : crc32c_implementations()) {
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
      const std::uint32_t before = implementation.extend(0, bytes.data(), split);
      CHECK_EQ(implementation.extend(before, bytes.data() + split, bytes.size() - split), whole);
    }
  }
  const auto all = std::span{bytes};
  CHECK_EQ(crc32c(all.subspan(700), crc32c(all.first(700))), whole);
}

}  // namespace
}  // namespace tfreel
