"""Which records are the same thing with other values: told by a feature that both have, as an id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfreel.profile.alignment import I64, longest_rise, partners
from tfreel.profile.changes import Content, Name

_MOST_NAMES = 64  # of features that are tried
_SAMPLE = 1000  # records of each side that are looked at to find it

_Pairs = list[tuple[int, int]]


def pair_by_feature(old: Sequence[Content], new: Sequence[Content], *, ordered: bool) -> _Pairs:
    """Pairs of records that agree in one feature, the one that tells most of them apart.

    Args:
        old: Some records.
        new: Some other records.
        ordered: Whether pairs may not cross.
    """
    name = _telling(old[:_SAMPLE], new[:_SAMPLE], ordered=ordered)
    return [] if name is None else _agreeing(name, old, new, ordered=ordered)[0]


def _telling(old: Sequence[Content], new: Sequence[Content], *, ordered: bool) -> Name | None:
    """The feature in which most different values come back."""
    names = {name for content in old for name in content.keys}
    names &= {name for content in new for name in content.keys}
    best: Name | None = None
    most = 0
    for name in sorted(names)[:_MOST_NAMES]:
        values = _agreeing(name, old, new, ordered=ordered)[1]
        if values > most:
            best, most = name, values
    return best


def _agreeing(
    name: Name, old: Sequence[Content], new: Sequence[Content], *, ordered: bool
) -> tuple[_Pairs, int]:
    """The pairs that agree in this feature, and how many different values they have."""
    numbers: dict[Any, int] = {}
    a, b = (_numbered(name, contents, numbers) for contents in (old, new))
    left, right = partners(a, b)
    if ordered:
        stay = longest_rise(right)
        left, right = left[stay], right[stay]
    present = a[left] >= 0
    left, right = left[present], right[present]
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    return pairs, len(np.unique(a[left]))


def _numbered(name: Name, contents: Sequence[Content], numbers: dict[Any, int]) -> I64:
    """For each record a number of its value; one below zero, and of its own, if it has none."""
    found = []
    for i, content in enumerate(contents):
        key = content.keys.get(name)
        found.append(-1 - i if key is None else numbers.setdefault(key, len(numbers)))
    return np.array(found, np.int64)
