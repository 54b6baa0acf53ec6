"""All files of a data set: those that are not whole yet are written, by whoever is to do it."""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.engines import is_local
from tfreel.packing.cluster import written_on_cluster
from tfreel.packing.layout import Shard
from tfreel.packing.report import Tally
from tfreel.packing.shards import Job, written_in_threads
from tfreel.packing.source import Listing


def write_shards(listing: Listing, shards: Sequence[Shard], job: Job) -> tuple[dict[str, Tally], int]:
    """Writes all files that are not whole yet. Gives what is in each, and how many records were there."""
    tallies: dict[str, Tally] = {}
    for shard in shards:
        if note := job.work.whole(shard.name):
            tallies[shard.name] = Tally.of_note(note)
    reused = sum(tally.records for tally in tallies.values())
    missing = [shard for shard in shards if shard.name not in tallies]
    job.begin("writing", sum(len(shard.items) for shard in missing))
    written = written_in_threads if is_local(job.engine) else written_on_cluster
    tallies |= {shard.name: tally for shard, tally in written(listing, missing, job)}
    return tallies, reused
