// What a bytes value is, told from its bytes: an image and its size, text, a tensor, or something
// else. The same answers as tfreel.inference.content gives, for every value of every record.
//
// Nothing is believed: every step is checked against the length of the value, and every walk ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire.hpp"

namespace tfreel {

// In the order of the names in tfreel.inference.content.
enum class Content : std::uint8_t {
  jpeg,
  png,
  gif,
  webp,
  bmp,
  tiff,
  avif,
  heic,
  text,
  tensor,
  npy,
  pickle,
  gzip,
  zip,
  zstd,
  pdf,
  wav,
  flac,
  ogg,
  mp3,
  mp4,
  binary,
  empty,
};
inline constexpr std::size_t kContents = 23;

struct ContentFacts {
  Content kind = Content::binary;
  std::uint32_t width = 0;  // of an image whose header says so
  std::uint32_t height = 0;
};

ContentFacts content_of(Bytes value) noexcept;

}  // namespace tfreel
