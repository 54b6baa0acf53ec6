"""One side of a comparison: records that come from the front, of which the next ones lie ready."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.ahead import ReadAhead
from tfreel.inference.sample import Place
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, Reader, read
from tfreel.records.report import Fault

U64 = npt.NDArray[np.uint64]


@dataclass(slots=True)
class _Piece:
    """A block, and how many of its records are done with."""

    path: str
    block: _core.Block
    done: int = 0
    digests: U64 | None = None  # of all records of the block

    def __len__(self) -> int:
        return len(self.block) - self.done


class Side:
    """The records of some files, from the front. What is ready is held in memory, and nothing else.

    Args:
        files: To read, in order.
        on_corrupt: As in `tfreel.read`.
        content: Tell records apart by their features, rather than by their bytes.
        threads: To make digests with.
        progress: Told of every block.
    """

    def __init__(
        self,
        files: Sequence[str | BinaryIO],
        *,
        on_corrupt: OnCorrupt,
        content: bool,
        threads: int,
        progress: Progress | None,
    ) -> None:
        self._reader = read(files, on_corrupt=on_corrupt)
        self._ahead = ReadAhead(_blocks(self._reader))
        self._content = content
        self._threads = threads
        self._progress = progress
        self._pieces: deque[_Piece] = deque()
        self._starts: list[
            int
        ] = []  # of the pieces, counted from the next record on; made when it is asked for
        self.ready = 0
        self.ready_bytes = 0
        self.records = 0
        self.at_end = False

    @property
    def finished(self) -> bool:
        """Whether there are no more records, and none is ready."""
        return self.at_end and not self.ready

    @property
    def faults(self) -> list[Fault]:
        """The damage that was passed over."""
        return list(self._reader.report.faults)

    def close(self) -> None:
        """Ends the thread that reads ahead."""
        self._ahead.close()

    def take_block(self) -> None:
        """Gets one more block ready, unless that was all."""
        found = next(self._ahead, None)
        if found is None:
            self.at_end = True
            return
        path, block = found
        self._pieces.append(_Piece(path, block))
        self._starts = []
        self.ready += len(block)
        self.ready_bytes += block.nbytes
        self.records += len(block)
        if self._progress is not None:
            self._progress(len(block), block.nbytes)

    def fill(self, records: int, nbytes: int) -> None:
        """Gets so many records ready, or as many as are in so many bytes, or all that are left."""
        while not self.at_end and self.ready < records and self.ready_bytes < nbytes:
            self.take_block()

    def head(self) -> tuple[_core.Block, int] | None:
        """The block of the next record, and its number in that; None at the end."""
        if not self.ready and not self.at_end:
            self.fill(1, 1)
        return (self._pieces[0].block, self._pieces[0].done) if self.ready else None

    def drop(self, count: int) -> None:
        """Is done with the next `count` records, which are ready."""
        self.ready -= count
        self._starts = []
        while count:
            piece = self._pieces[0]
            step = min(count, len(piece))
            piece.done += step
            count -= step
            if not len(piece):
                self.ready_bytes -= piece.block.nbytes
                self._pieces.popleft()

    def digests(self, count: int) -> U64:
        """The digests of the next `count` records, which are ready: two words for each."""
        found = [np.empty((0, 2), np.uint64)]
        for piece in self._pieces:
            if count <= 0:
                break
            if piece.digests is None:
                words = _core.digests(piece.block, content=self._content, threads=self._threads)
                piece.digests = words.reshape(-1, 2)
            found.append(piece.digests[piece.done : piece.done + count])
            count -= len(piece)
        return np.concatenate(found)

    def checks(self, count: int) -> U64:
        """Length and checksum of the next `count` records, as one number for each."""
        found = [np.empty(0, np.uint64)]
        for piece in self._pieces:
            if count <= 0:
                break
            lengths, checksums = piece.block.lengths, piece.block.checksums.astype(np.uint64)
            both = (lengths << np.uint64(32)) ^ checksums
            found.append(both[piece.done : piece.done + count])
            count -= len(piece)
        return np.concatenate(found)

    def record(self, i: int) -> bytes:
        """The i-th of the records that are ready."""
        piece, i = self._at(i)
        return piece.block[i]

    def place(self, i: int) -> Place:
        """Where the i-th of the records that are ready comes from."""
        piece, i = self._at(i)
        return Place(piece.path, piece.block.first_record + i)

    def _at(self, i: int) -> tuple[_Piece, int]:
        if not self._starts:
            self._starts = [0, *accumulate(len(piece) for piece in self._pieces)]
        number = bisect.bisect_right(self._starts, i) - 1
        piece = self._pieces[number]
        return piece, piece.done + i - self._starts[number]


def _blocks(reader: Reader) -> Iterator[tuple[str, _core.Block]]:
    for block in reader.blocks():
        yield reader.path, block
