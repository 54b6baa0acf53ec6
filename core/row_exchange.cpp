#include "row_exchange.hpp"

#include <algorithm>

namespace tfreel {
namespace {

bool all_below(std::span<const std::uint64_t> numbers, std::uint64_t limit) noexcept {
  return std::ranges::all_of(numbers, [&](std::uint64_t number) { return number < limit; });
}

}  // namespace

bool copy_leaving(Rows<const std::byte> slots, Rows<const std::byte> newcomers,
                  std::uint64_t capacity, std::span<const std::uint64_t> leaving,
                  Rows<std::byte> out) noexcept {
  const bool sound = std::ranges::all_of(leaving, [&](std::uint64_t number) {
    return number < capacity ? number < slots.size() : number - capacity < newcomers.size();
  });
  if (!sound || out.size() < leaving.size()) return false;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    const std::uint64_t number = leaving[i];
    std::ranges::copy(number < capacity ? slots[number] : newcomers[number - capacity],
                      out[i].begin());
  }
  return true;
}

bool copy_staying(Rows<const std::byte> newcomers, std::span<const std::uint64_t> staying,
                  std::span<const std::uint64_t> places, Rows<std::byte> slots) noexcept {
  if (staying.size() != places.size() || !all_below(staying, newcomers.size()) ||
      !all_below(places, slots.size()))
    return false;
  for (std::size_t i = 0; i < staying.size(); ++i)
    std::ranges::copy(newcomers[staying[i]], slots[places[i]].begin());
  return true;
}

}  // namespace tfreel
