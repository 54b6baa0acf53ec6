// The columns of the core as Python sees them: NumPy arrays that own what the core allocated.
#pragma once

#include <span>
#include <vector>

#include "bindings.hpp"
#include "columns.hpp"

namespace tfreel::python {

// For each column (values, or the bytes of all; value_offsets; unit_offsets; step_offsets;
// present). What a column does not have is None; so is `present` where nothing is absent.
nb::list to_arrays(std::span<Column> columns, std::span<const FeatureSpec> features);

// Features from Python, as the core keeps them.
std::vector<FeatureSpec> copy_of(const std::vector<const FeatureSpec*>& features);

}  // namespace tfreel::python
