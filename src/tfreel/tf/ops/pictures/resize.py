"""`tf.image.resize` and its kin: images in other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.images.resize import resize as native_resize
from tfreel.images.resize import resize_into
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, Listed, OnDemand, holds_column
from tfreel.tf.ops.pictures import sampling
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import float32
from tfreel.tf.values.handles import Array, TensorList
from tfreel.tf.values.shapes import TensorSpec

F32 = npt.NDArray[np.float32]
Size = tuple[int, int]


class ResizeMethod:
    """`tf.image.ResizeMethod`: the names of the ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_METHODS = tuple(value for name, value in vars(ResizeMethod).items() if name.isupper())
_NUMBERED = ("bilinear", "nearest", "bicubic", "area")  # as the first generation counts them


def method_named(method: Any) -> str:
    """The name of a way to resize.

    Raises:
        ValueError: There is no such way.
    """
    if isinstance(method, (int, np.integer)) and 0 <= method < len(_NUMBERED):
        return _NUMBERED[method]
    if method not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    return str(method)


def size_of(size: Any) -> Size:
    """Height and width that are asked for.

    Raises:
        ValueError: It is not two numbers.
        InvalidArgumentError: They are not positive.
    """
    sides = array(size)
    if sides.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if isinstance(size, TensorList) and all(isinstance(each, np.ndarray) for each in size):
        sides = sides.astype(np.int32)  # TensorFlow casts tensors in a list, and refuses all else
    if sides.dtype.kind not in "iu":
        raise ValueError(f"'size' must be of whole numbers, not of {sides.dtype}")
    if sides.min() <= 0:
        raise InvalidArgumentError("output dimensions must be positive")
    return int(sides[0]), int(sides[1])


def batch_of(images: Any) -> Array:
    """Images in four dimensions.

    Raises:
        ValueError: They have neither three nor four.
    """
    pixels = array(images)
    if pixels.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return pixels if pixels.ndim == 4 else pixels[np.newaxis]


def fitted(height: int, width: int, size: Size) -> Size:
    """The size within another that keeps the proportions."""
    factor = min(np.float32(size[0]) / np.float32(height), np.float32(size[1]) / np.float32(width))
    return size_of([int(np.rint(factor * np.float32(side))) for side in (height, width)])


def resized(batch: Array, size: Size, method: str, antialias: bool) -> Array:
    """Images of (n, height, width, channels) in another size, as TensorFlow 2 does it."""
    if 0 in batch.shape[1:3]:
        raise InvalidArgumentError("input image must be of non-zero size")
    if 0 in batch.shape:
        kept = batch.dtype if method == "nearest" else np.dtype(np.float32)
        return np.zeros((len(batch), *size, batch.shape[3]), kept)
    if method == "nearest" or (method == "bilinear" and not antialias):
        return native_resize(batch, size, method=method)  # type: ignore[arg-type]
    height, width = batch.shape[1:3]
    if method == "bicubic" and not antialias:
        rows, columns = (
            sampling.cubics(old, _centers(old, new), half_pixel=True)
            for old, new in ((height, size[0]), (width, size[1]))
        )
    elif method == "area":
        rows, columns = (
            sampling.areas(old, new, np.float32(old) / np.float32(new))
            for old, new in ((height, size[0]), (width, size[1]))
        )
    else:
        kernel = sampling.FILTERS[method]
        rows, columns = (
            sampling.filtered(old, new, kernel, antialias=antialias)
            for old, new in ((height, size[0]), (width, size[1]))
        )
    return sampling.apply(batch, rows, columns)


def _centers(old: int, new: int) -> F32:
    scale = np.float32(old) / np.float32(new)
    return (np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale - np.float32(0.5)


def resize_spec(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
) -> TensorSpec:
    """What is known of resized images beforehand."""
    del antialias
    spec = images if isinstance(images, TensorSpec) else TensorSpec(np.shape(images), array(images).dtype)
    dtype = spec.dtype if method_named(method) == "nearest" else float32
    if spec.shape.rank is None:
        return TensorSpec(None, dtype)
    if spec.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    *first, height, width, channels = spec.shape.as_list()
    sides: tuple[int | None, int | None] = (None, None)
    if not _has_spec(size):
        sides = size_of(size)
        if preserve_aspect_ratio:
            sides = fitted(height, width, sides) if height and width else (None, None)
    return TensorSpec([*first, *sides, channels], dtype)


def _has_spec(size: Any) -> bool:
    return isinstance(size, TensorSpec) or (
        isinstance(size, (list, tuple)) and any(isinstance(each, TensorSpec) for each in size)
    )


def _resize_rows(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
) -> Column | None:
    if holds_column(size):
        return None
    if preserve_aspect_ratio or method_named(method) != "bilinear" or antialias:
        return None
    sides = size_of(size)
    if isinstance(images, Dense) and images.array.ndim == 4 and 0 not in images.array.shape:
        return Dense(native_resize(images.array, sides))
    if not isinstance(images, (Listed, OnDemand)):
        return None
    out: Array | None = None
    for i in range(len(images)):
        image = images.row(i)
        if not _is_image(image) or (out is not None and image.shape[2] != out.shape[3]):
            return None
        if out is None:
            out = np.empty((len(images), *sides, image.shape[2]), np.float32)
        resize_into(image, out[i])
    return None if out is None else Dense(out)


def _is_image(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 3 and 0 not in value.shape


@operation(infer=resize_spec, rows=_resize_rows, heavy=True)
def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
) -> Array:
    """`tf.image.resize`: one image or a batch in another size; float32, but for the nearest pixel."""
    batch, sides = batch_of(images), size_of(size)
    if preserve_aspect_ratio:
        sides = fitted(batch.shape[1], batch.shape[2], sides)
    made = resized(batch, sides, method_named(method), bool(antialias))
    return made if np.ndim(images) == 4 else made[0]
