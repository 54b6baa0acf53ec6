// From rows, as Python dicts, to the bytes of Example and SequenceExample.
#pragma once

#include <memory>
#include <vector>

#include "bindings.hpp"
#include "encode.hpp"
#include "gather.hpp"
#include "layout.hpp"

namespace tfreel::python {

// What it takes to encode one message. Kept between messages: the room they need, and their keys.
class Desk {
 public:
  Desk(nb::object adapt, nb::object expand, nb::object tensor_type);

  // The message; it lies here until the next one.
  Bytes example(nb::handle row);
  Bytes sequence(nb::handle context, nb::handle lists);
  std::size_t capacity() const noexcept { return writer_.capacity() + gathered_.capacity(); }
  void forget_values() noexcept {
    row_.clear();
    gathered_.clear(nullptr);
  }

 private:
  void write_features(nb::handle dict);
  void write_lists(nb::handle dict);
  void write_entry(PyObject* name, Bytes key, PyObject* value);
  bool write_scalar(Bytes key, PyObject* value);
  bool write_array(PyObject* value);
  bool write_buffer(PyObject* value);
  void write_any(PyObject* name, PyObject* value);
  void write_gathered(std::size_t begin, std::size_t end);
  void write_list(PyObject* name, PyObject* rows);
  // Takes the values out of a dict; false if there is a tensor among them.
  bool take_row(PyObject* dict, Layout& layout);

  nb::object expand_;
  nb::object tensor_type_;
  WireWriter writer_;
  Gathered gathered_;
  Layout features_;
  Layout lists_;
  std::vector<nb::object> row_;
  struct Row {
    std::size_t end;
    bool absent;
  };
  std::vector<Row> rows_;
};

// Gives a desk to everyone who asks. Usually it is the same one; but encoding may call Python code
// (of a user's type, or of `adapt`), and then another thread may come in meanwhile.
class Encoder {
 public:
  Encoder(nb::object adapt, nb::object expand, nb::object tensor_type)
      : adapt_(std::move(adapt)),
        expand_(std::move(expand)),
        tensor_type_(std::move(tensor_type)) {}

  // Calls `use(Bytes)` with the message of a row.
  template <typename Use>
  auto example(nb::handle row, Use&& use) {
    const Lease lease(*this);
    return use(lease.desk->example(row));
  }
  template <typename Use>
  auto sequence(nb::handle context, nb::handle lists, Use&& use) {
    const Lease lease(*this);
    return use(lease.desk->sequence(context, lists));
  }

 private:
  struct Lease {
    explicit Lease(Encoder& encoder) : encoder(encoder), desk(encoder.take_desk()) {}
    ~Lease() { encoder.give_back(std::move(desk)); }
    Encoder& encoder;
    std::unique_ptr<Desk> desk;
  };
  std::unique_ptr<Desk> take_desk();
  void give_back(std::unique_ptr<Desk> desk) noexcept;

  nb::object adapt_;
  nb::object expand_;
  nb::object tensor_type_;
  std::unique_ptr<Desk> idle_;
};

}  // namespace tfreel::python
