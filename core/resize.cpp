#include "resize.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tfreel {
namespace {

// Between which two input positions an output position lies, and how far from the first.
struct Between {
  std::size_t low;
  std::size_t high;
  float weight;
};

// Where a position counts, which rounding may have taken past either end of the image. The ends are
// whole numbers: beyond 2^24 the nearest float to the last position may lie behind it.
std::size_t inside(float position, std::size_t size) noexcept {
  return std::min(static_cast<std::size_t>(std::max(position, 0.0F)), size - 1);
}

std::vector<Between> positions(std::size_t from, std::size_t to, std::size_t stride) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  std::vector<Between> found(to);
  for (std::size_t i = 0; i < to; ++i) {
    const float at = (static_cast<float>(i) + 0.5F) * scale - 0.5F;
    const float floor = std::floor(at);
    found[i].low = inside(floor, from) * stride;
    found[i].high = inside(std::ceil(at), from) * stride;
    found[i].weight = at - floor;
  }
  return found;
}

// One input row in the output's width. The number of channels is known to the compiler where it is
// one of the usual ones (`kChannels` is 0 otherwise), so that the inner loop is no loop any more.
template <std::size_t kChannels, typename Value>
void stretch_row(const Value* row, std::span<const Between> columns, std::size_t channels,
                 float* out) {
  const std::size_t count = kChannels == 0 ? channels : kChannels;
  for (const Between& column : columns) {
    const Value* left = row + column.low;
    const Value* right = row + column.high;
    for (std::size_t c = 0; c < count; ++c) {
      const float from = static_cast<float>(left[c]);
      out[c] = from + (static_cast<float>(right[c]) - from) * column.weight;
    }
    out += count;
  }
}

void blend_rows(const float* top, const float* bottom, float weight, float* out, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out[i] = top[i] + (bottom[i] - top[i]) * weight;
}

// Two stretched rows, kept as long as output rows need them: going up, many share the same two.
template <std::size_t kChannels, typename Value>
class StretchedRows {
 public:
  StretchedRows(const Value* image, const ImageShape& from, std::size_t width)
      : image_(image),
        channels_(from.channels),
        columns_(positions(from.width, width, from.channels)),
        rows_{std::vector<float>(width * from.channels),
              std::vector<float>(width * from.channels)} {}

  // The stretched row that begins at `offset`. `kept` is one that must stay.
  const float* at(std::size_t offset, const float* kept) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (offsets_[i] == offset) return rows_[i].data();
    }
    const std::size_t place = rows_[0].data() == kept ? 1 : 0;
    stretch_row<kChannels>(image_ + offset, columns_, channels_, rows_[place].data());
    offsets_[place] = offset;
    return rows_[place].data();
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Value* image_;
  std::size_t channels_;
  std::vector<Between> columns_;
  std::vector<float> rows_[2];
  std::size_t offsets_[2] = {kNone, kNone};
};

template <std::size_t kChannels, typename Value>
void resize_rows(const Value* image, const ImageShape& from, float* out, const ImageShape& to) {
  StretchedRows<kChannels, Value> rows(image, from, to.width);
  const std::size_t row_size = to.width * to.channels;
  for (const Between& row : positions(from.height, to.height, from.width * from.channels)) {
    // Rows only go on, so the lower one of the last step may be the upper one of this.
    const float* top = rows.at(row.low, nullptr);
    const float* bottom = rows.at(row.high, top);
    blend_rows(top, bottom, row.weight, out, row_size);
    out += row_size;
  }
}

template <typename Value>
void resize_any(const Value* image, const ImageShape& from, float* out, const ImageShape& to) {
  switch (from.channels) {
    case 1:
      return resize_rows<1>(image, from, out, to);
    case 3:
      return resize_rows<3>(image, from, out, to);
    case 4:
      return resize_rows<4>(image, from, out, to);
    default:
      return resize_rows<0>(image, from, out, to);
  }
}

}  // namespace

void resize_bilinear(std::span<const std::uint8_t> image, const ImageShape& from,
                     std::span<float> out, const ImageShape& to) {
  resize_any(image.data(), from, out.data(), to);
}

void resize_bilinear(std::span<const float> image, const ImageShape& from, std::span<float> out,
                     const ImageShape& to) {
  resize_any(image.data(), from, out.data(), to);
}

}  // namespace tfreel
