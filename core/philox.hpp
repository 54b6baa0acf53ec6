// Random numbers by counting: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (2011). It is the generator behind TensorFlow's seeded shuffles,
// which `tfreel.tf` gives in the same order.
#pragma once

#include <array>
#include <cstdint>

namespace tfreel {

class Philox {
 public:
  // The key, and the upper half of the counter; its lower half counts from 0.
  Philox(std::uint64_t key, std::uint64_t stream) noexcept;

  std::uint32_t next() noexcept;

 private:
  using Words = std::array<std::uint32_t, 4>;

  Words block() const noexcept;

  std::array<std::uint32_t, 2> key_;
  std::uint64_t count_ = 0;
  std::uint64_t stream_;
  Words words_{};
  unsigned used_ = 4;
};

}  // namespace tfreel
