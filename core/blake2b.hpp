// BLAKE2b (RFC 7693): a cryptographic hash, here for telling whether two records say the same.
// Nobody is known to be able to make two messages with one digest, which cannot be said of the
// checksums that are stored with records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tfreel {

class Blake2b {
 public:
  static constexpr std::size_t kMostBytes = 64;

  // `digest_bytes` is how long the digest will be: 1 to 64.
  explicit Blake2b(std::size_t digest_bytes) noexcept;

  void update(std::span<const std::byte> bytes) noexcept;
  void update(std::uint64_t number) noexcept;
  // Writes the digest, as long as was said. Nothing may follow.
  void finish(std::span<std::byte> out) noexcept;

 private:
  static constexpr std::size_t kBlockBytes = 128;
  void compress(const std::byte* block, bool last) noexcept;

  std::array<std::uint64_t, 8> state_;
  std::array<std::byte, kBlockBytes> buffer_;
  std::size_t buffered_ = 0;
  std::uint64_t total_ = 0;  // of bytes compressed; 2^64 of them never come
};

}  // namespace tfreel
