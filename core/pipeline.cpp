#include "pipeline.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tfreel {
namespace {

std::size_t bytes_of(const Pipeline::Batch& batch) noexcept {
  std::size_t bytes = 0;
  if (batch) {
    for (const Column& column : *batch) bytes += column.bytes();
  }
  return bytes;
}

// Batches that were submitted together.
struct Job {
  Job(std::vector<std::uint64_t> all_positions, std::vector<std::size_t> all_sizes)
      : positions(std::move(all_positions)), sizes(std::move(all_sizes)), count(sizes.size()) {
    made.reserve(count);  // where they are made, nothing may fail
  }

  bool is_awaited() const noexcept { return taken == made.size(); }

  std::vector<std::uint64_t> positions;
  std::vector<std::size_t> sizes;
  std::size_t count;                  // of batches
  std::vector<Pipeline::Batch> made;  // so far
  std::size_t taken = 0;              // of these
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
    const auto is_ready = [this] { return !jobs_.empty() && !jobs_.front().is_awaited(); };
    if (!ready_.wait_for(lock, longest, is_ready)) return {};
    Job& job = jobs_.front();
    Batch batch = std::move(job.made[job.taken++]);
    --batches_;
    bytes_ -= bytes_of(batch);
    if (job.taken == job.count) {
      jobs_.pop_front();
      --begun_;
    }
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
    // The job is gone as soon as its last batch is taken.
    const auto positions = std::move(job.positions);
    const auto sizes = std::move(job.sizes);
    make(job, positions, sizes);
  }

  // Makes batches together; if that is too much, or one of them is bad, in two halves.
  void make(Job& job, std::span<const std::uint64_t> positions,
            std::span<const std::size_t> sizes) {
    if (stopped_ || make_together(job, positions, sizes)) return;
    if (sizes.size() == 1) return finish(job, {});
    const auto half = sizes.first(sizes.size() / 2);
    const auto records = std::accumulate(half.begin(), half.end(), std::size_t{0});
    make(job, positions.first(records), half);
    make(job, positions.subspan(records), sizes.subspan(half.size()));
  }

  // False if it made none.
  bool make_together(Job& job, std::span<const std::uint64_t> positions,
                     std::span<const std::size_t> sizes) {
    const auto plan = attempt([&] { return std::optional(reader_->plan(positions)); });
    if (!plan || (sizes.size() > 1 && plan->bytes > share())) return false;
    await_room(job, plan->bytes);
    const auto fetched = attempt([&] { return reader_->fetch(*plan, stopped_); });
    if (fetched) parse(job, fetched->records, sizes);
    give_back(plan->bytes);
    return fetched.has_value();
  }

  void parse(Job& job, std::span<const Bytes> records, std::span<const std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      await_room(job, 0);
      if (stopped_) return;
      finish(job, attempt([&] { return reader_->parse(records.first(size)); }));
      records = records.subspan(size);
    }
  }

  // What a thread may read together: so that there is room for all threads, and for what they made.
  std::size_t share() const noexcept { return options_.most_bytes / (options_.threads + 2); }

  // What a function returns; nothing if it throws.
  template <typename Function>
  static std::invoke_result_t<Function> attempt(Function&& function) {
    try {
      return std::forward<Function>(function)();
    } catch (...) {  // of any kind: nothing may leave the thread
      return {};
    }
  }

  // Waits until a job may hold so many bytes more. What everybody waits for may hold any number.
  void await_room(const Job& job, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return stopped_ || (&job == &jobs_.front() && job.is_awaited()) ||
             (bytes <= options_.most_bytes && bytes_ <= options_.most_bytes - bytes);
    });
    bytes_ += bytes;
  }

  void give_back(std::size_t bytes) {
    {
      const std::scoped_lock lock(mutex_);
      bytes_ -= bytes;
    }
    room_.notify_all();
  }

  void finish(Job& job, Batch batch) {
    const std::scoped_lock lock(mutex_);
    bytes_ += bytes_of(batch);
    job.made.push_back(std::move(batch));
    if (&job == &jobs_.front()) ready_.notify_one();
  }

  std::unique_ptr<BatchReader> reader_;
  PipelineOptions options_;
  std::mutex mutex_;
  std::condition_variable work_;   // there is a job to begin
  std::condition_variable room_;   // there is more room, or something else is waited for
  std::condition_variable ready_;  // the first job has a batch that was not taken
  std::deque<Job> jobs_;           // that were submitted and not taken to the end
  std::size_t begun_ = 0;          // how many of them, from the front
  std::size_t batches_ = 0;        // that they all have, and nobody has taken
  std::size_t bytes_ = 0;          // of records in work, and of columns that nobody has taken
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
