// What there is to say about the values of one feature: numbers, floats and bytes, each kind for
// itself, because records may disagree. Merging is exact wherever the parts are.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "content.hpp"
#include "distribution.hpp"
#include "example.hpp"
#include "moments.hpp"

namespace tfreel {

// Whole numbers: values, or lengths, sizes, widths and heights.
class IntStatistics {
 public:
  explicit IntStatistics(const Precision& precision) noexcept : distribution(precision) {}

  void add(std::int64_t number) {
    if (distribution.add(key_of(number))) flush();
  }
  void add(std::int64_t number, std::uint64_t times) {
    distribution.add(key_of(number), times);
    moments.add(number, times);
    zeros += number == 0 ? times : 0;
  }
  void flush();
  void merge(const IntStatistics& flushed);
  template <typename Archive>
  void visit(Archive& archive) {
    archive(distribution, moments, zeros);
  }

  Distribution distribution;
  IntMoments moments;
  std::uint64_t zeros = 0;
};

// Whole numbers of which most are the same as the one before, as lengths of lists are.
class SteadyStatistics {
 public:
  explicit SteadyStatistics(const Precision& precision) noexcept : numbers_(precision) {}

  void add(std::int64_t number) {
    if (number != number_) settle();
    number_ = number;
    ++times_;
  }
  void flush() {
    settle();
    numbers_.flush();
  }
  void merge(const SteadyStatistics& flushed) {
    flush();
    numbers_.merge(flushed.numbers_);
  }
  // After `flush`.
  const IntStatistics& numbers() const noexcept { return numbers_; }
  template <typename Archive>
  void visit(Archive& archive) {
    archive(numbers_);
  }

 private:
  void settle();

  IntStatistics numbers_;
  std::int64_t number_ = 0;
  std::uint64_t times_ = 0;
};

// Floats. What is no finite number is counted, and counts nowhere else.
class FloatStatistics {
 public:
  explicit FloatStatistics(const Precision& precision) noexcept : distribution(precision) {}

  void add(float number) {
    if (!std::isfinite(number)) return add_odd(number);
    if (distribution.add(key_of(number))) flush();
  }
  void flush();
  void merge(const FloatStatistics& flushed);
  template <typename Archive>
  void visit(Archive& archive) {
    archive(distribution, moments, zeros, nans, infinities, negative_infinities);
  }

  Distribution distribution;
  FloatMoments moments;
  std::uint64_t zeros = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t negative_infinities = 0;

 private:
  void add_odd(float number) noexcept;
};

// Bytes. Which values are frequent, and how many there are, is told by their hashes.
class BytesStatistics {
 public:
  static constexpr std::size_t kShownBytes = 48;
  // What of a value is kept to be shown: its beginning.
  struct Shown {
    Key hash;
    std::uint64_t size;  // of the value
    std::array<char, kShownBytes> beginning;
  };

  explicit BytesStatistics(const Precision& precision)
      : sizes(precision),
        widths(precision),
        heights(precision),
        pictures(precision),
        values(precision) {}

  void add(Bytes value);
  void flush();
  void merge(const BytesStatistics& flushed);
  template <typename Archive>
  void visit(Archive& archive) {
    archive(sizes, contents, widths, heights, pictures, values, shown_, waiting_);
  }

  IntStatistics sizes;
  std::array<std::uint64_t, kContents> contents{};
  IntStatistics widths;
  IntStatistics heights;
  Distribution pictures;                        // width << 32 | height
  Distribution values;                          // hashes
  const Shown* shown(Key hash) const noexcept;  // of a frequent value

 private:
  void show(Key hash, Bytes value);
  void forget_rare();

  std::vector<Shown> shown_;    // of the frequent values, sorted by hash
  std::vector<Shown> waiting_;  // of values that may become frequent
};

// The lists of one feature in one record: of a feature one, of a feature list one for each step.
struct Lists {
  struct List {
    Kind kind;
    std::uint32_t size;
  };
  // What most features are: one list, in one run of numbers that was checked, or of one bytes
  // value. It is decoded where it is counted; the vectors are empty then.
  struct Run {
    Kind kind;
    Bytes bytes;
  };
  std::optional<Run> run;
  std::vector<List> lists;
  Values values;            // of all of them, by kind
  std::uint64_t bytes = 0;  // in the record, with the name

  void clear();
};

class FeatureStatistics {
 public:
  explicit FeatureStatistics(const Precision& precision)
      : lengths(precision), steps(precision), precision_(precision) {}

  void add(const Lists& lists, bool in_lists);
  void flush();
  void merge(const FeatureStatistics& flushed);
  template <typename Archive>
  void visit(Archive& archive) {
    archive(present, bytes, empty, kinds, lengths, steps);
    archive.maybe(ints, precision_);
    archive.maybe(floats, precision_);
    archive.maybe(strings, precision_);
  }

  std::uint64_t present = 0;             // records with the feature
  std::uint64_t bytes = 0;               // of their entries
  std::uint64_t empty = 0;               // lists without a value
  std::array<std::uint64_t, 4> kinds{};  // lists of each
  SteadyStatistics lengths;              // of lists
  SteadyStatistics steps;                // of feature lists
  // Made when there is one: a feature mostly is of one kind.
  std::unique_ptr<IntStatistics> ints;
  std::unique_ptr<FloatStatistics> floats;
  std::unique_ptr<BytesStatistics> strings;

 private:
  void add_list(Kind kind, std::size_t size);
  void add_run(const Lists::Run& run);
  void add_values(const Values& values);

  Precision precision_;
};

}  // namespace tfreel
