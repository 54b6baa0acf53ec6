"""Rows of 20 numbers read by Spark: the format tfrecord, against binary files that a function decodes."""

from __future__ import annotations

import os
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import peers
from bench import Bench
from data import Shape
from harness import Entry, Outcome, compare

from jobs.parse import shards

NAME = "spark"
TITLE = "21. Rows of 20 numbers, read by Spark with two workers"

_INTS = [f"int_{i}" for i in range(10)]
_FLOATS = [f"float_{i}" for i in range(10)]
_TYPES = ", ".join([f"{name} long" for name in _INTS] + [f"{name} float" for name in _FLOATS])
_ARRAY = f"array<struct<{_TYPES}>>"
_HEADER_BYTES, _FOOTER_BYTES = 12, 4
_ROWS_AT_ONCE = 10_000


def run(bench: Bench) -> Outcome:
    """All columns of all rows are summed up, so that Spark must take every value."""
    outcome = Outcome(NAME, TITLE)
    if peers.pyspark() is None:
        return outcome
    with _session() as spark:
        routes: dict[str, Callable[[Any, list[str]], Any]] = {
            "binaryFile, mapInArrow, protobuf": _mapped,
            "binaryFile, a UDF, explode": _exploded,
        }
        entries = [Entry("tfreel, a schema given", partial(_summed, spark, _given))]
        entries.append(Entry("tfreel, columns found out", partial(_summed, spark, _found)))
        entries += [
            Entry(name, partial(_summed, spark, route), "binaryFile") for name, route in routes.items()
        ]
        shape = bench.data.shape("tabular")
        race = bench.race(
            "read 4 files and sum up all columns",
            entries,
            shape,
            work=shape.count,
            unit="records",
            sample=bench.data.sample("tabular"),
        )
    outcome.races.append(race)
    text = "{fast} against {slow}"
    outcome.lines.append(compare(race, "binaryFile", "tfreel, a schema given", text, limit=3))
    outcome.lines.append(compare(race, "binaryFile", "tfreel, columns found out", text, limit=3))
    outcome.notes = ["The functions check no checksums; tfreel checks them all."]
    return outcome


@contextmanager
def _session() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession

        cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers do not find this file
        settings = {
            "spark.driver.memory": "6g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


def _summed(spark: Any, route: Callable[[Any, list[str]], Any], shape: Shape) -> tuple[int, ...]:
    """The sums of all columns. The floats are multiples of 2⁻²⁴, so that theirs are exact too."""
    sums = [f"sum({name})" for name in _INTS] + [f"sum(cast({name} * 16777216 as long))" for name in _FLOATS]
    frame = route(spark, [os.path.abspath(path) for path in shards(shape)])
    return tuple(int(value) for value in frame.selectExpr("count(*)", *sums).first())


def _given(spark: Any, paths: list[str]) -> Any:
    return spark.read.format("tfrecord").schema(_TYPES).load(paths)


def _found(spark: Any, paths: list[str]) -> Any:
    return spark.read.format("tfrecord").load(paths)


# The other way ----------------------------------------------------------------------------------------------


def _records(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        at += _HEADER_BYTES + length + _FOOTER_BYTES
        yield content[at - _FOOTER_BYTES - length : at - _FOOTER_BYTES]


def _rows(content: bytes) -> Iterator[tuple[Any, ...]]:
    import tfreel  # for its classes of messages, which are protobuf's own

    for record in _records(content):
        found = tfreel.Example.FromString(record).features.feature
        ints = [found[name].int64_list.value[0] for name in _INTS]
        yield (*ints, *(found[name].float_list.value[0] for name in _FLOATS))


def _decoded(batches: Iterator[Any]) -> Iterator[Any]:
    from itertools import islice

    import pyarrow as pa

    types = [pa.int64()] * len(_INTS) + [pa.float32()] * len(_FLOATS)
    for batch in batches:
        for content in batch.column("content").to_pylist():
            rows = _rows(content)
            while some := list(islice(rows, _ROWS_AT_ONCE)):
                columns = [pa.array(c, t) for c, t in zip(zip(*some, strict=True), types, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, names=[*_INTS, *_FLOATS])


def _mapped(spark: Any, paths: list[str]) -> Any:
    return spark.read.format("binaryFile").load(paths).select("content").mapInArrow(_decoded, _TYPES)


def _exploded(spark: Any, paths: list[str]) -> Any:
    from pyspark.sql import functions

    decode = functions.udf(lambda content: list(_rows(bytes(content))), _ARRAY)
    rows = (
        spark.read.format("binaryFile").load(paths).select(functions.explode(decode("content")).alias("row"))
    )
    return rows.select("row.*")
