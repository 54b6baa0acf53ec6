"""A small set of numbered rows, for tests of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tfreel

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 103


def write_numbered(directory: Path) -> str:
    """Three shards, the second compressed, of numbered rows with a class, floats and texts of any number."""
    names = ("a.tfrecord", "b.tfrecord.gz", "c.tfrecord")
    for name, part in zip(names, np.split(np.arange(COUNT), [40, 41]), strict=True):
        columns = {
            "n": part,
            "c": part % 10 // 7,  # one in three or so is of class 1
            "x": np.stack([part, part / 2], 1).astype("f4"),
            "t": [[f"{i}"] * (i % 3 + 1) for i in part],
        }
        tfreel.save(directory / name, columns)
    return str(directory / "*.tfrecord*")


def numbers(dataset: Any) -> list[int]:
    """The numbers of all rows, whatever holds them."""
    found: list[int] = []
    for element in dataset:
        if isinstance(element, tuple):
            found += numbers(part for part in element if not isinstance(part, int))
        elif isinstance(element, bytes):
            found += tfreel.decode(element)["n"].tolist()
        elif isinstance(element, list):
            found += numbers(element)
        else:
            found += np.atleast_1d(element["n"]).tolist()
    return found


def doubled(element: Any) -> Any:
    return {"n": element["n"] * 2}


def even(element: Any) -> bool:
    return bool(element["n"] % 2 == 0)


def fail_at_60(element: Any) -> Any:
    if element["n"] == 60:
        raise ZeroDivisionError("no 60")
    return element
