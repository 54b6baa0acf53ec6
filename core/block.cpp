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

Block framed(std::span<const std::span<const std::byte>> payloads, BufferPool& pool) {
  std::size_t total = 0;
  for (const auto payload : payloads) total += payload.size() + kFrameOverhead;
  auto buffer = pool.take(total);
  std::vector<Entry> entries;
  entries.reserve(payloads.size());
  std::size_t used = 0;
  for (const auto payload : payloads) {
    const auto frame = buffer->bytes().subspan(used, payload.size() + kFrameOverhead);
    write_frame(payload, frame);
    entries.push_back({used, payload.size(), used, read_footer(frame)});
    used += frame.size();
  }
  return Block(std::move(buffer), 0, std::move(entries));
}

}  // namespace tfreel
