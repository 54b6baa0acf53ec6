"""`repeat`: everything again and again, each time in an epoch of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from tfreel.dataset.node import Node, Origins, Run, Step, UnaryNode, reordered
from tfreel.dataset.order import (
    Counts,
    Order,
    Positions,
    Rank,
    UnaryOrder,
    known,
    other_ranks_error,
    round_epoch,
    short,
)
from tfreel.dataset.plan import Stage
from tfreel.dataset.state import Move, parts_of, resolve_state
from tfreel.errors import StateError

_EMPTY_ROUNDS = 100  # one after the other, of a repetition without end


class _Part(Protocol):
    """An order or a stage, of which ranks may have taken a part."""

    @property
    def size(self) -> int | None: ...
    def at_rank(self, index: int, count: int) -> Any: ...
    def taken(self, counts: Counts) -> Any: ...


class Rounds(NamedTuple):
    """Which rounds there are, and where they lie one behind the other.

    Attributes:
        begun: The rounds of which only a rest is left: their numbers, and how many elements each has.
        first: The number of the first whole round.
        each: How many elements a whole round has.
        times: How many rounds there are; None without end.
    """

    begun: tuple[tuple[int, int], ...]
    first: int
    each: int
    times: int | None

    @property
    def size(self) -> int | None:
        """The number of elements; None without end."""
        rest = sum(size for _, size in self.begun)
        if self.times is None:
            return None if self.each else rest
        return rest + self.each * max(0, self.times - self.first)

    @property
    def starts(self) -> list[int]:
        """Where the begun rounds begin, and the first whole one."""
        return list(accumulate((size for _, size in self.begun), initial=0))

    def place(self, position: int) -> tuple[int, int]:
        """The round of a position, as its place among begun and whole ones, and the position in it."""
        starts = self.starts
        for turn, (start, stop) in enumerate(pairwise(starts)):
            if position < stop:
                return turn, position - start
        turn, inner = divmod(position - starts[-1], max(1, self.each))
        return len(self.begun) + turn, inner

    def turns_begun(self, count: int) -> int:
        """How many rounds were begun by one who has had so many elements."""
        return self.place(count - 1)[0] + 1 if count else 0

    def turns_over(self, count: int) -> int:
        """How many rounds one has behind him who has had so many elements; all, if there are no more."""
        return sys.maxsize if count == self.starts[-1] and not self.each else self.place(count)[0]

    def number(self, turn: int) -> int:
        """The number of a round, by its place among begun and whole ones."""
        return self.begun[turn][0] if turn < len(self.begun) else self.first + turn - len(self.begun)

    def counts(self, turn: int, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """How much of a round has been had by those who have had so much of all."""
        if turn < len(self.begun):
            start, size = self.starts[turn], self.begun[turn][1]
        else:
            start, size = self.starts[-1] + (turn - len(self.begun)) * self.each, self.each
        return np.clip(counts - start, 0, size)


def taken_rounds(below: _Part, begun: Sequence[tuple[int, _Part]], first: int, counts: Counts) -> list[Any]:
    """What ranks have taken of rounds: those they have left something of, and the number of the next one.

    Raises:
        StateError: Ranks do not share the elements of a round, also if all rounds are over.
    """
    world = len(counts)
    below.taken(np.zeros_like(counts))
    sizes = [rank_sizes(part, world) for _, part in begun]
    each = rank_sizes(below, world)
    ranks = [
        Rounds(
            tuple((number, int(size[r])) for (number, _), size in zip(begun, sizes, strict=True)),
            first,
            int(each[r]),
            None,
        )
        for r in range(world)
    ]
    pairs = [(rounds, int(count)) for rounds, count in zip(ranks, counts, strict=True)]
    last = max(rounds.turns_begun(count) for rounds, count in pairs)
    over = min(rounds.turns_over(count) for rounds, count in pairs)
    left: list[Any] = []
    for turn in range(min(over, last), max(last, len(begun))):
        inner = np.array([rounds.counts(turn, counts[r : r + 1])[0] for r, rounds in enumerate(ranks)])
        whole = sizes[turn] if turn < len(begun) else each
        if (inner < whole).any():
            part = begun[turn][1] if turn < len(begun) else below
            left.append([ranks[0].number(turn), part.taken(inner)])
    return [left, first + max(0, last - len(begun))]


def rank_sizes(part: _Part, world: int) -> npt.NDArray[np.int64]:
    """How many elements of a part each rank of a world has."""
    return np.array([part.at_rank(rank, world).size or 0 for rank in range(world)], np.int64)


def left_rounds(taken: Any, times: int | None) -> tuple[list[tuple[int, Any]], int]:
    """What `taken_rounds` says.

    Raises:
        StateError: It says something else.
    """
    left, first = parts_of(taken, [[], 0])
    rounds = [parts_of(each, [0, None]) for each in left]
    numbers = [number for number, _ in rounds]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= first):
        raise StateError(f"the state says {short(taken)} where rounds and a number belong")
    if times is not None and first > times:
        raise StateError(f"the state stands in round {first}, and there are {times}")
    return [(number, part) for number, part in rounds], first


@dataclass(frozen=True, slots=True)
class Repeated(UnaryOrder):
    """An order again and again."""

    times: int | None
    begun: tuple[tuple[int, Order], ...] = ()  # what is left of rounds that have begun
    first: int = 0  # the number of the first whole round

    @property
    def children(self) -> tuple[Order, ...]:
        return (self.below, *(order for _, order in self.begun))

    def with_children(self, children: Sequence[Order]) -> Self:
        below, *begun = children
        numbers = (number for number, _ in self.begun)
        return replace(self, below=below, begun=tuple(zip(numbers, begun, strict=True)))

    @property
    def shards(self) -> tuple[Rank, ...]:
        return self.below.shards

    @property
    def rounds(self) -> Rounds:
        begun = tuple((number, known(order)) for number, order in self.begun)
        return Rounds(begun, self.first, known(self.below), self.times)

    @property
    def size(self) -> int | None:
        return self.rounds.size

    @property
    def padding(self) -> int:
        whole = 0 if self.times is None else max(0, self.times - self.first)
        return self.below.padding * whole + sum(order.padding for _, order in self.begun)

    def at(self, positions: Positions, epoch: int) -> Positions:
        rounds = self.rounds
        starts = np.array(rounds.starts, np.uint64)
        turns = np.searchsorted(starts, positions, "right") - 1
        late = positions >= starts[-1]
        turns[late] += ((positions[late] - starts[-1]) // np.uint64(max(1, rounds.each))).astype(np.int64)
        found = np.empty_like(positions)
        for turn in np.unique(turns).tolist():
            mine = turns == turn
            whole = turn - len(self.begun)
            order = self.below if whole >= 0 else self.begun[turn][1]
            start = starts[-1] + np.uint64(whole * rounds.each) if whole >= 0 else starts[turn]
            found[mine] = order.at(
                positions[mine] - start, round_epoch(epoch, self.times, rounds.number(turn))
            )
        return found

    def _taken(self, counts: Counts) -> Any:
        return taken_rounds(self.below, self.begun, self.first, counts)

    def _remaining(self, taken: Any) -> Order:
        left, first = left_rounds(taken, self.times)
        return replace(
            self, begun=tuple((number, self.below.remaining(part)) for number, part in left), first=first
        )


@dataclass(frozen=True, slots=True)
class Repeat(UnaryNode):
    """Everything below, again and again; each time is an epoch of its own."""

    times: int | None
    begun: tuple[tuple[int, Node], ...] = ()  # what is left of rounds that have begun
    first: int = 0  # the number of the first whole round
    keeps_elements = True
    shards_below = True

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.below, *(node for _, node in self.begun))

    def with_children(self, children: Sequence[Node]) -> Self:
        below, *begun = children
        numbers = (number for number, _ in self.begun)
        return replace(self, below=below, begun=tuple(zip(numbers, begun, strict=True)))

    @property
    def shards(self) -> tuple[Rank, ...]:
        return self.below.shards

    @property
    def rounds(self) -> Rounds:
        begun = tuple((number, node.size or 0) for number, node in self.begun)
        return Rounds(begun, self.first, self.below.size or 0, self.times)

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else self.rounds.size

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        rounds = self.rounds
        for turn, places in groupby(map(rounds.place, positions), itemgetter(0)):
            inner = (position for _, position in places)
            yield from self._round(turn).visit(inner, run.in_epoch(self._epoch(turn, run.epoch)))

    def origins_at(self, position: int, epoch: int) -> Origins:
        turn, inner = self.rounds.place(position)
        return self._round(turn).origins_at(inner, self._epoch(turn, epoch))

    def row_sources(self, position: int, run: Run) -> list[Any]:
        turn, inner = self.rounds.place(position)
        return self._round(turn).row_sources(inner, run.in_epoch(self._epoch(turn, run.epoch)))

    def batch_of(self, sources: Sequence[Any]) -> Any:
        return self.below.batch_of(sources)

    def _epoch(self, turn: int, epoch: int) -> int:
        return round_epoch(epoch, self.times, self.rounds.number(turn))

    @property
    def padding(self) -> int:
        whole = 0 if self.times is None else max(0, self.times - self.first)
        return self.below.padding * whole + sum(node.padding for _, node in self.begun)

    def _round(self, turn: int) -> Node:
        return self.begun[turn][1] if turn < len(self.begun) else self.below

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        if self.unindexable_reason is None:
            return self._run_by_count(run, self.count_in(state))
        return self._run_by_state(run, state)

    def _run_by_count(self, run: Run, count: int) -> Iterator[Step]:
        size, rounds = self.size, self.rounds
        while size is None or count < size:
            turn, inner = rounds.place(count)
            in_round = run.in_epoch(self._epoch(turn, run.epoch))
            for step in self._round(turn).steps(in_round, inner):
                count += 1
                yield step._replace(state=count)

    def _run_by_state(self, run: Run, state: Any) -> Iterator[Step]:
        number, below, even = parts_of(state, [0, None, True])
        empty = 0
        while self.times is None or number < self.times:
            in_round = run.in_epoch(round_epoch(run.epoch, self.times, number))
            empty = 0 if below is not None else empty + 1
            for step in self.below.steps(in_round, below):
                empty, below = 0, step.state
                yield step._replace(state=[number, below, even])
            if self.times is None and empty == _EMPTY_ROUNDS:
                raise ValueError(
                    f"repeat() without an end: {empty} rounds, one after the other, gave nothing"
                )
            even = even and self.below.ends_even(resolve_state(below))
            number, below = number + 1, None

    def _move(self, state: Any, move: Move) -> Any:
        number, below, even = parts_of(state, [0, None, True])
        if not even:
            raise other_ranks_error(
                "repeat()", 'say shard(…, uneven="drop") or "pad", or put shard() behind repeat()'
            )
        return [number, self.below.moved(below, move), even]

    def _taken(self, counts: Counts) -> Any:
        return taken_rounds(self.below, self.begun, self.first, counts)

    def _remaining(self, taken: Any) -> Node:
        left, first = left_rounds(taken, self.times)
        return replace(
            self, begun=tuple((number, self.below.remaining(part)) for number, part in left), first=first
        )

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), repeat_stage(self.times)]


def repeat_stage(times: int | None) -> Stage:
    """Repetition, in words."""
    words = "repeated without end" if times is None else f"repeated {times:,} times"
    return Stage(words, ["repeat", times])


def repeated(node: Node, times: int | None) -> Node:
    """A stage again and again; its records as one long order, where that comes to the same."""
    if node.passes_order:
        return node.with_children([repeated(child, times) for child in node.children])
    if node.source_rows is not None and not node.batched and node.size is not None:
        return reordered(node, lambda order: Repeated(order, times), repeat_stage(times))
    return Repeat(node, times)
