"""`tf.image.convert_image_dtype`: images of other dtypes, in which white stays white."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Array


def converted(image: Array, wanted: DType, *, saturate: bool) -> Array:
    """The image in another dtype: whole numbers use their whole range, floats go from 0 to 1.

    Raises:
        AttributeError: It is a dtype that no image has.
    """
    found = as_dtype(image.dtype)
    if found == wanted:
        return image
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    target = wanted.numpy
    with np.errstate(all="ignore"):
        if found.is_integer and wanted.is_integer:
            return _between_integers(image, found, wanted, saturate)
        if found.is_floating and wanted.is_floating:
            return image.astype(target)
        if found.is_integer:
            scaled: Array = image.astype(target) * target.type(1.0 / found.max)
            return scaled
        return _cast(image * image.dtype.type(wanted.max + 0.5), target, saturate)


def _between_integers(image: Array, found: DType, wanted: DType, saturate: bool) -> Array:
    target = wanted.numpy
    if found.max > wanted.max:
        scale = (int(found.max) + 1) // (int(wanted.max) + 1)
        return _cast(image // image.dtype.type(scale), target, saturate)
    scale = (int(wanted.max) + 1) // (int(found.max) + 1)
    spread: Array = _cast(image, target, saturate) * target.type(scale)
    return spread


def _cast(image: Array, target: np.dtype[Any], saturate: bool) -> Array:
    if not saturate:
        return image.astype(target)
    least, most = np.iinfo(target).min, np.iinfo(target).max
    if image.dtype.kind == "f":
        least, most = _within(image.dtype, least, -1), _within(image.dtype, most, 1)
    else:
        own = np.iinfo(image.dtype)
        least, most = max(least, int(own.min)), min(most, int(own.max))
    return np.clip(image, least, most).astype(target)


def _within(dtype: np.dtype[Any], limit: int, sign: int) -> Any:
    """The float closest to a limit that is not behind it."""
    most = float(np.finfo(dtype).max)
    near = dtype.type(max(-most, min(most, float(limit))))
    return np.nextafter(near, dtype.type(0)) if (int(near) - limit) * sign > 0 else near


def _rows(image: Any, dtype: Any, saturate: bool = False) -> Column | None:
    if not isinstance(image, Dense):
        return None
    return Dense(converted(image.array, as_dtype(dtype), saturate=bool(saturate)))


@operation(rows=_rows)
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False) -> Array:
    """`tf.image.convert_image_dtype`: an image in another dtype, scaled to its range."""
    return converted(array(image), as_dtype(dtype), saturate=bool(saturate))
