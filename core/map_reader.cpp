#include "map_reader.hpp"

namespace tfreel {
// Which feature an entry is, if it was asked for. The tag of the entry is at `begin`.
std::pair<std::size_t, MapEntry> MapReader::look_at(const std::byte* begin, Bytes entry,
                                                    std::size_t position) {
  Guess* guess = guess_at(position);
  const bool known = guess != nullptr && !guess->head.empty() &&
                     entry.size() > guess->head.size() &&
                     same_bytes(entry.data(), guess->head.data(), guess->head.size());
  const std::size_t head = known ? guess->head.size() : usual_head(entry);
  WireCursor cursor(entry.subspan(head));
  const Bytes value = head == 0 ? Bytes{} : cursor.take_bytes();
  if (head == 0 || !cursor.done()) {  // it is not written in the usual way
    const MapEntry found = read_entry(entry);
    return {feature_called(found.key), found};
  }
  const std::size_t feature = known ? guess->feature : feature_called(entry.subspan(2, head - 3));
  if (guess != nullptr) {
    if (!known) {
      *guess = {.feature = feature, .head = entry.first(head)};
      ++strangers_;
    }
    const auto whole = static_cast<std::size_t>(cursor.position() - begin);
    learn_front(*guess, {begin, value.data()}, whole);
  }
  return {feature, MapEntry{.key = {}, .value = value}};
}

MapReader::Guess* MapReader::guess_at(std::size_t position) {
  // A hostile record can have millions of entries: only as many are remembered as a real one has.
  constexpr std::size_t kMostGuesses = 4096;
  if (position >= kMostGuesses) return nullptr;
  if (guesses_.size() <= position) guesses_.resize(position + 1);
  return &guesses_[position];
}

// A front that is hardly ever wrong is kept. Where sizes change all the time, none is right.
void MapReader::learn_front(Guess& guess, Bytes front, std::size_t whole) const noexcept {
  constexpr std::size_t kSoon = 16;
  constexpr std::size_t kTooOften = 4;
  const bool soon = row_ - guess.missed <= kSoon;
  guess.missed = row_;
  guess.misses = soon ? guess.misses + 1 : 1;
  guess.varies = guess.misses > kTooOften;
  if (!soon && !guess.front.empty()) return;
  guess.front = front;
  guess.whole = whole;
}

}  // namespace tfreel
