"""Boxes around objects: checked against the picture they are in, and made into features.

Features have the names that TensorFlow's Object Detection API reads. Coordinates are parts of the width and
height, from 0 to 1, so that they outlive every change of size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.inference.content import content_of
from tfreel.packing.source import RejectError

# What annotation tools write is rounded. So much may stick out of a picture before it is called outside.
_ROUNDING_PIXELS = 0.5

# What every record with objects holds. Objects are lists of any length, also none.
FEATURES: Mapping[str, Feature] = {
    "image/object/bbox/xmax": RaggedFeature("float32"),
    "image/object/bbox/xmin": RaggedFeature("float32"),
    "image/object/bbox/ymax": RaggedFeature("float32"),
    "image/object/bbox/ymin": RaggedFeature("float32"),
    "image/object/class/label": RaggedFeature("int64"),
    "image/object/class/text": RaggedFeature("bytes"),
}


class Size(NamedTuple):
    """Of a picture, in pixels."""

    width: int
    height: int


class Box(NamedTuple):
    """A rectangle; in pixels or in parts of a picture."""

    left: float
    top: float
    right: float
    bottom: float


def size_of(data: bytes) -> Size:
    """The size of a picture as its own header has it: annotations may say anything.

    Raises:
        DecodeError: It has none.
    """
    found = content_of(data)
    if found.width and found.height:
        return Size(found.width, found.height)
    from tfreel import images  # which knows more formats

    probed = images.probe(data)
    return Size(probed.width, probed.height)


def within(box: Box, size: Size, what: str, *, clip: bool) -> Box | None:
    """A box in pixels as parts of the picture it is in; None if clipping leaves nothing of it.

    Args:
        box: In pixels.
        size: Of the picture.
        what: Which box this is, for messages.
        clip: Cut off what lies outside, instead of refusing it.

    Raises:
        RejectError: It is no box, or not one in this picture.
    """
    if not all(map(math.isfinite, box)):
        raise RejectError(f"{what} has the box {_text(box)}: these are not all numbers")
    across = _along(box.left, box.right, size.width, clip=clip)
    down = _along(box.top, box.bottom, size.height, clip=clip)
    if across is None or down is None:
        raise RejectError(
            f"{what} has the box {_text(box)}, outside of its picture of {size.width} × {size.height};"
            " clip=True cuts it off there"
        )
    if across[0] < across[1] and down[0] < down[1]:
        return Box(across[0], down[0], across[1], down[1])
    if clip:
        return None
    raise RejectError(f"{what} has the box {_text(box)}, which is empty; clip=True leaves it out")


def _along(low: float, high: float, length: int, *, clip: bool) -> tuple[float, float] | None:
    """One side of a box as parts of the picture's; None if it lies outside."""
    if not clip and (low < -_ROUNDING_PIXELS or high > length + _ROUNDING_PIXELS):
        return None
    # As a record will hold them: what is a box here must not become empty by rounding.
    inside = np.clip(np.array([low, high]) / length, 0, 1).astype(np.float32)
    return float(inside[0]), float(inside[1])


def _text(box: Box) -> str:
    return f"({', '.join(f'{edge:g}' for edge in box)})"


def box_features(boxes: Sequence[Box]) -> dict[str, object]:
    """The features of boxes in parts of a picture."""
    edges = np.array(boxes, np.float32).reshape(len(boxes), 4).T
    return {
        "image/object/bbox/xmin": edges[0],
        "image/object/bbox/ymin": edges[1],
        "image/object/bbox/xmax": edges[2],
        "image/object/bbox/ymax": edges[3],
    }


def whole_numbers(values: Sequence[int]) -> object:
    """A feature of int64, also if there are no values."""
    return np.array(values, np.int64)


def floats(values: Sequence[float]) -> object:
    """A feature of float32, also if there are no values."""
    return np.array(values, np.float64)


def texts(values: Sequence[str] | Sequence[bytes]) -> object:
    """A feature of bytes, also if there are no values."""
    return list(values) or np.array([], np.bytes_)
