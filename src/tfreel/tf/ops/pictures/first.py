"""Resizing as the first generation of TensorFlow did it: pixels are points at their upper left corner."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.pictures import sampling
from tfreel.tf.ops.pictures.resize import batch_of, fitted, method_named, resize_spec, resized, size_of
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

F32 = npt.NDArray[np.float32]

_METHODS = ("bilinear", "nearest", "bicubic", "area")


def _scale(old: int, new: int, align_corners: bool) -> np.float32:
    if align_corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def _positions(old: int, new: int, align_corners: bool) -> F32:
    return np.arange(new, dtype=np.float32) * _scale(old, new, align_corners)


def _old_way(batch: Array, size: tuple[int, int], method: str, align_corners: bool) -> Array:
    axes = tuple(zip(batch.shape[1:3], size, strict=True))
    if method == "area":
        rows, columns = (sampling.areas(old, new, _scale(old, new, align_corners)) for old, new in axes)
        return sampling.apply(batch, rows, columns)
    ys, xs = (_positions(old, new, align_corners) for old, new in axes)
    if method == "bicubic":
        rows, columns = (
            sampling.cubics(old, at, half_pixel=False) for (old, _), at in zip(axes, (ys, xs), strict=True)
        )
        return sampling.apply(batch, rows, columns)
    if method == "nearest":
        places = [_nearest(at, old, align_corners) for (old, _), at in zip(axes, (ys, xs), strict=True)]
        return batch[:, places[0]][:, :, places[1]]
    return _bilinear(batch, ys, xs)


def _nearest(positions: F32, old: int, align_corners: bool) -> npt.NDArray[np.int64]:
    rounded = np.floor(positions + np.float32(0.5)) if align_corners else np.floor(positions)
    return np.minimum(rounded.astype(np.int64), old - 1)


def _bilinear(batch: Array, ys: F32, xs: F32) -> F32:
    """In the order of TensorFlow, so that it is equal to the last bit."""
    floats = batch.astype(np.float32)
    top, bottom, down = _neighbours(ys, batch.shape[1])
    left, right, across = _neighbours(xs, batch.shape[2])
    down, across = down[None, :, None, None], across[None, None, :, None]
    upper, lower = floats[:, top], floats[:, bottom]
    above: F32 = upper[:, :, left] + (upper[:, :, right] - upper[:, :, left]) * across
    below: F32 = lower[:, :, left] + (lower[:, :, right] - lower[:, :, left]) * across
    return above + (below - above) * down


def _neighbours(positions: F32, old: int) -> tuple[Array, Array, F32]:
    floors = np.floor(positions)
    low = np.maximum(floors, 0).astype(np.int64)
    high = np.minimum(np.ceil(positions), old - 1).astype(np.int64)
    return low, high, positions - floors


def _images_spec(
    images: Any,
    size: Any,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
) -> TensorSpec:
    del align_corners
    spec = resize_spec(images, size, method, preserve_aspect_ratio)
    if isinstance(images, TensorSpec) and images.shape.is_fully_defined() and images.shape == spec.shape:
        return images
    return spec


@operation(infer=_images_spec)
def resize_images(
    images: Any,
    size: Any,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
) -> Array:
    """`tf.image.resize_images` of the first generation: images of this size already come back as they are."""
    batch, sides, named = batch_of(images), size_of(size), method_named(method)
    if preserve_aspect_ratio:
        sides = fitted(batch.shape[1], batch.shape[2], sides)
    if named not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    made = batch if batch.shape[1:3] == sides else _old_way(batch, sides, named, bool(align_corners))
    return made if np.ndim(images) == 4 else made[0]


def _batch_resized(
    images: Any, size: Any, method: str, align_corners: bool, half_pixel_centers: bool
) -> Array:
    batch, sides = batch_of(images), size_of(size)
    if np.ndim(images) != 4:
        raise ValueError("images must be 4-dimensional")
    if half_pixel_centers:
        return resized(batch, sides, method, antialias=False)
    return _old_way(batch, sides, method, bool(align_corners))


def _bilinear_spec(images: Any, size: Any, *_: Any, **__: Any) -> TensorSpec:
    return resize_spec(images, size)


def _nearest_spec(images: Any, size: Any, *_: Any, **__: Any) -> TensorSpec:
    return resize_spec(images, size, "nearest")


@operation(infer=_bilinear_spec)
def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, *, half_pixel_centers: bool = False
) -> Array:
    """`tf.image.resize_bilinear`: a batch in another size."""
    return _batch_resized(images, size, "bilinear", align_corners, half_pixel_centers)


@operation(infer=_nearest_spec)
def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, *, half_pixel_centers: bool = False
) -> Array:
    """`tf.image.resize_nearest_neighbor`: a batch in another size, by the nearest pixel."""
    return _batch_resized(images, size, "nearest", align_corners, half_pixel_centers)


@operation(infer=_bilinear_spec)
def resize_bicubic(
    images: Any, size: Any, align_corners: bool = False, *, half_pixel_centers: bool = False
) -> Array:
    """`tf.image.resize_bicubic`: a batch in another size, by cubics."""
    return _batch_resized(images, size, "bicubic", align_corners, half_pixel_centers)


@operation(infer=_bilinear_spec)
def resize_area(images: Any, size: Any, align_corners: bool = False) -> Array:
    """`tf.image.resize_area`: a batch in another size, by the area that pixels cover."""
    return _batch_resized(images, size, "area", align_corners, half_pixel_centers=False)
