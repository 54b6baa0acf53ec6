#include "shard_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
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
  bool agrees(ShardFile& file, std::size_t offset, std::size_t size) const {
    std::string out(size, '?');
    const std::size_t got = file.read(std::as_writable_bytes(std::span(out)), offset);
    const std::string expected =
        offset < content_.size() ? content_.substr(offset, size) : std::string();
    return got == expected.size() && out.starts_with(expected);
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "tfreel-file-XXXXXX";
  std::string content_;
};

constexpr std::size_t kSize = 100'000;

bool agrees_often(const SomeFile& some, ShardFile& file, std::size_t reads = 50) {
  bool good = true;
  for (std::size_t i = 0; i < reads; ++i) good &= some.agrees(file, i * 7919 % kSize, 300);
  return good && some.agrees(file, kSize - 10, 300) && some.agrees(file, kSize + 10, 300);
}

TEST(a_file_that_is_read_often_is_held_and_gives_the_same) {
  const SomeFile some(kSize);
  ShardFile file(some.path(), true);
  CHECK(some.agrees(file, 5, 20));
  CHECK(!file.is_held());
  CHECK(agrees_often(some, file));
  CHECK(file.is_held());
  CHECK(agrees_often(some, file));
}

TEST(a_file_is_held_only_if_it_may_be) {
  const SomeFile some(kSize);
  ShardFile file(some.path(), false);
  CHECK(agrees_often(some, file));
  CHECK(!file.is_held());
}

TEST(a_file_that_became_shorter_is_not_held) {
  const SomeFile some(kSize);
  ShardFile file(some.path(), true);
  std::filesystem::resize_file(some.path(), kSize / 2);
  for (std::size_t i = 0; i < 50; ++i) CHECK(some.agrees(file, i * 100, 50));
  CHECK(!file.is_held());
}

TEST(a_held_file_stays_what_it_was) {
  const SomeFile some(kSize);
  ShardFile file(some.path(), true);
  CHECK(agrees_often(some, file));
  std::filesystem::resize_file(some.path(), 0);
  CHECK(agrees_often(some, file));
}

TEST(an_empty_file_is_empty) {
  const SomeFile some(0);
  ShardFile file(some.path(), true);
  for (std::size_t i = 0; i < 3; ++i) CHECK(some.agrees(file, i, 10));
}

TEST(threads_share_a_file_while_it_is_brought_in) {
  const SomeFile some(kSize);
  ShardFile file(some.path(), true);
  std::vector<char> good(4, 0);
  {
    std::vector<std::jthread> threads;
    for (char& mine : good) threads.emplace_back([&] { mine = agrees_often(some, file, 500); });
  }
  CHECK_EQ(std::ranges::count(good, 1), 4);
}

}  // namespace
}  // namespace tfreel
