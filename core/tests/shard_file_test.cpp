#include "shard_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"

namespace tfreel {
namespace {

class SomeFile {
 public:
  explicit SomeFile(std::size_t size) : content_(size, ' ') {
    for (std::size_t i = 0; i < size; ++i) content_[i] = static_cast<char>(i * 7 + i / 256);
    const int made = ::mkstemp(path_.data());
    write_all(made, {std::as_bytes(std::span(content_))});
    ::close(made);
  }
  ~SomeFile() { std::filesystem::remove(path_); }
  SomeFile(const SomeFile&) = delete;
  SomeFile& operator=(const SomeFile&) = delete;

  const std::string& path() const { return path_; }
  // Whether a read at `offset` gives what is there.
  bool agrees(const ShardFile& file, std::size_t offset, std::size_t size) const {
    std::vector<std::byte> room(size);
    const auto found = file.view(room, offset);
    const auto all = std::as_bytes(std::span(content_));
    const auto rest = all.subspan(std::min(offset, all.size()));
    return std::ranges::equal(found, rest.first(std::min(rest.size(), size)));
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "tfreel-file-XXXXXX";
  std::string content_;
};

constexpr std::size_t kSize = 9'000'000;  // some pieces
const std::atomic<bool> kGoOn = false;

bool agrees_often(const SomeFile& some, const ShardFile& file) {
  bool good = true;
  for (std::size_t i = 0; i < 50; ++i) {
    file.expect(i * 791'919 % kSize);
    good &= some.agrees(file, i * 791'919 % kSize, 300);
  }
  file.expect(kSize - 1);
  file.expect(kSize + 10);
  return good && some.agrees(file, kSize - 10, 300) && some.agrees(file, kSize, 300) &&
         some.agrees(file, kSize + 10, 300);
}

TEST(a_file_in_memory_gives_the_same_as_an_open_one) {
  const SomeFile some(kSize);
  ShardFile file(some.path());
  CHECK(agrees_often(some, file));
  CHECK(!file.is_held());
  CHECK(file.hold(kGoOn));
  CHECK(file.is_held());
  CHECK(agrees_often(some, file));
}

TEST(what_is_in_memory_is_not_copied) {
  const SomeFile some(kSize);
  ShardFile file(some.path());
  std::vector<std::byte> room(10);
  CHECK(file.view(room, 7).data() == room.data());
  CHECK(file.hold(kGoOn));
  CHECK(file.view(room, 7).data() != room.data());
  CHECK(file.view(room, 8).data() == file.view(room, 7).data() + 1);
}

TEST(a_file_that_became_shorter_is_not_held) {
  const SomeFile some(kSize);
  ShardFile file(some.path());
  std::filesystem::resize_file(some.path(), kSize - 1);
  CHECK(!file.hold(kGoOn));
  CHECK(!file.is_held());
  CHECK(some.agrees(file, 100, 50));
}

TEST(a_held_file_stays_what_it_was) {
  const SomeFile some(kSize);
  ShardFile file(some.path());
  CHECK(file.hold(kGoOn));
  std::filesystem::resize_file(some.path(), 0);
  CHECK(agrees_often(some, file));
}

TEST(who_is_stopped_brings_nothing_in) {
  const SomeFile some(kSize);
  ShardFile file(some.path());
  CHECK(!file.hold(true));
  CHECK(!file.is_held());
  CHECK(agrees_often(some, file));
}

TEST(an_empty_file_is_empty) {
  const SomeFile some(0);
  ShardFile file(some.path());
  CHECK(some.agrees(file, 0, 10));
  CHECK(file.hold(kGoOn));
  for (std::size_t i = 0; i < 3; ++i) CHECK(some.agrees(file, i, 10));
}

}  // namespace
}  // namespace tfreel
