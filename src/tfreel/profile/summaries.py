"""What is kept of a part of data to compare it with others: statistics in, little memory out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfreel.features.kinds import DType
from tfreel.inference.content import NAMES
from tfreel.profile.distances import Points
from tfreel.profile.statistics import Statistics

_MOST_NUMBERS = 64  # different ones that are compared as classes are, and not as measures
_SIGN = 1 << 63
_LONGEST = 40
_KINDS: tuple[DType | None, ...] = (None, "bytes", "float32", "int64")  # as the core counts them
_CONTENTS = tuple(NAMES)


@dataclass(frozen=True, slots=True)
class Values:
    """How the values of one kind are distributed.

    Attributes:
        kind: Their kind.
        points: Numbers; of bytes, their sizes.
        counts: How often each value is there, by its key, if there are few; None if there are many.
        names: What these values are, in words.
        contents: What bytes are, and how many.
    """

    kind: DType
    points: Points
    counts: Mapping[int, int] | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    contents: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """One feature of a part."""

    present: int = 0
    kinds: frozenset[DType] = frozenset()
    lengths: Points | None = None
    steps: Points | None = None
    values: Mapping[DType, Values] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """A part: its features by their names and whether they are feature lists."""

    records: int
    features: Mapping[tuple[str, bool], FeatureSummary]


def summary_of(statistics: Statistics) -> Summary:
    """What to keep of statistics."""
    if statistics._scan is None:
        raise ValueError("the statistics of a group cannot be compared")
    records, _, features = statistics._scan.sketches.total()
    return Summary(records, {(each["name"], each["in_lists"]): _feature(each) for each in features})


def _feature(found: Mapping[str, Any]) -> FeatureSummary:
    kinds = frozenset(kind for kind, count in zip(_KINDS, found["kinds"], strict=True) if kind and count)
    values: dict[DType, Values] = {}
    if found["ints"] and found["ints"]["count"]:
        values["int64"] = _ints(found["ints"])
    if found["floats"] and found["floats"]["count"]:
        values["float32"] = Values("float32", Points.of(found["floats"]))
    if found["strings"] and found["strings"]["values"]["count"]:
        values["bytes"] = _strings(found["strings"])
    steps = Points.of(found["steps"]) if found["in_lists"] else None
    return FeatureSummary(found["present"], kinds, Points.of(found["lengths"]), steps, values)


def _counts(found: Mapping[str, Any]) -> dict[int, int] | None:
    keys, counts = found["frequent"]
    return dict(zip(keys.tolist(), counts.tolist(), strict=True)) if found["exact"] else None


def _ints(found: Mapping[str, Any]) -> Values:
    counts = _counts(found)
    if counts is None or len(counts) > _MOST_NUMBERS:
        return Values("int64", Points.of(found))
    return Values("int64", Points.of(found), counts, {key: number_of(key, "int64") for key in counts})


def _strings(found: Mapping[str, Any]) -> Values:
    counts = _counts(found["values"])
    shown = found["shown"]
    names = {}
    if counts is not None and len(shown) == len(counts):  # in the same order, then
        names = {key: _word(*each[:2]) for key, each in zip(counts, shown, strict=True)}
    contents = {kind: count for kind, count in zip(_CONTENTS, found["contents"], strict=True) if count}
    return Values("bytes", Points.of(found["sizes"]), counts, names, contents)


def _word(beginning: bytes, size: int) -> str:
    text = repr(beginning[:_LONGEST].decode("utf-8", "replace"))
    return text if size <= min(_LONGEST, len(beginning)) else f"{text[:-1]}…'"


def number_of(key: int, kind: DType) -> str:
    """The number that a key of the core stands for, in words."""
    if kind == "int64":
        return str(key - _SIGN)
    bits = np.uint32(key & 0xFFFFFFFF)
    sign = np.uint32(1 << 31)
    return str(np.array(bits & ~sign if bits & sign else ~bits, np.uint32).view(np.float32))
