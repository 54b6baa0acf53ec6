// Batches from end to end: records of a set, in any order, fetched, checked and parsed to columns.
// Several batches may be fetched together, for they may have their records at the same places.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "block.hpp"
#include "columns.hpp"
#include "read_plan.hpp"
#include "rows.hpp"
#include "shards.hpp"

namespace tfreel {

// Threads may share it.
class BatchReader {
 public:
  // For so many threads, it keeps memory to use again.
  BatchReader(std::shared_ptr<Shards> shards, std::vector<FeatureSpec> features, bool sequences,
              std::size_t threads)
      : shards_(std::move(shards)),
        features_(std::move(features)),
        sequences_(sequences),
        buffers_(std::make_shared<BufferPool>(threads)) {}

  std::span<const FeatureSpec> features() const noexcept { return features_; }

  ReadPlan plan(std::span<const std::uint64_t> positions) const {
    return plan_records(*shards_, positions);
  }

  // Payloads in the order of their positions, and what they lie in: a buffer, or files in memory.
  struct Fetched {
    std::vector<Bytes> records;
    std::shared_ptr<BufferPool::Buffer> buffer;
    std::vector<std::shared_ptr<const ShardFile>> files;
  };
  // None if a file or a record is not as it should be, or if it was stopped before all records were
  // there. Failures of the system are thrown.
  std::optional<Fetched> fetch(const ReadPlan& plan, const std::atomic<bool>& stopped);

  // A column for each feature. None if a feature is not as it should be.
  std::optional<std::vector<Column>> parse(std::span<const Bytes> records);

 private:
  std::shared_ptr<Shards> shards_;
  std::vector<FeatureSpec> features_;
  bool sequences_;
  std::shared_ptr<BufferPool> buffers_;
  UnitPool units_;
};

}  // namespace tfreel
