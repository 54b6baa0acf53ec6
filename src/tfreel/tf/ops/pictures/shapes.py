"""What is common to operations on one image or on a batch of them: three dimensions or four."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.graphs.operations import Operation
from tfreel.tf.graphs.rows import Column, Dense, holds_column
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


def images_of(image: Any) -> Array:
    """An image or a batch.

    Raises:
        ValueError: It has neither three nor four dimensions, or no pixels.
    """
    pixels = array(image)
    if pixels.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {pixels.shape}) must have either 3 or 4 dimensions.")
    if 0 in pixels.shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {pixels.shape}")
    return pixels


def on_image(kernel: Callable[..., Any]) -> Operation:
    """An operation on the last three dimensions of its first argument, whatever stands in front of them."""

    def rows(image: Any, *args: Any, **options: Any) -> Column | None:
        if not isinstance(image, Dense) or image.array.ndim != 4:
            return None
        if any(map(holds_column, (*args, *options.values()))):
            return None
        return Dense(kernel(image.array, *args, **options))

    return Operation(kernel, rows=rows)


def spec_of(image: Any) -> TensorSpec:
    """What is known of an argument of an operation that is being inferred."""
    return image if isinstance(image, TensorSpec) else TensorSpec(np.shape(image), array(image).dtype)


def same_spec(image: Any, *_: Any, **__: Any) -> TensorSpec:
    """That of the first argument."""
    return spec_of(image)


def sized_spec(image: Any, height: Any, width: Any) -> TensorSpec:
    """That of an image with another height and width, each a number or not known yet."""
    spec = spec_of(image)
    if spec.shape.rank is None:
        return TensorSpec(None, spec.dtype)
    sides = [None if isinstance(side, TensorSpec) or side is None else int(side) for side in (height, width)]
    *first, _, _, channels = spec.shape.as_list()
    return TensorSpec([*first, *sides, channels], spec.dtype)
