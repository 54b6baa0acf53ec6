"""Which records of two rows belong together: those with the same digests, in the same order."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alignment:
    """What belongs together.

    Attributes:
        a: The numbers of records in A that stay in their order, rising.
        b: Those of their partners in B, rising.
        moved_a: The numbers of records in A whose partners in B come earlier or later.
        moved_b: Those of their partners.
    """

    a: I64
    b: I64
    moved_a: I64
    moved_b: I64


def common_prefix(a: U64, b: U64) -> int:
    """How many digests are the same from the front on."""
    both = min(len(a), len(b))
    differ = (a[:both] != b[:both]).any(axis=1)
    return int(differ.argmax()) if differ.any() else both


def align(a: U64, b: U64) -> Alignment:
    """Partners with the same digest: as many as can be without crossing, and those that cross.

    Of records that are there several times, the first in A belongs to the first in B, the second to the
    second.
    """
    numbers = np.unique(np.concatenate([a, b]), axis=0, return_inverse=True)[1].reshape(-1)
    left, right = partners(numbers[: len(a)], numbers[len(a) :])
    stay = longest_rise(right)
    moved = np.ones(len(left), np.bool_)
    moved[stay] = False
    return Alignment(left[stay], right[stay], left[moved], right[moved])


def partners(a: I64, b: I64) -> tuple[I64, I64]:
    """Where in A and B the same occurrence of the same number stands, in the order of A."""
    waiting: dict[int, list[int]] = {}
    for j, number in enumerate(b.tolist()):
        waiting.setdefault(number, []).append(j)
    taken: dict[int, int] = {}
    left, right = [], []
    for i, number in enumerate(a.tolist()):
        places = waiting.get(number)
        if places is None:
            continue
        next_one = taken.get(number, 0)
        if next_one < len(places):
            taken[number] = next_one + 1
            left.append(i)
            right.append(places[next_one])
    return np.array(left, np.int64), np.array(right, np.int64)


def longest_rise(values: I64) -> I64:
    """Where the values are that make the longest rising row, by the game of patience."""
    tops: list[int] = []  # the smallest last value of a row of each length
    at: list[int] = []  # where it is
    before: list[int] = []
    for i, value in enumerate(values.tolist()):
        length = bisect.bisect_left(tops, value)
        before.append(at[length - 1] if length else -1)
        if length == len(tops):
            tops.append(value)
            at.append(i)
        else:
            tops[length], at[length] = value, i
    rise = []
    i = at[-1] if at else -1
    while i >= 0:
        rise.append(i)
        i = before[i]
    return np.array(rise[::-1], np.int64)
