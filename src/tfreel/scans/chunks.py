"""Chunks: as many records as make a good batch, out of the small blocks in which files are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tfreel.columns.parse import Picked, relocate
from tfreel.errors import DecodeError, FeatureError
from tfreel.index.sidecar import U64
from tfreel.scans.pieces import Span

_FIRST_ROWS = 1024  # whoever wants a few rows need not wait for many
_GROWTH = 4


@dataclass(slots=True)
class Chunk:
    """Records that become one batch."""

    spans: list[Span] = field(default_factory=list)
    rows: int = 0
    nbytes: int = 0

    def add(self, span: Span) -> None:
        """Takes up some more records."""
        self.spans.append(span)
        self.rows += len(span)
        self.nbytes += span.nbytes

    def picked(self, rows: U64 | None = None) -> Picked:
        """All of its records, or those of some rows."""
        blocks = [span.block for span in self.spans]
        if rows is None and all(len(span) == len(span.block) for span in self.spans):
            return Picked(blocks)
        places = self._places()
        return Picked(blocks, places if rows is None else places[rows])

    def _places(self) -> U64:
        """Where each row is, among all records of all blocks."""
        before = 0
        places = []
        for span in self.spans:
            places.append(np.arange(before + span.start, before + span.stop, dtype=np.uint64))
            before += len(span.block)
        return np.concatenate(places)

    def relocate(self, error: FeatureError | DecodeError, rows: U64 | None) -> None:
        """Lets an error, which counts the records that were picked, say which one of which file it means."""
        row = error.record or 0
        row = row if rows is None else int(rows[row])
        for span in self.spans:
            if row < len(span):
                place = span.start + row
                relocate(error, span.path, span.block.first_record + place, int(span.block.offsets[place]))
                return
            row -= len(span)


def first_of(spans: Iterable[Span], rows: int) -> Iterator[Span]:
    """The first records of all; no more is read than is needed for them."""
    left = rows
    for span in spans if left else ():
        yield span if len(span) <= left else Span(span.block, span.path, span.start, span.start + left)
        left -= min(left, len(span))
        if not left:
            return


def chunks_of(spans: Iterable[Span], most_rows: int, most_bytes: int) -> Iterator[Chunk]:
    """All records in chunks: small ones first, then as large as is allowed."""
    allowed = min(_FIRST_ROWS, most_rows)
    chunk = Chunk()
    for span in spans:
        start = span.start
        while start < span.stop:
            stop = min(span.stop, start + allowed - chunk.rows)
            chunk.add(Span(span.block, span.path, start, stop))
            start = stop
            if chunk.rows >= allowed or chunk.nbytes >= most_bytes:
                yield chunk
                chunk = Chunk()
                allowed = min(allowed * _GROWTH, most_rows)
    if chunk.rows:
        yield chunk
