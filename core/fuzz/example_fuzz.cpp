// Any bytes, taken for an Example, a SequenceExample and a Feature. The quick way of reading a
// feature must find what the slow one finds, and an outline what is there.
#include <cstdlib>
#include <vector>

#include "digest.hpp"
#include "example.hpp"
#include "outline.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

void compare_ways(Bytes feature) {
  Values slow;
  bool sound = true;
  try {
    slow.merge(feature);
  } catch (const Malformed&) {
    sound = false;
  }
  try {
    const auto quick = read_simple(feature);
    const auto count = quick ? count_values(*quick) : std::nullopt;
    if (!count) return;
    std::vector<std::int64_t> ints(quick->kind == Kind::ints ? *count : 0);
    std::vector<float> floats(quick->kind == Kind::floats ? *count : 0);
    std::vector<Bytes> bytes;
    if (quick->kind == Kind::ints) read_ints(quick->run, *count, ints.data());
    if (quick->kind == Kind::floats) read_floats(quick->run, *count, floats.data());
    if (quick->kind == Kind::bytes) {
      read_bytes(quick->run, [&](Bytes value) { bytes.push_back(value); });
    }
    require(sound && quick->kind == slow.kind && *count == slow.size() && ints == slow.ints);
    require(floats.size() == slow.floats.size());
    require(floats.empty() ||
            std::memcmp(floats.data(), slow.floats.data(), 4 * floats.size()) == 0);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      require(bytes[i].data() == slow.bytes[i].data() && bytes[i].size() == slow.bytes[i].size());
    }
  } catch (const Malformed&) {
    require(!sound);
  }
}

void check_outline(Bytes message) {
  const Outline found = outline({{message}}, {}, {}, {.sequences = true, .most_others = 4});
  require(found.bad.size() <= 1);
  for (const auto* map : {&found.features, &found.lists}) {
    require(map->size() <= 4);
    for (const Outlined& one : *map) {
      require(one.rows.size() <= (found.bad.empty() ? 1 : 0));
      std::size_t units = 0;
      for (const std::uint32_t steps : one.steps.span()) units += steps;
      require(one.kinds.size() == (map == &found.lists ? units : one.rows.size()));
      require(one.counts.size() == one.kinds.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  compare_ways(bytes);
  check_outline(bytes);
  require(digest_of_content(bytes) == digest_of_content(bytes));
  for (const std::uint32_t map : {1u, 2u}) {
    try {
      for_each_entry(bytes, map, [&](Bytes entry) {
        const MapEntry found = read_entry(entry);
        require_utf8(found.key);
        Values values;
        values.gather(found);
        for_each_value(found, compare_ways);
        for_each_value(found, [](Bytes list) { for_each_feature(list, compare_ways); });
      });
    } catch (const Malformed& error) {
      require(error.at >= bytes.data() && error.at <= bytes.data() + size);
    }
  }
  return 0;
}
