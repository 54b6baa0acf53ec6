"""What a bytes value is, told from its first bytes: an image, a tensor, text, or something else.

Nothing here believes what it reads. Every step is checked against the length of the value, every walk has an
end, and a value that only begins like something is what it can be shown to be: never an exception.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfreel.inference.tensors import serialized_tensor

_SEGMENT = struct.Struct(">BBH")  # two bytes of a marker, and the length that follows it
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MOST_SEGMENTS = 4096  # of a JPEG before its size; real ones have a few dozen
_MOST_ENTRIES = 512  # of a TIFF directory
_HEAD_BYTES = 4096
_CONTROL = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r") + b"\x7f"
_NPY_SHAPE = re.compile(rb"'descr': '([^']{1,16})'.{0,80}?'shape': \(([\d, ]{0,99})\)")

# How each kind is called in a sentence. The keys stand in JSON: never rename one.
NAMES = {
    "jpeg": "JPEG",
    "png": "PNG",
    "gif": "GIF",
    "webp": "WebP",
    "bmp": "BMP",
    "tiff": "TIFF",
    "avif": "AVIF",
    "heic": "HEIC",
    "text": "text",
    "tensor": "serialized tensor",
    "npy": "NumPy array",
    "pickle": "Python pickle",
    "gzip": "gzip data",
    "zip": "zip archive",
    "zstd": "zstandard data",
    "pdf": "PDF",
    "wav": "WAV audio",
    "flac": "FLAC audio",
    "ogg": "Ogg audio",
    "mp3": "MP3 audio",
    "mp4": "MP4 video",
    "binary": "binary",
    "empty": "empty",
}
IMAGES = frozenset({"jpeg", "png", "gif", "webp", "bmp", "tiff", "avif", "heic"})


@dataclass(frozen=True, slots=True)
class Content:
    """What one bytes value is.

    Attributes:
        kind: A key of `NAMES`.
        width: Of an image, if its header says so.
        height: Of an image, if its header says so.
        dtype: Of the values of a tensor or array.
        shape: Of a tensor or array.
    """

    kind: str
    width: int | None = None
    height: int | None = None
    dtype: str | None = None
    shape: tuple[int, ...] | None = None


def content_of(value: bytes) -> Content:
    """What this value is, as far as it can be told."""
    if not value:
        return Content("empty")
    for magic, kind, measure in _MAGIC:
        if value.startswith(magic):
            found = measure(value, kind)
            if found is not None:
                return found
    tensor = serialized_tensor(value)
    if tensor is not None:
        return Content("tensor", dtype=tensor.dtype, shape=tensor.shape)
    return Content("text" if is_text(value) else "binary")


def is_text(value: bytes) -> bool:
    """Whether this is UTF-8 without control characters, other than white space."""
    # Most binary values give themselves away at once; of the others, the quickest way through them all.
    if len(value[:_HEAD_BYTES].translate(None, _CONTROL)) < min(len(value), _HEAD_BYTES):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return len(value.translate(None, _CONTROL)) == len(value)


def _image(kind: str, size: tuple[int, int] | None) -> Content | None:
    """The image; None if its header does not hold what it must: then it only begins like one."""
    if size is None or not all(size):
        return None
    return Content(kind, *size)


def _plain(value: bytes, kind: str) -> Content | None:
    del value
    return Content(kind)


def _unpacked(form: str, value: bytes, offset: int) -> tuple[Any, ...] | None:
    """The numbers at an offset; None if the value ends before."""
    if offset < 0 or offset + struct.calcsize(form) > len(value):
        return None
    return struct.unpack_from(form, value, offset)


def jpeg_segments(value: bytes) -> Iterator[tuple[int, int, int]]:
    """The segments of a JPEG in front of its pixels: the marker, and where its content begins and ends.

    They are claims of the value: an end may lie behind that of the value.
    """
    offset = 2
    for _ in range(_MOST_SEGMENTS):
        try:
            mark, marker, length = _SEGMENT.unpack_from(value, offset)
        except struct.error:  # it ends before
            return
        if mark != 0xFF:
            return
        if marker == 0xFF:  # a fill byte
            offset += 1
            continue
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:  # these stand alone
            offset += 2
            continue
        if marker == 0xDA or length < 2:
            return
        yield marker, offset + 4, offset + 2 + length
        offset += 2 + length


def is_jpeg_frame(marker: int) -> bool:
    """Whether the segment with this marker holds the size."""
    return marker in _FRAMES


def _jpeg(value: bytes, kind: str) -> Content | None:
    """Walks from segment to segment up to the one with the size (ITU T.81, B.2.2)."""
    for marker, begin, _ in jpeg_segments(value):
        if is_jpeg_frame(marker):
            size = _unpacked(">HH", value, begin + 1)
            return None if size is None else Content(kind, size[1] or None, size[0] or None)
    return Content(kind)  # cut off, or odd: three bytes of magic and a marker are a JPEG all the same


def _png(value: bytes, kind: str) -> Content | None:
    found = _unpacked(">4sII", value, 12)
    return _image(kind, (found[1], found[2]) if found and found[0] == b"IHDR" else None)


def _gif(value: bytes, kind: str) -> Content | None:
    found = _unpacked("<HH", value, 6)
    return _image(kind, (found[0], found[1]) if found else None)


def _riff(value: bytes, kind: str) -> Content | None:
    del kind
    if value[8:12] == b"WAVE":
        return Content("wav")
    if value[8:12] != b"WEBP":
        return None
    measure = _WEBP.get(value[12:16])
    return _image("webp", measure(value) if measure else None)


def _vp8(value: bytes) -> tuple[int, int] | None:
    found = _unpacked("<3sHH", value, 23)
    return (found[1] & 0x3FFF, found[2] & 0x3FFF) if found and found[0] == b"\x9d\x01\x2a" else None


def _vp8l(value: bytes) -> tuple[int, int] | None:
    found = _unpacked("<BI", value, 20)
    if not found or found[0] != 0x2F:
        return None
    return (found[1] & 0x3FFF) + 1, (found[1] >> 14 & 0x3FFF) + 1


def _vp8x(value: bytes) -> tuple[int, int] | None:
    if len(value) < 30:
        return None
    return int.from_bytes(value[24:27], "little") + 1, int.from_bytes(value[27:30], "little") + 1


_WEBP: dict[bytes, Callable[[bytes], tuple[int, int] | None]] = {
    b"VP8 ": _vp8,
    b"VP8L": _vp8l,
    b"VP8X": _vp8x,
}


def _bmp(value: bytes, kind: str) -> Content | None:
    # Two letters are little to go by: the reserved bytes and the size of the header must fit too.
    found = _unpacked("<III", value, 6)
    if found is None or found[0] != 0 or found[2] not in (12, 40, 52, 56, 64, 108, 124):
        return None
    size = _unpacked("<HH" if found[2] == 12 else "<ii", value, 18)
    return _image(kind, (abs(size[0]), abs(size[1])) if size else None)


def tiff_numbers(value: bytes) -> dict[int, int] | None:
    """The first number of each tag in the first directory of a TIFF, or of EXIF data, which is one."""
    order = "<" if value.startswith(b"II") else ">"
    start = _unpacked(f"{order}I", value, 4)
    entries = _unpacked(f"{order}H", value, start[0]) if start else None
    if start is None or entries is None:
        return None
    found: dict[int, int] = {}
    for i in range(min(entries[0], _MOST_ENTRIES)):
        place = start[0] + 2 + 12 * i
        entry = _unpacked(f"{order}HHII", value, place)
        if entry is None:
            break
        tag, form, count, elsewhere = entry
        # Two short numbers fit into the entry; more of them lie elsewhere.
        number = (
            _unpacked(f"{order}H", value, elsewhere if count > 2 else place + 8) if form == 3 else [elsewhere]
        )
        if form in (3, 4) and number is not None:
            found[tag] = number[0]
    return found


def _tiff(value: bytes, kind: str) -> Content | None:
    numbers = tiff_numbers(value)
    if numbers is None:
        return None
    return _image(kind, (numbers.get(256, 0), numbers.get(257, 0))) or Content(kind)


def _npy(value: bytes, kind: str) -> Content | None:
    found = _NPY_SHAPE.search(value, 0, 256)
    if found is None:
        return Content(kind)
    shape = tuple(int(part) for part in found[2].split(b",") if part.strip().isdigit())
    return Content(kind, dtype=found[1].decode("latin-1"), shape=shape)


def _pickle(value: bytes, kind: str) -> Content | None:
    return Content(kind) if value[1:2] in b"\2\3\4\5" and len(value) > 2 and value.endswith(b".") else None


def _boxes(value: bytes, kind: str) -> Content | None:
    """The family of MP4: the first box names the kind."""
    if value[4:8] != b"ftyp":
        return None
    return Content(
        {b"avif": "avif", b"avis": "avif", b"heic": "heic", b"mif1": "heic"}.get(value[8:12], kind)
    )


_Measure = Callable[[bytes, str], Content | None]
_MAGIC: tuple[tuple[bytes, str, _Measure], ...] = (
    (b"\xff\xd8\xff", "jpeg", _jpeg),
    (b"\x89PNG\r\n\x1a\n", "png", _png),
    (b"GIF87a", "gif", _gif),
    (b"GIF89a", "gif", _gif),
    (b"RIFF", "webp", _riff),
    (b"BM", "bmp", _bmp),
    (b"II*\0", "tiff", _tiff),
    (b"MM\0*", "tiff", _tiff),
    (b"\x93NUMPY", "npy", _npy),
    (b"\x80", "pickle", _pickle),
    (b"\x1f\x8b\x08", "gzip", _plain),
    (b"PK\x03\x04", "zip", _plain),
    (b"(\xb5/\xfd", "zstd", _plain),
    (b"%PDF-", "pdf", _plain),
    (b"fLaC", "flac", _plain),
    (b"OggS\0", "ogg", _plain),
    (b"ID3", "mp3", _plain),
    (b"\0\0\0", "mp4", _boxes),
)
