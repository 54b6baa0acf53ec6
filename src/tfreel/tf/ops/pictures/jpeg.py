"""JPEG to pixels: those of TensorFlow, whose default is the fast transform of libjpeg-turbo."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfreel.errors import TfreelError
from tfreel.images.decode import MAX_PIXELS
from tfreel.images.headers import refuse_bomb
from tfreel.images.jpeg import Dct, decode_jpeg
from tfreel.images.pillow import loaded
from tfreel.inference.content import is_jpeg_frame, jpeg_segments
from tfreel.tf.errors import InvalidArgumentError, UnimplementedError
from tfreel.tf.ops.pictures import notes
from tfreel.tf.values.handles import Array

_ADOBE = 0xEE  # the segment in which its programs say how they stored the inks
_DCTS: dict[str, Dct] = {"": "fast", "INTEGER_FAST": "fast", "INTEGER_ACCURATE": "accurate"}


@dataclass(frozen=True, slots=True)
class JpegOptions:
    """The options of `tf.io.decode_jpeg`."""

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    dct_method: str = ""

    def __post_init__(self) -> None:
        if self.ratio not in (1, 2, 4, 8):
            raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {self.ratio}")
        if self.dct_method not in _DCTS:
            raise InvalidArgumentError(f"dct_method must be one of {', '.join(map(repr, _DCTS))}")

    @property
    def dct(self) -> Dct:
        """The transform, as the native decoder names it."""
        return _DCTS[self.dct_method]


@dataclass(frozen=True, slots=True)
class _Header:
    height: int
    width: int
    components: int
    adobe: bool

    @property
    def size(self) -> tuple[int, int]:
        return self.height, self.width


def shape_of(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels as they are stored.

    Raises:
        InvalidArgumentError: It is no JPEG, or its header is damaged.
    """
    header = _read(data)
    return header.height, header.width, header.components


def _read(data: bytes) -> _Header:
    adobe = False
    for marker, begin, end in jpeg_segments(data):
        if marker == _ADOBE and data[begin : begin + 5] == b"Adobe":
            adobe = True
        elif is_jpeg_frame(marker) and end <= len(data) and end - begin >= 6:
            height, width, components = struct.unpack_from(">HHB", data, begin + 1)
            return _Header(height, width, components, adobe)
    raise InvalidArgumentError(f"Invalid JPEG data, size {len(data)}")


def decode(data: bytes, options: JpegOptions) -> Array:
    """The pixels.

    Raises:
        InvalidArgumentError: It is damaged, or ends too early.
    """
    header = _read(data)
    try:
        refuse_bomb("jpeg", header.width, header.height, MAX_PIXELS)
        if header.components > 3:
            return _of_inks(data, header, options)
        if options.fancy_upscaling and not options.try_recover_truncated and all(header.size):
            return _usual(data, header, options)
        return _unusual(data, header, options, "GRAY" if _is_gray(header, options) else "RGB")
    except UnimplementedError:
        raise
    except (TfreelError, ValueError) as error:
        raise InvalidArgumentError(
            f"jpeg::Uncompress failed. Invalid JPEG data or crop window: {error}"
        ) from error


def _is_gray(header: _Header, options: JpegOptions) -> bool:
    return options.channels == 1 or (options.channels == 0 and header.components == 1)


def _usual(data: bytes, header: _Header, options: JpegOptions) -> Array:
    gray = _is_gray(header, options)
    dct = options.dct
    try:
        return decode_jpeg(data, header.size, gray=gray, dct=dct, shrink=options.ratio, max_pixels=MAX_PIXELS)
    except ImportError:
        notes.say(notes.NO_FAST_DCT)
    return decode_jpeg(
        data, header.size, gray=gray, dct="accurate", shrink=options.ratio, max_pixels=MAX_PIXELS
    )


def _unusual(data: bytes, header: _Header, options: JpegOptions, colours: str) -> Array:
    try:
        import simplejpeg
    except ImportError as error:
        raise UnimplementedError(
            "options of decode_jpeg other than channels, ratio and dct_method need simplejpeg:"
            ' pip install "tfreel[jpeg]"'
        ) from error
    height, width = (-(-side // options.ratio) for side in header.size)
    pixels: Any = simplejpeg.decode_jpeg(
        data,
        colours,
        fastdct=options.dct == "fast",
        fastupsample=not options.fancy_upscaling,
        min_height=height,
        min_width=width,
        strict=not options.try_recover_truncated,
    )
    made: Array = pixels
    return made


def _of_inks(data: bytes, header: _Header, options: JpegOptions) -> Array:
    """Colours out of four inks, which Adobe's programs store the other way round."""
    if options.channels == 1:
        raise InvalidArgumentError("a JPEG of four inks cannot be decoded to gray")
    inks = _inks(data, header, options).astype(np.uint16)
    if not header.adobe:
        inks = 255 - inks
    return (inks[:, :, :3] * inks[:, :, 3:] // 255).astype(np.uint8)


def _inks(data: bytes, header: _Header, options: JpegOptions) -> Array:
    try:
        return _unusual(data, header, options, "CMYK")
    except UnimplementedError:
        if (options.ratio, options.fancy_upscaling, options.try_recover_truncated) != (1, True, False):
            raise
    if options.dct == "fast":
        notes.say(notes.NO_FAST_DCT)
    return 255 - np.asarray(loaded("jpeg", data, MAX_PIXELS))  # Pillow takes all of them for Adobe's
