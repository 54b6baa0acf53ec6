"""The records of some files in some order, one by one: what shuffles, splits and slices work on."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np

from tfreel.columns.parse import Features
from tfreel.columns.plan import no_such_feature
from tfreel.dataset.collate import Pad, padded, rows_of
from tfreel.dataset.example_source import ExampleSource
from tfreel.dataset.node import FAR, Bytes, Node, Origin, Origins, Reorder, Run, Step, UnaryNode, chunks_of
from tfreel.dataset.order import Batching, Counts, Order, Positions, Rank, Rest
from tfreel.dataset.plan import Stage
from tfreel.records.report import Fault


@dataclass(frozen=True, slots=True)
class Rows(Node):
    """Records in an order, each as a row."""

    elements: ExampleSource
    order: Order
    arranged: tuple[Stage, ...] = ()  # what made the order
    unindexable_reason = None

    @property
    def size(self) -> int | None:
        return self.order.size

    @property
    def batched(self) -> bool:
        return False

    @property
    def features(self) -> Features | None:
        return self.elements.all_features

    @property
    def element_features(self) -> Features | Bytes | None:
        return self.features or "bytes"

    @property
    def source_rows(self) -> Rows:
        return self

    @property
    def keeps_rows(self) -> bool:
        return False

    def faults(self) -> Iterable[Fault]:
        return self.elements.records.faults

    def stages(self) -> list[Stage]:
        return [*self.elements.stages(), *self.arranged]

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.elements.rows(self.order.at(positions, epoch))

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        while some := list(islice(positions, self.elements.rows_at_once)):
            indices = self.order.at(np.array(some, np.uint64), run.epoch)
            for index, row in zip(indices.tolist(), self.elements.rows(indices), strict=True):
                yield row, (Origin(self.elements, index),)

    def origins_at(self, position: int, epoch: int) -> Origins:
        return (Origin(self.elements, int(self.order.at(np.array([position], np.uint64), epoch)[0])),)

    @property
    def padding(self) -> int:
        return self.order.padding

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        count = self.count_in(state)
        order = Rest(self.order, count) if count else self.order
        at_once = self.elements.rows_at_once if run.ahead else 1
        chunks = chunks_of(order, Batching.of(order.size, at_once, drop_remainder=False), run.epoch)
        single = self.elements.one_by_one()
        together = max(1, self.elements.together(order.nearby()) // at_once)
        with closing(_read(single, chunks, ahead=run.ahead, together=together)) as batches:
            for indices, batch in batches:
                for index, row in zip(indices.tolist(), rows_of(batch), strict=True):
                    count += 1
                    yield Step(row, count, (Origin(self.elements, index),))
        run.report.repeated += self.padding

    def push_order(self, reorder: Reorder, stage: Stage, *, still: bool) -> Rows:  # noqa: ARG002
        return replace(self, order=reorder(self.order), arranged=(*self.arranged, stage))

    def batch(self, size: int, pad: Pad, *, drop_remainder: bool) -> Node:
        require_columns(self.features, pad)
        return BatchRows(self.under_batch(size, drop_remainder=drop_remainder), size, drop_remainder, pad)

    def under_batch(self, size: int, *, drop_remainder: bool) -> Rows:
        return replace(self, order=self.order.under_batch(size, drop_remainder=drop_remainder))

    def batching(self, size: int) -> Batching | None:
        return self.order.batching(size)

    @property
    def reshuffles(self) -> bool:
        return self.order.reshuffles

    @property
    def shards(self) -> tuple[Rank, ...]:
        return self.order.shards

    @property
    def knows_other_ranks(self) -> bool:
        return self.order.knows_other_ranks

    def at_rank(self, index: int, count: int) -> Rows:
        return replace(self, order=self.order.at_rank(index, count))

    def _taken(self, counts: Counts) -> Any:
        return self.order.taken(counts)

    def _remaining(self, taken: Any) -> Rows:
        return replace(self, order=self.order.remaining(taken))


@dataclass(frozen=True, slots=True)
class BatchNode(UnaryNode):
    """A stage that makes batches of what lies below it."""

    batch_size: int
    drop_remainder: bool
    pad: Pad
    keeps_elements = True
    shards_below = True

    def with_children(self, children: Sequence[Any]) -> Self:
        (below,) = children
        below = below.under_batch(self.batch_size, drop_remainder=self.drop_remainder)
        return replace(self, below=below)

    @property
    def size(self) -> int | None:
        return self.batches.count

    @property
    def batches(self) -> Batching:
        """Where they begin and end."""
        shared = self.below.batching(self.batch_size)
        return shared or Batching.of(self.below.size, self.batch_size, drop_remainder=self.drop_remainder)

    @property
    def batched(self) -> bool:
        return True

    def without_remainder(self) -> Node:
        return replace(self, drop_remainder=True).with_children([self.below])

    def _taken(self, counts: Counts) -> Any:
        ranks = [self.with_children([self.below.at_rank(n, len(counts))]) for n in range(len(counts))]
        rows = [rank.batches.start(count) for rank, count in zip(ranks, counts.tolist(), strict=True)]
        return self.below.taken(np.array(rows, np.int64))

    def _remaining(self, taken: Any) -> Node:
        return self.with_children([self.below.remaining(taken)])

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), batch_stage(self.batch_size, self.pad, drop=self.drop_remainder)]


@dataclass(frozen=True, slots=True)
class BatchRows(BatchNode):
    """Records in batches: each batch is read, checked and parsed in one go."""

    below: Rows

    @property
    def source_rows(self) -> Rows | None:
        return None if self.drop_remainder or self.pad is not None else self.below

    @property
    def keeps_rows(self) -> bool:
        return True

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        chunks = (self._chunk(position, run.epoch) for position in positions)
        with closing(_read(self.below.elements, chunks)) as batches:
            for indices, batch in batches:
                yield padded(batch, self.pad), (Origin(self.below.elements, indices),)

    def origins_at(self, position: int, epoch: int) -> Origins:
        return (Origin(self.below.elements, self._chunk(position, epoch)),)

    def row_sources(self, position: int, run: Run) -> list[Any]:
        return list(map(int, self._chunk(position, run.epoch)))

    def draw_source(self, draw: int, run: Run) -> tuple[Any, Origins]:
        origins = self.below.origins_at(draw % (self.below.size or FAR), run.epoch)
        return origins[0].records, origins

    def batch_of(self, sources: Sequence[Any]) -> Any:
        return padded(self.below.elements.batch(np.array(sources, np.uint64)), self.pad)

    def _chunk(self, number: int, epoch: int) -> Positions:
        start, stop = self.batches.bounds(number, number + 1)
        return self.below.order.at(np.arange(start, stop, dtype=np.uint64), epoch)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        count = self.count_in(state)
        elements, order = self.below.elements, self.below.order
        chunks = chunks_of(order, self.batches, run.epoch, count)
        # Chunks that have their records at the same places are read together.
        together = max(1, elements.together(order.nearby()) // self.batch_size)
        with closing(_read(elements, chunks, ahead=run.ahead, together=together)) as batches:
            for indices, batch in batches:
                count += 1
                yield Step(padded(batch, self.pad), count, (Origin(elements, indices),))
        run.report.repeated += self.padding


def require_columns(features: Features | None, pad: Pad) -> None:
    """Makes sure that what is to be padded is there.

    Raises:
        ValueError: It is not.
    """
    if isinstance(pad, Mapping) and features and (unknown := set(pad) - set(features)):
        raise ValueError(no_such_feature(min(unknown), features))


def _read(
    elements: ExampleSource, chunks: Iterator[Positions], *, ahead: bool = True, together: int = 1
) -> Generator[tuple[Positions, Any], None, None]:
    """The elements of each chunk, with the chunk itself."""
    if not ahead:
        yield from ((chunk, elements.batch(chunk)) for chunk in chunks)
        return
    asked: deque[Positions] = deque()

    def noted() -> Iterator[Positions]:
        for chunk in chunks:
            asked.append(chunk)
            yield chunk

    with closing(elements.batches(noted(), together)) as batches:
        for batch in batches:
            yield asked.popleft(), batch


def batch_stage(size: int, pad: Pad, *, drop: bool) -> Stage:
    """Batches, in words."""
    rest = ", the last one only if it is whole" if drop else ""
    filled = "" if pad is None else f", padded with {pad!r}"
    return Stage(f"in batches of {size:,}{rest}{filled}", ["batch", size, drop, repr(pad)])
