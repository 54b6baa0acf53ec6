// What the binding files share: each adds its part of the core to the module, and bytes cross the
// border here.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

namespace tfreel::python {

namespace nb = nanobind;

void bind_crc32c(nb::module_& module);
void bind_order(nb::module_& module);
void bind_block(nb::module_& module);
void bind_decoder(nb::module_& module);
void bind_fetch(nb::module_& module);
void bind_encoder(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_frame_buffer(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_pipeline(nb::module_& module);
void bind_table(nb::module_& module);
void bind_whole_files(nb::module_& module);
