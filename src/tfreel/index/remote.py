"""Records of an object by position: the ranges that they lie in are fetched together, and read like files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self

import numpy as np

from tfreel import _core
from tfreel.index.sidecar import U64, FileIndex
from tfreel.storage.remote.objects import ObjectFile

_FRAME_BYTES = 16
# A gap this wide is read sooner than another request is answered. Where that would be to read far more than
# is wanted, narrower ones: bytes cost as well.
_MERGE_BYTES = (1 << 20, 1 << 18, 1 << 16)
_MOST_TIMES = 8
_FREE_BYTES = 16 << 20
_SPAN_BYTES = 16 << 20
_ENOUGH_BYTES = 64 << 20


class RemoteRecords:
    """The records of an object. What is fetched is checked as everything is, against checksums and index."""

    def __init__(self, file: ObjectFile, index: FileIndex) -> None:
        self._file = file
        self._index = index

    def fetch(self, picks: U64) -> list[_core.Block] | _core.Fault:
        """The records at `picks`, or the first of them if they are very many; or what is wrong with one."""
        picks = self._enough(picks)
        begins, ends = spans(self._index, picks)
        with _Scratch(self._file.size) as scratch:
            scratch.fill(begins, self._file.read_ranges(begins, ends))
            return self._blocks(scratch.descriptor, picks)

    def forget(self, picks: U64) -> None:
        """Sees to it that these records come from the store next time."""
        for begin, end in zip(*spans(self._index, picks), strict=True):
            self._file.forget_cache(begin, end - begin)

    def _enough(self, picks: U64) -> U64:
        sizes = np.cumsum(self._index.lengths[picks] + np.uint64(_FRAME_BYTES))
        return picks[: max(1, int(np.searchsorted(sizes, _ENOUGH_BYTES, "right")))]

    def _blocks(self, descriptor: int, picks: U64) -> list[_core.Block] | _core.Fault:
        index = self._index
        records = _core.IndexedFile(descriptor, index.offsets, index.lengths, index.checksums)
        blocks = []
        while len(picks):
            found = records.fetch(picks)
            if not isinstance(found, _core.Block):
                return found
            blocks.append(found)
            picks = picks[len(found) :]
        return blocks


class _Scratch:
    """Ranges of an object at their places in a file without a name, most of which is not there.

    What reads records reads them from descriptors: so there is one way to check a record, wherever it lies.
    """

    def __init__(self, size: int) -> None:
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("tfreel")
        else:
            import tempfile

            with tempfile.TemporaryFile() as file:
                self.descriptor = os.dup(file.fileno())
        os.ftruncate(self.descriptor, size)

    def fill(self, begins: Sequence[int], pieces: Sequence[memoryview]) -> None:
        for begin, piece in zip(begins, pieces, strict=True):
            written = 0
            while written < len(piece):
                written += os.pwrite(self.descriptor, piece[written:], begin + written)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


def spans(index: FileIndex, picks: U64) -> tuple[list[int], list[int]]:
    """The ranges to fetch for some records: what lies close together in one, but none of them very long."""
    order = np.unique(picks)
    begins = index.offsets[order].astype(np.int64)
    ends = begins + index.lengths[order].astype(np.int64) + _FRAME_BYTES
    most = _MOST_TIMES * int((ends - begins).sum()) + _FREE_BYTES
    for gap in _MERGE_BYTES:
        apart = np.flatnonzero(begins[1:] - ends[:-1] > gap) + 1
        firsts = begins[np.concatenate([[0], apart])]
        lasts = ends[np.concatenate([apart, [len(ends)]]) - 1]
        if int((lasts - firsts).sum()) <= most:
            break
    cut_begins: list[int] = []
    cut_ends: list[int] = []
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        cuts = [*range(first, last, _SPAN_BYTES), last]
        cut_begins += cuts[:-1]
        cut_ends += cuts[1:]
    return cut_begins, cut_ends
