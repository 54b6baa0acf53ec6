// Any bytes, taken for statistics that another process saved: refused, or as good as any others.
#include <cstdlib>
#include <stdexcept>

#include "statistics.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// What is saved of `record` and loaded is what was there.
void check_round_trip(Bytes record, const StatisticsOptions& options) {
  Statistics statistics(options);
  try {
    statistics.add(record);
  } catch (const Malformed&) {
    return;
  } catch (const StatisticsLimit&) {
    return;
  }
  const std::string saved = statistics.save();
  Statistics other(options);
  other.load(bytes_of(saved));
  require(other.save() == saved && other.total().records == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const StatisticsOptions options{{}, {}, 100, 100};
  check_round_trip(bytes, options);
  Statistics statistics(options);
  try {
    statistics.load(bytes);
  } catch (const std::out_of_range&) {
    return 0;
  } catch (const StatisticsLimit&) {
    return 0;
  }
  Statistics other(options);
  other.merge(statistics);
  other.flush();
  other.total();
  // What was never saved by anybody may say things that do not go together, and changes when they
  // are put in order. Still it is taken again.
  Statistics again(options);
  again.load(bytes_of(statistics.save()));
  return 0;
}
