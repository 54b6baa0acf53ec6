// Batches made ahead of their consumer, by threads that belong to the pipeline and end with it.
//
// Whoever takes batches decides how many to submit ahead; the pipeline sees to it that, whatever
// their number, only so many bytes are in work or waiting to be taken.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "batch_reader.hpp"

namespace tfreel {

struct PipelineOptions {
  std::size_t threads = 1;
  // Nothing is read or parsed while records in work and columns that nobody has taken have so many
  // bytes together with it; but for what everybody waits for.
  std::size_t most_bytes = std::size_t{64} << 20;
};

// In the child of a fork it can only be destroyed, and its memory is lost then: its threads do not
// exist there, and what they were doing when the process forked stays half done.
class Pipeline {
 public:
  // A column for each feature; or none, if anything was wrong: whoever wants to know what reads
  // the same records again, step by step.
  using Batch = std::optional<std::vector<Column>>;

  explicit Pipeline(std::unique_ptr<BatchReader> reader, const PipelineOptions& options = {});
  // Ends the threads, each as soon as it has read the record that it is at, or parsed its batch.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::span<const FeatureSpec> features() const noexcept;

  // Asks for batches of these sizes, of the records at `positions`: the first ones, the next ones,
  // …. One thread reads all of them together, so what they have at the same places is read once.
  // By one thread at a time. As long as there are fewer threads than there may be, this starts one.
  void submit(std::vector<std::uint64_t> positions, std::vector<std::size_t> sizes);
  // How many batches were submitted and not yet taken.
  std::size_t size() const;
  // The first of them, if it is ready before so much time has passed.
  std::optional<Batch> take(std::chrono::milliseconds longest);

 private:
  class State;
  std::unique_ptr<State> state_;
  pid_t process_;
};

}  // namespace tfreel
