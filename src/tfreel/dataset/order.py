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
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.errors import StateError

Positions: TypeAlias = npt.NDArray[np.uint64]
Counts: TypeAlias = npt.NDArray[np.int64]  # how many elements each rank of a world has had
Rank: TypeAlias = tuple[int, int]  # its index, and how many there are


@dataclass(frozen=True, slots=True)
class Batching:
    """Where batches begin and end among so many rows.

    Attributes:
        size: How many rows all have, but the last ones.
        full: How many batches have so many; None without end.
        tails: The sizes of the batches behind these.
    """

    size: int
    full: int | None
    tails: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: int | None, size: int, *, drop_remainder: bool) -> Batching:
        """All of one size; the last one smaller, or left out."""
        if rows is None:
            return cls(size, None)
        full, rest = divmod(rows, size)
        return cls(size, full, (rest,) if rest and not drop_remainder else ())

    @property
    def count(self) -> int | None:
        """How many batches there are."""
        return None if self.full is None else self.full + len(self.tails)

    def bounds(self, first: int, stop: int) -> Sequence[int]:
        """Where batches begin, from the first one on, and where the last one ends."""
        if self.full is None or stop <= self.full:
            return range(first * self.size, stop * self.size + 1, self.size)
        return [self.start(number) for number in range(first, stop + 1)]

    def start(self, number: int) -> int:
        """The row where a batch begins; for the one behind the last, how many rows there are in batches."""
        if self.full is None or number <= self.full:
            return number * self.size
        return self.full * self.size + sum(self.tails[: number - self.full])


class Order(ABC):
    """Some arrangement of what lies below."""

    __slots__ = ()

    # What it is to users, where it stands behind shard() and has to be refused.
    verb: ClassVar[str] = "another order"

    if TYPE_CHECKING:  # a field in some: dataclasses would take a property here for its default

        @property
        def size(self) -> int | None:
            """The number of positions; None if there is no end."""

    @property
    def children(self) -> tuple[Order, ...]:
        """The orders that it is made of."""
        return ()

    def with_children(self, children: Sequence[Order]) -> Self:  # noqa: ARG002
        """The same of others."""
        return self

    @abstractmethod
    def at(self, positions: Positions, epoch: int) -> Positions:
        """The records at these positions, as their own numbers."""

    def nearby(self) -> int:
        """How many positions in a row have their records at a few places; 1 if no more than others have."""
        return 1

    @property
    def shards(self) -> tuple[Rank, ...]:
        """The ranks whose part it is, for each shard() in it."""
        return tuple(rank for child in self.children for rank in child.shards)

    def at_rank(self, index: int, count: int) -> Order:
        """The same for another rank, or for one of another number of them."""
        return self.with_children([child.at_rank(index, count) for child in self.children])

    @property
    def knows_other_ranks(self) -> bool:
        """Whether `at_rank` tells how many positions others have; not if each picks some of its own share."""
        return all(child.knows_other_ranks for child in self.children)

    def under_batch(self, size: int, *, drop_remainder: bool) -> Order:  # noqa: ARG002
        """The same behind a shard() that is told of the batches, so that all ranks get as many."""
        return self

    def batching(self, size: int) -> Batching | None:  # noqa: ARG002
        """Where batches of that size begin and end, if a shard() decides it."""
        return None

    @property
    def padding(self) -> int:
        """How many positions have what came before, so that all ranks have as many."""
        return 0

    @property
    def is_identity(self) -> bool:
        """Whether everything stays where it is."""
        return False

    @property
    def reshuffles(self) -> bool:
        """Whether it is another one in each epoch."""
        return any(child.reshuffles for child in self.children)

    def taken(self, counts: Counts) -> Any:
        """What the ranks of a world have taken together, as JSON that holds for any number of ranks.

        Args:
            counts: How many positions each has had, from the first on.

        Raises:
            StateError: What is left is not what another number of ranks would begin with.
        """
        return self._taken(counts) if self.shards else even_count(counts)

    def _taken(self, counts: Counts) -> Any:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def taken_of(self, high: int, holes: Positions) -> Any:
        """The same as JSON: all positions up to one, but for some before it."""
        return [high, holes.tolist()]

    def remaining(self, taken: Any) -> Order:
        """What is left of it.

        Raises:
            StateError: There is no such place.
        """
        return self._remaining(taken) if self.shards else self.rest(taken)

    def _remaining(self, taken: Any) -> Order:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def rest(self, start: Any) -> Order:
        """What is left from a position on.

        Raises:
            StateError: There is no such position.
        """
        start = position_in(self.size, start)
        return Rest(self, start) if start else self


def other_ranks_error(verb: str, advice: str | None = None) -> StateError:
    """The error for a state that only the ranks who saved such states can go on from."""
    advice = advice or f"put shard() behind {verb}"
    return StateError(
        f"{verb} behind shard() gives every rank elements of its own, so this state is good only for the rank"
        f" that saved it: {advice}, or save a state of each rank and keep their number"
    )


def even_count(counts: Counts) -> int:
    """How many each rank has had of what all of them have alike.

    Raises:
        StateError: Some had more than others.
    """
    if len(counts) and int(counts.min()) != int(counts.max()):
        raise other_ranks_error("what is not shared out", "share out all parts, evenly")
    return int(counts[0])


def position_in(size: int | None, value: Any) -> int:
    """A position that a state says, or the one to begin with.

    Raises:
        StateError: There is no such position.
    """
    if value is None:
        return 0
    if type(value) is not int or not 0 <= value < 1 << 63 or (size is not None and value > size):
        raise StateError(f"the state stands at {short(value)}, and there are {size} elements")
    return value


_LONGEST_PART = 100  # of a state, in a message


def short(part: Any) -> str:
    """A part of a state, in a few words."""
    text = repr(part)
    return text if len(text) <= _LONGEST_PART else f"{text[:_LONGEST_PART]}…"


@dataclass(frozen=True, slots=True)
class UnaryOrder(Order):
    """An order of another one."""

    below: Order

    @property
    def children(self) -> tuple[Order, ...]:
        return (self.below,)

    def with_children(self, children: Sequence[Order]) -> Self:
        (below,) = children
        return replace(self, below=below)

    @property
    def size(self) -> int | None:
        return self.below.size

    def nearby(self) -> int:
        return self.below.nearby()

    @property
    def padding(self) -> int:
        return self.below.padding


@dataclass(frozen=True, slots=True)
class Natural(Order):
    """The elements as they come from below."""

    size: int | None

    @property
    def is_identity(self) -> bool:
        return True

    def at(self, positions: Positions, epoch: int) -> Positions:  # noqa: ARG002 - the same in each
        return positions


@dataclass(frozen=True, slots=True)
class Part(UnaryOrder):
    """Every `step`-th position from `start` on: slices, the first and the last, the parts of a split."""

    start: int
    step: int
    length: int | None
    verb: ClassVar[str] = "a slice, take() or skip()"

    @property
    def knows_other_ranks(self) -> bool:
        return not self.below.shards

    @property
    def size(self) -> int | None:
        return self.length

    @property
    def padding(self) -> int:
        return 0

    def nearby(self) -> int:
        return max(1, self.below.nearby() // abs(self.step))

    def at(self, positions: Positions, epoch: int) -> Positions:
        if self.step > 0:
            inner = positions * np.uint64(self.step) + np.uint64(self.start)
        else:
            inner = np.uint64(self.start) - positions * np.uint64(-self.step)
        return self.below.at(inner, epoch)


@dataclass(frozen=True, slots=True)
class Rest(UnaryOrder):
    """What is left from a position on."""

    start: int

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else self.below.size - self.start

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(positions + np.uint64(self.start), epoch)


@dataclass(frozen=True, slots=True)
class Frozen(UnaryOrder):
    """The order below as it is in the first epoch, in all of them: what is split stays on its side."""

    verb: ClassVar[str] = "split() or sample()"
    reshuffles = False

    def at(self, positions: Positions, epoch: int) -> Positions:  # noqa: ARG002
        return self.below.at(positions, 0)


@dataclass(frozen=True, slots=True)
class Chosen(UnaryOrder):
    """Positions below that were listed one by one: the rows of some groups, say."""

    picks: Positions = field(compare=False)
    verb: ClassVar[str] = "a choice of elements"

    @property
    def knows_other_ranks(self) -> bool:
        return not self.below.shards

    @property
    def size(self) -> int:
        return len(self.picks)

    @property
    def padding(self) -> int:
        return 0

    def nearby(self) -> int:
        return 1

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(self.picks[positions], epoch)


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
