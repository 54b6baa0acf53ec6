#include "shuffle_buffer.hpp"

#include <algorithm>
#include <limits>

namespace tfreel {

ShuffleBuffer::Drawn ShuffleBuffer::draw() noexcept {
  const std::size_t place = at(random_.next() % held_);
  const std::uint64_t element = ring_[place];
  ring_[place] = ring_[start_];
  start_ = (start_ + 1) % ring_.size();
  --held_;
  return {element, place};
}

ShuffleBuffer::Passage ShuffleBuffer::arrive(std::size_t count) {
  constexpr std::size_t kGone = std::numeric_limits<std::size_t>::max();
  Passage passage;
  std::vector<std::uint64_t> free;
  std::vector<std::size_t> places(count);  // of the newcomers, in the ring
  for (std::size_t i = 0; i < count; ++i) {
    if (held_ < capacity_) {
      places[i] = ring_.size();
      free.push_back(ring_.size());
      ring_.push_back(capacity_ + i);
    } else {
      const auto [element, place] = draw();
      passage.leaving.push_back(element);
      const std::uint64_t moved = ring_[place];
      if (moved >= capacity_) places[moved - capacity_] = place;
      if (element >= capacity_)
        places[element - capacity_] = kGone;
      else
        free.push_back(element);
      places[i] = at(held_);
      ring_[places[i]] = capacity_ + i;
    }
    ++held_;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (places[i] == kGone) continue;
    ring_[places[i]] = free.back();
    free.pop_back();
    passage.staying.push_back(i);
    passage.slots.push_back(ring_[places[i]]);
  }
  return passage;
}

std::vector<std::uint64_t> ShuffleBuffer::drain(std::size_t most) {
  std::vector<std::uint64_t> leaving(std::min(most, held_));
  for (std::uint64_t& element : leaving) element = draw().element;
  return leaving;
}

}  // namespace tfreel
