"""Where the elements of a shuffle buffer are kept: a slot for each, in arrays where they have one shape."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tfreel._core import exchange_rows
from tfreel.tf.data.chunks import Chunk
from tfreel.tf.graphs.rows import Column, Dense, Listed, settled
from tfreel.tf.values.handles import Array

Numbers = npt.NDArray[np.uint64]

_FIRST_SLOTS = 64
_RESERVED_BYTES = 1 << 28  # of address space, for slots that nothing may come into; larger stores grow


class Passing(NamedTuple):
    """Who leaves a buffer, and who stays in it, when a chunk arrives; as `ShuffleBuffer.arrive` tells it."""

    capacity: int
    leaving: Numbers
    staying: Numbers
    slots: Numbers


class Store:
    """The elements in a shuffle buffer."""

    def __init__(self, like: Chunk, capacity: int) -> None:
        self._structure = like.structure
        self._capacity = capacity
        self._kept: list[_Slots] = [_slots_for(settled(column), capacity) for column in like.columns]

    def exchange(self, chunk: Chunk, leaving: Numbers, staying: Numbers, slots: Numbers) -> Chunk:
        """Puts the elements of a chunk that stay into slots, and gives those that leave."""
        passing = Passing(self._capacity, leaving, staying, slots)
        columns = []
        for i, column in enumerate(map(settled, chunk.columns)):
            if not self._kept[i].takes(column):
                self._kept[i] = self._kept[i].loosened()
            columns.append(self._kept[i].exchange(column, passing))
        return Chunk(self._structure, columns, len(leaving))

    def take(self, slots: Numbers) -> Chunk:
        """The elements in some slots."""
        return Chunk(self._structure, [kept.take(slots) for kept in self._kept], len(slots))


class _Slots(Protocol):
    """The slots of one column. They grow with what is put into them."""

    def takes(self, column: Column) -> bool:
        """Whether rows of this column can be put into them."""

    def loosened(self) -> _Slots:
        """The same slots for rows of any shape."""

    def exchange(self, column: Column, passing: Passing) -> Column:
        """The rows that leave; and those of the column that stay are put into their slots."""

    def take(self, slots: Numbers) -> Column:
        """The rows in some slots."""


def _slots_for(like: Column, capacity: int) -> _Slots:
    return _DenseSlots(like, capacity) if isinstance(like, Dense) else _LooseSlots([])


class _DenseSlots:
    def __init__(self, like: Dense, capacity: int) -> None:
        row_bytes = max(1, like.array.nbytes // len(like))
        slots = capacity if capacity * row_bytes <= _RESERVED_BYTES else _FIRST_SLOTS
        self._array: Array = np.empty((slots, *like.array.shape[1:]), like.array.dtype)

    def takes(self, column: Column) -> bool:
        return (
            isinstance(column, Dense)
            and column.array.shape[1:] == self._array.shape[1:]
            and column.array.dtype == self._array.dtype
        )

    def loosened(self) -> _LooseSlots:
        rows = Dense(self._array)
        return _LooseSlots([rows.row(i) for i in range(len(rows))])

    def exchange(self, column: Column, passing: Passing) -> Dense:
        rows = column.joined()
        if len(passing.slots):
            self._grow(int(passing.slots.max()) + 1)
        left = np.empty((len(passing.leaving), *self._array.shape[1:]), self._array.dtype)
        if self._array.dtype == object:
            _exchange_objects(self._array, rows, passing, left)
        else:
            rows = np.ascontiguousarray(rows)
            exchange_rows(self._array, rows, *passing, left)
        return Dense(left)

    def take(self, slots: Numbers) -> Dense:
        return Dense(self._array[slots])

    def _grow(self, count: int) -> None:
        if count > len(self._array):
            larger = np.empty((max(count, 2 * len(self._array)), *self._array.shape[1:]), self._array.dtype)
            larger[: len(self._array)] = self._array
            self._array = larger


def _exchange_objects(kept: Array, rows: Array, passing: Passing, left: Array) -> None:
    """What the core does, for rows that are objects."""
    new = passing.leaving >= passing.capacity
    left[~new] = kept[passing.leaving[~new]]
    left[new] = rows[passing.leaving[new] - np.uint64(passing.capacity)]
    kept[passing.slots] = rows[passing.staying]


class _LooseSlots:
    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def takes(self, column: Column) -> bool:
        return True

    def loosened(self) -> _LooseSlots:
        return self

    def exchange(self, column: Column, passing: Passing) -> Listed:
        left = [
            self._rows[number] if number < passing.capacity else column.row(number - passing.capacity)
            for number in passing.leaving.tolist()
        ]
        for i, slot in zip(passing.staying.tolist(), passing.slots.tolist(), strict=True):
            if slot >= len(self._rows):
                self._rows.extend([None] * (slot + 1 - len(self._rows)))
            self._rows[slot] = column.row(i)
        return Listed(left)

    def take(self, slots: Numbers) -> Listed:
        return Listed([self._rows[slot] for slot in slots.tolist()])
