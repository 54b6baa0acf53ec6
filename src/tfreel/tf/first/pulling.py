"""Rows of tensors, each of a run of its own, as `tf.train.batch` and its kin collect them."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfreel.tf.first.readers import Read
from tfreel.tf.graphs.operations import Node, Run, needed
from tfreel.tf.graphs.programs import Program
from tfreel.tf.graphs.rows import Column, Dense, Listed, collected, concatenated, settled, taken_apart
from tfreel.tf.ops.chance import op_seeds
from tfreel.tf.values.handles import Handle, Source, SparseValue, replaced

Columns = list[Column]


class _Reading(NamedTuple):
    """How rows come of the records of a reader.

    Attributes:
        read: Gives the records.
        program: What is made of them.
        with_keys: Whether that needs the keys.
    """

    read: Read
    program: Program
    with_keys: bool


class Pulled:
    """Rows of some tensors. Every row, or with `many` every few rows, comes of a run of its own.

    What goes wrong in the middle is told only when the rows before it are used up, and then again and again.
    """

    def __init__(self, tensors: list[Handle], *, many: bool) -> None:
        self._tensors = tensors
        self._many = many
        self._reading = None if many else _only_read(tensors)
        self._failure: Exception | None = None

    def more(self, wanted: int) -> Columns:
        """Columns of at least one row: of `wanted` if nothing goes wrong, or of more."""
        if self._failure is not None:
            raise self._failure
        found: list[Columns] = []
        missing = wanted
        try:
            while missing > 0:
                found.append(self._some(missing))
                missing -= len(found[-1][0])
                if self._failure is not None:
                    break
        except Exception as error:
            self._failure = error
            if not found:
                raise
        return [concatenated(list(each)) for each in zip(*found, strict=True)]

    def _some(self, wanted: int) -> Columns:
        if self._reading is None:
            return self._one_by_one(wanted)
        return self._at_once(self._reading, wanted)

    def _one_by_one(self, wanted: int) -> Columns:
        rows: list[list[Any]] = []
        found = 0
        try:
            while found < wanted:
                run = Run()
                rows.append([run.value_of(each) for each in self._tensors])
                found += _length(rows[-1][0]) if self._many else 1
        except Exception as error:
            self._failure = error
            if not rows:
                raise
        components = [list(each) for each in zip(*rows, strict=True)]
        if self._many:
            return [concatenated([taken_apart(value) for value in each]) for each in components]
        return [collected(each) for each in components]

    def _at_once(self, reading: _Reading, wanted: int) -> Columns:
        """Rows that depend on nothing but the records of a reader, as columns."""
        read, program, with_keys = reading
        records = read.rows(wanted)
        # What does not use the keys does not see what stands in their place.
        columns = [records.keys() if with_keys else records.values, records.values]
        try:
            return program.for_rows(columns, len(records))
        except Exception:  # noqa: BLE001 - any: it is raised again for its row
            return self._until_failure(program, columns, len(records))

    def _until_failure(self, program: Program, columns: Columns, count: int) -> Columns:
        """One by one, to tell which row is at fault, and to keep those before it."""
        rows: list[list[Any]] = []
        try:
            for i in range(count):
                rows.append(program.for_one([column.row(i) for column in columns]))  # noqa: PERF401 - may fail
        except Exception as error:
            self._failure = error
            if not rows:
                raise
        return [collected(list(each)) for each in zip(*rows, strict=True)]


def _length(value: Any) -> int:
    return int(value.dense_shape[0]) if isinstance(value, SparseValue) else len(value)


def _only_read(tensors: list[Handle]) -> _Reading | None:
    """The one node that reads records, and what is made of these, if all tensors depend on nothing else."""
    nodes = needed([each.promise.node for each in tensors if each.source is not None])
    reads = [node for node in nodes if isinstance(node, Read)]
    if len(reads) != 1 or any(not isinstance(node, (Read, Node)) for node in nodes):
        return None
    read: Any = reads[0]
    outputs = [each if each.source is not None else each.value() for each in tensors]
    sources = [source for node in nodes for source in _wanted_by(node)]
    sources += [each.promise for each in tensors if each.source is not None]
    with_keys = any(source.node is read and source.position == 0 for source in sources)
    return _Reading(read, Program(read, None, outputs), with_keys)


def _wanted_by(node: Any) -> list[Source]:
    found: list[Source] = []
    replaced(getattr(node, "args", ()), lambda handle: found.append(handle.promise))
    replaced(getattr(node, "options", {}), lambda handle: found.append(handle.promise))
    return found


class Joined:
    """Rows of several sets of tensors, one from each in turn."""

    def __init__(self, parts: list[Pulled]) -> None:
        self._parts = deque(parts)

    def more(self, wanted: int) -> Columns:
        """Columns of at least one row."""
        found: list[Columns] = []
        while len(found) < wanted:
            try:
                found.append(self._parts[0].more(1))
            except Exception:
                if len(self._parts) > 1:
                    self._parts.popleft()
                    continue
                if not found:
                    raise
                break
            self._parts.rotate(-1)
        return [concatenated(list(each)) for each in zip(*found, strict=True)]


class Line:
    """Rows that come out in the order in which they came in."""

    def __init__(self) -> None:
        self._chunks: deque[Columns] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, columns: Columns) -> None:
        """Puts rows at the end."""
        self._chunks.append(columns)
        self._count += len(columns[0])

    def take(self, count: int) -> Columns:
        """The first rows."""
        taken: list[Columns] = []
        missing = count
        while missing:
            chunk = self._chunks.popleft()
            size = len(chunk[0])
            if size > missing:
                self._chunks.appendleft([column.part(missing, size) for column in chunk])
                chunk = [column.part(0, missing) for column in chunk]
            taken.append(chunk)
            missing -= len(chunk[0])
        self._count -= count
        return [concatenated(list(each)) for each in zip(*taken, strict=True)]


class Pool:
    """Rows that come out in a random order, which depends on the seed alone."""

    def __init__(self, seed: int | None) -> None:
        seeds = op_seeds(seed)
        self._random = random.Random(None if seeds is None else str(seeds)).random  # noqa: S311 - not for secrets
        self._slots: list[_Slots] = []
        self._held: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._held)

    def add(self, columns: Columns) -> None:
        """Puts rows in."""
        self._slots = self._slots or [_Slots() for _ in columns]
        count = len(columns[0])
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        new = len(self._held) + len(self._free) + len(reused)
        places = [*reused, *range(new, new + count - len(reused))]
        for slots, column in zip(self._slots, columns, strict=True):
            slots.put(np.array(places), column)
        self._held.extend(places)

    def take(self, count: int) -> Columns:
        """Any rows."""
        held = self._held
        picked = []
        for _ in range(count):
            pick = int(self._random() * len(held))
            held[pick], held[-1] = held[-1], held[pick]
            picked.append(held.pop())
        self._free.extend(picked)
        places = np.array(picked, np.int64)
        return [slots.get(places) for slots in self._slots]


class _Slots:
    """The values of one component in numbered places: in one array, as long as they are all of one shape."""

    def __init__(self) -> None:
        self._array: npt.NDArray[Any] | None = None
        self._list: list[Any] | None = None

    def put(self, places: npt.NDArray[np.int64], column: Column) -> None:
        column = settled(column)
        size = int(places.max()) + 1
        if self._list is None and isinstance(column, Dense) and self._fits(column.array):
            self._grown(size, column.array)[places] = column.array
            return
        if self._list is None:
            old = () if self._array is None else map(Dense(self._array).row, range(len(self._array)))
            self._list, self._array = list(old), None
        self._list.extend([None] * (size - len(self._list)))
        for i, place in enumerate(places.tolist()):
            self._list[place] = column.row(i)

    def _fits(self, rows: npt.NDArray[Any]) -> bool:
        known = self._array
        return known is None or (known.shape[1:] == rows.shape[1:] and known.dtype == rows.dtype)

    def _grown(self, size: int, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._array is None:
            self._array = np.empty((size, *like.shape[1:]), like.dtype)
        elif size > len(self._array):
            larger = np.empty((max(size, 2 * len(self._array)), *like.shape[1:]), like.dtype)
            larger[: len(self._array)] = self._array
            self._array = larger
        return self._array

    def get(self, places: npt.NDArray[np.int64]) -> Column:
        if self._array is not None:
            return Dense(self._array[places])
        if self._list is None:
            return Listed([])
        return collected([self._list[place] for place in places.tolist()])
