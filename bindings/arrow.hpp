// The Arrow C data interface: its structs, as the specification gives them
// (https://arrow.apache.org/docs/format/CDataInterface.html), and their owner here.
#pragma once

#include <cstdint>
#include <utility>

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace tfreel::python {

// The names of their capsules.
template <typename Struct>
inline constexpr const char* kCapsuleName = nullptr;
template <>
inline constexpr const char* kCapsuleName<ArrowSchema> = "arrow_schema";
template <>
inline constexpr const char* kCapsuleName<ArrowArray> = "arrow_array";
template <>
inline constexpr const char* kCapsuleName<ArrowArrayStream> = "arrow_array_stream";

// Releases its struct, unless it was moved on: whoever moves one marks what is left as released.
template <typename Struct>
class Owned {
 public:
  Owned() = default;
  // Takes it out of where it stands.
  explicit Owned(Struct& from) noexcept : value_(from) { from.release = nullptr; }
  Owned(Owned&& other) noexcept : Owned(other.value_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() {
    if (value_.release != nullptr) value_.release(&value_);
  }

  Struct* get() noexcept { return &value_; }
  Struct* operator->() noexcept { return &value_; }
  bool released() const noexcept { return value_.release == nullptr; }
  Struct move_out() noexcept { return std::exchange(value_, Struct{}); }

 private:
  Struct value_{};
};

}  // namespace tfreel::python
