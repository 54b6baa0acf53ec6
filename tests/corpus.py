"""Small records, and an independent way to frame them: Google's checksum, Python's struct, Python's zlib."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING

import google_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CODECS = ("none", "gzip", "zlib")
SUFFIXES = {"none": ".tfrecord", "gzip": ".tfrecord.gz", "zlib": ".tfrecord.zlib"}

# Empty ones, one byte, all byte values, a header's worth of zeros, something larger than the rest together.
RECORDS = [b"", b"a", bytes(range(256)), b"\0" * 16, b"", b"the quick brown fox", b"x" * 700]


def masked_crc(data: bytes) -> int:
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def header(length: int) -> bytes:
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", masked_crc(packed))


def frame(payload: bytes) -> bytes:
    return header(len(payload)) + payload + struct.pack("<I", masked_crc(payload))


def frames(records: Iterable[bytes]) -> bytes:
    return b"".join(map(frame, records))


def compress(data: bytes, codec: str) -> bytes:
    if codec == "gzip":
        return gzip.compress(data, mtime=0)
    return zlib.compress(data) if codec == "zlib" else data


def write_file(path: Path, records: Iterable[bytes], codec: str = "none") -> Path:
    """A file made without tfreel."""
    path.write_bytes(compress(frames(records), codec))
    return path


def offsets(records: Iterable[bytes]) -> list[int]:
    """Where each record begins, and where the last one ends."""
    found = [0]
    for record in records:
        found.append(found[-1] + len(record) + 16)
    return found
