"""Stages that are many datasets in one: flat_map, interleave, and those that draw from several."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from tfreel.tf.data.chunks import UNKNOWN, Chunk, Fault, Item, Stage, merged, sizes
from tfreel.tf.data.functions import specs_of_given
from tfreel.tf.data.mapping import datasets_of
from tfreel.tf.data.ordering import common
from tfreel.tf.data.pieces import Pieces
from tfreel.tf.errors import InvalidArgumentError
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

    def __init__(
        self, source: Stage, function: Callable[..., Any], *, dataset: Callable[[Stage], Any]
    ) -> None:
        self._source = source
        self._function = function
        self.specs = specs_of_given(function, source.specs, dataset)

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

    def __init__(
        self,
        source: Stage,
        function: Callable[..., Any],
        *,
        slots: int,
        block_length: int,
        dataset: Callable[[Stage], Any],
    ) -> None:
        self._source = source
        self._function = function
        self.specs = specs_of_given(function, source.specs, dataset)
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


class _OfSeveral:
    """Base of the stages that take the next element from one of several datasets."""

    def __init__(self, stages: list[Stage], *, stop_on_empty: bool) -> None:
        if not stages:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        self._stages = stages
        self._stop_on_empty = stop_on_empty
        self.specs = reduce(common, [stage.specs for stage in stages])

    def chunks(self, most: int | None) -> Iterator[Item]:
        return in_larger_chunks(self._taken(most), most)

    def _taken(self, most: int | None) -> Iterator[Item]:
        raise NotImplementedError

    def cardinality(self) -> int:
        return UNKNOWN


def _is_number(specs: Any) -> bool:
    """Whether elements of these specs may be single numbers of int64."""
    return isinstance(specs, TensorSpec) and specs.is_compatible_with(TensorSpec([], int64))


def _next_of(stream: Pieces) -> Item | None:
    """The next element of a stream, or the fault in its place; None at the end."""
    fault = stream.look()
    if fault is None:
        return stream.take(1) if stream.ready else None
    stream.drop()
    return fault


class Chosen(_OfSeveral):
    """Elements of several datasets; which gives the next one, a dataset of numbers tells."""

    def __init__(self, stages: list[Stage], choices: Stage, *, stop_on_empty: bool) -> None:
        super().__init__(stages, stop_on_empty=stop_on_empty)
        self._choices = choices
        if choices.specs is not None and not _is_number(choices.specs):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but"
                f" are {choices.specs}."
            )

    def _taken(self, most: int | None) -> Iterator[Item]:
        streams = [Pieces(stage.chunks(most)) for stage in self._stages]
        over: set[int] = set()
        for item in self._choices.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            for i in range(item.count):
                choice = int(item.values(i)[0])
                if not 0 <= choice < len(streams):
                    wrong = f"Selector index out of range: {choice} of {len(streams)} datasets"
                    yield Fault(InvalidArgumentError(wrong))
                    continue
                found = _next_of(streams[choice])
                if found is not None:
                    yield found
                    continue
                over.add(choice)
                if self._stop_on_empty or len(over) == len(streams):
                    return


class Sampled(_OfSeveral):
    """Elements of several datasets by chance. One that is over is not drawn again."""

    def __init__(
        self, stages: list[Stage], chances: Any, seeds: tuple[int, int] | None, *, stop_on_empty: bool
    ) -> None:
        super().__init__(stages, stop_on_empty=stop_on_empty)
        self._chances = chances
        self._seeds = seeds

    def _taken(self, most: int | None) -> Iterator[Item]:
        random = np.random.Generator(np.random.Philox(self._seeds))
        streams = [Pieces(stage.chunks(most)) for stage in self._stages]
        left = [i for i, chance in enumerate(self._chances) if chance > 0]
        while left:
            chances = self._chances[left]
            bounds = np.cumsum(chances / chances.sum())[:-1].tolist()
            drawn = bisect_right(bounds, random.random())
            while (found := _next_of(streams[left[drawn]])) is not None:
                yield found
                drawn = bisect_right(bounds, random.random())
            if self._stop_on_empty:
                return
            del left[drawn]
