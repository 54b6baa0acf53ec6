"""Order as arithmetic: which record stands at which position, without a list of them.

An order maps positions [0, size) to positions of the order below it, and so on down to the records
themselves. All of it is a function of the position and the epoch: nothing is drawn, nothing is kept, so any
position can be asked for at any time, on any machine. The epoch says how often a set has been gone through;
only shuffles that are new each time look at it.

Orders are promises. Saved states depend on them, so what a class computes never changes.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.errors import StateError

Positions: TypeAlias = npt.NDArray[np.uint64]


class Order(ABC):
    """Some arrangement of what lies below."""

    __slots__ = ()

    if TYPE_CHECKING:  # a field in some: dataclasses would take a property here for its default

        @property
        def size(self) -> int | None:
            """The number of positions; None if there is no end."""

    @abstractmethod
    def at(self, positions: Positions, epoch: int) -> Positions:
        """The records at these positions, as their own numbers."""

    def nearby(self) -> int:
        """How many positions in a row have their records at a few places; 1 if no more than others have."""
        return 1

    def mark(self, position: int) -> Any:
        """Where a position lies, as JSON; the same for all who share this order out among them."""
        return position

    def onward(self, mark: Any) -> Order:
        """What is left behind a mark.

        Raises:
            StateError: There is no such place.
        """
        if type(mark) is not int or mark < 0 or (self.size is not None and mark > self.size):
            raise StateError(f"the state stands at {mark!r}, and there are {self.size} elements")
        return Rest(self, mark)


@dataclass(frozen=True, slots=True)
class Natural(Order):
    """The elements as they come from below."""

    size: int | None

    def at(self, positions: Positions, epoch: int) -> Positions:  # noqa: ARG002 - the same in each
        return positions


@dataclass(frozen=True, slots=True)
class Part(Order):
    """Every `step`-th position from `start` on: slices, the first and the last, the parts of a split."""

    below: Order
    start: int
    step: int
    size: int | None

    def nearby(self) -> int:
        return max(1, self.below.nearby() // abs(self.step))

    def at(self, positions: Positions, epoch: int) -> Positions:
        if self.step > 0:
            inner = positions * np.uint64(self.step) + np.uint64(self.start)
        else:
            inner = np.uint64(self.start) - positions * np.uint64(-self.step)
        return self.below.at(inner, epoch)


@dataclass(frozen=True, slots=True)
class Rest(Order):
    """What is left from a position on."""

    below: Order
    start: int

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else self.below.size - self.start

    def nearby(self) -> int:
        return self.below.nearby()

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(positions + np.uint64(self.start), epoch)

    def mark(self, position: int) -> Any:
        return self.below.mark(self.start + position)

    def onward(self, mark: Any) -> Order:
        return self.below.onward(mark)


@dataclass(frozen=True, slots=True)
class Sharded(Order):
    """What falls to one of several ranks: every `count`-th position. Its marks do not depend on the count."""

    below: Order
    index: int
    count: int

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else max(0, -((self.index - self.below.size) // self.count))

    def nearby(self) -> int:
        return max(1, self.below.nearby() // self.count)

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(positions * np.uint64(self.count) + np.uint64(self.index), epoch)

    def mark(self, position: int) -> Any:
        shared = position * self.count  # by all of them, when each is at this position
        return self.below.mark(shared if self.below.size is None else min(shared, self.below.size))

    def onward(self, mark: Any) -> Order:
        return replace(self, below=self.below.onward(mark))


@dataclass(frozen=True, slots=True)
class Even(Order):
    """As many positions as `count` ranks can share evenly: some less, or some more, from the front again."""

    below: Order
    whole: Order  # of which `below` may be the rest: it has the front
    count: int
    pad: bool

    @property
    def size(self) -> int:
        size = known(self.below)
        return size + -size % self.count if self.pad else size - size % self.count

    def nearby(self) -> int:
        return self.below.nearby()

    def at(self, positions: Positions, epoch: int) -> Positions:
        size = np.uint64(known(self.below))
        if not self.pad or not (past := positions >= size).any():
            return self.below.at(positions, epoch)
        found = np.empty_like(positions)
        found[~past] = self.below.at(positions[~past], epoch)
        found[past] = self.whole.at((positions[past] - size) % np.uint64(known(self.whole)), epoch)
        return found

    def mark(self, position: int) -> Any:
        return self.below.mark(min(position, known(self.below)))

    def onward(self, mark: Any) -> Order:
        return replace(self, below=self.below.onward(mark))


@dataclass(frozen=True, slots=True)
class Frozen(Order):
    """The order below as it is in the first epoch, in all of them: what is split stays on its side."""

    below: Order

    @property
    def size(self) -> int | None:
        return self.below.size

    def nearby(self) -> int:
        return self.below.nearby()

    def at(self, positions: Positions, epoch: int) -> Positions:  # noqa: ARG002
        return self.below.at(positions, 0)


@dataclass(frozen=True, slots=True)
class Shuffled(Order):
    """An exact permutation of everything below, new in each epoch unless it is `fixed`."""

    below: Order
    seed: int
    fixed: bool = False

    @property
    def size(self) -> int | None:
        return self.below.size

    def at(self, positions: Positions, epoch: int) -> Positions:
        order = permutation(known(self.below), self.seed, 0 if self.fixed else epoch)
        return self.below.at(order.take(positions), epoch)


@dataclass(frozen=True, slots=True)
class Repeated(Order):
    """Everything below, again and again; each time is an epoch of its own."""

    below: Order
    times: int | None
    begun: Order = Natural(0)  # the rest of a round that has begun
    rounds_over: int = 0  # with the begun one

    @property
    def size(self) -> int | None:
        first, each = known(self.begun), known(self.below)
        if each and self.times is None:
            return None
        return first + each * ((self.times or 0) - self.rounds_over if each else 0)

    def nearby(self) -> int:
        return self.below.nearby()

    def at(self, positions: Positions, epoch: int) -> Positions:
        first, each = np.uint64(known(self.begun)), np.uint64(max(1, known(self.below)))
        begun = positions < first
        rounds = (positions - first) // each + np.uint64(self.rounds_over)
        rounds[begun] = max(0, self.rounds_over - 1)
        found = np.empty_like(positions)
        for number in np.unique(rounds).tolist():
            mine = rounds == number
            order, start = self._round(number)
            inner = positions[mine] - np.uint64(start)
            found[mine] = order.at(inner, round_epoch(epoch, self.times, number))
        return found

    def _round(self, number: int) -> tuple[Order, int]:
        """The order of a round, and where it begins."""
        if number < self.rounds_over:
            return self.begun, 0
        return self.below, known(self.begun) + (number - self.rounds_over) * known(self.below)

    def mark(self, position: int) -> Any:
        first, each = known(self.begun), max(1, known(self.below))
        number = self.rounds_over + (-1 if position < first else (position - first) // each)
        order, start = self._round(number)
        return [number, order.mark(position - start)]

    def onward(self, mark: Any) -> Order:
        if not isinstance(mark, list) or len(mark) != 2 or type(mark[0]) is not int or mark[0] < 0:
            raise StateError(f"the state stands at {mark!r}, which is no round and a place in it")
        if self.times is not None and mark[0] >= self.times:
            return replace(self, begun=Natural(0), rounds_over=self.times)
        return replace(self, begun=self.below.onward(mark[1]), rounds_over=mark[0] + 1)


@dataclass(frozen=True, slots=True)
class Chosen(Order):
    """Positions below that were listed one by one: the rows of some groups, say."""

    below: Order
    picks: Positions = field(compare=False)

    @property
    def size(self) -> int:
        return len(self.picks)

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(self.picks[positions], epoch)


@dataclass(frozen=True, slots=True)
class Weighted(Order):
    """Positions below drawn with replacement, each in proportion to its weight.

    The draw at a position depends on the seed, the epoch and the position alone.
    """

    below: Order
    seed: int
    size: int
    ends: npt.NDArray[np.float64] = field(compare=False)  # running sums of the weights

    @classmethod
    def of(cls, below: Order, weights: npt.ArrayLike, seed: int, size: int | None = None) -> Weighted:
        """Draws by these weights, one for each position below.

        Raises:
            ValueError: There are not as many, one is negative or not finite, or all are zero.
        """
        array = np.asarray(weights, np.float64)
        if array.shape != (known(below),):
            raise ValueError(f"{array.size} weights for {below.size} elements")
        if not np.isfinite(array).all() or (array < 0).any() or not array.any():
            raise ValueError("weights must be finite, not negative, and not all zero")
        return cls(below, seed, known(below) if size is None else size, np.cumsum(array))

    def at(self, positions: Positions, epoch: int) -> Positions:
        draws = scrambled(positions, mixed(epoch, self.seed)) >> np.uint64(11)
        shares = draws.astype(np.float64) * (float(self.ends[-1]) / (1 << 53))
        picks = np.searchsorted(self.ends, shares, "right")
        return self.below.at(np.minimum(picks, len(self.ends) - 1).astype(np.uint64), epoch)


def scrambled(values: Positions, key: int) -> Positions:
    """Numbers that look random, one for each value: the finalizer of SplitMix64."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(key & _MASK)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


_MASK = (1 << 64) - 1


def drawn(number: int, key: int) -> int:
    """What `scrambled` makes of one number."""
    value = (number + key) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def mixed(*parts: int) -> int:
    """One number made of several."""
    state = 0x9E3779B97F4A7C15
    for part in parts:
        state = drawn(part, state)
    return state


def round_epoch(epoch: int, times: int | None, number: int) -> int:
    """The epoch of a round, where everything is repeated so many times in each epoch."""
    if times is None:
        return number if epoch == 0 else mixed(epoch, number)
    return epoch * times + number


def known(order: Order) -> int:
    """The size of an order that has one."""
    if order.size is None:
        raise ValueError("what has no end cannot be put into another order; repeat after shuffling")
    return order.size


@lru_cache(maxsize=1024)  # of lanes and windows, a few kilobytes each
def permutation(size: int, seed: int, epoch: int) -> _core.Permutation:
    """The order of so many in an epoch. The seed may be NumPy's, whose integers cannot be masked."""
    return _core.Permutation(size, operator.index(seed) & _MASK, epoch & _MASK)
