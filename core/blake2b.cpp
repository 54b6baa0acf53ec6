#include "blake2b.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tfreel {
namespace {

constexpr std::array<std::uint64_t, 8> kStart{
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::size_t kRounds = 12;
// In which order each round takes the words of a block. The last two rounds are the first two.
constexpr std::array<std::array<std::uint8_t, 16>, 10> kOrder{
    {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
     {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
     {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
     {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
     {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
     {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
     {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
     {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
     {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}}};

inline void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d,
                std::uint64_t x, std::uint64_t y) noexcept {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

}  // namespace

Blake2b::Blake2b(std::size_t digest_bytes) noexcept : state_(kStart) {
  state_[0] ^= 0x01010000 ^ digest_bytes;  // no key, no tree
}

void Blake2b::update(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;  // of which the address may be none
  // The last block is compressed in another way: one is held back until more is known to come.
  if (buffered_ + bytes.size() > kBlockBytes) {
    const std::size_t filling = kBlockBytes - buffered_;
    std::memcpy(buffer_.data() + buffered_, bytes.data(), filling);
    total_ += kBlockBytes;
    compress(buffer_.data(), false);
    bytes = bytes.subspan(filling);
    buffered_ = 0;
    for (; bytes.size() > kBlockBytes; bytes = bytes.subspan(kBlockBytes)) {
      total_ += kBlockBytes;
      compress(bytes.data(), false);
    }
  }
  std::memcpy(buffer_.data() + buffered_, bytes.data(), bytes.size());
  buffered_ += bytes.size();
}

void Blake2b::update(std::uint64_t number) noexcept {
  update(std::as_bytes(std::span(&number, 1)));
}

void Blake2b::finish(std::span<std::byte> out) noexcept {
  total_ += buffered_;
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_), buffer_.end(), std::byte{});
  compress(buffer_.data(), true);
  std::memcpy(out.data(), state_.data(), std::min(out.size(), kMostBytes));
}

void Blake2b::compress(const std::byte* block, bool last) noexcept {
  std::array<std::uint64_t, 16> words;
  std::memcpy(words.data(), block, kBlockBytes);
  std::array<std::uint64_t, 16> v;
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(kStart.begin(), kStart.end(), v.begin() + 8);
  v[12] ^= total_;
  if (last) v[14] = ~v[14];
  for (std::size_t round = 0; round < kRounds; ++round) {
    const auto& order = kOrder[round % kOrder.size()];
    const auto word = [&](std::size_t i) { return words[order[i]]; };
    mix(v[0], v[4], v[8], v[12], word(0), word(1));
    mix(v[1], v[5], v[9], v[13], word(2), word(3));
    mix(v[2], v[6], v[10], v[14], word(4), word(5));
    mix(v[3], v[7], v[11], v[15], word(6), word(7));
    mix(v[0], v[5], v[10], v[15], word(8), word(9));
    mix(v[1], v[6], v[11], v[12], word(10), word(11));
    mix(v[2], v[7], v[8], v[13], word(12), word(13));
    mix(v[3], v[4], v[9], v[14], word(14), word(15));
  }
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] ^= v[i] ^ v[i + 8];
}

}  // namespace tfreel
