"""`shard`: what falls to one of several ranks, or to one of the workers of a rank.

Ranks share what batches are made of, so that the batches of all of them are of the same size. Workers share
the batches themselves, each every so manyth, so that whoever takes from one after the other sees them in
their order, whatever the number of workers.

What the ranks of a world have taken together is a prefix of the elements that they share, but for some holes
where one of them was ahead of another. So it holds for any number of ranks who share the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from tfreel.dataset.node import Node, Run, Step, UnaryNode, reordered
from tfreel.dataset.order import (
    Batching,
    Counts,
    Natural,
    Order,
    Positions,
    Rank,
    UnaryOrder,
    known,
    other_ranks_error,
    position_in,
    short,
)
from tfreel.dataset.plan import Stage
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.state import Move, parts_of
from tfreel.errors import StateError

Uneven: TypeAlias = Literal["balance", "pad", "drop", "keep"]
UNEVEN = ("balance", "pad", "drop", "keep")


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """What falls to one of several.

    Attributes:
        index: Which of them, from 0.
        count: How many there are.
        uneven: As in `Dataset.shard`; None leaves it to the batches behind it.

    Raises:
        ValueError: There is no such one, or no such way.
    """

    index: int
    count: int
    uneven: Uneven | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise ValueError(f"index must be from 0 to {self.count - 1}, not {self.index}")
        if self.uneven is not None and self.uneven not in UNEVEN:
            raise ValueError(f'uneven must be "balance", "pad", "drop" or "keep", not {self.uneven!r}')

    @property
    def stage(self) -> Stage:
        """It in words; a state is good for any number of ranks."""
        return Stage(f"shard {self.index} of {self.count}", ["shard", self.uneven])

    def of_order(self, order: Order) -> Order:
        """Every so manyth position."""
        return ShardOrder(order, self.index, self.count, self.uneven)


def shard_elements(node: Node, spec: ShardSpec, *, quiet: bool = False) -> Node:
    """Every so manyth element, whatever it is.

    Args:
        node: The stage.
        spec: Which of them.
        quiet: Whether somebody else reports what becomes of elements that all of them have to make.

    Raises:
        TypeError: Nobody can tell how many there are, so that all ranks would get as many.
        ValueError: It is a pipe, which is read only once.
    """
    if node.unindexable_reason is None:
        return reordered(node, spec.of_order, spec.stage)
    if spec.uneven in (None, "balance") and spec.count > 1:
        raise TypeError(
            f"to give all ranks as many elements, shard() must know how many there are, which"
            f' {node.unindexable_reason} hides: shard before that, or say uneven="drop" or "pad", or "keep"'
            " if ranks may differ"
        )
    if spec.count > 1 and node.reads_once:
        raise ValueError("a pipe is read only once, and cannot be shared out")
    return Stride(node, spec, quiet)


def shard_records(node: Node, spec: ShardSpec, *, in_batches: bool = False) -> Node:
    """Every so manyth of the records that the elements are made of, as far down as they can be told.

    Args:
        node: The stage.
        spec: Which of them.
        in_batches: Whether a stage above makes batches of them, and evens them out by itself.

    Raises:
        TypeError: All should get as many, and a stage in between leaves some out.
    """
    if not node.shards_below:
        evened = in_batches and spec.uneven == "balance"
        return shard_elements(node, replace(spec, uneven=None) if evened else spec)
    if node.drops_elements and spec.uneven not in (None, "keep") and spec.count > 1:
        raise TypeError(
            f"uneven={spec.uneven!r} cannot be kept behind {node.unindexable_reason}, which leaves each rank"
            ' with another number of elements: say uneven="keep" if ranks may differ, or put'
            ' shard(…, uneven="drop") behind it'
        )
    return node.with_children(
        [
            shard_records(child, spec, in_batches=not child.batched and (in_batches or node.batched))
            for child in node.children
        ]
    )


def shard_batches(node: Node, spec: ShardSpec) -> Node:
    """Every so manyth element; where these have no positions, of what they are made of."""
    if node.unindexable_reason is None or not node.shards_below:
        return shard_elements(node, spec, quiet=spec.index > 0)  # one report is made of all of theirs
    return node.with_children([shard_batches(child, spec) for child in node.children])


@lru_cache(maxsize=256)
def last_steps(size: int, count: int, step: int) -> tuple[int, tuple[int, ...]]:
    """How so many elements are shared in steps of all ranks: the number of whole ones, the last ones' sizes.

    With R elements left, the ranks need K = ⌈⌈R/count⌉/step⌉ more steps. The last one takes all that is left;
    if the one before would leave less than an element for each rank behind it, it takes half of the rest. As
    only R counts, whoever goes on from anywhere, with any number of ranks, goes on by the same rule.
    """
    whole = count * step
    full = max(0, _divided_up(_divided_up(size, count), step) - 2)
    left, tails = size - full * whole, []
    while left:
        steps = _divided_up(_divided_up(left, count), step)
        if steps == 1:
            tails.append(left)
        elif steps == 2 and left // count <= step:
            tails.append(_divided_up(left, 2))
        else:
            full += 1
            left -= whole
            continue
        left -= tails[-1]
    return full, tuple(tails)


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)


@dataclass(frozen=True, slots=True)
class ShardOrder(UnaryOrder):
    """What falls to one of several ranks: every `count`-th position.

    Attributes:
        index: Which rank.
        count: How many there are.
        uneven: What to do where positions do not come out even. None is "keep", until a batch decides.
        step: How many positions a rank takes at a time, where it is "balance".
    """

    index: int
    count: int
    uneven: Uneven | None = None
    step: int = 1
    verb: ClassVar[str] = "another shard()"

    @property
    def is_identity(self) -> bool:
        return self.count == 1 and self.below.is_identity

    @property
    def size(self) -> int | None:
        size = self.below.size
        if size is None:
            return None
        if self.uneven == "balance":
            full, tails = self._steps
            return full * self.step + sum(map(self._share, tails))
        if self.uneven == "drop":
            return size // self.count
        if self.uneven == "pad":
            return -(-size // self.count)
        return max(0, -((self.index - size) // self.count))

    @property
    def padding(self) -> int:
        size = self.below.size
        if size is None or self.uneven not in ("pad", "balance"):
            return 0
        if self.uneven == "pad":
            return int(self.index >= size % self.count > 0)
        return sum(self.index >= tail for tail in self._steps[1])

    @property
    def _steps(self) -> tuple[int, tuple[int, ...]]:
        return last_steps(known(self.below), self.count, self.step)

    def _share(self, tail: int) -> int:
        """How many elements of a last step are for this rank: at least one, if only another's."""
        return max(1, -((self.index - tail) // self.count))

    def batching(self, size: int) -> Batching | None:
        if self.uneven != "balance" or self.step != size or self.below.size is None:
            return None
        full, tails = self._steps
        return Batching(size, full, tuple(map(self._share, tails)))

    def under_batch(self, size: int, *, drop_remainder: bool) -> Order:
        if self.uneven not in (None, "balance"):
            return self
        return replace(self, uneven="drop" if drop_remainder else "balance", step=size)

    def nearby(self) -> int:
        return max(1, self.below.nearby() // self.count)

    def at(self, positions: Positions, epoch: int) -> Positions:
        places = positions * np.uint64(self.count) + np.uint64(self.index)
        size = self.below.size
        if size is None or self.uneven in (None, "keep", "drop"):
            return self.below.at(places, epoch)
        if self.uneven == "balance":
            return self.below.at(self._in_steps(positions, places), epoch)
        past = places >= np.uint64(size)
        if not past.any():
            return self.below.at(places, epoch)
        whole = self.below.below if isinstance(self.below, Leftover) else self.below
        found = np.empty_like(positions)
        found[~past] = self.below.at(places[~past], epoch)
        found[past] = whole.at((places[past] - np.uint64(size)) % np.uint64(known(whole)), epoch)
        return found

    def _in_steps(self, positions: Positions, places: Positions) -> Positions:
        """The positions below, of which those of the last steps are shared out otherwise."""
        full, tails = self._steps
        mine, begin = full * self.step, full * self.step * self.count
        for tail in tails:
            share = self._share(tail)
            inside = (positions >= np.uint64(mine)) & (positions < np.uint64(mine + share))
            if inside.any():
                inner = (positions[inside] - np.uint64(mine)) * np.uint64(self.count) + np.uint64(self.index)
                inner[inner >= np.uint64(tail)] = self.index % tail
                places[inside] = inner + np.uint64(begin)
            mine, begin = mine + share, begin + tail
        return places

    @property
    def shards(self) -> tuple[Rank, ...]:
        return (*self.below.shards, (self.index, self.count))

    def at_rank(self, index: int, count: int) -> Order:
        return replace(self, below=self.below.at_rank(index, count), index=index, count=count)

    def _taken(self, counts: Counts) -> Any:
        if self.below.shards:
            raise other_ranks_error(self.verb)
        high, holes = self._frontier(counts)
        return self.below.taken_of(high, holes)

    def _frontier(self, counts: Counts) -> tuple[int, Positions]:
        """Behind which position of the order below nothing was taken, and what was not before it."""
        size = self.below.size
        even = int(counts.min())
        if size is not None:
            whole = self._steps[0] * self.step if self.uneven == "balance" else size // self.count
            even = min(even, whole)
        places = [np.arange(even, count, dtype=np.uint64) for count in counts.tolist()]
        taken = [
            replace(self, index=rank, below=Natural(size)).at(mine, 0) for rank, mine in enumerate(places)
        ]
        behind = np.unique(np.concatenate(taken))
        behind = behind[behind >= np.uint64(even * self.count)]
        high = int(behind[-1]) + 1 if len(behind) else even * self.count
        between = np.arange(even * self.count, high, dtype=np.uint64)
        return high, np.setdiff1d(between, behind, assume_unique=True)

    def _remaining(self, taken: Any) -> Order:
        return replace(self, below=Leftover.of(self.below, taken))


@dataclass(frozen=True, slots=True)
class Leftover(UnaryOrder):
    """What is left of an order of which everything was taken up to a position, but for some holes."""

    high: int
    holes: Positions = field(compare=False)

    @classmethod
    def of(cls, below: Order, taken: Any) -> Order:
        """What is left by what `ShardOrder.taken` says.

        Raises:
            StateError: It says something else.
        """
        high, holes = parts_of(taken, [0, []])
        high = position_in(below.size, high)
        if not all(type(hole) is int and 0 <= hole < high for hole in holes) or sorted(set(holes)) != holes:
            raise StateError(f"the state names {short(holes)} among the {high} elements before it")
        return cls(below, high, np.array(holes, np.uint64)) if high else below

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else self.below.size - self.high + len(self.holes)

    def at(self, positions: Positions, epoch: int) -> Positions:
        return self.below.at(self._places(positions), epoch)

    def _places(self, positions: Positions) -> Positions:
        holes = len(self.holes)
        places = positions + np.uint64(self.high) - np.uint64(holes)
        early = positions < np.uint64(holes)
        if early.any():
            places[early] = self.holes[positions[early]]
        return places

    def taken_of(self, high: int, holes: Positions) -> Any:
        old = len(self.holes)
        left = np.concatenate([self._places(holes), self.holes[min(high, old) :]])
        return self.below.taken_of(self.high + max(0, high - old), np.unique(left))


@dataclass(frozen=True, slots=True)
class Stride(UnaryNode):
    """Every `count`-th element of a stage that has lost its positions: all are made, most are let go.

    As with orders, its states do not depend on who saved them, nor on the count. Each element is given when
    it is known whether the ranks get as many behind it: then all of them know where they drift apart.
    """

    spec: ShardSpec
    quiet: bool = False  # others make the same elements, and report on them
    keeps_elements = True

    @property
    def size(self) -> None:
        return None

    @property
    def shards(self) -> tuple[Rank, ...]:
        return (*self.below.shards, (self.spec.index, self.spec.count))

    def at_rank(self, index: int, count: int) -> Node:
        return replace(
            self, below=self.below.at_rank(index, count), spec=replace(self.spec, index=index, count=count)
        )

    @property
    def verb(self) -> str:
        return "shard()"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        below, _ = parts_of(state, [None, True])
        index, count = self.spec.index, self.spec.count
        steps = iter(self.below.steps(replace(run, report=DatasetReport()) if self.quiet else run, below))
        groups = iter(lambda: list(islice(steps, count)), [])
        for some, even in self._until_uneven(groups):
            if index < len(some) or self.spec.uneven == "pad":
                run.report.repeated += index >= len(some)
                yield some[index % len(some)]._replace(state=[some[-1].state, even])

    def _until_uneven(self, groups: Iterator[list[Step]]) -> Iterator[tuple[list[Step], bool]]:
        """The elements of each turn of the ranks, and whether all have as many with the next turn too."""
        count = self.spec.count
        if self._is_even:
            yield from ((some, True) for some in groups if len(some) == count or self.spec.uneven == "pad")
            return
        some = next(groups, [])
        while some:
            following = next(groups, [])
            yield some, len(following or some) == count
            some = following

    @property
    def _is_even(self) -> bool:
        return self.spec.count == 1 or self.spec.uneven in ("drop", "pad")

    def _ends_even(self, state: Any) -> bool:
        _, even = parts_of(state, [None, self._is_even])
        return bool(even)

    def _move(self, state: Any, move: Move) -> Any:  # noqa: ARG002
        below, even = parts_of(state, [None, True])
        if self.below.shards:
            raise other_ranks_error("another shard()")
        if not even:
            raise other_ranks_error(
                "the end of a stream", 'say shard(…, uneven="drop") or "pad", or take a state from before it'
            )
        return [below, even]

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), self.spec.stage]
