#include "shuffle_buffer.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "philox.hpp"

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

}  // namespace

void bind_shuffle_buffer(nb::module_& module) {
  nb::class_<Philox>(module, "Philox",
                     "Random numbers as TensorFlow's seeded operations have them.")
      .def(nb::init<std::uint64_t, std::uint64_t>(), nb::arg("key"), nb::arg("stream"))
      .def("take", &random_words, nb::arg("count"), "The next numbers, as uint32.");
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
