"""`tf.image.draw_bounding_boxes`: boxes drawn on images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures.shapes import same_spec
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import float32
from tfreel.tf.values.handles import Array

# Where no colours are given: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLOURS = np.array(
    [
        *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
        *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
    ],
    np.float32,
)


@operation(infer=same_spec)
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None) -> Array:
    """`tf.image.draw_bounding_boxes`: a batch with boxes of (y, x, y, x) from 0 to 1, one pixel thick."""
    batch, places = array(images), array(boxes, float32)
    if batch.dtype not in (np.float32, np.float16):
        raise InvalidArgumentError(f"images must be of float32 or float16, not of {batch.dtype}")
    if batch.ndim != 4 or places.ndim != 3 or places.shape[2] != 4 or len(places) != len(batch):
        raise InvalidArgumentError("images must be 4-dimensional, and boxes [batch, num_boxes, 4]")
    table = _table(batch.shape[3], colors)
    drawn = batch.copy()
    for image, own in zip(drawn, places, strict=True):
        for number, box in enumerate(own):
            _draw(image, box, table[number % len(table)])
    return drawn


def _table(channels: int, colors: Any) -> Array:
    given = None if colors is None else array(colors, float32)
    if given is None or not given.size:
        return np.ones_like(_COLOURS[:, :1]) if channels == 1 else _COLOURS[:, :channels]
    if given.ndim != 2 or given.shape[1] < channels:
        raise InvalidArgumentError(f"colors must be [number, {channels}], not {list(given.shape)}")
    return given[:, :channels]


def _draw(image: Array, box: Array, colour: Array) -> None:
    height, width = image.shape[:2]
    sizes = np.array([height, width, height, width], np.float32)
    top, left, bottom, right = (box * (sizes - 1)).astype(np.int64).tolist()
    if top > bottom or left > right:
        return
    rows, columns = slice(max(top, 0), max(bottom + 1, 0)), slice(max(left, 0), max(right + 1, 0))
    for row in {top, bottom}:
        if 0 <= row < height:
            image[row, columns] = colour
    for column in {left, right}:
        if 0 <= column < width:
            image[rows, column] = colour
