// One file of a set: open, or as a whole in memory. What is in memory costs no call to read, and no
// descriptor to keep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "buffer.hpp"
#include "file.hpp"

namespace tfreel {

// Threads may share it.
class ShardFile {
 public:
  explicit ShardFile(const std::string& path);

  const FileState& state() const noexcept { return state_; }
  // Brings it into memory, and closes it. False if it has another length by now, or if it was
  // stopped; then it stays open. For the one who opened it, before others have it.
  bool hold(const std::atomic<bool>& stopped);
  bool is_held() const noexcept { return !descriptor_; }
  // The bytes from `offset` on, as many as `room` has; fewer if the file ends there. They lie in
  // `room`, or in memory that stays as it is and lives as long as this.
  std::span<const std::byte> view(std::span<std::byte> room, std::uint64_t offset) const;
  // Says that the bytes from `offset` on are wanted soon: what is in memory has far to come too.
  void expect(std::uint64_t offset) const noexcept;

 private:
  std::span<const std::byte> held_from(std::uint64_t offset) const noexcept;
  bool bring_in(std::span<std::byte> content, const std::atomic<bool>& stopped) const;

  std::optional<OwnDescriptor> descriptor_;  // none if the content is held
  FileState state_;
  Buffer<std::byte> content_;
};

}  // namespace tfreel
