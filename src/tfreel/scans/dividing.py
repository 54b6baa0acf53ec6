"""A scan in parts that others may read at the same time: files, and rows of files that have an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfreel.index.sidecar import FileIndex
from tfreel.records.frames import Position
from tfreel.scans.pieces import Piece
from tfreel.storage.places import size_of


@dataclass(frozen=True, slots=True)
class Divisible:
    """A piece, and where it may be cut.

    Attributes:
        piece: The piece, with the number of its rows if that is known.
        index: The index of its file; None if it can only be read as a whole.
        nbytes: How much there is to read, about.
    """

    piece: Piece
    index: FileIndex | None
    nbytes: int

    @classmethod
    def of(cls, piece: Piece, index: FileIndex | None) -> Divisible:
        """The piece with what is known of its file."""
        if index is None:
            return cls(piece, None, size_of(piece.path))
        stop = piece.stop or Position(index.stream_bytes, len(index))
        piece = Piece(piece.path, piece.start, stop)
        if index.codec != "none":  # it would be inflated from its beginning for each part
            return cls(piece, None, index.size)
        return cls(piece, index, stop.offset - piece.start.offset)

    def rows_between(self, begin: float, end: float) -> Piece | None:
        """The rows that begin between two of its bytes; None if none do."""
        if self.index is None:
            # Its middle decides, so that it falls to one part only.
            return self.piece if begin <= self.nbytes / 2 < end else None
        bounds = self.piece.start.offset + np.ceil([max(0, begin), min(end, self.nbytes)])
        rows = np.searchsorted(self.index.offsets, bounds.astype(np.uint64)) - self.piece.start.record
        return self.rows(*np.clip(rows, 0, self.piece.rows).tolist())

    def rows(self, begin: int, end: int) -> Piece | None:
        """The rows from one to another; None if there are none between them."""
        if self.index is None:
            return self.piece
        if begin >= end:
            return None
        first = self.piece.start.record
        return Piece(self.piece.path, _place(self.index, first + begin), _place(self.index, first + end))


def _place(index: FileIndex, record: int) -> Position:
    offset = index.stream_bytes if record == len(index) else int(index.offsets[record])
    return Position(offset, record)


def in_parts(pieces: Sequence[Divisible], count: int) -> Iterator[list[Piece]]:
    """All rows in so many parts of about the same number of bytes; fewer where there is nothing to cut."""
    size = max(1, sum(piece.nbytes for piece in pieces)) / count
    parts: list[list[Piece]] = [[] for _ in range(count)]
    before = 0
    for piece in pieces:
        after = before + piece.nbytes
        last = min(count - 1, int(after / size))
        for number in range(min(count - 1, int(before / size)), last + 1):
            end = float("inf") if number == last else (number + 1) * size - before
            if (found := piece.rows_between(number * size - before, end)) is not None:
                parts[number].append(found)
        before = after
    return (part for part in parts if part)


def by_rows(pieces: Sequence[Divisible], most: int) -> Iterator[list[Piece]]:
    """Every file in parts of at most so many rows; as a whole, if it cannot be cut."""
    for piece in pieces:
        rows = piece.piece.rows
        if piece.index is None or rows is None:
            yield [piece.piece]
            continue
        count = -(-rows // most)
        bounds = [rows * i // count for i in range(count + 1)] if count else []
        for begin, end in pairwise(bounds):
            found = piece.rows(begin, end)
            if found is not None:
                yield [found]
