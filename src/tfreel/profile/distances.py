"""How far two distributions are from each other: weighted points or counts in, a number from 0 to 1 out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_POINTS = 2000
_BINS = 20
_CHANCE = 1.95  # of Kolmogorov and Smirnov: chance alone goes beyond it once in a thousand times

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Points:
    """A distribution of numbers.

    Attributes:
        keys: Numbers in the order of their values, as the core has them, each once.
        shares: The share of numbers up to each of them.
        count: How many numbers there are.
    """

    keys: Keys
    shares: npt.NDArray[np.float64]
    count: int

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Points:
        """The distribution that the core found, in not too many points."""
        keys, weights = found["points"]
        # A key may be there with several weights.
        last = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) if len(keys) else np.array([], np.intp)
        shares = np.cumsum(weights, dtype=np.float64)[last] / max(1, int(found["count"]))
        keys = keys[last]
        if len(keys) > _MOST_POINTS:
            some = np.searchsorted(shares, np.linspace(0, shares[-1], _MOST_POINTS))
            some = np.unique(np.minimum(some, len(keys) - 1))
            keys, shares = keys[some], shares[some]
        return cls(keys, shares, int(found["count"]))

    def up_to(self, keys: Keys) -> npt.NDArray[np.float64]:
        """The share of numbers up to each of these."""
        return np.append(0.0, self.shares)[np.searchsorted(self.keys, keys, "right")]


def farthest(one: Points, other: Points) -> tuple[float, int]:
    """The greatest difference of the two distribution functions, and the number (its key) where that is."""
    keys = np.union1d(one.keys, other.keys)
    gaps = np.abs(one.up_to(keys) - other.up_to(keys))
    at = int(np.argmax(gaps))
    return float(gaps[at]), int(keys[at])


def greatest_difference(one: Mapping[Any, int], other: Mapping[Any, int]) -> tuple[float, Any]:
    """The greatest difference of a share, and the value that has it."""
    totals = max(1, sum(one.values())), max(1, sum(other.values()))
    gaps = {
        value: abs(one.get(value, 0) / totals[0] - other.get(value, 0) / totals[1])
        for value in {**one, **other}
    }
    value = max(gaps, key=gaps.__getitem__)
    return gaps[value], value


def divergence_of_counts(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    """The Jensen-Shannon divergence, with the logarithm to base 2: from 0 to 1."""
    values = list({**one, **other})
    return _divergence(*(np.array([side.get(value, 0) for value in values], float) for side in (one, other)))


def divergence_of_points(one: Points, other: Points) -> float:
    """The same of numbers, in bins that hold about the same share of both together."""
    keys = np.union1d(one.keys, other.keys)
    both = (one.up_to(keys) + other.up_to(keys)) / 2
    places = np.minimum(np.searchsorted(both, np.linspace(0, 1, _BINS + 1)[1:]), len(keys) - 1)
    edges = keys[np.unique(places)]
    return _divergence(*(np.diff(side.up_to(edges), prepend=0.0) for side in (one, other)))


def _divergence(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    p, q = one / one.sum(), other / other.sum()
    middle = (p + q) / 2
    total = 0.0
    for side in (p, q):
        there = side > 0
        total += float((side[there] * np.log2(side[there] / middle[there])).sum()) / 2
    return min(1.0, max(0.0, total))


def by_chance(one: int, other: int) -> float:
    """The distance that chance alone may make between samples of so many records."""
    return 1.0 if not one or not other else _CHANCE * math.sqrt((one + other) / (one * other))
