// Positional reads and gathered writes on descriptors that somebody else opened. No policy: whoever
// calls decides what a short read means. Failures of the system arrive as std::system_error with
// the errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace tfreel {

// A descriptor of one's own for a file that is open already; closed with its owner.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor);
  ~OwnDescriptor();
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  int get() const noexcept { return descriptor_; }

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
