"""What the header of an image says, read without decoding a pixel and without an image library.

As everywhere, nothing is believed: every step is checked against the length of the bytes, and every walk has
an end.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tfreel.errors import DecodeError, UnsafeInputError
from tfreel.inference.content import NAMES, Content, content_of, is_jpeg_frame, jpeg_segments, tiff_numbers

# What is decoded at all. Image libraries know many more formats, most of them hardly ever looked at.
FORMATS = frozenset({"jpeg", "png", "gif", "webp", "bmp", "tiff", "avif"})
_MOST_CHUNKS = 4096
_WEBP_FRAME_BYTES = 16  # of a picture in an animation, before its own chunks
ORIENTATION = 274  # the tag, in EXIF data and in TIFF
_UPRIGHT = 1


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What `probe` finds in the header of an image.

    Attributes:
        format: ``"jpeg"``, ``"png"``, ``"gif"``, ``"webp"``, ``"bmp"``, ``"tiff"`` or ``"avif"``.
        width: In pixels, as they are stored.
        height: In pixels, as they are stored.
        channels: 1 gray, 2 gray with alpha, 3 colours, 4 colours with alpha; of a palette, those of its
            colours.
        bits: Of one value; of a palette, of one index.
        palette: Whether pixels are numbers of colours in a table, as those of label masks often are.
        orientation: How a camera was held, from 1 (upright) to 8, as EXIF counts.
    """

    format: str
    width: int
    height: int
    channels: int = 3
    bits: int = 8
    palette: bool = False
    orientation: int = _UPRIGHT


class Pixels(NamedTuple):
    """How the pixels of an image are stored: as in `ImageInfo`, and whether as inks of a printer."""

    channels: int
    bits: int = 8
    palette: bool = False
    orientation: int = _UPRIGHT
    inks: bool = False


def kind_of(data: bytes) -> Content:
    """The format of an image, and its size where the header is one that we read.

    Raises:
        DecodeError: It is no image, or of a format that is not decoded.
        TypeError: It is not bytes: text, most often, of a file that was not opened as binary.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        hint = '; a file gives bytes if it is opened with mode "rb"' if isinstance(data, str) else ""
        raise TypeError(f"an image is the bytes of its file, not {type(data).__name__}{hint}")
    content = content_of(data)
    if content.kind not in FORMATS:
        name = NAMES[content.kind]
        what = "no bytes at all" if content.kind == "empty" else f"{name}, of {len(data):,} bytes"
        known = ", ".join(NAMES[kind] for kind in NAMES if kind in FORMATS)
        raise DecodeError(f"not an image: {what}; known are {known}", kind="unknown_image")
    return content


def refuse_bomb(kind: str, width: int, height: int, max_pixels: int) -> None:
    """Stops before anything is allocated for an image that is too large.

    Raises:
        UnsafeInputError: It has more pixels than are allowed.
    """
    if width * height > max_pixels:
        raise UnsafeInputError(
            f"{NAMES[kind]} image claims {width:,} × {height:,} pixels, {width * height:,} in all, and no"
            f" more than {max_pixels:,} are allowed; max_pixels= allows more",
            kind="image_too_large",
        )


def broken(kind: str, why: object) -> DecodeError:
    """The error for an image that cannot be decoded."""
    return DecodeError(f"{NAMES[kind]} image cannot be decoded: {why}", kind="bad_image")


def pixels_of(kind: str, data: bytes) -> Pixels:
    """How the pixels are stored, as far as the header says so."""
    read = _READERS.get(kind)
    try:
        return read(data) if read else Pixels(3)
    except (struct.error, IndexError):  # cut off
        return Pixels(3)


def _exif_orientation(exif: bytes) -> int:
    number = (tiff_numbers(exif) or {}).get(ORIENTATION, _UPRIGHT)
    return number if 1 <= number <= 8 else _UPRIGHT


def _jpeg(data: bytes) -> Pixels:
    orientation = _UPRIGHT
    for marker, begin, end in jpeg_segments(data):
        if marker == 0xE1 and data[begin : begin + 6] == b"Exif\0\0":
            orientation = _exif_orientation(data[begin + 6 : end])
        elif is_jpeg_frame(marker):
            bits, components = data[begin], data[begin + 5]
            # Four of them are the inks of a printer, which are decoded to three colours.
            inks = components > 3
            return Pixels(3 if inks else components, bits, orientation=orientation, inks=inks)
    return Pixels(3, orientation=orientation)


_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}


def _png(data: bytes) -> Pixels:
    bits, colour = data[24], data[25]
    channels, orientation = _PNG_CHANNELS.get(colour, 3), _UPRIGHT
    offset = 33
    for _ in range(_MOST_CHUNKS):
        if offset + 8 > len(data):
            break
        length, name = struct.unpack_from(">I4s", data, offset)
        if name == b"tRNS" and colour == 3:
            channels = 4
        elif name == b"eXIf":
            orientation = _exif_orientation(data[offset + 8 : offset + 8 + length])
        offset += length + 12
    return Pixels(channels, bits, colour == 3, orientation)


def _gif(data: bytes) -> Pixels:
    """Looks for transparency in what stands between the header and the first picture."""
    flags = data[10]
    offset = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    channels = 3
    for _ in range(_MOST_CHUNKS):
        if data[offset] != 0x21:  # no extension
            break
        if data[offset + 1] == 0xF9 and data[offset + 3] & 1:
            channels = 4
        offset += 2
        while data[offset]:
            offset += data[offset] + 1
        offset += 1
    return Pixels(channels, 8, palette=True)


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The chunks of a WebP file: the name, and where its content begins and ends; those of frames too."""
    offset = 12
    for _ in range(_MOST_CHUNKS):
        if offset + 8 > len(data):
            return
        name, length = struct.unpack_from("<4sI", data, offset)
        yield name, offset + 8, offset + 8 + length
        offset += 8 + (_WEBP_FRAME_BYTES if name == b"ANMF" else length + (length & 1))


def _webp(data: bytes) -> Pixels:
    first = data[12:16]
    if first == b"VP8L":
        return Pixels(4 if data[24] & 0x10 else 3)
    if first != b"VP8X":
        return Pixels(3)
    channels, orientation = 4 if data[20] & 0x10 else 3, _UPRIGHT
    for name, begin, end in _webp_chunks(data):
        if name == b"EXIF":
            orientation = _exif_orientation(data[begin:end].removeprefix(b"Exif\0\0"))
    return Pixels(channels, orientation=orientation)


def is_lossless_webp(data: bytes) -> bool:
    """Whether a WebP file, of several pictures the first, holds every value as it was."""
    return next((name for name, _, _ in _webp_chunks(data) if name in (b"VP8 ", b"VP8L")), b"") == b"VP8L"


def _bmp(data: bytes) -> Pixels:
    (header,) = struct.unpack_from("<I", data, 14)
    (bits,) = struct.unpack_from("<H", data, 24 if header == 12 else 28)
    if bits <= 8:
        return Pixels(3, bits, palette=True)
    has_alpha = bits == 32 and header >= 56 and any(data[66:70])
    return Pixels(4 if has_alpha else 3)


def _tiff(data: bytes) -> Pixels:
    numbers = tiff_numbers(data) or {}
    palette = numbers.get(262) == 3
    channels = 3 if palette or numbers.get(262) == 5 else min(4, numbers.get(277, 1))
    orientation = numbers.get(ORIENTATION, _UPRIGHT)
    upright = orientation if 1 <= orientation <= 8 else _UPRIGHT
    return Pixels(channels, numbers.get(258, 1), palette, upright, inks=numbers.get(262) == 5)


_READERS: dict[str, Callable[[bytes], Pixels]] = {
    "jpeg": _jpeg,
    "png": _png,
    "gif": _gif,
    "webp": _webp,
    "bmp": _bmp,
    "tiff": _tiff,
}
TOLD_BY_HEADER = frozenset(_READERS)  # the formats of which `pixels_of` knows more than a guess
