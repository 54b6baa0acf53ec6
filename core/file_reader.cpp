#include "file_reader.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "crc32c.hpp"

namespace tfreel {
namespace {

// One turn reads at most this much, so that whoever waits for it can answer Ctrl-C.
constexpr std::size_t kMostPerTurn = std::size_t{32} << 20;

// From here on, copying a record costs more than a system call for it alone.
constexpr std::size_t kLongRecord = std::size_t{32} << 10;

}  // namespace

Decoder::Step FileReader::next() {
  for (std::size_t got = 0; got < kMostPerTurn;) {
    const auto step = decoder_.next();
    if (step != Decoder::Step::starved) return step;
    got += fill(kMostPerTurn);
  }
  return Decoder::Step::starved;
}

std::size_t FileReader::long_record() noexcept try {
  if (decoder_.input_offset() - decoder_.offset() < kHeaderBytes) fill(kHeaderBytes);
  const auto record = decoder_.awaited();
  if (!record || record->length < kLongRecord || record->length > kMostPerTurn) return 0;
  return static_cast<std::size_t>(record->length);
} catch (const std::exception&) {
  return 0;  // the system failed, or memory is short: `next` will meet that too
}

bool FileReader::read_long(std::span<std::byte> out) noexcept try {
  const auto record = decoder_.awaited();
  std::copy(record->arrived.begin(), record->arrived.end(), out.begin());
  // The header of the next record comes along, so that it is known whether that is long too.
  std::array<std::byte, kFooterBytes + kHeaderBytes> behind;
  const auto rest = out.subspan(record->arrived.size());
  const std::uint64_t at = decoder_.input_offset();
  const auto tail = std::span{behind}.first(
      std::min<std::uint64_t>(behind.size(), size_ - at - rest.size()));  // a footer at least
  if (read_at(descriptor_.get(), rest, tail, at) < rest.size() + tail.size()) return false;
  if (verify_ && read_footer(tail.first(kFooterBytes)) != mask_crc(crc32c(out))) return false;
  decoder_.pass(*record, tail.subspan(kFooterBytes));
  return true;
} catch (const std::exception&) {
  return false;
}

std::size_t FileReader::fill(std::size_t most) {
  const std::uint64_t at = decoder_.input_offset();
  const std::uint64_t left = size_ - std::min(size_, at);
  auto space = decoder_.space();
  space = space.first(std::min<std::uint64_t>({space.size(), left, most}));
  const std::size_t got = read_at(descriptor_.get(), space, at);
  decoder_.filled(got);
  if (got == 0) decoder_.finish();
  return got;
}

}  // namespace tfreel
