"""Order as arithmetic: which record stands at which position, without a list of them.

An order maps positions [0, size) to positions of the order below it, and so on down to the records
themselves. All of it is a function of the position and the epoch: nothing is drawn, nothing is kept, so any
position can be asked for at any time, on any machine. The epoch says how often a set has been gone through;
only shuffles that are new each time look at it.

Orders are promises. Saved states depend on them, so what a class computes never changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core

Positions: TypeAlias = npt.NDArray[np.uint64]

# A window is filled from so many places of the set, each read in one go.
_PLACES = 16


class Order(Protocol):
    """Some arrangement of what lies below."""

    @property
    def size(self) -> int | None:
        """The number of positions; None if there is no end."""

    def at(self, positions: Positions, epoch: int) -> Positions:
        """The records at these positions, as their own numbers."""

    def describe(self) -> list[Any]:
        """What it is, as JSON: equal for equal orders."""


def fingerprint(order: Order) -> str:
    """A short name for an order, the same on every machine."""
    return hashlib.sha256(json.dumps(order.describe()).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Natural:
    """The elements as they come from below."""

    size: int | None

    def at(self, positions: Positions, epoch: int) -> Positions:  # noqa: ARG002 - the same in each
        return positions

    def describe(self) -> list[Any]:
        return ["natural", self.size]


@dataclass(frozen=True, slots=True)
class Part:
    """Every `step`-th position from `start` on: slices, the first and the last, one of several ranks.

    With `around`, what would lie past the end begins again at the front.
    """

    below: Order
    start: int
    step: int
    size: int | None
    around: bool = False

    def at(self, positions: Positions, epoch: int) -> Positions:
        if self.step > 0:
            inner = positions * np.uint64(self.step) + np.uint64(self.start)
        else:
            inner = np.uint64(self.start) - positions * np.uint64(-self.step)
        if self.around and self.below.size:
            inner %= np.uint64(self.below.size)
        return self.below.at(inner, epoch)

    def describe(self) -> list[Any]:
        return ["part", self.start, self.step, self.size, self.around, self.below.describe()]


@dataclass(frozen=True, slots=True)
class Shuffled:
    """An exact permutation of everything below, new in each epoch unless it is `fixed`."""

    below: Order
    seed: int
    fixed: bool = False

    @property
    def size(self) -> int | None:
        return self.below.size

    def at(self, positions: Positions, epoch: int) -> Positions:
        permutation = _permutation(_known(self.below), self.seed, 0 if self.fixed else epoch)
        return self.below.at(permutation.take(positions), epoch)

    def describe(self) -> list[Any]:
        return ["shuffled", self.seed, self.fixed, self.below.describe()]


@dataclass(frozen=True, slots=True)
class Windowed:
    """A shuffle that reads ahead no further than a window, for disks where every jump costs.

    The set is cut into runs of a sixteenth of a window, the runs are permuted, and then the records within
    each window of sixteen runs. So every window holds records from sixteen places, in any order.
    """

    below: Order
    seed: int
    window: int

    @property
    def size(self) -> int | None:
        return self.below.size

    def at(self, positions: Positions, epoch: int) -> Positions:
        within = self._within_windows(positions, epoch)
        return self.below.at(self._across_runs(within, epoch), epoch)

    def _within_windows(self, positions: Positions, epoch: int) -> Positions:
        size, window = _known(self.below), self.window
        moved = np.empty_like(positions)
        windows = positions // np.uint64(window)
        for number in np.unique(windows).tolist():
            mine = windows == number
            begin = number * window
            length = min(window, size - begin)
            order = _permutation(length, self.seed, _mixed(epoch, number))
            moved[mine] = order.take(positions[mine] - np.uint64(begin)) + np.uint64(begin)
        return moved

    def _across_runs(self, positions: Positions, epoch: int) -> Positions:
        size = _known(self.below)
        run = max(1, self.window // _PLACES)
        runs, rest = divmod(size, run)
        if runs < 2:
            return positions
        order = _permutation(runs, self.seed, _mixed(epoch, -1))
        # The last run may be a short one. It is put between two others, in each epoch elsewhere, so that it
        # has no favourite window either.
        short_begin = (_mixed(epoch, -2, self.seed) % (runs + 1)) * run
        after = positions >= np.uint64(short_begin + rest)
        in_short = (positions >= np.uint64(short_begin)) & ~after
        whole = positions - np.where(after, np.uint64(rest), np.uint64(0))
        whole[in_short] = 0
        moved = order.take(whole // np.uint64(run)) * np.uint64(run) + whole % np.uint64(run)
        moved[in_short] = positions[in_short] - np.uint64(short_begin) + np.uint64(runs * run)
        return moved

    def describe(self) -> list[Any]:
        return ["windowed", self.seed, self.window, self.below.describe()]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Everything below, again and again; each time is an epoch of its own."""

    below: Order
    times: int | None

    @property
    def size(self) -> int | None:
        if self.times is None or self.below.size is None:
            return None if self.below.size != 0 else 0
        return self.below.size * self.times

    def at(self, positions: Positions, epoch: int) -> Positions:
        size = _known(self.below)
        rounds = positions // np.uint64(size)
        found = np.empty_like(positions)
        for number in np.unique(rounds).tolist():
            mine = rounds == number
            inner = epoch * (self.times or 0) + number
            found[mine] = self.below.at(positions[mine] - np.uint64(number * size), inner)
        return found

    def describe(self) -> list[Any]:
        return ["repeated", self.times, self.below.describe()]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Positions below that were listed one by one: the rows of some groups, say."""

    below: Order
    picks: Positions = field(compare=False)
    digest: str = ""

    @classmethod
    def of(cls, below: Order, picks: Sequence[int] | npt.NDArray[Any]) -> Chosen:
        """The order of these positions."""
        array = np.ascontiguousarray(picks, np.uint64)
        return cls(below, array, hashlib.sha256(array.astype("<u8").tobytes()).hexdigest()[:16])

    @property
    def size(self) -> int:
        return len(self.picks)

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(self.picks[positions], epoch)

    def describe(self) -> list[Any]:
        return ["chosen", self.size, self.digest, self.below.describe()]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Positions below drawn with replacement, each in proportion to its weight.

    The draw at a position depends on the seed, the epoch and the position alone.
    """

    below: Order
    seed: int
    size: int
    ends: npt.NDArray[np.float64] = field(compare=False)  # running sums of the weights
    digest: str = ""

    @classmethod
    def of(cls, below: Order, weights: npt.ArrayLike, seed: int, size: int | None = None) -> Weighted:
        """Draws by these weights, one for each position below.

        Raises:
            ValueError: There are not as many, one is negative or not finite, or all are zero.
        """
        array = np.asarray(weights, np.float64)
        if array.shape != (_known(below),):
            raise ValueError(f"{array.size} weights for {below.size} records")
        if not np.isfinite(array).all() or (array < 0).any() or not array.any():
            raise ValueError("weights must be finite, not negative, and not all zero")
        ends = np.cumsum(array)
        digest = hashlib.sha256(array.astype("<f8").tobytes()).hexdigest()[:16]
        return cls(below, seed, _known(below) if size is None else size, ends, digest)

    def at(self, positions: Positions, epoch: int) -> Positions:
        drawn = scrambled(positions, _mixed(epoch, self.seed)) >> np.uint64(11)
        shares = drawn.astype(np.float64) * (float(self.ends[-1]) / (1 << 53))
        picks = np.searchsorted(self.ends, shares, "right")
        return self.below.at(np.minimum(picks, len(self.ends) - 1).astype(np.uint64), epoch)

    def describe(self) -> list[Any]:
        return ["weighted", self.seed, self.size, self.digest, self.below.describe()]


def scrambled(values: Positions, key: int) -> Positions:
    """Numbers that look random, one for each value: the finalizer of SplitMix64."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(key & _MASK)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


_MASK = (1 << 64) - 1


def _mixed(*parts: int) -> int:
    """One number of several."""
    state = 0x9E3779B97F4A7C15
    for part in parts:
        state = int(scrambled(np.array([part & _MASK], np.uint64), state)[0])
    return state


def _known(order: Order) -> int:
    if order.size is None:
        raise ValueError("what has no end cannot be put into another order; repeat after shuffling")
    return order.size


@lru_cache(maxsize=64)
def _permutation(size: int, seed: int, epoch: int) -> _core.Permutation:
    return _core.Permutation(size, seed & _MASK, epoch & _MASK)
