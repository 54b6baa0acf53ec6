#include "shard_file.hpp"

#include <algorithm>
#include <utility>

#include "expect.hpp"

namespace tfreel {
namespace {

// Whoever wants to stop waits for one of these at most.
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

}  // namespace

ShardFile::ShardFile(const std::string& path)
    : descriptor_(std::in_place, path), state_(descriptor_->state()) {}

bool ShardFile::hold(const std::atomic<bool>& stopped) {
  Buffer<std::byte> content;
  content.resize(static_cast<std::size_t>(state_.size));
  if (!bring_in({content.data(), content.size()}, stopped)) return false;
  content_ = std::move(content);
  descriptor_.reset();
  return true;
}

bool ShardFile::bring_in(std::span<std::byte> content, const std::atomic<bool>& stopped) const {
  for (std::size_t done = 0; done < content.size();) {
    if (stopped.load(std::memory_order_relaxed)) return false;
    const auto piece = content.subspan(done, std::min(kPieceBytes, content.size() - done));
    if (read_at(descriptor_->get(), piece, done) != piece.size()) return false;
    done += piece.size();
  }
  return true;
}

std::span<const std::byte> ShardFile::view(std::span<std::byte> room, std::uint64_t offset) const {
  if (!is_held()) return room.first(read_at(descriptor_->get(), room, offset));
  const auto rest = held_from(offset);
  return rest.first(std::min(rest.size(), room.size()));
}

void ShardFile::expect(std::uint64_t offset) const noexcept { tfreel::expect(held_from(offset)); }

std::span<const std::byte> ShardFile::held_from(std::uint64_t offset) const noexcept {
  if (offset >= content_.size()) return {};
  return content_.span().subspan(static_cast<std::size_t>(offset));
}

}  // namespace tfreel
