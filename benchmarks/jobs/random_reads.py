"""Records picked at random: in batches, one by one, and what the index that makes it possible costs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import away
import numpy as np
from bench import Bench
from data import Shape
from harness import Entry, Line, Outcome, Race, compare

import tfreel

NAME = "random"
TITLE = "6. Random reads of small records"

_PICKS = 1024
_DEFAULT = "array_record as it comes"
_AS_IT_COMES = "zstd, default"
# Without a pool of threads, seek and read do the work on the spot: by far its fastest way to one record.
_READER_OPTIONS = {"default": "", "max_parallelism:0": "readahead_buffer_size:0,max_parallelism:0"}
_WRITER_OPTIONS = {"zstd": "group_size:1", "uncompressed": "group_size:1,uncompressed"}


@dataclass(frozen=True, slots=True)
class Picks:
    """Indices in batches."""

    batches: list[list[int]]


def run(bench: Bench) -> Outcome:
    """Against ArrayRecord, made for this, and against bare positional reads."""
    shape = bench.data.shape("small")
    outcome = Outcome(NAME, TITLE)
    outcome.races = [_batch_race(bench, shape), _single_race(bench, shape), _index_race(bench, shape)]
    outcome.lines = _findings(*outcome.races[:2])
    outcome.notes = [
        "ArrayRecord has group_size:1, the setting for random access, and is tried with and without"
        " compression and threads. os.pread knows the offsets and checks nothing."
    ]
    return outcome


def _findings(batches: Race, singles: Race) -> list[Line]:
    share = "speed of tfreel, as a share of a loop of {slow}"
    return [
        compare(batches, "array_record", "tfreel", "1,024 at a time: tfreel against {slow}", limit=4),
        compare(batches, "os.pread", "tfreel", f"1,024 at a time: {share}", unit="%"),
        compare(singles, _DEFAULT, "tfreel", "one by one: tfreel against {slow}, read([i])", limit=100),
        compare(singles, "array_record", "tfreel", "one by one: tfreel against its fastest way, {slow}"),
        compare(singles, "os.pread", "tfreel", f"one by one: {share}", unit="%"),
    ]


# Entries ----------------------------------------------------------------------------------------------------


def _picking(name: str, pick: Callable[[list[int]], list[bytes]], team: str = "") -> Entry:
    def run(picks: Picks) -> int:
        return sum(len(pick(batch)) for batch in picks.batches)

    def prove(picks: Picks) -> str:
        digest = hashlib.sha256()
        for batch in picks.batches:
            for record in pick(batch):
                digest.update(hashlib.sha256(record).digest())
        return digest.hexdigest()

    return Entry(name, run, team, prove)


def _batch_race(bench: Bench, shape: Shape) -> Race:
    course, sample = _picks(shape, bench.amount(200, 2)), _picks(shape, bench.amount(20, 2))
    records = tfreel.open(shape.path, index="memory")
    entries = [
        _picking("tfreel", records.__getitem__),
        *away.entries("grain", _array_record_batches, bench.data.folder, shape),
        _picking("os.pread", _pread(shape)),
    ]
    work = len(course.batches) * _PICKS
    limit = ("page cache", work * shape.file_bytes / shape.count)
    return bench.race(
        "1,024 at a time", entries, course, work=work, unit="records", sample=sample, limit=limit
    )


def _single_race(bench: Bench, shape: Shape) -> Race:
    count = bench.amount(2000, 200)
    # Of a small file there are no more than its records to pick from; all picks are different.
    course, sample = _picks(shape, 1, min(count, shape.count)), _picks(shape, 1, bench.amount(200, 20))
    records = tfreel.open(shape.path, index="memory")
    entries = [
        _picking("tfreel", partial(_each, records.__getitem__)),
        *away.entries("grain", _array_record_singles, bench.data.folder, shape),
        _picking("os.pread", _pread(shape)),
    ]
    work = len(course.batches[0])
    limit = ("page cache", work * shape.file_bytes / shape.count)
    return bench.race("one by one", entries, course, work=work, unit="records", sample=sample, limit=limit)


def _each(get: Callable[[int], bytes], picks: list[int]) -> list[bytes]:
    return [get(i) for i in picks]


def _read_one(reader: Any, i: int) -> bytes:
    return reader.read([i])[0]


def _seek(reader: Any, i: int) -> bytes:
    reader.seek(i)
    return reader.read()


def _pread(shape: Shape) -> Callable[[list[int]], list[bytes]]:
    """Bare positional reads of the payloads: the system's price, with offsets known."""
    from tfreel.index.build import scan

    index = scan(shape.path)
    offsets, lengths = (index.offsets + 12).tolist(), index.lengths.tolist()
    descriptor = os.open(shape.path, os.O_RDONLY)
    return lambda picks: [os.pread(descriptor, lengths[i], offsets[i]) for i in picks]


def _picks(shape: Shape, batches: int, size: int = _PICKS) -> Picks:
    rng = np.random.default_rng(6)
    return Picks([rng.choice(shape.count, size, replace=False).tolist() for _ in range(batches)])


# ArrayRecord ------------------------------------------------------------------------------------------------


def _array_record_batches(folder: str, shape: Shape) -> list[Entry]:
    readers = _array_record_readers(folder, shape)
    return [_picking(f"array_record {name}", reader.read, "array_record") for name, reader in readers.items()]


def _array_record_singles(folder: str, shape: Shape) -> list[Entry]:
    readers = _array_record_readers(folder, shape)
    entries = []
    for name, reader in readers.items():
        for route, get in {"read([i])": _read_one, "seek and read": _seek}.items():
            one_by_one = partial(_each, partial(get, reader))
            entries.append(_picking(f"array_record {name}, {route}", one_by_one, "array_record"))
    default = partial(_each, partial(_read_one, readers[_AS_IT_COMES]))
    return [*entries, _picking(_DEFAULT, default)]


@cache
def _array_record_readers(folder: str, shape: Shape) -> dict[str, Any]:
    from array_record.python import array_record_module as module

    readers = {}
    for kind, options in _WRITER_OPTIONS.items():
        path = os.path.join(folder, f"small-{shape.count}-{kind}.array_record")
        writer = module.ArrayRecordWriter(path, options)
        for record in tfreel.read(shape.path):
            writer.write(record)
        writer.close()
        for name, reader_options in _READER_OPTIONS.items():
            readers[f"{kind}, {name}"] = module.ArrayRecordReader(path, reader_options)
    return readers


# The index --------------------------------------------------------------------------------------------------


def _index_race(bench: Bench, shape: Shape) -> Race:
    tfreel.build_index(shape.path, force=True)
    entries = [
        Entry("build_index", _build),
        Entry('open, index="memory"', lambda shape: len(tfreel.open(shape.path, index="memory"))),
        Entry("open with a sidecar", lambda shape: len(tfreel.open(shape.path, index="require"))),
    ]
    race = bench.race("index", entries, shape, work=shape.count, unit="records", truth=shape.count)
    os.unlink(tfreel.build_index(shape.path)[0])  # the other jobs read the file without
    return race


def _build(shape: Shape) -> int:
    tfreel.build_index(shape.path, force=True)
    return shape.count
