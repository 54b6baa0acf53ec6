// A buffer that elements go through in random order, as TensorFlow's `Dataset.shuffle` has it: once
// it is full, each newcomer drives out one that was drawn. Only the places of elements are known
// here, not what they are: their owner keeps them in slots [0, capacity).
//
// Elements arrive in chunks. Within one, an element is called by its slot if it was there before,
// and by capacity + i if it is the i-th newcomer; the newcomers that stay then get slots that were
// left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "philox.hpp"

namespace tfreel {

class ShuffleBuffer {
 public:
  struct Passage {
    std::vector<std::uint64_t> leaving;  // in their order; see above for what they are called
    std::vector<std::uint64_t> staying;  // the newcomers that stay, by their number among them
    std::vector<std::uint64_t> slots;    // and where
  };

  ShuffleBuffer(std::uint64_t capacity, std::uint64_t key, std::uint64_t stream)
      : capacity_(capacity), random_(key, stream) {
    if (capacity == 0) throw std::invalid_argument("a buffer has room for one element at least");
  }

  std::uint64_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return held_; }

  // So many elements arrive.
  Passage arrive(std::size_t count);

  // No more will come: the slots of at most so many elements, in the order in which they leave.
  std::vector<std::uint64_t> drain(std::size_t most);

 private:
  struct Drawn {
    std::uint64_t element;
    std::size_t place;  // where it stood, and where the first of the ring stands now
  };

  Drawn draw() noexcept;
  std::size_t at(std::size_t place) const noexcept { return (start_ + place) % ring_.size(); }

  std::uint64_t capacity_;
  Philox random_;
  std::vector<std::uint64_t> ring_;  // grows with what arrives, never by what the caller claims
  std::size_t start_ = 0;
  std::size_t held_ = 0;
};

}  // namespace tfreel
