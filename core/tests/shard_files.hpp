// Files of numbered examples with their indexes, for tests of what reads sets of files.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "frame_buffer.hpp"
#include "messages.hpp"
#include "shards.hpp"

namespace tfreel::check {

class NumberedFile {
 public:
  // Examples with one feature, `n`: the numbers from `first` on; and some padding.
  NumberedFile(std::size_t first, std::size_t count, std::size_t padding) {
    FrameBuffer frames(count * (padding + 64) + 1);
    for (std::size_t i = first; i < first + count; ++i) {
      const std::string record =
          example(entry("n", ints({static_cast<std::int64_t>(i)}))) + field(9, times(padding, "."));
      offsets_.push_back(frames.size());
      lengths_.push_back(record.size());
      frames.append(bytes_of(record));
      checksums_.push_back(read_footer(frames.bytes()));
    }
    const int made = ::mkstemp(path_.data());
    write_all(made, {frames.bytes()});
    ::close(made);
    state_ = OwnDescriptor(path_).state();
  }
  ~NumberedFile() { std::filesystem::remove(path_); }
  NumberedFile(const NumberedFile&) = delete;
  NumberedFile& operator=(const NumberedFile&) = delete;

  Shard shard() const { return {path_, state_, {offsets_, lengths_, checksums_}}; }
  std::size_t frame_bytes() const { return lengths_.front() + kFrameOverhead; }
  // Damages a byte of a record, and leaves no other trace.
  void damage(std::size_t record, std::size_t byte = 4) {
    const auto written = std::filesystem::last_write_time(path_);
    std::FILE* file = std::fopen(path_.c_str(), "r+b");
    std::fseek(file, static_cast<long>(offsets_[record] + kHeaderBytes + byte), SEEK_SET);
    std::fputc('!', file);
    std::fclose(file);
    std::filesystem::last_write_time(path_, written);
  }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "tfreel-shard-XXXXXX";
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> lengths_;
  std::vector<std::uint32_t> checksums_;
  FileState state_;
};

// Some files whose numbers go on from one to the next: each is its position.
class ShardSet {
 public:
  ShardSet(std::size_t shards, std::size_t records, std::size_t padding = 0) {
    for (std::size_t i = 0; i < shards; ++i) files_.emplace_back(i * records, records, padding);
  }

  NumberedFile& operator[](std::size_t i) { return files_[i]; }
  std::vector<Shard> shards() const {
    std::vector<Shard> all;
    for (const NumberedFile& file : files_) all.push_back(file.shard());
    return all;
  }

 private:
  std::deque<NumberedFile> files_;
};

}  // namespace tfreel::check
