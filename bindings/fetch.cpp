#include "fetch.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

namespace tfreel::python {
namespace {

nb::object fetch_block(int descriptor, const Column<std::uint64_t>& offsets,
                       const Column<std::uint64_t>& lengths, const Column<std::uint32_t>& checksums,
                       const Column<std::uint64_t>& picks) {
  if (offsets.shape(0) != lengths.shape(0) || offsets.shape(0) != checksums.shape(0)) {
    throw nb::value_error("index columns differ in length");
  }
  const IndexColumns index{span_of(offsets), span_of(lengths), span_of(checksums)};
  // One pool for the process: its lock is held for the moment of a hand-over only.
  static const auto pool = std::make_shared<BufferPool>();
  std::variant<Block, Fault> found;
  {
    const nb::gil_scoped_release unlocked;
    found = fetch(descriptor, index, span_of(picks), *pool);
  }
  if (auto* block = std::get_if<Block>(&found)) return nb::cast(std::move(*block));
  return nb::cast(std::get<Fault>(found));
}

}  // namespace

void bind_fetch(nb::module_& module) {
  module.def("fetch", &fetch_block, nb::arg("descriptor"), nb::arg("offsets"), nb::arg("lengths"),
             nb::arg("checksums"), nb::arg("picks"),
             "Records `picks` of an indexed file, as a Block (perhaps only the first of them) or a "
             "Fault.");
}

}  // namespace tfreel::python
