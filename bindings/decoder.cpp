#include "decoder.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "bindings.hpp"
#include "file.hpp"

namespace tfreel::python {
namespace {

// One call reads at most this much before it returns, so that Python can answer Ctrl-C.
constexpr std::size_t kMostPerCall = std::size_t{32} << 20;

struct BoundDecoder {
  Decoder decoder;
  std::uint64_t size;
  bool finished = false;
};

nb::object result(BoundDecoder& self, Decoder::Step step) {
  switch (step) {
    case Decoder::Step::records:
      return nb::cast(self.decoder.take_block());
    case Decoder::Step::fault:
      return nb::cast(self.decoder.fault());
    case Decoder::Step::finished:
      self.finished = true;
      break;
    case Decoder::Step::starved:
      break;
  }
  return nb::none();
}

void feed(BoundDecoder& self, nb::object data) {
  const BytesView view(data);
  auto bytes = view.bytes();
  const nb::gil_scoped_release unlocked;
  while (!bytes.empty()) {
    const auto space = self.decoder.space();
    const std::size_t size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    self.decoder.filled(size);
    bytes = bytes.subspan(size);
  }
}

nb::object next(BoundDecoder& self) {
  Decoder::Step step;
  {
    const nb::gil_scoped_release unlocked;
    step = self.decoder.next();
  }
  return result(self, step);
}

// Reads as much as the decoder can use; false at the end of the file.
std::size_t fill(BoundDecoder& self, int descriptor) {
  auto space = self.decoder.space();
  const std::uint64_t left = self.size - std::min(self.size, self.decoder.input_offset());
  space = space.first(
      static_cast<std::size_t>(std::min<std::uint64_t>({space.size(), left, kMostPerCall})));
  const std::size_t got = read_at(descriptor, space, self.decoder.input_offset());
  self.decoder.filled(got);
  if (got == 0) self.decoder.finish();
  return got;
}

nb::object pull(BoundDecoder& self, int descriptor) {
  auto step = Decoder::Step::starved;
  {
    const nb::gil_scoped_release unlocked;
    for (std::size_t got = 0; got < kMostPerCall;) {
      step = self.decoder.next();
      if (step != Decoder::Step::starved) break;
      got += fill(self, descriptor);
    }
  }
  return result(self, step);
}

BoundDecoder* make(BoundDecoder* self, std::uint64_t offset, std::uint64_t record,
                   std::optional<std::uint64_t> size, bool verify, bool salvage,
                   std::uint64_t max_record_bytes, std::size_t window_bytes) {
  const DecoderOptions options{.offset = offset,
                               .record = record,
                               .size = size.value_or(kUnknownSize),
                               .verify = verify,
                               .salvage = salvage,
                               .max_record_bytes = max_record_bytes,
                               .window_bytes = window_bytes};
  return new (self) BoundDecoder{Decoder(options), options.size};
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
  nb::class_<BoundDecoder>(module, "Decoder", "Bytes in, blocks of records and faults out.")
      .def(
          "__init__",
          [](BoundDecoder* self, std::uint64_t offset, std::uint64_t record,
             std::optional<std::uint64_t> size, bool verify, bool salvage,
             std::uint64_t max_record_bytes, std::size_t window_bytes) {
            make(self, offset, record, size, verify, salvage, max_record_bytes, window_bytes);
          },
          nb::kw_only(), nb::arg("offset") = 0, nb::arg("record") = 0, nb::arg("size") = nb::none(),
          nb::arg("verify") = true, nb::arg("salvage") = false,
          nb::arg("max_record_bytes") = usual.max_record_bytes,
          nb::arg("window_bytes") = usual.window_bytes)
      .def("feed", &feed, nb::arg("data"), "Adds bytes to what is to be decoded.")
      .def(
          "finish", [](BoundDecoder& self) { self.decoder.finish(); },
          "Says that no more bytes will come.")
      .def("next", &next,
           "The next Block or Fault; None when more bytes are needed, or at the end.")
      .def("pull", &pull, nb::arg("descriptor"),
           "Like `next`, reading what it needs from the descriptor. None may also mean: nothing "
           "yet, call again.")
      .def_ro("finished", &BoundDecoder::finished,
              "Whether the end was reached: all records and faults are out.")
      .def_prop_ro(
          "offset", [](const BoundDecoder& self) { return self.decoder.offset(); },
          "Stream offset of the next record.")
      .def_prop_ro(
          "record", [](const BoundDecoder& self) { return self.decoder.record(); },
          "Ordinal of the next record.");
}

}  // namespace tfreel::python
