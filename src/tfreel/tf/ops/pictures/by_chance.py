"""Images changed at random. The numbers are our own: with a seed always the same, but not TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures import colours
from tfreel.tf.ops.pictures.draws import numbers
from tfreel.tf.ops.pictures.shapes import images_of, same_spec, spec_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_MOST_DIMENSIONS = 8  # of a tensor that is cut


@operation(infer=same_spec)
def _flipped(image: Any, axis: int, numbers: Array) -> Array:
    pixels = images_of(image)
    if pixels.ndim == 3:
        return np.ascontiguousarray(np.flip(pixels, axis)) if numbers[0] < 0.5 else pixels
    chosen = np.random.Generator(np.random.Philox(int(numbers[0] * 2**53))).random(len(pixels)) < 0.5
    return np.where(chosen[:, None, None, None], np.flip(pixels, axis), pixels)


def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_left_right`: as in a mirror, or as it was."""
    return _flipped(image, -2, numbers(image, seed))


def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_up_down`: upside down, or as it was."""
    return _flipped(image, -3, numbers(image, seed))


@operation(infer=same_spec)
def _changed(image: Any, change: Any, lower: float, upper: float, numbers: Array) -> Array:
    changed: Array = change.kernel(image, np.float32(lower + (upper - lower) * numbers[0]))
    return changed


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_brightness`: brighter or darker, by no more than this."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _changed(image, colours.adjust_brightness, -max_delta, max_delta, numbers(image, seed))


def _check_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_contrast`: with more contrast or less, by a factor in this range."""
    _check_range(lower, upper)
    return _changed(image, colours.adjust_contrast, lower, upper, numbers(image, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_saturation`: with stronger colours or weaker, by a factor in this range."""
    _check_range(lower, upper)
    return _changed(image, colours.adjust_saturation, lower, upper, numbers(image, seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_hue`: with all colours turned, by no more than this part of the wheel."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be between 0 and 0.5.")
    return _changed(image, colours.adjust_hue, -max_delta, max_delta, numbers(image, seed))


def _cut_spec(value: Any, size: Any, numbers: Any) -> TensorSpec:
    del numbers
    if isinstance(size, TensorSpec):
        return TensorSpec([None] * size.shape[0] if size.shape[0] else None, spec_of(value).dtype)
    sides = [None if isinstance(side, TensorSpec) else int(side) for side in size]
    return TensorSpec(sides, spec_of(value).dtype)


@operation(infer=_cut_spec)
def _cut(value: Any, size: Any, numbers: Array) -> Array:
    pixels, sides = array(value), [int(side) for side in array(size)]
    if len(sides) != pixels.ndim or any(a < b for a, b in zip(pixels.shape, sides, strict=True)):
        raise InvalidArgumentError(f"Need value.shape >= size, got {list(pixels.shape)} and {sides}")
    spare = np.subtract(pixels.shape, sides) + 1
    begins = np.floor(numbers[: len(sides)] * spare).astype(int)
    keys = tuple(slice(begin, begin + side) for begin, side in zip(begins, sides, strict=True))
    return np.ascontiguousarray(pixels[keys])


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """`tf.image.random_crop`: a part of this size, anywhere in a tensor."""
    del name
    return _cut(value, size, numbers(value, seed, _MOST_DIMENSIONS))
