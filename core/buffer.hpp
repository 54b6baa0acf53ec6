// Memory that a column grows into and that NumPy or Arrow own afterwards. From malloc, because
// growing a large piece then moves no bytes: the system remaps its pages. What was reserved but
// never written costs no memory either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <utility>

namespace tfreel {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

template <typename Scalar>
class Buffer {
 public:
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  Scalar* data() noexcept { return memory_.get(); }
  const Scalar* data() const noexcept { return memory_.get(); }
  std::span<const Scalar> span() const noexcept { return {memory_.get(), size_}; }
  Scalar& operator[](std::size_t i) noexcept { return memory_.get()[i]; }
  const Scalar& operator[](std::size_t i) const noexcept { return memory_.get()[i]; }

  void push_back(Scalar value) {
    resize(size_ + 1);
    memory_.get()[size_ - 1] = value;
  }
  // New values have any content.
  void resize(std::size_t size) {
    grow(size);
    size_ = size;
  }
  // Where the next values come to lie: there is room for `most` of them.
  Scalar* room(std::size_t most) {
    grow(size_ + most);
    return memory_.get() + size_;
  }
  void clear() noexcept { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > static_cast<std::size_t>(-1) / sizeof(Scalar)) throw std::bad_alloc();
    void* grown = std::realloc(memory_.get(), capacity * sizeof(Scalar));
    if (grown == nullptr) throw std::bad_alloc();
    std::ignore = memory_.release();
    memory_.reset(static_cast<Scalar*>(grown));
    capacity_ = capacity;
  }
  // Gives back what was reserved in vain.
  void shrink() noexcept {
    if (size_ == 0 || size_ == capacity_) return;
    if (void* shrunk = std::realloc(memory_.get(), size_ * sizeof(Scalar))) {
      std::ignore = memory_.release();
      memory_.reset(static_cast<Scalar*>(shrunk));
      capacity_ = size_;
    }
  }
  std::unique_ptr<Scalar, Free> release() noexcept {
    size_ = capacity_ = 0;
    return std::move(memory_);
  }

 private:
  void grow(std::size_t size) {
    if (size > capacity_) reserve(std::max(size, capacity_ + capacity_ / 2 + 16));
  }

  std::unique_ptr<Scalar, Free> memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tfreel
