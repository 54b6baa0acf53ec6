#include "frame_buffer.hpp"

#include "bindings.hpp"
#include "file.hpp"

namespace tfreel::python {
namespace {

// False when the record does not fit behind what is there: drain first.
bool append(FrameBuffer& frames, nb::object record) {
  const BytesView view(record);
  if (!frames.fits(view.bytes().size())) return false;
  frames.append(view.bytes());
  return true;
}

// Takes records[start:] as long as they are bytes and fit; gives the index of the first it did not
// take.
std::size_t append_many(FrameBuffer& frames, nb::list records, std::size_t start) {
  std::size_t i = start;
  for (; i < records.size(); ++i) {
    PyObject* record = PyList_GET_ITEM(records.ptr(), static_cast<Py_ssize_t>(i));
    if (!PyBytes_Check(record)) break;
    const BytesView view(record);
    if (!frames.fits(view.bytes().size())) break;
    frames.append(view.bytes());
  }
  return i;
}

void drain_to(FrameBuffer& frames, int descriptor) {
  const Unlocked unlocked;
  write_all(descriptor, {frames.bytes()});
  frames.clear();
}

// Bytes of one record too large to be copied first: header, payload and footer straight from where
// they are.
void write_frame(int descriptor, nb::object record) {
  const BytesView view(record);
  const Unlocked unlocked;
  std::array<std::byte, kHeaderBytes> header;
  std::array<std::byte, kFooterBytes> footer;
  write_header(view.bytes().size(), header);
  write_footer(view.bytes(), footer);
  write_all(descriptor, {header, view.bytes(), footer});
}

nb::object frame_of(nb::object record) {
  const BytesView view(record);
  FrameBuffer frames(view.bytes().size() + kFrameOverhead);
  frames.append(view.bytes());
  return to_bytes(frames.bytes());
}

}  // namespace

void bind_frame_buffer(nb::module_& module) {
  nb::class_<FrameBuffer>(module, "FrameBuffer", "Records in, framed bytes out.")
      .def(nb::init<std::size_t>(), nb::arg("capacity"))
      .def("__len__", &FrameBuffer::size)
      .def("append", &append, nb::arg("record"),
           "Frames a record; False, and nothing done, when it does not fit.")
      .def("append_many", &append_many, nb::arg("records"), nb::arg("start"),
           "Frames records[start:] while they are bytes and fit; the index of the first left over.")
      .def("drain_to", &drain_to, nb::arg("descriptor"),
           "Writes what was framed to the descriptor and forgets it.")
      .def(
          "take",
          [](FrameBuffer& frames) {
            nb::object bytes = to_bytes(frames.bytes());
            frames.clear();
            return bytes;
          },
          "What was framed, as bytes; forgets it.");
  module.def("write_frame", &write_frame, nb::arg("descriptor"), nb::arg("record"),
             "Writes one framed record to the descriptor.");
  module.def("frame", &frame_of, nb::arg("record"), "One record with its header and footer.");
}

}  // namespace tfreel::python
