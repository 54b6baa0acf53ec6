"""The data of the benchmarks, the same on every machine: records, images, prose in gzip, photos, Examples."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import count, islice
from typing import Any

import numpy as np
import numpy.typing as npt
from rows import RECORDS

import tfreel

_VERSION = 1  # raise it when the records change, so that old files are not taken for new ones
_SEED = 20_240_229
_CHUNK_RECORDS = 512
_SAMPLE_SHARE = 20
_WORDS = 2000
_NOISE_SHARE = 0.12
_PHOTOS = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """One file of records, and what reading it must give."""

    kind: str
    path: str
    count: int
    payload_bytes: int
    file_bytes: int
    digest: str
    version: int = _VERSION


class Data:
    """Files made when they are first asked for, and kept while the folder is.

    Args:
        folder: Where the files go.
        scale: 1 for a million small records, ten thousand images and a million records in gzip.
        least: How many records there are in any file of small ones.
    """

    def __init__(self, folder: str, scale: float, least: int = 2000) -> None:
        self.folder = folder
        self._least = least
        self._counts = {
            "small": max(least, int(1_000_000 * scale)),
            "images": max(40, int(10_000 * scale)),
            "gzip": max(least, int(1_000_000 * scale)),
            "tabular": max(least, int(500_000 * scale)),
            "mixed": max(least, int(1_000_000 * scale)),
            "any-order": max(least, int(200_000 * scale)),
            "dense": max(least, int(200_000 * scale)),
            "sequences": max(least, int(200_000 * scale)),
            "raw": max(least, int(100_000 * scale)),
            "photos": max(16, int(2_000 * scale)),
        }

    def shape(self, kind: str) -> Shape:
        """The file of this kind: ``small``, ``images``, ``gzip``, or one of those in `rows`."""
        return self._made(kind, self._counts[kind])

    def sample(self, kind: str) -> Shape:
        """The beginning of that file, long enough to tell fast routes from slow ones."""
        count = self._counts[kind]
        least = 40 if kind == "images" else self._least
        return self._made(kind, min(count, max(least, count // _SAMPLE_SHARE)))

    def first(self, kind: str, count: int) -> Shape:
        """So many records from the beginning of that file."""
        return self._made(kind, min(count, self._counts[kind]))

    def records(self, kind: str) -> list[bytes]:
        """The records of the file, in memory."""
        return list(islice(_GENERATORS[kind](), self._counts[kind]))

    def _made(self, kind: str, count: int) -> Shape:
        return saved(self.folder, kind, islice(_GENERATORS[kind](), count), count)


def saved(folder: str, kind: str, records: Iterable[bytes], count: int) -> Shape:
    """A file of so many records, as it is there already or made now."""
    suffix = ".tfrecord.gz" if kind == "gzip" else ".tfrecord"
    path = os.path.join(folder, f"{kind}-{count}{suffix}")
    known = _read_note(path)
    if known is not None:
        return known
    digest, payload_bytes = (_write_gzip if kind == "gzip" else _write_plain)(path, records)
    shape = Shape(kind, path, count, payload_bytes, os.path.getsize(path), digest)
    with open(path + ".json", "w") as file:
        json.dump(asdict(shape), file)
    return shape


def _read_note(path: str) -> Shape | None:
    """What an earlier run wrote about a file, if it still is that file."""
    try:
        with open(path + ".json") as file:
            shape = Shape(**{**json.load(file), "path": path})
        return shape if shape.version == _VERSION and shape.file_bytes == os.path.getsize(path) else None
    except (OSError, ValueError, TypeError):
        return None


# Records ----------------------------------------------------------------------------------------------------


def noise(low: int, high: int, salt: int) -> Iterator[bytes]:
    """Random bytes without end, in records of `low` to `high` bytes."""
    rng = np.random.default_rng([_SEED, salt])
    while True:
        lengths = rng.integers(low, high + 1, _CHUNK_RECORDS)
        ends = np.cumsum(lengths)
        blob = rng.bytes(int(ends[-1]))
        for length, end in zip(lengths.tolist(), ends.tolist(), strict=True):
            yield blob[end - length : end]


def prose() -> Iterator[bytes]:
    """Words of a made-up language with some noise among them: records that gzip makes about half as large."""
    rng = np.random.default_rng([_SEED, 3])
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    words = [rng.choice(letters, int(n)).tobytes() + b" " for n in rng.integers(3, 11, _WORDS)]
    while True:
        lengths = rng.integers(400, 501, _CHUNK_RECORDS)
        picks = rng.integers(0, _WORDS, (_CHUNK_RECORDS, 120))
        for length, row in zip(lengths.tolist(), picks.tolist(), strict=True):
            noise = rng.bytes(int(length * _NOISE_SHARE))
            text = b"".join(map(words.__getitem__, row))
            yield noise + text[: length - len(noise)]


def photos() -> Iterator[bytes]:
    """Examples with a JPEG much as a camera makes it; a few of them, again and again."""
    from PIL import Image

    rng = np.random.default_rng([_SEED, 4])
    encoded: list[bytes] = []
    for i in count():
        if i < _PHOTOS:
            encoded.append(tfreel.images.encode(_photo(rng, Image), "jpeg", quality=90))
        yield tfreel.encode({"image": encoded[i % _PHOTOS], "label": i})


def _photo(rng: np.random.Generator, pillow: Any) -> npt.NDArray[np.uint8]:
    """Light and colours on three scales, and grain."""
    height, width = 375, 500
    image = np.full((height, width, 3), 110.0)
    for step, strength in ((64, 90), (24, 50), (8, 30)):
        coarse = rng.normal(size=(height // step + 2, width // step + 2, 3))
        coarse = 0.4 * coarse + 1.2 * coarse.mean(2, keepdims=True)  # more light than colour
        for channel in range(3):
            plane = pillow.fromarray(coarse[:, :, channel].astype(np.float32))
            smooth = plane.resize((width, height), pillow.Resampling.BICUBIC)
            image[:, :, channel] += strength * np.asarray(smooth)
    grain = rng.normal(0, 7, (height, width, 1))
    return np.clip(image + grain, 0, 255).astype(np.uint8)


_GENERATORS = {
    "small": lambda: noise(400, 500, 1),
    "images": lambda: noise(60_000, 80_000, 2),
    "gzip": prose,
    "photos": photos,
    **RECORDS,
}


# Files ------------------------------------------------------------------------------------------------------


def _write_plain(path: str, records: Iterable[bytes]) -> tuple[str, int]:
    tally = _Tally()
    with tfreel.Writer(path, mode="w") as out:  # durable: no writing back while others are timed
        for record in tally.passing(records):
            out.write(record)
    return tally.digest(), tally.payload_bytes


def _write_gzip(path: str, records: Iterable[bytes]) -> tuple[str, int]:
    """By Python's zlib at level 6, which is how TensorFlow writes too: nobody reads its own handwriting."""
    from tfreel import _core

    tally = _Tally()
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as out:
        for record in tally.passing(records):
            out.write(_core.frame(record))
        out.close()
        file.flush()
        os.fsync(file.fileno())
    return tally.digest(), tally.payload_bytes


class _Tally:
    """Counts and digests records on their way."""

    def __init__(self) -> None:
        self.payload_bytes = 0
        self._hash = hashlib.sha256()

    def passing(self, records: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
        """The same records."""
        for record in records:
            self._hash.update(struct.pack("<Q", len(record)))
            self._hash.update(record)
            self.payload_bytes += len(record)
            yield record

    def digest(self) -> str:
        return self._hash.hexdigest()


def digest(records: Iterable[bytes | memoryview]) -> str:
    """One number for all records and their borders."""
    tally = _Tally()
    for _ in tally.passing(records):
        pass
    return tally.digest()
