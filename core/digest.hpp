// What records say, as digests: by their bytes, or by what they hold as Examples. Writers put the
// same features in different orders and forms; as content, they are one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "block.hpp"
#include "wire.hpp"

namespace tfreel {

// 128 bits of BLAKE2b: no two records of all that were ever written have the same by chance.
using Digest = std::array<std::uint64_t, 2>;

Digest digest_of_bytes(Bytes record) noexcept;

// Of the features of an Example or SequenceExample, whatever their order and how their values are
// packed. Numbers count by their bits. Of a record that is none, or has no features, its bytes.
Digest digest_of_content(Bytes record);

// How many records from the i-th of `a` and the j-th of `b` on are the same, byte for byte.
std::size_t count_equal(const Block& a, std::size_t i, const Block& b, std::size_t j);

// A digest of many records in any order: the sum of a long digest of each. A sum of 256 bits could
// be forged, by somebody who chooses thousands of records so that their digests add up; of 2,048
// bits, that takes some 2^90 steps (Wagner, A Generalized Birthday Problem, 2002).
class StrongSum {
 public:
  void add(Bytes record) noexcept;
  void merge(const StrongSum& other) noexcept;
  std::array<std::byte, 32> digest() const noexcept;

 private:
  std::array<std::uint64_t, 32> words_{};
};

}  // namespace tfreel
