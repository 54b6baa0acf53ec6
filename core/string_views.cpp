#include "string_views.hpp"

#include <cstring>

namespace tfreel {
namespace {

constexpr std::size_t kViewBytes = 16;
constexpr std::size_t kInlineBytes = 12;

std::int32_t number_at(std::span<const std::byte> view, std::size_t at) noexcept {
  std::int32_t value;
  std::memcpy(&value, view.data() + at, sizeof value);
  return value;
}

std::optional<std::span<const std::byte>> string_of(
    std::span<const std::byte> view, const std::vector<std::span<const std::byte>>& buffers) {
  // What is negative becomes larger than anything there is.
  const auto length = static_cast<std::size_t>(number_at(view, 0));
  if (length <= kInlineBytes) return view.subspan(4, length);
  const auto buffer = static_cast<std::size_t>(number_at(view, 8));
  const auto first = static_cast<std::size_t>(number_at(view, 12));
  if (buffer >= buffers.size()) return std::nullopt;
  const auto source = buffers[buffer];
  if (first > source.size() || length > source.size() - first) return std::nullopt;
  return source.subspan(first, length);
}

}  // namespace

std::optional<JoinedStrings> join_string_views(
    std::span<const std::byte> views, const std::vector<std::span<const std::byte>>& buffers) {
  const std::size_t count = views.size() / kViewBytes;
  JoinedStrings joined;
  joined.offsets.resize(count + 1);
  joined.offsets[0] = 0;
  // All of them are looked at before any memory is asked for: what they claim may be anything.
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = string_of(views.subspan(i * kViewBytes, kViewBytes), buffers);
    if (!value) return std::nullopt;
    joined.offsets[i + 1] = joined.offsets[i] + static_cast<std::int64_t>(value->size());
  }
  joined.data.resize(static_cast<std::size_t>(joined.offsets[count]));
  // They are looked at again, as somebody may have written to them meanwhile.
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = string_of(views.subspan(i * kViewBytes, kViewBytes), buffers);
    const std::int64_t room = joined.offsets[i + 1] - joined.offsets[i];
    if (!value || static_cast<std::int64_t>(value->size()) != room) return std::nullopt;
    if (room != 0)
      std::memcpy(joined.data.data() + joined.offsets[i], value->data(), value->size());
  }
  return joined;
}

}  // namespace tfreel
