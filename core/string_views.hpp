// Arrow's string views, made into one buffer and offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace tfreel {

struct JoinedStrings {
  Buffer<std::byte> data;
  Buffer<std::int64_t> offsets;
};

// A view has 16 bytes: a length, then the string itself if it fits into 12 bytes, else its first
// four bytes, the number of a buffer, and where the string begins there.
// Nothing, if a view points outside of its buffer, or changes while it is read.
std::optional<JoinedStrings> join_string_views(
    std::span<const std::byte> views, const std::vector<std::span<const std::byte>>& buffers);

}  // namespace tfreel
