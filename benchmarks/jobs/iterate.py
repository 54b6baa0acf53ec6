"""Every small record as a Python object, in order."""

from __future__ import annotations

import away
import peers
from bench import Bench
from harness import Outcome, compare

import tfreel

NAME = "iterate"
TITLE = "2. Iterate small records (about 450 bytes)"


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's fastest route to Python objects, and against tfrecord."""
    shape = bench.data.shape("small")
    entries = [
        peers.iterating("tfreel.read", lambda shape: tfreel.read(shape.path)),
        *away.entries("tensorflow", peers.tensorflow_routes, 1024),
        *away.entries("tfrecord", peers.tfrecord_routes),
    ]
    race = bench.race(
        "each record",
        entries,
        shape,
        work=shape.count,
        unit="records",
        sample=bench.data.sample("small"),
        truth=shape.digest,
        limit=("page cache", shape.file_bytes),
    )
    lines = [
        compare(race, "TensorFlow", "tfreel.read", "{fast} against TensorFlow's best, {slow}", limit=5),
        compare(race, "tfrecord", "tfreel.read", "{fast} against {slow}", limit=5),
    ]
    few = bench.data.sample("small")
    entries = [
        peers.iterating("tfreel.read", lambda shape: tfreel.read(shape.path)),
        *away.entries("webdataset", peers.webdataset_routes),
    ]
    tar = bench.race(
        "each of few records, against files in a tar",
        entries,
        few,
        work=few.count,
        unit="records",
        truth=few.digest,
        limit=("page cache", few.file_bytes),
    )
    lines.append(compare(tar, "webdataset", "tfreel.read", "{fast} against {slow}"))
    notes = [
        "tfreel and TensorFlow check every checksum; tfrecord checks none, and yields views of one buffer."
    ]
    return Outcome(NAME, TITLE, [race, tar], lines, notes)
