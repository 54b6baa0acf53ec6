"""Small records written to a new file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import away
import peers
from bench import Bench
from harness import Entry, Outcome, compare

import tfreel

NAME = "write"
TITLE = "4. Write small records (about 450 bytes)"

_EACH, _MANY, _TENSORFLOW = "tfreel write", "tfreel write_many", "tf.io.TFRecordWriter"


@dataclass(frozen=True, slots=True)
class Task:
    """Records, and the file to write them to."""

    path: str
    records: list[bytes]


def writing(name: str, write: Callable[[Task], None], team: str = "") -> Entry:
    """An entry that writes a file; its answer is the file's size, its proof the digest of its bytes."""

    def run(task: Task) -> int:
        write(task)
        return os.path.getsize(task.path)

    def prove(task: Task) -> str:
        write(task)
        with open(task.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    # Removed at once: pages that are never written back disturb nobody who comes after.
    return Entry(name, run, team, prove, clean=lambda task: os.unlink(task.path))


def write_each(task: Task) -> None:
    """With tfreel, one call for each record."""
    with tfreel.Writer(task.path, durable=False) as out:
        for record in task.records:
            out.write(record)


def write_many(task: Task) -> None:
    """With tfreel, one call for all."""
    with tfreel.Writer(task.path, durable=False) as out:
        out.write_many(task.records)


def write_tensorflow(task: Task) -> None:
    """With TensorFlow, which has one call for each record and no other."""
    with peers.tensorflow().io.TFRecordWriter(task.path) as out:
        for record in task.records:
            out.write(record)


def tensorflow_entries() -> list[Entry]:
    """TensorFlow, if it is there."""
    return away.entries("tensorflow", _tensorflow)


def _tensorflow() -> list[Entry]:
    peers.tensorflow()  # so that no run has to import it
    return [writing(_TENSORFLOW, write_tensorflow, "TensorFlow")]


def run(bench: Bench) -> Outcome:
    """Against TensorFlow's writer."""
    task = Task(os.path.join(bench.data.folder, "written.tfrecord"), bench.data.records("small"))
    entries = [writing(_EACH, write_each), writing(_MANY, write_many), *tensorflow_entries()]
    written = sum(map(len, task.records)) + 16 * len(task.records)
    limit = ("page cache, writing", written)
    race = bench.race("all records", entries, task, work=len(task.records), unit="records", limit=limit)
    lines = [
        compare(race, "TensorFlow", _EACH, "{fast}, one call each, against {slow}", limit=2.5),
        compare(race, "TensorFlow", _MANY, "{fast} of a list against {slow}", limit=5),
    ]
    return Outcome(
        NAME, TITLE, [race], lines, ["durable=False: TensorFlow does not wait for the disk either."]
    )
