// Descriptors of one's own, positional reads and gathered writes. No policy: whoever calls decides
// what a short read means. Failures of the system arrive as std::system_error with the errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tfreel {

// What tells whether a file is still the one that it was.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool operator==(const FileState&) const = default;
};

// A descriptor of one's own, closed with its owner.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor);           // for a file that is open already
  explicit OwnDescriptor(const std::string& path);  // for reading
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  int get() const noexcept { return descriptor_; }
  FileState state() const;

 private:
  int descriptor_;
};

// Reads into `out` from `offset` until it is full or the file ends; gives the number of bytes read.
// Positional, because a descriptor that crossed a fork shares its file offset with the other
// process.
std::size_t read_at(int descriptor, std::span<std::byte> out, std::uint64_t offset);

// The same, into two places.
std::size_t read_at(int descriptor, std::span<std::byte> first, std::span<std::byte> second,
                    std::uint64_t offset);

// Writes all of `parts`, in order, at the descriptor's own position.
void write_all(int descriptor, std::initializer_list<std::span<const std::byte>> parts);

}  // namespace tfreel
