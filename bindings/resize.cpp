#include "resize.hpp"

#include <nanobind/ndarray.h>

#include "bindings.hpp"

namespace tfreel::python {
namespace {

template <typename Scalar>
using Image = nb::ndarray<Scalar, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename Scalar>
ImageShape shape_of(const Image<Scalar>& image) {
  return {image.shape(0), image.shape(1), image.shape(2)};
}

template <typename Value>
void resize(const Image<const Value>& image, const Image<float>& out) {
  const ImageShape from = shape_of(image);
  const ImageShape to = shape_of(out);
  if (from.size() == 0 || to.size() == 0) throw nb::value_error("an image has no pixels");
  if (from.channels != to.channels) throw nb::value_error("the numbers of channels differ");
  const Unlocked unlocked;
  resize_bilinear({image.data(), from.size()}, from, {out.data(), to.size()}, to);
}

}  // namespace

void bind_resize(nb::module_& module) {
  const char* doc = "Writes an image of uint8 or float32 to `out`, in its height and width.";
  module.def("resize_bilinear", &resize<std::uint8_t>, nb::arg("image").noconvert(),
             nb::arg("out").noconvert(), doc);
  module.def("resize_bilinear", &resize<float>, nb::arg("image").noconvert(),
             nb::arg("out").noconvert());
}

}  // namespace tfreel::python
