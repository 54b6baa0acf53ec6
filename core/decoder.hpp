// Bytes in, records and precise faults out. The decoder does no I/O: it offers space, is told how
// much of it was filled, and gives back blocks of records. Any chunking of the same bytes gives the
// same records and the same faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "block.hpp"
#include "fault.hpp"

namespace tfreel {

inline constexpr std::uint64_t kUnknownSize = std::numeric_limits<std::uint64_t>::max();

struct DecoderOptions {
  std::uint64_t offset = 0;  // stream offset of the first byte that will be fed: a record boundary
  std::uint64_t record = 0;  // ordinal of the record that begins there
  std::uint64_t size = kUnknownSize;  // of the whole stream, where it is known
  bool verify = true;                 // check payload checksums (headers are always checked)
  bool salvage = false;               // go on after a fault; otherwise the first one is the last
  std::uint64_t max_record_bytes = std::uint64_t{1} << 32;
  std::size_t window_bytes = std::size_t{1}
                             << 18;  // what is usually read at once: about an L2 cache
};

class Decoder {
 public:
  // What `next` found: records (in `block`), a fault (in `fault`), neither because more input is
  // needed, or the end.
  enum class Step { records, fault, starved, finished };

  explicit Decoder(const DecoderOptions& options);

  // Free space to read into: at least one byte, and never more than twice what has really arrived
  // (or what the stream is known to hold), whatever a header claims.
  std::span<std::byte> space();
  // The first `size` bytes of the last `space()` have been filled.
  void filled(std::size_t size) noexcept { end_ += size; }
  // There is no more input.
  void finish() noexcept { input_ended_ = true; }

  Step next();
  // Valid after `next` said so, until it is called again.
  Block take_block() noexcept { return std::move(block_); }
  const Fault& fault() const noexcept { return fault_; }

  // The next record, where its sound header has come but not yet all of its payload.
  struct Awaited {
    std::uint64_t length;                // of the payload
    std::span<const std::byte> arrived;  // the first bytes of it
  };
  std::optional<Awaited> awaited() const noexcept;
  // The awaited record came another way and was sound. `behind` is what follows it in the stream, a
  // header at most. Throws if there is no memory; then nothing has happened.
  void pass(const Awaited& record, std::span<const std::byte> behind);

  // Stream offset of the next byte to be fed.
  std::uint64_t input_offset() const noexcept { return origin_ + end_; }
  // Stream offset and ordinal of the next record to be decoded.
  std::uint64_t offset() const noexcept { return origin_ + begin_; }
  std::uint64_t record() const noexcept { return record_; }

 private:
  enum class State { framing, zeros, searching, stopped };

  Step frames();
  Step diagnose();
  Step zeros();
  Step search();

  Step starve(std::uint64_t needed) noexcept;
  Step drop_record(Fault fault);
  Step lose_header(Fault fault);
  Step emit(std::uint64_t end, State after) noexcept;

  bool plausible(const Header& header, std::uint64_t at) const noexcept;
  std::uint32_t payload_crc(std::span<const std::byte> present);
  bool worth_checking(std::uint64_t length) noexcept;

  std::shared_ptr<BufferPool::Buffer> buffer_of(std::size_t capacity) const;
  std::size_t capacity_for(std::size_t have) const noexcept;
  std::span<const std::byte> window() const noexcept;
  std::uint64_t left() const noexcept { return options_.size - offset(); }
  void consume(std::uint64_t size) noexcept;

  DecoderOptions options_;
  std::shared_ptr<BufferPool> pool_;
  std::shared_ptr<BufferPool::Buffer> buffer_;
  std::uint64_t origin_;   // stream offset of buffer_[0]
  std::size_t begin_ = 0;  // undecoded bytes: buffer_[begin_, end_)
  std::size_t end_ = 0;
  std::size_t needed_ = kHeaderBytes;  // undecoded bytes wanted before the next step can succeed
  bool input_ended_ = false;

  State state_ = State::framing;
  std::uint64_t record_;
  std::size_t last_count_ = 0;  // records in the last block: a guess for the next
  Block block_;
  Fault fault_{};  // the last one given out, or the one whose end is being looked for

  // The checksum of a record that arrives in pieces is computed as they come, while they are in
  // cache.
  std::uint32_t partial_crc_ = 0;
  std::size_t partial_bytes_ = 0;

  // What failed candidates of the search may still cost, in bytes checksummed.
  std::int64_t search_budget_ = 0;
};

}  // namespace tfreel
