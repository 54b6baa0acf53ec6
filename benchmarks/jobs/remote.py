"""A shuffled epoch and random batches out of an object store: moto's S3, in a process of its own."""

from __future__ import annotations

import hashlib
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from bench import Bench
from harness import Entry, Line, Outcome, Race, UnequalError

import tfreel

NAME = "remote"
TITLE = "18. Out of an object store (moto's S3 on this machine)"

_PATHS = "s3://bench/train.tfrecord"
_SHARDS = 2
_RECORDS = 8_000  # at any scale: shards of 64 MB are small as shards go, but more than s3fs reads ahead
_RECORD_BYTES = 16_000
_WINDOW = 1024
_BATCH = 64
_PICKS = 256
_FEW = 64  # of the epoch, where each takes a request of 50 MiB
_SETTINGS = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1"}
_BLOCKS = {"cache_type": "blockcache", "block_size": 1 << 20}


@dataclass(frozen=True)
class Store:
    """A set of shards in a bucket, and the order of an epoch."""

    records: tfreel.Records
    order: list[int]


def run(bench: Bench) -> Outcome:
    """Against the file objects of s3fs, which is what other readers of TFRecords use."""
    count = _RECORDS // 8 if bench.check else _RECORDS
    with _server() as endpoint:
        os.environ.update({**_SETTINGS, "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": endpoint})
        store = _fill(count)
        epoch = bench.race(
            f"shuffled epoch of {count:,} records",
            [Entry("tfreel.Dataset", _by_dataset)],
            store,
            work=count,
            unit="records",
        )
        untuned = bench.race(
            f"its first {_FEW} records",
            [
                Entry("s3fs as it comes", partial(_by_file_objects, {}), "s3fs"),
                Entry("s3fs, what is asked for", partial(_by_file_objects, {"cache_type": "none"}), "s3fs"),
            ],
            replace(store, order=store.order[:_FEW]),
            work=_FEW,
            unit="records",
        )
        tuned = bench.race(
            f"its first {_WINDOW:,} records",
            [Entry("s3fs, in blocks of 1 MiB", partial(_by_file_objects, _BLOCKS))],
            replace(store, order=store.order[:_WINDOW]),
            work=_WINDOW,
            unit="records",
        )
        _require_equal(store)
        trips = _round_trips(store)
    lines = [
        _rates(epoch, untuned, limit=5),
        _rates(epoch, tuned),
        Line("round trips for each shard, random batch of 256 records", trips, "", limit=3, at_most=True),
    ]
    notes = [
        f"{count:,} records of 16 KB in {_SHARDS} shards, window of {_WINDOW:,}, batches of {_BATCH}. s3fs"
        " is given the offsets, and checks nothing; tfreel opens the set and its index, and checks all. moto"
        " reads a whole object for each range, so that few requests count for more than they would elsewhere."
    ]
    return Outcome(NAME, TITLE, [epoch, untuned, tuned], lines, notes)


def _rates(epoch: Race, other: Race, limit: float | None = None) -> Line:
    """How many times as many records a second. All of an epoch would take s3fs minutes."""
    fastest = min(other.times, key=lambda name: statistics.median(other.times[name]))
    ratio = epoch.rate("tfreel.Dataset") / other.rate(fastest)
    return Line(f"tfreel.Dataset against {fastest}, records a second", ratio, "×", limit)


def _require_equal(store: Store) -> None:
    """Both give the records of the beginning in the same order."""
    some = replace(store, order=store.order[:_WINDOW])
    if _digest(_plan().take(_WINDOW).batch(_BATCH)) != _by_file_objects(_BLOCKS, some):
        raise UnequalError("tfreel and s3fs give different records")


def _fill(count: int) -> Store:
    import s3fs

    s3fs.S3FileSystem().mkdir("bench")
    payload = np.random.default_rng(1).integers(0, 256, (count, _RECORD_BYTES), np.uint8)
    with tfreel.ShardedWriter(_PATHS, shards=_SHARDS, mode="w") as out:
        out.write_many(row.tobytes() for row in payload)
    tfreel.build_index(_PATHS)
    order = _plan()._node.order.at(np.arange(count, dtype=np.uint64), 0)
    return Store(tfreel.open(_PATHS), order.tolist())


def _plan() -> tfreel.Dataset:
    """The epoch. Opened anew each time, or it would still hold what the one before has fetched."""
    return tfreel.Dataset(_PATHS, raw=True).shuffle(seed=3, window=_WINDOW)


def _digest(batches: Iterator[list[bytes]]) -> str:
    digest = hashlib.sha256()
    for batch in batches:
        for record in batch:
            digest.update(record[:16])
    return digest.hexdigest()


def _by_dataset(store: Store) -> str:
    del store
    return _digest(iter(_plan().batch(_BATCH)))


def _by_file_objects(how: dict[str, Any], store: Store) -> str:
    import s3fs

    files = s3fs.S3FileSystem(skip_instance_cache=True)
    opened: dict[str, Any] = {}

    def batches() -> Iterator[list[bytes]]:
        for start in range(0, len(store.order), _BATCH):
            batch = []
            for position in store.order[start : start + _BATCH]:
                path, _, offset = store.records.place(position)
                file = opened.get(path) or opened.setdefault(path, files.open(str(path), **how))
                file.seek(offset + 12)
                batch.append(file.read(_RECORD_BYTES))
            yield batch

    return _digest(batches())


def _round_trips(store: Store) -> float:
    """How often a random batch waits for a shard: for a look at it, and for ranges asked for together."""
    from tfreel.index.remote import bounds
    from tfreel.index.spans import planned
    from tfreel.storage.remote.obstores import RANGES_TOGETHER

    records = store.records
    picks = np.random.default_rng(2).integers(0, len(records), _PICKS).astype(np.uint64)
    files = np.searchsorted(records._starts, picks.astype(np.int64), "right") - 1
    ranges = [
        len(planned(*bounds(index, picks[files == file] - np.uint64(records._start_list[file])))[0])
        for file, index in enumerate(records._indexes)
    ]
    return float(max(1 + -(-count // RANGES_TOGETHER) for count in ranges))


@contextmanager
def _server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/moto-api/")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait(url: str) -> None:
    for _ in range(200):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)
