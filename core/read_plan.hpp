// How to read records: through the files from front to back, whatever order they are wanted in, and
// with few calls where they lie near each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "block.hpp"
#include "shards.hpp"

namespace tfreel {

struct ReadPlan {
  // A shard, and which of the entries are its records.
  struct Part {
    std::size_t shard;
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Part> parts;
  std::vector<Entry> entries;        // in the order of reading
  std::vector<std::uint64_t> picks;  // which record of its shard each of them is
  std::vector<std::size_t> rows;     // and which of those that are wanted
  std::size_t bytes = 0;             // of the buffer that holds them all
};

// The plan for the records at `positions`, in any order, repeats allowed. Throws std::out_of_range
// if one of them does not exist, and std::length_error if its index claims what no file can hold.
ReadPlan plan_records(const Shards& shards, std::span<const std::uint64_t> positions);

}  // namespace tfreel
