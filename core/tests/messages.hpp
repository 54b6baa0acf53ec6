// Writes messages for the tests, byte by byte, so that they can be wrong in every way.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "example.hpp"

namespace tfreel::check {

inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string tag(std::uint32_t field, WireType type) {
  return varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
}

inline std::string field(std::uint32_t number, std::string_view payload) {
  return tag(number, WireType::length) + varint(payload.size()) + std::string(payload);
}

inline std::string groups(std::size_t depth, std::size_t ends) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) out += tag(9, WireType::start_group);
  for (std::size_t i = 0; i < ends; ++i) out += tag(9, WireType::end_group);
  return out;
}

inline std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

inline std::string int_run(const std::vector<std::int64_t>& values) {
  std::string run;
  for (const std::int64_t value : values) run += varint(static_cast<std::uint64_t>(value));
  return run;
}

inline std::string ints(const std::vector<std::int64_t>& values) {
  return field(3, field(1, int_run(values)));
}

inline std::string float_run(const std::vector<float>& values) {
  std::string run(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(run.data(), values.data(), run.size());
  return run;
}

inline std::string floats(const std::vector<float>& values) {
  return field(2, field(1, float_run(values)));
}

inline std::string strings(const std::vector<std::string>& values) {
  std::string list;
  for (const auto& value : values) list += field(1, value);
  return field(1, list);
}

inline std::string entry(std::string_view key, std::string_view value) {
  return field(1, field(1, key) + field(2, value));
}

inline std::string example(std::string_view entries) { return field(1, entries); }

// Why `work` threw, or "" if it did not.
template <typename Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const Malformed& error) {
    return error.why;
  }
  return "";
}

}  // namespace tfreel::check
