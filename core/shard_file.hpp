// One open file of a set. Of a small set, a file that is read here and there again and again is
// brought into memory as a whole: one long read costs no more than some thousand short ones, and
// whatever comes after it costs no call at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "buffer.hpp"
#include "file.hpp"

namespace tfreel {

// Threads may share it.
class ShardFile {
 public:
  // With `may_hold`, it may take as much memory as the file is long.
  ShardFile(const std::string& path, bool may_hold);

  const FileState& state() const noexcept { return state_; }
  // As `read_at`.
  std::size_t read(std::span<std::byte> out, std::uint64_t offset);
  // Whether reads come out of memory.
  bool is_held() const noexcept { return held_.load(std::memory_order_acquire); }

 private:
  void hold_if_it_pays();

  OwnDescriptor descriptor_;
  FileState state_;
  std::atomic<bool> may_hold_;
  std::atomic<bool> held_ = false;  // from then on the content stays as it is
  std::atomic<std::uint64_t> reads_ = 0;
  std::mutex filling_;
  Buffer<std::byte> content_;
};

}  // namespace tfreel
