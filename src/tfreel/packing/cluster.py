"""Files written by the workers of a cluster: each worker makes all records of a file, in the same order.

A worker writes under a name that nobody else has. Only the process that packs gives a file its name, once, so
that work which was done twice leaves no trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from tfreel.engines import streamed
from tfreel.packing.layout import Indices, Shard
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job, OnError, framed, pieces_of, stopped
from tfreel.packing.source import Listing
from tfreel.records.write import Writer
from tfreel.threads import Turn


@dataclass(frozen=True, slots=True)
class _Write:
    """The work on a file."""

    listing: Listing
    sizes: Indices
    folder: str
    compression: str
    level: int | None
    durable: bool
    on_error: OnError

    def __call__(self, shard: Shard, turn: Turn) -> tuple[str, Tally]:
        """Where the file is, and what is in it."""
        path = os.path.join(self.folder, f"{shard.name}.{os.urandom(8).hex()}")
        tally = Tally()
        with Writer(
            path, mode="x", compression=self.compression, level=self.level, durable=self.durable
        ) as out:
            for piece in pieces_of(shard.items, self.sizes):
                turn()
                made = framed(self.listing.make, piece)
                if made.rejects and self.on_error == "stop":
                    raise stopped(made.rejects)
                out.write_block(made.block())
                tally.add(made)
        tally.seal()
        return path, tally


def written_on_cluster(listing: Listing, shards: Sequence[Shard], job: Job) -> Iterator[tuple[Shard, Tally]]:
    """Writes files on a cluster, and gives what is in each when it is whole."""
    work = job.work
    write = _Write(
        listing, listing.sizes(), work.path, job.compression, job.level, work.durable, job.on_error
    )
    with closing(streamed(write, shards, engine=job.engine, threads=job.workers)) as written:
        for shard, (path, tally) in zip(shards, written, strict=True):
            os.rename(path, work.file(shard.name))
            work.finish(shard.name, tally.to_note())
            job.count(tally.records + len(tally.rejects), work.size(shard.name), len(tally.rejects))
            yield shard, tally
