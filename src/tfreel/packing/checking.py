"""What was written is read again before anybody sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tfreel.errors import CorruptError
from tfreel.index.access import Records
from tfreel.packing.layout import Shard
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job
from tfreel.packing.source import Listing
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
        """Reads all records of all files again, and makes some of them anew.

        Raises:
            CorruptError: They are not what they should be.
        """
        if self.verify == "none":
            return

        def look(shard: Shard, turn: Turn) -> None:
            del turn
            self._look(shard, tallies[shard.name])

        in_threads(look, shards, self.job.workers)

    def _look(self, shard: Shard, tally: Tally) -> None:
        path = self.job.work.place(shard.name)
        records = Records(path, index="memory")  # which reads and checks every byte
        if len(records) != tally.records:
            raise _wrong(shard, f"holds {len(records):,} records, not {tally.records:,}")
        rejected = {remark.name for remark in tally.rejects}
        items = shard.items
        if rejected:
            names = self.listing.items
            items = np.array([item for item in items.tolist() if names[item].name not in rejected], np.int64)
        step = 1 if self.verify == "all" else max(1, len(items) // _SAMPLE)
        for position in range(0, len(items), step):
            made = self.listing.make([int(items[position])])
            if made.block().to_list() != [records[position]]:
                raise _wrong(shard, f"record {position} is not what was written, or its source changed")


def _wrong(shard: Shard, why: str) -> CorruptError:
    return CorruptError(f"{display(shard.name)}: read again, it {why}", path=shard.name, kind="readback")
