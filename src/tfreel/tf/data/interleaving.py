"""Stages that are many datasets in one: flat_map, interleave, and those that draw from several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfreel.tf.data.chunks import INFINITE, UNKNOWN, Chunk, Fault, Item, Stage, merged, sizes
from tfreel.tf.data.mapping import datasets_of
from tfreel.tf.data.pieces import Pieces
from tfreel.tf.graphs.rows import Dense
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.shapes import TensorSpec

_FIRST = 16


def in_larger_chunks(items: Iterator[Item], most: int | None) -> Iterator[Item]:
    """The same elements in chunks of a fair size, where they come in ones and twos."""
    growing = sizes(_FIRST, most)
    pending: list[Chunk] = []
    count, enough = 0, next(growing)
    for item in items:
        if isinstance(item, Chunk):
            pending.append(item)
            count += item.count
        if pending and (count >= enough or isinstance(item, Fault)):
            yield merged(pending)
            pending, count, enough = [], 0, next(growing)
        if isinstance(item, Fault):
            yield item
    if pending:
        yield merged(pending)


class FlatMapped:
    """The elements of the datasets that a function gives, one dataset behind the other."""

    specs: Any = None

    def __init__(self, source: Stage, function: Callable[..., Any]) -> None:
        self._source = source
        self._function = function

    def chunks(self, most: int | None) -> Iterator[Item]:
        for stage in datasets_of(self._source, self._function):
            if isinstance(stage, Fault):
                yield stage
            else:
                yield from stage.chunks(most)

    def cardinality(self) -> int:
        return UNKNOWN


class Interleaved:
    """The elements of the datasets that a function gives, by turns.

    There is a ring of slots. In turn, each gives a block of elements. One whose dataset is over is emptied,
    which is
    its turn, and gets the next dataset when the ring comes round to it again.
    """

    specs: Any = None

    def __init__(self, source: Stage, function: Callable[..., Any], *, slots: int, block_length: int) -> None:
        self._source = source
        self._function = function
        self._slots = slots
        self._block_length = block_length

    def chunks(self, most: int | None) -> Iterator[Item]:
        return in_larger_chunks(self._turns(most), most)

    def _turns(self, most: int | None) -> Iterator[Item]:
        waiting = datasets_of(self._source, self._function)
        ring: list[Pieces | None] = [None] * self._slots
        place, given, more = 0, 0, True
        while more or any(ring):
            slot = ring[place]
            if slot is None and more:
                stage = next(waiting, None)
                more = stage is not None
                if isinstance(stage, Fault):
                    yield stage
                elif stage is not None:
                    ring[place] = Pieces(stage.chunks(most))
                continue
            if slot is not None:
                fault = slot.look()
                if fault is not None:
                    slot.drop()
                    yield fault
                    continue
                if slot.ready:
                    part = slot.take(min(slot.ready, self._block_length - given))
                    given += part.count
                    yield part
                    if given < self._block_length:
                        continue
                else:
                    ring[place] = None
            place, given = (place + 1) % self._slots, 0

    def cardinality(self) -> int:
        return UNKNOWN


class Chosen:
    """Elements of several datasets; which gives the next one, a dataset of numbers tells."""

    def __init__(self, stages: list[Stage], choices: Stage, *, stop_on_empty: bool) -> None:
        self._stages = stages
        self._choices = choices
        self._stop_on_empty = stop_on_empty
        self.specs = stages[0].specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        return in_larger_chunks(self._drawn(most), most)

    def _drawn(self, most: int | None) -> Iterator[Item]:
        streams = [Pieces(stage.chunks(most)) for stage in self._stages]
        over: set[int] = set()
        for item in self._choices.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            for i in range(item.count):
                choice = int(item.values(i)[0])
                stream = streams[choice]
                fault = stream.look()
                if fault is not None:
                    stream.drop()
                    yield fault
                elif stream.ready:
                    yield stream.take(1)
                else:
                    over.add(choice)
                    if self._stop_on_empty or len(over) == len(streams):
                        return

    def cardinality(self) -> int:
        return UNKNOWN


class Draws:
    """Numbers of datasets by chance, without an end."""

    def __init__(self, chances: Any, seeds: tuple[int, int] | None) -> None:
        self._bounds = np.cumsum(chances)[:-1]
        self._seeds = seeds
        self.specs: Any = TensorSpec([], int64)

    def chunks(self, most: int | None) -> Iterator[Item]:
        random = np.random.Generator(np.random.Philox(self._seeds))
        for size in sizes(_FIRST, most):
            drawn = np.searchsorted(self._bounds, random.random(size), "right")
            yield Chunk(0, [Dense(drawn.astype(np.int64))], size)

    def cardinality(self) -> int:
        return INFINITE
