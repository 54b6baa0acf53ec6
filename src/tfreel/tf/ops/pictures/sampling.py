"""Resizing by weighted sums: of which old rows or columns a new one is made, and with what weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfreel.tf.values.handles import Array

F32 = npt.NDArray[np.float32]
Floats = npt.NDArray[Any]

_TABLE = 1024  # TensorFlow looks up the weights of cubics in a table of so many steps
_SMALLEST_SUM = 1000 * np.finfo(np.float32).tiny


class Taps(NamedTuple):
    """Old positions and their weights, both of (new size, number of taps)."""

    places: npt.NDArray[np.int64]
    weights: F32


class Filter(NamedTuple):
    """A kernel: how much a pixel counts by its distance, up to a radius."""

    radius: float
    weigh: Callable[[Floats], Floats]


def _lanczos(radius: float) -> Filter:
    return Filter(radius, lambda x: np.where(np.abs(x) > radius, 0, np.sinc(x) * np.sinc(x / radius)))


def _gaussian(x: Floats) -> Floats:
    return np.where(np.abs(x) >= 1.5, 0, np.exp(-2 * x * x))


def _triangle(x: Floats) -> Floats:
    weights: Floats = np.maximum(0, 1 - np.abs(x))
    return weights


def _keys(x: Floats, a: float = -0.5) -> Floats:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell(x: Floats) -> Floats:
    x = np.abs(x)
    near = (7 * x / 6 - 2) * x * x + 8 / 9
    far = ((2 - 7 * x / 18) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


FILTERS = {
    "bilinear": Filter(1, _triangle),
    "bicubic": Filter(2, _keys),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": Filter(1.5, _gaussian),
    "mitchellcubic": Filter(2, _mitchell),
}


def filtered(old: int, new: int, kernel: Filter, *, antialias: bool) -> Taps:
    """Taps of a kernel, made wider where an image gets smaller if that is wanted."""
    scale = np.float32(1) / (np.float32(new) / np.float32(old))  # rounded twice, as TensorFlow does
    widening = max(scale, np.float32(1)) if antialias else np.float32(1)
    reach = widening * np.float32(kernel.radius)
    centers = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale
    first = np.clip(np.ceil(centers - reach - np.float32(0.5)), 0, old - 1).astype(np.int64)
    last = np.clip(np.floor(centers + reach - np.float32(0.5)), 0, old - 1).astype(np.int64)
    places = first[:, None] + np.arange(int((last - first).max()) + 1)
    offsets = (places.astype(np.float32) + np.float32(0.5) - centers[:, None]) / widening
    weights = np.where(places <= last[:, None], kernel.weigh(offsets), 0)
    sums = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(np.abs(sums) < _SMALLEST_SUM, 1, sums)
    return Taps(np.minimum(places, old - 1), weights.astype(np.float32))


def areas(old: int, new: int, scale: np.float32) -> Taps:
    """Taps that count by how much of an old pixel a new one covers."""
    begins = np.arange(new, dtype=np.float32) * scale
    ends = (np.arange(new, dtype=np.float32) + np.float32(1)) * scale
    first = np.floor(begins).astype(np.int64)
    last = np.ceil(ends).astype(np.int64)
    places = first[:, None] + np.arange(int((last - first).max()))
    covered = np.minimum(places + 1, ends[:, None]) - np.maximum(places, begins[:, None])
    within = (places < begins[:, None]) & (
        places + 1 > ends[:, None]
    )  # then it is the scale, but for rounding
    weights = np.where(within, 1, np.maximum(covered, 0) / scale)
    return Taps(np.clip(places, 0, old - 1), weights.astype(np.float32))


def cubics(old: int, centers: F32, *, half_pixel: bool) -> Taps:
    """Four taps of Keys' cubic; with half-pixel centres sharper, and nothing counts that lies outside."""
    floors = np.floor(centers)
    steps = np.rint((centers - floors) * np.float32(_TABLE)) / _TABLE
    places = floors.astype(np.int64)[:, None] + np.arange(-1, 3)
    weights = _keys(steps[:, None] - np.arange(-1, 3), -0.5 if half_pixel else -0.75).astype(np.float32)
    inside = np.clip(places, 0, old - 1)
    if half_pixel:
        weights = np.where(places == inside, weights, np.float32(0))
        sums = weights.sum(axis=1, keepdims=True)
        weights = (weights / np.where(np.abs(sums) < _SMALLEST_SUM, 1, sums)).astype(np.float32)
    return Taps(inside, weights)


def apply(images: Array, rows: Taps, columns: Taps) -> F32:
    """Images of (n, height, width, channels) in another size."""
    return _along(_along(images.astype(np.float32), rows, 1), columns, 2)


def _along(images: F32, taps: Taps, axis: int) -> F32:
    shape = [1] * 4
    shape[axis] = len(taps.places)
    made: F32 = np.zeros((*images.shape[:axis], len(taps.places), *images.shape[axis + 1 :]), np.float32)
    for tap in range(taps.places.shape[1]):
        made += np.take(images, taps.places[:, tap], axis) * taps.weights[:, tap].reshape(shape)
    return made
