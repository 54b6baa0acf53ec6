#include "content.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "peek.hpp"
#include "picture.hpp"
#include "utf8.hpp"

namespace tfreel {
namespace {

using namespace std::string_view_literals;

bool is_control(std::byte byte) noexcept {
  const auto value = std::to_integer<unsigned>(byte);
  return (value < 0x20 && value != '\t' && value != '\n' && value != '\f' && value != '\r') ||
         value == 0x7f;
}

bool is_text(Bytes value) noexcept {
  if (std::ranges::any_of(value, is_control)) return false;
  const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  return valid_utf8(text) == text.size();
}

bool is_pickle(Bytes value) noexcept {
  const auto protocol = peek<std::uint8_t>(value, 1);
  return protocol && *protocol >= 2 && *protocol <= 5 && value.size() > 2 &&
         value.back() == std::byte{'.'};
}

// The family of MP4: the first box names the kind.
std::optional<Content> box_kind(Bytes value) noexcept {
  if (!has_at(value, 4, "ftyp")) return {};
  if (has_at(value, 8, "avif") || has_at(value, 8, "avis")) return Content::avif;
  if (has_at(value, 8, "heic") || has_at(value, 8, "mif1")) return Content::heic;
  return Content::mp4;
}

// Bytes of one value by the DataType of types.proto; 0 where they vary or are packed, -1 for none.
constexpr std::array<int, 24> kTensorBytes = {-1, 4,  8, 4,  1,  2, 1,  0, 8,  8,  1, -1,
                                              -1, -1, 2, -1, -1, 2, 16, 2, -1, -1, 4, 8};
constexpr std::size_t kMostDimensions = 254;
constexpr std::size_t kMostFields = 4096;
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 40;

// How many values a shape has; at most one more than can be the number of any.
std::uint64_t values_in(Bytes shape) {
  std::uint64_t values = 1;
  std::size_t dimensions = 0;
  for (WireCursor cursor(shape); !cursor.done();) {
    if (!cursor.sees(std::byte{0x12}) || dimensions++ == kMostDimensions) {
      throw Malformed{cursor.position(), "no dimension"};
    }
    cursor.take_tag();
    WireCursor dimension(cursor.take_bytes());
    std::uint64_t size = 0;  // zero is what is not written
    if (!dimension.done()) {
      if (!dimension.sees(std::byte{0x08})) throw Malformed{dimension.position(), "no size"};
      dimension.take_tag();
      size = dimension.take_varint();
      if (!dimension.done() || size >= kMostSize) throw Malformed{dimension.position(), "no size"};
    }
    values = size == 0 || values < kMostSize / size ? values * size : kMostSize;
  }
  return values;
}

bool is_value_field(std::uint32_t field) noexcept {
  return (field >= 5 && field <= 13) || field == 16 || field == 17;
}

// The message has no magic number, so all of it must fit: known fields in order, a known dtype, a
// shape, and as many bytes of content as the two say.
bool is_tensor(Bytes value) {
  const auto type = peek<std::uint8_t>(value, 1);
  if (!type || *type >= kTensorBytes.size() || kTensorBytes[*type] < 0) return false;
  WireCursor cursor(value.subspan(2));
  cursor.take_tag();
  const std::uint64_t values = values_in(cursor.take_bytes());
  const std::uint64_t expected = values * static_cast<std::uint64_t>(kTensorBytes[*type]);
  std::size_t fields = 0;
  for (; !cursor.done() && fields < kMostFields; ++fields) {
    const Tag tag = cursor.take_tag();
    if (tag.type != WireType::length || (tag.field != 4 && !is_value_field(tag.field)))
      return false;
    const std::size_t size = cursor.take_bytes().size();
    if (tag.field == 4 && size != expected) return false;
  }
  return fields > 0 || expected == 0;
}

bool seems_tensor(Bytes value) noexcept {
  if (!has_at(value, 0, "\x08"sv) || !has_at(value, 2, "\x12"sv)) return false;
  try {
    return is_tensor(value);
  } catch (const Malformed&) {
    return false;
  }
}

struct Plain {
  std::string_view magic;
  Content kind;
};
constexpr Plain kPlain[] = {
    {"\x93NUMPY"sv, Content::npy},  {"\x1f\x8b\x08"sv, Content::gzip},
    {"PK\x03\x04"sv, Content::zip}, {"(\xb5/\xfd"sv, Content::zstd},
    {"%PDF-"sv, Content::pdf},      {"fLaC"sv, Content::flac},
    {"OggS\0"sv, Content::ogg},     {"ID3"sv, Content::mp3},
};

struct Picture {
  std::string_view magic;
  Content kind;
  std::optional<PictureSize> (*size)(Bytes) noexcept;
};
constexpr Picture kPictures[] = {
    {"\xff\xd8\xff"sv, Content::jpeg, jpeg_size},
    {"\x89PNG\r\n\x1a\n"sv, Content::png, png_size},
    {"GIF87a"sv, Content::gif, gif_size},
    {"GIF89a"sv, Content::gif, gif_size},
    {"BM"sv, Content::bmp, bmp_size},
    {"II*\0"sv, Content::tiff, tiff_size},
    {"MM\0*"sv, Content::tiff, tiff_size},
};

// Whether something begins with this byte: most text does not.
constexpr auto kMagicBytes = [] {
  std::array<bool, 256> table{};
  for (const Plain& plain : kPlain) table[static_cast<unsigned char>(plain.magic[0])] = true;
  for (const Picture& picture : kPictures) {
    table[static_cast<unsigned char>(picture.magic[0])] = true;
  }
  for (const unsigned other : {0x52U, 0x80U, 0x00U}) table[other] = true;
  return table;
}();

// What the first bytes say, if the others do not contradict.
std::optional<ContentFacts> by_magic(Bytes value) noexcept {
  for (const Picture& picture : kPictures) {
    if (!has_at(value, 0, picture.magic)) continue;
    if (const auto size = picture.size(value)) {
      return ContentFacts{picture.kind, size->width, size->height};
    }
  }
  if (has_at(value, 0, "RIFF")) {
    if (has_at(value, 8, "WAVE")) return ContentFacts{Content::wav};
    const auto size = has_at(value, 8, "WEBP") ? webp_size(value) : std::nullopt;
    if (size) return ContentFacts{Content::webp, size->width, size->height};
  }
  if (has_at(value, 0, "\x80"sv) && is_pickle(value)) return ContentFacts{Content::pickle};
  for (const Plain& plain : kPlain) {
    if (has_at(value, 0, plain.magic)) return ContentFacts{plain.kind};
  }
  if (has_at(value, 0, "\0\0\0"sv)) {
    if (const auto kind = box_kind(value)) return ContentFacts{*kind};
  }
  return {};
}

}  // namespace

ContentFacts content_of(Bytes value) noexcept {
  if (value.empty()) return {Content::empty};
  if (kMagicBytes[std::to_integer<std::size_t>(value[0])]) {
    if (const auto found = by_magic(value)) return *found;
  }
  if (seems_tensor(value)) return {Content::tensor};
  return {is_text(value) ? Content::text : Content::binary};
}

}  // namespace tfreel
