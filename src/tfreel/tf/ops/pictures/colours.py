"""Colours of images: gray, hue, saturation, brightness, contrast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures.dtypes import converted
from tfreel.tf.ops.pictures.shapes import on_image
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, float32
from tfreel.tf.values.handles import Array

_LUMA = np.array([0.2989, 0.5870, 0.1140], np.float32)
_HALVES = (np.float16, np.float32)


def _changed(image: Any, change: Callable[[Array], Array], *, saturate: bool) -> Array:
    """The image after a change of its floats, in the dtype that it had."""
    pixels = array(image)
    floats = pixels if pixels.dtype in _HALVES else converted(pixels, float32, saturate=False)
    return converted(change(floats), as_dtype(pixels.dtype), saturate=saturate)


def _image_of(image: Any) -> Array:
    pixels = array(image)
    if pixels.ndim < 3:
        raise InvalidArgumentError(f"input must be at least 3-D, got shape {list(pixels.shape)}")
    return pixels


def _number(value: Any, dtype: Any = np.float32) -> Any:
    return array(value).astype(dtype)


@on_image
def rgb_to_grayscale(images: Any) -> Array:
    """`tf.image.rgb_to_grayscale`: the luminance of colours."""
    pixels = array(images)
    if not pixels.ndim or pixels.shape[-1] != 3:
        raise ValueError(f"the last dimension must be 3 for colours, got shape {pixels.shape}")
    floats = converted(pixels, float32, saturate=False)
    gray = floats[..., 0] * _LUMA[0] + floats[..., 1] * _LUMA[1] + floats[..., 2] * _LUMA[2]
    return converted(gray[..., np.newaxis], as_dtype(pixels.dtype), saturate=False)


@on_image
def grayscale_to_rgb(images: Any) -> Array:
    """`tf.image.grayscale_to_rgb`: the same value for red, green and blue."""
    pixels = array(images)
    if not pixels.ndim or pixels.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1, got shape {pixels.shape}")
    return np.repeat(pixels, 3, axis=-1)


@on_image
def adjust_brightness(image: Any, delta: Any) -> Array:
    """`tf.image.adjust_brightness`: the image with something added to all its values."""
    return _changed(image, lambda floats: floats + _number(delta, floats.dtype), saturate=True)


@operation()
def adjust_contrast(images: Any, contrast_factor: Any) -> Array:
    """`tf.image.adjust_contrast`: the distance of each value from the mean of its channel, multiplied."""

    def change(floats: Array) -> Array:
        mean = floats.mean(axis=(-3, -2), keepdims=True, dtype=np.float32)
        changed: Array = (floats - mean) * _number(contrast_factor) + mean
        return changed.astype(floats.dtype)

    return _changed(_image_of(images), change, saturate=True)


@on_image
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Array:
    """`tf.image.adjust_gamma`: ``gain * image ** gamma``."""
    if float(array(gamma)) < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def change(floats: Array) -> Array:
        powers: Array = _number(gain, floats.dtype) * floats ** _number(gamma, floats.dtype)
        return powers

    return _changed(image, change, saturate=True)


@on_image
def adjust_hue(image: Any, delta: Any) -> Array:
    """`tf.image.adjust_hue`: all colours turned around the wheel, by a part of it."""
    turn = float(array(delta))
    if not -1 <= turn <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")

    def change(floats: Array) -> Array:
        hue, saturation, value = np.moveaxis(_hsv(floats), -1, 0)
        return _rgb(np.stack([np.mod(hue + np.float32(turn), 1), saturation, value], axis=-1))

    return _changed(_image_of(image), change, saturate=False)


@on_image
def adjust_saturation(image: Any, saturation_factor: Any) -> Array:
    """`tf.image.adjust_saturation`: colours made stronger or weaker by a factor."""

    def change(floats: Array) -> Array:
        hue, saturation, value = np.moveaxis(_hsv(floats), -1, 0)
        stronger = np.clip(saturation * _number(saturation_factor), 0, 1)
        return _rgb(np.stack([hue, stronger, value], axis=-1))

    return _changed(_image_of(image), change, saturate=False)


@on_image
def rgb_to_hsv(images: Any) -> Array:
    """`tf.image.rgb_to_hsv`: hue, saturation and value of colours from 0 to 1."""
    return _hsv(_floats(images))


@on_image
def hsv_to_rgb(images: Any) -> Array:
    """`tf.image.hsv_to_rgb`: colours of hue, saturation and value."""
    return _rgb(_floats(images))


def _floats(images: Any) -> Array:
    pixels = array(images)
    if pixels.dtype.kind != "f":
        raise InvalidArgumentError(f"colours are floats here, not {as_dtype(pixels.dtype).name}")
    if not pixels.ndim or pixels.shape[-1] != 3:
        raise ValueError(f"the last dimension must be 3, got shape {pixels.shape}")
    return pixels


def _hsv(rgb: Array) -> Array:
    if rgb.shape[-1] != 3:
        raise ValueError(f"the last dimension must be 3 for colours, got shape {rgb.shape}")
    red, green, blue = np.moveaxis(rgb, -1, 0)
    value = rgb.max(axis=-1)
    spread = value - rgb.min(axis=-1)
    one = rgb.dtype.type(1)
    parts = one / (6 * np.where(spread > 0, spread, one))
    hue = np.where(
        red == value,
        (green - blue) * parts,
        np.where(
            green == value,
            (blue - red) * parts + rgb.dtype.type(1 / 3),
            (red - green) * parts + rgb.dtype.type(2 / 3),
        ),
    )
    hue = np.where(spread > 0, np.where(hue < 0, hue + one, hue), rgb.dtype.type(0))
    saturation = np.where(value > 0, spread / np.where(value > 0, value, one), rgb.dtype.type(0))
    return np.stack([hue, saturation, value], axis=-1).astype(rgb.dtype)


def _rgb(hsv: Array) -> Array:
    hue, saturation, value = np.moveaxis(hsv, -1, 0)
    sixths = hue * 6
    shares = (np.abs(sixths - 3) - 1, 2 - np.abs(sixths - 2), 2 - np.abs(sixths - 4))
    colours = [(1 - saturation + saturation * np.clip(share, 0, 1)) * value for share in shares]
    return np.stack(colours, axis=-1).astype(hsv.dtype)


@operation()  # not for many images at once: means are rounded otherwise then
def per_image_standardization(image: Any) -> Array:
    """`tf.image.per_image_standardization`: each image with mean 0 and variance 1."""
    pixels = array(image)
    if pixels.ndim < 3 or 0 in pixels.shape[-3:]:
        raise ValueError(f"an image has at least 3 dimensions, not the shape {pixels.shape}")
    floats = pixels.astype(np.float32)
    axes = (-3, -2, -1)
    mean = floats.mean(axis=axes, keepdims=True, dtype=np.float32)
    deviation = np.sqrt(np.square(floats - mean).mean(axis=axes, keepdims=True, dtype=np.float32))
    least = np.float32(1) / np.sqrt(np.float32(np.prod(pixels.shape[-3:])))
    standard: Array = (floats - mean) / np.maximum(deviation, least)
    return standard
