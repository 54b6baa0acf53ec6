#include "shard_file.hpp"

#include <algorithm>

namespace tfreel {
namespace {

// A file is held after one read for each so many bytes of it. To bring it in takes as long as some
// times that number of reads: little for those who go through all of it, and for the others not
// much.
constexpr std::uint64_t kBytesPerRead = 8192;

}  // namespace

ShardFile::ShardFile(const std::string& path, bool may_hold)
    : descriptor_(path), state_(descriptor_.state()), may_hold_(may_hold) {}

std::size_t ShardFile::read(std::span<std::byte> out, std::uint64_t offset) {
  if (may_hold_.load(std::memory_order_relaxed)) hold_if_it_pays();
  if (!is_held()) return read_at(descriptor_.get(), out, offset);
  const auto content = content_.span();
  if (offset >= content.size()) return 0;
  const auto rest = content.subspan(static_cast<std::size_t>(offset));
  const auto wanted = rest.first(std::min(rest.size(), out.size()));
  std::ranges::copy(wanted, out.begin());
  return wanted.size();
}

void ShardFile::hold_if_it_pays() {
  if (reads_.fetch_add(1, std::memory_order_relaxed) < state_.size / kBytesPerRead) return;
  const std::unique_lock lock(filling_, std::try_to_lock);
  if (!lock || !may_hold_)
    return;  // another thread is at it: until it is done, short reads will do
  may_hold_ = false;
  content_.resize(static_cast<std::size_t>(state_.size));
  const std::size_t got = read_at(descriptor_.get(), {content_.data(), content_.size()}, 0);
  held_.store(got == content_.size(), std::memory_order_release);
}

}  // namespace tfreel
