#include "digest.hpp"

#include <string>

#include "blake2b.hpp"
#include "check.hpp"
#include "messages.hpp"

namespace tfreel {
namespace {

using namespace check;

std::string hex_of(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::byte byte : bytes) {
    out.push_back(kDigits[std::to_integer<std::size_t>(byte >> 4)]);
    out.push_back(kDigits[std::to_integer<std::size_t>(byte & std::byte{15})]);
  }
  return out;
}

std::string blake2b(std::string_view text, std::size_t digest_bytes, std::size_t piece) {
  Blake2b hash(digest_bytes);
  for (std::size_t i = 0; i < text.size(); i += piece) hash.update(bytes_of(text.substr(i, piece)));
  std::string out(digest_bytes, '\0');
  hash.finish(std::as_writable_bytes(std::span(out.data(), out.size())));
  return hex_of(bytes_of(out));
}

// RFC 7693, appendix A.
TEST(blake2b_gives_the_digest_of_its_specification) {
  CHECK_EQ(blake2b("abc", 64, 3),
           "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
           "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST(blake2b_does_not_depend_on_the_pieces_that_come) {
  const std::string text(1000, 'x');
  for (const std::size_t size : {0u, 1u, 127u, 128u, 129u, 256u, 257u, 1000u}) {
    const std::string_view part(text.data(), size);
    const std::string whole = blake2b(part, 32, 1000);
    for (const std::size_t piece : {1u, 7u, 128u, 129u, 300u}) {
      CHECK_EQ(blake2b(part, 32, piece), whole);
    }
  }
}

Digest content(std::string_view record) { return digest_of_content(bytes_of(record)); }

const std::string kLabel = entry("label", ints({7}));
const std::string kName = entry("name", strings({"cat"}));

TEST(content_is_the_same_in_any_order_of_features) {
  CHECK(content(example(kLabel + kName)) == content(example(kName + kLabel)));
  CHECK(content(example(kLabel + kName)) != content(example(kLabel)));
  CHECK(content(example(kLabel)) != content(example(kName)));
}

TEST(content_is_the_same_however_values_are_packed) {
  const std::string one_by_one = std::string("\x08") + varint(7);
  const std::string unpacked = entry("label", field(3, one_by_one));
  CHECK(content(example(unpacked)) == content(example(kLabel)));
}

TEST(content_takes_the_last_of_two_features_with_one_name) {
  const std::string other = entry("label", ints({8}));
  CHECK(content(example(other + kLabel)) == content(example(kLabel)));
  CHECK(content(example(kLabel + other)) == content(example(other)));
}

TEST(content_tells_context_from_feature_lists_and_values_from_names) {
  const std::string in_context = field(1, kLabel);
  const std::string in_lists = field(2, entry("label", field(1, ints({7}))));
  CHECK(content(in_context) != content(in_lists));
  const auto named = [](std::string_view name, std::string_view value) {
    return content(example(entry(name, strings({std::string(value)}))));
  };
  CHECK(named("ab", "c") != named("a", "bc"));
}

TEST(content_of_what_is_no_example_is_its_bytes) {
  for (const std::string_view record : {"", "text", "\x0a\xff", "\x18\x07"}) {
    CHECK(content(record) == digest_of_bytes(bytes_of(record)));
  }
  // Sound in front, malformed behind: no part of it counts as features.
  const std::string broken = example(kLabel) + "\x0a\x05";
  CHECK(content(broken) == digest_of_bytes(bytes_of(broken)));
}

StrongSum sum_of(std::initializer_list<std::string_view> records) {
  StrongSum sum;
  for (const auto record : records) sum.add(bytes_of(record));
  return sum;
}

TEST(strong_sum_knows_no_order_but_counts) {
  CHECK(sum_of({"a", "b", "c"}).digest() == sum_of({"c", "a", "b"}).digest());
  CHECK(sum_of({"a", "a"}).digest() != sum_of({"a"}).digest());
  CHECK(sum_of({"a", "b"}).digest() != sum_of({"ab"}).digest());
  StrongSum left = sum_of({"a", "b"});
  left.merge(sum_of({"c"}));
  CHECK(left.digest() == sum_of({"a", "b", "c"}).digest());
}

}  // namespace
}  // namespace tfreel
