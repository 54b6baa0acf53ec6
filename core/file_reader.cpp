#include "file_reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "file.hpp"

namespace tfreel {
namespace {

// One turn reads at most this much, so that whoever waits for it can answer Ctrl-C.
constexpr std::size_t kMostPerTurn = std::size_t{32} << 20;

// What may lie read and unused. A block that is larger waits alone.
constexpr std::size_t kMostAhead = std::size_t{1} << 20;

// How long to wait for the thread before the caller may look after other things.
constexpr std::chrono::milliseconds kMoment{50};

}  // namespace

struct FileReader::Item {
  Decoder::Step step = Decoder::Step::starved;
  Block block;
  Fault fault{};
  std::exception_ptr failure;
};

// The decoder and the file it reads.
class FileReader::Producer {
 public:
  Producer(int descriptor, const DecoderOptions& options)
      : decoder_(options),
        descriptor_(descriptor),
        size_(options.size),
        salvages_(options.salvage) {}

  // Whether anything follows a fault.
  bool salvages() const noexcept { return salvages_; }

  Item turn() {
    Item item;
    for (std::size_t got = 0; got < kMostPerTurn;) {
      item.step = decoder_.next();
      if (item.step != Decoder::Step::starved) break;
      got += fill();
    }
    if (item.step == Decoder::Step::records) item.block = decoder_.take_block();
    if (item.step == Decoder::Step::fault) item.fault = decoder_.fault();
    return item;
  }

 private:
  std::size_t fill() {
    const std::uint64_t at = decoder_.input_offset();
    const std::uint64_t left = size_ - std::min(size_, at);
    auto space = decoder_.space();
    space = space.first(std::min<std::uint64_t>({space.size(), left, kMostPerTurn}));
    const std::size_t got = read_at(descriptor_.get(), space, at);
    decoder_.filled(got);
    if (got == 0) decoder_.finish();
    return got;
  }

  Decoder decoder_;
  OwnDescriptor descriptor_;
  std::uint64_t size_;
  bool salvages_;
};

// A thread that keeps a few items ready.
class FileReader::Ahead {
 public:
  explicit Ahead(std::unique_ptr<Producer> producer)
      : shared_(std::make_shared<Shared>()),
        owner_(::getpid()),
        thread_(std::make_unique<std::thread>(run, shared_, std::move(producer))) {}

  ~Ahead() {
    if (::getpid() != owner_) {
      // The child of a fork: the thread is not here, and what it shared may be locked for ever. The
      // memory is lost on purpose.
      static_cast<void>(thread_.release());
      static_cast<void>(new std::shared_ptr<Shared>(shared_));
      return;
    }
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopped = true;
    }
    shared_->changed.notify_all();
    thread_->join();
  }

  Item take() {
    std::unique_lock lock(shared_->mutex);
    const auto ready = [&] { return !shared_->items.empty(); };
    if (!shared_->changed.wait_for(lock, kMoment, ready)) return {};
    Item& front = shared_->items.front();
    // The end, and a fault that nothing follows, are given out again and again.
    if (shared_->over && shared_->items.size() == 1) return front;
    Item item = std::move(front);
    shared_->items.pop_front();
    shared_->bytes -= item.block.frames().size();
    lock.unlock();
    shared_->changed.notify_all();
    return item;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Item> items;
    std::size_t bytes = 0;  // in the blocks among them
    bool stopped = false;   // nobody wants more
    bool over = false;      // there is no more
  };

  static void run(std::shared_ptr<Shared> shared, std::unique_ptr<Producer> producer) noexcept {
    while (true) {
      {
        std::unique_lock lock(shared->mutex);
        shared->changed.wait(lock, [&] {
          return shared->stopped || shared->items.empty() || shared->bytes < kMostAhead;
        });
        if (shared->stopped) return;
      }
      Item item = turn_of(*producer);
      if (item.step == Decoder::Step::starved && !item.failure) continue;
      const std::lock_guard lock(shared->mutex);
      shared->over = item.failure || item.step == Decoder::Step::finished ||
                     (item.step == Decoder::Step::fault && !producer->salvages());
      shared->bytes += item.block.frames().size();
      shared->items.push_back(std::move(item));
      shared->changed.notify_all();
      if (shared->over) return;
    }
  }

  static Item turn_of(Producer& producer) noexcept {
    try {
      return producer.turn();
    } catch (...) {
      Item item;
      item.failure = std::current_exception();
      return item;
    }
  }

  std::shared_ptr<Shared> shared_;
  pid_t owner_;
  std::unique_ptr<std::thread> thread_;
};

FileReader::FileReader(int descriptor, const DecoderOptions& options, bool ahead)
    : producer_(std::make_unique<Producer>(descriptor, options)),
      offset_(options.offset),
      record_(options.record),
      salvage_(options.salvage) {
  if (ahead) ahead_ = std::make_unique<Ahead>(std::move(producer_));
}

FileReader::~FileReader() = default;

Decoder::Step FileReader::next() {
  block_ = Block();  // before the next is made: what nobody holds lends its memory
  Item item = ahead_ ? ahead_->take() : producer_->turn();
  if (item.failure) std::rethrow_exception(item.failure);
  if (item.step == Decoder::Step::records) {
    block_ = std::move(item.block);
    const Entry& last = block_.entries().back();
    offset_ = last.offset + last.length + kFrameOverhead;
    record_ = block_.first_record() + block_.size();
  } else if (item.step == Decoder::Step::fault) {
    fault_ = item.fault;
    if (salvage_) {
      offset_ = fault_.end;
      record_ = fault_.record + 1;
    }
  }
  return item.step;
}

}  // namespace tfreel
