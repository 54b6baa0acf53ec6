// Guards of messages, columns and statistics that only a forger meets: each test fails without one
// of them (`make mutants`).
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns.hpp"
#include "csv.hpp"
#include "digest.hpp"
#include "distinct.hpp"
#include "encode.hpp"
#include "messages.hpp"
#include "outline.hpp"
#include "quantiles.hpp"
#include "saved.hpp"
#include "statistics.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Memory that is not there is what `Buffer` is asked for below.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace tfreel {
namespace {

using check::bytes_of;
using check::entry;
using check::example;
using check::field;
using check::floats;
using check::ints;
using check::refusal;
using check::strings;
using check::times;

// Bytes with nothing behind them: the sanitizer sees whoever looks there.
class Alone {
 public:
  explicit Alone(std::string_view text)
      : size_(text.size()), bytes_(std::make_unique<std::byte[]>(size_)) {
    if (size_ != 0) std::memcpy(bytes_.get(), text.data(), size_);
  }
  Bytes bytes() const noexcept { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> bytes_;
};

template <typename Error, typename Work>
bool throws(Work&& work) {
  try {
    work();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// "" if the records are read, else what is wrong with the first.
std::string fault_of(const std::vector<std::string>& records, std::vector<FeatureSpec> features) {
  std::vector<Alone> alone;
  std::vector<Bytes> spans;
  for (const std::string& record : records) alone.emplace_back(record);
  for (const Alone& record : alone) spans.push_back(record.bytes());
  const auto result = parse(spans, features, {});
  const auto* fault = std::get_if<ParseFault>(&result);
  if (fault == nullptr) return "";
  using What = ParseFault::What;
  return fault->what == What::malformed     ? "malformed"
         : fault->what == What::missing     ? "missing"
         : fault->what == What::wrong_kind  ? "wrong kind"
         : fault->what == What::wrong_count ? "wrong count"
                                            : "too large";
}

FeatureSpec one(const char* name, Kind kind) {
  FeatureSpec spec;
  spec.name = name;
  spec.kind = kind;
  spec.fixed = spec.required = true;
  spec.count = 1;
  return spec;
}

TEST(entries_that_end_before_they_should_are_not_looked_at_behind_their_end) {
  const auto spec = one("name", Kind::ints);
  const std::string good = example(entry("name", ints({1})));
  CHECK_EQ(fault_of({good}, {spec}), "");
  for (const char* bad : {"\x0a", "\x0a\x05", "\x0a\x05name", "\x0a\x04name", "\x0a\x04name\x12"}) {
    CHECK(!fault_of({example(field(1, bad))}, {spec}).empty());
    CHECK(!fault_of({good, example(field(1, bad))}, {spec}).empty());
    const Alone whole(bad);
    CHECK(!read_short_entry(whole.bytes()));
  }
  CHECK(!read_short_entry({}));
}

TEST(names_that_are_no_text_are_refused_by_all_who_read_them) {
  for (const char* name :
       {"\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x28\xa1", "\xe2\x82\x28", "\xff"}) {
    const Alone alone(name);
    CHECK_EQ(refusal([&] { require_utf8(alone.bytes()); }), "a name that is not UTF-8");
    const std::string record = example(entry(name, ints({1})));
    CHECK_EQ(fault_of({record}, {one("other", Kind::ints)}), "malformed");
    CHECK_EQ(outline({{bytes_of(record)}}, {}, {}, {}).bad.size(), 1u);
    CHECK(digest_of_content(bytes_of(record)) == digest_of_bytes(bytes_of(record)));
    Statistics statistics({{}, {}, 100, 100});
    CHECK(throws<Malformed>([&] { statistics.add(bytes_of(record)); }));
  }
}

TEST(a_feature_that_comes_twice_does_not_stand_for_another) {
  const std::string twice = example(entry("a", ints({1})) + entry("a", ints({2})));
  CHECK_EQ(fault_of({twice}, {one("a", Kind::ints), one("b", Kind::ints)}), "missing");
  const std::string merged =
      example(field(1, field(1, "a") + field(2, ints({1})) + field(2, ints({2}))));
  CHECK_EQ(fault_of({merged}, {one("a", Kind::ints)}), "wrong count");
}

TEST(other_numbers_of_values_than_one_are_counted_as_what_they_are) {
  const std::string none = example(entry("a", field(3, field(1, ""))));
  CHECK_EQ(fault_of({none}, {one("a", Kind::ints)}), "wrong count");
  CHECK_EQ(fault_of({example(entry("a", floats({1, 2})))}, {one("a", Kind::floats)}),
           "wrong count");
  CHECK_EQ(fault_of({example(entry("a", ints({1, 2})))}, {one("a", Kind::ints)}), "wrong count");
}

TEST(runs_are_what_was_counted_or_refused) {
  const Alone open("\x80");
  CHECK(throws<Malformed>([&] { count_values({Kind::ints, open.bytes()}); }));
  const std::string record = example(entry("a", field(3, field(1, "\x80"))));
  CHECK_EQ(outline({{bytes_of(record)}}, {}, {}, {}).bad.size(), 1u);
  std::int64_t numbers[3];
  CHECK(throws<Malformed>([&] { read_ints(bytes_of("\1\2\3"), 2, numbers); }));
  float values[2];
  CHECK(throws<Malformed>([&] { read_floats(bytes_of("12345678"), 1, values); }));
  const std::string long_varint = example(entry("a", field(3, field(1, times(11, "\x80") + "\1"))));
  Statistics statistics({{}, {}, 100, 100});
  CHECK(throws<Malformed>([&] { statistics.add(bytes_of(long_varint)); }));
  CHECK_EQ(statistics.total().records, 0u);  // and no part of it was counted
}

TEST(a_kind_that_there_is_not_is_no_feature) {
  CHECK(!read_simple(bytes_of(field(4, field(1, "x")))));
  CHECK(!read_simple(bytes_of(field(7, ""))));
}

TEST(a_long_list_is_not_taken_for_a_short_one) {
  // The second byte says that the length goes on: as a whole it claims more than there is.
  std::string list = "\x1a\x80\x0a\x7e";
  list.resize(130, '\1');
  CHECK(!is_short_list(bytes_of(list), Kind::ints));
  CHECK(!refusal([&] { read_simple(bytes_of(list)); }).empty());
}

TEST(columns_of_more_values_than_can_be_counted_are_refused) {
  FeatureSpec huge = one("a", Kind::ints);
  huge.required = false;
  huge.count = std::size_t{1} << 62;
  CHECK(throws<std::bad_alloc>([&] { fault_of({"", "", "", ""}, {huge}); }));
}

TEST(memory_that_cannot_be_is_not_asked_for) {
  Buffer<std::int64_t> buffer;
  CHECK(throws<std::bad_alloc>([&] { buffer.reserve((std::size_t{1} << 61) + 1); }));
  CHECK(throws<std::bad_alloc>([&] { buffer.reserve(std::size_t{1} << 58); }));
  buffer.push_back(1);
  CHECK_EQ(buffer[0], 1);
}

TEST(entries_are_written_short_only_if_all_of_them_is) {
  WireWriter writer;
  const std::string part(100, 'x');
  CHECK(!write_short_entry(writer, bytes_of(part), bytes_of(part)));
  CHECK_EQ(writer.size(), 0u);
}

std::string word(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

TEST(saved_sketches_that_nobody_could_have_saved_are_refused) {
  const std::string levels = word(100) + std::string(2000, '\0');
  Loader of_levels(bytes_of(levels));
  Quantiles quantiles(64);
  CHECK(throws<std::out_of_range>([&] { quantiles.visit(of_levels); }));
  const std::string registers(64, '\xff');
  Loader of_registers(bytes_of(registers));
  Distinct distinct(6);
  CHECK(throws<std::out_of_range>([&] { distinct.visit(of_registers); }));
  Statistics statistics({{}, {}, 100, 100});
  CHECK(throws<std::out_of_range>([&] { statistics.load(bytes_of(word(~std::uint64_t{0}))); }));
}

TEST(any_byte_of_saved_groups_may_be_wrong) {
  const StatisticsOptions options{{}, "label", 100, 100};
  Statistics statistics(options);
  statistics.add(bytes_of(example(entry("label", ints({3})) + entry("x", floats({1})))));
  const std::string saved = statistics.save();
  for (std::size_t i = 0; i < saved.size(); i += i < 256 ? 1 : 61) {
    for (const char value : {'\1', '\3', '\7', '\x7f', '\xff'}) {
      std::string wrong = saved;
      wrong[i] = value;
      Statistics loaded(options);
      const Alone alone(wrong);
      try {
        loaded.load(alone.bytes());
      } catch (const std::out_of_range&) {
        continue;
      } catch (const StatisticsLimit&) {
        continue;
      }
      for (const auto& [key, group] : loaded.groups()) CHECK(key.kind <= Kind::ints);
    }
  }
}

TEST(a_quote_where_the_bytes_end_may_be_the_first_of_two) {
  const std::string_view text = "\"a\"";
  const CsvDialect dialect;
  CsvReader more(text, false, dialect, {}, 1);
  CHECK(!more.next());
  CHECK_EQ(more.consumed(), 0u);
  CsvReader all(text, true, dialect, {}, 1);
  CHECK(all.next());
}

}  // namespace
}  // namespace tfreel
