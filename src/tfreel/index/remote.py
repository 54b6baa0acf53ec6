"""Records of an object by position: the ranges that they lie in are fetched together, and read like files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self

import numpy as np

from tfreel import _core
from tfreel.index.sidecar import U64, FileIndex
from tfreel.index.spans import Bounds, Span, Spans
from tfreel.storage.remote.objects import ObjectFile

_FRAME_BYTES = 16
_ENOUGH_BYTES = 64 << 20


class RemoteRecords:
    """The records of an object. What is fetched is checked as everything is, against checksums and index."""

    def __init__(self, file: ObjectFile, index: FileIndex, spans: Spans) -> None:
        self._file = file
        self._index = index
        self._spans = spans

    def fetch(self, picks: U64) -> list[_core.Block] | _core.Fault:
        """The records at `picks`, or the first of them if they are very many; or what is wrong with one."""
        picks = self._enough(picks)
        begins, ends = bounds(self._index, picks)
        spans = self._spans.get(self._file, begins, ends)
        with _Scratch(self._file.size) as scratch:
            scratch.fill(spans, begins, ends)
            return self._blocks(scratch.descriptor, picks)

    def forget(self, picks: U64) -> None:
        """Sees to it that these records come from the store next time."""
        self._spans.forget(self._file, *bounds(self._index, picks))

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

    def fill(self, spans: Sequence[Span], begins: Bounds, ends: Bounds) -> None:
        """Puts these ranges in place, which are in order, out of what was fetched."""
        apart = np.flatnonzero(begins[1:] != ends[:-1]) + 1
        firsts = begins[np.concatenate([[0], apart])]
        lasts = ends[np.concatenate([apart, [len(ends)]]) - 1]
        for span in spans:
            content = span.content()
            if content is None:
                continue
            for i in np.flatnonzero((firsts < span.end) & (lasts > span.begin)).tolist():
                begin, end = max(int(firsts[i]), span.begin), min(int(lasts[i]), span.end)
                self._write(content[begin - span.begin : end - span.begin], begin)

    def _write(self, piece: memoryview, at: int) -> None:
        while len(piece):
            written = os.pwrite(self.descriptor, piece, at)
            piece, at = piece[written:], at + written

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


def bounds(index: FileIndex, picks: U64) -> tuple[Bounds, Bounds]:
    """Where records begin and end, each once, in the order of the object."""
    order = np.unique(picks)
    begins = index.offsets[order].astype(np.int64)
    return begins, begins + index.lengths[order].astype(np.int64) + _FRAME_BYTES
