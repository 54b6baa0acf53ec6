"""A column of values at positions, with nothing between them: TensorFlow's form of rows of any length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.ragged import Flat, Ragged, padding
from tfreel.columns.strings import I64, BytesColumn, names_rows, row_number, row_numbers


class Sparse:
    """Values and where they stand, as in TensorFlow's SparseTensor.

    Attributes:
        indices: The position of each value, a row for each; in order.
        values: The values.
        dense_shape: Of the array in which they stand.

    Example:
        >>> records = [tfreel.encode({"tags": [b"a", b"b"]}), tfreel.encode({"tags": [b"c"]})]
        >>> tags = tfreel.parse(records, {"tags": tfreel.VarLenFeature("bytes")})["tags"]
        >>> tags.indices.tolist(), tags.dense_shape
        ([[0, 0], [0, 1], [1, 0]], (2, 2))
        >>> tags.to_dense(b"-").to_list()
        [[b'a', b'b'], [b'c', b'-']]
    """

    __slots__ = ("_rows", "dense_shape", "indices", "present", "values")

    def __init__(
        self,
        indices: I64,
        values: Flat,
        dense_shape: tuple[int, ...],
        *,
        present: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.indices = indices
        self.values = values
        self.dense_shape = dense_shape
        self.present = present
        self._rows: Ragged | None = None  # of rows of rows, whose empty ones have no position

    @classmethod
    def from_ragged(cls, rows: Ragged) -> Sparse:
        """The values of `rows`, each at its row and its position in it."""
        rows = rows.trimmed()
        indices, shape = _positions(rows)
        made = cls(indices, rows.flat_values, shape, present=rows.present)
        made._rows = rows
        return made

    @property
    def has_positions(self) -> bool:
        """Whether values stand at positions of their own, as those of a `SparseFeature`.

        Those of a `VarLenFeature` stand one behind the other: their rows say it all.
        """
        return self._rows is None

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.values.nbytes + self.indices.nbytes

    def __len__(self) -> int:
        return self.dense_shape[0]

    def __getitem__(self, key: int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any]) -> Any:
        if self._rows is not None:
            return self._rows[key]
        if isinstance(key, slice):
            return self.take(np.arange(len(self))[key])
        if names_rows(key):
            return self.take(key)
        i = row_number(key, len(self))
        begin, end = np.searchsorted(self.indices[:, 0], [i, i + 1])
        return Sparse(self.indices[begin:end, 1:], self.values[begin:end], self.dense_shape[1:])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: npt.ArrayLike) -> Any:
        """The rows of these numbers, in this order, negative ones from the end; or those of a mask."""
        if self._rows is not None:
            return self._rows.take(rows)
        rows = row_numbers(rows, len(self))
        # What is taken of each row are the numbers of its values, which are where its positions are.
        numbers = Ragged(np.arange(len(self.values)), self.to_ragged().offsets).take(rows)
        picks = np.asarray(numbers.flat_values)
        indices = self.indices[picks]
        indices[:, 0] = np.repeat(np.arange(len(rows)), numbers.lengths)
        values = self.values[picks]
        present = None if self.present is None else self.present[rows]
        return Sparse(indices, values, (len(rows), *self.dense_shape[1:]), present=present)

    def to_ragged(self) -> Ragged:
        """The values row by row, without their positions."""
        if self._rows is not None:
            return self._rows
        offsets = np.searchsorted(self.indices[:, 0], np.arange(len(self) + 1))
        return Ragged(self.values, offsets.astype(np.int64), present=self.present)

    def to_list(self) -> list[Any]:
        """The values row by row, as lists of plain values, without their positions."""
        return self.to_ragged().to_list()

    def to_dense(self, default: Any = None) -> Flat:
        """The array in which they stand, with `default` (zero or empty if not given) between them.

        Raises:
            ValueError: A position lies outside of the array.
        """
        self.check()
        places = tuple(self.indices.T)
        if isinstance(self.values, BytesColumn):
            filled = np.full(self.dense_shape, -1, np.int64)
            filled[places] = np.arange(len(self.values))
            return _strings_at(self.values, filled, b"" if default is None else default)
        dense = np.full(self.dense_shape, padding(default, self.values.dtype), self.values.dtype)
        dense[places] = self.values
        return dense

    def check(self) -> None:
        """Makes sure that all values stand in the array. TensorFlow does not care before it is needed.

        Raises:
            ValueError: A position lies outside of it.
        """
        outside = ((self.indices < 0) | (self.indices >= np.array(self.dense_shape))).any(axis=1)
        if outside.any():
            where = self.indices[int(np.argmax(outside))].tolist()
            raise ValueError(f"position {where} lies outside of the shape {list(self.dense_shape)}")

    def __repr__(self) -> str:
        return f"<tfreel.Sparse of shape {self.dense_shape}, {len(self.values)} values>"


def as_rows(column: Flat | Ragged | Sparse) -> Flat | Ragged:
    """The column as something that is nothing but rows of values."""
    return column.to_ragged() if isinstance(column, Sparse) else column


def _strings_at(values: BytesColumn, places: I64, default: bytes) -> BytesColumn:
    """An array with the value of each place, and `default` where it is -1."""
    end = int(values.offsets[-1])  # of a view, that may be sooner than the end of its data
    extra = BytesColumn(
        np.concatenate([values.data[:end], np.frombuffer(default, np.uint8)]),
        np.append(values.offsets, end + len(default)),
    )
    picked = extra.take(np.where(places < 0, len(values), places).ravel())
    return BytesColumn(picked.data, picked.offsets, places.shape)


def _positions(rows: Ragged) -> tuple[I64, tuple[int, ...]]:
    """The position of every value, a row for each; and the shape that holds them all."""
    indices = np.empty((len(rows.values), 2), np.int64)
    # Some rows at a time, or the steps between would take as much memory as the result.
    for begin, end in _stretches(rows.offsets):
        lengths = np.diff(rows.offsets[begin : end + 1])
        first, last = int(rows.offsets[begin]), int(rows.offsets[end])
        indices[first:last, 0] = np.repeat(np.arange(begin, end), lengths)
        indices[first:last, 1] = np.arange(first, last) - np.repeat(rows.offsets[begin:end], lengths)
    shape = (len(rows), int(rows.lengths.max(initial=0)))
    if not isinstance(rows.values, Ragged):
        return indices, shape
    inner, inner_shape = _positions(rows.values)
    return np.concatenate([indices[inner[:, 0]], inner[:, 1:]], axis=1), (*shape, *inner_shape[1:])


def _stretches(offsets: I64, values: int = 1 << 18) -> Iterator[tuple[int, int]]:
    """Rows from one to another, of about so many values."""
    begin, count = 0, len(offsets) - 1
    while begin < count:
        end = int(np.searchsorted(offsets, offsets[begin] + values, "right")) - 1
        end = min(max(end, begin + 1), count)
        yield begin, end
        begin = end
