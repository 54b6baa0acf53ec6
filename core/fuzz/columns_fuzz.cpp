// The first bytes say what is asked for and how often the records are repeated, the others are the
// records. Whatever comes out must be in order, and the same from several threads.
#include <cstdlib>
#include <vector>

#include "columns.hpp"

namespace {

using namespace tfreel;

void require(bool holds) {
  if (!holds) std::abort();
}

class Choices {
 public:
  explicit Choices(Bytes bytes) : rest_(bytes) {}

  std::uint8_t take() {
    if (rest_.empty()) return 0;
    const auto byte = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return byte;
  }
  Bytes take_some(std::size_t size) {
    const Bytes some = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(some.size());
    return some;
  }
  bool done() const { return rest_.empty(); }

 private:
  Bytes rest_;
};

FeatureSpec choose_spec(Choices& choices, std::size_t i, bool sequences) {
  constexpr const char* kNames[] = {"a", "bb", "\xc3\xa9", ""};
  const std::uint8_t choice = choices.take();
  FeatureSpec spec;
  spec.name = kNames[i];
  spec.kind = static_cast<Kind>(1 + choice % 3);
  spec.in_lists = sequences && choice & 0x80;
  spec.fixed = choice & 0x40;
  spec.required = choice & 0x20;
  spec.kindless_is_empty = choice & 0x10;
  if (!spec.fixed) return spec;
  spec.count = choices.take() % 5;
  if (spec.required || spec.in_lists) return spec;
  if (spec.kind == Kind::ints) spec.default_ints.assign(spec.count, -1);
  if (spec.kind == Kind::floats) spec.default_floats.assign(spec.count, -1);
  if (spec.kind == Kind::bytes) spec.default_bytes.assign(spec.count, "default");
  return spec;
}

void require_offsets(std::span<const std::int64_t> offsets, std::size_t count, std::size_t end) {
  require(offsets.size() == count + 1 && offsets.front() == 0);
  require(offsets.back() == static_cast<std::int64_t>(end));
  for (std::size_t i = 0; i < count; ++i) require(offsets[i] <= offsets[i + 1]);
}

void require_order(const FeatureSpec& spec, const Column& column, std::size_t rows) {
  std::size_t units = rows;
  if (spec.in_lists) {
    units = static_cast<std::size_t>(column.step_offsets[rows]);
    require_offsets(column.step_offsets.span(), rows, units);
  }
  const std::size_t values = spec.kind == Kind::ints     ? column.ints.size()
                             : spec.kind == Kind::floats ? column.floats.size()
                                                         : column.value_offsets.size() - 1;
  if (spec.kind == Kind::bytes) {
    require_offsets(column.value_offsets.span(), values, column.data.size());
  }
  if (!spec.fixed) require_offsets(column.unit_offsets.span(), units, values);
  if (spec.fixed) require(values == units * spec.count);
  require(column.absent <= rows);
}

template <typename Scalar>
bool same(const Buffer<Scalar>& a, const Buffer<Scalar>& b) {
  if (a.size() != b.size()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0;
}

void require_same(const Column& a, const Column& b) {
  require(same(a.ints, b.ints) && same(a.floats, b.floats) && same(a.data, b.data));
  require(same(a.value_offsets, b.value_offsets) && same(a.unit_offsets, b.unit_offsets));
  require(same(a.step_offsets, b.step_offsets) && same(a.present, b.present));
  require(a.absent == b.absent);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(std::as_bytes(std::span(data, size)));
  const std::uint8_t how = choices.take();
  const bool sequences = how & 1;
  std::vector<FeatureSpec> specs;
  for (std::size_t i = 0; i <= (how >> 1) % 4u; ++i) {
    specs.push_back(choose_spec(choices, i, sequences));
  }
  std::vector<Bytes> records;
  while (!choices.done()) {
    const std::size_t length = choices.take();
    records.push_back(choices.take_some(length == 0xff ? size : length));
  }
  // So many that threads are worth their while.
  if (how & 0x80 && !records.empty()) {
    const std::vector<Bytes> some = records;
    while (records.size() < 300) records.insert(records.end(), some.begin(), some.end());
  }
  const auto one = parse(records, specs, {.sequences = sequences});
  const auto several = parse(records, specs, {.sequences = sequences, .threads = 3});
  require(one.index() == several.index());
  if (const auto* fault = std::get_if<ParseFault>(&one)) {
    const auto& other = std::get<ParseFault>(several);
    require(fault->row < records.size() && fault->feature < specs.size());
    require(fault->row == other.row && fault->what == other.what && fault->offset == other.offset);
    if (fault->what == ParseFault::What::malformed) {
      require(fault->offset <= records[fault->row].size());
    }
    return 0;
  }
  const auto& columns = std::get<0>(one);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    require_order(specs[i], columns[i], records.size());
    require_same(columns[i], std::get<0>(several)[i]);
  }
  return 0;
}
