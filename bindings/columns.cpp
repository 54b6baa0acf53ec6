#include "columns.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "column_arrays.hpp"
#include "record_views.hpp"
#include "rows.hpp"

namespace tfreel::python {
namespace {

const char* kind_name(Kind kind) noexcept {
  constexpr const char* kNames[] = {"none", "bytes", "float", "int64"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind kind_named(const std::string& name) {
  for (const Kind kind : {Kind::bytes, Kind::floats, Kind::ints}) {
    if (name == kind_name(kind)) return kind;
  }
  throw nb::value_error("kind must be 'bytes', 'float' or 'int64'");
}

const char* fault_word(ParseFault::What what) noexcept {
  constexpr const char* kWords[] = {"proto_malformed", "record_too_large", "feature_missing",
                                    "feature_kind", "feature_count"};
  return kWords[static_cast<std::size_t>(what)];
}

void make_spec(FeatureSpec* self, std::string name, const std::string& kind, bool in_lists,
               nb::object count, bool required, bool kindless_is_empty, nb::object missing) {
  FeatureSpec spec;
  spec.name = std::move(name);
  spec.kind = kind_named(kind);
  spec.in_lists = in_lists;
  spec.fixed = !count.is_none();
  if (spec.fixed) spec.count = nb::cast<std::size_t>(count);
  spec.required = required;
  spec.kindless_is_empty = kindless_is_empty;
  if (!missing.is_none()) {
    if (spec.kind == Kind::ints) spec.default_ints = nb::cast<std::vector<std::int64_t>>(missing);
    if (spec.kind == Kind::floats) spec.default_floats = nb::cast<std::vector<float>>(missing);
    if (spec.kind == Kind::bytes) {
      for (nb::handle value : missing) {
        const BytesView view(value);
        const auto bytes = view.bytes();
        spec.default_bytes.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
    }
    const std::size_t given =
        spec.default_ints.size() + spec.default_floats.size() + spec.default_bytes.size();
    if (given != spec.count) throw nb::value_error("a default of another size than its feature");
  } else if (spec.fixed && !required && !in_lists && spec.count != 0) {
    throw nb::value_error("a fixed feature that may be absent needs a default");
  }
  new (self) FeatureSpec(std::move(spec));
}

// `threads` is a number, or tells one when it is called. To tell takes as long as parsing some
// records, so it is asked only if there is work for a second thread.
std::size_t most_threads(nb::handle threads, const RecordViews& records,
                         std::size_t bytes_per_thread) {
  if (nb::isinstance<nb::int_>(threads)) return nb::cast<std::size_t>(threads);
  std::size_t bytes = 0;
  for (const auto record : records.views()) bytes += record.size();
  return bytes / 2 < bytes_per_thread ? 1 : nb::cast<std::size_t>(threads());
}

nb::object parse_records(nb::handle records, const std::vector<const FeatureSpec*>& features,
                         bool sequences, nb::object threads, std::size_t bytes_per_thread,
                         nb::object order) {
  RecordViews views(records);
  if (!order.is_none()) views.reorder(span_of(nb::cast<Array<std::uint64_t>>(order)));
  const std::vector<FeatureSpec> specs = copy_of(features);
  // One pool for the process: its lock is held for the moment of a hand-over only.
  static UnitPool pool;
  const ParseOptions options{.sequences = sequences,
                             .threads = most_threads(threads, views, bytes_per_thread),
                             .bytes_per_thread = std::max<std::size_t>(1, bytes_per_thread),
                             .pool = &pool};
  std::variant<std::vector<Column>, ParseFault> found;
  {
    const Unlocked unlocked;
    found = parse(views.views(), specs, options);
  }
  if (const auto* fault = std::get_if<ParseFault>(&found)) return nb::cast(*fault);
  return nb::make_tuple(views.views().size(),
                        to_arrays(std::get<std::vector<Column>>(found), specs));
}

nb::list feature_names(nb::handle record, std::uint32_t map_field) {
  const BytesView view(record);
  nb::list names;
  const auto add = [&](Bytes entry) {
    const Bytes key = read_entry(entry).key;
    names.append(checked(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(key.data()),
                                              static_cast<Py_ssize_t>(key.size()), "replace")));
  };
  try {
    for_each_entry(view.bytes(), map_field, add);
  } catch (const Malformed&) {
    // The names up to there are better than none.
  }
  return names;
}

nb::object split_bytes(const Array<std::uint8_t>& data, const Array<std::int64_t>& offsets) {
  const auto bytes = std::as_bytes(span_of(data));
  const auto places = span_of(offsets);
  const std::size_t count = places.empty() ? 0 : places.size() - 1;
  return list_of_bytes(count, [&](auto&& add) {
    for (std::size_t i = 0; i < count; ++i) add(value_at(bytes, places, i));
  });
}

nb::object take_bytes(const Array<std::uint8_t>& data, const Array<std::int64_t>& offsets,
                      const Array<std::int64_t>& picks) {
  const auto bytes = std::as_bytes(span_of(data));
  const auto places = span_of(offsets);
  const auto wanted = span_of(picks);
  Buffer<std::byte> taken;
  Buffer<std::int64_t> bounds;
  bounds.reserve(wanted.size() + 1);
  bounds.push_back(0);
  for (const std::int64_t pick : wanted) {
    if (pick < 0 || static_cast<std::size_t>(pick) + 1 >= places.size()) {
      throw nb::index_error("a value that is not there");
    }
    const auto value = value_at(bytes, places, static_cast<std::size_t>(pick));
    const std::size_t before = taken.size();
    taken.resize(before + value.size());
    std::copy(value.begin(), value.end(), taken.data() + before);
    bounds.push_back(static_cast<std::int64_t>(taken.size()));
  }
  taken.shrink();
  return nb::make_tuple(to_array(taken), to_array(bounds));
}

}  // namespace

void bind_columns(nb::module_& module) {
  nb::class_<FeatureSpec>(module, "FeatureSpec", "What is wanted of one feature.")
      .def("__init__", &make_spec, nb::arg("name"), nb::arg("kind"), nb::kw_only(),
           nb::arg("in_lists") = false, nb::arg("count").none() = nb::none(),
           nb::arg("required") = false, nb::arg("kindless_is_empty") = false,
           nb::arg("default").none() = nb::none())
      .def_ro("name", &FeatureSpec::name)
      .def_prop_ro("kind", [](const FeatureSpec& spec) { return kind_name(spec.kind); })
      .def_ro("in_lists", &FeatureSpec::in_lists)
      .def_prop_ro("count", [](const FeatureSpec& spec) {
        return spec.fixed ? nb::int_(spec.count) : nb::object(nb::none());
      });

  nb::class_<ParseFault>(module, "ParseFault", "What is wrong with the first bad record.")
      .def_prop_ro("kind", [](const ParseFault& fault) { return fault_word(fault.what); })
      .def_ro("row", &ParseFault::row)
      .def_ro("feature", &ParseFault::feature)
      .def_ro("byte", &ParseFault::offset)
      .def_prop_ro("why", [](const ParseFault& fault) { return fault.why; })
      .def_prop_ro("found_kind",
                   [](const ParseFault& fault) { return kind_name(fault.found_kind); })
      .def_ro("found_count", &ParseFault::found_count)
      .def_ro("step", &ParseFault::step);

  module.def("parse", &parse_records, nb::arg("records"), nb::arg("features"), nb::kw_only(),
             nb::arg("sequences") = false, nb::arg("threads") = nb::int_(1),
             nb::arg("bytes_per_thread") = 1, nb::arg("order").none() = nb::none(),
             "The number of rows, and a tuple of arrays for each feature; or a ParseFault.");
  module.def("feature_names", &feature_names, nb::arg("record"), nb::arg("map_field"),
             "The names in one of the maps of a message, as far as it can be read.");
  module.def("split_bytes", &split_bytes, nb::arg("data"), nb::arg("offsets"),
             "The values of a column of bytes, as a list.");
  module.def("take_bytes", &take_bytes, nb::arg("data"), nb::arg("offsets"), nb::arg("picks"),
             "Data and offsets of some values of a column of bytes, in any order.");
}

}  // namespace tfreel::python
