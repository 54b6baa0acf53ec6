// Many examples in, columns out: the features that were asked for, and of them the values, one
// after the other. What was not asked for is stepped over and never looked into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "buffer.hpp"
#include "example.hpp"

namespace tfreel {

// What is wanted of one feature.
struct FeatureSpec {
  std::string name;
  Kind kind = Kind::ints;
  bool in_lists = false;  // a feature list of a SequenceExample, with any number of steps
  // With a fixed number of values in each row (or step). Otherwise there may be any number.
  bool fixed = false;
  std::size_t count = 0;
  bool required = false;  // it must not be absent
  // A feature that is there but has no kind is a list without values, and not absent.
  bool kindless_is_empty = false;
  // What stands in the rows where a fixed one is absent, if it is not required: `count` values.
  std::vector<std::int64_t> default_ints;
  std::vector<float> default_floats;
  std::vector<std::string> default_bytes;
};

// The values of one feature in all rows. Offsets begin with 0 and end with the number of what they
// point at.
struct Column {
  Kind kind = Kind::ints;
  Buffer<std::int64_t> ints;
  Buffer<float> floats;
  Buffer<std::byte> data;              // of bytes: all values, one behind the other
  Buffer<std::int64_t> value_offsets;  // of bytes: where each value begins in `data`
  Buffer<std::int64_t> unit_offsets;   // unless fixed: where the values of each row (or step) begin
  Buffer<std::int64_t> step_offsets;   // of feature lists: where the steps of each row begin
  Buffer<std::uint8_t> present;        // a bit for each row, the lowest first
  std::size_t rows = 0;
  std::size_t absent = 0;  // rows without it

  std::size_t bytes() const noexcept {
    const std::size_t offsets = value_offsets.size() + unit_offsets.size() + step_offsets.size();
    return (ints.size() + offsets) * sizeof(std::int64_t) + floats.size() * sizeof(float) +
           data.size() + present.size();
  }
};

// What is wrong with a record.
struct ParseFault {
  enum class What : std::uint8_t { malformed, too_large, missing, wrong_kind, wrong_count };
  What what = What::malformed;
  std::size_t row = 0;
  std::size_t feature = 0;  // which of those asked for, unless malformed
  std::size_t offset = 0;   // in the record, if malformed
  const char* why = "";     // if malformed
  Kind found_kind = Kind::none;
  std::size_t found_count = 0;
  std::size_t step = 0;  // of a feature list
};

class UnitPool;

struct ParseOptions {
  bool sequences = false;  // records are SequenceExamples, otherwise Examples
  std::size_t threads = 1;
  std::size_t bytes_per_thread = 1;  // with fewer bytes of records, a thread would come too late
  UnitPool* pool = nullptr;          // memory to reuse, for those who parse again and again
};

// A column for each of `features`, in their order; or what is wrong with the first bad record.
std::variant<std::vector<Column>, ParseFault> parse(std::span<const Bytes> records,
                                                    std::span<const FeatureSpec> features,
                                                    const ParseOptions& options = {});

}  // namespace tfreel
