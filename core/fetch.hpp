// Random access: records read by their place in an index, every byte of them checked again. An
// index is a claim about a file, never a proof: a stale one costs an error, not a wrong record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "block.hpp"
#include "fault.hpp"

namespace tfreel {

// Where the records of one file are said to lie: three columns of one length.
struct IndexColumns {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint64_t> lengths;
  std::span<const std::uint32_t> checksums;
};

// Reads the records `picks` (each below the number of rows, in any order, repeats allowed) into a
// block in that order. Stops early, after at least one record, when the block holds about
// `enough_bytes`; the caller goes on from there. A record that is not what the index promised is a
// fault, and the first of several is the one that is given.
std::variant<Block, Fault> fetch(int descriptor, const IndexColumns& index,
                                 std::span<const std::uint64_t> picks, BufferPool& pool,
                                 std::size_t threads = 1,
                                 std::uint64_t enough_bytes = std::uint64_t{4} << 20);

// How many of the records in front one read brings: those that lie in the file as they shall lie in
// the buffer. Their positions must not decrease, and records may share bytes only if they are the
// same.
std::size_t run_length(std::span<const Entry> entries) noexcept;

// The place of such a run in `buffer`.
std::span<std::byte> place_of_run(std::span<const Entry> entries, std::span<std::byte> buffer);

// Checks the run, the records `picks` of a file, of which `found` was read: all of it, or what the
// file has; gives the first record that is not as promised.
std::optional<Fault> check_run(std::span<const Entry> entries, std::span<const std::uint64_t> picks,
                               std::span<const std::byte> found);

}  // namespace tfreel
