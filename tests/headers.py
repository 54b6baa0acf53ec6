"""The beginnings of images and tensors, made by hand: as much of them as says what they are."""

from __future__ import annotations

import struct
import zlib


def jpeg(width: int = 640, height: int = 480) -> bytes:
    app0 = b"\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    table = b"\xff\xc4\x00\x04\x00\x00"  # a marker in the range of those with a size, but without one
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + app0 + table + frame + b"\xff\xda\x00\x0c"


def png(width: int = 640, height: int = 480) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


def webp(chunk: bytes, payload: bytes) -> bytes:
    body = b"WEBP" + chunk + struct.pack("<I", len(payload)) + payload
    return b"RIFF" + struct.pack("<I", len(body)) + body


def bmp(width: int = 640, height: int = -480) -> bytes:
    return b"BM" + struct.pack("<IIIIiiHH", 1000, 0, 54, 40, width, height, 1, 24)


def tiff(order: str = "<") -> bytes:
    magic = b"II*\0" if order == "<" else b"MM\0*"
    tags = [
        struct.pack(order + "HHII", 254, 4, 1, 0),
        struct.pack(order + "HHIHH", 256, 3, 1, 640, 0),
        struct.pack(order + "HHII", 257, 4, 1, 480),
    ]
    return magic + struct.pack(order + "IH", 8, len(tags)) + b"".join(tags) + bytes(4)


def tensor_proto(dtype: int, shape: list[int], content: bytes, field: int = 4) -> bytes:
    """As TensorFlow serializes it; only for lengths below 128."""
    dims = b"".join(b"\x12" + bytes([len(dim)]) + dim for dim in (b"\x08" + bytes([n]) for n in shape))
    rest = bytes([field << 3 | 2, len(content)]) + content if content else b""
    return bytes([8, dtype, 0x12, len(dims)]) + dims + rest
