#include "pipeline.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tfreel {
namespace {

// Batches that were submitted together.
struct Job {
  Job(std::vector<std::uint64_t> all_positions, std::vector<std::size_t> all_sizes)
      : positions(std::move(all_positions)), sizes(std::move(all_sizes)), count(sizes.size()) {
    made.reserve(count);  // where they are made, nothing may fail
  }

  std::vector<std::uint64_t> positions;
  std::vector<std::size_t> sizes;
  std::size_t count;                  // of batches
  std::vector<Pipeline::Batch> made;  // so far
  std::size_t taken = 0;              // of these
  std::size_t bytes = 0;              // of records, once they are being read
};

}  // namespace

// What the threads and their owner share.
class Pipeline::State {
 public:
  State(std::unique_ptr<BatchReader> reader, const PipelineOptions& options)
      : reader_(std::move(reader)), options_(options) {}

  ~State() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const BatchReader& reader() const noexcept { return *reader_; }

  std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return batches_;
  }

  void submit(std::vector<std::uint64_t> positions, std::vector<std::size_t> sizes) {
    if (sizes.empty()) return;
    if (threads_.size() < options_.threads) start_thread();
    {
      const std::scoped_lock lock(mutex_);
      jobs_.emplace_back(std::move(positions), std::move(sizes));
      batches_ += jobs_.back().count;
    }
    work_.notify_one();
  }

  std::optional<Batch> take(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [this] {
      return !jobs_.empty() && jobs_.front().taken < jobs_.front().made.size();
    };
    if (!ready_.wait_for(lock, longest, is_ready)) return {};
    Job& job = jobs_.front();
    Batch batch = std::move(job.made[job.taken++]);
    --batches_;
    if (job.taken < job.count) return batch;
    bytes_ -= job.bytes;
    jobs_.pop_front();
    --begun_;
    lock.unlock();
    room_.notify_all();
    return batch;
  }

 private:
  void start_thread() {
    try {
      threads_.emplace_back([this]() noexcept { run(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;  // fewer will do
    }
  }

  // What a thread does as long as it lives.
  void run() {
    while (Job* job = begin()) make(*job);
  }

  // The next job; null when nobody wants one any more.
  Job* begin() {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [this] { return stopped_ || begun_ < jobs_.size(); });
    return stopped_ ? nullptr : &jobs_[begun_++];
  }

  void make(Job& job) {
    const auto sizes = std::move(job.sizes);  // the job is gone as soon as its last batch is taken
    const auto fetched = attempt([&] { return fetch(job); });
    std::span<const Bytes> rest;
    if (fetched) rest = fetched->records;
    for (const std::size_t size : sizes) {
      if (stopped_) return;
      Batch batch;
      if (fetched) {
        batch = attempt([&] { return reader_->parse(rest.first(size)); });
        rest = rest.subspan(size);
      }
      finish(job, std::move(batch));
    }
  }

  std::optional<BatchReader::Fetched> fetch(Job& job) {
    const ReadPlan plan = reader_->plan(job.positions);
    await_room(job, plan.bytes);
    return reader_->fetch(plan, stopped_);
  }

  // What a function returns; nothing if it throws.
  template <typename Function>
  static std::invoke_result_t<Function> attempt(Function&& function) {
    try {
      return std::forward<Function>(function)();
    } catch (const std::exception&) {
      return {};
    }
  }

  // Waits until a job may hold so many bytes. The first one may hold any number: all wait for it.
  void await_room(Job& job, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return stopped_ || &job == &jobs_.front() ||
             (bytes <= options_.most_bytes && bytes_ <= options_.most_bytes - bytes);
    });
    job.bytes = bytes;
    bytes_ += bytes;
  }

  void finish(Job& job, Batch batch) {
    const std::scoped_lock lock(mutex_);
    job.made.push_back(std::move(batch));
    if (&job == &jobs_.front()) ready_.notify_one();
  }

  std::unique_ptr<BatchReader> reader_;
  PipelineOptions options_;
  std::mutex mutex_;
  std::condition_variable work_;   // there is a job to begin
  std::condition_variable room_;   // there is more room, or another first job
  std::condition_variable ready_;  // the first job is ready
  std::deque<Job> jobs_;           // that were submitted and not taken to the end
  std::size_t begun_ = 0;          // how many of them, from the front
  std::size_t batches_ = 0;        // that they all have, and nobody has taken
  std::size_t bytes_ = 0;          // of records that they hold
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

Pipeline::Pipeline(std::unique_ptr<BatchReader> reader, const PipelineOptions& options)
    : state_(std::make_unique<State>(std::move(reader), options)), process_(::getpid()) {}

Pipeline::~Pipeline() {
  if (::getpid() != process_) std::ignore = state_.release();
}

std::span<const FeatureSpec> Pipeline::features() const noexcept {
  return state_->reader().features();
}

void Pipeline::submit(std::vector<std::uint64_t> positions, std::vector<std::size_t> sizes) {
  state_->submit(std::move(positions), std::move(sizes));
}

std::size_t Pipeline::size() const { return state_->size(); }

std::optional<Pipeline::Batch> Pipeline::take(std::chrono::milliseconds longest) {
  return state_->take(longest);
}

}  // namespace tfreel
