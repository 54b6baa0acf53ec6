"""`decode` and `probe`: the bytes of an image in, its pixels or the facts of its header out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.images import modes
from tfreel.images.headers import ImageInfo, Pixels, kind_of, pixels_of, refuse_bomb
from tfreel.images.jpeg import Dct, decode_jpeg, shrinking
from tfreel.images.modes import MODES, Mode
from tfreel.images.pillow import loaded, opened
from tfreel.images.sizes import Size, target

MAX_PIXELS = 89_478_485  # a quarter of a gigabyte of RGB; where Pillow begins to warn
ALWAYS_UPRIGHT = ("tiff", "avif")  # Pillow turns these itself


def probe(data: bytes, *, max_pixels: int = MAX_PIXELS) -> ImageInfo:
    """What an image is, from its header: nothing is decoded.

    Args:
        data: The image, or its beginning: for most formats, a few kilobytes tell everything.
        max_pixels: The most that are allowed.

    Raises:
        DecodeError: It is no image, or its header is damaged.
        UnsafeInputError: It has more pixels than are allowed.

    Example:
        >>> import numpy as np
        >>> from tfreel import images
        >>> images.probe(images.encode(np.zeros((48, 64, 3), np.uint8), "jpeg"))
        ImageInfo(format='jpeg', width=64, height=48, channels=3, bits=8, palette=False, orientation=1)
    """
    found = kind_of(data)
    if found.width is None or found.height is None:
        width, height = opened(found.kind, data, max_pixels).size
    else:
        width, height = found.width, found.height
    refuse_bomb(found.kind, width, height, max_pixels)
    return ImageInfo(found.kind, width, height, *pixels_of(found.kind, data)[:4])


def decode(
    data: bytes,
    mode: Mode = "rgb",
    *,
    orient: bool = False,
    dct: Dct = "accurate",
    max_pixels: int = MAX_PIXELS,
) -> npt.NDArray[Any]:
    """The pixels of an image: JPEG, PNG, GIF, WebP, BMP, TIFF or AVIF, as its first bytes tell.

    Args:
        data: The image.
        mode: ``"rgb"`` gives (height, width, 3) of uint8 and ``"gray"`` (height, width, 1), whatever the
            image holds; transparency is left out, and of 16 bits the upper 8 stay. ``"keep"`` gives what it
            holds: 1 to 4 channels, uint16 for gray of 16 bits; of a palette, its colours, and RGB for CMYK.
            ``"labels"`` is for masks: (height, width) of class ids, which for a palette are its indices.
            What cannot hold ids, a JPEG above all, is refused.
        orient: Turn it upright, as the camera noted in EXIF. TensorFlow does not. (TIFF and AVIF are
            always upright.)
        dct: Of a JPEG: ``"fast"`` gives the very pixels of TensorFlow's ``decode_jpeg`` with its defaults,
            which differ by a few steps from those of all others. It needs simplejpeg.
        max_pixels: The most that are allowed, before anything is allocated for them.

    Raises:
        DecodeError: It is no image of these formats, is damaged, or ends too early.
        UnsafeInputError: It has more pixels than are allowed.
        ValueError: Its values are not labels, if these were asked for.

    Example:
        >>> import numpy as np
        >>> from tfreel import images
        >>> png = images.encode(np.full((2, 3, 3), 200, np.uint8), "png")
        >>> images.decode(png).shape, images.decode(png, "gray")[0, 0]
        ((2, 3, 3), array([200], dtype=uint8))
    """
    return Reading(mode=mode, orient=orient, dct=dct, max_pixels=max_pixels).pixels(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How images are to be decoded. The fields are the arguments of `decode`."""

    mode: Mode
    orient: bool = False
    dct: Dct = "accurate"
    max_pixels: int = MAX_PIXELS

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        if self.dct not in ("accurate", "fast"):
            raise ValueError(f'dct must be "accurate" or "fast", not {self.dct!r}')

    def pixels(self, data: bytes, *, enough: int | Size | None = None) -> npt.NDArray[Any]:
        """What `decode` gives. Where a size is enough, a JPEG may come smaller, but not much below that."""
        found = kind_of(data)
        kind, size = found.kind, (found.height or 0, found.width or 0)
        refuse_bomb(kind, size[1], size[0], self.max_pixels)
        stored = pixels_of(kind, data)
        turn = stored.orientation if self.orient and kind not in ALWAYS_UPRIGHT else 1
        if kind == "jpeg" and self.mode != "labels" and all(size) and not stored.inks:
            wanted = None if enough is None else _turned(target(enough, *_turned(size, turn)), turn)
            pixels = self._of_jpeg(data, size, stored, shrinking(size, wanted))
        else:
            pixels = self._by_pillow(kind, data, stored)
        return upright(pixels, turn)

    def _of_jpeg(self, data: bytes, size: Size, stored: Pixels, shrink: int) -> npt.NDArray[Any]:
        gray = self.mode == "gray" or (self.mode == "keep" and stored.channels == 1)
        return decode_jpeg(data, size, gray=gray, dct=self.dct, shrink=shrink, max_pixels=self.max_pixels)

    def _by_pillow(self, kind: str, data: bytes, stored: Pixels) -> npt.NDArray[Any]:
        image = loaded(kind, data, self.max_pixels)
        if self.mode == "labels":
            return modes.labels(image, kind, stored.bits)
        return {"rgb": modes.rgb, "gray": modes.gray, "keep": modes.kept}[self.mode](image)


def _turned(size: Size, orientation: int) -> Size:
    return size if orientation < 5 else (size[1], size[0])


def upright(pixels: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """The image as it was seen, of one stored with this orientation."""
    if orientation == 1:
        return pixels
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels)
