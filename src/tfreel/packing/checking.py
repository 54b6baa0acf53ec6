"""What was written is read again before anybody sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tfreel import _core
from tfreel.engines import gathered, is_local
from tfreel.errors import CorruptError
from tfreel.index.access import Records
from tfreel.packing.layout import Indices, Shard
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job
from tfreel.packing.source import Listing, Made
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display
from tfreel.threads import Turn

Verify: TypeAlias = Literal["sample", "all", "none"]

_SAMPLE = 8  # records of each file


@dataclass(frozen=True, slots=True)
class Written:
    """A file, and what should be in it."""

    path: str
    shard: Shard
    tally: Tally


@dataclass(frozen=True, slots=True)
class Check:
    """Compares what is in files with what should be in them.

    Attributes:
        listing: Where their records come from.
        verify: How many of them are made anew.
        compression: Of the files.
        on_made: Told of every record that was made anew.
    """

    listing: Listing
    verify: Verify
    compression: str
    on_made: Callable[[Made], object] | None = None

    def __call__(self, file: Written, turn: Turn) -> int:
        """Reads a file again, makes some of its records anew, and compares. Says how many.

        Raises:
            CorruptError: They are not what they should be.
        """
        frame_at = self._frames(file)
        items = self._kept(file.shard, file.tally)
        for position in self.picks(file.tally):
            turn()
            made = self.listing.make([int(items[position])])
            if made.block().frames() != frame_at(position):
                raise _wrong(file, f"record {position} is not what was written, or its source changed")
            if self.on_made is not None:
                self.on_made(made)
        return len(self.picks(file.tally))

    def picks(self, tally: Tally) -> range:
        """Which records of a file are compared."""
        return range(0, tally.records, 1 if self.verify == "all" else max(1, tally.records // _SAMPLE))

    def _kept(self, shard: Shard, tally: Tally) -> Indices:
        """The items that became the records of a file."""
        rejected = {remark.name for remark in tally.rejects}
        if not rejected:
            return shard.items
        names = self.listing.items
        return np.array([i for i in shard.items.tolist() if names[i].name not in rejected], np.int64)

    def _frames(self, file: Written) -> Callable[[int], bytes]:
        """How to read a record of a file, with its frame."""
        places = file.tally.places() if self.verify == "sample" and self.compression == "none" else None
        if places is not None:  # known since it was written: no need to read all that lies between
            opened = LocalFile(file.path)
            return lambda position: opened.read(
                int(places[position + 1] - places[position]), int(places[position])
            )
        records = Records(file.path, index="memory")  # which reads and checks every byte
        if len(records) != file.tally.records:
            raise _wrong(file, f"holds {len(records):,} records, not {file.tally.records:,}")
        return lambda position: _core.frame(records[position])


def check(
    listing: Listing, job: Job, verify: Verify, shards: Sequence[Shard], tallies: Mapping[str, Tally]
) -> None:
    """Reads all files again.

    Raises:
        CorruptError: They are not what they should be.
    """
    if verify == "none":
        return
    one_at_a_time = threading.Lock()

    def tell(made: Made) -> None:
        with one_at_a_time:
            job.tell(made)

    files = [Written(job.work.place(shard.name), shard, tallies[shard.name]) for shard in shards]
    look = Check(listing, verify, job.compression, tell if is_local(job.engine) else None)
    job.begin("checking", sum(len(look.picks(file.tally)) for file in files))
    gathered(look, files, engine=job.engine, threads=job.workers, done=lambda count: job.count(count, 0, 0))


def _wrong(file: Written, why: str) -> CorruptError:
    name = file.shard.name
    return CorruptError(f"{display(name)}: read again, it {why}", path=name, kind="readback")
