#include "statistics.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "block.hpp"
#include "content.hpp"
#include "malformed.hpp"

namespace tfreel::python {
namespace {

const char* word_of(StatisticsLimit::What what) noexcept {
  constexpr const char* kWords[] = {"features", "groups", "group_kind", "group_size"};
  return kWords[static_cast<std::size_t>(what)];
}

void make(Statistics* self, std::optional<std::vector<std::string>> columns,
          std::optional<std::string> by, std::size_t most_features, std::size_t most_groups) {
  new (self) Statistics({std::move(columns), std::move(by), most_features, most_groups});
}

// What stopped a block: at which of its records, and why.
nb::object stopped(std::size_t index, const nb::object& why) { return nb::make_tuple(index, why); }

// Adds the records of a block from `first` on. None, or what stopped it.
nb::object add(Statistics& statistics, const Block& block, std::size_t first) {
  std::size_t i = first;
  std::optional<MalformedRecord> malformed;
  std::optional<StatisticsLimit> limit;
  {
    const Unlocked unlocked;
    for (; i < block.size() && !malformed && !limit; ++i) {
      try {
        statistics.add(block.payload(i));
      } catch (const Malformed& found) {
        malformed = malformed_in(block.payload(i), found);
      } catch (const StatisticsLimit& found) {
        limit = found;
      }
    }
  }
  if (malformed) return stopped(i - 1, nb::cast(*malformed));
  if (limit) return stopped(i - 1, nb::cast(word_of(limit->what)));
  return nb::none();
}

nb::object merge(Statistics& statistics, Statistics& other) {
  std::optional<StatisticsLimit> limit;
  {
    const Unlocked unlocked;
    try {
      other.flush();
      statistics.merge(other);
    } catch (const StatisticsLimit& found) {
      limit = found;
    }
  }
  return limit ? nb::cast(word_of(limit->what)) : nb::none();
}

nb::bytes save(Statistics& statistics) {
  std::string saved;
  {
    const Unlocked unlocked;
    saved = statistics.save();
  }
  return nb::bytes(saved.data(), saved.size());
}

void load(Statistics& statistics, nb::bytes saved) {
  try {
    statistics.load(std::as_bytes(std::span(saved.c_str(), saved.size())));
  } catch (const std::out_of_range&) {
    throw nb::value_error("these bytes are no statistics");
  } catch (const StatisticsLimit&) {
    throw nb::value_error("these statistics are of other options");
  }
}

nb::object joined(std::uint64_t high, std::uint64_t low) {
  return (nb::int_(high) << nb::int_(64)) | nb::int_(low);
}

nb::object to_int(Uint128 number) {
  return joined(static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number));
}

nb::object to_int(Int128 number) {
  return number < 0 ? -to_int(static_cast<Uint128>(-number)) : to_int(static_cast<Uint128>(number));
}

nb::object pairs_of(std::span<const Counted> counted) {
  const auto column = [&](auto member) {
    return new_array<std::uint64_t>(counted.size(), [&](std::span<std::uint64_t> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = counted[i].*member;
    });
  };
  return nb::make_tuple(column(&Counted::key), column(&Counted::count));
}

nb::dict described(const Distribution& distribution) {
  nb::dict out;
  out["count"] = distribution.count();
  out["least"] = distribution.least();
  out["most"] = distribution.most();
  out["exact"] = distribution.exact();
  out["distinct"] = distribution.distinct();
  out["frequent"] = pairs_of(distribution.frequent());
  out["frequent_error"] = distribution.frequent_error();
  out["points"] = pairs_of(distribution.points());
  out["rank_error"] = distribution.rank_error();
  return out;
}

nb::dict described(const IntStatistics& numbers) {
  nb::dict out = described(numbers.distribution);
  const nb::object above = nb::int_(numbers.moments.squares_above()) << nb::int_(128);
  out["sum"] = to_int(numbers.moments.sum());
  out["squares"] = above | to_int(numbers.moments.squares());
  out["exponent"] = 0;
  out["zeros"] = numbers.zeros;
  return out;
}

// Sums of floats as whole multiples of the smallest float there is, or of its square.
nb::dict described(const FloatStatistics& numbers) {
  nb::dict out = described(numbers.distribution);
  nb::object sum = nb::int_(0);
  nb::object squares = nb::int_(0);
  if (const auto* bins = numbers.moments.bins()) {
    for (std::size_t i = 0; i < bins->size(); ++i) {
      const nb::int_ shift(i == 0 ? 0 : i - 1);
      sum = sum + (to_int((*bins)[i].sum) << shift);
      squares = squares + (to_int((*bins)[i].squares) << (shift + shift));
    }
  }
  out["sum"] = sum;
  out["squares"] = squares;
  out["exponent"] = FloatMoments::kLeastExponent;
  out["zeros"] = numbers.zeros;
  out["nans"] = numbers.nans;
  out["infinities"] = numbers.infinities;
  out["negative_infinities"] = numbers.negative_infinities;
  return out;
}

nb::list shown_of(const BytesStatistics& strings) {
  nb::list shown;
  for (const Counted& each : strings.values.frequent()) {
    const auto* found = strings.shown(each.key);
    if (found == nullptr) continue;
    const std::size_t size = std::min<std::size_t>(found->size, found->beginning.size());
    shown.append(nb::make_tuple(nb::bytes(found->beginning.data(), size), found->size, each.count));
  }
  return shown;
}

nb::dict described(const BytesStatistics& strings) {
  nb::dict out;
  out["sizes"] = described(strings.sizes);
  out["contents"] =
      nb::cast(std::vector<std::uint64_t>(strings.contents.begin(), strings.contents.end()));
  out["widths"] = described(strings.widths);
  out["heights"] = described(strings.heights);
  out["pictures"] = described(strings.pictures);
  out["values"] = described(strings.values);
  out["shown"] = shown_of(strings);
  return out;
}

template <typename Part>
nb::object maybe(const std::unique_ptr<Part>& part) {
  return part ? nb::object(described(*part)) : nb::none();
}

nb::dict described(const Statistics::Feature& which, const FeatureStatistics& feature) {
  nb::dict out;
  out["name"] = which.name;
  out["in_lists"] = which.in_lists;
  out["present"] = feature.present;
  out["bytes"] = feature.bytes;
  out["empty"] = feature.empty;
  out["kinds"] = nb::cast(std::vector<std::uint64_t>(feature.kinds.begin(), feature.kinds.end()));
  out["lengths"] = described(feature.lengths.numbers());
  out["steps"] = described(feature.steps.numbers());
  out["ints"] = maybe(feature.ints);
  out["floats"] = maybe(feature.floats);
  out["strings"] = maybe(feature.strings);
  return out;
}

nb::object to_object(const GroupKey& key) {
  if (key.kind == Kind::ints) return nb::int_(key.number);
  if (key.kind == Kind::bytes) return nb::bytes(key.text.data(), key.text.size());
  return nb::none();
}

nb::tuple described(const Statistics& statistics, const Statistics::Group& group) {
  nb::list features;
  for (std::size_t i = 0; i < group.features.size(); ++i) {
    if (group.features[i]) features.append(described(statistics.features()[i], *group.features[i]));
  }
  return nb::make_tuple(group.records, group.bytes, features);
}

nb::tuple total(Statistics& statistics) {
  Statistics::Group group;
  {
    const Unlocked unlocked;
    statistics.flush();
    group = statistics.total();
  }
  return described(statistics, group);
}

nb::list groups(Statistics& statistics) {
  {
    const Unlocked unlocked;
    statistics.flush();
  }
  nb::list found;
  for (const auto& [key, group] : statistics.groups()) {
    found.append(nb::make_tuple(to_object(key), described(statistics, group)));
  }
  return found;
}

nb::tuple content(nb::handle value) {
  const BytesView view(value);
  const ContentFacts facts = content_of(view.bytes());
  return nb::make_tuple(static_cast<int>(facts.kind), facts.width, facts.height);
}

}  // namespace

void bind_statistics(nb::module_& module) {
  nb::class_<Statistics>(module, "Statistics", "Records in, statistics of their features out.")
      .def("__init__", &make, nb::kw_only(), nb::arg("columns").none(), nb::arg("by").none(),
           nb::arg("most_features"), nb::arg("most_groups"))
      .def("add", &add, nb::arg("block"), nb::arg("first"),
           "Adds the records of a block. None, or the record that stopped it and why.")
      .def("merge", &merge, nb::arg("other"), "Adds another part. None, or why that cannot be.")
      .def("save", &save, "All of it as bytes.")
      .def("load", &load, nb::arg("saved"), "Takes what another one saved.")
      .def("total", &total, "Records, bytes and features of all records.")
      .def("groups", &groups, "The same of each group, after the value that makes it.");
  module.def("content_of", &content, nb::arg("value"), "What a bytes value is, and its size.");
}

}  // namespace tfreel::python
