"""Small pictures for pages: encoded images or pixels in, an ``img`` element with all of it inside out."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.errors import TfreelError
from tfreel.images.decode import Reading
from tfreel.images.encode import encode
from tfreel.images.headers import FORMATS
from tfreel.images.resize import resize
from tfreel.inference.content import NAMES, content_of

_LONGEST_SIDE = 96
_MOST_BYTES = 1 << 26  # of an encoded image
_MOST_PIXELS = 1 << 25
_SMALLEST_SIDE = 8  # of pixels that are taken for a picture
_READING = Reading(mode="rgb", orient=True, max_pixels=_MOST_PIXELS)


def thumbnail(value: Any) -> str | None:
    """The picture, small and encoded anew; None if the value is none, or cannot be decoded.

    Args:
        value: The bytes of an image; or its pixels: (height, width), or with 1 or 3 channels, of uint8 or of
            floats from 0 to 1.
    """
    if isinstance(value, bytes):
        return _of_bytes(value)
    return _of_pixels(value) if isinstance(value, np.ndarray) else None


def _of_bytes(value: bytes) -> str | None:
    found = content_of(value)
    if found.kind not in FORMATS or len(value) > _MOST_BYTES:
        return None
    try:
        pixels = _READING.pixels(value, enough=(_LONGEST_SIDE, _LONGEST_SIDE))
    except (TfreelError, ValueError):
        return None
    words = f"{NAMES[found.kind]} {found.width}×{found.height}" if found.width else NAMES[found.kind]
    return _element(pixels, words)


def _of_pixels(value: npt.NDArray[Any]) -> str | None:
    if value.ndim not in (2, 3) or min(value.shape[:2]) < _SMALLEST_SIDE or value.size > 3 * _MOST_PIXELS:
        return None
    if value.ndim == 3 and value.shape[2] not in (1, 3):
        return None
    if value.dtype.kind == "f":
        if not (np.isfinite(value).all() and value.min() >= 0 and value.max() <= 1):
            return None
        value = np.rint(value * 255).astype(np.uint8)
    if value.dtype != np.uint8:
        return None
    return _element(value, f"pixels {value.shape[1]}×{value.shape[0]}")


def _element(pixels: npt.NDArray[Any], words: str) -> str:
    """The element. What stands in it are our own words and numbers: nothing has to be escaped."""
    height, width = pixels.shape[:2]
    shrink = min(1.0, _LONGEST_SIDE / max(height, width))
    size = max(1, round(height * shrink)), max(1, round(width * shrink))
    if size != (height, width):
        pixels = np.clip(np.rint(resize(pixels, size, antialias=True)), 0, 255).astype(np.uint8)
    data = base64.b64encode(encode(pixels, "jpeg", quality=85)).decode("ascii")
    return (
        f'<img src="data:image/jpeg;base64,{data}" width="{size[1]}" height="{size[0]}"'
        f' alt="{words}" title="{words}">'
    )
