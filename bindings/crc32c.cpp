#include "crc32c.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <vector>

#include "bindings.hpp"

namespace tfreel::python {

namespace {

// Below this, to let other threads run would take longer than the work itself.
constexpr std::size_t kWorthUnlocking = std::size_t{1} << 16;

}  // namespace

void bind_crc32c(nb::module_& module) {
  module.def(
      "crc32c",
      [](nb::object data, std::uint32_t crc) {
        const BytesView view(data);
        if (view.bytes().size() < kWorthUnlocking) return crc32c(view.bytes(), crc);
        const Unlocked unlocked;
        return crc32c(view.bytes(), crc);
      },
      nb::arg("data"), nb::arg("crc") = 0, "CRC-32C of `data`, going on from `crc`.");
  module.def("mask_crc", &mask_crc, nb::arg("crc"), "TFRecord's masked form of a CRC-32C.");
  module.def(
      "crc32c_implementations",
      [] {
        std::vector<std::string_view> names;
        for (const auto& implementation : crc32c_implementations())
          names.push_back(implementation.name);
        return names;
      },
      "Names of the checksum implementations this processor can run; the first is in use.");
}

}  // namespace tfreel::python
