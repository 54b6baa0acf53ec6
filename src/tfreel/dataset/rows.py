"""Stages with an order of their own: records one by one, in batches, and any elements rearranged."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tfreel.dataset.collate import Pad, padded, rows_of
from tfreel.dataset.example_source import Elements
from tfreel.dataset.node import Node, Origin, Origins, Run, Step
from tfreel.dataset.order import Order, Positions
from tfreel.dataset.plan import Stage
from tfreel.records.report import Fault

_ORDERED_AT_ONCE = 1024  # positions: few are ordered in as much time as one


@dataclass(frozen=True, slots=True)
class Rows(Node):
    """The records of some files in some order, one by one. What shuffles, splits and slices work on."""

    elements: Elements
    order: Order
    arranged: tuple[Stage, ...] = ()  # what made the order
    shares: tuple[int, ...] = ()
    lost_by = None

    @property
    def size(self) -> int | None:
        return self.order.size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.elements.rows(self.order.at(positions, epoch))

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        while some := list(islice(positions, self.elements.rows_at_once)):
            indices = self.order.at(np.array(some, np.uint64), epoch)
            for index, row in zip(indices.tolist(), self.elements.rows(indices), strict=True):
                yield row, (Origin(self.elements, index),)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        order = _onward(self.order, state)
        at_once = self.elements.rows_at_once if run.ahead else 1
        position = 0
        together = _together(self.elements, order, at_once)
        chunks = _chunks(order, at_once, run.epoch)
        single = self.elements.one_by_one()
        with closing(_read(single, chunks, ahead=run.ahead, together=together)) as batches:
            for indices, batch in batches:
                for index, row in zip(indices.tolist(), rows_of(batch), strict=True):
                    position += 1
                    yield Step(row, order.mark(position), (Origin(self.elements, index),))

    def stages(self) -> list[Stage]:
        return [*self.elements.stages(), *self.arranged]

    def faults(self) -> Iterable[Fault]:
        return self.elements.records.faults


@dataclass(frozen=True, slots=True)
class Batches(Node):
    """Rows in batches: each is read, checked and parsed in one go."""

    rows: Rows
    batch_size: int
    drop_remainder: bool
    pad: Pad
    lost_by = None

    @property
    def size(self) -> int | None:
        return batch_count(self.rows.size, self.batch_size, drop_remainder=self.drop_remainder)

    @property
    def shares(self) -> tuple[int, ...]:
        return self.rows.shares

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return [element for element, _ in self.visit(iter(positions.tolist()), epoch)]

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        chunks = (self._chunk(position, epoch) for position in positions)
        with closing(_read(self.rows.elements, chunks)) as batches:
            for indices, batch in batches:
                yield padded(batch, self.pad), (Origin(self.rows.elements, indices),)

    def _chunk(self, position: int, epoch: int) -> Positions:
        start = position * self.batch_size
        stop = start + self.batch_size
        stop = stop if self.rows.size is None else min(stop, self.rows.size)
        return self.rows.order.at(np.arange(start, stop, dtype=np.uint64), epoch)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        order = _onward(self.rows.order, state)
        position = 0
        chunks = _chunks(order, self.batch_size, run.epoch, drop_remainder=self.drop_remainder)
        together = _together(self.rows.elements, order, self.batch_size)
        with closing(_read(self.rows.elements, chunks, ahead=run.ahead, together=together)) as batches:
            for indices, batch in batches:
                position += len(indices)
                origins = (Origin(self.rows.elements, indices),)
                yield Step(padded(batch, self.pad), order.mark(position), origins)

    def faults(self) -> Iterable[Fault]:
        return self.rows.faults()

    def stages(self) -> list[Stage]:
        return [*self.rows.stages(), batch_stage(self.batch_size, self.pad, drop=self.drop_remainder)]


@dataclass(frozen=True, slots=True)
class View(Node):
    """The elements of any stage in another order; `still`: those that it has in the first epoch."""

    below: Node
    order: Order
    arranged: tuple[Stage, ...] = ()
    shares: tuple[int, ...] = ()
    still: bool = False
    lost_by = None

    @property
    def size(self) -> int | None:
        return self.order.size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.below.get(self.order.at(positions, epoch), self._below(epoch))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        order = _onward(self.order, state)
        positions = (int(chunk[0]) for chunk in _chunks(order, 1, run.epoch))
        elements = self.below.visit(positions, self._below(run.epoch))
        for number, (element, origins) in enumerate(elements, 1):
            yield Step(element, order.mark(number), origins)

    def _below(self, epoch: int) -> int:
        return 0 if self.still else epoch

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), *self.arranged]

    def faults(self) -> Iterable[Fault]:
        return self.below.faults()


def _onward(order: Order, state: Any) -> Order:
    return order if state is None else order.onward(state)


def _chunks(order: Order, size: int, epoch: int, *, drop_remainder: bool = False) -> Iterator[Positions]:
    """What lies below an order, so many at a time."""
    start, end = 0, order.size
    at_once = -(-_ORDERED_AT_ONCE // size) * size
    while end is None or start < end:
        stop = start + at_once if end is None else min(start + at_once, end)
        positions = order.at(np.arange(start, stop, dtype=np.uint64), epoch)
        for begin in range(0, stop - start, size):
            chunk = positions[begin : begin + size]
            if drop_remainder and len(chunk) < size:
                return
            yield chunk
        start = stop


def _together(elements: Elements, order: Order, size: int) -> int:
    """How many chunks of that size to read together, for they have their records at the same places."""
    return max(1, elements.together(order.nearby()) // size)


def _read(
    elements: Elements, chunks: Iterator[Positions], *, ahead: bool = True, together: int = 1
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


def batch_count(rows: int | None, batch_size: int, *, drop_remainder: bool) -> int | None:
    """How many batches so many rows make."""
    if rows is None:
        return None
    return rows // batch_size if drop_remainder else -(-rows // batch_size)


def batch_stage(size: int, pad: Pad, *, drop: bool) -> Stage:
    """Batches, in words."""
    rest = ", the last one only if it is whole" if drop else ""
    filled = "" if pad is None else f", padded with {pad!r}"
    return Stage(f"in batches of {size:,}{rest}{filled}", ["batch", size, drop, repr(pad)])
