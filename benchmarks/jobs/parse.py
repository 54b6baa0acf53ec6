"""Serialized examples made into columns, in batches of 1024 that Python gets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import away
import numpy as np
import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Line, Outcome, Race, compare
from rows import WANTED

import tfreel

NAME = "parse"
TITLE = "10. Parse examples into columns, batches of 1,024"

_BATCH = 1024
_BLOCKS = 8
_BARS = {"tabular": 8, "dense": 7, "sequences": 8, "raw": 4}
_TEXTS = {
    "tabular": "20 single numbers",
    "dense": "256 floats and a label",
    "sequences": "SequenceExamples with ragged lists",
    "raw": "3 KB of raw bytes and a label",
    "any-order": "20 single numbers in any order",
}
_LONGER = ("dense", "raw")  # kinds that a check of the harness learns nothing from


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's best way for each kind of rows; and against the others that parse Examples."""
    outcome = Outcome(NAME, TITLE)
    for kind, text in _TEXTS.items():
        if bench.check and kind in _LONGER:
            continue
        shape = bench.data.shape(kind)
        entries = [
            Entry("tfreel, blocks", _blocks, "tfreel", proof=partial(_proof, _block_batches)),
            Entry("tfreel, batches of 1,024", _batches, "tfreel", proof=partial(_proof, _record_batches)),
            Entry("tfreel, 8 blocks, sliced", _slices, "tfreel", proof=partial(_proof, _sliced_batches)),
            Entry("tfreel, Dataset", _dataset_rows, "tfreel", proof=partial(_proof, _dataset)),
            *away.entries("tensorflow", _tensorflow, kind),
            *([] if WANTED[kind].lists else away.entries("tfx-bsl", _tfx_bsl)),
            *_parquet(kind),
        ]
        race = bench.race(
            text,
            entries,
            shape,
            work=shape.count,
            unit="records",
            sample=bench.data.sample(kind),
            limit=("page cache", shape.file_bytes),
        )
        outcome.races.append(race)
        outcome.lines.append(
            compare(race, "TensorFlow", "tfreel", f"{text}: {{fast}} against {{slow}}", limit=_BARS.get(kind))
        )
        if "tfx-bsl" in race.times:
            outcome.lines.append(
                compare(race, "tfx-bsl", "tfreel", f"{text}: {{fast}} against {{slow}}", limit=1)
            )
        if "Parquet by pyarrow" in race.times:
            outcome.lines.append(
                compare(race, "Parquet by pyarrow", "tfreel", f"{text}: {{fast}} against {{slow}}")
            )
    outcome.lines.append(_lost_by_order(*outcome.races[:1], outcome.races[-1]))
    outcome.races.append(race := _loader_race(bench))
    outcome.lines.append(
        compare(race, "tfrecord_loader", "tfreel", "{fast} against {slow}, record by record", limit=100)
    )
    return outcome


def _lost_by_order(sorted_race: Race, any_race: Race) -> Line:
    """Of two races of one run: the time for a record in any order, against one in the usual order."""
    usual, shuffled = (race.rate(str(race.best("tfreel"))) for race in (sorted_race, any_race))
    return Line(
        "20 single numbers: time in any order, against the usual", usual / shuffled, limit=1.5, at_most=True
    )


# tfreel -----------------------------------------------------------------------------------------------------


def _record_batches(shape: Shape) -> Iterator[Any]:
    reader = tfreel.read(shape.path)
    wanted = WANTED[shape.kind]
    while records := list(islice(reader, _BATCH)):
        yield _parsed(records, wanted)


def _block_batches(shape: Shape) -> Iterator[Any]:
    wanted = WANTED[shape.kind]
    for block in tfreel.read(shape.path).blocks():
        yield _parsed(block, wanted)


def _sliced_batches(shape: Shape) -> Iterator[Any]:
    """So much at a time that two threads have enough to do, then cut into batches, which copies nothing."""
    wanted = WANTED[shape.kind]
    blocks = tfreel.read(shape.path).blocks()
    while some := tuple(islice(blocks, _BLOCKS)):
        found = _parsed(some, wanted)
        for start in range(0, found.num_rows, _BATCH):
            if not wanted.lists:
                yield found.slice(start, start + _BATCH)
                continue
            context, lists = (part.slice(start, start + _BATCH) for part in (found.context, found.sequences))
            yield tfreel.SequenceBatch(context, lists, {})


def _dataset(shape: Shape) -> Any:
    wanted = WANTED[shape.kind]
    return tfreel.Dataset(shape.path, wanted.context, sequence_features=wanted.lists).batch(_BATCH)


def _dataset_rows(shape: Shape) -> int:
    return sum(batch.num_rows for batch in opened(_dataset, shape))


def _parsed(records: Any, wanted: Any) -> Any:
    if wanted.lists:
        return tfreel.parse_sequence(records, wanted.context, wanted.lists)
    return tfreel.parse(records, wanted.context)


def _blocks(shape: Shape) -> int:
    return sum(batch.num_rows for batch in _block_batches(shape))


def _batches(shape: Shape) -> int:
    return sum(batch.num_rows for batch in _record_batches(shape))


def _slices(shape: Shape) -> int:
    return sum(batch.num_rows for batch in _sliced_batches(shape))


def _proof(batches: Callable[[Shape], Iterator[Any]], shape: Shape) -> dict[str, Any]:
    """The sum of every column, as integers of the bits: the order of batches does not matter."""
    wanted = WANTED[shape.kind]
    names = [*wanted.context, *wanted.lists]
    return sums({name: _flat(batch[name]) for name in names} for batch in batches(shape))


def _flat(column: Any) -> Any:
    if isinstance(column, tfreel.Ragged):
        begin, end = int(column.offsets[0]), int(column.offsets[-1])
        return _flat(column.values[begin:end])
    if isinstance(column, tfreel.BytesColumn):
        return column.data[int(column.offsets[0]) : int(column.offsets[-1])]
    return column


def sums(batches: Iterator[dict[str, Any]]) -> dict[str, int]:
    """The sum of every column over all batches, as integers of the bits."""
    sums: dict[str, int] = {}
    for batch in batches:
        for name, values in batch.items():
            bits = values.view(np.uint32) if values.dtype == np.float32 else values
            sums[name] = sums.get(name, 0) + int(bits.sum(dtype=np.uint64))
    return sums


# TensorFlow -------------------------------------------------------------------------------------------------


def _tensorflow(kind: str) -> list[Entry]:
    tf = peers.tensorflow()
    context, lists = WANTED[kind].to_tensorflow(tf)

    def parse(records: Any) -> Any:
        if not lists:
            return tf.io.parse_example(records, context)
        found = tf.io.parse_sequence_example(records, context, lists)
        return {**found[0], **found[1]}

    def dataset(shape: Shape, parallel: bool) -> Any:
        tuned = tf.data.AUTOTUNE if parallel else None
        batches = peers.dataset(shape).batch(_BATCH).map(parse, num_parallel_calls=tuned)
        return batches.prefetch(tf.data.AUTOTUNE) if parallel else batches

    def interleaved(shape: Shape) -> Any:
        paths = tf.data.Dataset.from_tensor_slices(shards(shape))
        records = paths.interleave(
            tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
        )
        return (
            records.batch(_BATCH).map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
        )

    routes = {
        "batch, parse_example": partial(dataset, parallel=False),
        "batch, parse_example, AUTOTUNE": partial(dataset, parallel=True),
        "4 shards interleaved, AUTOTUNE": interleaved,
    }
    return [
        Entry(name, partial(_drained, route), "TensorFlow", proof=partial(_tensorflow_proof, route))
        for name, route in routes.items()
    ]


def _drained(route: Callable[[Shape], Any], shape: Shape) -> int:
    name = next(iter(WANTED[shape.kind].context))
    return sum(int(batch[name].shape[0]) for batch in opened(route, shape))


def _tensorflow_proof(route: Callable[[Shape], Any], shape: Shape) -> dict[str, int]:
    def columns() -> Iterator[dict[str, Any]]:
        for batch in route(shape):
            yield {name: _tensor_values(value) for name, value in batch.items()}

    return sums(columns())


def _tensor_values(value: Any) -> Any:
    array = getattr(value, "flat_values", value).numpy()
    return np.frombuffer(b"".join(array.tolist()), np.uint8) if array.dtype == object else array


def shards(shape: Shape) -> list[str]:
    """The same records in four files."""
    paths = [f"{shape.path}.shard-{i}" for i in range(4)]
    if not all(map(os.path.exists, paths)):
        writers = [tfreel.Writer(path, mode="w") for path in paths]
        for i, record in enumerate(tfreel.read(shape.path)):
            writers[i % 4].write(record)
        for writer in writers:
            writer.close()
    return paths


# Others -----------------------------------------------------------------------------------------------------


def _tfx_bsl() -> list[Entry]:
    from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

    decoder = ExamplesToRecordBatchDecoder()

    def batches(shape: Shape) -> Iterator[Any]:
        reader = tfreel.read(shape.path)  # it reads no files; the quickest reader there is serves it
        while records := list(islice(reader, _BATCH)):
            yield decoder.DecodeBatch(records)

    return [_arrow_entry("tfx-bsl", batches)]


def _parquet(kind: str) -> list[Entry]:
    """The same columns from another format, as a mark of how fast a table can be read at all."""
    arrow = peers.pyarrow()
    if arrow is None or kind != "tabular":
        return []

    def batches(shape: Shape) -> Iterator[Any]:
        path = shape.path + ".parquet"
        if not os.path.exists(path):
            table = arrow.table(dict(tfreel.load(shape.path, WANTED[kind].context)))
            options = {"compression": "none", "use_dictionary": False, "row_group_size": 1 << 16}
            arrow.parquet.write_table(table, path, **options)
        return arrow.parquet.ParquetFile(path).iter_batches(_BATCH)

    return [_arrow_entry("Parquet by pyarrow", batches)]


def _arrow_entry(name: str, batches: Callable[[Shape], Iterator[Any]]) -> Entry:
    def proof(shape: Shape) -> dict[str, int]:
        names = WANTED[shape.kind].context
        return sums({name: _arrow_values(batch.column(name)) for name in names} for batch in batches(shape))

    return Entry(name, lambda shape: sum(batch.num_rows for batch in batches(shape)), name, proof=proof)


def _arrow_values(column: Any) -> Any:
    flat = column.flatten() if hasattr(column, "flatten") and "list" in str(column.type) else column
    if "binary" in str(flat.type):
        return np.frombuffer(b"".join(flat.to_pylist()), np.uint8)
    return flat.to_numpy(zero_copy_only=False)


def _loader_race(bench: Bench) -> Race:
    """The record-by-record loader of `tfrecord`, on few records: it takes its time."""
    shape = bench.data.sample("tabular")
    entries = [Entry("tfreel", _blocks), *away.entries("tfrecord", _tfrecord)]
    return bench.race("all rows, 20 single numbers", entries, shape, work=shape.count, unit="records")


def _tfrecord() -> list[Entry]:
    from tfrecord.reader import tfrecord_loader as loader

    description = {name: "int" if name.startswith("int") else "float" for name in WANTED["tabular"].context}
    return [Entry("tfrecord_loader", lambda shape: peers.count(loader(shape.path, None, description)))]
