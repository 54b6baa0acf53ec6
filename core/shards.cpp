#include "shards.hpp"

#include <algorithm>
#include <stdexcept>

namespace tfreel {
namespace {

// Files are held after one read for each so many bytes of the set. To bring them in takes as long
// as some times that number of reads: little for those who go through all of it, and for the others
// not much.
constexpr std::uint64_t kBytesPerRead = 8192;

// Whether a file is held in memory now. Where there is none for it, it is read as it was before.
bool holds(ShardFile& file, const std::atomic<bool>& stopped) {
  try {
    return file.hold(stopped);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Shards::Shards(std::vector<Shard> shards, const ShardsOptions& options)
    : shards_(std::move(shards)), slots_(std::min(options.most_open, shards_.size())) {
  std::uint64_t left = options.most_held;
  bool fits = true;
  for (const Shard& shard : shards_) {
    starts_.push_back(starts_.back() + shard.index.offsets.size());
    fits = fits && shard.state.size <= left;
    left -= fits ? shard.state.size : 0;
  }
  if (fits) held_.resize(shards_.size());
  enough_reads_ = (options.most_held - left) / kBytesPerRead;
}

std::size_t Shards::find(std::uint64_t position) const {
  if (position >= starts_.back()) throw std::out_of_range("record position out of range");
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), position);
  return static_cast<std::size_t>(behind - starts_.begin()) - 1;
}

std::shared_ptr<const ShardFile> Shards::open(std::size_t i, const std::atomic<bool>& stopped) {
  Slot& slot = slots_[i % slots_.size()];
  bool hold = false;
  {
    const std::scoped_lock lock(mutex_);
    if (is_held(i)) return held_[i].file;
    hold = begin_to_hold(i);
    if (!hold && slot.file && slot.shard == i) return slot.file;
  }
  // Without the lock: on a network this can take a while, and others want their files.
  const auto file = std::make_shared<ShardFile>(shards_[i].path);
  if (file->state() != shards_[i].state) return nullptr;
  const bool held = hold && holds(*file, stopped);
  const std::scoped_lock lock(mutex_);
  if (hold) held_[i] = {.tried = held || !stopped, .file = held ? file : nullptr};
  if (!is_held(i)) {
    slot = {i, file};
  } else if (slot.shard == i) {
    slot = {};
  }
  return file;
}

// One thread tries, once. Until it is done, short reads will do for the others.
bool Shards::begin_to_hold(std::size_t i) {
  if (held_.empty() || held_[i].tried || reads_ < enough_reads_) return false;
  return held_[i].tried = true;
}

}  // namespace tfreel
