"""What this machine can do at most, measured next to each race: the last column of the tables.

A limit is a rate that nobody can pass who does that part of the work: reads every byte from the page cache,
computes every checksum, inflates every block. It is the best of a few tries, as a limit should be.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

import tfreel
from tfreel import _core

_TRIES = 5
_FILE_BYTES = 64 << 20
_MEMORY_BYTES = 128 << 20
_READ_BYTES = 256 << 10
_CHECKSUM_BYTES = 64 << 10
_CHECKSUM_CALLS = 1000
_PHOTOS = 16
_PROSE_RECORDS = 4096


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate that cannot be passed.

    Attributes:
        name: Of what limits.
        rate: In a second, bytes or whatever `moved` counts.
        moved: How much of that one run has to move.
    """

    name: str
    rate: float
    moved: float


def measure(name: str, folder: str, *, quick: bool = False) -> float:
    """The rate of a limit, in a second. `folder` is where the data of the benchmarks are."""
    amount, run = _prepared(name, folder)
    return max(amount / _seconds(run) for _ in range(1 if quick else _TRIES))


@cache
def _prepared(name: str, folder: str) -> tuple[float, Callable[[], Any]]:
    return _LIMITS[name](folder)


def _seconds(run: Callable[[], Any]) -> float:
    begin = perf_counter()
    run()
    return perf_counter() - begin


def _scratch(folder: str) -> str:
    """A file of noise, on the disk and in the page cache."""
    path = os.path.join(folder, "limits.bin")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(np.random.default_rng(1).bytes(_FILE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    return path


def _page_cache(folder: str) -> tuple[float, Callable[[], Any]]:
    path, buffer = _scratch(folder), bytearray(_READ_BYTES)

    def run() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        done = 0
        while taken := os.preadv(descriptor, [buffer], done):
            done += taken
        os.close(descriptor)

    return _FILE_BYTES, run


def _page_cache_writing(folder: str) -> tuple[float, Callable[[], Any]]:
    """Into a file that is gone at the end: its pages never go to the disk."""
    buffer = bytes(_READ_BYTES)

    def run() -> None:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            for _ in range(_FILE_BYTES // _READ_BYTES):
                file.write(buffer)

    return _FILE_BYTES, run


def _memory(_: str) -> tuple[float, Callable[[], Any]]:
    """Read by all cores at once, each its part."""
    words = np.ones(_MEMORY_BYTES // 8, np.uint64)
    return _MEMORY_BYTES, _shared(lambda i, n: words[i * len(words) // n : (i + 1) * len(words) // n].sum())


def _checksum(_: str) -> tuple[float, Callable[[], Any]]:
    """One core, bytes in its cache, no Python between the calls worth speaking of."""
    buffer = np.random.default_rng(1).bytes(_CHECKSUM_BYTES)

    def run() -> None:
        for _ in range(_CHECKSUM_CALLS):
            _core.crc32c(buffer)

    return _CHECKSUM_BYTES * _CHECKSUM_CALLS, run


def _inflate(folder: str) -> tuple[float, Callable[[], Any]]:
    """By isal, the quickest inflater that Python has, on one core: the prose of the data."""
    import zlib

    from data import prose
    from isal import isal_zlib

    del folder
    plain = b"".join(islice(prose(), _PROSE_RECORDS))
    packed = zlib.compress(plain, 6)
    return len(plain), lambda: isal_zlib.decompress(packed)


def _jpeg(folder: str) -> tuple[float, Callable[[], Any]]:
    """By libjpeg-turbo at its quickest, on all cores: photos, not bytes."""
    import simplejpeg
    from data import photos

    del folder
    some = [tfreel.decode(record)["image"][0] for record in islice(photos(), _PHOTOS)]

    def decode(i: int, n: int) -> None:
        for photo in some[i::n]:
            simplejpeg.decode_jpeg(photo, fastdct=True)

    return _PHOTOS, _shared(decode)


def _shared(work: Callable[[int, int], Any]) -> Callable[[], None]:
    """Work in as many threads as there are cores; each gets its number and how many there are."""
    cores = os.cpu_count() or 1

    def run() -> None:
        threads = [threading.Thread(target=work, args=(i, cores)) for i in range(cores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


_LIMITS: dict[str, Callable[[str], tuple[float, Callable[[], Any]]]] = {
    "page cache": _page_cache,
    "page cache, writing": _page_cache_writing,
    "memory": _memory,
    "checksum": _checksum,
    "inflate": _inflate,
    "JPEG": _jpeg,
}
