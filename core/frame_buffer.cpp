#include "frame_buffer.hpp"

#include <stdexcept>

namespace tfreel {

FrameBuffer::FrameBuffer(std::size_t capacity)
    : data_(std::make_unique_for_overwrite<std::byte[]>(capacity)), capacity_(capacity) {}

void FrameBuffer::append(std::span<const std::byte> payload) {
  if (!fits(payload.size())) throw std::length_error("record does not fit the frame buffer");
  const std::span<std::byte> frame(data_.get() + size_, payload.size() + kFrameOverhead);
  write_frame(payload, frame);
  size_ += frame.size();
}

}  // namespace tfreel
