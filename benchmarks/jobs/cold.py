"""Files that are not in the page cache: what reading costs when the disk has to be asked."""

from __future__ import annotations

import errno
import os
import time
from functools import partial

import away
import peers
from bench import Bench
from data import Shape
from harness import Entry, Outcome, compare

import tfreel
from jobs.count import read_all

NAME = "cold"
TITLE = "23. Cold: iterate files that are not in the page cache"

_BUFFER_BYTES = 1 << 20
_TRIES, _PAUSE_SECONDS = 40, 0.05
_PREADV = "os.preadv, nothing else"


def run(bench: Bench) -> Outcome:
    """The same jobs as warm, each run after the file was dropped from the page cache; and the disk alone."""
    outcome = Outcome(NAME, TITLE)
    for kind, text in {"small": "small records", "images": "images"}.items():
        shape = bench.data.shape(kind)
        if not drop(shape):
            outcome.notes.append(f"{text}: not measured, for this file system keeps files in memory.")
            continue
        entries = [
            Entry("tfreel.read", _records, prepare=_drop_all),
            *away.entries("tensorflow", _tensorflow),
            Entry(_PREADV, partial(read_all, buffer=bytearray(_BUFFER_BYTES)), prepare=_drop_all),
        ]
        race = bench.race(text, entries, shape, work=shape.file_bytes, unit="B", truth=shape.count)
        outcome.races.append(race)
        outcome.lines += [
            compare(race, "TensorFlow", "tfreel.read", f"{text}: {{fast}} against {{slow}}"),
            compare(race, _PREADV, "tfreel.read", f"{text}: {{fast}}, as a share of {{slow}}", unit="%"),
        ]
    outcome.notes.append(
        "Dropped by posix_fadvise before each run, and seen to be gone. The disk of a virtual machine may"
        " have a cache of its own, which a guest cannot drop."
    )
    return outcome


def drop(shape: Shape) -> bool:
    """Takes a file out of the page cache. Says whether it is gone."""
    for _ in range(_TRIES):
        if _dropped(shape.path):
            return True
        time.sleep(_PAUSE_SECONDS)  # a page that was used a moment ago may still be held
    return False


def _dropped(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # pages that are not on the disk yet would stay
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT)  # only what is in memory
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return False


def _drop_all(shape: Shape) -> None:
    if not drop(shape):
        raise RuntimeError(f"{os.path.basename(shape.path)} stays in the page cache")


def _records(shape: Shape) -> int:
    return peers.count(tfreel.read(shape.path))


def _tensorflow() -> list[Entry]:
    iterator = peers.tensorflow().compat.v1.io.tf_record_iterator
    routes = {
        "tf_record_iterator": lambda shape: peers.count(iterator(shape.path)),
        "TFRecordDataset.batch(64).prefetch": _prefetched,
    }
    return [Entry(name, route, "TensorFlow", prepare=_drop_all) for name, route in routes.items()]


def _prefetched(shape: Shape) -> int:
    batches = peers.dataset(shape).batch(64).prefetch(peers.tensorflow().data.AUTOTUNE)
    return sum(int(batch.shape[0]) for batch in batches)
