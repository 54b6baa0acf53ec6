// The files of a set and the records in them, counted through: position 0 is the first record of
// the first file, and the last position the last record of the last.
#pragma once

#include <atomic>
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

struct ShardsOptions {
  std::size_t most_open = 64;   // files at the same time, besides those that somebody uses
  std::uint64_t most_held = 0;  // bytes in memory: all files together have no more, or none is held
};

// Files are opened when they are wanted. Those of a small set, once it is read here and there again
// and again, are brought into memory: one long read costs no more than some thousand short ones,
// and whatever comes after it costs no call at all.
//
// Threads may share it.
class Shards {
 public:
  explicit Shards(std::vector<Shard> shards, const ShardsOptions& options = {});

  const Shard& operator[](std::size_t i) const noexcept { return shards_[i]; }
  // The shard that has the record at `position`. Throws std::out_of_range if none has.
  std::size_t find(std::uint64_t position) const;
  // The position of its first record, and the one behind its last.
  std::uint64_t begin_of(std::size_t i) const noexcept { return starts_[i]; }
  std::uint64_t end_of(std::size_t i) const noexcept { return starts_[i + 1]; }

  // The file; whoever uses it keeps it open. Null if it is not the one that was indexed. Stopped,
  // it does not wait for a long read.
  std::shared_ptr<const ShardFile> open(std::size_t i, const std::atomic<bool>& stopped);
  // Says that its files were read at so many places.
  void count_reads(std::uint64_t count) noexcept { reads_ += count; }

 private:
  struct Slot {
    std::size_t shard = 0;
    std::shared_ptr<const ShardFile> file;
  };
  struct Held {
    bool tried = false;  // or being tried
    std::shared_ptr<const ShardFile> file;
  };

  bool is_held(std::size_t i) const noexcept { return !held_.empty() && held_[i].file; }
  bool begin_to_hold(std::size_t i);

  std::vector<Shard> shards_;
  std::vector<std::uint64_t> starts_{0};
  std::uint64_t enough_reads_ = 0;
  std::atomic<std::uint64_t> reads_ = 0;
  std::mutex mutex_;
  std::vector<Slot> slots_;  // a shard has one place only, which it shares with others
  std::vector<Held> held_;   // each has its own; none if the set is too large
};

}  // namespace tfreel
