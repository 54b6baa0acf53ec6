"""How speed goes with the number of records and with their size: tfreel and TensorFlow, point by point."""

from __future__ import annotations

import os
from itertools import islice
from typing import Any

import away
import peers
from bench import Bench
from data import Shape, noise, saved
from harness import Curve, Entry, Line, Outcome, Race, quartiles
from rows import WANTED

import tfreel
from jobs.write import Task, write_many, write_tensorflow, writing

NAME = "growth"
TITLE = "25. Growth over the number of records and their size"

_COUNTS = (1_000, 10_000, 100_000, 1_000_000)
_SIZES = (64, 512, 4_096, 32_768, 262_144, 2_097_152)
_TOTAL_BYTES = 64 << 20
_MOST_RECORDS = 200_000
_BATCH = 1024
_KIND = "tabular"
_OURS, _THEIRS = "tfreel", "TensorFlow"


def run(bench: Bench) -> Outcome:
    """Each point is a race; a curve is what they give, as a rate with its quartiles."""
    outcome = Outcome(NAME, TITLE)
    _over_counts(bench, outcome)
    _over_sizes(bench, outcome)
    return outcome


def _over_counts(bench: Bench, outcome: Outcome) -> None:
    counts = [_COUNTS[0]] if bench.check else sorted({bench.data.first(_KIND, n).count for n in _COUNTS})
    tables = [bench.data.first(_KIND, count) for count in counts]
    ours = Entry(_OURS, lambda shape: sum(batch.num_rows for batch in _plan(shape)))
    entries = [ours, *away.entries("tensorflow", _tensorflow_epochs)]
    races = [
        bench.race(f"epoch of {table.count:,} records", entries, table, work=table.count, unit="records")
        for table in tables
    ]
    _curve(outcome, "Shuffled epoch from scratch, 20 numbers a record", "records", counts, races)
    ours = Entry(_OURS, lambda shape: int(next(iter(_plan(shape))).num_rows))
    entries = [ours, *away.entries("tensorflow", _tensorflow_first)]
    races = [
        bench.race(f"first batch of {table.count:,} records", entries, table, work=1, unit="batches")
        for table in tables
    ]
    _curve(outcome, "First batch of a shuffled epoch, from scratch", "records", counts, races)


def _over_sizes(bench: Bench, outcome: Outcome) -> None:
    sizes = [_SIZES[0]] if bench.check else list(_SIZES)
    shapes = [_of_size(bench, size) for size in sizes]
    ours = Entry(_OURS, lambda shape: peers.count(tfreel.read(shape.path)))
    entries = [ours, *away.entries("tensorflow", _tensorflow_iterating)]
    races = [
        bench.race(
            f"iterate {_words(shape)}",
            entries,
            shape,
            work=shape.file_bytes,
            unit="B",
            limit=("page cache", shape.file_bytes),
        )
        for shape in shapes
    ]
    _curve(outcome, "Iterate records", "bytes a record", sizes, races)
    entries = [writing(_OURS, write_many), *away.entries("tensorflow", _tensorflow_writing)]
    races = [_write_race(bench, entries, shape) for shape in shapes]
    _curve(outcome, "Write records", "bytes a record", sizes, races)


def _curve(outcome: Outcome, name: str, along: str, places: list[int], races: list[Race]) -> None:
    outcome.races += races
    entries = [entry for entry in (_OURS, _THEIRS) if entry in races[0].times]
    points = {entry: [_point(race, entry) for race in races] for entry in entries}
    outcome.curves.append(Curve(name, along, places, races[0].unit, points))
    for race in races[:1] + races[1:][-1:]:
        ratios = race.ratios(_THEIRS, _OURS)
        low, median, high = quartiles(ratios) if ratios else (None, None, None)
        outcome.lines.append(Line(f"{race.name}: tfreel against TensorFlow", median, low=low, high=high))


def _point(race: Race, entry: str) -> tuple[float, float, float]:
    """The rate at the quartiles of the times, the slowest first."""
    low, median, high = quartiles(race.times[entry])
    return race.work / high, race.work / median, race.work / low


# Over the number of records ---------------------------------------------------------------------------------


def _plan(shape: Shape) -> Any:
    return tfreel.Dataset(shape.path, WANTED[_KIND].context).shuffle(seed=1).batch(_BATCH)


def _tensorflow_plan(shape: Shape) -> Any:
    tf = peers.tensorflow()
    context, _ = WANTED[_KIND].to_tensorflow(tf)
    batches = peers.dataset(shape).shuffle(10_000, seed=1).batch(_BATCH)
    parsed = batches.map(lambda some: tf.io.parse_example(some, context), num_parallel_calls=tf.data.AUTOTUNE)
    return parsed.prefetch(tf.data.AUTOTUNE)


def _tensorflow_epochs() -> list[Entry]:
    return [Entry(_THEIRS, lambda shape: sum(map(_height, _tensorflow_plan(shape))))]


def _tensorflow_first() -> list[Entry]:
    return [Entry(_THEIRS, lambda shape: _height(next(iter(_tensorflow_plan(shape)))))]


def _height(batch: Any) -> int:
    return int(batch["int_0"].shape[0])


# Over their size --------------------------------------------------------------------------------------------


def _of_size(bench: Bench, size: int) -> Shape:
    count = min(_MOST_RECORDS, max(8, int(_TOTAL_BYTES * min(1, bench.scale * 2)) // size))
    count = min(count, 2000) if bench.check else count
    return saved(bench.data.folder, f"size-{size}", islice(noise(size, size, size), count), count)


def _words(shape: Shape) -> str:
    return f"{shape.count:,} records of {shape.payload_bytes // shape.count:,} bytes"


def _tensorflow_iterating() -> list[Entry]:
    iterator = peers.tensorflow().compat.v1.io.tf_record_iterator
    return [Entry(_THEIRS, lambda shape: peers.count(iterator(shape.path)))]


def _tensorflow_writing() -> list[Entry]:
    peers.tensorflow()
    return [writing(_THEIRS, write_tensorflow)]


def _write_race(bench: Bench, writers: list[Entry], shape: Shape) -> Race:
    task = Task(os.path.join(bench.data.folder, "written.tfrecord"), list(tfreel.read(shape.path)))
    limit = ("page cache, writing", shape.file_bytes)
    name = f"write {_words(shape)}"
    return bench.race(name, writers, task, work=shape.file_bytes, unit="B", limit=limit)
