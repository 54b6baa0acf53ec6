"""Columns of rows: the same result of a graph for many elements at once.

Where all rows have one shape, a column is one array; else it is a list. What an operation does with whole
columns must be
the same, to the last bit, as what its kernel does with each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tfreel.columns.parse import Picked
from tfreel.columns.strings import BytesColumn
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, RaggedValue, SparseValue

Indices = npt.NDArray[np.int64]


class Column(Protocol):
    """The values of one tensor in many elements."""

    def __len__(self) -> int: ...

    def row(self, i: int) -> Any:
        """The value in one element."""

    def take(self, rows: Indices) -> Column:
        """The values in some elements."""

    def part(self, begin: int, end: int) -> Column:
        """The values in elements one behind the other."""

    def joined(self) -> Any:
        """All values in one, with one dimension more.

        Raises:
            InvalidArgumentError: They do not have one shape.
        """


class Dense:
    """Rows of one shape in one array."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def row(self, i: int) -> Array:
        row = self.array[i]
        if isinstance(row, np.ndarray):
            return row
        return np.array(row, self.array.dtype)

    def take(self, rows: Indices) -> Dense:
        return Dense(self.array[rows])

    def part(self, begin: int, end: int) -> Dense:
        return Dense(self.array[begin:end])

    def joined(self) -> Array:
        return self.array


class Strings:
    """Rows of one string each."""

    __slots__ = ("column",)

    def __init__(self, column: BytesColumn) -> None:
        self.column = column

    def __len__(self) -> int:
        return len(self.column)

    def row(self, i: int) -> Array:
        return np.array(self.column[i], object)

    def take(self, rows: Indices) -> Strings:
        return Strings(self.column.take(rows))

    def part(self, begin: int, end: int) -> Strings:
        return Strings(self.column[begin:end])

    def joined(self) -> Array:
        return self.column.to_numpy()


class Records:
    """Rows of one string each, as the records of a file that was read: nothing has been copied."""

    __slots__ = ("picked",)

    def __init__(self, picked: Picked) -> None:
        self.picked = picked

    def __len__(self) -> int:
        return len(self.picked)

    def row(self, i: int) -> Array:
        return np.array(self.picked[i], object)

    def take(self, rows: Indices) -> Records:
        order = self.picked.order
        chosen = rows.astype(np.uint64) if order is None else order[rows]
        return Records(Picked(self.picked.views, chosen))

    def part(self, begin: int, end: int) -> Records:
        return self if (begin, end) == (0, len(self)) else self.take(np.arange(begin, end))

    def joined(self) -> Array:
        made = np.empty(len(self), object)
        if self.picked.order is None:
            made[:] = [record for view in self.picked.views for record in view.to_list()]
        else:
            made[:] = [self.picked[i] for i in range(len(self))]
        return made


class Listed:
    """Rows of any shape, one by one."""

    __slots__ = ("values",)

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def row(self, i: int) -> Any:
        return self.values[i]

    def take(self, rows: Indices) -> Listed:
        return Listed([self.values[i] for i in rows.tolist()])

    def part(self, begin: int, end: int) -> Listed:
        return Listed(self.values[begin:end])

    def joined(self) -> Any:
        return stacked(self.values)


class OnDemand:
    """Rows that are made when they are asked for, for one who takes each once, and soon has done with it.

    What is large, such as a decoded image, is then still in the cache of the processor, and its memory serves
    for the next one.
    """

    __slots__ = ("_count", "_make")

    def __init__(self, make: Callable[[int], Any], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def row(self, i: int) -> Any:
        return self._make(i)

    def take(self, rows: Indices) -> Listed:
        return Listed([self._make(i) for i in rows.tolist()])

    def part(self, begin: int, end: int) -> Listed:
        return Listed([self._make(i) for i in range(begin, end)])

    def joined(self) -> Any:
        return self.made().joined()

    def made(self) -> Listed:
        """All rows, made now."""
        return self.part(0, self._count)


# How values of a class, such as sparse ones, become one with a dimension more; and are taken apart again.
STACKS: dict[type, Callable[[list[Any]], Any]] = {}
UNSTACKS: dict[type, Callable[[Any], Column]] = {}


def stacked(values: list[Any]) -> Any:
    """Values of one shape as one, with one dimension more.

    Raises:
        InvalidArgumentError: Their shapes differ.
    """
    first = values[0]
    stack = STACKS.get(type(first))
    if stack is not None:
        return stack(values)
    for each in values:
        if each.shape != first.shape:
            raise InvalidArgumentError(
                "Cannot batch tensors with different shapes in component 0. First element had shape"
                f" {list(first.shape)} and element {_other(values)} had shape {list(each.shape)}."
                " padded_batch or ragged_batch take tensors of different shapes."
            )
        if each.dtype != first.dtype:
            raise InvalidArgumentError(
                f"Cannot batch tensors of {as_dtype(first.dtype).name} and {as_dtype(each.dtype).name}"
            )
    return np.stack(values) if first.ndim or first.dtype != object else _texts(values)


def _other(values: list[Any]) -> int:
    return next(i for i, each in enumerate(values) if each.shape != values[0].shape)


def _texts(values: list[Any]) -> Array:
    made = np.empty(len(values), object)
    made[:] = [each.item() for each in values]
    return made


def collected(values: list[Any]) -> Column:
    """A column of values: one array if they have one shape and dtype."""
    values = [_valued(each) for each in values]
    first = values[0] if values else None
    if not isinstance(first, np.ndarray):
        return Listed(values)
    shape, dtype = first.shape, first.dtype
    for each in values:
        if not isinstance(each, np.ndarray) or each.shape != shape or each.dtype != dtype:
            return Listed(values)
    return Dense(stacked(values))


def _valued(value: Any) -> Any:
    if isinstance(value, (np.ndarray, SparseValue, RaggedValue)):
        return value
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)


def concatenated(columns: Sequence[Column]) -> Column:
    """Columns one behind the other."""
    if len(columns) == 1:
        return columns[0]
    if all(isinstance(each, Dense) for each in columns):
        arrays = [each.array for each in columns if isinstance(each, Dense)]
        if len({(each.shape[1:], each.dtype) for each in arrays}) == 1:
            return Dense(np.concatenate(arrays))
    if all(isinstance(each, Strings) for each in columns):
        return Strings(_strings_joined([each.column for each in columns if isinstance(each, Strings)]))
    if all(isinstance(each, Records) for each in columns):
        return Records(_records_joined([each.picked for each in columns if isinstance(each, Records)]))
    together = getattr(columns[0], "together", None)
    if together is not None and all(type(each) is type(columns[0]) for each in columns):
        made: Column = together(columns)
        return made
    return collected([each.row(i) for each in columns for i in range(len(each))])


def _records_joined(parts: list[Picked]) -> Picked:
    views: list[Any] = []
    begins: dict[tuple[int, ...], int] = {}
    orders, end = [], 0
    for part in parts:
        key = tuple(map(id, part.views))
        if key not in begins:
            begins[key] = end
            views.extend(part.views)
            end += sum(len(view) if hasattr(view, "first_record") else 1 for view in part.views)
        order = np.arange(len(part), dtype=np.uint64) if part.order is None else part.order
        orders.append(order + np.uint64(begins[key]))
    return Picked(tuple(views), np.concatenate(orders))


def _strings_joined(columns: list[BytesColumn]) -> BytesColumn:
    data, offsets, end = [], [np.zeros(1, np.int64)], 0
    for each in columns:
        begin, stop = int(each.offsets[0]), int(each.offsets[-1])
        data.append(each.data[begin:stop])
        offsets.append(each.offsets[1:] - begin + end)
        end += stop - begin
    return BytesColumn(np.concatenate(data), np.concatenate(offsets))


def taken_apart(value: Any) -> Column:
    """The rows of a value: what `joined` would make one of."""
    unstack = UNSTACKS.get(type(value))
    if unstack is not None:
        return unstack(value)
    return Dense(value)


def settled(column: Column) -> Column:
    """The column as one array, if its rows are strings: what came out of a file is not held any longer."""
    return Dense(column.joined()) if isinstance(column, (Strings, Records)) else column


def repeated(value: Any, count: int) -> Column:
    """A column with one value in all rows."""
    value = _valued(value)
    if not isinstance(value, np.ndarray):
        return Listed([value] * count)
    return Dense(np.repeat(value[np.newaxis], count, axis=0))


def aligned(arguments: Iterable[Any]) -> list[Any]:
    """Arrays for columns and values, shaped so that what broadcasts within the rows does so for all."""
    arguments = list(arguments)
    ranks = [each.array.ndim - 1 if isinstance(each, Dense) else np.ndim(each) for each in arguments]
    most = max(ranks)
    return [_aligned(each, most - rank) for each, rank in zip(arguments, ranks, strict=True)]


def _aligned(argument: Any, missing: int) -> Any:
    if not isinstance(argument, Dense):
        return argument
    shape = argument.array.shape
    return argument.array.reshape(shape[0], *([1] * missing), *shape[1:]) if missing else argument.array


def is_column(argument: object) -> bool:
    """Whether it stands for many rows."""
    return hasattr(argument, "joined")


def holds_column(argument: Any) -> bool:
    """Whether it is a column, or a list or tuple with one in it."""
    if isinstance(argument, (list, tuple)):
        return any(map(holds_column, argument))
    return is_column(argument)


def all_dense(arguments: Iterable[Any]) -> bool:
    """Whether every column among some arguments is one array."""
    return all(isinstance(each, Dense) for each in arguments if is_column(each))
