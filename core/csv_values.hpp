// What the text of a cell means as a number.
//
// Numbers are written as programs write them: -12, 0.5, 1e-3, nan, inf. What begins with a plus
// sign or with a zero before other digits is no number but a code, such as 007 or +49 30, of which
// a number would lose something. Spaces around a number do not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tfreel {

enum class Meaning : std::uint8_t { truth, whole, too_long, real, text };

// What a cell with something in it looks like. A whole number outside of int64 is `too_long`.
struct CellMeaning {
  Meaning meaning;
  std::int64_t whole = 0;  // of truth and whole
};

CellMeaning meaning_of(std::string_view text) noexcept;

// The value as what it is asked for; nothing, if it is no such thing.
std::optional<std::int64_t> to_whole(std::string_view text) noexcept;
std::optional<std::int64_t> to_truth(std::string_view text) noexcept;

// The nearest float. Infinite, if it is too large for any: then it does not fit.
struct Real {
  float value;
  bool fits;
};
std::optional<Real> to_real(std::string_view text);

}  // namespace tfreel
