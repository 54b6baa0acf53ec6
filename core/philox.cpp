#include "philox.hpp"

namespace tfreel {
namespace {

constexpr std::uint32_t kFirstMultiplier = 0xD2511F53;
constexpr std::uint32_t kSecondMultiplier = 0xCD9E8D57;
constexpr std::uint32_t kFirstWeyl = 0x9E3779B9;
constexpr std::uint32_t kSecondWeyl = 0xBB67AE85;
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

Philox::Philox(std::uint64_t key, std::uint64_t stream) noexcept
    : key_{low(key), high(key)}, stream_(stream) {}

std::uint32_t Philox::next() noexcept {
  if (used_ == words_.size()) {
    words_ = block();
    ++count_;
    used_ = 0;
  }
  return words_[used_++];
}

Philox::Words Philox::block() const noexcept {
  Words words{low(count_), high(count_), low(stream_), high(stream_)};
  auto key = key_;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kFirstMultiplier} * words[0];
    const std::uint64_t second = std::uint64_t{kSecondMultiplier} * words[2];
    words = {high(second) ^ words[1] ^ key[0], low(second), high(first) ^ words[3] ^ key[1],
             low(first)};
    key[0] += kFirstWeyl;
    key[1] += kSecondWeyl;
  }
  return words;
}

}  // namespace tfreel
