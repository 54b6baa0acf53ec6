"""Rows and columns made into serialized Examples, and written; and one Example taken apart again."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import peers
import rows as rows_module
from bench import Bench
from harness import Entry, Outcome, compare

import tfreel

NAME = "encode"
TITLE = "11. Encode and write rows of 20 single numbers; decode them"


def run(bench: Bench) -> Outcome:
    """Against the way of the tutorials, and TensorFlow's fastest."""
    count = bench.amount(200_000, 2000)
    rows = list(islice(rows_module.tabular(), count))
    columns = {name: np.array([row[name] for row in rows], _dtype(name)) for name in rows[0]}
    course = Course(bench, rows, columns)
    write = bench.race(
        "rows written",
        [
            Entry("tfreel write(dict)", course.write_each, "tfreel", proof=course.written),
            Entry("tfreel write_many(dicts)", course.write_many, "tfreel many", proof=course.written),
            Entry(
                "tfreel write_batch(columns)", course.write_columns, "tfreel columns", proof=course.written
            ),
            *course.tensorflow_writers(),
        ],
        course,
        work=count,
        unit="records",
    )
    decode = bench.race("rows decoded", course.decoders(), course, work=count, unit="records")
    lines = [
        compare(write, "tutorial", "tfreel write_many(dicts)", "{fast} against the tutorials' way", limit=30),
        compare(
            write, "TensorFlow", "tfreel write_many(dicts)", "{fast} against TensorFlow's fastest", limit=12
        ),
        compare(write, "tutorial", "tfreel write(dict)", "{fast} against the tutorials' way"),
        compare(
            write, "tutorial", "tfreel write_batch(columns)", "{fast} against the tutorials' way", limit=80
        ),
        compare(decode, "TensorFlow", "tfreel.decode", "{fast} against {slow}", limit=4),
    ]
    return Outcome(NAME, TITLE, [write, decode], lines)


def _dtype(name: str) -> type[np.generic]:
    return np.int64 if name.startswith("int") else np.float32


class Course:
    """The same rows in every form, and a file to write them to."""

    def __init__(self, bench: Bench, rows: list[dict[str, Any]], columns: dict[str, Any]) -> None:
        self.rows = rows
        self.columns = columns
        self.records = [tfreel.encode(row) for row in rows]
        self.path = os.path.join(bench.data.folder, "encoded.tfrecord")

    def writing(self, name: str, run: Callable[[Any], int], team: str = "") -> Entry:
        """An entry that writes the file. What the file holds then is its proof, in whatever order."""
        return Entry(name, run, team, proof=lambda course: (run(course), self._written()))

    def _written(self) -> dict[str, float]:
        batch = tfreel.load(self.path, rows_module.WANTED["tabular"].context)
        return {name: float(np.sum(batch[name], dtype=np.float64)) for name in batch}

    def _writer(self) -> tfreel.Writer:
        return tfreel.Writer(self.path, mode="w", durable=False)

    def write_each(self, _: Any) -> int:
        with self._writer() as out:
            for row in self.rows:
                out.write(row)
        return len(self.rows)

    def write_many(self, _: Any) -> int:
        with self._writer() as out:
            out.write_many(self.rows)
        return len(self.rows)

    def write_columns(self, _: Any) -> int:
        with self._writer() as out:
            out.write_batch(self.columns)
        return len(self.rows)

    def tensorflow_writers(self) -> list[Entry]:
        tf = peers.tensorflow()
        if tf is None:
            return []
        ways = {"tutorial": (_as_in_tutorials, "tutorial"), "dict constructor": (_by_dicts, "TensorFlow")}
        ways["filled in place"] = (_in_place, "TensorFlow")

        def run(make: Any, _: Any) -> int:
            with tf.io.TFRecordWriter(self.path) as out:
                for row in self.rows:
                    out.write(make(tf, row).SerializeToString())
            return len(self.rows)

        return [
            self.writing(f"tf.train.Example, {name}", partial(run, make), team)
            for name, (make, team) in ways.items()
        ]

    def decoders(self) -> list[Entry]:
        entries = [
            Entry("tfreel.decode", lambda _: sum(len(tfreel.decode(record)) for record in self.records))
        ]
        tf = peers.tensorflow()
        if tf is None:
            return entries

        def by_messages(_: Any) -> int:
            return sum(len(_values(tf.train.Example.FromString(record))) for record in self.records)

        return [*entries, Entry("tf.train.Example.FromString, values read", by_messages, "TensorFlow")]


def _values(example: Any) -> dict[str, Any]:
    found = {}
    for name, feature in example.features.feature.items():
        found[name] = np.array(getattr(feature, feature.WhichOneof("kind")).value)
    return found


def _as_in_tutorials(tf: Any, row: dict[str, Any]) -> Any:
    """A function for each kind, a Feature for each value, as every tutorial has it."""

    def int64_feature(value: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))

    def float_feature(value: float) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))

    feature = {
        name: int64_feature(value) if isinstance(value, int) else float_feature(value)
        for name, value in row.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def _by_dicts(tf: Any, row: dict[str, Any]) -> Any:
    feature = {
        name: {"int64_list": {"value": [value]}}
        if isinstance(value, int)
        else {"float_list": {"value": [value]}}
        for name, value in row.items()
    }
    return tf.train.Example(features={"feature": feature})


def _in_place(tf: Any, row: dict[str, Any]) -> Any:
    example = tf.train.Example()
    feature = example.features.feature
    for name, value in row.items():
        if isinstance(value, int):
            feature[name].int64_list.value.append(value)
        else:
            feature[name].float_list.value.append(value)
    return example
