"""Images changed at random. The numbers are our own: with a seed always the same, but not TensorFlow's.

Each change is there twice: with a seed that only begins a row of numbers, and, with a name that begins with
``stateless``, with two that always mean the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.ops.pictures import colours, encode
from tfreel.tf.ops.pictures.draws import numbers, numbers_of
from tfreel.tf.ops.pictures.shapes import images_of, same_spec, spec_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

_LEFT_RIGHT, _UP_DOWN = -2, -3  # the dimensions that are turned over


@operation(infer=same_spec)
def _flipped(image: Any, axis: int, drawn: Array) -> Array:
    pixels = images_of(image)
    if pixels.ndim == 3:
        return np.ascontiguousarray(np.flip(pixels, axis)) if drawn[0] < 0.5 else pixels
    # Of a batch each image for itself.
    chosen = np.random.Generator(np.random.Philox(int(drawn[0] * 2**53))).random(len(pixels)) < 0.5
    return np.where(chosen[:, None, None, None], np.flip(pixels, axis), pixels)


def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_left_right`: as in a mirror, or as it was."""
    return _flipped(image, _LEFT_RIGHT, numbers(image, seed))


def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_up_down`: upside down, or as it was."""
    return _flipped(image, _UP_DOWN, numbers(image, seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """`tf.image.stateless_random_flip_left_right`: as in a mirror, or as it was."""
    return _flipped(image, _LEFT_RIGHT, numbers_of(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """`tf.image.stateless_random_flip_up_down`: upside down, or as it was."""
    return _flipped(image, _UP_DOWN, numbers_of(seed))


@operation(infer=same_spec)
def _changed(image: Any, change: Operation, lower: float, upper: float, drawn: Array) -> Array:
    changed: Array = change.kernel(image, np.float32(lower + (upper - lower) * drawn[0]))
    return changed


def _brightness(image: Any, max_delta: float, drawn: Any) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _changed(image, colours.adjust_brightness, -max_delta, max_delta, drawn)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_brightness`: brighter or darker, by no more than this."""
    return _brightness(image, max_delta, numbers(image, seed))


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """`tf.image.stateless_random_brightness`: brighter or darker, by no more than this."""
    return _brightness(image, max_delta, numbers_of(seed))


def _hue(image: Any, max_delta: float, drawn: Any) -> Any:
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be between 0 and 0.5.")
    return _changed(image, colours.adjust_hue, -max_delta, max_delta, drawn)


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_hue`: with all colours turned, by no more than this part of the wheel."""
    return _hue(image, max_delta, numbers(image, seed))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Any:
    """`tf.image.stateless_random_hue`: with all colours turned, by no more than this part of the wheel."""
    return _hue(image, max_delta, numbers_of(seed))


def _by_factor(image: Any, change: Operation, lower: float, upper: float, drawn: Any) -> Any:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return _changed(image, change, lower, upper, drawn)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_contrast`: with more contrast or less, by a factor in this range."""
    return _by_factor(image, colours.adjust_contrast, lower, upper, numbers(image, seed))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Any:
    """`tf.image.stateless_random_contrast`: with more contrast or less, by a factor in this range."""
    return _by_factor(image, colours.adjust_contrast, lower, upper, numbers_of(seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_saturation`: with stronger colours or weaker, by a factor in this range."""
    return _by_factor(image, colours.adjust_saturation, lower, upper, numbers(image, seed))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """`tf.image.stateless_random_saturation`: with stronger colours or weaker, by a factor in this range."""
    return _by_factor(image, colours.adjust_saturation, lower, upper, numbers_of(seed))


def _jpeg_quality(image: Any, least: int, most: int, drawn: Any) -> Any:
    if not (0 <= least <= 100 and 0 <= most <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if least >= most:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return _changed(image, encode.adjust_jpeg_quality, least, most, drawn)


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Any:
    """`tf.image.random_jpeg_quality`: as it is after being a JPEG of a quality in this range."""
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, numbers(image, seed))


def stateless_random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any) -> Any:
    """`tf.image.stateless_random_jpeg_quality`: as it is after being a JPEG of a quality in this range."""
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, numbers_of(seed))


def _cut_spec(value: Any, size: Any, drawn: Any) -> TensorSpec:
    del drawn
    if isinstance(size, TensorSpec):
        return TensorSpec([None] * size.shape[0] if size.shape[0] else None, spec_of(value).dtype)
    sides = [None if isinstance(side, TensorSpec) else int(side) for side in size]
    return TensorSpec(sides, spec_of(value).dtype)


@operation(infer=_cut_spec)
def _cut(value: Any, size: Any, drawn: Array) -> Array:
    pixels, sides = array(value), [int(side) for side in array(size)]
    if len(sides) != pixels.ndim or any(a < b for a, b in zip(pixels.shape, sides, strict=True)):
        raise InvalidArgumentError(f"Need value.shape >= size, got {list(pixels.shape)} and {sides}")
    spare = np.subtract(pixels.shape, sides) + 1
    begins = np.floor(drawn[: len(sides)] * spare).astype(int)
    keys = tuple(slice(begin, begin + side) for begin, side in zip(begins, sides, strict=True))
    return np.ascontiguousarray(pixels[keys])


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """`tf.image.random_crop`: a part of this size, anywhere in a tensor."""
    del name
    return _cut(value, size, numbers(value, seed))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """`tf.image.stateless_random_crop`: a part of this size, anywhere in a tensor."""
    del name
    return _cut(value, size, numbers_of(seed))
