// Whether bytes are UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace tfreel {

// How many bytes at the front are valid UTF-8 (RFC 3629: no overlong forms, no surrogates); all of
// them, if the text is.
std::size_t valid_utf8(std::string_view text) noexcept;

}  // namespace tfreel
