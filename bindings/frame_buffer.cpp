#include "frame_buffer.hpp"

#include <stdexcept>

#include "bindings.hpp"
#include "encoder.hpp"
#include "file.hpp"

namespace tfreel::python {
namespace {

// A buffer that is full for all other threads while one is at it: they have to wait for their turn.
struct SharedFrames {
  explicit SharedFrames(std::size_t capacity) : frames(capacity) {}

  FrameBuffer frames;
  bool is_taken = false;
};

// While this lives, the buffer is taken.
class Taking {
 public:
  explicit Taking(SharedFrames& shared) : shared_(shared) {
    if (shared.is_taken) throw std::runtime_error("the writer is in the middle of another record");
    shared.is_taken = true;
  }
  ~Taking() { shared_.is_taken = false; }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

 private:
  SharedFrames& shared_;
};

// False when the record does not fit behind what is there: drain first.
bool append(SharedFrames& shared, nb::object record) {
  const BytesView view(record);
  if (shared.is_taken || !shared.frames.fits(view.bytes().size())) return false;
  shared.frames.append(view.bytes());
  return true;
}

// Frames a record that is bytes, or a dict, which the encoder makes an Example of. False, and
// nothing done, for all others, and when it does not fit.
bool append_plain(FrameBuffer& frames, nb::handle record, Encoder* encoder) {
  const auto frame = [&](std::span<const std::byte> payload) {
    if (!frames.fits(payload.size())) return false;
    frames.append(payload);
    return true;
  };
  if (PyBytes_Check(record.ptr())) return frame(BytesView(record).bytes());
  if (encoder == nullptr || !PyDict_CheckExact(record.ptr())) return false;
  return encoder->example(record, frame);
}

// Takes records[start:] as long as it can; gives the index of the first it did not take. A row that
// cannot be encoded is one of those: whoever tries it again gets to see why.
std::size_t append_many(SharedFrames& shared, nb::list records, std::size_t start,
                        Encoder* encoder) {
  const Taking taking(shared);  // encoding may call Python code, and let other threads in
  FrameBuffer& frames = shared.frames;
  const std::size_t before = frames.size();
  std::size_t i = start;
  try {
    for (; i < records.size(); ++i) {
      const nb::object record = records[i];
      if (!append_plain(frames, record, encoder)) break;
    }
  } catch (const std::length_error&) {
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {  // Ctrl-C: what cannot be counted was not done
      frames.shrink(before);
      throw;
    }
  }
  return i;
}

void drain_to(SharedFrames& shared, int descriptor) {
  const Taking taking(shared);
  const Unlocked unlocked;
  write_all(descriptor, {shared.frames.bytes()});
  shared.frames.clear();
}

nb::object take(SharedFrames& shared) {
  const Taking taking(shared);
  nb::object bytes = to_bytes(shared.frames.bytes());
  shared.frames.clear();
  return bytes;
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
  nb::class_<SharedFrames>(module, "FrameBuffer", "Records in, framed bytes out.")
      .def(nb::init<std::size_t>(), nb::arg("capacity"))
      .def("__len__", [](const SharedFrames& shared) { return shared.frames.size(); })
      .def("append", &append, nb::arg("record"),
           "Frames a record; False, and nothing done, when it does not fit.")
      .def("append_many", &append_many, nb::arg("records"), nb::arg("start"),
           nb::arg("encoder").none() = nb::none(),
           "Frames records[start:] while they are bytes or rows and fit; the index of the first "
           "left over.")
      .def("drain_to", &drain_to, nb::arg("descriptor"),
           "Writes what was framed to the descriptor and forgets it.")
      .def("take", &take, "What was framed, as bytes; forgets it.");
  module.def("write_frame", &write_frame, nb::arg("descriptor"), nb::arg("record"),
             "Writes one framed record to the descriptor.");
  module.def("frame", &frame_of, nb::arg("record"), "One record with its header and footer.");
}

}  // namespace tfreel::python
