"""Random access inside compressed files: any range of the plain stream, without inflating all before it.

With ``rapidgzip`` installed (``pip install 'tfreel[gzip]'``), gzip files are read by it, on all processors.
Otherwise, and for zlib files, snapshots of the inflating state are kept every few megabytes, and a read
inflates from the nearest one.
"""

from __future__ import annotations

import bisect
import importlib.util
import os
import threading
import zlib
from dataclasses import dataclass
from typing import Any, Protocol

from tfreel.compression import Codec
from tfreel.errors import CorruptError
from tfreel.storage.files import LocalFile
from tfreel.threads import thread_count

_SNAPSHOT_BYTES = 1 << 22
_MOST_SNAPSHOTS = 512
_STEP_BYTES = 1 << 18


class Seekable(Protocol):
    """The plain stream of a compressed file, by position."""

    def read(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`: fewer only at the end."""


def open_seekable(file: LocalFile, codec: Codec) -> Seekable:
    """Random access to the plain stream of a compressed file."""
    if codec == "gzip" and importlib.util.find_spec("rapidgzip") is not None:
        return _Rapid(file)
    return Snapshots(file, codec)


class _Rapid:
    """Reads by rapidgzip, which builds its own seek points as it goes."""

    def __init__(self, file: LocalFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._process = 0
        self._reader: Any = None

    def read(self, size: int, offset: int) -> bytes:
        if (
            self._process != os.getpid()
        ):  # its threads, and perhaps our lock, did not follow us through a fork
            self._lock = threading.Lock()
            self._process = os.getpid()
            self._reader = self._open()
        with self._lock:
            self._reader.seek(offset)
            data: bytes = self._reader.read(size)
            return data

    def _open(self) -> Any:
        import rapidgzip

        return rapidgzip.open(
            os.fsencode(self._file.path).decode(errors="surrogateescape"), parallelization=thread_count()
        )


@dataclass(slots=True)
class _Snapshot:
    plain: int  # offset in the plain stream
    compressed: int  # offset of the next compressed byte to feed
    inflater: Any


class Snapshots:
    """Reads by zlib, from the nearest of a bounded number of saved states."""

    def __init__(self, file: LocalFile, codec: Codec) -> None:
        self._file = file
        self._wbits = zlib.MAX_WBITS + (16 if codec == "gzip" else 0)
        self._every = _SNAPSHOT_BYTES
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._saved = [_Snapshot(0, 0, zlib.decompressobj(self._wbits))]
        self._now = _Snapshot(0, 0, zlib.decompressobj(self._wbits))
        self._recent = b""  # the last output: it ends where `_now` stands

    def read(self, size: int, offset: int) -> bytes:
        if self._process != os.getpid():
            self._lock = threading.Lock()
            self._process = os.getpid()
        with self._lock:
            self._go_near(offset)
            while self._now.plain <= offset and self._inflate_some():
                pass
            first = offset - (self._now.plain - len(self._recent))
            parts = [self._recent[first : first + size]]
            missing = size - len(parts[0])
            while missing > 0 and (piece := self._inflate_some()):
                parts.append(piece[:missing])
                missing -= len(parts[-1])
            return b"".join(parts)

    def _go_near(self, offset: int) -> None:
        """Makes sure that what comes next does not lie behind us, and not far ahead either."""
        best = bisect.bisect_right(self._saved, offset, key=lambda snapshot: snapshot.plain) - 1
        saved = self._saved[best]
        if not saved.plain <= self._now.plain or offset < self._now.plain - len(self._recent):
            self._now = _Snapshot(saved.plain, saved.compressed, saved.inflater.copy())
            self._recent = b""

    def _inflate_some(self) -> bytes:
        now = self._now
        while True:
            if now.inflater.eof:
                now.inflater = zlib.decompressobj(self._wbits)  # the next member of a gzip file
            data = self._file.read(_STEP_BYTES, now.compressed)
            try:
                out: bytes = now.inflater.decompress(data, _STEP_BYTES)
            except zlib.error as error:
                raise CorruptError(
                    f"{self._file.path}: compressed data near byte {now.compressed} is damaged ({error})",
                    path=self._file.path,
                    kind="compressed_corrupt",
                ) from None
            now.compressed += len(data) - len(now.inflater.unconsumed_tail) - len(now.inflater.unused_data)
            now.plain += len(out)
            if out:
                self._recent = out
                self._save()
                return out
            if not data:
                return b""

    def _save(self) -> None:
        now = self._now
        if now.plain - self._saved[-1].plain < self._every:
            return
        self._saved.append(_Snapshot(now.plain, now.compressed, now.inflater.copy()))
        if len(self._saved) > _MOST_SNAPSHOTS:  # half as many, twice as far apart
            self._saved = self._saved[::2]
            self._every *= 2
