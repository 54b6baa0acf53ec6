#include "feature_statistics.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

#include "hashing.hpp"

namespace tfreel {
namespace {

template <typename Part>
Part& made(std::unique_ptr<Part>& part, const Precision& precision) {
  if (!part) part = std::make_unique<Part>(precision);
  return *part;
}

template <typename Part>
void merge_part(std::unique_ptr<Part>& part, const std::unique_ptr<Part>& other,
                const Precision& precision) {
  if (other) made(part, precision).merge(*other);
}

std::size_t count_of(std::span<const Key> sorted, Key key) noexcept {
  const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), key);
  return static_cast<std::size_t>(end - begin);
}

}  // namespace

void IntStatistics::flush() {
  distribution.flush([&](std::span<const Key> keys) {
    moments.add_sorted(keys);
    zeros += count_of(keys, key_of(std::int64_t{0}));
  });
}

void IntStatistics::merge(const IntStatistics& other) {
  flush();
  distribution.merge(other.distribution);
  moments.merge(other.moments);
  zeros += other.zeros;
}

void SteadyStatistics::settle() {
  constexpr std::uint64_t kMany = 64;  // are sooner counted than sorted among others
  if (times_ >= kMany) return numbers_.add(number_, std::exchange(times_, 0));
  for (; times_ != 0; --times_) numbers_.add(number_);
}

void FloatStatistics::add_odd(float number) noexcept {
  if (std::isnan(number)) {
    ++nans;
  } else {
    ++(number > 0 ? infinities : negative_infinities);
  }
}

void FloatStatistics::flush() {
  distribution.flush([&](std::span<const Key> keys) {
    moments.add_sorted(keys);
    zeros += count_of(keys, key_of(0.0F));
  });
}

void FloatStatistics::merge(const FloatStatistics& other) {
  flush();
  distribution.merge(other.distribution);
  moments.merge(other.moments);
  zeros += other.zeros;
  nans += other.nans;
  infinities += other.infinities;
  negative_infinities += other.negative_infinities;
}

void BytesStatistics::add(Bytes value) {
  sizes.add(static_cast<std::int64_t>(value.size()));
  const ContentFacts facts = content_of(value);
  ++contents[static_cast<std::size_t>(facts.kind)];
  if (facts.width != 0 && facts.height != 0) {
    widths.add(facts.width);
    heights.add(facts.height);
    if (pictures.add(Key{facts.width} << 32 | facts.height)) pictures.flush();
  }
  const Key hash = hash_of(value);
  show(hash, value);
  if (!values.add(hash)) return;
  values.flush();
  forget_rare();
}

void BytesStatistics::show(Key hash, Bytes value) {
  Shown& shown = waiting_.emplace_back();
  shown.hash = hash;
  shown.size = value.size();
  std::memcpy(shown.beginning.data(), value.data(), std::min(value.size(), kShownBytes));
}

const BytesStatistics::Shown* BytesStatistics::shown(Key hash) const noexcept {
  const auto found = std::ranges::lower_bound(shown_, hash, {}, &Shown::hash);
  return found != shown_.end() && found->hash == hash ? &*found : nullptr;
}

// Keeps what belongs to the values that are frequent now. Mostly those have been so before, and
// little that waits is wanted: a table of a bit for each wanted hash tells nearly all of the
// others.
void BytesStatistics::forget_rare() {
  std::bitset<8192> wanted;
  const auto bit_of = [&](Key hash) { return static_cast<std::size_t>(hash % wanted.size()); };
  const auto frequent = values.frequent();
  auto next = frequent.begin();
  std::erase_if(shown_, [&](const Shown& each) {
    for (; next != frequent.end() && next->key < each.hash; ++next) wanted.set(bit_of(next->key));
    if (next == frequent.end() || next->key != each.hash) return true;
    ++next;
    return false;
  });
  for (; next != frequent.end(); ++next) wanted.set(bit_of(next->key));
  const std::size_t before = shown_.size();
  for (const Shown& each : waiting_) {
    if (wanted[bit_of(each.hash)] && values.is_frequent(each.hash)) shown_.push_back(each);
  }
  waiting_.clear();
  if (shown_.size() == before) return;
  std::ranges::stable_sort(shown_, {}, &Shown::hash);
  const auto same = [](const Shown& a, const Shown& b) { return a.hash == b.hash; };
  shown_.erase(std::unique(shown_.begin(), shown_.end(), same), shown_.end());
}

void BytesStatistics::flush() {
  sizes.flush();
  widths.flush();
  heights.flush();
  pictures.flush();
  values.flush();
  forget_rare();
}

void BytesStatistics::merge(const BytesStatistics& other) {
  flush();
  sizes.merge(other.sizes);
  for (std::size_t i = 0; i < kContents; ++i) contents[i] += other.contents[i];
  widths.merge(other.widths);
  heights.merge(other.heights);
  pictures.merge(other.pictures);
  values.merge(other.values);
  waiting_.insert(waiting_.end(), other.shown_.begin(), other.shown_.end());
  forget_rare();
}

void Lists::clear() {
  constexpr std::size_t kMuch = 1 << 16;  // values, whose memory is not kept for the next record
  if (lists.capacity() + values.capacity() > kMuch) *this = {};
  run.reset();
  bytes = 0;
  if (lists.empty()) return;
  lists.clear();
  values.clear();
}

void FeatureStatistics::add(const Lists& found, bool in_lists) {
  ++present;
  bytes += found.bytes;
  if (found.run) return add_run(*found.run);
  if (in_lists) steps.add(static_cast<std::int64_t>(found.lists.size()));
  for (const Lists::List& list : found.lists) add_list(list.kind, list.size);
  add_values(found.values);
}

void FeatureStatistics::add_list(Kind kind, std::size_t size) {
  ++kinds[static_cast<std::size_t>(kind)];
  empty += size == 0;
  lengths.add(static_cast<std::int64_t>(size));
}

void FeatureStatistics::add_run(const Lists::Run& run) {
  std::size_t size = 1;
  if (run.kind == Kind::bytes) {
    made(strings, precision_).add(run.bytes);
  } else if (run.kind == Kind::ints) {
    size = 0;
    for (WireCursor cursor(run.bytes); !cursor.done(); ++size) {
      made(ints, precision_).add(static_cast<std::int64_t>(cursor.take_varint()));
    }
  } else {
    size = count_floats(run.bytes);
    for (std::size_t i = 0; i < size; ++i) {
      float number;
      std::memcpy(&number, run.bytes.data() + i * sizeof number, sizeof number);
      made(floats, precision_).add(number);
    }
  }
  add_list(run.kind, size);
}

void FeatureStatistics::add_values(const Values& values) {
  for (const std::int64_t value : values.ints) made(ints, precision_).add(value);
  for (const float value : values.floats) made(floats, precision_).add(value);
  for (const Bytes value : values.bytes) made(strings, precision_).add(value);
}

void FeatureStatistics::flush() {
  lengths.flush();
  steps.flush();
  if (ints) ints->flush();
  if (floats) floats->flush();
  if (strings) strings->flush();
}

void FeatureStatistics::merge(const FeatureStatistics& other) {
  present += other.present;
  bytes += other.bytes;
  empty += other.empty;
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] += other.kinds[i];
  lengths.merge(other.lengths);
  steps.merge(other.steps);
  merge_part(ints, other.ints, precision_);
  merge_part(floats, other.floats, precision_);
  merge_part(strings, other.strings, precision_);
}

}  // namespace tfreel
