"""Stages that choose and order elements: take, skip, shard, repeat, shuffle, cache, concatenate, zip."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfreel._core import Philox, ShuffleBuffer
from tfreel.tf.data.chunks import INFINITE, UNKNOWN, Chunk, Fault, Item, Stage, begin_in_vain
from tfreel.tf.data.pieces import Pieces
from tfreel.tf.data.shuffle_store import Store
from tfreel.tf.errors import FailedPreconditionError
from tfreel.tf.graphs.rows import Dense
from tfreel.tf.values import nest
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.shapes import TensorSpec

_DRAINED_AT_ONCE = 256


def _capped(count: int, most: int | None) -> int | None:
    return count if most is None else min(count, most)


class Taken:
    """The first elements; all of them if the count is negative."""

    def __init__(self, source: Stage, count: int) -> None:
        self._source = source
        self._count = count
        self.idle = count < 0
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        if self._count < 0:
            yield from self._source.chunks(most)
            return
        left = self._count
        if not left:
            return
        for item in self._source.chunks(_capped(left, most)):
            if isinstance(item, Fault):
                yield item
                continue
            yield item.part(0, min(item.count, left))
            left -= item.count
            if left <= 0:
                return

    def cardinality(self) -> int:
        count = self._source.cardinality()
        if self._count < 0 or count == UNKNOWN:
            return count
        return self._count if count == INFINITE else min(count, self._count)


class Skipped:
    """The elements behind the first ones; none if the count is negative."""

    def __init__(self, source: Stage, count: int) -> None:
        self._source = source
        self._count = count
        self.idle = count == 0
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        if self._count < 0:
            return
        left = self._count
        for item in self._source.chunks(None if most is None else most + left):
            if isinstance(item, Fault):
                yield item
            elif item.count <= left:
                left -= item.count
            else:
                yield item.part(left, item.count)
                left = 0

    def cardinality(self) -> int:
        count = self._source.cardinality()
        if self._count < 0:
            return 0
        return count if count < 0 else max(0, count - self._count)


class Sharded:
    """Every n-th element."""

    def __init__(self, source: Stage, shards: int, index: int) -> None:
        self._source = source
        self._shards = shards
        self._index = index
        self.idle = shards == 1
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        seen = 0
        for item in self._source.chunks(None if most is None else most * self._shards):
            if isinstance(item, Fault):
                yield item
                continue
            rows = np.arange((self._index - seen) % self._shards, item.count, self._shards)
            seen += item.count
            if len(rows):
                yield item.take(rows)

    def cardinality(self) -> int:
        count = self._source.cardinality()
        return count if count < 0 else max(0, -(-(count - self._index) // self._shards))


class Counted:
    """The elements, of which there must be exactly so many."""

    def __init__(self, source: Stage, count: int) -> None:
        self._source = source
        self._count = count
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        seen = 0
        for item in self._source.chunks(most):
            if isinstance(item, Fault):
                yield item
                continue
            if 0 <= self._count < seen + item.count:
                yield item.part(0, self._count - seen)
                yield self._fault(f"more than {self._count}")
                return
            seen += item.count
            yield item
        if seen != self._count:
            yield self._fault(f"only {seen}")

    def _fault(self, found: str) -> Fault:
        wanted = "elements without an end" if self._count < 0 else f"{self._count} elements"
        return Fault(
            FailedPreconditionError(f"Input dataset was expected to contain {wanted}, it has {found}")
        )

    def cardinality(self) -> int:
        return self._count


class Repeated:
    """The elements again and again: so many times, or without an end if the count is negative."""

    def __init__(self, source: Stage, count: int) -> None:
        self._source = source
        self._count = count
        self.idle = count == 1
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        for _ in itertools.count() if self._count < 0 else range(self._count):
            empty = True
            for item in self._source.chunks(most):
                empty = False
                yield item
            if empty and self._count < 0:
                return
        if self._count > 1 and not self._shuffles():
            begin_in_vain(self._source)

    def _shuffles(self) -> bool:
        """Whether there is a shuffle right below, of which and itself TensorFlow makes one stage."""
        below: Any = self._source
        while getattr(below, "idle", False):
            below = below._source
        return isinstance(below, Shuffled)

    def cardinality(self) -> int:
        count = self._source.cardinality()
        if self._count == 0 or count == 0:
            return 0
        if self._count < 0:
            return INFINITE
        return count if count < 0 else count * self._count


class Shuffled:
    """The elements in the random order that TensorFlow gives them, drawn from a buffer they go through.

    Every pass has an order of its own, unless `anew` is false; passes are counted in this object.
    """

    def __init__(
        self, source: Stage, capacity: int | None, seeds: tuple[int, int] | None, *, anew: bool
    ) -> None:
        self._source = source
        self._capacity = (1 << 62) if capacity is None else capacity
        self._seeds = seeds or (random.getrandbits(64), random.getrandbits(64))
        self._anew = anew
        self.specs = source.specs
        self.return_to(0)

    def return_to(self, passes: int) -> None:
        """Goes on as if so many passes had been made."""
        self.passes = passes
        self._parent = Philox(*self._seeds)
        self._parent.take(2 * passes)

    def begin_in_vain(self) -> None:
        """Draws the order of a pass that nobody makes."""
        self._next_seeds()

    def _next_seeds(self) -> tuple[int, int]:
        if not self._anew:
            return self._seeds
        self.passes += 1
        first, second = map(int, self._parent.take(2))
        return first, second

    def chunks(self, most: int | None) -> Iterator[Item]:
        buffer = ShuffleBuffer(self._capacity, *self._next_seeds())
        store: Store | None = None
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            if store is None:
                store = Store(item, self._capacity)
            leaving = store.exchange(item, *buffer.arrive(item.count))
            if leaving.count:
                yield leaving
        while store is not None and len(buffer):
            yield store.take(buffer.drain(_DRAINED_AT_ONCE))

    def cardinality(self) -> int:
        return self._source.cardinality()


def _count(chunks: list[Chunk]) -> int:
    return sum(chunk.count for chunk in chunks)


class Cached:
    """The elements, kept in memory by the first pass that takes all of them."""

    def __init__(self, source: Stage) -> None:
        self._source = source
        self._kept: list[Chunk] | None = None
        self.specs = source.specs

    def begin_in_vain(self) -> None:
        """Does nothing: what is kept is there."""

    def chunks(self, most: int | None) -> Iterator[Item]:
        if self._kept is not None:
            yield from self._kept
            return
        kept, sound = [], True
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                sound = False
            else:
                kept.append(item)
            if sound and most is not None and most == self._source.cardinality() == _count(kept):
                self._kept = kept  # nobody will ask for the end
            yield item
        if sound:
            self._kept = kept

    def cardinality(self) -> int:
        return self._source.cardinality()


class Concatenated:
    """The elements of one dataset, and then those of another."""

    def __init__(self, first: Stage, second: Stage) -> None:
        self._stages = (first, second)
        self.specs = common(first.specs, second.specs)

    def begin_in_vain(self) -> None:
        """Begins the first only."""
        begin_in_vain(self._stages[0])

    def chunks(self, most: int | None) -> Iterator[Item]:
        for stage in self._stages:
            yield from stage.chunks(most)

    def cardinality(self) -> int:
        counts = [stage.cardinality() for stage in self._stages]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)


def common(first: Any, second: Any) -> Any:
    """What is true of the elements of two datasets.

    Raises:
        TypeError: Their elements are not of the same kind.
    """
    if first is None or second is None:
        return None
    ours, theirs = nest.flatten(first), nest.flatten(second)
    if [_dtype(each) for each in ours] != [_dtype(each) for each in theirs]:
        raise TypeError(f"Incompatible dataset elements: {first!r} and {second!r}")
    return nest.pack(first, [_common(a, b) for a, b in zip(ours, theirs, strict=True)])


def _dtype(spec: Any) -> Any:
    """The dtype of tensors; datasets, as `window` gives them, have none."""
    return getattr(spec, "dtype", None)


def _common(first: Any, second: Any) -> Any:
    if first == second or not isinstance(first, TensorSpec):
        return first
    if first.shape.rank is None or first.shape.rank != second.shape.rank:
        return TensorSpec(None, first.dtype)
    sizes = zip(first.shape.as_list(), second.shape.as_list(), strict=True)
    return TensorSpec([a if a == b else None for a, b in sizes], first.dtype)


class Numbered:
    """Pairs of a number, from `start` on, and an element."""

    def __init__(self, source: Stage, start: int) -> None:
        self._source = source
        self._start = start
        self.specs = None if source.specs is None else (TensorSpec([], int64), source.specs)

    def chunks(self, most: int | None) -> Iterator[Item]:
        number = self._start
        for item in self._source.chunks(most):
            if isinstance(item, Fault):
                yield item
                continue
            numbers = Dense(np.arange(number, number + item.count, dtype=np.int64))
            yield Chunk((0, item.structure), [numbers, *item.columns], item.count)
            number += item.count

    def cardinality(self) -> int:
        return self._source.cardinality()


class Zipped:
    """The elements of several datasets side by side, until one ends.

    Attributes:
        structure: Of the datasets, as the user gave them; its leaves are nothing that matters.
    """

    def __init__(self, structure: Any, stages: list[Stage]) -> None:
        self._structure = structure
        self._stages = stages
        known = [stage.specs for stage in stages]
        self.specs = None if any(each is None for each in known) else nest.pack(structure, known)

    def chunks(self, most: int | None) -> Iterator[Item]:
        streams = [Pieces(stage.chunks(most)) for stage in self._stages]
        while True:
            fault = next((each.fault for each in streams if each.look() is not None), None)
            if fault is not None:
                for each in streams:
                    each.drop()
                yield fault
                continue
            count = min(each.ready for each in streams)
            if not count:
                return
            parts = [each.take(count) for each in streams]
            structure = nest.pack(self._structure, [part.structure for part in parts])
            yield Chunk(structure, self._columns(parts), count)

    def _columns(self, parts: list[Chunk]) -> list[Any]:
        """The columns in the order in which the whole structure is taken apart."""
        return [column for part in parts for column in part.columns]

    def cardinality(self) -> int:
        counts = [stage.cardinality() for stage in self._stages]
        finite = [count for count in counts if count >= 0]
        if UNKNOWN in counts:
            return UNKNOWN if 0 not in finite else 0
        return min(finite) if finite else INFINITE


class Tolerant:
    """The elements without those that could not be made."""

    def __init__(self, source: Stage, *, log_warning: bool) -> None:
        self._source = source
        self._log_warning = log_warning
        self.specs = source.specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        import logging

        for item in self._source.chunks(most):
            if isinstance(item, Chunk):
                yield item
            elif self._log_warning:
                logging.getLogger("tfreel.tf").warning("an element was left out: %s", item.error)

    def cardinality(self) -> int:
        return UNKNOWN
