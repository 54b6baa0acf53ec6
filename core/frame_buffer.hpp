// Records in, framed bytes out: what a writer collects between two writes to its file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "frame.hpp"

namespace tfreel {

class FrameBuffer {
 public:
  explicit FrameBuffer(std::size_t capacity);

  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  // Whether a payload of that length fits behind what is there.
  bool fits(std::uint64_t length) const noexcept {
    return length <= capacity_ && length + kFrameOverhead <= capacity_ - size_;
  }

  // Frames `payload`, which must fit.
  void append(std::span<const std::byte> payload);

  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  void clear() noexcept { size_ = 0; }
  // Takes back what was appended since the size was `size`.
  void shrink(std::size_t size) noexcept { size_ = std::min(size_, size); }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

}  // namespace tfreel
