// Guards of what tells bytes by their content, and of whole files: each test fails without one of
// them (`make mutants`).
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "content.hpp"
#include "file.hpp"
#include "file_reader.hpp"
#include "frame_buffer.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using check::bytes_of;
using check::field;
using check::tag;
using check::times;
using check::varint;
using namespace std::string_literals;

Content kind_of(const std::string& text) {
  const auto alone = std::make_unique<std::byte[]>(text.size());  // with nothing behind it
  std::memcpy(alone.get(), text.data(), text.size());
  return content_of({alone.get(), text.size()}).kind;
}

std::string dimension(std::uint64_t size) {
  return field(2, tag(1, WireType::varint) + varint(size));
}

std::string tensor(int type, const std::string& shape, const std::string& rest = "") {
  return "\x08"s + static_cast<char>(type) + field(2, shape) + rest;
}

TEST(a_tensor_must_be_one_in_every_part) {
  const std::string content = field(4, "12345678");
  CHECK(kind_of(tensor(1, dimension(2), content)) == Content::tensor);
  CHECK(kind_of(tensor(1, dimension(3), content)) != Content::tensor);
  CHECK(kind_of(tensor(100, dimension(2), content)) != Content::tensor);
  CHECK(kind_of(tensor(1, field(3, "\x08\x02"), content)) != Content::tensor);
  CHECK(kind_of(tensor(1, times(254, dimension(1)) + dimension(2), content)) != Content::tensor);
  CHECK(kind_of(tensor(1, times(253, dimension(1)) + dimension(2), content)) == Content::tensor);
  CHECK(kind_of(tensor(1, dimension(0))) == Content::tensor);
  CHECK(kind_of(tensor(1, dimension(0) + dimension(std::uint64_t{1} << 40))) != Content::tensor);
  const std::uint64_t large = std::uint64_t{1} << 32;
  CHECK(kind_of(tensor(1, dimension(large) + dimension(large))) != Content::tensor);
}

TEST(a_picture_without_a_side_is_none) {
  CHECK(kind_of("GIF89a\1\0\1\0"s) == Content::gif);
  CHECK(kind_of("GIF89a\0\0\1\0"s) != Content::gif);
  CHECK(kind_of("GIF89a\1\0\0\0"s) != Content::gif);
}

TEST(a_directory_of_a_tiff_that_is_cut_or_leads_outside_has_no_size) {
  const auto entry = [](int number, int form, int count, int value) {
    std::string made;
    for (const int part : {number, form})
      made += {static_cast<char>(part & 255), static_cast<char>(part >> 8)};
    for (const int part : {count, value}) {
      for (int shift = 0; shift < 32; shift += 8) made += static_cast<char>(part >> shift & 255);
    }
    return made;
  };
  const auto facts = [](const std::string& text) { return content_of(bytes_of(text)); };
  const std::string head = "II*\0\x08\0\0\0"s;
  const std::string both = entry(256, 4, 1, 7) + entry(257, 3, 1, 9);
  CHECK_EQ(facts(head + "\2\0"s + both).width, 7u);
  CHECK_EQ(facts(head + "\2\0"s + both).height, 9u);
  CHECK_EQ(facts(head + "\5\0"s + entry(256, 4, 1, 7)).width, 0u);
  CHECK_EQ(facts(head + "\2\0"s + entry(256, 4, 1, 7) + entry(257, 3, 9, 5000)).height, 0u);
}

struct TemporaryFile {
  explicit TemporaryFile(std::size_t size) {
    const std::vector<char> content(size, 'x');
    std::fwrite(content.data(), 1, size, file.get());
    std::fflush(file.get());
    path = "/proc/self/fd/" + std::to_string(fileno(file.get()));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
  std::string path;
};

TEST(a_whole_file_is_a_regular_one_of_the_size_it_had) {
  const TemporaryFile file(100);
  std::vector<std::byte> out(100);
  CHECK(WholeFile(file.path, true, 100).is_open());
  CHECK(!WholeFile(file.path, true, 99).is_open());
  CHECK(!WholeFile("/", true, 1 << 20).is_open());
  CHECK(!WholeFile("/dev/null", true, 1 << 20).is_open());
  CHECK(WholeFile(file.path, true, 100).read(out));
  WholeFile grown(file.path, true, 100);
  std::fputc('y', file.file.get());
  std::fflush(file.file.get());
  CHECK(!grown.read(out));
}

TEST(a_long_record_of_a_file_that_is_shorter_than_it_was_is_not_read) {
  const std::size_t length = 40 << 10;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::byte header[kHeaderBytes];
  write_header(length, header);
  std::fwrite(header, 1, sizeof header, file.get());
  std::fwrite(header, 1, sizeof header, file.get());
  std::fflush(file.get());
  for (const bool verify : {true, false}) {
    DecoderOptions options;
    options.size = length + kFrameOverhead;
    options.verify = verify;
    FileReader reader(fileno(file.get()), options);
    std::vector<std::byte> out(length);
    CHECK_EQ(reader.long_record(), length);
    CHECK(!reader.read_long(out));
  }
}

TEST(a_record_that_does_not_fit_is_not_put_into_a_buffer) {
  FrameBuffer buffer(100);
  bool refused = false;
  try {
    buffer.append(std::vector<std::byte>(85));
  } catch (const std::length_error&) {
    refused = true;
  }
  CHECK(refused);
  CHECK_EQ(buffer.size(), 0u);
}

TEST(behind_the_end_of_a_message_nothing_is_seen) {
  const auto alone = std::make_unique<std::byte[]>(1);
  WireCursor cursor({alone.get(), 1});
  CHECK(cursor.sees(std::byte{0}));
  cursor.take_varint();
  CHECK(!cursor.sees(std::byte{0}));
}

}  // namespace
}  // namespace tfreel
