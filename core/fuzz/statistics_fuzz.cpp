// Any bytes, taken for a record and for a bytes value. A record that is refused must leave nothing
// behind, and one that is taken must be counted in whole; twice is the same as merged with itself.
#include <cstdlib>
#include <string>

#include "statistics.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

Statistics::Group seen(Bytes record, std::optional<std::string> by, bool& sound, bool merged) {
  const StatisticsOptions options{{}, std::move(by), 100, 100};
  Statistics statistics(options);
  Statistics other(options);
  try {
    statistics.add(record);
    (merged ? other : statistics).add(record);
  } catch (const Malformed& error) {
    sound = false;
    require(error.at >= record.data() && error.at <= record.data() + record.size());
  } catch (const StatisticsLimit&) {
    sound = false;
  }
  other.flush();
  statistics.merge(other);
  statistics.flush();
  return statistics.total();
}

void check(Bytes record, const std::optional<std::string>& by) {
  bool sound = true;
  const auto twice = seen(record, by, sound, false);
  const auto merged = seen(record, by, sound, true);
  require(twice.records == (sound ? 2 : 0) && merged.records == twice.records);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < twice.features.size(); ++i) {
    if (!twice.features[i]) continue;
    const FeatureStatistics& one = *twice.features[i];
    const FeatureStatistics& other = *merged.features.at(i);
    require(one.present == 2 && other.present == 2 && one.bytes == other.bytes);
    require(one.kinds == other.kinds && one.empty == other.empty);
    if (one.ints) require(one.ints->distribution.count() == other.ints->distribution.count());
    if (one.strings) require(one.strings->contents == other.strings->contents);
    bytes += one.bytes;
  }
  require(bytes <= 2 * record.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  content_of(bytes);
  check(bytes, {});
  check(bytes, "label");
  return 0;
}
