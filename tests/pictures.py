"""Small pictures of every kind, for tests of images."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image


def colours(height: int = 20, width: int = 30, seed: int = 0) -> npt.NDArray[np.uint8]:
    """Smooth colours with a little noise, as a photo has them."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (4, 4, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)).astype(int)
    return np.clip(smooth + rng.integers(-6, 7, smooth.shape), 0, 255).astype(np.uint8)


def saved(image: Image.Image | npt.NDArray[Any], kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    picture = image if isinstance(image, Image.Image) else Image.fromarray(image)
    picture.save(out, kind, **options)
    return out.getvalue()


def jpeg(height: int = 20, width: int = 30, *, seed: int = 0, mode: str = "RGB", **options: Any) -> bytes:
    return saved(Image.fromarray(colours(height, width, seed)).convert(mode), "JPEG", **options)


def ycck() -> bytes:
    """A JPEG with inks stored as luminance, colours and black, as Photoshop does: a flag says so."""
    data = jpeg(mode="CMYK")
    flag = data.index(b"Adobe") + 11
    return data[:flag] + b"\2" + data[flag + 1 :]


def palette_png(ids: npt.NDArray[np.uint8], colormap: npt.NDArray[np.uint8], **options: Any) -> bytes:
    image = Image.frombytes("P", ids.shape[::-1], ids.tobytes())
    image.putpalette(colormap.tobytes())
    return saved(image, "PNG", **options)


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def raw_png(values: npt.NDArray[np.uint8], bits: int, *, colour: int = 0, size: Any = None) -> bytes:
    """A PNG written by hand, of values of 1, 2, 4 or 8 bits in one channel."""
    height, width = size or values.shape
    rows = b"".join(b"\0" + _packed(row, bits) for row in values)
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _packed(row: npt.NDArray[np.uint8], bits: int) -> bytes:
    spread = np.unpackbits(row[:, None], axis=1)[:, 8 - bits :]
    return np.packbits(spread.ravel()).tobytes()


def with_orientation(orientation: int, kind: str = "JPEG", **options: Any) -> bytes:
    exif = Image.Exif()
    exif[274] = orientation
    return saved(colours(), kind, exif=exif.tobytes(), **options)


IDS = np.arange(200, dtype=np.uint8).reshape(10, 20)
ALPHA = np.dstack([colours(), np.full((20, 30), 7, np.uint8)])
