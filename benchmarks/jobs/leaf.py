"""The same program with `tensorflow` and with `tfreel.tf`: the pipelines of the tutorials."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import away
import numpy as np
import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Outcome, compare

NAME = "leaf"
TITLE = "16. Programs written for TensorFlow, run with tfreel.tf"

_BATCH = 32
_BUFFER = 1024
_SEED = 7

Plan = Callable[..., Any]


def run(bench: Bench) -> Outcome:
    """Word for word the same program, and the one with parallel calls, which TensorFlow likes better."""
    outcome = Outcome(NAME, TITLE)
    _race(bench, outcome, "photos", _photos, "photos: parse, decode, resize, shuffle, batch, prefetch", 1)
    _race(bench, outcome, "tabular", _table, "20 numbers: parse, shuffle, batch", 20)
    return outcome


def _race(bench: Bench, outcome: Outcome, kind: str, plan: Plan, name: str, limit: float) -> None:
    shape = bench.data.shape(kind)
    race = bench.race(
        name,
        _entries(plan),
        shape,
        work=shape.count,
        unit="records",
        sample=bench.data.sample(kind),
        limit=("JPEG", shape.count) if kind == "photos" else ("page cache", shape.file_bytes),
    )
    outcome.races.append(race)
    for team in ("TensorFlow", "TensorFlow, parallel calls"):
        bar = limit if team == "TensorFlow" else None
        text = f"{{fast}} against {{slow}}, {kind}"
        outcome.lines.append(compare(race, team, "tfreel.tf", text, limit=bar))


def _entries(plan: Plan) -> list[Entry]:
    from tfreel import tf as ours

    return [_entry("tfreel.tf", partial(plan, ours)), *away.entries("tensorflow", _tensorflow, plan)]


def _tensorflow(plan: Plan) -> list[Entry]:
    theirs = peers.tensorflow()
    parallel = partial(plan, theirs, num_parallel_calls=theirs.data.AUTOTUNE)
    return [_entry("TensorFlow", partial(plan, theirs)), _entry("TensorFlow, parallel calls", parallel)]


def _entry(name: str, plan: Callable[[Shape], Any]) -> Entry:
    def rows(shape: Shape) -> int:
        return sum(len(labels) for _, labels in opened(plan, shape))

    return Entry(name, rows, proof=lambda shape: _digest(plan(shape)))


def _digest(batches: Any) -> str:
    """All bytes in their order: a seeded shuffle has one order, whoever makes it."""
    digest = hashlib.sha256()
    for values, labels in batches:
        digest.update(np.ascontiguousarray(values.numpy()))
        digest.update(np.ascontiguousarray(labels.numpy()))
    return digest.hexdigest()


def _photos(tf: Any, shape: Shape, **parallel: Any) -> Any:
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record: Any) -> Any:
        row = tf.io.parse_single_example(record, features)
        image = tf.image.resize(tf.io.decode_jpeg(row["image"], channels=3), (96, 96)) / 255
        return image, tf.stack([tf.cast(row["label"], "int32")])

    dataset = tf.data.TFRecordDataset(shape.path).map(parse, **parallel)
    shuffled = dataset.shuffle(_BUFFER, seed=_SEED, reshuffle_each_iteration=False)
    return shuffled.batch(_BATCH).prefetch(buffer_size=-1)


def _table(tf: Any, shape: Shape, **parallel: Any) -> Any:
    from rows import WANTED

    features = {
        name: tf.io.FixedLenFeature(feature.shape, getattr(tf, feature.dtype.replace("bytes", "string")))
        for name, feature in WANTED[shape.kind].context.items()
    }
    first = min(features)

    def parse(record: Any) -> Any:
        row = tf.io.parse_single_example(record, features)
        numbers = [tf.cast(row[name], tf.float32) for name in sorted(row) if name != first]
        return tf.stack(numbers), row[first]

    dataset = tf.data.TFRecordDataset(shape.path).map(parse, **parallel)
    shuffled = dataset.shuffle(_BUFFER, seed=_SEED, reshuffle_each_iteration=False)
    return shuffled.batch(_BATCH).prefetch(buffer_size=-1)
