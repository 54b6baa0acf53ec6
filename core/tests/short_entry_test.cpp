#include <string>
#include <string_view>

#include "check.hpp"
#include "encode.hpp"
#include "example.hpp"

namespace tfreel {
namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The entry as it lies in a map, without its own tag and length.
Bytes content(const WireWriter& entry) {
  WireCursor cursor(entry.bytes());
  cursor.take_tag();
  return cursor.take_bytes();
}

TEST(short_entries_are_read_as_others_are) {
  for (std::size_t length = 0; length < 140; ++length) {
    const std::string key(length, 'k');
    WireWriter writer;
    const std::int64_t value = 300;
    write_ints(writer, std::span<const std::int64_t>(&value, 1));
    close_entry(writer, bytes_of(key), 0);
    const auto entry = read_short_entry(content(writer));
    if (content(writer).size() > 127) {
      CHECK(!entry);
      continue;
    }
    CHECK(entry.has_value());
    CHECK_EQ(text_of(entry->key), key);
    CHECK(entry->kind == Kind::ints);
    CHECK_EQ(text_of(entry->value), "\xac\x02");
  }
}

TEST(no_cut_or_changed_entry_makes_the_short_way_leave_its_bytes) {
  WireWriter writer;
  const Bytes value = bytes_of("value");
  write_bytes_list(writer, {&value, 1});
  close_entry(writer, bytes_of("key"), 0);
  const std::string entry = text_of(content(writer));
  for (std::size_t size = 0; size < entry.size(); ++size) {
    const std::string cut = entry.substr(0, size);  // of its own, for the sanitizer to see its end
    CHECK(!read_short_entry(bytes_of(cut)));
  }
  for (std::size_t i = 0; i < entry.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = entry;
      changed[i] = static_cast<char>(byte);
      const auto found = read_short_entry(bytes_of(changed));
      if (!found) continue;
      const MapEntry expected = read_entry(bytes_of(changed));
      CHECK_EQ(text_of(found->key), text_of(expected.key));
      const auto simple = read_simple(expected.value);
      CHECK(simple && simple->kind == found->kind);
    }
  }
}

TEST(a_list_of_two_bytes_values_is_not_short) {
  WireWriter writer;
  const std::vector<Bytes> values{bytes_of("a"), bytes_of("b")};
  write_bytes_list(writer, values);
  close_entry(writer, bytes_of("key"), 0);
  CHECK(!read_short_entry(content(writer)));
}

}  // namespace
}  // namespace tfreel
