"""Checksums: one call from Python for each buffer, so that the cost of the call is in both."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import away
import numpy as np
from bench import Bench
from harness import Entry, Line, Outcome, Race, compare

from tfreel import _core

NAME = "crc32c"
TITLE = "1. crc32c, one Python call for each buffer"

_SIZES = (64, 256, 450, 1024, 4096, 16384, 65536, 262_144, 1_048_576)
_LARGE_BYTES = 64 << 20
_RUN_BYTES = 256 << 20
_MOST_CALLS = 200_000


def run(bench: Bench) -> Outcome:
    """Races at every size; the bar is to be the faster one at each, and 10 GB/s at 64 KiB."""
    outcome = Outcome(NAME, TITLE)
    rng = np.random.default_rng(1)
    for size in _SIZES:
        # Not scaled: it takes milliseconds, and in less there is nothing but noise.
        calls = 2 if bench.check else min(_MOST_CALLS, _RUN_BYTES // size)
        race = _race(bench, f"{size:,} bytes × {calls:,} calls", rng.bytes(size), calls)
        outcome.races.append(race)
        text = f"{size:,} bytes: {{fast}} against {{slow}}"
        outcome.lines.append(compare(race, "google_crc32c.value", "tfreel", text, limit=1))
        if size == 65536:
            outcome.lines.append(_speed(race, "64 KiB: tfreel", limit=10))
    large = _race(bench, "64 MiB in one call", rng.bytes(_LARGE_BYTES), 1, limit=("memory", _LARGE_BYTES))
    outcome.races.append(large)
    outcome.lines.append(_speed(large, "64 MiB, more than the caches hold: tfreel"))
    return outcome


def _race(bench: Bench, name: str, buffer: bytes, calls: int, **options: Any) -> Race:
    entries = [
        Entry("tfreel", partial(_call, _core.crc32c, calls)),
        *away.entries("google-crc32c", _google, calls),
    ]
    work = len(buffer) * calls
    options.setdefault("limit", ("checksum", work))
    return bench.race(name, entries, buffer, rounds=bench.at_least(15), work=work, unit="B", **options)


def _google(calls: int) -> list[Entry]:
    import google_crc32c

    return [Entry("google_crc32c.value", partial(_call, google_crc32c.value, calls))]


def _call(function: Callable[[bytes], int], calls: int, buffer: bytes) -> int:
    for _ in repeat(None, calls):
        crc = function(buffer)
    return crc


def _speed(race: Race, text: str, limit: float | None = None) -> Line:
    return Line(text, race.work / statistics.median(race.times["tfreel"]) / 1e9, "GB/s", limit)
