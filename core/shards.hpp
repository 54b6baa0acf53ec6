// The files of a set and the records in them, counted through: position 0 is the first record of
// the first file, and the last position the last record of the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fetch.hpp"
#include "shard_file.hpp"

namespace tfreel {

// A file, and what is known of it since it was indexed. The columns belong to somebody else.
struct Shard {
  std::string path;
  FileState state;
  IndexColumns index;
};

// Threads may share it.
class Shards {
 public:
  // Keeps at most `most_open` files open, besides those that somebody holds; and in memory, if all
  // of them together have no more than `most_held` bytes.
  explicit Shards(std::vector<Shard> shards, std::size_t most_open = 64,
                  std::uint64_t most_held = std::uint64_t{64} << 20);

  const Shard& operator[](std::size_t i) const noexcept { return shards_[i]; }
  // The shard that has the record at `position`. Throws std::out_of_range if none has.
  std::size_t find(std::uint64_t position) const;
  // The position of its first record, and the one behind its last.
  std::uint64_t begin_of(std::size_t i) const noexcept { return starts_[i]; }
  std::uint64_t end_of(std::size_t i) const noexcept { return starts_[i + 1]; }

  // The open file; whoever holds it keeps it open. Null if it is not the one that was indexed.
  std::shared_ptr<ShardFile> open(std::size_t i);

 private:
  struct Slot {
    std::size_t shard = 0;
    std::shared_ptr<ShardFile> file;
  };

  std::vector<Shard> shards_;
  std::vector<std::uint64_t> starts_{0};
  bool may_hold_;
  std::mutex mutex_;
  std::vector<Slot> slots_;  // a shard has one place only, which it shares with others
};

}  // namespace tfreel
