"""The pass over all records: files in, the sketches of the core out.

Files, and parts of large files, are read at the same time. What is a part depends on the file alone, and
parts are merged in their order, so that the number of threads changes nothing in the result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, TypeAlias

from tfreel import _core
from tfreel.engines import Engine, is_local, streamed
from tfreel.errors import DecodeError, FeatureError
from tfreel.inference.sample import path_of
from tfreel.records.frames import ReadOptions
from tfreel.records.parts import Part, Progress, UnsoundPart, blocks_of, find_parts, size_of
from tfreel.records.read import OnCorrupt, Reader, read
from tfreel.records.report import Report
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display
from tfreel.threads import Turn

_PART_BYTES = 16 << 20
_MOST_FEATURES = 10_000
_MOST_GROUPS = 1_000

_File: TypeAlias = str | BinaryIO


@dataclass(slots=True)
class Scan:
    """What was seen so far.

    Attributes:
        columns: The features to look at; None for all.
        by: The feature whose values make groups.
        sketches: Of all features.
        report: Of the reading.
        malformed: Records that are no Examples.
    """

    columns: tuple[str, ...] | None
    by: str | None
    report: Report = field(default_factory=Report)
    malformed: int = 0
    sketches: _core.Statistics = field(init=False)

    def __post_init__(self) -> None:
        self.sketches = _core.Statistics(
            columns=self.columns, by=self.by, most_features=_MOST_FEATURES, most_groups=_MOST_GROUPS
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self.columns, self.by, self.report, self.malformed, self.sketches.save())

    def new(self) -> Scan:
        """One of the same kind that has seen nothing."""
        return Scan(self.columns, self.by)

    def merge(self, other: Scan) -> None:
        """Adds what another one saw.

        Raises:
            FeatureError: Together there are too many features or groups.
        """
        limit = self.sketches.merge(other.sketches)
        if limit is not None:
            raise self._limit_error(limit)
        self.report.merge(other.report)
        self.malformed += other.malformed

    def see(self, block: _core.Block, path: str, *, skip: bool) -> None:
        """Adds the records of a block; with `skip`, those that are no Examples are counted, and no more.

        Raises:
            DecodeError: A record is no Example.
            FeatureError: There are too many features or groups.
        """
        first = 0
        while (stopped := self.sketches.add(block, first)) is not None:
            index, why = stopped
            if isinstance(why, str):
                raise self._limit_error(why, path, block.first_record + index)
            if not skip:
                raise _no_example(why, path, block.first_record + index)
            self.malformed += 1
            first = index + 1

    def _limit_error(self, limit: str, path: str | None = None, record: int | None = None) -> FeatureError:
        words = {
            "features": f"more than {_MOST_FEATURES:,} different features; columns= says which to look at",
            "groups": f"feature {self.by!r} has more than {_MOST_GROUPS:,} different values: too many groups",
            "group_kind": f"feature {self.by!r} holds floats; groups are made by whole numbers or bytes",
            "group_size": f"feature {self.by!r} holds values of more than 1,024 bytes: too long for groups",
        }
        where = "" if path is None or record is None else f"{display(path)}: record {record}: "
        error = FeatureError(where + words[limit], path=path, record=record, kind="statistics_limit")
        error.feature = self.by
        return error


def _revived(
    columns: tuple[str, ...] | None, by: str | None, report: Report, malformed: int, sketches: bytes
) -> Scan:
    scan = Scan(columns, by, report, malformed)
    scan.sketches.load(sketches)
    return scan


def _no_example(why: _core.Malformed, path: str, record: int) -> DecodeError:
    error = DecodeError(
        f"{display(path)}: record {record}: neither an Example nor a SequenceExample: {why.why} at byte"
        f' {why.byte}; on_corrupt="skip" passes over it',
        path=path,
        record=record,
        kind="proto_malformed",
    )
    error.byte = why.byte
    return error


class Survey:
    """The pass over some files.

    Args:
        empty: What to begin with.
        on_corrupt: As in `tfreel.read`.
        threads: How many to work with.
        engine: Who works.
        progress: Told of every block, or of every piece that a cluster has done.
    """

    def __init__(
        self,
        empty: Scan,
        *,
        on_corrupt: OnCorrupt,
        threads: int | None,
        engine: Engine,
        progress: Progress | None,
    ) -> None:
        self._look = Look(empty, on_corrupt, progress)
        self._threads = threads
        self._engine = engine

    def run(self, files: Sequence[_File]) -> Scan:
        """What there is in these files."""
        look = self._look
        total, of_file = look.empty.new(), look.empty.new()
        sound = True
        for piece, seen in self._seen(files):
            sound = sound and seen is not None
            if seen is not None and sound:
                of_file.merge(seen)
            if not piece.last:
                continue
            if not sound or (piece.local is not None and piece.local.changed()):
                # Not what it seemed: the reading from the beginning tells more.
                of_file = look.read_all(piece.file, Turn())
            total.merge(of_file)
            of_file, sound = look.empty.new(), True
        return total

    def _seen(self, files: Sequence[_File]) -> Iterator[tuple[_Piece, Scan | None]]:
        """All pieces, in order, with what is in them."""
        asked: deque[_Piece] = deque()

        def pieces() -> Iterator[_Piece]:
            for file in files:
                for piece in _pieces_of(file):
                    asked.append(piece)
                    yield piece

        look = self._look if is_local(self._engine) else replace(self._look, progress=None)
        with closing(streamed(look, pieces(), engine=self._engine, threads=self._threads)) as results:
            for seen in results:
                if look is not self._look and seen is not None:
                    self._look.tell(seen.report.records, seen.report.bytes)
                yield asked.popleft(), seen


@dataclass(frozen=True, slots=True)
class Look:
    """The work on a piece.

    Attributes:
        empty: What to begin with.
        on_corrupt: As in `tfreel.read`.
        progress: Told of every block.
    """

    empty: Scan
    on_corrupt: OnCorrupt
    progress: Progress | None

    def __call__(self, piece: _Piece, turn: Turn) -> Scan | None:
        """What there is in a piece; None if it is not what it seemed."""
        return self.read_part(piece, turn) if piece.part else self.read_all(piece.file, turn)

    def tell(self, records: int, size: int) -> None:
        """Says how much more is done."""
        if self.progress is not None:
            self.progress(records, size)

    def read_part(self, piece: _Piece, turn: Turn) -> Scan | None:
        """What there is in a part of a file; None if it is none."""
        seen = self.empty.new()
        told = Report()
        try:
            for block in blocks_of(piece.opened, ReadOptions(), piece.bounds):
                self._see(seen, block, piece.file, turn)
                told.records, told.bytes = told.records + len(block), told.bytes + block.nbytes
        except (UnsoundPart, OSError, DecodeError):
            self.tell(-told.records, -told.bytes)
            return None
        told.files = int(piece.last)
        seen.report = told
        return seen

    def read_all(self, file: _File, turn: Turn) -> Scan:
        """What there is in a file."""
        seen = self.empty.new()
        reader: Reader = read([file], on_corrupt=self.on_corrupt)
        for block in reader.blocks():
            self._see(seen, block, file, turn)
        seen.report = reader.report
        return seen

    def _see(self, seen: Scan, block: _core.Block, file: _File, turn: Turn) -> None:
        turn()
        seen.see(block, path_of(file), skip=self.on_corrupt == "skip")
        self.tell(*size_of(block))


@dataclass(frozen=True, slots=True)
class _Piece:
    """A file, or a part of it."""

    file: _File
    local: LocalFile | None = None
    part: Part | None = None
    last: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        size, mtime_ns = (0, 0) if self.local is None else _version(self.local)
        return _reopened, (self.file, self.part, self.last, size, mtime_ns)

    @property
    def opened(self) -> LocalFile:
        """The file.

        Raises:
            UnsoundPart: It is not any more what it was when it was cut into parts.
        """
        if self.local is None:
            raise UnsoundPart
        return self.local

    @property
    def bounds(self) -> Part:
        assert self.part is not None  # noqa: S101 - asked only of parts
        return self.part


def _version(file: LocalFile) -> tuple[int, int]:
    return file.identity.size, file.identity.mtime_ns


def _reopened(file: str, part: Part | None, last: bool, size: int, mtime_ns: int) -> _Piece:  # noqa: FBT001
    """A piece where it was sent to."""
    local = None if part is None else LocalFile(file)
    same = local is not None and _version(local) == (size, mtime_ns)
    return _Piece(file, local if same else None, part, last)


def _pieces_of(file: _File) -> list[_Piece]:
    if not isinstance(file, str) or file == "-":
        return [_Piece(file)]
    local, parts = find_parts(file, ReadOptions(), part_bytes=_PART_BYTES)
    if len(parts) < 2:
        return [_Piece(file)]
    return [_Piece(file, local, part, last=part is parts[-1]) for part in parts]
