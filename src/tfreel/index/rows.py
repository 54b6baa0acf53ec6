"""Single rows of an index, read from its sidecar when they are wanted.

Whoever picks records from all over a very large set wants a few of each file, and the next time others. To
load whole indexes for them would take longer than all the rest. A mapped file would do it too, but kills the
process if somebody cuts it short.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable

import numpy as np

from tfreel.index.sidecar import HEADER_BYTES, ROW_BYTES, U64, FileIndex, Header
from tfreel.storage.paths import naming

_PAGE_BYTES = 4096
ARE_POSSIBLE = sys.byteorder == "little"  # as the columns of a sidecar are


class Rows:
    """The rows of one index that were wanted, at their places among all the others, which take no memory.

    Args:
        sidecar: The sidecar, which was checked before.
        stamp: What `stamp_of` said then.
        promise: Its header.
        load: Gives the whole index, checked again: for a sidecar that is not the same any more.
    """

    def __init__(
        self, sidecar: str, stamp: tuple[int, int], promise: Header, load: Callable[[], FileIndex]
    ) -> None:
        self._sidecar = sidecar
        self._stamp = stamp
        self._load = load
        count = promise.records
        self._memory = mmap.mmap(-1, max(1, count * ROW_BYTES), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            self._memory.madvise(mmap.MADV_NOHUGEPAGE)
        self._is_there = np.zeros(-(-count * ROW_BYTES // _PAGE_BYTES), np.bool_)
        self.nbytes = 0
        self.index = FileIndex(
            codec=promise.codec,
            size=promise.size,
            mtime_ns=promise.mtime_ns,
            stream_bytes=promise.stream_bytes,
            offsets=np.frombuffer(self._memory, np.uint64, count),
            lengths=np.frombuffer(self._memory, np.uint64, count, 8 * count),
            checksums=np.frombuffer(self._memory, np.uint32, count, 16 * count),
        )

    def want(self, picks: U64) -> None:
        """Sees to it that the rows `picks` are there."""
        count = len(self.index)
        places = picks.astype(np.int64)
        if len(places) and not 0 <= places.min() <= places.max() < count:
            raise IndexError("record index out of range")
        starts = np.concatenate([8 * places, 8 * (count + places), 16 * count + 4 * places])
        pages = np.unique(starts // _PAGE_BYTES)
        missing = pages[~self._is_there[pages]]
        if len(missing):
            self._read(missing)
            self._is_there[missing] = True
            self.nbytes = int(np.count_nonzero(self._is_there)) * _PAGE_BYTES

    def _read(self, pages: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        with naming(self._sidecar):
            descriptor = os.open(self._sidecar, os.O_RDONLY | os.O_CLOEXEC)
            try:
                whole = stamp_of(os.fstat(descriptor)) == self._stamp and all(
                    self._read_run(descriptor, int(run[0]), int(run[-1]) + 1)
                    for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1)
                )
            finally:
                os.close(descriptor)
        if not whole:
            self._read_all()

    def _read_run(self, descriptor: int, first: int, end: int) -> bool:
        begin, end = first * _PAGE_BYTES, min(end * _PAGE_BYTES, len(self._memory))
        with memoryview(self._memory) as memory:
            while begin < end:
                got = os.preadv(descriptor, [memory[begin:end]], HEADER_BYTES + begin)
                if not got:
                    return False
                begin += got
        return True

    def _read_all(self) -> None:
        """Another one has its name by now: it is as good, if it says the same."""
        index = self._load()
        columns = index.offsets.tobytes() + index.lengths.tobytes() + index.checksums.tobytes()
        self._memory[: len(columns)] = columns
        self._is_there[:] = True


def stamp_of(found: os.stat_result) -> tuple[int, int]:
    """What tells whether a sidecar is still the one that was checked."""
    return found.st_mtime_ns, found.st_ino
