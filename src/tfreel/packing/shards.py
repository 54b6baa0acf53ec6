"""Items become files: made in threads, written in order, each file noted when it is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from tfreel.engines import Engine
from tfreel.errors import TfreelError
from tfreel.packing.layout import Indices, Shard
from tfreel.packing.report import OnProgress, Progress, Tally
from tfreel.packing.source import Listing, Made, Remark
from tfreel.packing.work import Work
from tfreel.records.write import Writer
from tfreel.storage.paths import display
from tfreel.threads import in_order, thread_count

OnError: TypeAlias = Literal["stop", "skip"]

_LIGHT_WORKERS = 2
_PIECE_ITEMS = 2048
_PIECE_BYTES = 1 << 22


@dataclass(slots=True)
class Job:
    """How to do the work, and who is told about it."""

    work: Work
    compression: str
    level: int | None
    workers: int | None
    on_error: OnError
    on_progress: OnProgress | None
    engine: Engine = "local"
    progress: Progress = field(default_factory=Progress)

    def workers_for(self, listing: Listing) -> int:
        """How many threads to make records with; one more writes them.

        Where records are copies of files, more threads than this only wait for each other.
        """
        count = thread_count(self.workers)
        return count if self.workers is not None or listing.heavy else max(1, min(_LIGHT_WORKERS, count - 1))

    def begin(self, phase: str, total: int | None) -> None:
        """Says what comes now."""
        self.progress = Progress(phase, total=total, rejected=self.progress.rejected)

    def tell(self, made: Made) -> None:
        """Takes note of some items done, which may stop all."""
        if made.rejects and self.on_error == "stop":
            raise stopped(made.rejects)
        self.count(len(made.records) + len(made.rejects), made.block().nbytes, len(made.rejects))

    def count(self, done: int, size: int, rejected: int) -> None:
        """Says that so many more items are done."""
        if self.on_progress is not None:
            so_far = self.progress
            self.progress = replace(
                so_far,
                done=so_far.done + done,
                bytes=so_far.bytes + size,
                rejected=so_far.rejected + rejected,
            )
            self.on_progress(self.progress)

    def writer(self, name: str) -> Writer:
        """A file of the work."""
        return Writer(
            self.work.file(name),
            mode="w",
            compression=self.compression,
            level=self.level,
            durable=self.work.durable,
        )


def stopped(rejects: Sequence[Remark]) -> TfreelError:
    """What is raised when items that cannot be packed are not to be left out."""
    first = rejects[0]
    more = f" (and {len(rejects) - 1:,} more)" if len(rejects) > 1 else ""
    return TfreelError(
        f'{display(first.name)}: {first.text}{more}; on_error="skip" leaves out what cannot be packed',
        path=first.name,
        kind="item_rejected",
    )


def written_in_threads(listing: Listing, shards: Sequence[Shard], job: Job) -> Iterator[tuple[Shard, Tally]]:
    """Writes files one after the other, all threads at work on each, and gives what is in it."""
    sizes = listing.sizes()
    cut = [pieces_of(shard.items, sizes) for shard in shards]
    work = (partial(framed, listing.make, piece) for pieces in cut for piece in pieces)
    made = in_order(work, job.workers_for(listing))
    with closing(made):  # whatever happens, no thread is left at work
        for shard, pieces in zip(shards, cut, strict=True):
            yield shard, _write(shard.name, made, len(pieces), job)


def framed(make: Callable[..., Made], *args: Any) -> Made:
    """What was made, ready to be written: checksums are the work of whoever made it."""
    made = make(*args)
    made.block()
    return made


def _write(name: str, made: Iterator[Made], pieces: int, job: Job) -> Tally:
    tally = Tally()
    with job.writer(name) as out:
        for _ in range(pieces):
            piece = next(made)
            job.tell(piece)
            out.write_block(piece.block())
            tally.add(piece)
    tally.seal()
    job.work.finish(name, tally.to_note())
    return tally


def pieces_of(items: Indices, sizes: Indices) -> list[list[int]]:
    """Items in pieces that are small enough to wait for, and large enough to be worth a turn."""
    if not len(items):
        return []
    filled = np.cumsum(sizes[items]) // _PIECE_BYTES
    turns = np.flatnonzero(np.diff(filled)) + 1
    counted = np.arange(0, len(items), _PIECE_ITEMS)[1:]
    cuts = np.union1d(turns, counted)
    return [piece.tolist() for piece in np.split(items, cuts)]
