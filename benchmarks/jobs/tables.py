"""A question to a table of records: decoding what is needed for it, and decoding everything first."""

from __future__ import annotations

from functools import partial
from typing import Any

import peers
from bench import Bench, opened
from data import Shape
from harness import Entry, Outcome, compare

import tfreel

NAME = "tables"
TITLE = "19. Filter and select with Polars"

# Of each kind of rows: what to filter by, its value, and what to select.
_QUESTIONS: dict[str, tuple[str, str, int, list[str]]] = {
    "mixed": ("20 numbers and texts, a tenth of the rows", "int_1", 3, ["int_1", "float_0"]),
    "raw": ("3 KB of raw bytes and a label, a tenth of the rows", "label", 3, ["label"]),
    "dense": ("256 floats and a label, a tenth of the rows", "label", 3, ["label"]),
}


def run(bench: Bench) -> Outcome:
    """A lazy frame, which decodes what is needed, against a frame of everything."""
    outcome = Outcome(NAME, TITLE)
    if peers.polars() is None:
        return outcome
    for kind, (text, *question) in _QUESTIONS.items():
        shape = bench.data.shape(kind)
        entries = [
            Entry("lazy frame", partial(_lazy, *question)),
            Entry("all rows and columns, then Polars", partial(_everything, *question)),
        ]
        race = bench.race(
            text, entries, shape, work=shape.count, unit="records", sample=bench.data.sample(kind)
        )
        outcome.races.append(race)
        outcome.lines.append(
            compare(
                race,
                "all rows and columns, then Polars",
                "lazy frame",
                f"{text}: {{fast}} against {{slow}}",
                limit=2,
            )
        )
    outcome.notes.append("Features were inferred before, once for both: that takes longer than the reading.")
    return outcome


def _scan(shape: Shape) -> tfreel.Scan:
    return tfreel.scan(shape.path)


def _answer(frame: Any, name: str) -> tuple[int, float]:
    return frame.height, float(frame[name].sum())


def _lazy(name: str, value: int, columns: list[str], shape: Shape) -> tuple[int, float]:
    from tfreel.adapters import polars

    frame = polars.scan(opened(_scan, shape))
    return _answer(frame.filter(peers.polars().col(name) == value).select(columns).collect(), columns[-1])


def _everything(name: str, value: int, columns: list[str], shape: Shape) -> tuple[int, float]:
    pl = peers.polars()
    frame = pl.DataFrame(opened(_scan, shape))
    return _answer(frame.filter(pl.col(name) == value).select(columns), columns[-1])
