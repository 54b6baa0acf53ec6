#include "outline.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "content.hpp"
#include "record_views.hpp"

namespace tfreel::python {
namespace {

nb::list to_list(std::vector<Outlined>& outlined) {
  nb::list found;
  for (Outlined& one : outlined) {
    found.append(nb::make_tuple(one.name, to_array(one.rows), to_array(one.kinds),
                                to_array(one.counts), to_array(one.steps)));
  }
  return found;
}

nb::tuple outline_records(nb::handle records, const std::vector<std::string>& features,
                          const std::vector<std::string>& lists, bool sequences,
                          std::size_t most_others, nb::object order) {
  RecordViews views(records);
  if (!order.is_none()) views.reorder(span_of(nb::cast<Array<std::uint64_t>>(order)));
  Outline found;
  {
    const Unlocked unlocked;
    found = outline(views.views(), features, lists,
                    {.sequences = sequences, .most_others = most_others});
  }
  nb::list bad;
  for (const BadRow& row : found.bad) bad.append(nb::make_tuple(row.row, row.byte, row.why));
  return nb::make_tuple(to_list(found.features), to_list(found.lists), found.unlisted, bad);
}

// What each value of a column of bytes is, and how wide and high: in three arrays.
nb::tuple contents_of(const Array<std::uint8_t>& data, const Array<std::int64_t>& offsets) {
  const auto bytes = std::as_bytes(span_of(data));
  const auto places = span_of(offsets);
  const std::size_t count = places.empty() ? 0 : places.size() - 1;
  std::vector<Bytes> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) values.push_back(value_at(bytes, places, i));
  Buffer<std::uint8_t> kinds;
  Buffer<std::uint32_t> widths;
  Buffer<std::uint32_t> heights;
  {
    const Unlocked unlocked;
    for (const Bytes value : values) {
      const ContentFacts facts = content_of(value);
      kinds.push_back(static_cast<std::uint8_t>(facts.kind));
      widths.push_back(facts.width);
      heights.push_back(facts.height);
    }
  }
  return nb::make_tuple(to_array(kinds), to_array(widths), to_array(heights));
}

}  // namespace

void bind_outline(nb::module_& module) {
  module.def("outline", &outline_records, nb::arg("records"), nb::arg("features"), nb::arg("lists"),
             nb::kw_only(), nb::arg("sequences") = false, nb::arg("most_others") = 1000,
             nb::arg("order").none() = nb::none(),
             "What records hold, without values: for each feature and each feature list its name,"
             " rows, kinds, counts and steps; entries without room; and records that are none.");
  module.def("contents_of", &contents_of, nb::arg("data"), nb::arg("offsets"),
             "What the values of a column of bytes are, and their widths and heights.");
}

}  // namespace tfreel::python
