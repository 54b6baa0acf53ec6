#include "shards.hpp"

#include <algorithm>
#include <stdexcept>

namespace tfreel {

Shards::Shards(std::vector<Shard> shards, std::size_t most_open, std::uint64_t most_held)
    : shards_(std::move(shards)), slots_(std::min(most_open, shards_.size())) {
  std::uint64_t left = most_held;
  bool fits = true;
  for (const Shard& shard : shards_) {
    starts_.push_back(starts_.back() + shard.index.offsets.size());
    fits = fits && shard.state.size <= left;
    left -= fits ? shard.state.size : 0;
  }
  may_hold_ = fits;
}

std::size_t Shards::find(std::uint64_t position) const {
  if (position >= starts_.back()) throw std::out_of_range("record position out of range");
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), position);
  return static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

std::shared_ptr<ShardFile> Shards::open(std::size_t i) {
  Slot& slot = slots_[i % slots_.size()];
  {
    const std::scoped_lock lock(mutex_);
    if (slot.file && slot.shard == i) return slot.file;
  }
  // Without the lock: on a network this can take a while, and others want their files.
  auto file = std::make_shared<ShardFile>(shards_[i].path, may_hold_);
  if (file->state() != shards_[i].state) return nullptr;
  const std::scoped_lock lock(mutex_);
  slot = {i, file};
  return file;
}

}  // namespace tfreel
