#include "picture.hpp"

#include <algorithm>
#include <bit>

#include "peek.hpp"

namespace tfreel {
namespace {

constexpr auto kBig = std::endian::big;
constexpr int kMostSegments = 4096;  // of a JPEG before its size; real ones have a few dozen
constexpr std::uint32_t kMostEntries = 512;  // of a TIFF directory

std::optional<PictureSize> known(std::optional<std::uint32_t> width,
                                 std::optional<std::uint32_t> height) noexcept {
  if (!width || !height || *width == 0 || *height == 0) return {};
  return PictureSize{*width, *height};
}

template <typename Number>
std::optional<std::uint32_t> masked(std::optional<Number> number, std::uint32_t mask) noexcept {
  if (!number) return {};
  return static_cast<std::uint32_t>(*number) & mask;
}

std::optional<std::uint32_t> peek24(Bytes value, std::size_t at) noexcept {
  const auto low = peek<std::uint16_t>(value, at);
  const auto high = peek<std::uint8_t>(value, at + 2);
  if (!low || !high) return {};
  return *low | std::uint32_t{*high} << 16;
}

bool is_frame(unsigned marker) noexcept {
  return marker >= 0xC0 && marker < 0xD0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<std::uint32_t> size_of(std::optional<std::uint32_t> number) noexcept {
  if (!number) return {};
  // Of two's complement: a picture that is stored upside down has a negative height.
  return *number >> 31 != 0 ? 0 - *number : *number;
}

}  // namespace

// From segment to segment up to the one with the size (ITU T.81, B.2.2). Cut off, or odd, it is a
// JPEG all the same.
std::optional<PictureSize> jpeg_size(Bytes value) noexcept {
  std::uint64_t at = 2;
  for (int i = 0; i < kMostSegments; ++i) {
    const auto head = peek<std::uint32_t>(value, at, kBig);
    if (!head || *head >> 24 != 0xFF) break;
    const unsigned marker = *head >> 16 & 0xff;
    const std::uint32_t length = *head & 0xffff;
    if (marker == 0xFF) {  // a fill byte
      at += 1;
    } else if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // these stand alone
      at += 2;
    } else if (marker == 0xDA || length < 2) {
      break;
    } else if (is_frame(marker)) {
      const auto sides = peek<std::uint32_t>(value, at + 5, kBig);
      if (!sides) return {};
      return PictureSize{*sides & 0xffff, *sides >> 16};
    } else {
      at += 2 + length;
    }
  }
  return PictureSize{};
}

std::optional<PictureSize> png_size(Bytes value) noexcept {
  if (!has_at(value, 12, "IHDR")) return {};
  return known(peek<std::uint32_t>(value, 16, kBig), peek<std::uint32_t>(value, 20, kBig));
}

std::optional<PictureSize> gif_size(Bytes value) noexcept {
  return known(peek<std::uint16_t>(value, 6), peek<std::uint16_t>(value, 8));
}

std::optional<PictureSize> webp_size(Bytes value) noexcept {
  if (has_at(value, 12, "VP8 ") && has_at(value, 23, "\x9d\x01\x2a")) {
    return known(masked(peek<std::uint16_t>(value, 26), 0x3fff),
                 masked(peek<std::uint16_t>(value, 28), 0x3fff));
  }
  if (has_at(value, 12, "VP8L") && has_at(value, 20, "\x2f")) {
    const auto sides = peek<std::uint32_t>(value, 21);
    if (!sides) return {};
    return PictureSize{(*sides & 0x3fff) + 1, (*sides >> 14 & 0x3fff) + 1};
  }
  const auto width = peek24(value, 24);
  const auto height = peek24(value, 27);
  if (!has_at(value, 12, "VP8X") || !width || !height) return {};
  return PictureSize{*width + 1, *height + 1};
}

// Two letters are little to go by: the reserved bytes and the size of the header must fit too.
std::optional<PictureSize> bmp_size(Bytes value) noexcept {
  const auto reserved = peek<std::uint32_t>(value, 6);
  const auto header = peek<std::uint32_t>(value, 14);
  if (!reserved || *reserved != 0 || !header) return {};
  constexpr std::uint32_t kHeaders[] = {12, 40, 52, 56, 64, 108, 124};
  if (std::ranges::find(kHeaders, *header) == std::end(kHeaders)) return {};
  if (*header == 12) return known(peek<std::uint16_t>(value, 18), peek<std::uint16_t>(value, 20));
  return known(size_of(peek<std::uint32_t>(value, 18)), size_of(peek<std::uint32_t>(value, 22)));
}

std::optional<PictureSize> tiff_size(Bytes value) noexcept {
  const auto order = has_at(value, 0, "II") ? std::endian::little : kBig;
  const auto start = peek<std::uint32_t>(value, 4, order);
  const auto entries = start ? peek<std::uint16_t>(value, *start, order) : std::nullopt;
  if (!entries) return {};
  PictureSize size;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(*entries, kMostEntries); ++i) {
    const std::uint64_t place = std::uint64_t{*start} + 2 + 12 * std::uint64_t{i};
    const auto tag = peek<std::uint16_t>(value, place, order);
    const auto form = peek<std::uint16_t>(value, place + 2, order);
    const auto count = peek<std::uint32_t>(value, place + 4, order);
    const auto whole = peek<std::uint32_t>(value, place + 8, order);
    if (!tag || !form || !count || !whole) break;
    // Two short numbers fit into the entry; more of them lie elsewhere.
    const auto brief = peek<std::uint16_t>(value, *count > 2 ? *whole : place + 8, order);
    if (*form == 3 ? !brief : *form != 4) continue;
    const std::uint32_t number = *form == 3 ? *brief : *whole;
    if (*tag == 256) size.width = number;
    if (*tag == 257) size.height = number;
  }
  return size.width != 0 && size.height != 0 ? size : PictureSize{};
}

}  // namespace tfreel
