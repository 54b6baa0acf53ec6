"""Pieces: which records of which files a scan reads. They are small, and may be sent to other machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tfreel import _core
from tfreel.errors import StaleIndexError
from tfreel.records.frames import Position
from tfreel.records.read import OnCorrupt, Reader, read_from
from tfreel.records.report import Report
from tfreel.storage.paths import display

START = Position()
_FRAME_BYTES = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """The records of a file, or some of them that follow each other.

    Attributes:
        path: The file.
        start: The place of the first record.
        stop: The place behind the last record; None for the end of the file, wherever that is.
    """

    path: str
    start: Position = START
    stop: Position | None = None

    @property
    def rows(self) -> int | None:
        """How many records; None if nobody has counted them."""
        return None if self.stop is None else self.stop.record - self.start.record


@dataclass(frozen=True, slots=True)
class Span:
    """Some records of a block that follow each other, with the path of their file."""

    block: _core.Block
    path: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def nbytes(self) -> int:
        """About how many bytes they have."""
        return self.block.nbytes * len(self) // max(1, len(self.block))


@dataclass(frozen=True, slots=True)
class PieceReader:
    """Reads pieces.

    Attributes:
        verify: As in `tfreel.read`.
        on_corrupt: As in `tfreel.read`.
        report: What was read, and what was wrong with it.
    """

    verify: bool
    on_corrupt: OnCorrupt
    report: Report = field(default_factory=Report)

    def spans(self, pieces: Iterable[Piece]) -> Iterator[Span]:
        """The records of all pieces, one behind the other."""
        for piece in pieces:
            reader = read_from(piece.path, piece.start, verify=self.verify, on_corrupt=self.on_corrupt)
            try:
                yield from _whole(reader, piece) if piece.stop is None else _part(reader, piece, piece.stop)
            finally:
                self.report.merge(reader.report)
                reader.close()


def _whole(reader: Reader, piece: Piece) -> Iterator[Span]:
    for block in reader.blocks():
        yield Span(block, piece.path, 0, len(block))


def _part(reader: Reader, piece: Piece, stop: Position) -> Iterator[Span]:
    """The records up to a place, where one must end, as was said when the file was cut."""
    if piece.rows == 0:
        return
    for block in reader.blocks():
        wanted = min(len(block), stop.record - block.first_record)
        if block.first_record + wanted == stop.record:
            end = int(block.offsets[wanted - 1]) + int(block.lengths[wanted - 1]) + _FRAME_BYTES
            if end != stop.offset:
                raise _changed(piece)
            yield Span(block, piece.path, 0, wanted)
            return
        yield Span(block, piece.path, 0, wanted)
    raise _changed(piece)


def _changed(piece: Piece) -> StaleIndexError:
    return StaleIndexError(
        f"{display(piece.path)}: the file changed after it was divided by its index; divide it again",
        path=piece.path,
        kind="file_changed",
    )
