"""All records counted and checked, with no Python object for each, against just reading the bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import away
import numpy as np
import peers
from bench import Bench
from data import Shape
from harness import Entry, Outcome, compare

import tfreel

NAME = "count"
TITLE = "3. Count and verify small records"

_BATCH = 1024
_BLOCKS, _UNVERIFIED, _VERIFY = "tfreel blocks()", "tfreel blocks(), verify=False", "tfreel.verify"
_PAGE_CACHE = "page cache"


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's fastest count, the page cache, and tfreel itself without checksums."""
    shape = bench.data.shape("small")
    entries = [
        Entry(_VERIFY, _verify),
        Entry(_BLOCKS, _blocks),
        Entry(_UNVERIFIED, partial(_blocks, verify=False)),
        *away.entries("tensorflow", _tensorflow_counts),
        *(
            Entry(f"preadv into {size >> 10} KiB", partial(read_all, buffer=bytearray(size)), _PAGE_CACHE)
            for size in (1 << 18, 1 << 20)
        ),
    ]
    race = bench.race(
        "whole file",
        entries,
        shape,
        work=shape.file_bytes,
        unit="B",
        sample=bench.data.sample("small"),
        truth=shape.count,
        limit=("page cache", shape.file_bytes),
    )
    lines = []
    for name in (_VERIFY, _BLOCKS):
        lines += [
            compare(race, "TensorFlow", name, "{fast} against TensorFlow's best, {slow}", limit=8),
            compare(race, _PAGE_CACHE, name, "speed of {fast}, as a share of {slow}", limit=60, unit="%"),
        ]
    lines.append(
        compare(race, _BLOCKS, _UNVERIFIED, "time of {slow} against {fast}", limit=1.25, at_most=True)
    )
    return Outcome(NAME, TITLE, [race], lines)


def _verify(shape: Shape) -> int:
    report = tfreel.verify(shape.path)
    return report.records if report.ok else -1


def _blocks(shape: Shape, *, verify: bool = True) -> int:
    return sum(map(len, tfreel.read(shape.path, verify=verify).blocks()))


def read_all(shape: Shape, *, buffer: bytearray) -> int:
    """Reads the file into one buffer again and again: no reader can be faster without reading less."""
    descriptor = os.open(shape.path, os.O_RDONLY)
    done = 0
    while taken := os.preadv(descriptor, [buffer], done):
        done += taken
    os.close(descriptor)
    return shape.count if done == shape.file_bytes else -1


def _tensorflow_counts() -> list[Entry]:
    tf = peers.tensorflow()
    routes: dict[str, Callable[[Shape], int]] = {
        "reduce": lambda shape: _reduced(peers.dataset(shape), lambda n, _: n + 1),
        f"batch({_BATCH}).reduce": lambda shape: _reduced(peers.dataset(shape).batch(_BATCH), _add_size),
        f"batch({_BATCH}).reduce, parallel reads": lambda shape: _reduced(
            peers.dataset(shape, num_parallel_reads=tf.data.AUTOTUNE).batch(_BATCH), _add_size
        ),
        f"batch({_BATCH}) in a Python loop": lambda shape: _looped(peers.dataset(shape).batch(_BATCH)),
        f"batch({_BATCH}).prefetch in a Python loop": lambda shape: _looped(
            peers.dataset(shape).batch(_BATCH).prefetch(tf.data.AUTOTUNE)
        ),
        "tf_record_iterator": lambda shape: peers.count(tf.compat.v1.io.tf_record_iterator(shape.path)),
    }
    return [Entry(name, route, "TensorFlow") for name, route in routes.items()]


def _reduced(dataset: object, step: Callable[..., object]) -> int:
    return int(dataset.reduce(np.int64(0), step).numpy())  # type: ignore[attr-defined]


def _add_size(n: object, batch: object) -> object:
    tf = peers.tensorflow()
    return n + tf.size(batch, out_type=tf.int64)


def _looped(batches: object) -> int:
    return sum(int(batch.shape[0]) for batch in batches)  # type: ignore[attr-defined]
