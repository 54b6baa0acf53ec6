#include "shuffle_buffer.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "philox.hpp"
#include "row_exchange.hpp"

namespace tfreel::python {
namespace {

nb::object numbers(const std::vector<std::uint64_t>& values) {
  return new_array<std::uint64_t>(
      values.size(), [&](std::span<std::uint64_t> out) { std::ranges::copy(values, out.begin()); });
}

nb::tuple arrive(ShuffleBuffer& buffer, std::size_t count) {
  const auto passage = buffer.arrive(count);
  return nb::make_tuple(numbers(passage.leaving), numbers(passage.staying), numbers(passage.slots));
}

nb::object random_words(Philox& random, std::size_t count) {
  return new_array<std::uint32_t>(count, [&](std::span<std::uint32_t> out) {
    std::ranges::generate(out, [&] { return random.next(); });
  });
}

// Arrays of numbers, of which the first dimension counts rows.
using Kept = nb::ndarray<nb::c_contig, nb::device::cpu>;

std::span<std::byte> bytes_of(const Kept& array) {
  return {static_cast<std::byte*>(array.data()), array.nbytes()};
}

std::size_t row_bytes(const Kept& array) {
  std::size_t size = array.itemsize();
  for (std::size_t i = 1; i < array.ndim(); ++i) size *= array.shape(i);
  return size;
}

void exchange(const Kept& slots, const Kept& newcomers, std::uint64_t capacity,
              const Array<std::uint64_t>& leaving, const Array<std::uint64_t>& staying,
              const Array<std::uint64_t>& places, const Kept& out) {
  const std::size_t size = row_bytes(slots);
  if (row_bytes(newcomers) != size || row_bytes(out) != size)
    throw nb::value_error("the rows are of different sizes");
  bool sound = size == 0;
  if (!sound) {
    const Unlocked unlocked;
    const Rows<const std::byte> arriving{bytes_of(newcomers), size};
    sound = copy_leaving({bytes_of(slots), size}, arriving, capacity, span_of(leaving),
                         {bytes_of(out), size}) &&
            copy_staying(arriving, span_of(staying), span_of(places), {bytes_of(slots), size});
  }
  if (!sound) throw nb::index_error("a row that does not exist");
}

}  // namespace

void bind_shuffle_buffer(nb::module_& module) {
  nb::class_<Philox>(module, "Philox",
                     "Random numbers as TensorFlow's seeded operations have them.")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("key"), nb::arg("stream"))
      .def("take", &random_words, nb::arg("count"), "The next numbers, as uint32.");
  module.def("exchange_rows", &exchange, nb::arg("slots").noconvert(),
             nb::arg("newcomers").noconvert(), nb::arg("capacity"), nb::arg("leaving"),
             nb::arg("staying"), nb::arg("places"), nb::arg("out").noconvert(),
             "Copies who leaves a shuffle buffer to `out`, and who stays into slots.");
  nb::class_<ShuffleBuffer>(module, "ShuffleBuffer",
                            "The order in which elements leave a buffer that they go through.")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), nb::arg("capacity"),
           nb::arg("key"), nb::arg("stream"))
      .def("__len__", &ShuffleBuffer::size)
      .def("arrive", &arrive, nb::arg("count"),
           "Who leaves when so many arrive; which newcomers stay; and in which slots.")
      .def(
          "drain",
          [](ShuffleBuffer& buffer, std::size_t most) { return numbers(buffer.drain(most)); },
          nb::arg("most"), "The slots of those who leave when nobody comes any more.");
}

}  // namespace tfreel::python
