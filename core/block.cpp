#include "block.hpp"

#include <algorithm>

namespace tfreel {

std::shared_ptr<BufferPool::Buffer> BufferPool::take(std::size_t capacity) {
  std::unique_ptr<Buffer> buffer;
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
    const auto fits = std::find_if(idle_.begin(), idle_.end(),
                                   [&](const auto& idle) { return idle->capacity >= capacity; });
    if (fits != idle_.end()) {
      buffer = std::move(*fits);
      idle_.erase(fits);
    }
  }
  if (!buffer) {
    buffer = std::make_unique<Buffer>(
        Buffer{std::make_unique_for_overwrite<std::byte[]>(capacity), capacity});
  }
  // The pool may be gone by the time the last holder lets go: then the memory simply goes too.
  return {buffer.release(), [pool = weak_from_this()](Buffer* used) {
            std::unique_ptr<Buffer> owned(used);
            if (const auto alive = pool.lock()) alive->give_back(std::move(owned));
          }};
}

void BufferPool::give_back(std::unique_ptr<Buffer> buffer) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  idle_.push_back(std::move(buffer));  // never allocates: room for one too many was reserved
  if (idle_.size() <= most_idle_) return;
  // Keep the large ones: a stream that had one large record usually has another.
  const auto smallest =
      std::min_element(idle_.begin(), idle_.end(),
                       [](const auto& a, const auto& b) { return a->capacity < b->capacity; });
  idle_.erase(smallest);
}

void BlockBuilder::append(std::span<const std::byte> payload) {
  const std::size_t frame_bytes = payload.size() + kFrameOverhead;
  if (frame_bytes > buffer_->capacity - used_) {
    auto larger = pool_.take(used_ + frame_bytes + buffer_->capacity / 2);
    std::copy_n(buffer_->data.get(), used_, larger->data.get());
    buffer_ = std::move(larger);
  }
  const auto frame = buffer_->bytes().subspan(used_, frame_bytes);
  write_frame(payload, frame);
  entries_.push_back({used_, payload.size(), used_, read_footer(frame)});
  used_ += frame_bytes;
}

}  // namespace tfreel
