"""Pictures on their way into a record: kept as they are, unless something else is asked for."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tfreel.inference.content import IMAGES, NAMES, content_of
from tfreel.packing.source import Listing, RejectError

SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".avif")
_SHORT = {"jpg": "jpeg", "jpe": "jpeg", "tif": "tiff"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureOptions:
    """What to do with pictures. The default keeps the bytes of each file.

    Attributes:
        store: ``"encoded"`` keeps pictures as files; ``"raw"`` decoded, with shape and dtype.
        resize: ``(height, width)``, or a number for the shorter side.
        to: The format to encode in again.
        quality: Of JPEG and WebP.
        mode: Colours: ``"rgb"``, ``"gray"``, or ``"keep"`` what is there.
        orient: Turn pictures as their EXIF tag says.
        max_pixels: More than so many are refused.
    """

    store: Literal["encoded", "raw"] = "encoded"
    resize: tuple[int, int] | int | None = None
    to: Literal["jpeg", "png", "webp"] | None = None
    quality: int | None = None
    mode: Literal["rgb", "gray", "keep"] = "keep"
    orient: bool = False
    max_pixels: int = 89_478_485


class Pictures:
    """Makes the features of a picture. Threads may share it."""

    def __init__(self, options: PictureOptions) -> None:
        self._options = options

    def features(self, data: bytes, name: str) -> dict[str, object]:
        """What a record says of a picture: its bytes, format and size.

        Raises:
            RejectError: It is no picture, or not one that can be taken.
        """
        found = content_of(data)
        if found.kind not in IMAGES:
            raise RejectError(f"not a picture: {NAMES[found.kind]}")
        return {
            "image/encoded": data,
            "image/format": found.kind,
            "image/height": found.height,
            "image/width": found.width,
            "image/filename": os.fsencode(name),
        }


class PictureListing(Listing):
    """A source of picture files."""

    def remarks(self, index: int, row: dict[str, object]) -> Sequence[str]:
        suffix = posixpath.splitext(self.items[index].name)[1].lower().removeprefix(".")
        kind = row.get("image/format")
        if kind is None or kind == _SHORT.get(suffix, suffix):
            return ()
        return (f"is a {NAMES[str(kind)]} file, whatever its name says",)
