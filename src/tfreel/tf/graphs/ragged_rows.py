"""Columns of rows that differ in length, without an object for each: what parsing many records gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.sparse import Sparse
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.rows import STACKS, UNSTACKS, Column, Indices, stacked
from tfreel.tf.values.handles import Array, RaggedValue, SparseValue


def plain(values: Flat) -> Array:
    """The values as an array, also if they are a column of bytes."""
    return values if isinstance(values, np.ndarray) else values.to_numpy()


def ragged_value(rows: Ragged) -> RaggedValue:
    """What is behind a RaggedTensor of these rows."""
    return _ragged_value(rows.trimmed())


def _ragged_value(rows: Ragged) -> RaggedValue:
    inner = _ragged_value(rows.values) if isinstance(rows.values, Ragged) else plain(rows.values)
    return RaggedValue(inner, rows.row_splits)


def ragged_of(value: RaggedValue) -> Ragged:
    """The rows of what is behind a RaggedTensor."""
    inner = ragged_of(value.values) if isinstance(value.values, RaggedValue) else value.values
    splits = value.row_splits
    return Ragged(inner, splits.astype(np.int64, copy=False), row_splits_dtype=splits.dtype.name)


class RaggedRows:
    """Arrays that differ in their first size alone. Only such of one shape can be joined, as ever."""

    __slots__ = ("ragged",)

    def __init__(self, ragged: Ragged) -> None:
        self.ragged = ragged

    def __len__(self) -> int:
        return len(self.ragged)

    def row(self, i: int) -> Array:
        return plain(self.ragged[i])

    def take(self, rows: Indices) -> RaggedRows:
        return RaggedRows(self.ragged.take(rows))

    def part(self, begin: int, end: int) -> RaggedRows:
        return RaggedRows(self.ragged[begin:end])

    def joined(self) -> Array:
        lengths = self.ragged.lengths
        width = int(lengths[0]) if len(lengths) else 0
        if (lengths != width).any():
            joined: Array = stacked([self.row(i) for i in range(len(self))])
            return joined
        values = plain(self.ragged.trimmed().flat_values)
        return values.reshape(len(lengths), width, *values.shape[1:])

    @classmethod
    def together(cls, columns: Sequence[Any]) -> Column:
        """Columns of this kind one behind the other."""
        return cls(_behind([each.ragged for each in columns]))


class NestedRows(RaggedRows):
    """The rows of a ragged tensor: ragged ones themselves, or arrays; joined, they are one again."""

    __slots__ = ()

    def row(self, i: int) -> Any:
        row = self.ragged[i]
        return ragged_value(row) if isinstance(row, Ragged) else plain(row)

    def take(self, rows: Indices) -> NestedRows:
        return NestedRows(self.ragged.take(rows))

    def part(self, begin: int, end: int) -> NestedRows:
        return NestedRows(self.ragged[begin:end])

    def joined(self) -> Any:
        return ragged_value(self.ragged)


class VarLenRows(RaggedRows):
    """Sparse vectors without gaps, as VarLenFeature gives them."""

    __slots__ = ()

    def row(self, i: int) -> Any:
        values = plain(self.ragged[i])
        count = len(values)
        return SparseValue(np.arange(count)[:, np.newaxis], values, np.array([count]))

    def take(self, rows: Indices) -> VarLenRows:
        return VarLenRows(self.ragged.take(rows))

    def part(self, begin: int, end: int) -> VarLenRows:
        return VarLenRows(self.ragged[begin:end])

    def joined(self) -> Any:
        return sparse_value(Sparse.from_ragged(self.ragged))


class VarLenListRows(RaggedRows):
    """Sparse matrices without gaps in their rows, as VarLenFeature gives them of feature lists."""

    __slots__ = ()

    def row(self, i: int) -> Any:
        return sparse_value(Sparse.from_ragged(self.ragged[i]))

    def take(self, rows: Indices) -> VarLenListRows:
        return VarLenListRows(self.ragged.take(rows))

    def part(self, begin: int, end: int) -> VarLenListRows:
        return VarLenListRows(self.ragged[begin:end])

    def joined(self) -> Any:
        return sparse_value(Sparse.from_ragged(self.ragged))


def sparse_value(column: Sparse) -> SparseValue:
    """What is behind a SparseTensor of this column."""
    return SparseValue(column.indices, plain(column.values), np.array(column.dense_shape, np.int64))


class SparseRows:
    """Sparse tensors of one dense shape.

    Attributes:
        indices: The positions of the values of each row.
        values: The values of each row.
        sizes: The dense shape of a row.
    """

    __slots__ = ("indices", "sizes", "values")

    def __init__(self, indices: Ragged, values: Ragged, sizes: Array) -> None:
        self.indices = indices
        self.values = values
        self.sizes = sizes

    @classmethod
    def of(cls, value: SparseValue) -> SparseRows:
        """The rows of one that has a dimension more."""
        order = np.argsort(value.indices[:, 0], kind="stable")
        indices = value.indices[order]
        bounds = np.searchsorted(indices[:, 0], np.arange(int(value.dense_shape[0]) + 1)).astype(np.int64)
        return cls(Ragged(indices[:, 1:], bounds), Ragged(value.values[order], bounds), value.dense_shape[1:])

    def __len__(self) -> int:
        return len(self.values)

    def row(self, i: int) -> SparseValue:
        return SparseValue(self.indices[i], plain(self.values[i]), self.sizes)

    def take(self, rows: Indices) -> SparseRows:
        return SparseRows(self.indices.take(rows), self.values.take(rows), self.sizes)

    def part(self, begin: int, end: int) -> SparseRows:
        return SparseRows(self.indices[begin:end], self.values[begin:end], self.sizes)

    def joined(self) -> SparseValue:
        indices, values = self.indices.trimmed(), self.values.trimmed()
        row = np.repeat(np.arange(len(self)), values.lengths)[:, np.newaxis]
        shape = np.concatenate([[len(self)], self.sizes]).astype(np.int64)
        return SparseValue(
            np.concatenate([row, plain(indices.flat_values)], axis=1), plain(values.flat_values), shape
        )


def _behind(parts: list[Ragged]) -> Ragged:
    """Rows one behind the other."""
    parts = [each.trimmed() for each in parts]
    offsets, end = [np.zeros(1, np.int64)], 0
    for each in parts:
        offsets.append(each.offsets[1:] + end)
        end += int(each.offsets[-1])
    nested = [each.values for each in parts if isinstance(each.values, Ragged)]
    values = _behind(nested) if nested else np.concatenate([plain(each.flat_values) for each in parts])
    return Ragged(values, np.concatenate(offsets), row_splits_dtype=parts[0].row_splits.dtype.name)


def sparse_stacked(values: list[SparseValue]) -> SparseValue:
    """Sparse values as one with a dimension more, as large as the largest of them.

    Raises:
        InvalidArgumentError: They do not have the same number of dimensions.
    """
    if len({len(each.dense_shape) for each in values}) > 1:
        raise InvalidArgumentError("Cannot batch sparse tensors of different ranks")
    counts = [len(each.values) for each in values]
    row = np.repeat(np.arange(len(values)), counts)[:, np.newaxis]
    sizes = np.max([each.dense_shape for each in values], axis=0)
    return SparseValue(
        np.concatenate([row, np.concatenate([each.indices for each in values])], axis=1),
        np.concatenate([each.values for each in values]),
        np.concatenate([[len(values)], sizes]).astype(np.int64),
    )


def ragged_stacked(values: list[RaggedValue]) -> RaggedValue:
    """Ragged values as one with a ragged dimension more.

    Raises:
        InvalidArgumentError: What is in their rows has different shapes.
    """
    parts = [ragged_of(each) for each in values]
    if len({(each.flat_values.shape[1:], _depth(each)) for each in parts}) > 1:
        raise InvalidArgumentError("Cannot batch ragged tensors whose inner shapes differ")
    bounds = np.cumsum([0, *map(len, parts)]).astype(values[0].row_splits.dtype)
    return RaggedValue(ragged_value(_behind(parts)), bounds)


def _depth(rows: Ragged) -> int:
    return 1 + _depth(rows.values) if isinstance(rows.values, Ragged) else 1


STACKS[SparseValue] = sparse_stacked
STACKS[RaggedValue] = ragged_stacked
UNSTACKS[SparseValue] = SparseRows.of
UNSTACKS[RaggedValue] = lambda value: NestedRows(ragged_of(value))
