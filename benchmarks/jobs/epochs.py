"""Epochs of a dataset: shuffled, batched, parsed, checksums checked; and how soon they begin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import away
import numpy as np
import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Line, Outcome, compare, quartiles
from rows import WANTED

import tfreel
from jobs.parse import shards, sums

NAME = "epochs"
TITLE = "12. Epochs of a dataset"

_BATCH = 1024
_BUFFER = 10_000
_KIND = "tabular"
_HELD = "tfreel, shuffled globally, TFREEL_HELD_BYTES set"
_LOADED = 30_000  # enough to tell a rate, and few enough for slow loaders


def run(bench: Bench) -> Outcome:
    """Against TensorFlow with the shuffle buffer it needs, and Grain with a global shuffle."""
    outcome = Outcome(NAME, TITLE)
    shape = bench.data.shape(_KIND)
    _shuffled(bench, shape, outcome)
    _grain(bench, outcome)
    for workers in (0, 2):
        _loaders(bench, workers, outcome)
    _images(bench, outcome)
    _first_batches(bench, shape, outcome)
    _memory(shape, outcome)
    return outcome


# Shuffled epochs --------------------------------------------------------------------------------------------


def _plan(shape: Shape, **how: Any) -> Any:
    return tfreel.Dataset(shape.path, WANTED[shape.kind].context).shuffle(seed=1, **how).batch(_BATCH)


def _shuffled(bench: Bench, shape: Shape, outcome: Outcome) -> None:
    ways = {"shuffled globally": {}, "shuffled in windows of 10,000": {"window": _BUFFER}}
    plans = {f"tfreel, {name}": partial(_plan, **how) for name, how in ways.items()}
    plans["tfreel, in order"] = _in_order
    entries = [
        Entry(name, partial(_rows, plan), proof=partial(_proof, plan)) for name, plan in plans.items()
    ] + [_held_in_memory(), *away.entries("tensorflow", _tensorflow)]
    race = bench.race(
        "an epoch of 20 single numbers, batches of 1,024",
        entries,
        shape,
        work=shape.count,
        unit="records",
        sample=bench.data.sample(_KIND),
        limit=("page cache", shape.file_bytes),
    )
    outcome.races.append(race)
    text = "{fast} against {slow}, shuffled in a buffer of 10,000"
    outcome.lines.append(compare(race, "TensorFlow", "tfreel, shuffled globally", text, limit=8))
    outcome.lines.append(compare(race, "TensorFlow", _HELD, text))
    outcome.lines.append(compare(race, "TensorFlow", "tfreel, shuffled in windows of 10,000", text))


def _held_in_memory() -> Entry:
    """A set of any size, by somebody who has the memory; small ones are held without asking."""
    plan = partial(_plan)  # a dataset of its own
    return Entry(
        _HELD,
        partial(_rows, plan),
        proof=partial(_proof, plan),
        prepare=lambda _: os.environ.__setitem__("TFREEL_HELD_BYTES", str(10**12)),
        clean=lambda _: os.environ.__delitem__("TFREEL_HELD_BYTES"),
    )


def _in_order(shape: Shape) -> Any:
    return tfreel.Dataset(shape.path, WANTED[shape.kind].context).batch(_BATCH)


def _rows(plan: Callable[[Shape], Any], shape: Shape) -> int:
    return sum(batch.num_rows for batch in opened(plan, shape))


def _proof(plan: Callable[[Shape], Any], shape: Shape) -> dict[str, int]:
    return sums(dict(batch) for batch in plan(shape))


def _tensorflow() -> list[Entry]:
    """Its orders of stages; the buffer holds serialized records, which is the quickest."""
    tf = peers.tensorflow()
    context, _ = WANTED[_KIND].to_tensorflow(tf)

    def parse(records: Any) -> Any:
        return tf.io.parse_example(records, context)

    def tuned(records: Any) -> Any:
        batches = records.shuffle(_BUFFER, seed=1).batch(_BATCH)
        return batches.map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    def interleaved(shape: Shape) -> Any:
        paths = tf.data.Dataset.from_tensor_slices(shards(shape))
        return tuned(paths.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE))

    routes: dict[str, Callable[[Shape], Any]] = {
        "shuffle, batch, parse_example": lambda shape: (
            peers.dataset(shape).shuffle(_BUFFER, seed=1).batch(_BATCH).map(parse)
        ),
        "shuffle, batch, parse_example, AUTOTUNE": lambda shape: tuned(peers.dataset(shape)),
        "4 shards interleaved, shuffle, AUTOTUNE": interleaved,
    }
    return [
        Entry(name, partial(_tensor_rows, route), "TensorFlow", proof=partial(_tensor_proof, route))
        for name, route in routes.items()
    ]


def _tensor_rows(route: Callable[[Shape], Any], shape: Shape) -> int:
    return sum(int(batch["int_0"].shape[0]) for batch in opened(route, shape))


def _tensor_proof(route: Callable[[Shape], Any], shape: Shape) -> dict[str, int]:
    return sums({name: value.numpy() for name, value in batch.items()} for batch in route(shape))


# Grain ------------------------------------------------------------------------------------------------------


def _grain(bench: Bench, outcome: Outcome) -> None:
    """On few records, for it takes its time: a global shuffle of ArrayRecord, Examples parsed by protobuf."""
    shape = bench.data.sample(_KIND)
    entries = [
        Entry("tfreel, shuffled globally", partial(_rows, _plan), proof=partial(_proof, _plan)),
        *away.entries("grain", _grain_entries),
    ]
    race = bench.race("an epoch of few records", entries, shape, work=shape.count, unit="records")
    outcome.races.append(race)
    slow, fast = "ArrayRecord with Grain, shuffled globally", "tfreel, shuffled globally"
    outcome.lines.append(compare(race, slow, fast, "{fast} against {slow}", limit=100))


def _grain_entries() -> list[Entry]:
    def rows(shape: Shape) -> int:
        return sum(len(batch["int_0"]) for batch in opened(grain_plan, shape))

    name = "ArrayRecord with Grain, shuffled globally"
    return [Entry(name, rows, proof=lambda shape: sums(iter(opened(grain_plan, shape))))]


def grain_plan(shape: Shape) -> Any:
    """The same epoch with Grain: an iterable of batches."""
    import grain

    source = grain.sources.ArrayRecordDataSource(_as_array_record(shape))
    return grain.MapDataset.source(source).shuffle(seed=1).map(_decoded).batch(_BATCH).to_iter_dataset()


def _decoded(record: bytes) -> dict[str, Any]:
    features = tfreel.Example.FromString(record).features.feature
    row = {}
    for name, feature in features.items():
        kind = "int64_list" if name.startswith("int") else "float_list"
        values = getattr(feature, kind).value
        row[name] = np.array(values[0], np.int64 if kind == "int64_list" else np.float32)
    return row


def _as_array_record(shape: Shape) -> str:
    from array_record.python import array_record_module as array_record

    path = f"{shape.path}.array_record"
    if not os.path.exists(path):
        writer = array_record.ArrayRecordWriter(path, "group_size:1")
        for record in tfreel.read(shape.path):
            writer.write(record)
        writer.close()
    return path


# PyTorch ----------------------------------------------------------------------------------------------------


def _loaders(bench: Bench, workers: int, outcome: Outcome) -> None:
    """Through PyTorch's DataLoader, whose workers live on from epoch to epoch."""
    shape = bench.data.first(_KIND, _LOADED)
    entries = away.entries("torch", _loader_entries, shape, workers)
    if not entries:
        return
    race = bench.race(f"DataLoader, {workers} workers", entries, shape, work=shape.count, unit="records")
    outcome.races.append(race)
    text = f"DataLoader with {workers} workers: {{fast}} against {{slow}}"
    outcome.lines.append(compare(race, "tfrecord", "tfreel", text, limit=50))


def _loader_entries(shape: Shape, workers: int) -> list[Entry]:
    """Both in the environment of PyTorch."""
    import torch
    from tfrecord.torch.dataset import TFRecordDataset

    from tfreel.adapters.torch import IterableDataset

    options = {"num_workers": workers, "persistent_workers": workers > 0}
    kinds = {name: "int" if name.startswith("int") else "float" for name in WANTED[_KIND].context}
    loaders = {
        "tfreel": torch.utils.data.DataLoader(IterableDataset(_plan(shape)), batch_size=None, **options),
        "tfrecord": torch.utils.data.DataLoader(
            # Its workers share a file by its index, which it cannot do without.
            TFRecordDataset(shape.path, _text_index(shape) if workers else None, kinds),
            batch_size=_BATCH,
            **options,
        ),
    }

    def rows(name: str, _: Shape) -> int:
        return sum(len(batch["int_0"]) for batch in loaders[name])

    def proof(name: str, _: Shape) -> dict[str, int]:
        arrays = ({key: each.numpy().reshape(-1) for key, each in batch.items()} for batch in loaders[name])
        return sums(arrays)

    return [Entry(name, partial(rows, name), proof=partial(proof, name)) for name in loaders]


def _text_index(shape: Shape) -> str:
    (path,) = tfreel.build_index(shape.path, format="text")
    return path


# Images -----------------------------------------------------------------------------------------------------


def _images(bench: Bench, outcome: Outcome) -> None:
    """Bytes as they are: what a window costs against reading from front to back."""
    shape = bench.data.shape("images")

    def images(shape: Shape, **how: Any) -> int:
        dataset = tfreel.Dataset(shape.path, raw=True)
        dataset = dataset.shuffle(seed=1, **how) if how else dataset
        return sum(len(record) for batch in dataset.batch(64) for record in batch)

    entries = [
        Entry("in order", images),
        Entry("in windows of 1,024", partial(images, window=1024)),
        Entry("globally", partial(images, window=None)),
        *away.entries("webdataset", _webdataset),
    ]
    race = bench.race(
        "images of 70 KB, batches of 64",
        entries,
        shape,
        work=shape.file_bytes,
        unit="B",
        limit=("page cache", shape.file_bytes),
    )
    outcome.races.append(race)
    text = "images {fast}, as a share of the speed {slow}"
    outcome.lines.append(compare(race, "in order", "in windows of 1,024", text, limit=80, unit="%"))
    outcome.lines.append(compare(race, "in order", "globally", text, unit="%"))
    text = "images {fast} against {slow}, in a buffer of 1,024"
    outcome.lines.append(compare(race, "webdataset", "in windows of 1,024", text))


def _webdataset() -> list[Entry]:
    import webdataset as wds

    def images(shape: Shape) -> int:
        dataset = wds.WebDataset(peers.tar_of(shape), shardshuffle=False, seed=1)
        batches = dataset.shuffle(1024).to_tuple("bin").batched(64)
        return sum(len(record) for (records,) in batches for record in records)

    return [Entry("webdataset", images)]


# How soon ---------------------------------------------------------------------------------------------------


def _first_batches(bench: Bench, shape: Shape, outcome: Outcome) -> None:
    """Until the first batch is there, with all that comes before; and from a state in the middle."""
    known = indexed(shape)
    steps = iter(_plan(known))
    for _ in range(shape.count // _BATCH // 2):
        next(steps)
    state = steps.state_dict()

    def first(which: Shape, state: Any = None) -> int:
        steps = iter(_plan(which))
        if state is not None:
            steps.load_state_dict(state)
        return int(next(steps).num_rows)

    entries = [
        Entry("tfreel, no index", first),
        Entry("tfreel, with an index", lambda _: first(known)),
        Entry("tfreel, from a state, with an index", lambda _: first(known, state)),
    ]
    entries += away.entries("tensorflow", _tensorflow_first)
    race = bench.race(f"the first batch of {shape.count:,} records", entries, shape, work=1, unit="batches")
    outcome.races.append(race)
    for entry in entries[:3]:
        text = "first batch: {fast} against {slow}"
        outcome.lines.append(compare(race, "TensorFlow", entry.name, text))
        milliseconds = [seconds * 1e3 for seconds in race.times[entry.name]]
        low, median, high = quartiles(milliseconds)
        outcome.lines.append(Line(f"first batch: {entry.name}", median, "ms", low=low, high=high))
    text = "{slow}, against a start from the front"
    name = "tfreel, from a state, with an index"
    outcome.lines.append(compare(race, name, "tfreel, with an index", text, limit=1.2, at_most=True))


def indexed(shape: Shape) -> Shape:
    """The same file under another name, beside its index."""
    path = f"{shape.path}.indexed"
    if not os.path.exists(path):
        os.link(shape.path, path)
    tfreel.build_index(path)
    return replace(shape, path=path)


def _tensorflow_first() -> list[Entry]:
    peers.tensorflow()  # so that no run has to import it
    return [Entry("TensorFlow", lambda shape: int(next(_tensors(shape)).shape[0]))]


def _tensors(shape: Shape) -> Iterator[Any]:
    tf = peers.tensorflow()
    context, _ = WANTED[_KIND].to_tensorflow(tf)
    batches = peers.dataset(shape).shuffle(_BUFFER, seed=1).batch(_BATCH)
    for batch in batches.map(lambda records: tf.io.parse_example(records, context)):
        yield batch["int_0"]


# Memory -----------------------------------------------------------------------------------------------------

_EPOCH = """
import sys
import tfreel
from rows import WANTED

def peak():  # in KiB; of this program alone, which the system's own figure is not
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

before = peak()
for batch in tfreel.Dataset(sys.argv[1], WANTED["tabular"].context).shuffle(seed=1).batch(1024):
    pass
print(peak() - before)
"""


def _memory(shape: Shape, outcome: Outcome) -> None:
    """The peak of an epoch in a fresh process, above what the import took."""
    command = [sys.executable, "-c", _EPOCH, shape.path]
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    megabytes = int(done.stdout) / 1024
    text = f"memory of an epoch over {shape.count:,} records, above the import"
    outcome.lines.append(Line(text, megabytes, "MB", limit=150, at_most=True))
