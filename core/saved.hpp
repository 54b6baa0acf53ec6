// State on its way to another process: bytes out of one object, and into one of the same kind. A
// class names its members once, in `visit`, for both ways. Bytes that come in are not trusted: a
// Loader checks every size against what is there, and a class what its own code relies on.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "cursor.hpp"

namespace tfreel {

// Numbers, and arrays of them: all of their bytes are value.
template <typename Value>
concept Plain = std::has_unique_object_representations_v<Value> && !std::is_pointer_v<Value> &&
                !std::is_same_v<Value, bool>;

class Saver {
 public:
  static constexpr bool kLoads = false;

  template <typename... Parts>
  void operator()(Parts&... parts) {
    (one(parts), ...);
  }
  void flag(bool& value) { bytes_.push_back(value ? '\1' : '\0'); }
  template <typename Value>
  void fixed(std::vector<Value>& values) {
    write(values.data(), values.size() * sizeof(Value));
  }
  // What may be there, and how to make it.
  template <typename Part, typename... Arguments>
  void maybe(std::unique_ptr<Part>& part, const Arguments&...) {
    bool there = part != nullptr;
    flag(there);
    if (there) one(*part);
  }
  std::uint64_t count(std::uint64_t size) {
    one(size);
    return size;
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  template <typename Part>
  void one(Part& part) {
    if constexpr (Plain<Part>) {
      write(&part, sizeof part);
    } else {
      part.visit(*this);
    }
  }
  template <Plain Value>
  void one(std::vector<Value>& values) {
    count(values.size());
    fixed(values);
  }
  void one(std::string& text) {
    count(text.size());
    write(text.data(), text.size());
  }
  void write(const void* from, std::size_t size) {
    if (size != 0) bytes_.append(static_cast<const char*>(from), size);
  }

  std::string bytes_;
};

class Loader {
 public:
  static constexpr bool kLoads = true;

  explicit Loader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <typename... Parts>
  void operator()(Parts&... parts) {
    (one(parts), ...);
  }
  void flag(bool& value) { value = rest_.take(1).front() != std::byte{0}; }
  template <typename Value>
  void fixed(std::vector<Value>& values) {
    read(values.data(), values.size() * sizeof(Value));
  }
  template <typename Part, typename... Arguments>
  void maybe(std::unique_ptr<Part>& part, const Arguments&... arguments) {
    bool there = false;
    flag(there);
    if (!there) return;
    part = std::make_unique<Part>(arguments...);
    one(*part);
  }
  // How many parts follow: never more than there are bytes.
  std::uint64_t count(std::uint64_t) {
    const std::uint64_t size = rest_.take_u64();
    require(size <= rest_.remaining());
    return size;
  }
  void require(bool sound) const {
    if (!sound) throw std::out_of_range("not what was saved");
  }
  bool finished() const noexcept { return rest_.remaining() == 0; }

 private:
  template <typename Part>
  void one(Part& part) {
    if constexpr (Plain<Part>) {
      read(&part, sizeof part);
    } else {
      part.visit(*this);
    }
  }
  template <Plain Value>
  void one(std::vector<Value>& values) {
    const std::uint64_t size = count(0);
    require(size <= rest_.remaining() / sizeof(Value));
    values.resize(static_cast<std::size_t>(size));
    fixed(values);
  }
  void one(std::string& text) {
    const auto taken = rest_.take(count(0));
    text.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
  }
  void read(void* to, std::size_t size) {
    const auto taken = rest_.take(size);
    if (size != 0) std::memcpy(to, taken.data(), size);
  }

  Cursor rest_;
};

}  // namespace tfreel
