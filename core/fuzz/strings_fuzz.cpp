// Any bytes, taken for the string views of another library: 16 bytes each, of which some lead into
// other buffers. What is joined lies inside of them, or nothing is joined. And whether bytes are
// text is the same for both that ask.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "example.hpp"
#include "string_views.hpp"
#include "utf8.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_name(Bytes bytes) {
  try {
    require_utf8(bytes);
  } catch (const Malformed& error) {
    require(error.at >= bytes.data() && error.at < bytes.data() + bytes.size());
    return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require(valid_utf8(text) <= size && (valid_utf8(text) == size) == is_name(bytes));
  if (size == 0) return 0;
  const std::size_t views = std::min<std::size_t>(data[0] % 8 * 16, size - 1);
  const Bytes rest = bytes.subspan(1 + views);
  const std::vector<Bytes> buffers{rest.first(rest.size() / 2), rest.subspan(rest.size() / 2)};
  const auto joined = join_string_views(bytes.subspan(1, views), buffers);
  if (!joined) return 0;
  require(joined->offsets.size() == views / 16 + 1 && joined->offsets[0] == 0);
  for (std::size_t i = 0; i + 1 < joined->offsets.size(); ++i) {
    require(joined->offsets[i] <= joined->offsets[i + 1]);
  }
  require(static_cast<std::size_t>(joined->offsets[views / 16]) == joined->data.size());
  return 0;
}
