"""Every large record as a Python object, in order."""

from __future__ import annotations

import away
import peers
from bench import Bench
from harness import Outcome, compare

import tfreel

NAME = "images"
TITLE = "7. Iterate images (about 70 KB)"


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's fastest route to Python objects."""
    shape = bench.data.shape("images")
    entries = [
        peers.iterating("tfreel.read", lambda shape: tfreel.read(shape.path)),
        *away.entries("tensorflow", peers.tensorflow_routes, 32),
        *away.entries("tfrecord", peers.tfrecord_routes),
        *away.entries("webdataset", peers.webdataset_routes),
    ]
    race = bench.race(
        "each image",
        entries,
        shape,
        work=shape.file_bytes,
        unit="B",
        sample=bench.data.sample("images"),
        truth=shape.digest,
        limit=("page cache", shape.file_bytes),
    )
    lines = [
        compare(race, "TensorFlow", "tfreel.read", "{fast} against TensorFlow's best, {slow}", limit=3),
        compare(race, "tfrecord", "tfreel.read", "{fast} against {slow}, which checks no checksums"),
        compare(race, "webdataset", "tfreel.read", "{fast} against {slow}, whose tar has no checksums"),
    ]
    return Outcome(NAME, TITLE, [race], lines)
