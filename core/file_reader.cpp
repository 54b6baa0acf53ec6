#include "file_reader.hpp"

#include <algorithm>

namespace tfreel {
namespace {

// One turn reads at most this much, so that whoever waits for it can answer Ctrl-C.
constexpr std::size_t kMostPerTurn = std::size_t{32} << 20;

}  // namespace

Decoder::Step FileReader::next() {
  for (std::size_t got = 0; got < kMostPerTurn;) {
    const auto step = decoder_.next();
    if (step != Decoder::Step::starved) return step;
    got += fill();
  }
  return Decoder::Step::starved;
}

std::size_t FileReader::fill() {
  const std::uint64_t at = decoder_.input_offset();
  const std::uint64_t left = size_ - std::min(size_, at);
  auto space = decoder_.space();
  space = space.first(std::min<std::uint64_t>({space.size(), left, kMostPerTurn}));
  const std::size_t got = read_at(descriptor_.get(), space, at);
  decoder_.filled(got);
  if (got == 0) decoder_.finish();
  return got;
}

}  // namespace tfreel
