"""Streams become listings: their records are kept in files of the work folder, in the order they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from tfreel.index.access import Records
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job, framed, pieces_of
from tfreel.packing.source import Listing, Made, Source, Stream
from tfreel.packing.stored import Stored
from tfreel.records.write import Writer
from tfreel.threads import in_order

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
        self.paths.append(self.job.work.file(self._next_name()))
        self.tally.include(Tally.of_note(note))
        self.names += note["names"]
        for split, count in note["splits"]:
            self.splits += [split] * count

    def _write_part(self, name: str, made: Iterator[Made]) -> dict[str, Any]:
        tally, pieces, size = Tally(), 0, 0
        splits: list[tuple[str | None, int]] = []
        names: list[Sequence[str]] = []
        work = self.job.work
        with Writer(work.file(name), mode="w", compression="none", durable=work.durable) as out:
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


class Spooled(Stored):
    """The records of a source, by position."""

    def __init__(self, source: Source, spool: _Spool) -> None:
        super().__init__(Records(spool.paths, index="memory"))
        self.kind = source.kind  # type: ignore[misc]  # what it is to the user
        self.classes, self.label, self.features = source.classes, source.label, source.features
        self.skipped, self.notes, self.naming = source.skipped, source.notes, source.naming
        self.tally = spool.tally
        self._identity = source.identity()

    def identity(self) -> str | None:
        return self._identity


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
        self._names = spool.names

    def splits(self) -> list[str | None]:
        return self._splits

    def class_names(self, index: int) -> Sequence[str]:
        # Who made the records may have known; else they say it themselves.
        return self._names[index] if len(self._names) == self.count else super().class_names(index)
