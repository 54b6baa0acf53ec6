// Records of a regular file, read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decoder.hpp"
#include "file.hpp"

namespace tfreel {

class FileReader {
 public:
  // Reads a duplicate of `descriptor`. `options.size` must be known.
  FileReader(int descriptor, const DecoderOptions& options)
      : decoder_(options), descriptor_(descriptor), size_(options.size), verify_(options.verify) {}

  // The next block, fault or end; `starved` when a lot was read and nothing is ready yet, so that
  // the caller can look after other things and ask again. Failures of the system are thrown.
  Decoder::Step next();

  // The length of the next record, if that is long and has not been read yet: then `read_long` can
  // put it where it shall stay, which saves a copy. Otherwise 0.
  std::size_t long_record() noexcept;
  // Reads that record into `out`, which has just its length. False where anything is wrong with it:
  // then nothing has happened, and `next` will say what.
  bool read_long(std::span<std::byte> out) noexcept;

  // As in Decoder.
  Block take_block() noexcept { return decoder_.take_block(); }
  const Fault& fault() const noexcept { return decoder_.fault(); }
  std::uint64_t offset() const noexcept { return decoder_.offset(); }
  std::uint64_t record() const noexcept { return decoder_.record(); }

 private:
  std::size_t fill(std::size_t most);

  Decoder decoder_;
  OwnDescriptor descriptor_;
  std::uint64_t size_;
  bool verify_;
};

}  // namespace tfreel
