#include "string_views.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

std::string number(std::int32_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string inlined(std::string text) {
  std::string view = number(static_cast<std::int32_t>(text.size())) + text;
  view.resize(16);
  return view;
}

std::string pointing(std::int32_t length, std::int32_t buffer, std::int32_t begin) {
  return number(length) + "----" + number(buffer) + number(begin);
}

std::string text_of(const JoinedStrings& joined) {
  return {reinterpret_cast<const char*>(joined.data.data()), joined.data.size()};
}

// In memory of exactly this size, so that the sanitizer sees a read beyond it.
struct Source {
  explicit Source(std::size_t size) : size(size), memory(new std::byte[size]) {
    std::memset(memory.get(), 'x', size);
  }
  std::span<const std::byte> span() const { return {memory.get(), size}; }

  std::size_t size;
  std::unique_ptr<std::byte[]> memory;
};

TEST(views_of_any_length_are_joined_in_order) {
  const Source source(20);
  const std::string views =
      inlined("") + inlined("abcdefghijkl") + pointing(13, 0, 7) + inlined("z");
  const auto joined = join_string_views(bytes_of(views), {source.span()});
  CHECK(joined.has_value());
  CHECK_EQ(text_of(*joined), "abcdefghijkl" + std::string(13, 'x') + "z");
  const std::vector<std::int64_t> offsets(joined->offsets.data(), joined->offsets.data() + 5);
  CHECK(offsets == (std::vector<std::int64_t>{0, 0, 12, 25, 26}));
}

TEST(no_views_are_no_strings) {
  const auto joined = join_string_views({}, {});
  CHECK(joined.has_value());
  CHECK_EQ(joined->data.size(), 0u);
  CHECK_EQ(joined->offsets.size(), 1u);
}

TEST(a_view_beyond_its_buffer_gives_nothing) {
  const Source source(20);
  const auto refused = [&](std::int32_t length, std::int32_t buffer, std::int32_t begin) {
    return !join_string_views(bytes_of(pointing(length, buffer, begin)), {source.span()});
  };
  CHECK(refused(13, 0, 8));
  CHECK(refused(13, 0, 21));
  CHECK(refused(13, 0, -1));
  CHECK(refused(13, 1, 0));
  CHECK(refused(13, -1, 0));
  CHECK(refused(21, 0, 0));
  CHECK(refused(-1, 0, 0));
  CHECK(!refused(20, 0, 0));
}

}  // namespace
}  // namespace tfreel
