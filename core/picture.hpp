// The size of an image, as its header says it.
#pragma once

#include <cstdint>
#include <optional>

#include "wire.hpp"

namespace tfreel {

struct PictureSize {
  std::uint32_t width = 0;  // 0: the header does not say
  std::uint32_t height = 0;
};

// Each is for bytes that begin as the format does. Nothing if they only begin so.
std::optional<PictureSize> jpeg_size(Bytes value) noexcept;
std::optional<PictureSize> png_size(Bytes value) noexcept;
std::optional<PictureSize> gif_size(Bytes value) noexcept;
std::optional<PictureSize> webp_size(Bytes value) noexcept;
std::optional<PictureSize> bmp_size(Bytes value) noexcept;
std::optional<PictureSize> tiff_size(Bytes value) noexcept;

}  // namespace tfreel
