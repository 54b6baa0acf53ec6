#include "pipeline.hpp"

#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>

#include "bindings.hpp"
#include "column_arrays.hpp"
#include "index_arrays.hpp"

namespace tfreel::python {
namespace {

// A file with its index, not open yet.
class BoundShard {
 public:
  BoundShard(const nb::bytes& path, std::uint64_t size, std::int64_t mtime_ns,
             Array<std::uint64_t> offsets, Array<std::uint64_t> lengths,
             Array<std::uint32_t> checksums)
      : path_(path.c_str(), path.size()),
        state_{size, mtime_ns},
        index_(std::move(offsets), std::move(lengths), std::move(checksums)) {}

  Shard shard() const { return {path_, state_, index_.columns()}; }

 private:
  std::string path_;
  FileState state_;
  IndexArrays index_;
};

class BoundShards {
 public:
  BoundShards(const nb::list& shards, std::uint64_t most_held, std::size_t most_open)
      : bound_(nb::steal<nb::tuple>(PySequence_Tuple(shards.ptr()))) {
    std::vector<Shard> all;
    for (nb::handle shard : bound_) all.push_back(nb::cast<const BoundShard&>(shard).shard());
    shards_ = std::make_shared<Shards>(
        std::move(all), ShardsOptions{.most_open = most_open, .most_held = most_held});
  }

  const std::shared_ptr<Shards>& shards() const noexcept { return shards_; }

 private:
  nb::tuple bound_;  // whose arrays the shards refer to
  std::shared_ptr<Shards> shards_;
};

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kThreadBytes = std::size_t{4} << 20;  // enough to work with

class BoundPipeline {
 public:
  BoundPipeline(nb::typed<nb::object, BoundShards> shards,
                const std::vector<const FeatureSpec*>& features, bool sequences,
                std::size_t threads)
      : shards_(std::move(shards)) {
    pipeline_ = std::make_unique<Pipeline>(
        std::make_unique<BatchReader>(nb::cast<const BoundShards&>(shards_).shards(),
                                      copy_of(features), sequences, threads),
        PipelineOptions{.threads = threads,
                        .most_bytes = std::max(kMostBytes, threads * kThreadBytes)});
  }

  ~BoundPipeline() {
    const Unlocked unlocked;
    pipeline_.reset();
  }

  std::size_t size() const { return pipeline_->size(); }

  void submit(const std::vector<Array<std::uint64_t>>& batches) {
    std::vector<std::uint64_t> positions;
    std::vector<std::size_t> sizes;
    for (const auto& batch : batches) {
      const auto wanted = span_of(batch);
      positions.insert(positions.end(), wanted.begin(), wanted.end());
      sizes.push_back(wanted.size());
    }
    pipeline_->submit(std::move(positions), std::move(sizes));
  }

  nb::object take() {
    std::optional<Pipeline::Batch> batch;
    do {  // asked each time, for another thread may have taken the last one
      if (pipeline_->size() == 0) throw nb::index_error("no batch was submitted");
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      batch = take_soon();
    } while (!batch);
    if (!*batch) return nb::none();
    return to_arrays(**batch, pipeline_->features());
  }

 private:
  // Ctrl-C is answered as often as this comes back.
  std::optional<Pipeline::Batch> take_soon() {
    const Unlocked unlocked;
    return pipeline_->take(std::chrono::milliseconds(100));
  }

  nb::object shards_;  // in front, because the threads read their arrays to the end
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace

void bind_pipeline(nb::module_& module) {
  nb::class_<BoundShard>(module, "Shard", "A file with its index, one of several.")
      .def(nb::init<nb::bytes, std::uint64_t, std::int64_t, Array<std::uint64_t>,
                    Array<std::uint64_t>, Array<std::uint32_t>>(),
           nb::arg("path"), nb::arg("size"), nb::arg("mtime_ns"), nb::arg("offsets"),
           nb::arg("lengths"), nb::arg("checksums"));

  nb::class_<BoundShards>(module, "Shards",
                          "Files that pipelines share: open, and in memory if they are small.")
      .def(nb::init<nb::list, std::uint64_t, std::size_t>(), nb::arg("shards"), nb::kw_only(),
           nb::arg("most_held"), nb::arg("most_open"));

  nb::class_<BoundPipeline>(module, "Pipeline",
                            "Batches fetched and parsed ahead, by threads that end with it.")
      .def(nb::init<nb::typed<nb::object, BoundShards>, std::vector<const FeatureSpec*>, bool,
                    std::size_t>(),
           nb::arg("shards"), nb::arg("features"), nb::kw_only(), nb::arg("sequences") = false,
           nb::arg("threads") = 1)
      .def("__len__", &BoundPipeline::size, "How many batches were submitted and not yet taken.")
      .def("submit", &BoundPipeline::submit, nb::arg("batches"),
           "Asks for batches of the records at these positions, to be read together.")
      .def("take", &BoundPipeline::take,
           "The first batch that was not taken yet, as from `parse`; None if anything was wrong "
           "with it.");
}

}  // namespace tfreel::python
