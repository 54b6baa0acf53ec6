// Records of a regular file, read by position: at once when asked for, or ahead of need by a thread
// of its own, so that reading and checking one block goes on while another is used.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "decoder.hpp"

namespace tfreel {

class FileReader {
 public:
  // Reads a duplicate of `descriptor`. `options.size` must be known.
  FileReader(int descriptor, const DecoderOptions& options, bool ahead);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // The next block, fault or end; `starved` after a moment in which nothing came, so that the
  // caller can look after other things and ask again. Failures of the system are thrown here,
  // whichever thread met them.
  Decoder::Step next();
  // As in Decoder.
  Block take_block() noexcept { return std::move(block_); }
  const Fault& fault() const noexcept { return fault_; }

  // Stream offset and ordinal of the record behind what was given out.
  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t record() const noexcept { return record_; }

 private:
  struct Item;
  class Producer;
  class Ahead;

  std::unique_ptr<Producer> producer_;  // when reading at once
  std::unique_ptr<Ahead> ahead_;        // when reading ahead
  Block block_;
  Fault fault_{};
  std::uint64_t offset_;
  std::uint64_t record_;
  bool salvage_;
};

}  // namespace tfreel
