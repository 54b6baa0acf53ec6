"""Records of more than 2 GiB: frames have 64-bit lengths, messages have not."""

from __future__ import annotations

import io
import mmap
import os
import struct
from typing import TYPE_CHECKING

import google_crc32c
import pytest

import tfreel

from corpus import frame, header

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (1 << 31) + 5
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
PIECE = bytes(1 << 24)


def masked_crc_of_zeros(size: int) -> int:
    crc = 0
    while size:
        piece = PIECE[: min(size, len(PIECE))]
        crc = google_crc32c.extend(crc, piece)
        size -= len(piece)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class Ends(io.RawIOBase):
    """A file that counts what is written, and keeps both ends."""

    def __init__(self) -> None:
        self.size = 0
        self.first = b""
        self.last = b""

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview) -> int:  # type: ignore[override]
        taken = memoryview(data).cast("B")[: 1 << 24]
        self.first = (self.first + taken[:64])[:64]
        self.last = (self.last + taken[-64:])[-64:]
        self.size += len(taken)
        return len(taken)


@pytest.mark.skipif(MEMORY < 6 << 30, reason="a reader holds the record, of 2 GiB")
def test_a_record_of_more_than_2_gib_is_written_and_read(tmp_path: Path) -> None:
    footer = struct.pack("<I", masked_crc_of_zeros(SIZE))
    out = Ends()
    with mmap.mmap(-1, SIZE) as memory, memoryview(memory) as record, tfreel.Writer(out) as writer:
        writer.write(record)  # pages of zeros that nobody wrote to: they take no memory
        writer.write(b"next")
    assert out.size == SIZE + 16 + 20
    assert out.first[:12] == header(SIZE)
    assert out.last[-24:] == footer + frame(b"next")
    path = tmp_path / "sparse.tfrecord"
    with path.open("wb") as file:
        file.write(header(SIZE))
        file.seek(12 + SIZE)
        file.write(footer + frame(b"next"))
    report = tfreel.verify(path, threads=1)
    assert (report.records, report.faults) == (2, [])


def test_a_message_of_more_than_2_gib_is_not_made() -> None:
    with mmap.mmap(-1, SIZE) as memory, memoryview(memory) as value:
        with pytest.raises(ValueError, match="2 GiB"):
            tfreel.encode({"a": value})
        out = Ends()
        with tfreel.Writer(out) as writer:
            with pytest.raises(ValueError, match="2 GiB"):
                writer.write({"a": value})
            writer.write(b"next")
    assert out.size == 20
