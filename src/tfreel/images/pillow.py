"""Pillow behind a fence: one format at a time, a limit on pixels, one kind of error, and no warnings."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

from tfreel.errors import TfreelError, UnsafeInputError
from tfreel.images.headers import broken, refuse_bomb

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

    from tfreel.images.sizes import Size

_PLUGINS = {
    "jpeg": ("JpegImagePlugin", "JpegImageFile"),
    "png": ("PngImagePlugin", "PngImageFile"),
    "gif": ("GifImagePlugin", "GifImageFile"),
    "webp": ("WebPImagePlugin", "WebPImageFile"),
    "bmp": ("BmpImagePlugin", "BmpImageFile"),
    "tiff": ("TiffImagePlugin", "TiffImageFile"),
    "avif": ("AvifImagePlugin", "AvifImageFile"),
}


def opened(kind: str, data: bytes, max_pixels: int) -> ImageFile:
    """An image of which only the header has been read.

    Raises:
        DecodeError: The header is damaged.
        UnsafeInputError: It has too many pixels.
    """
    with _fence(kind):
        # The class itself, not Image.open: that tries other formats too, and its own limit on pixels is a
        # warning at first, and at last one that cannot be raised for one call alone.
        module, name = _PLUGINS[kind]
        image: ImageFile = getattr(import_module(f"PIL.{module}"), name)(io.BytesIO(data))
        refuse_bomb(kind, *image.size, max_pixels)
        return image


def loaded(
    kind: str,
    data: bytes,
    max_pixels: int,
    *,
    draft: tuple[str, Size] | None = None,
    raw: str | None = None,
) -> ImageFile:
    """An image with its pixels; of several, the first.

    Args:
        kind: The format, as its first bytes tell it.
        data: The image.
        max_pixels: The most that are allowed.
        draft: A mode and a size for a JPEG decoder that may do less work than all.
        raw: How to take the bytes of each pixel, in place of what Pillow would do with them.

    Raises:
        DecodeError: It is damaged, or ends too early.
        UnsafeInputError: It has too many pixels.
    """
    image = opened(kind, data, max_pixels)
    with _fence(kind):
        if draft is not None:
            mode, (height, width) = draft
            image.draft(mode, (width, height))
        if raw is not None:
            image.tile = [tile._replace(args=raw) for tile in image.tile]
        image.load()
        return image


@contextmanager
def _fence(kind: str) -> Iterator[None]:
    with _quiet():
        try:
            yield
        except (TfreelError, ImportError):
            raise
        except Exception as error:
            # Damaged bytes come out of Pillow as OSError, SyntaxError, ValueError, struct.error, IndexError…
            why = str(error) or type(error).__name__
            if type(error).__name__ == "DecompressionBombError":
                raise UnsafeInputError(why, kind="image_too_large") from error
            raise broken(kind, why) from error


# Warnings are not for whoever reads a record: what is bad is an error, and the rest is nobody's business.
_FILTER = ("ignore", None, Warning, re.compile(r"PIL\b|tfreel\.images\b"), 0)


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings from here.

    `warnings.catch_warnings` puts back a whole list, which goes wrong as soon as two threads use it. To put
    in one filter and take it out again does not.
    """
    warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        with suppress(ValueError):  # somebody put another list there meanwhile
            warnings.filters.remove(_FILTER)  # type: ignore[attr-defined]
