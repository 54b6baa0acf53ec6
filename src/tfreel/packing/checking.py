"""What was written is read again before anybody sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tfreel import _core
from tfreel.errors import CorruptError
from tfreel.index.access import Records
from tfreel.packing.layout import Indices, Shard
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job
from tfreel.packing.source import Listing, Made
from tfreel.storage.files import LocalFile
from tfreel.storage.paths import display
from tfreel.threads import Turn, in_threads

Verify: TypeAlias = Literal["sample", "all", "none"]

_SAMPLE = 8  # records of each file


@dataclass(frozen=True, slots=True)
class Check:
    """Compares what is in files with what should be in them."""

    listing: Listing
    job: Job
    verify: Verify

    def run(self, shards: Sequence[Shard], tallies: dict[str, Tally]) -> None:
        """Reads files again, makes some of their records anew, and compares.

        Raises:
            CorruptError: They are not what they should be.
        """
        if self.verify == "none":
            return

        one_at_a_time = threading.Lock()

        def look(shard: Shard, turn: Turn) -> None:
            for made in self._compared(shard, tallies[shard.name]):
                turn()
                with one_at_a_time:
                    self.job.tell(made)

        self.job.begin("checking", sum(len(self._picks(tallies[shard.name].records)) for shard in shards))
        in_threads(look, shards, self.job.workers)

    def _picks(self, records: int) -> range:
        """Which records of a file are compared."""
        return range(0, records, 1 if self.verify == "all" else max(1, records // _SAMPLE))

    def _compared(self, shard: Shard, tally: Tally) -> Iterator[Made]:
        frame_at = self._frames(shard, tally)
        items = self._kept(shard, tally)
        for position in self._picks(tally.records):
            made = self.listing.make([int(items[position])])
            if made.block().frames() != frame_at(position):
                raise _wrong(shard, f"record {position} is not what was written, or its source changed")
            yield made

    def _kept(self, shard: Shard, tally: Tally) -> Indices:
        """The items that became the records of a file."""
        rejected = {remark.name for remark in tally.rejects}
        if not rejected:
            return shard.items
        names = self.listing.items
        return np.array([i for i in shard.items.tolist() if names[i].name not in rejected], np.int64)

    def _frames(self, shard: Shard, tally: Tally) -> Callable[[int], bytes]:
        """How to read a record of a file, with its frame."""
        path = self.job.work.place(shard.name)
        places = tally.places() if self.verify == "sample" and self.job.compression == "none" else None
        if places is not None:  # known since it was written: no need to read all that lies between
            file = LocalFile(path)
            return lambda position: file.read(
                int(places[position + 1] - places[position]), int(places[position])
            )
        records = Records(path, index="memory")  # which reads and checks every byte
        if len(records) != tally.records:
            raise _wrong(shard, f"holds {len(records):,} records, not {tally.records:,}")
        return lambda position: _core.frame(records[position])


def _wrong(shard: Shard, why: str) -> CorruptError:
    return CorruptError(f"{display(shard.name)}: read again, it {why}", path=shard.name, kind="readback")
