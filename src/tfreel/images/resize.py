"""`resize`: images in another size, bilinear as TensorFlow computes it, or by the nearest pixel."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.images.sizes import checked_size, target

Method: TypeAlias = Literal["bilinear", "nearest"]
Array: TypeAlias = npt.NDArray[Any]


def resize(
    image: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    method: Method = "bilinear",
    antialias: bool = False,
) -> Array:
    """An image, or a batch of images of one size, in another size.

    Args:
        image: (height, width), (height, width, channels) or (n, height, width, channels).
        size: (height, width), or the length of the shorter side, which keeps the proportions.
        method: ``"bilinear"`` gives float32, bit for bit what ``tf.image.resize`` gives. ``"nearest"`` picks
            pixels and keeps the dtype: for label masks, in which no new values may arise.
        antialias: When making an image smaller, average over all pixels that fall together instead of
            looking at four. This is Pillow's bilinear filter, of which uint8 is rounded to whole numbers.

    Raises:
        ValueError: It has no pixels, or is no image by its shape; or the size or the method is none.

    Example:
        >>> import numpy as np
        >>> tfreel.images.resize(np.array([[0, 100]], np.uint8), (1, 4))
        array([[  0.,  25.,  75., 100.]], dtype=float32)
        >>> tfreel.images.resize(np.array([[0, 100]], np.uint8), (1, 4), method="nearest")
        array([[  0,   0, 100, 100]], dtype=uint8)
    """
    array = np.asarray(image)
    if array.ndim not in (2, 3, 4) or 0 in array.shape:
        raise ValueError(
            f"an image has 2 or 3 dimensions, a batch has 4, and none is empty: not {array.shape}"
        )
    if method not in ("bilinear", "nearest"):
        raise ValueError(f'method must be "bilinear" or "nearest", not {method!r}')
    if antialias and method != "bilinear":
        raise ValueError("only bilinear resizing has antialias=True")
    height, width = array.shape[:2] if array.ndim < 4 else array.shape[1:3]
    to = target(checked_size(size), height, width)
    batch = array.reshape((-1, height, width, 1 if array.ndim == 2 else array.shape[-1]))
    if method == "nearest":
        out = batch[:, _nearest(height, to[0])][:, :, _nearest(width, to[1])]
    else:
        out = np.empty((len(batch), *to, batch.shape[3]), np.float32)
        for one, place in zip(batch, out, strict=True):
            resize_into(one, place, antialias=antialias)
    return out if array.ndim == 4 else out[0] if array.ndim == 3 else out[0, :, :, 0]


def _nearest(old: int, new: int) -> npt.NDArray[np.int64]:
    """Which of the old rows or columns each new one is; in float32, whose rounding is TensorFlow's too."""
    scale = np.float32(old) / np.float32(new)
    places = np.floor((np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale)
    rows: npt.NDArray[np.int64] = np.minimum(places.astype(np.int64), old - 1)
    return rows


def resize_into(image: Array, out: npt.NDArray[np.float32], *, antialias: bool = False) -> None:
    """Writes an image with its channels, bilinear, to a place of another size."""
    if antialias:
        _antialias(image, out)
        return
    _core.resize_bilinear(_as_computed(image), out)


def _as_computed(image: Array) -> Array:
    """Bytes as they are, all other numbers as float32: what TensorFlow computes with too."""
    return np.ascontiguousarray(image, np.uint8 if image.dtype == np.uint8 else np.float32)


def _antialias(image: Array, out: npt.NDArray[np.float32]) -> None:
    from PIL import Image

    height, width = out.shape[:2]
    # Channel by channel, for Pillow takes two and four of them for alpha, which it would multiply in.
    for channel in range(image.shape[2]):
        plane = Image.fromarray(_as_computed(image[:, :, channel]))
        out[:, :, channel] = np.asarray(plane.resize((width, height), Image.Resampling.BILINEAR))
