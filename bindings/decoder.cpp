#include "decoder.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "bindings.hpp"
#include "sources.hpp"

namespace tfreel::python {
namespace {

template <typename Source>
nb::class_<Bound<Source>> bind_source(nb::module_& module, const char* name, const char* doc) {
  using Self = Bound<Source>;
  return nb::class_<Self>(module, name, doc)
      .def("next", &Self::next,
           "The next Block or Fault; None at the end, or when there is nothing yet.")
      .def_ro("finished", &Self::finished,
              "Whether the end was reached: all records and faults are out.")
      .def_prop_ro(
          "offset", [](const Self& self) { return self.source.offset(); },
          "Stream offset of the next record.")
      .def_prop_ro(
          "record", [](const Self& self) { return self.source.record(); },
          "Ordinal of the next record.");
}

void feed(Bound<Decoder>& self, nb::object data) {
  const BytesView view(data);
  auto bytes = view.bytes();
  const Unlocked unlocked;
  while (!bytes.empty()) {
    const auto space = self.source.space();
    const std::size_t size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    self.source.filled(size);
    bytes = bytes.subspan(size);
  }
}

void make_decoder(Bound<Decoder>* self, std::uint64_t offset, std::uint64_t record,
                  std::optional<std::uint64_t> size, bool verify, bool salvage,
                  std::uint64_t max_record_bytes, std::size_t window_bytes) {
  new (self) Bound<Decoder>{Decoder({.offset = offset,
                                     .record = record,
                                     .size = size.value_or(kUnknownSize),
                                     .verify = verify,
                                     .salvage = salvage,
                                     .max_record_bytes = max_record_bytes,
                                     .window_bytes = window_bytes})};
}

void make_file_reader(Bound<FileReader>* self, int descriptor, std::uint64_t size,
                      std::uint64_t offset, std::uint64_t record, bool verify, bool salvage,
                      std::uint64_t max_record_bytes) {
  const DecoderOptions options{.offset = offset,
                               .record = record,
                               .size = size,
                               .verify = verify,
                               .salvage = salvage,
                               .max_record_bytes = max_record_bytes};
  new (self) Bound<FileReader>{{descriptor, options}};
}

}  // namespace

void bind_decoder(nb::module_& module) {
  nb::class_<Fault>(module, "Fault", "What is wrong at one place of a stream of records.")
      .def_prop_ro("kind", [](const Fault& fault) { return fault_name(fault.kind); })
      .def_ro("record", &Fault::record)
      .def_ro("begin", &Fault::begin)
      .def_ro("end", &Fault::end)
      .def_ro("expected", &Fault::expected)
      .def_ro("actual", &Fault::actual)
      .def_ro("wanted", &Fault::wanted)
      .def_ro("present", &Fault::present);

  const DecoderOptions usual;
  bind_source<Decoder>(module, "Decoder", "Bytes in, blocks of records and faults out.")
      .def("__init__", &make_decoder, nb::kw_only(), nb::arg("offset") = 0, nb::arg("record") = 0,
           nb::arg("size") = nb::none(), nb::arg("verify") = true, nb::arg("salvage") = false,
           nb::arg("max_record_bytes") = usual.max_record_bytes,
           nb::arg("window_bytes") = usual.window_bytes)
      .def("feed", &feed, nb::arg("data"), "Adds bytes to what is to be decoded.")
      .def(
          "finish", [](Bound<Decoder>& self) { self.source.finish(); },
          "Says that no more bytes will come.");

  bind_source<FileReader>(module, "FileReader", "Blocks of records and faults of an open file.")
      .def("__init__", &make_file_reader, nb::arg("descriptor"), nb::kw_only(), nb::arg("size"),
           nb::arg("offset") = 0, nb::arg("record") = 0, nb::arg("verify") = true,
           nb::arg("salvage") = false, nb::arg("max_record_bytes") = usual.max_record_bytes);
}

}  // namespace tfreel::python
