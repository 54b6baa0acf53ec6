"""Rows of twenty numbers: from Python dicts to a file of Examples, and from Examples to values."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import away
import numpy as np
import peers
from bench import Bench
from harness import Entry, Outcome, Race, compare

import tfreel

NAME = "examples"
TITLE = "11. Rows of 20 numbers as Examples, written and read"

_FEATURES = 20
_EACH, _MANY, _DECODE = "tfreel write of a dict", "tfreel write_many of dicts", "tfreel decode"
_COLUMNS = "tfreel write_batch of columns"
_TUTORIAL, _IN_PLACE = "tf.train.Example, as tutorials build it", "tf.train.Example, filled in place"
_OF_DICTS = "tf.train.Example, of dicts"
_KNOWN, _ANY = "Example.FromString, names and kinds known", "Example.FromString, any features"

Row = dict[str, int | float]
Build = Callable[[Row], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """Rows, the file to write them to, and their Examples."""

    path: str
    rows: list[Row]
    columns: dict[str, Any] = field(default_factory=dict)
    records: list[bytes] = field(default_factory=list)


def make_rows(count: int) -> list[Row]:
    """Half of the features are ints, half are floats that float32 holds."""
    source = random.Random(11)
    return [
        {
            f"feature_{i:02d}": source.randrange(-8, 1 << 20) if i % 2 else source.randrange(1 << 20) / 4
            for i in range(_FEATURES)
        }
        for _ in range(count)
    ]


def build_by_parts(row: Row) -> Any:
    """A message for each feature, put together at the end."""
    train = peers.tensorflow().train
    features = {}
    for name, value in row.items():
        if isinstance(value, int):
            features[name] = train.Feature(int64_list=train.Int64List(value=[value]))
        else:
            features[name] = train.Feature(float_list=train.FloatList(value=[value]))
    return train.Example(features=train.Features(feature=features))


def build_in_place(row: Row) -> Any:
    """One message, whose parts come into being as they are touched."""
    example = peers.tensorflow().train.Example()
    features = example.features.feature
    for name, value in row.items():
        if isinstance(value, int):
            features[name].int64_list.value.append(value)
        else:
            features[name].float_list.value.append(value)
    return example


def writing(name: str, write: Callable[[Task], None], team: str = "") -> Entry:
    """An entry that writes a file; its proof is what the records hold, as messages have no fixed order."""

    def run(task: Task) -> int:
        write(task)
        return os.path.getsize(task.path)

    def prove(task: Task) -> str:
        write(task)
        return digest(tfreel.decode(record) for record in tfreel.read(task.path))

    return Entry(name, run, team, prove, clean=lambda task: os.unlink(task.path))


def digest(rows: Any) -> str:
    """Of the values of all rows, by name."""
    state = hashlib.sha256()
    for row in rows:
        for name in sorted(row):
            state.update(f"{name}={float(row[name][0])};".encode())
    return state.hexdigest()


def write_each(task: Task) -> None:
    """With tfreel, one call for each row."""
    with tfreel.Writer(task.path, durable=False) as out:
        for row in task.rows:
            out.write(row)


def write_many(task: Task) -> None:
    """With tfreel, one call for all."""
    with tfreel.Writer(task.path, durable=False) as out:
        out.write_many(task.rows)


def write_columns(task: Task) -> None:
    """With tfreel, from arrays."""
    with tfreel.Writer(task.path, durable=False) as out:
        out.write_batch(task.columns)


def build_of_dicts(row: Row) -> Any:
    """One call, with plain dicts for all the messages inside."""
    features = {
        name: {"int64_list" if isinstance(value, int) else "float_list": {"value": [value]}}
        for name, value in row.items()
    }
    return peers.tensorflow().train.Example(features={"feature": features})


def writing_messages(build: Build) -> Callable[[Task], None]:
    """With TensorFlow."""

    def write(task: Task) -> None:
        with peers.tensorflow().io.TFRecordWriter(task.path) as out:
            for row in task.rows:
                out.write(build(row).SerializeToString())

    return write


def reading(name: str, read: Callable[[bytes], dict[str, Any]], team: str = "") -> Entry:
    """An entry that reads every value of every record."""
    return Entry(
        name,
        lambda task: sum(len(read(record)) for record in task.records),
        team,
        lambda task: digest(map(read, task.records)),
    )


def read_known(record: bytes) -> dict[str, Any]:
    """By names and kinds that the program knows, and that there is one value each."""
    features = peers.tensorflow().train.Example.FromString(record).features.feature
    return {
        name: [features[name].int64_list.value[0] if is_int else features[name].float_list.value[0]]
        for name, is_int in _NAMES.items()
    }


def read_any(record: bytes) -> dict[str, Any]:
    """By whatever is there."""
    features = peers.tensorflow().train.Example.FromString(record).features.feature
    return {name: list(getattr(value, value.WhichOneof("kind")).value) for name, value in features.items()}


_NAMES = {f"feature_{i:02d}": bool(i % 2) for i in range(_FEATURES)}


def _tensorflow_writers() -> list[Entry]:
    return [
        writing(_TUTORIAL, writing_messages(build_by_parts)),
        writing(_IN_PLACE, writing_messages(build_in_place), "TensorFlow"),
        writing(_OF_DICTS, writing_messages(build_of_dicts), "TensorFlow"),
    ]


def _tensorflow_readers() -> list[Entry]:
    return [reading(_KNOWN, read_known), reading(_ANY, read_any)]


def hold_races(bench: Bench, task: Task) -> list[Race]:
    """Writing, then reading."""
    writers = [writing(_EACH, write_each), writing(_MANY, write_many), writing(_COLUMNS, write_columns)]
    readers = [reading(_DECODE, tfreel.decode)]
    writers += away.entries("tensorflow", _tensorflow_writers)
    readers += away.entries("tensorflow", _tensorflow_readers)
    amount = {"work": len(task.rows), "unit": "rows"}
    size = sum(map(len, task.records))
    return [
        bench.race("rows to a file", writers, task, limit=("page cache, writing", size), **amount),
        bench.race("records to values", readers, task, limit=("memory", size), **amount),
    ]


def run(bench: Bench) -> Outcome:
    """Against the messages of TensorFlow."""
    rows = make_rows(bench.amount(50_000, 500))
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    records = [tfreel.encode(row) for row in rows]
    task = Task(os.path.join(bench.data.folder, "rows.tfrecord"), rows, columns, records)
    written, read = hold_races(bench, task)
    lines = [
        compare(written, _TUTORIAL, _MANY, "{fast} against {slow}", limit=30),
        compare(written, _TUTORIAL, _EACH, "{fast} against {slow}", limit=30),
        compare(written, "TensorFlow", _MANY, "{fast} against TensorFlow's fastest, {slow}", limit=12),
        compare(written, _TUTORIAL, _COLUMNS, "{fast} against {slow}", limit=80),
        compare(read, _KNOWN, _DECODE, "{fast} against {slow}", limit=4),
        compare(read, _ANY, _DECODE, "{fast} against {slow}", limit=4),
    ]
    return Outcome(NAME, TITLE, [written, read], lines)
