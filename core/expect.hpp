// Memory is far away. Who knows what is wanted soon says so, and does something else meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tfreel {

// How many records before its turn to expect one: reading so many takes about as long as memory.
constexpr std::size_t kExpectedAhead = 4;

// Says that these bytes are wanted soon, from the front on. After some of them, the processor sees
// by itself that somebody goes through them. Always inline: GCC leaves out calls of functions that
// seem to have no effect.
[[gnu::always_inline]] inline void expect(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kLines = 8;
  const std::size_t end = std::min(bytes.size(), kLines * kLineBytes);
  for (std::size_t i = 0; i < end; i += kLineBytes) __builtin_prefetch(&bytes[i]);
}

}  // namespace tfreel
