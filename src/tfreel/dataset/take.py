"""Short stages: `take` and `skip`, `filter`, `enumerate`, `zip` and `prefetch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, tee
from typing import Any

from tfreel.ahead import ReadAhead
from tfreel.dataset.concat import NaryNode
from tfreel.dataset.functions import name_of
from tfreel.dataset.node import Node, Origins, Run, Step, UnaryNode, note_origins
from tfreel.dataset.order import Counts, other_ranks_error
from tfreel.dataset.plan import Stage
from tfreel.dataset.state import Move, parts_of


@dataclass(frozen=True, slots=True)
class Filter(UnaryNode):
    """The elements of which a function says that they may stay."""

    keep: Callable[[Any], Any]
    keeps_elements = True
    shards_below = True
    drops_elements = True

    @property
    def size(self) -> None:
        return None

    @property
    def unindexable_reason(self) -> str:
        return self.below.unindexable_reason or self.verb

    @property
    def verb(self) -> str:
        return f"filter({name_of(self.keep)})"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        for step in self.below.steps(run, state):
            try:
                kept = self.keep(step.element)
            except Exception as error:
                note_origins(error, self.verb, step.origins)
                raise
            if kept:
                yield step

    def stages(self) -> list[Stage]:
        name = name_of(self.keep)
        return [*self.below.stages(), Stage(f"those that {name} keeps", ["filter", name], self.keep)]


@dataclass(frozen=True, slots=True)
class Limit(UnaryNode):
    """Some of the elements, counted from the front, of a stage that has lost its positions."""

    skip: int
    take: int | None
    keeps_elements = True

    @property
    def size(self) -> None:
        return None

    @property
    def verb(self) -> str:
        return "take() or skip()"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        passed, below = parts_of(state, [0, None])
        end = None if self.take is None else self.skip + self.take
        if end is not None and passed >= end:
            return
        for number, step in enumerate(self.below.steps(run, below), passed + 1):
            if number > self.skip:
                yield step._replace(state=[number, step.state])
            if number == end:
                return

    def _move(self, state: Any, move: Move) -> Any:
        if not move.same_world:
            raise other_ranks_error(self.verb)
        passed, below = parts_of(state, [0, None])
        return [passed, self.below.moved(below, move)]

    def stages(self) -> list[Stage]:
        parts = [f"without the first {self.skip:,}"] if self.skip else []
        parts += [] if self.take is None else [f"the first {self.take:,}"]
        return [*self.below.stages(), Stage(", ".join(parts), ["limit", self.skip, self.take])]


@dataclass(frozen=True, slots=True)
class Enumerate(UnaryNode):
    """Each element with its number."""

    start: int
    keeps_count = True
    verb = "enumerate()"

    @property
    def batched(self) -> bool:
        return False

    @property
    def keeps_rows(self) -> bool:
        return False

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        numbers, positions = tee(positions)
        elements = self.below.visit(positions, run)
        for number, (element, origins) in zip(numbers, elements, strict=True):
            yield (number + self.start, element), origins

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        if self.unindexable_reason is None:
            count = self.count_in(state)
            for step in self.below.steps(run, count):
                count += 1
                yield Step((count - 1 + self.start, step.element), count, step.origins)
            return
        number, below = parts_of(state, [self.start, None])
        for this, step in enumerate(self.below.steps(run, below), number):
            yield Step((this, step.element), [this + 1, step.state], step.origins)

    def _ends_even(self, state: Any) -> bool:
        return self.below.ends_even(parts_of(state, [self.start, None])[1])

    def _move(self, state: Any, move: Move) -> Any:
        if not move.same_world:
            raise other_ranks_error(self.verb)
        number, below = parts_of(state, [self.start, None])
        return [number, self.below.moved(below, move)]

    def _taken(self, counts: Counts) -> Any:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage(f"numbered from {self.start:,}", ["enumerate", self.start])]


@dataclass(frozen=True, slots=True)
class Zip(NaryNode):
    """Side by side, as tuples; as long as the shortest."""

    verb = "zip() with what was not shared out"

    @property
    def size(self) -> int | None:
        sizes = [part.size for part in self.parts if part.size is not None]
        return min(sizes) if sizes and not self.unindexable_reason else None

    @property
    def batched(self) -> bool:
        return False

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        runs = [
            part.visit(each, run)
            for part, each in zip(self.parts, tee(positions, len(self.parts)), strict=True)
        ]
        for members in zip(*runs, strict=True):
            yield tuple(element for element, _ in members), tuple(chain.from_iterable(o for _, o in members))

    def origins_at(self, position: int, epoch: int) -> Origins:
        return tuple(chain.from_iterable(part.origins_at(position, epoch) for part in self.parts))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        indexable = self.unindexable_reason is None
        if indexable:
            count = self.count_in(state)
            states = [count] * len(self.parts)
        else:
            states = parts_of(state, [None] * len(self.parts))
        runs = [part.steps(run, below) for part, below in zip(self.parts, states, strict=True)]
        for steps in zip(*runs, strict=False):
            origins = tuple(origin for step in steps for origin in step.origins)
            inner = steps[0].state if indexable else [step.state for step in steps]
            yield Step(tuple(step.element for step in steps), inner, origins)

    def _move(self, state: Any, move: Move) -> Any:
        states = parts_of(state, [None] * len(self.parts))
        self._require_shards(same_world=move.same_world)
        return [part.moved(each, move) for part, each in zip(self.parts, states, strict=True)]

    def _require_shards(self, *, same_world: bool = False) -> None:
        if not same_world and not all(part.shards for part in self.parts):
            raise other_ranks_error(self.verb, "share out all of them, or put shard() behind zip()")

    def _taken(self, counts: Counts) -> Any:
        self._require_shards()
        return [part.taken(counts) for part in self.parts]

    def _remaining(self, taken: Any) -> Node:
        states = parts_of(taken, [None] * len(self.parts))
        self._require_shards()
        return self.with_children(
            [part.remaining(state) for part, state in zip(self.parts, states, strict=True)]
        )

    @property
    def _stage(self) -> Stage:
        return Stage(f"{len(self.parts)} datasets, side by side", ["zip", len(self.parts)])


@dataclass(frozen=True, slots=True)
class Prefetch(UnaryNode):
    """The same elements, made in a thread of their own a few ahead of whoever takes them."""

    depth: int
    keeps_elements = True
    passes_order = True
    shards_below = True
    keeps_count = True

    def get(self, positions: Any, epoch: int) -> list[Any]:
        return self.below.get(positions, epoch)

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        return self.below.visit(positions, run)

    def row_sources(self, position: int, run: Run) -> list[Any]:
        return self.below.row_sources(position, run)

    def draw_source(self, draw: int, run: Run) -> tuple[Any, Origins]:
        return self.below.draw_source(draw, run)

    def batch_of(self, sources: Sequence[Any]) -> Any:
        return self.below.batch_of(sources)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        steps = self.below.steps(run, state)
        if not run.ahead:
            yield from steps
            return
        with closing(ReadAhead(steps, self.depth)) as ahead:
            yield from ahead

    def _move(self, state: Any, move: Move) -> Any:
        return self.below.moved(state, move)

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage(f"{self.depth} of them ahead")]
