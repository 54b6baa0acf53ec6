// Where blocks and faults come from, as Python sees it: a Decoder that is fed, or a file.
#pragma once

#include "bindings.hpp"
#include "decoder.hpp"
#include "file_reader.hpp"

namespace tfreel::python {

// A Decoder or a FileReader that remembers having come to its end.
template <typename Source>
struct Bound {
  Source source;
  bool finished = false;

  nb::object next() {
    Decoder::Step step;
    {
      const Unlocked unlocked;
      step = source.next();
    }
    if (step == Decoder::Step::records) return nb::cast(source.take_block());
    if (step == Decoder::Step::fault) return nb::cast(source.fault());
    finished = step == Decoder::Step::finished;
    return nb::none();
  }
};

}  // namespace tfreel::python
