#include "decoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "crc32c.hpp"

namespace tfreel {
namespace {

// A header may begin with zero bytes of its length, so this many zeros may belong to a sound record
// behind them.
constexpr std::size_t kZerosOfAHeader = kHeaderBytes - 1;

// A hostile file can hold millions of sound headers whose payloads are not. Checking such
// candidates may cost this many bytes of checksum, plus a few for every byte searched: the search
// stays linear.
constexpr std::int64_t kSearchBudget = std::int64_t{64} << 20;
constexpr std::int64_t kSearchBudgetPerByte = 4;

std::size_t leading_zeros(std::span<const std::byte> bytes) noexcept {
  const auto other =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  return static_cast<std::size_t>(other - bytes.begin());
}

// Whether a record, the zeros of an unwritten tail, or nothing at all begins here.
bool may_be_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) return bytes.empty();
  return read_header(bytes).sound() || leading_zeros(bytes.first(kHeaderBytes)) == kHeaderBytes;
}

}  // namespace

Decoder::Decoder(const DecoderOptions& options)
    : options_(options),
      pool_(std::make_shared<BufferPool>()),
      origin_(options.offset),
      record_(options.record) {
  options_.max_record_bytes = std::min(options_.max_record_bytes, kLongestPayload);
  options_.window_bytes = std::max(options_.window_bytes, kHeaderBytes);
}

std::span<std::byte> Decoder::space() {
  const std::size_t have = end_ - begin_;
  const bool room_in_place = buffer_ && buffer_->capacity - begin_ >= needed_ &&
                             buffer_->capacity - end_ >= options_.window_bytes / 4;
  if (!room_in_place) {
    auto target = buffer_of(capacity_for(have));
    if (have != 0) std::memmove(target->data.get(), window().data(), have);
    origin_ += begin_;
    begin_ = 0;
    end_ = have;
    buffer_ = std::move(target);
  }
  return buffer_->bytes().subspan(end_);
}

// A buffer of at least this size: the one that is there, unless it is too small or a block that
// somebody holds lies in it.
std::shared_ptr<BufferPool::Buffer> Decoder::buffer_of(std::size_t capacity) const {
  const bool alone = buffer_ && buffer_.use_count() == 1 && buffer_->capacity >= capacity;
  // Whoever let go of the last block has finished reading it.
  std::atomic_thread_fence(std::memory_order_acquire);
  return alone ? buffer_ : pool_->take(capacity);
}

// How large the buffer should be when its `have` undecoded bytes have to move anyway. Twice as much
// as they are, so that a long wait for a record is made of few moves, but no more than can come.
std::size_t Decoder::capacity_for(std::size_t have) const noexcept {
  const std::uint64_t doubled = 2 * std::uint64_t{have};
  std::uint64_t want = std::max<std::uint64_t>(options_.window_bytes, needed_);
  if (options_.size == kUnknownSize) {
    // Nothing vouches for the claimed length: let memory follow the bytes that really arrive.
    want = std::min(want, std::max<std::uint64_t>(options_.window_bytes, doubled));
  } else {
    want = std::max(want, std::min(doubled, left()));
  }
  return static_cast<std::size_t>(want > have ? want : doubled);
}

Decoder::Step Decoder::next() {
  switch (state_) {
    case State::framing:
      return frames();
    case State::zeros:
      return zeros();
    case State::searching:
      return search();
    case State::stopped:
      break;
  }
  return Step::fault;
}

std::optional<Decoder::Awaited> Decoder::awaited() const noexcept {
  const auto bytes = window();
  if (state_ != State::framing || bytes.size() < kHeaderBytes) return {};
  const Header header = read_header(bytes);
  if (!header.sound() || !plausible(header, offset())) return {};
  const auto arrived = bytes.subspan(kHeaderBytes);
  if (arrived.size() >= header.length) return {};
  return Awaited{header.length, arrived};
}

void Decoder::pass(const Awaited& record, std::span<const std::byte> behind) {
  auto target = buffer_of(options_.window_bytes);  // first: this may fail
  const std::size_t size = std::min(behind.size(), target->capacity);
  origin_ = offset() + record.length + kFrameOverhead;
  begin_ = 0;
  end_ = size;
  buffer_ = std::move(target);
  std::copy_n(behind.begin(), size, buffer_->data.get());
  consume(0);
  ++record_;
}

// The hot loop: takes sound records until something else turns up, then lets `diagnose` say what.
// What it says about the place behind a run of records is asked for again, by the next call.
Decoder::Step Decoder::frames() {
  std::vector<Entry> entries;
  entries.reserve(last_count_ + 16);
  const auto bytes = window();
  auto rest = bytes;
  while (rest.size() >= kHeaderBytes) {
    const std::size_t taken = bytes.size() - rest.size();
    const Header header = read_header(rest);
    if (!header.sound() || !plausible(header, offset() + taken)) break;
    const std::uint64_t frame_bytes = header.length + kFrameOverhead;
    const bool whole = frame_bytes <= rest.size();
    const auto arrived = rest.subspan(kHeaderBytes);
    const auto payload = arrived.first(std::min<std::uint64_t>(header.length, arrived.size()));
    const std::uint32_t computed = options_.verify ? mask_crc(payload_crc(payload)) : 0;
    if (!whole) break;
    const std::uint32_t stored = read_footer(rest.first(frame_bytes));
    if (options_.verify && stored != computed) break;
    partial_bytes_ = 0;
    entries.push_back({offset() + taken, header.length, begin_ + taken, stored});
    rest = rest.subspan(frame_bytes);
  }
  if (entries.empty()) return diagnose();
  begin_ += bytes.size() - rest.size();
  const std::uint64_t first = record_;
  record_ += entries.size();
  needed_ = kHeaderBytes;
  last_count_ = entries.size();
  block_ = Block(buffer_, first, std::move(entries));
  return Step::records;
}

// Why no record could be taken at this place.
Decoder::Step Decoder::diagnose() {
  const auto bytes = window();
  Fault fault{
      .kind = FaultKind::truncated_header, .record = record_, .begin = offset(), .end = offset()};
  if (bytes.size() < kHeaderBytes) {
    if (!input_ended_) return starve(kHeaderBytes);
    if (bytes.empty()) return Step::finished;
    fault.wanted = kHeaderBytes;
    fault.present = bytes.size();
    return lose_header(fault);
  }
  const Header header = read_header(bytes);
  if (!header.sound()) {
    fault.kind = FaultKind::length_crc;
    fault.expected = header.stored;
    fault.actual = header.computed;
    if (leading_zeros(bytes.first(kHeaderBytes)) < kHeaderBytes) return lose_header(fault);
    fault_ = fault;
    state_ = State::zeros;
    return zeros();
  }
  if (header.length > options_.max_record_bytes) {
    fault.kind = FaultKind::record_too_large;
    fault.wanted = header.length;
    fault.present = options_.max_record_bytes;
    return lose_header(fault);
  }
  const std::uint64_t frame_bytes = header.length + kFrameOverhead;
  if (frame_bytes > left() || (frame_bytes > bytes.size() && input_ended_)) {
    fault.kind = FaultKind::truncated_body;
    fault.wanted = frame_bytes;
    fault.present = std::min<std::uint64_t>(left(), input_ended_ ? bytes.size() : left());
    return lose_header(fault);
  }
  if (frame_bytes > bytes.size()) return starve(frame_bytes);
  const auto behind = bytes.subspan(frame_bytes);
  if (options_.salvage && behind.size() < kHeaderBytes && !input_ended_) {
    return starve(frame_bytes + kHeaderBytes);
  }
  fault.kind = FaultKind::data_crc;
  fault.end = fault.begin + frame_bytes;
  fault.wanted = frame_bytes;
  fault.expected = read_footer(bytes.first(frame_bytes));
  fault.actual = mask_crc(crc32c(bytes.subspan(kHeaderBytes, header.length)));
  // If no record follows, bytes may be missing from this one: the next begins before it should.
  return options_.salvage && !may_be_header(behind) ? lose_header(fault) : drop_record(fault);
}

// Twelve zero bytes are no header. If nothing but zeros follows, the file was extended and never
// written; otherwise this is a damaged header like any other.
Decoder::Step Decoder::zeros() {
  const std::size_t run = leading_zeros(window());
  const bool over = run < window().size();
  if (over || !input_ended_) {
    consume(run - std::min(run, kZerosOfAHeader));
    if (!over) return starve(window().size() + 1);
    return lose_header(fault_);
  }
  consume(run);
  fault_.kind = FaultKind::zero_filled_tail;
  return emit(offset(), options_.salvage ? State::framing : State::stopped);
}

// Looks for the next sound record, byte by byte. A random place passes the header check with
// probability 2^-32; with the payload's checksum on top, a false find is as good as impossible.
Decoder::Step Decoder::search() {
  while (window().size() >= kHeaderBytes) {
    const Header header = read_header(window());
    if (header.sound() && plausible(header, offset())) {
      const std::uint64_t frame_bytes = header.length + kFrameOverhead;
      const bool present = frame_bytes <= window().size();
      if (!present && !input_ended_) return starve(frame_bytes);
      if (present && worth_checking(header.length)) {
        const auto frame = window().first(frame_bytes);
        if (read_footer(frame) == mask_crc(crc32c(frame.subspan(kHeaderBytes, header.length)))) {
          return emit(offset(), State::framing);
        }
      }
    }
    consume(1);
    search_budget_ += kSearchBudgetPerByte;
  }
  if (!input_ended_) return starve(kHeaderBytes);
  consume(window().size());
  return emit(offset(), State::framing);
}

Decoder::Step Decoder::starve(std::uint64_t needed) noexcept {
  needed_ = static_cast<std::size_t>(needed);
  return Step::starved;
}

// A record whose end is known: it alone is lost.
Decoder::Step Decoder::drop_record(Fault fault) {
  fault_ = fault;
  if (options_.salvage) consume(fault.end - fault.begin);
  return emit(fault.end, options_.salvage ? State::framing : State::stopped);
}

// A record whose end is unknown: the next sound one has to be searched for.
Decoder::Step Decoder::lose_header(Fault fault) {
  fault_ = fault;
  if (!options_.salvage) {
    // Of a stream without known size, only what was looked at: how much more has arrived is chance.
    const bool cut =
        fault.kind == FaultKind::truncated_header || fault.kind == FaultKind::truncated_body;
    const std::uint64_t end = cut ? fault.begin + fault.present : fault.begin + kHeaderBytes;
    return emit(options_.size != kUnknownSize ? options_.size : end, State::stopped);
  }
  state_ = State::searching;
  search_budget_ = kSearchBudget;
  if (offset() == fault.begin) consume(1);
  return search();
}

Decoder::Step Decoder::emit(std::uint64_t end, State after) noexcept {
  fault_.end = end;
  state_ = after;
  if (after == State::framing) ++record_;
  return Step::fault;
}

bool Decoder::plausible(const Header& header, std::uint64_t at) const noexcept {
  return header.length <= options_.max_record_bytes &&
         header.length + kFrameOverhead <= options_.size - at;
}

std::uint32_t Decoder::payload_crc(std::span<const std::byte> present) {
  const std::uint32_t before = partial_bytes_ == 0 ? 0 : partial_crc_;
  partial_crc_ = crc32c(present.subspan(partial_bytes_), before);
  partial_bytes_ = present.size();
  return partial_crc_;
}

// The budget may be overdrawn by one candidate, so that a large sound record is never passed over
// for its size; then the search has to earn it back.
bool Decoder::worth_checking(std::uint64_t length) noexcept {
  if (search_budget_ < 0) return false;
  search_budget_ -= static_cast<std::int64_t>(length);
  return true;
}

std::span<const std::byte> Decoder::window() const noexcept {
  if (!buffer_) return {};
  return std::as_const(*buffer_).bytes().subspan(begin_, end_ - begin_);
}

void Decoder::consume(std::uint64_t size) noexcept {
  begin_ += static_cast<std::size_t>(size);
  needed_ = kHeaderBytes;
  partial_bytes_ = 0;
}

}  // namespace tfreel
