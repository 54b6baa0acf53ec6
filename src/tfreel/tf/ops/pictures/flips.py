"""Images turned over and around."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures.shapes import images_of, on_image, spec_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


@on_image
def flip_left_right(image: Any) -> Array:
    """`tf.image.flip_left_right`: the image as in a mirror."""
    return np.ascontiguousarray(images_of(image)[..., ::-1, :])


@on_image
def flip_up_down(image: Any) -> Array:
    """`tf.image.flip_up_down`: the image upside down."""
    return np.ascontiguousarray(images_of(image)[..., ::-1, :, :])


@on_image
def transpose(image: Any) -> Array:
    """`tf.image.transpose`: the image with rows for columns."""
    return np.ascontiguousarray(images_of(image).swapaxes(-3, -2))


def _turned_spec(image: Any, k: Any = 1) -> TensorSpec:
    spec = spec_of(image)
    if spec.shape.rank is None:
        return spec
    *first, height, width, channels = spec.shape.as_list()
    if isinstance(k, TensorSpec):
        height = width = None
    elif int(k) % 2:
        height, width = width, height
    return TensorSpec([*first, height, width, channels], spec.dtype)


@operation(infer=_turned_spec)
def rot90(image: Any, k: Any = 1) -> Array:
    """`tf.image.rot90`: the image turned to the left, k times by a quarter."""
    return np.ascontiguousarray(np.rot90(images_of(image), int(array(k)), axes=(-3, -2)))
