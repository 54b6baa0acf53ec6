"""Image files written by hand, of the kinds that libraries do not write."""

from __future__ import annotations

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pictures import chunk

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
PNG_KINDS = [(colour, bits) for colour in _CHANNELS for bits in (1, 2, 4, 8, 16) if colour == 0 or bits >= 8]
PNG_KINDS = [kind for kind in PNG_KINDS if kind != (3, 16)] + [(3, 1), (3, 2), (3, 4)]


def png_values(colour: int, bits: int, height: int, width: int) -> npt.NDArray[Any]:
    return np.random.default_rng(bits).integers(0, 1 << bits, (height, width, _CHANNELS[colour]))


def png(
    colour: int,
    bits: int,
    *,
    size: tuple[int, int] = (13, 11),
    before: bytes = b"",
    after: bytes = b"",
    interlaced: bool = False,
) -> bytes:
    """A PNG of random values, of any kind, with other chunks before and after the palette."""
    values = png_values(colour, bits, *size)
    parts = [values[y::dy, x::dx] for y, x, dy, dx in _PASSES] if interlaced else [values]
    rows = b"".join(b"\0" + _packed(row, bits) for part in parts if part.size for row in part)
    header = struct.pack(">IIBBBBB", size[1], size[0], bits, colour, 0, 0, interlaced)
    palette = np.random.default_rng(1).integers(0, 256, 3 << bits, dtype=np.uint8) if colour == 3 else None
    chunks = [chunk(b"IHDR", header), before]
    if palette is not None:
        chunks.append(chunk(b"PLTE", palette.tobytes()))
    chunks += [after, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def transparency(colour: int, bits: int, size: tuple[int, int] = (13, 11)) -> bytes:
    """A chunk that makes the first pixel transparent, or two colours of a palette."""
    first = png_values(colour, bits, *size)[0, 0].tolist()
    return chunk(b"tRNS", bytes([7, 200]) if colour == 3 else struct.pack(f">{len(first)}H", *first))


def _packed(row: npt.NDArray[Any], bits: int) -> bytes:
    if bits == 16:
        return row.astype(">u2").tobytes()
    spread = np.unpackbits(row.reshape(-1, 1).astype(np.uint8), axis=1)[:, 8 - bits :]
    return np.packbits(spread.ravel()).tobytes()


class Frame(NamedTuple):
    """A picture of a GIF: where it lies, its numbers of colours, and what to do with it."""

    left: int
    top: int
    indices: npt.NDArray[Any]
    transparent: int | None = None
    disposal: int = 0
    own_colours: bool = False
    interlaced: bool = False


COLOURS = np.random.default_rng(2).integers(0, 256, (256, 3), dtype=np.uint8)


def gif(frames: list[Frame], *, size: tuple[int, int] = (4, 5), common: bool = True) -> bytes:
    data = b"GIF89a" + struct.pack("<HHBBB", size[1], size[0], 0xF7 if common else 0x70, 0, 0)
    data += COLOURS.tobytes() if common else b""
    return data + b"".join(map(_frame, frames)) + b";"


def _frame(frame: Frame) -> bytes:
    flags = frame.disposal << 2 | (frame.transparent is not None)
    control = b"\x21\xf9\x04" + struct.pack("<BHBB", flags, 10, frame.transparent or 0, 0)
    height, width = frame.indices.shape
    kind = (0x87 if frame.own_colours else 0) | (0x40 if frame.interlaced else 0)
    picture = b"," + struct.pack("<HHHHB", frame.left, frame.top, width, height, kind)
    if frame.own_colours:
        picture += COLOURS[::-1].tobytes()
    rows = frame.indices
    if frame.interlaced:
        rows = np.concatenate([rows[0::8], rows[4::8], rows[2::4], rows[1::2]])
    return control + picture + _uncompressed(rows.ravel().tolist())


def _uncompressed(indices: list[int]) -> bytes:
    """What LZW calls compressed: every number by itself, and the table emptied before it would grow."""
    codes = [256]
    for i, index in enumerate(indices):
        codes += [index, 256] if i % 250 == 249 else [index]
    bits = "".join(f"{code:09b}"[::-1] for code in [*codes, 257])
    body = int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")
    blocks = [body[i : i + 255] for i in range(0, len(body), 255)]
    return b"\x08" + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def indices(height: int, width: int) -> npt.NDArray[Any]:
    return np.random.default_rng(height * width).integers(0, 5, (height, width))


GIFS = {
    "one": [Frame(0, 0, indices(4, 5))],
    "two": [Frame(0, 0, indices(4, 5)), Frame(0, 0, indices(4, 5), own_colours=True)],
    "transparent": [Frame(0, 0, indices(4, 5), 2)],
    "transparent later": [Frame(0, 0, indices(4, 5)), Frame(1, 1, indices(2, 3), 1, own_colours=True)],
    "first is smaller": [Frame(1, 1, indices(2, 3)), Frame(0, 0, indices(4, 5), 3)],
    "disposal": [
        Frame(0, 0, indices(4, 5), None, 2),
        Frame(1, 1, indices(2, 3), None, 3),
        Frame(2, 0, indices(3, 3), 0),
    ],
    "interlaced": [Frame(0, 0, indices(9, 5), interlaced=True)],
    "outside": [Frame(3, 3, indices(2, 3))],
    "partly outside": [Frame(0, 0, indices(4, 5)), Frame(3, 3, indices(2, 3))],
    "larger than the screen": [Frame(0, 0, indices(6, 7))],
}


def bmp(bits: int, *, size: tuple[int, int] = (5, 7), upside_down: bool = False, header: int = 40) -> bytes:
    """A BMP of random values; the usual order of its rows is from below."""
    height, width = size
    stride = (width * bits + 31) // 32 * 4
    rows = np.random.default_rng(bits).integers(0, 256, height * stride, dtype=np.uint8).tobytes()
    palette = COLOURS.tobytes().ljust(1024, b"\0") if bits <= 8 else b""
    begin = 14 + header + len(palette)
    facts = (header, width, -height if upside_down else height, 1, bits, 0, len(rows), 0, 0, 0, 0)
    front = b"BM" + struct.pack("<IHHI", begin + len(rows), 0, 0, begin) + struct.pack("<IiiHHIIiiII", *facts)
    return front + b"\0" * (header - 40) + palette + rows
