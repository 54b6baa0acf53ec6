"""Stages that go through the one below them from the front.

What they give depends on all that came before, so their state holds that of the stage below: to go on from
it costs no more than there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from tfreel.ahead import ReadAhead
from tfreel.dataset.collate import Pad, gather, padded, rows_of
from tfreel.dataset.functions import name_of
from tfreel.dataset.node import Above, Node, Origins, Run, Step, note_origins, parts_of
from tfreel.dataset.order import Positions, round_epoch
from tfreel.dataset.plan import Stage
from tfreel.dataset.rows import batch_count, batch_stage

Uneven: TypeAlias = Literal["pad", "drop", "keep"]


@dataclass(frozen=True, slots=True)
class Filtered(Above):
    """The elements of which a function says that they may stay."""

    keep: Callable[[Any], Any]

    @property
    def size(self) -> None:
        return None

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by or f"filter({name_of(self.keep)})"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        for step in self.below.run(run, state):
            try:
                kept = self.keep(step.element)
            except Exception as error:
                note_origins(error, f"filter({name_of(self.keep)})", step.origins)
                raise
            if kept:
                yield step

    def stages(self) -> list[Stage]:
        name = name_of(self.keep)
        return [*self.below.stages(), Stage(f"those that {name} keeps", ["filter", name], self.keep)]


@dataclass(frozen=True, slots=True)
class Limited(Above):
    """Some of the elements, counted from the front, of a stage that has lost its positions."""

    skip: int
    take: int | None

    @property
    def size(self) -> None:
        return None

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        passed, below = parts_of(state, [0, None])
        end = None if self.take is None else self.skip + self.take
        if end is not None and passed >= end:
            return
        for number, step in enumerate(self.below.run(run, below), passed + 1):
            if number > self.skip:
                yield step._replace(state=[number, step.state])
            if number == end:
                return

    def stages(self) -> list[Stage]:
        parts = [f"without the first {self.skip:,}"] if self.skip else []
        parts += [] if self.take is None else [f"the first {self.take:,}"]
        identity = ["limit", self.skip, self.take, *self.shares]
        return [*self.below.stages(), Stage(", ".join(parts), identity)]


@dataclass(frozen=True, slots=True)
class Again(Above):
    """Everything below, again and again; each time is an epoch of its own."""

    times: int | None
    begun: Node | None = None  # the rest of a round that was left in the middle
    rounds_over: int = 0  # with the begun one

    @property
    def size(self) -> int | None:
        each = self.below.size
        if each is None or (self.times is None and each):
            return None
        return self.first + each * ((self.times or 0) - self.rounds_over if each else 0)

    @property
    def first(self) -> int:
        """How many elements the begun round has left."""
        return 0 if self.begun is None else self.begun.size or 0

    def place(self, position: int) -> tuple[int, int]:
        """In which round a position lies, and where in it."""
        if position < self.first:
            return self.rounds_over - 1, position
        number, inner = divmod(position - self.first, self.below.size or 1)
        return self.rounds_over + number, inner

    def round(self, number: int) -> Node:
        """What a round gives."""
        return self.begun if self.begun is not None and number < self.rounds_over else self.below

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return [element for element, _ in self.visit(iter(positions.tolist()), epoch)]

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        for number, places in groupby(map(self.place, positions), itemgetter(0)):
            inner = (position for _, position in places)
            yield from self.round(number).visit(inner, round_epoch(epoch, self.times, number))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        number, below = parts_of(state, [self.rounds_over - (self.begun is not None), None])
        while self.times is None or number < self.times:
            anything = below is not None or number < self.rounds_over
            in_round = run.in_epoch(round_epoch(run.epoch, self.times, number))
            this = self.round(number) if below is None else self.below
            for step in this.run(in_round, below):
                anything = True
                yield step._replace(state=[number, step.state])
            if not anything:  # or nothing would be repeated for ever
                return
            number, below = number + 1, None

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), repeat_stage(self.times)]


def repeat_stage(times: int | None) -> Stage:
    """Repetition, in words."""
    words = "repeated without end" if times is None else f"repeated {times:,} times"
    return Stage(words, ["repeat", times])


@dataclass(frozen=True, slots=True)
class Enumerated(Above):
    """Each element with its number."""

    start: int

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        numbers = (position + self.start for position in positions.tolist())
        return list(zip(numbers, self.below.get(positions, epoch), strict=True))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        number, below = parts_of(state, [self.start, None])
        for this, step in enumerate(self.below.run(run, below), number):
            yield Step((this, step.element), [this + 1, step.state], step.origins)

    def stages(self) -> list[Stage]:
        identity = ["enumerate", self.start, *self.shares]
        return [*self.below.stages(), Stage(f"numbered from {self.start:,}", identity)]


@dataclass(frozen=True, slots=True)
class Gathered(Above):
    """Elements of any stage in batches."""

    batch_size: int
    drop_remainder: bool
    pad: Pad

    @property
    def size(self) -> int | None:
        return batch_count(self.below.size, self.batch_size, drop_remainder=self.drop_remainder)

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return [element for element, _ in self.visit(iter(positions.tolist()), epoch)]

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        for position in positions:
            start = position * self.batch_size
            stop = start + self.batch_size
            stop = stop if self.below.size is None else min(stop, self.below.size)
            rows, origins = zip(*self.below.visit(iter(range(start, stop)), epoch), strict=True)
            yield self._batch(rows), tuple(chain.from_iterable(origins))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        steps = iter(self.below.run(run, state))
        while some := list(islice(steps, self.batch_size)):
            if self.drop_remainder and len(some) < self.batch_size:
                return
            origins = tuple(chain.from_iterable(step.origins for step in some))
            yield Step(self._batch([step.element for step in some]), some[-1].state, origins)

    def _batch(self, rows: Sequence[Any]) -> Any:
        return padded(gather(rows), self.pad)

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), batch_stage(self.batch_size, self.pad, drop=self.drop_remainder)]


@dataclass(frozen=True, slots=True)
class Unbatched(Above):
    """The elements that batches are made of."""

    @property
    def size(self) -> None:
        return None

    @property
    def lost_by(self) -> str:
        return self.below.lost_by or "unbatch()"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        before, done = parts_of(state, [None, 0])
        for step in self.below.run(run, before):
            for number, row in enumerate(rows_of(step.element)[done:], done + 1):
                yield Step(row, [before, number], step.origins)
            before, done = step.state, 0

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage("one by one", ["unbatch"])]


@dataclass(frozen=True, slots=True)
class Strided(Above):
    """Every `count`-th element of a stage that has lost its positions: all are made, most are let go.

    As with orders, its states do not depend on who saved them, nor on the count.
    """

    index: int
    count: int
    uneven: Uneven
    stage: Stage

    @property
    def size(self) -> None:
        return None

    @property
    def shares(self) -> tuple[int, ...]:
        return (*self.below.shares, self.count)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        steps = iter(self.below.run(run, state))
        while some := list(islice(steps, self.count)):
            if len(some) < self.count and self.uneven == "drop":
                return
            if self.index < len(some) or self.uneven == "pad":
                yield some[self.index % len(some)]._replace(state=some[-1].state)

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), self.stage]


@dataclass(frozen=True, slots=True)
class Prefetched(Above):
    """The same elements, made in a thread of their own a few ahead of whoever takes them."""

    depth: int

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.below.get(positions, epoch)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        steps = self.below.run(run, state)
        if not run.ahead:
            yield from steps
            return
        with closing(ReadAhead(steps, self.depth)) as ahead:
            yield from ahead

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage(f"{self.depth} of them ahead")]
