"""Folders of photos and tables of text become data sets."""

from __future__ import annotations

import csv
import hashlib
import os
import random
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import run as run_program
from typing import Any

import away
import peers
from bench import Bench
from harness import Entry, Outcome, compare

import tfreel

NAME = "pack"
TITLE = "15. Pack a folder of JPEG photos (about 70 KB), and a CSV table of 20 columns"

_CLASSES = 10
_INTS, _FLOATS, _TEXTS = 10, 6, 4


@dataclass(frozen=True, slots=True)
class Task:
    """What to pack, and where to."""

    source: str
    out: str


def run(bench: Bench) -> Outcome:
    """Against a plain copy into a tar, and the loops that tutorials teach."""
    outcome = Outcome(NAME, TITLE)
    count = bench.amount(5000, 50)
    photos = Task(_photo_folder(bench, count), os.path.join(bench.data.folder, "packed"))
    limit = ("page cache, writing", _bytes_in(photos.source))
    race = bench.race("photos", [*_photo_entries()], photos, work=count, unit="photos", limit=limit)
    outcome.races.append(race)
    copying = "{fast} against copying all files into one {slow}"
    outcome.lines += [
        compare(race, "tar", "tfreel.pack", copying, limit=0.7),
        compare(race, "tar, on the disk", "tfreel.pack, on the disk", copying),
        compare(race, "TensorFlow", "tfreel.pack", "{fast} against the loop of {slow}'s tutorials", limit=4),
    ]
    rows = bench.amount(200_000, 2000)
    table = Task(_table(bench, rows), os.path.join(bench.data.folder, "packed"))
    limit = ("page cache", os.path.getsize(table.source))
    race = bench.race("CSV", [*_table_entries()], table, work=rows, unit="rows", limit=limit)
    outcome.races.append(race)
    text = "{fast} against csv.DictReader and {slow}'s Examples"
    outcome.lines.append(compare(race, "TensorFlow", "tfreel.pack", text, limit=30))
    outcome.notes.append(
        "tfreel.pack also shuffles and compares a sample. Those who wait for the disk say so: its default."
    )
    return outcome


def _photo_folder(bench: Bench, count: int) -> str:
    folder = Path(bench.data.folder) / f"photos-{count}"
    if not folder.exists():
        photos = [tfreel.decode(record)["image"][0] for record in bench.data.records("photos")[:64]]
        for i in range(count):
            path = folder / f"class{i % _CLASSES}" / f"{i:06d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(photos[i % len(photos)])
    return str(folder)


def _bytes_in(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*.jpg"))


def _table(bench: Bench, rows: int) -> str:
    path = os.path.join(bench.data.folder, f"table-{rows}.csv")
    if not os.path.exists(path):
        source = random.Random(1)
        names = [*(f"int{i}" for i in range(_INTS)), *(f"float{i}" for i in range(_FLOATS))]
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([*names, *(f"text{i}" for i in range(_TEXTS))])
            for _ in range(rows):
                out.writerow(
                    [
                        *(source.randrange(100_000) for _ in range(_INTS)),
                        *(round(source.random() * 100, 4) for _ in range(_FLOATS)),
                        *(source.choice(("apple", "orange", "pear, green", "fig")) for _ in range(_TEXTS)),
                    ]
                )
    return path


def _photo_entries() -> Iterator[Entry]:
    yield _entry("tfreel.pack", _pack, _packed_photos)
    yield _entry("tfreel.pack, on the disk", partial(_pack, durable=True), _packed_photos)
    yield _entry("tar", _tar, _tarred_photos)
    yield _entry("tar, on the disk", partial(_tar, durable=True), _tarred_photos)
    yield from away.entries("tensorflow", _tensorflow_entries, _tensorflow_photos, _written_photos)


def _table_entries() -> Iterator[Entry]:
    yield _entry("tfreel.pack", _pack, _rows)
    yield from away.entries("tensorflow", _tensorflow_entries, _tensorflow_rows, _rows)


def _tensorflow_entries(pack: Callable[[Task], None], digest: Callable[[Task], str]) -> list[Entry]:
    peers.tensorflow()  # so that no run has to import it
    return [_entry("TensorFlow", pack, digest)]


def _entry(name: str, pack: Callable[[Task], None], digest: Callable[[Task], str]) -> Entry:
    def timed(task: Task) -> bool:
        pack(task)
        return True

    def proof(task: Task) -> str:
        pack(task)
        return digest(task)

    return Entry(name, timed, proof=proof, clean=_remove)


def _remove(task: Task) -> None:
    shutil.rmtree(task.out)


def _pack(task: Task, *, durable: bool = False) -> None:
    tfreel.pack(task.source, task.out, durable=durable)


def _tar(task: Task, *, durable: bool = False) -> None:
    os.makedirs(task.out)
    run_program(["tar", "cf", f"{task.out}/all.tar", "-C", task.source, "."], check=True)
    if durable:
        with open(f"{task.out}/all.tar", "rb") as file:
            os.fsync(file.fileno())


def _tensorflow_photos(task: Task) -> None:
    """As in every tutorial: one file after the other, read, wrapped and written."""
    tf = peers.tensorflow()
    train = tf.train
    os.makedirs(task.out)
    classes = sorted(os.listdir(task.source))
    with tf.io.TFRecordWriter(f"{task.out}/all.tfrecord") as out:
        for label, name in enumerate(classes):
            for path in sorted(Path(task.source, name).iterdir()):
                features = {
                    "image/encoded": train.Feature(bytes_list=train.BytesList(value=[path.read_bytes()])),
                    "label": train.Feature(int64_list=train.Int64List(value=[label])),
                }
                example = train.Example(features=train.Features(feature=features))
                out.write(example.SerializeToString())


def _tensorflow_rows(task: Task) -> None:
    tf = peers.tensorflow()
    train = tf.train
    os.makedirs(task.out)
    with tf.io.TFRecordWriter(f"{task.out}/all.tfrecord") as out, open(task.source, newline="") as file:
        for row in csv.DictReader(file):
            features = {name: _feature(train, name, text) for name, text in row.items()}
            out.write(train.Example(features=train.Features(feature=features)).SerializeToString())


def _feature(train: Any, name: str, text: str) -> Any:
    if name.startswith("int"):
        return train.Feature(int64_list=train.Int64List(value=[int(text)]))
    if name.startswith("float"):
        return train.Feature(float_list=train.FloatList(value=[float(text)]))
    return train.Feature(bytes_list=train.BytesList(value=[text.encode()]))


def _digest(contents: Iterator[bytes]) -> str:
    """The same for the same contents in any order."""
    return hashlib.sha256(b"".join(sorted(hashlib.sha256(each).digest() for each in contents))).hexdigest()


def _packed_photos(task: Task) -> str:
    return _digest(tfreel.decode(record)["image/encoded"][0] for record in tfreel.read(task.out))


def _written_photos(task: Task) -> str:
    records = tfreel.read(f"{task.out}/all.tfrecord")
    return _digest(tfreel.decode(record)["image/encoded"][0] for record in records)


def _tarred_photos(task: Task) -> str:
    with tarfile.open(f"{task.out}/all.tar") as archive:
        files = (archive.extractfile(member) for member in archive)
        return _digest(file.read() for file in files if file is not None)


def _rows(task: Task) -> str:
    files = [str(path) for path in Path(task.out).glob("*.tfrecord")]
    return _digest(tfreel.encode(tfreel.decode(record)) for record in tfreel.read(files))
