"""`batch` and `unbatch`: elements of any stage as batches, and batches as elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from tfreel.dataset.collate import Pad, gather, padded, rows_of
from tfreel.dataset.node import Node, Origins, Run, Step, UnaryNode, one_of
from tfreel.dataset.order import Batching, other_ranks_error
from tfreel.dataset.plan import Stage
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.rows import BatchNode
from tfreel.dataset.state import Move, parts_of


@dataclass(frozen=True, slots=True)
class Collate(BatchNode):
    """Elements of any stage in batches."""

    @property
    def size(self) -> int | None:
        return None if self.below.size is None else self.batches.count

    @property
    def _shared(self) -> Batching | None:
        return self.below.batching(self.batch_size)

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        for position in positions:
            rows, origins = zip(*self._rows_at(position, run), strict=True)
            yield self.batch_of(rows), tuple(chain.from_iterable(origins))

    def _rows_at(self, position: int, run: Run) -> Iterator[tuple[Any, Origins]]:
        return self.below.visit(iter(range(*self.batches.bounds(position, position + 1))), run)

    def origins_at(self, position: int, epoch: int) -> Origins:
        rows = range(*self.batches.bounds(position, position + 1))
        return tuple(chain.from_iterable(self.below.origins_at(row, epoch) for row in rows))

    def row_sources(self, position: int, run: Run) -> list[Any]:
        return [row for row, _ in self._rows_at(position, run)]

    def draw_source(self, draw: int, run: Run) -> tuple[Any, Origins]:
        return one_of(self.below, draw, run)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        if self.unindexable_reason is None:
            count = self.count_in(state)
            for step, _ in self._batches(run, self.batches.start(count), count):
                count += 1
                yield step._replace(state=count)
            return
        number, below, _ = parts_of(state, [0, None, True])
        for step, whole in self._batches(run, below, number):
            number += 1
            yield step._replace(state=[number, step.state, whole])

    def _batches(self, run: Run, below: Any, number: int) -> Iterator[tuple[Step, bool]]:
        """The batches, and whether each has all that it may have."""
        # What becomes of the rows of a remainder that is left out concerns nobody.
        report = DatasetReport() if self.drop_remainder else run.report
        steps = iter(self.below.steps(replace(run, report=report), below))
        shared = self._shared
        while some := list(islice(steps, size := self._rows_of(number, shared))):
            if shared is None and self.drop_remainder and len(some) < self.batch_size:
                break
            if self.drop_remainder:
                run.report.add(report.increment())
            number += 1
            origins = tuple(chain.from_iterable(step.origins for step in some))
            step = Step(self.batch_of([step.element for step in some]), some[-1].state, origins)
            yield step, len(some) == size
        if self.drop_remainder:
            run.report.add(replace(report.increment(), skipped=0, replaced=0, examples=[]))

    def _rows_of(self, number: int, shared: Batching | None) -> int:
        if shared is None or shared.full is None or number < shared.full:
            return self.batch_size
        start, stop = shared.start(number), shared.start(number + 1)
        return stop - start

    def batch_of(self, sources: Sequence[Any]) -> Any:
        return padded(gather(sources), self.pad)

    def _ends_even(self, state: Any) -> bool:
        _, below, _ = parts_of(state, [0, None, True])
        return not self.drop_remainder and self.below.ends_even(below)

    def _move(self, state: Any, move: Move) -> Any:
        number, below, whole = parts_of(state, [0, None, True])
        if self._shared is not None and not move.same_world:
            return super(Collate, self)._move(state, move)
        if not whole and not self.below.ends_even(below):  # others may have had more rows in theirs
            raise other_ranks_error("the end of a stream", "take a state from before it")
        return [number, self.below.moved(below, move), whole]


@dataclass(frozen=True, slots=True)
class Unbatch(UnaryNode):
    """The elements that batches are made of."""

    shards_below = True
    drops_elements = True

    @property
    def size(self) -> None:
        return None

    @property
    def unindexable_reason(self) -> str:
        return self.below.unindexable_reason or "unbatch()"

    @property
    def batched(self) -> bool:
        return False

    @property
    def keeps_rows(self) -> bool:
        return False

    @property
    def verb(self) -> str:
        return "unbatch()"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        before, done = parts_of(state, [None, 0])
        for step in self.below.steps(run, before):
            for number, row in enumerate(rows_of(step.element)[done:], done + 1):
                yield Step(row, [before, number], step.origins)
            before, done = step.state, 0

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage("one by one", ["unbatch"])]


def batches(node: Node, size: int, pad: Pad, *, drop_remainder: bool) -> Node:
    """The elements of a stage in batches; made by the stage itself, where it can."""
    own = node.batch(size, pad, drop_remainder=drop_remainder)
    return own or Collate(node.under_batch(size, drop_remainder=drop_remainder), size, drop_remainder, pad)


def unbatched(node: Node) -> Node:
    """The elements that the batches of a stage are made of."""
    rows = node.source_rows if node.batched else None
    return rows or Unbatch(node)


def whole_batches(node: Node) -> Node:
    """The same without batches that are smaller than the others.

    Raises:
        TypeError: These are no batches.
        ValueError: Batches have been put into another order, or together with others.
    """
    if not node.batched:
        raise TypeError("the dataset must be batched first: ds.batch(…)")
    own = node.without_remainder()
    if own is not None:
        return own
    if not node.shards_below:
        raise ValueError("say batch(…, drop_remainder=True) yourself, and drop_remainder=False here")
    return node.with_children([whole_batches(child) for child in node.children])
