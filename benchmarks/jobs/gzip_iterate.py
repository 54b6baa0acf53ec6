"""Every record of a gzip file as a Python object, in order."""

from __future__ import annotations

import away
import peers
from bench import Bench
from harness import Outcome, compare

import tfreel

NAME = "gzip"
TITLE = "8. Iterate small records in gzip"


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's fastest route to Python objects."""
    shape = bench.data.shape("gzip")
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
        sample=bench.data.sample("gzip"),
        truth=shape.digest,
        limit=("inflate", shape.payload_bytes + 16 * shape.count),
    )
    lines = [
        compare(race, "TensorFlow", "tfreel.read", "{fast} against TensorFlow's best, {slow}", limit=2.5),
        compare(race, "tfrecord", "tfreel.read", "{fast} against {slow}, which checks no checksums"),
    ]
    ratio = shape.file_bytes / (shape.payload_bytes + 16 * shape.count)
    notes = [f"One gzip member by zlib at level 6; {ratio:.2f} of the plain size."]
    return Outcome(NAME, TITLE, [race], lines, notes)
