// A run of decoded records: one buffer, and where each record lies in it. The unit in which records
// travel between rooms, so that nobody needs an object per record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "frame.hpp"

namespace tfreel {

// Bytes whose memory is reused. Reading into fresh pages costs four times as much as reading into
// warm ones, so a buffer that nobody holds any more goes back to its pool.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Keeps up to `most_idle` buffers that nobody uses.
  explicit BufferPool(std::size_t most_idle = 2) : most_idle_(most_idle) {
    idle_.reserve(most_idle + 1);
  }

  struct Buffer {
    std::unique_ptr<std::byte[]> data;
    std::size_t capacity;
    std::span<std::byte> bytes() noexcept { return {data.get(), capacity}; }
    std::span<const std::byte> bytes() const noexcept { return {data.get(), capacity}; }
  };

  // A buffer of at least `capacity` bytes, with any content.
  std::shared_ptr<Buffer> take(std::size_t capacity);

 private:
  void give_back(std::unique_ptr<Buffer> buffer) noexcept;

  std::size_t most_idle_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> idle_;
};

struct Entry {
  std::uint64_t offset;    // of the first header byte, in the stream
  std::uint64_t length;    // of the payload
  std::size_t position;    // of the first header byte, in the block's buffer
  std::uint32_t checksum;  // of the payload, masked, as stored
};

class Block {
 public:
  Block() = default;
  Block(std::shared_ptr<const BufferPool::Buffer> buffer, std::uint64_t first_record,
        std::vector<Entry> entries) noexcept
      : buffer_(std::move(buffer)), first_record_(first_record), entries_(std::move(entries)) {}

  std::size_t size() const noexcept { return entries_.size(); }
  std::span<const Entry> entries() const noexcept { return entries_; }
  std::uint64_t first_record() const noexcept { return first_record_; }  // ordinal of entries()[0]

  std::span<const std::byte> payload(std::size_t i) const {
    return frame(i).subspan(kHeaderBytes, entries_[i].length);
  }
  // Header, payload and footer, as they were read.
  std::span<const std::byte> frame(std::size_t i) const {
    const Entry& entry = entries_.at(i);
    return buffer_->bytes().subspan(entry.position, entry.length + kFrameOverhead);
  }

  // All frames, one after the other: in a block they lie side by side.
  std::span<const std::byte> frames() const {
    if (entries_.empty()) return {};
    const Entry& last = entries_.back();
    const std::size_t begin = entries_.front().position;
    return buffer_->bytes().subspan(begin, last.position + last.length + kFrameOverhead - begin);
  }

 private:
  std::shared_ptr<const BufferPool::Buffer> buffer_;
  std::uint64_t first_record_ = 0;
  std::vector<Entry> entries_;
};

// Records in, a block of them out.
class BlockBuilder {
 public:
  // `expected` is how many bytes of frames there will be, as far as that is known.
  BlockBuilder(BufferPool& pool, std::size_t expected)
      : pool_(pool), buffer_(pool.take(expected)) {}

  void append(std::span<const std::byte> payload);
  Block finish() { return Block(std::move(buffer_), 0, std::move(entries_)); }

 private:
  BufferPool& pool_;
  std::shared_ptr<BufferPool::Buffer> buffer_;
  std::size_t used_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace tfreel
