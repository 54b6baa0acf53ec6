"""Streams become listings: their records are kept in files of the work folder, in the order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.dataset.elements import Elements
from tfreel.dataset.groups import Groups, groups_of
from tfreel.dataset.order import Natural
from tfreel.dataset.sources import Rows
from tfreel.index.access import Records
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job, framed, pieces_of
from tfreel.packing.source import Listing, Made, Source, Stream
from tfreel.records.write import Writer
from tfreel.threads import in_order, thread_count

_PART_BYTES = 1 << 28
_PART_NAME = "spool-{:05d}.tfrecord"


def spooled(source: Listing | Stream, job: Job) -> Spooled:
    """The records of a source, in files from which they can be had by position."""
    spool = _Spool(job)
    job.begin("reading", source.count if isinstance(source, Listing) else None)
    spool.fill(_work_of(source))
    if isinstance(source, Listing):
        return SpooledListing(source, spool)
    return SpooledStream(source, spool)


def _work_of(source: Listing | Stream) -> Iterator[Callable[[], Made]]:
    if isinstance(source, Stream):
        return (partial(framed, chunk) for chunk in source.chunks())
    pieces = pieces_of(np.arange(source.count), source.sizes())
    return (partial(framed, source.make, piece) for piece in pieces)


@dataclass(slots=True)
class _Spool:
    """The files of a spool. Those that a killed run finished are not written again."""

    job: Job
    paths: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    splits: list[str | None] = field(default_factory=list)
    names: list[Sequence[str]] = field(default_factory=list)

    def fill(self, pieces: Iterator[Callable[[], Made]]) -> None:
        """Writes all there is."""
        last = False
        while not last and (note := self.job.work.whole(self._next_name())):
            next(islice(pieces, note["pieces"], note["pieces"]), None)  # past what is there
            self._take(note)
            last = note["last"]
        with closing(in_order(pieces, self.job.workers)) as made:
            while not last:
                note = self._write_part(self._next_name(), made)
                self._take(note)
                last = note["last"]

    def _next_name(self) -> str:
        return _PART_NAME.format(len(self.paths))

    def _take(self, note: dict[str, Any]) -> None:
        tally = Tally.of_note(note)
        self.paths.append(self.job.work.file(self._next_name()))
        self.tally.records += tally.records
        self.tally.rejects += tally.rejects
        self.tally.remarks += tally.remarks
        self.tally.counts += tally.counts
        self.names += note["names"]
        for split, count in note["splits"]:
            self.splits += [split] * count

    def _write_part(self, name: str, made: Iterator[Made]) -> dict[str, Any]:
        tally, pieces, size = Tally(), 0, 0
        splits: list[tuple[str | None, int]] = []
        names: list[Sequence[str]] = []
        with Writer(self.job.work.file(name), mode="w", compression="none") as out:
            while size < _PART_BYTES and (piece := next(made, None)) is not None:
                self.job.tell(piece)
                out.write_block(piece.block())
                tally.add(piece)
                splits.append((piece.split, len(piece.records)))
                names += piece.names
                pieces += 1
                size += piece.block().nbytes
        note = {
            **tally.to_note(),
            "splits": splits,
            "names": names,
            "pieces": pieces,
            "last": size < _PART_BYTES,
        }
        return self.job.work.finish(name, note)


class Spooled(Listing):
    """The records of a source, by position."""

    def __init__(self, source: Source, spool: _Spool) -> None:
        super().__init__()
        self.kind = source.kind  # type: ignore[misc]  # what it is to the user
        self.classes, self.label, self.features = source.classes, source.label, source.features
        self.skipped, self.notes, self.naming = source.skipped, source.notes, source.naming
        self.tally = spool.tally
        self._records = Records(spool.paths, index="memory")
        self._identity = source.identity()

    @property
    def count(self) -> int:
        return len(self._records)

    def sizes(self) -> npt.NDArray[np.int64]:
        return self._records.lengths().astype(np.int64)

    def identity(self) -> str | None:
        return self._identity

    def row(self, index: int) -> dict[str, object]:
        raise NotImplementedError(f"record {index} has been made already")

    def make(self, indices: Sequence[int]) -> Made:
        names = [self.class_names(index) for index in indices] if self.classes else []
        return Made(self._records[list(indices)], names=names)

    def groups(self, feature: str) -> Groups:
        """Which record has which value of a feature."""
        elements = Elements(self._records, {}, {}, thread_count())
        return groups_of(Rows(elements, Natural(self.count)), feature)


class SpooledListing(Spooled):
    """The records of a listing, which knows more about them than they say."""

    def __init__(self, source: Listing, spool: _Spool) -> None:
        super().__init__(source, spool)
        rejected = {remark.name for remark in spool.tally.rejects}
        self.items = [item for item in source.items if item.name not in rejected]
        self._names = spool.names

    def class_names(self, index: int) -> Sequence[str]:
        return self._names[index]


class SpooledStream(Spooled):
    """The records of a stream."""

    def __init__(self, source: Stream, spool: _Spool) -> None:
        super().__init__(source, spool)
        self._splits = spool.splits
        self._names: list[str] | None = None

    def splits(self) -> list[str | None]:
        return self._splits

    def class_names(self, index: int) -> Sequence[str]:
        if not self.classes or self.label is None:
            return ()
        if self._names is None:
            found = self.groups(self.naming.name(self.label))
            names = [self.classes.get(int(value), value.decode()) for value in found.values]
            self._names = [names[code] for code in found.codes.tolist()]
        return (self._names[index],)
