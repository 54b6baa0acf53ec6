// Bilinear resizing, with the very numbers that TensorFlow gives: half-pixel centres, no
// antialiasing, float arithmetic in a fixed order and without fused steps. A model that was trained
// on the one must see the same pixels from the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tfreel {

// Rows, columns and values in a pixel, lying one behind the other in this order.
struct ImageShape {
  std::size_t height;
  std::size_t width;
  std::size_t channels;

  std::size_t size() const noexcept { return height * width * channels; }
};

// Writes `image` to `out` in another height and width; all sizes are at least 1, the numbers of
// channels are the same, and the spans are as long as their shapes say.
void resize_bilinear(std::span<const std::uint8_t> image, const ImageShape& from,
                     std::span<float> out, const ImageShape& to);
void resize_bilinear(std::span<const float> image, const ImageShape& from, std::span<float> out,
                     const ImageShape& to);

}  // namespace tfreel
