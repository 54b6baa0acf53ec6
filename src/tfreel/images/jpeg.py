"""JPEG to pixels: by simplejpeg where it is installed, else by Pillow, with the same result."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.images.headers import broken
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


def shrinking(size: Size, wanted: Size | None) -> int:
    """By how much a JPEG decoder may divide the sides, for an image that will be resized anyway.

    They may get shorter than is wanted by a tenth: to make an image a little larger again does less harm than
    to decode four times as many pixels, of which bilinear resizing then leaves most out.
    """
    if wanted is None:
        return 1
    for by in (8, 4, 2):
        if all(-(-side // by) * 10 >= goal * 9 for side, goal in zip(size, wanted, strict=True)):
            return by
    return 1


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
    try:
        return _by_simplejpeg(data, size, gray=gray, dct=dct, shrink=shrink, strict=False)
    except ValueError as error:
        raise broken("jpeg", f'{error}; dct="accurate" is more patient') from error


def _by_simplejpeg(data: bytes, size: Size, *, gray: bool, dct: Dct, shrink: int, strict: bool) -> U8:
    height, width = (-(-side // shrink) for side in size)
    pixels: U8 = _simplejpeg().decode_jpeg(
        data,
        "GRAY" if gray else "RGB",
        fastdct=dct == "fast",
        min_height=height,
        min_width=width,
        # As much as the header says that we read: if the library finds a larger image, it must not take more.
        buffer=np.empty(height * width * (1 if gray else 3), np.uint8),
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
