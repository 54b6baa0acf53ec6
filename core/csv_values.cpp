#include "csv_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

namespace tfreel {
namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text, std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

// The parts of a number, as they are written.
struct Decimal {
  bool negative = false;
  std::uint64_t digits = 0;  // the first 19 that count, those before them being zeros
  int exponent = 0;          // of the last of these
  bool whole = true;         // no point, no exponent
  bool cut = false;          // there are more digits
};

constexpr int kMostDigits = 19;  // that fit 64 bits

class DecimalReader {
 public:
  explicit DecimalReader(std::string_view text) noexcept : rest_(text) {}

  // False if it is no number.
  bool read(Decimal& number) noexcept {
    number.negative = take('-');
    const std::string_view all = rest_;
    const std::size_t before = take_digits(number);
    if (before > 1 && all.front() == '0') return false;
    std::size_t behind = 0;
    if (take('.')) {
      number.whole = false;
      behind = take_digits(number);
      number.exponent = -static_cast<int>(behind);
    }
    if (before + behind == 0) return false;
    if (before + behind > kMostDigits) cut_digits(number, all, before);
    if (!rest_.empty() && (rest_.front() | 0x20) == 'e' && !take_exponent(number)) return false;
    return rest_.empty();
  }

 private:
  static constexpr int kMostExponent = 100000;

  bool take(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::size_t take_digits(Decimal& number) noexcept {
    std::size_t i = 0;
    std::uint64_t digits = number.digits;
    for (; i < rest_.size() && is_digit(rest_[i]); ++i) {
      digits = digits * 10 + static_cast<std::uint64_t>(rest_[i] - '0');
    }
    number.digits = digits;
    rest_.remove_prefix(i);
    return i;
  }

  // The digits again, with the care that so many need.
  static void cut_digits(Decimal& number, std::string_view text, std::size_t before) noexcept {
    number.digits = 0;
    number.exponent = 0;
    int counted = 0;
    for (std::size_t i = 0; i < text.size() && (is_digit(text[i]) || i == before); ++i) {
      if (i == before && text[i] != '.') break;
      if (i == before) continue;
      const int behind = i > before ? 1 : 0;
      if (counted == kMostDigits) {
        number.exponent += 1 - behind;
        number.cut = true;
        continue;
      }
      number.digits = number.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
      number.exponent -= behind;
      if (number.digits != 0) ++counted;
    }
  }

  bool take_exponent(Decimal& number) noexcept {
    number.whole = false;
    rest_.remove_prefix(1);
    const bool negative = take('-');
    if (!negative) take('+');
    int exponent = 0;
    std::size_t i = 0;
    for (; i < rest_.size() && is_digit(rest_[i]); ++i) {
      if (exponent < kMostExponent) exponent = exponent * 10 + (rest_[i] - '0');
    }
    if (i == 0) return false;
    rest_.remove_prefix(i);
    number.exponent += negative ? -exponent : exponent;
    return true;
  }

  std::string_view rest_;
};

// Nothing, if it is none or not within int64.
std::optional<std::int64_t> whole_of(const Decimal& number) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!number.whole || number.cut) return std::nullopt;
  if (number.digits > kMost + (number.negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(number.negative ? 0 - number.digits : number.digits);
}

std::optional<float> special(std::string_view text) noexcept {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const float sign = negative ? -1.0F : 1.0F;
  if (is_word(text, "nan")) return std::numeric_limits<float>::quiet_NaN();
  if (is_word(text, "inf") || is_word(text, "infinity")) {
    return sign * std::numeric_limits<float>::infinity();
  }
  return std::nullopt;
}

double slow_double(std::string_view text) {
  double value = 0;
#if defined(__cpp_lib_to_chars)
  std::from_chars(text.data(), text.data() + text.size(), value);
#else
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  stream >> value;
#endif
  return value;
}

double magnitude_of(const Decimal& number, std::string_view text) {
  constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  // Both factors are exact in a double, so that what comes out is rounded once.
  if (number.digits <= (std::uint64_t{1} << 53) && !number.cut) {
    const auto digits = static_cast<double>(number.digits);
    if (number.exponent >= 0 && number.exponent <= 22) {
      return digits * kPowers[static_cast<std::size_t>(number.exponent)];
    }
    if (number.exponent < 0 && number.exponent >= -22) {
      return digits / kPowers[static_cast<std::size_t>(-number.exponent)];
    }
  }
  return std::abs(slow_double(text));
}

Real rounded(const Decimal& number, std::string_view text) {
  const float sign = number.negative ? -1.0F : 1.0F;
  if (number.digits == 0) return {sign * 0.0F, true};
  // Far outside of what a float holds, and perhaps a double: its decimal exponent says so.
  if (number.exponent > 40) return {sign * std::numeric_limits<float>::infinity(), false};
  if (number.exponent < -50 - kMostDigits) return {sign * 0.0F, true};
  const auto value = static_cast<float>(magnitude_of(number, text));
  return {sign * value, !std::isinf(value)};
}

}  // namespace

CellMeaning meaning_of(std::string_view text) noexcept {
  text = trimmed(text);
  Decimal number;
  if (DecimalReader(text).read(number)) {
    if (!number.whole) return {Meaning::real};
    const auto whole = whole_of(number);
    return whole ? CellMeaning{Meaning::whole, *whole} : CellMeaning{Meaning::too_long};
  }
  if (is_word(text, "true")) return {Meaning::truth, 1};
  if (is_word(text, "false")) return {Meaning::truth, 0};
  return {special(text) ? Meaning::real : Meaning::text};
}

std::optional<std::int64_t> to_whole(std::string_view text) noexcept {
  Decimal number;
  if (!DecimalReader(trimmed(text)).read(number)) return std::nullopt;
  return whole_of(number);
}

std::optional<std::int64_t> to_truth(std::string_view text) noexcept {
  text = trimmed(text);
  if (is_word(text, "true")) return 1;
  if (is_word(text, "false")) return 0;
  return std::nullopt;
}

std::optional<Real> to_real(std::string_view text) {
  text = trimmed(text);
  Decimal number;
  if (DecimalReader(text).read(number)) return rounded(number, text);
  if (const auto value = special(text)) return Real{*value, true};
  return std::nullopt;
}

}  // namespace tfreel
