#include "column_arrays.hpp"

#include "arrays.hpp"

namespace tfreel::python {
namespace {

template <typename Scalar>
nb::object array_or_none(Buffer<Scalar>& buffer, bool given) {
  return given ? to_array(buffer) : nb::none();
}

nb::object to_tuple(Column& column, const FeatureSpec& spec) {
  nb::object values = column.kind == Kind::bytes    ? to_array(column.data)
                      : column.kind == Kind::floats ? to_array(column.floats)
                                                    : to_array(column.ints);
  return nb::make_tuple(values, array_or_none(column.value_offsets, spec.kind == Kind::bytes),
                        array_or_none(column.unit_offsets, !spec.fixed),
                        array_or_none(column.step_offsets, spec.in_lists),
                        array_or_none(column.present, column.absent != 0));
}

}  // namespace

nb::list to_arrays(std::span<Column> columns, std::span<const FeatureSpec> features) {
  nb::list arrays;
  for (std::size_t i = 0; i < columns.size(); ++i) arrays.append(to_tuple(columns[i], features[i]));
  return arrays;
}

std::vector<FeatureSpec> copy_of(const std::vector<const FeatureSpec*>& features) {
  std::vector<FeatureSpec> specs;
  for (const FeatureSpec* spec : features) specs.push_back(*spec);
  return specs;
}

}  // namespace tfreel::python
