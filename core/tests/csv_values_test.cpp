#include "csv_values.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "check.hpp"
#include "utf8.hpp"

namespace tfreel {
namespace {

Meaning kind(std::string_view text) { return meaning_of(text).meaning; }

TEST(whole_numbers_are_those_that_can_be_written_back) {
  CHECK(kind("0") == Meaning::whole);
  CHECK(kind("-12") == Meaning::whole);
  CHECK(kind(" 7 ") == Meaning::whole);
  CHECK_EQ(*to_whole("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  CHECK_EQ(*to_whole("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  CHECK(kind("9223372036854775808") == Meaning::too_long);
  CHECK(kind("-9223372036854775809") == Meaning::too_long);
  CHECK(kind("123456789012345678901234567890") == Meaning::too_long);
  for (const char* code : {"007", "+5", "00", "-01", "1_000", "0x10", "1,5", "", " ", "-", "12a"}) {
    CHECK(kind(code) == Meaning::text);
  }
  CHECK(!to_whole("1.0").has_value());
}

TEST(real_numbers_have_points_exponents_or_names) {
  for (const char* text : {"1.5", ".5", "5.", "1e3", "-1E-3", "nan", "NaN", "-inf", "Infinity"}) {
    CHECK(kind(text) == Meaning::real);
  }
  for (const char* text :
       {".", "e5", "1e", "1e+", "1.5.2", "00.5", "+1.5", "--1", "nano", "1e5x"}) {
    CHECK(kind(text) == Meaning::text);
  }
  CHECK(std::isnan(to_real("nan")->value));
  CHECK(to_real("-inf")->value == -std::numeric_limits<float>::infinity());
  CHECK(to_real("inf")->fits);
}

TEST(truths_are_two_words) {
  CHECK(kind("True") == Meaning::truth);
  CHECK(kind("FALSE") == Meaning::truth);
  CHECK(kind("yes") == Meaning::text);
  CHECK_EQ(*to_truth("true"), 1);
  CHECK_EQ(*to_truth(" false"), 0);
  CHECK(!to_truth("1").has_value());
}

TEST(real_numbers_are_rounded_as_a_double_and_then_as_a_float) {
  for (const char* text :
       {"0.1", "-0.0", "16777217", "3.4028235e38", "1e-45", "0.30000001192092896", "1e22",
        "123e-22", "9007199254740993", "12345678901234567890123",
        "0.000000000000000000000000012345", "1.17549435082228750797e-38", "2.5e-1",
        "100000000000000000000000000000000000000", "0.1234567890123456789012345678901234567890"}) {
    const auto real = to_real(text);
    CHECK(real.has_value());
    CHECK(real->fits);
    CHECK_EQ(real->value, static_cast<float>(std::strtod(text, nullptr)));
  }
}

TEST(numbers_beyond_a_float_do_not_fit_and_those_near_zero_are_zero) {
  const std::string long_digits(400, '9');
  for (const std::string& text : {std::string("1e39"), std::string("-1e400"), long_digits,
                                  std::string("1e999999999999"), "1" + long_digits + "e-3"}) {
    CHECK(!to_real(text)->fits);
    CHECK(std::isinf(to_real(text)->value));
  }
  for (const std::string& text :
       {std::string("1e-60"), std::string("1e-400"), "0." + std::string(400, '0') + "1",
        std::string("1e-999999999999")}) {
    CHECK(to_real(text)->fits);
    CHECK_EQ(to_real(text)->value, 0.0F);
  }
  CHECK_EQ(to_real("0." + std::string(400, '0') + "1e401")->value, 1.0F);
  CHECK_EQ(to_real("1" + std::string(400, '0') + "e-400")->value, 1.0F);
}

TEST(text_is_utf8_up_to_the_first_byte_that_is_not) {
  CHECK_EQ(valid_utf8(""), 0u);
  CHECK_EQ(valid_utf8("plain ascii of some length"), 26u);
  CHECK_EQ(valid_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8d\x8e"), 9u);
  CHECK_EQ(valid_utf8("long enough for a word\xff"), 22u);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82"}) {
    CHECK_EQ(valid_utf8(bad), 0u);
  }
}

}  // namespace
}  // namespace tfreel
