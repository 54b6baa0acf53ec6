// What records hold, without their values: which features there are, of which kind, and of how many
// values. Nothing that a record may hold makes this fail; a record that is no message is listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "example.hpp"

namespace tfreel {

// A feature of one name, or a feature list, in all records that have it.
struct Outlined {
  std::string name;
  Buffer<std::uint32_t> rows;    // in order
  Buffer<std::uint32_t> steps;   // of feature lists: how many there are in each of these rows
  Buffer<std::uint8_t> kinds;    // a Kind for each row; of feature lists, for each step
  Buffer<std::uint32_t> counts;  // and how many values there are
};

// A record that is no message.
struct BadRow {
  std::size_t row;
  std::size_t byte;
  const char* why;
};

struct Outline {
  std::vector<Outlined>
      features;                 // first those asked about, in their order, also if nobody has them
  std::vector<Outlined> lists;  // the same for feature lists
  std::uint64_t unlisted = 0;   // entries of names that there was no more room for
  std::vector<BadRow> bad;      // nothing else is said of these
};

struct OutlineOptions {
  bool sequences = false;          // also look at the feature lists of SequenceExamples
  std::size_t most_others = 1000;  // names that nobody asked about: a hostile record has millions
};

Outline outline(std::span<const Bytes> records, std::span<const std::string> features,
                std::span<const std::string> lists, const OutlineOptions& options);

}  // namespace tfreel
