// Any bytes, walked through as a message: every step stays inside, and every field has an end.
#include <cstdlib>

#include "wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tfreel;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  WireCursor cursor(bytes);
  try {
    while (!cursor.done()) {
      const std::size_t before = cursor.remaining();
      const Tag tag = cursor.take_tag();
      if (tag.field == 0) std::abort();
      cursor.skip(tag);
      if (cursor.remaining() >= before) std::abort();
    }
  } catch (const Malformed& error) {
    if (error.at < bytes.data() || error.at > bytes.data() + size) std::abort();
  }
  return 0;
}
