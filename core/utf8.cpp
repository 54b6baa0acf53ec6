#include "utf8.hpp"

#include <cstdint>
#include <cstring>

namespace tfreel {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

unsigned char byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

// What may follow a first byte: how many bytes, and the range of the first of them.
struct Sequence {
  std::size_t more;
  unsigned char least;
  unsigned char most;
};

constexpr Sequence sequence_of(unsigned char first) noexcept {
  if (first >= 0xC2 && first <= 0xDF) return {1, 0x80, 0xBF};
  if (first == 0xE0) return {2, 0xA0, 0xBF};
  if (first == 0xED) return {2, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {2, 0x80, 0xBF};
  if (first == 0xF0) return {3, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {3, 0x80, 0xBF};
  if (first == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

// How many bytes the character at `at` has; 0 if there is none.
std::size_t character_at(std::string_view text, std::size_t at) noexcept {
  const Sequence sequence = sequence_of(byte_at(text, at));
  if (sequence.more == 0 || text.size() - at <= sequence.more) return 0;
  const unsigned char second = byte_at(text, at + 1);
  if (second < sequence.least || second > sequence.most) return 0;
  for (std::size_t i = 2; i <= sequence.more; ++i) {
    if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
  }
  return 1 + sequence.more;
}

}  // namespace

std::size_t valid_utf8(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    if (byte_at(text, at) < 0x80) {
      ++at;
    } else if (const std::size_t size = character_at(text, at)) {
      at += size;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace tfreel
