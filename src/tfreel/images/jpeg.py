"""JPEG to pixels: by simplejpeg where it is installed, else by Pillow, with the same result."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.images.pillow import loaded
from tfreel.images.sizes import Size

Dct: TypeAlias = Literal["accurate", "fast"]
U8: TypeAlias = npt.NDArray[np.uint8]


@cache
def _simplejpeg() -> Any:
    """The library, or None."""
    try:
        import simplejpeg
    except ImportError:
        return None
    return simplejpeg


def shrinking(size: Size, at_least: Size | None) -> int:
    """By how much a JPEG decoder may divide the sides, so that they are still as long as is wanted."""
    if at_least is None:
        return 1
    fits = (
        by
        for by in (8, 4, 2)
        if all(-(-side // by) >= least for side, least in zip(size, at_least, strict=True))
    )
    return next(fits, 1)


def decode_jpeg(data: bytes, size: Size, *, gray: bool, dct: Dct, shrink: int, max_pixels: int) -> U8:
    """The pixels of a JPEG of one or three components, with one or three channels.

    Both ways lead to libjpeg-turbo, with the same settings. Where simplejpeg finds something odd, Pillow has
    the last word, which is more patient with what cameras write; so what can be decoded, and what is an
    error, does not depend on what is installed.

    Raises:
        DecodeError: It is damaged, or ends too early.
        ImportError: The fast transform was asked for, which only simplejpeg has.
    """
    library = _simplejpeg()
    if library is None and dct == "fast":
        raise ImportError('dct="fast" needs simplejpeg: pip install "tfreel[jpeg]"')
    if library is None:
        return _by_pillow(data, size, gray=gray, shrink=shrink, max_pixels=max_pixels)
    try:
        return _by_simplejpeg(data, size, gray=gray, dct=dct, shrink=shrink, strict=True)
    except ValueError:
        pixels = _by_pillow(data, size, gray=gray, shrink=shrink, max_pixels=max_pixels)
    if dct == "accurate":
        return pixels
    return _by_simplejpeg(data, size, gray=gray, dct=dct, shrink=shrink, strict=False)


def _by_simplejpeg(data: bytes, size: Size, *, gray: bool, dct: Dct, shrink: int, strict: bool) -> U8:
    height, width = size
    pixels: U8 = _simplejpeg().decode_jpeg(
        data,
        "GRAY" if gray else "RGB",
        fastdct=dct == "fast",
        min_height=-(-height // shrink),
        min_width=-(-width // shrink),
        strict=strict,
    )
    return pixels


def _by_pillow(data: bytes, size: Size, *, gray: bool, shrink: int, max_pixels: int) -> U8:
    mode = "L" if gray else "RGB"
    # The decoder's own gray is the luminance that the file holds: from colours, it would be rounded twice.
    smaller = (size[0] // shrink, size[1] // shrink)
    image = loaded("jpeg", data, max_pixels, draft=(mode, smaller) if gray or shrink > 1 else None)
    pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels[:, :, None] if gray else pixels
