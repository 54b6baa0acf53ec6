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

// Asks the system to begin writing to the disk what a file holds, so that a sync at the end has
// little left to wait for. Does nothing where there is no such request.
void begin_sync(int descriptor) noexcept;

// A regular file that is to be read as a whole, into memory that the caller brings. Whatever is in
// the way (no such file, a FIFO, a link that is not to be followed, a file that changes) makes it
// no file at all: there is a slower way that says why.
class WholeFile {
 public:
  WholeFile() = default;
  WholeFile(const std::string& path, bool follow_link, std::uint64_t largest) noexcept;
  ~WholeFile();
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  std::size_t size() const noexcept { return size_; }
  // Fills `out`, which must be of that size. False if the file has another size by now.
  bool read(std::span<std::byte> out) noexcept;

 private:
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace tfreel
