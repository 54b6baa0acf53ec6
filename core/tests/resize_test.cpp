#include "resize.hpp"

#include <limits>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

template <typename Value>
std::vector<float> resized(const std::vector<Value>& image, const ImageShape& from,
                           std::size_t height, std::size_t width) {
  const ImageShape to{height, width, from.channels};
  std::vector<float> out(to.size(), std::numeric_limits<float>::quiet_NaN());
  resize_bilinear(std::span<const Value>(image), from, out, to);
  return out;
}

std::vector<std::uint8_t> noise(const ImageShape& shape) {
  std::vector<std::uint8_t> image(shape.size());
  std::uint32_t state = 1;
  for (auto& value : image)
    value = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return image;
}

TEST(resizing_to_the_same_size_changes_nothing) {
  for (const std::size_t channels : {1, 2, 3, 4, 5}) {
    const ImageShape shape{7, 5, channels};
    const auto image = noise(shape);
    CHECK(resized(image, shape, 7, 5) == std::vector<float>(image.begin(), image.end()));
  }
}

TEST(resizing_one_pixel_fills_everything_with_it) {
  const std::vector<std::uint8_t> pixel{10, 20, 30};
  const auto out = resized(pixel, {1, 1, 3}, 3, 2);
  for (std::size_t i = 0; i < out.size(); ++i) CHECK_EQ(out[i], pixel[i % 3]);
}

// As TensorFlow 2.21 gives them.
TEST(resizing_has_half_pixel_centres) {
  const std::vector<std::uint8_t> row{0, 100};
  CHECK(resized(row, {1, 2, 1}, 1, 4) == (std::vector<float>{0, 25, 75, 100}));
  CHECK(resized(row, {2, 1, 1}, 4, 1) == (std::vector<float>{0, 25, 75, 100}));
  const std::vector<std::uint8_t> wide{0, 10, 20, 30, 40, 50};
  CHECK(resized(wide, {1, 6, 1}, 1, 2) == (std::vector<float>{10, 40}));
}

TEST(resizing_bytes_and_floats_gives_the_same) {
  for (const std::size_t channels : {1, 2, 3, 4}) {
    const ImageShape shape{23, 37, channels};
    const auto image = noise(shape);
    const std::vector<float> floats(image.begin(), image.end());
    for (const std::size_t size : {1, 2, 11, 23, 50, 200}) {
      CHECK(resized(image, shape, size, size + 3) == resized(floats, shape, size, size + 3));
    }
  }
}

TEST(resizing_never_leaves_the_range_of_the_image) {
  const ImageShape shape{31, 17, 3};
  const auto image = noise(shape);
  for (std::size_t height = 1; height < 80; height += 7) {
    for (std::size_t width = 1; width < 80; width += 5) {
      for (const float value : resized(image, shape, height, width))
        CHECK(value >= 0 && value <= 255);
    }
  }
}

// Long sides are where a float cannot tell neighbouring positions apart any more.
TEST(resizing_a_very_long_row_stays_inside_of_it) {
  const ImageShape shape{1, 20'000'003, 1};
  const auto image = noise(shape);
  for (const std::size_t width : {1u, 3u, 1001u})
    CHECK_EQ(resized(image, shape, 1, width).size(), width);
}

TEST(the_last_pixel_of_a_row_counts_where_its_position_is_no_float) {
  const ImageShape shape{1, (1 << 24) + 4, 1};  // whose last position rounds up, to its width
  std::vector<std::uint8_t> image(shape.size(), 7);
  const auto out = resized(image, shape, 1, shape.width);
  CHECK_EQ(out.back(), 7.0F);
}

}  // namespace
}  // namespace tfreel
