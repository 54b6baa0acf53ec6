"""The files that generated pipelines read: few records, in as many ways as there are to have them."""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tfreel

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = {
    "n": tfreel.FixedLenFeature([], "int64"),
    "k": tfreel.FixedLenFeature([], "int64"),
    "t": tfreel.FixedLenFeature([], "string"),
    "v": tfreel.RaggedFeature("int64"),
}
NARROW = {"n": COLUMNS["n"]}

# The numbers of the records, in files one after the other. In "damaged" some bytes of two records are wrong.
FILES: dict[str, list[range]] = {
    "plain": [range(7)],
    "several": [range(10, 15), range(15, 15), range(15, 22)],
    "gzip": [range(30, 41)],
    "damaged": [range(50, 59)],
    "one": [range(70, 71)],
    "none": [range(80, 80)],
}
LOST = {51, 56}
READINGS = ("rows", "narrow", "bytes", "stream", "stream of bytes")


def record(number: int) -> dict[str, Any]:
    """What a record holds, all of which its number tells."""
    return {"n": number, "k": number % 3, "t": b"r%d" % number, "v": [number] * (number % 4)}


def example(number: int) -> bytes:
    """The same as it is written."""
    row = record(number)
    return tfreel.encode({**row, "v": np.array(row["v"], np.int64)})


def numbers(name: str) -> list[int]:
    """The numbers of the records that come out of a source."""
    return [number for part in FILES[name] for number in part if name != "damaged" or number not in LOST]


@lru_cache(maxsize=1)
def _written() -> dict[int, bytes]:
    return {number: example(number) for parts in FILES.values() for part in parts for number in part}


def written(number: int) -> bytes:
    """The record of a number as it stands in its file."""
    return _written()[number]


class Sources:
    """The files in a folder, and datasets of them, each opened once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = {name: self._write(name, parts) for name, parts in FILES.items()}
        self._opened: dict[tuple[str, str, int], tfreel.Dataset] = {}

    def _write(self, name: str, parts: Sequence[range]) -> list[str]:
        paths = []
        for i, part in enumerate(parts):
            path = self.folder / f"{name}-{i}.tfrecord"
            with tfreel.Writer(path, mode="w", compression="gzip" if name == "gzip" else "none") as out:
                for number in part:
                    out.write(example(number))
            paths.append(str(path))
        if name == "damaged":
            self._damage(Path(paths[0]), parts[0])
        return paths

    def _damage(self, path: Path, part: range) -> None:
        """Flips a bit in the payload of each of the records that shall be lost."""
        data = bytearray(path.read_bytes())
        offset = 0
        for number in part:
            size = len(example(number))
            if number in LOST:
                data[offset + 12 + size // 2] ^= 1
            offset += size + 16
        path.write_bytes(data)

    def open(self, name: str, reading: str, threads: int) -> tfreel.Dataset:
        """A dataset of one of the sources."""
        key = name, reading, threads
        if key not in self._opened:
            options: dict[str, Any] = {"threads": threads, "stream": reading.startswith("stream")}
            if name == "damaged":
                options["on_corrupt"] = "skip"
            if reading.endswith("bytes"):
                options["raw"] = True
            else:
                options["features"] = NARROW if reading == "narrow" else COLUMNS
            self._opened[key] = tfreel.Dataset(self.paths[name], **options)
        return self._opened[key]


def key_of(element: Any) -> int:
    """One number that an element tells, whatever it is: functions of the user go by it."""
    if isinstance(element, tuple):
        return sum(map(key_of, element))
    if isinstance(element, bytes):
        return zlib.crc32(element) % 1000
    if isinstance(element, (list, tfreel.BytesColumn)):
        return sum(map(key_of, element))
    if hasattr(element, "keys"):
        return int(element["n"].sum())
    return int(element.sum()) if hasattr(element, "sum") else int(element)
