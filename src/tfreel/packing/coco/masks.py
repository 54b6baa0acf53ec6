"""The outlines of objects in COCO, as masks: polygons, and runs of pixels, plain or written as text.

A polygon covers the very pixels that COCO's own tools say it covers: these walk along its outline in steps of
a fifth of a pixel, note where that crosses the middle of a column, and fill between the crossings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.packing.coco.annotations import is_number
from tfreel.packing.pictures.boxes import Size
from tfreel.packing.source import RejectError

Mask = npt.NDArray[np.uint8]

_STEPS = 5  # per pixel
_LONGEST_OUTLINE = 1 << 24  # steps; that of a real object has thousands
_DEEPEST_SHIFT = 60


def mask_of(segmentation: Any, size: Size) -> Mask:
    """Ones where an object is and zeros where not, as (height, width).

    Raises:
        RejectError: It is no segmentation, or not of a picture of this size.
    """
    if isinstance(segmentation, Mapping):
        return _from_runs(segmentation, size)
    if not isinstance(segmentation, list) or not segmentation:
        raise RejectError("has no segmentation")
    mask = np.zeros((size.height, size.width), np.uint8)
    for polygon in segmentation:
        mask |= _filled(_corners(polygon, size), size)
    return mask


def _from_runs(segmentation: Mapping[str, Any], size: Size) -> Mask:
    if segmentation.get("size") != [size.height, size.width]:
        raise RejectError(
            f"has a mask of (height, width) {str(segmentation.get('size'))[:40]},"
            f" and its picture {[size.height, size.width]}"
        )
    counts = segmentation.get("counts")
    runs = run_lengths(counts) if isinstance(counts, str) else counts
    most = size.width * size.height
    if not isinstance(runs, list) or not all(type(run) is int and 0 <= run <= most for run in runs):
        raise RejectError("has a mask that is no list of run lengths")
    if sum(runs) != most:
        raise RejectError(f"has a mask of {sum(runs):,} pixels, and its picture has {most:,}")
    return _alternating(np.array(runs, np.int64), size)


def _alternating(runs: npt.NDArray[np.int64], size: Size) -> Mask:
    """The mask of runs of zeros and ones in turn. COCO counts down the columns."""
    values = (np.arange(len(runs)) & 1).astype(np.uint8)
    return np.ascontiguousarray(np.repeat(values, runs).reshape(size.width, size.height).T)


def run_lengths(text: str) -> list[int]:
    """The run lengths that COCO wrote as text.

    Each number stands in characters of five bits, the lowest first; a sixth bit says that more follow, and
    the last one has the sign. From the fourth on, a number is the difference to the one before the last.

    Raises:
        RejectError: It is no such text.
    """
    runs: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > _DEEPEST_SHIFT:
            raise RejectError("has a mask that is no text of run lengths")
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            if bits & 16:
                value -= 1 << shift
            runs.append(value + runs[-2] if len(runs) > 2 else value)
            value = shift = 0
    if shift:
        raise RejectError("has a mask whose text ends within a number")
    return runs


def _corners(polygon: Any, size: Size) -> npt.NDArray[np.float64]:
    """The corners of a polygon, as (n, 2)."""
    if not isinstance(polygon, Sequence) or len(polygon) < 6 or len(polygon) % 2:
        raise RejectError("has a polygon that is not a list of three or more pairs of x and y")
    if not all(map(is_number, polygon)):
        raise RejectError("has a polygon that is not made of numbers")
    corners = np.array(polygon, np.float64).reshape(-1, 2)
    if (corners < -np.array(size)).any() or (corners > 2 * np.array(size)).any():
        raise RejectError("has a polygon far outside of its picture")
    return corners


def _filled(corners: npt.NDArray[np.float64], size: Size) -> Mask:
    x, y = _outline(corners)
    step = np.flatnonzero(x[1:] != x[:-1])
    column = (np.minimum(x[step], x[step + 1]) + 0.5) / _STEPS - 0.5
    row = np.ceil(np.clip((np.minimum(y[step], y[step + 1]) + 0.5) / _STEPS - 0.5, 0, size.height))
    crossed = (column == np.floor(column)) & (column >= 0) & (column < size.width)
    places = np.sort((column[crossed] * size.height + row[crossed]).astype(np.int64))
    # Inside and outside change places at every crossing.
    return _alternating(np.diff(places, prepend=0, append=size.width * size.height), size)


def _outline(corners: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All steps of the way around, in fifths of a pixel."""
    begin = (corners * _STEPS + 0.5).astype(np.int64)
    end = np.roll(begin, -1, axis=0)
    span = np.abs(end - begin)
    counts = span.max(axis=1) + 1
    if counts.sum() > _LONGEST_OUTLINE:
        raise RejectError("has a polygon whose outline has no end")
    steep = span[:, 0] < span[:, 1]
    main = steep.astype(np.int64)  # the axis along which to go one by one
    edge = np.arange(len(begin))
    # Both ways along an edge must lead through the same points: always start from the lower end.
    turned = begin[edge, main] > end[edge, main]
    low = np.where(turned[:, None], end, begin)
    high = np.where(turned[:, None], begin, end)
    slope = (high - low)[edge, 1 - main] / np.maximum(counts - 1, 1)

    which = np.repeat(edge, counts)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    along = np.where(turned[which], counts[which] - 1 - nth, nth)
    one = low[which, main[which]] + along
    other = (low[which, 1 - main[which]] + slope[which] * along + 0.5).astype(np.int64)
    return np.where(steep[which], other, one), np.where(steep[which], one, other)
