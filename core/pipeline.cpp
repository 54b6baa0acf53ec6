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
#include <utility>

namespace tfreel {
namespace {

struct Job {
  std::vector<std::uint64_t> positions;
  std::size_t bytes = 0;  // of records, once they are being read
  bool ready = false;
  Pipeline::Batch batch;
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
    return jobs_.size();
  }

  void submit(std::vector<std::uint64_t> positions) {
    if (threads_.size() < options_.threads) start_thread();
    {
      const std::scoped_lock lock(mutex_);
      jobs_.push_back({.positions = std::move(positions), .batch = {}});
    }
    work_.notify_one();
  }

  std::optional<Batch> take(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    const auto is_ready = [this] { return !jobs_.empty() && jobs_.front().ready; };
    if (!ready_.wait_for(lock, longest, is_ready)) return {};
    Batch batch = std::move(jobs_.front().batch);
    bytes_ -= jobs_.front().bytes;
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
    while (Job* job = begin()) finish(*job, make(*job));
  }

  // The next job; null when nobody wants one any more.
  Job* begin() {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [this] { return stopped_ || begun_ < jobs_.size(); });
    return stopped_ ? nullptr : &jobs_[begun_++];
  }

  Batch make(Job& job) {
    try {
      const ReadPlan plan = reader_->plan(job.positions);
      await_room(job, plan.bytes);
      return reader_->read(plan, stopped_);
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
    job.batch = std::move(batch);
    job.ready = true;
    if (&job == &jobs_.front()) ready_.notify_one();
  }

  std::unique_ptr<BatchReader> reader_;
  PipelineOptions options_;
  std::mutex mutex_;
  std::condition_variable work_;   // there is a job to begin
  std::condition_variable room_;   // there is more room, or another first job
  std::condition_variable ready_;  // the first job is ready
  std::deque<Job> jobs_;           // that were submitted and not taken
  std::size_t begun_ = 0;          // how many of them, from the front
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

void Pipeline::submit(std::vector<std::uint64_t> positions) {
  state_->submit(std::move(positions));
}

std::size_t Pipeline::size() const { return state_->size(); }

std::optional<Pipeline::Batch> Pipeline::take(std::chrono::milliseconds longest) {
  return state_->take(longest);
}

}  // namespace tfreel
