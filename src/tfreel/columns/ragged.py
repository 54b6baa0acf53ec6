"""A column of rows of any length: all values, and where the rows begin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.columns.strings import I64, BytesColumn, names_rows, row_number, row_numbers

Flat: TypeAlias = npt.NDArray[Any] | BytesColumn


class Ragged:
    """Rows of any length, without an object for each. Rows of rows are a Ragged in a Ragged.

    ``column[3]`` is one row; `to_list`, `to_numpy` and `to_dense` give all of them in other forms.

    Attributes:
        values: The values of all rows, one behind the other.
        offsets: Where each row begins in `values`, and at last where the last one ends.
        present: For each row, whether the example had the feature at all: an absent row is empty too. None
            where every example had it.

    Example:
        >>> records = [tfreel.encode({"tokens": [1, 2, 3]}), tfreel.encode({"tokens": [4]})]
        >>> tokens = tfreel.parse(records, {"tokens": tfreel.RaggedFeature("int64")})["tokens"]
        >>> tokens[0], tokens.lengths, tokens.to_dense(-1)
        (array([1, 2, 3]), array([3, 1]), array([[ 1,  2,  3],
               [ 4, -1, -1]]))
    """

    __slots__ = ("_splits_dtype", "offsets", "present", "values")

    def __init__(
        self,
        values: Flat | Ragged,
        offsets: I64,
        *,
        present: npt.NDArray[np.bool_] | None = None,
        row_splits_dtype: str = "int64",
    ) -> None:
        self.values = values
        self.offsets = offsets
        self.present = present
        self._splits_dtype = row_splits_dtype

    @property
    def row_splits(self) -> npt.NDArray[Any]:
        """The offsets, of the dtype that the feature asked for."""
        return self.offsets.astype(self._splits_dtype, copy=False)

    @property
    def flat_values(self) -> Flat:
        """The values below all levels of rows."""
        return self.values.flat_values if isinstance(self.values, Ragged) else self.values

    @property
    def lengths(self) -> I64:
        """The length of each row."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.values.nbytes + self.offsets.nbytes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any]) -> Any:
        if isinstance(key, slice):
            start, stop, stride = key.indices(len(self))
            if stride != 1:
                return self.take(np.arange(start, stop, stride))
            present = None if self.present is None else self.present[start:stop]
            return Ragged(
                self.values,
                self.offsets[start : max(start, stop) + 1],
                present=present,
                row_splits_dtype=self._splits_dtype,
            )
        if names_rows(key):
            return self.take(key)
        i = row_number(key, len(self))
        return self.values[int(self.offsets[i]) : int(self.offsets[i + 1])]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: npt.ArrayLike) -> Ragged:
        """The rows of these numbers, in this order, negative ones from the end; or those of a mask."""
        rows = row_numbers(rows, len(self))
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        values = self.values[places] if isinstance(self.values, np.ndarray) else self.values.take(places)
        present = None if self.present is None else self.present[rows]
        return Ragged(values, offsets, present=present, row_splits_dtype=self._splits_dtype)

    def trimmed(self) -> Ragged:
        """The same rows without values that belong to none of them, as a slice can have. Without a copy."""
        begin, end = int(self.offsets[0]), int(self.offsets[-1])
        values = self.values if (begin, end) == (0, len(self.values)) else self.values[begin:end]
        if isinstance(values, Ragged):
            values = values.trimmed()
        if values is self.values:
            return self
        return Ragged(values, self.offsets - begin, present=self.present, row_splits_dtype=self._splits_dtype)

    def to_list(self) -> list[Any]:
        """The rows as lists of plain values."""
        begin, end = int(self.offsets[0]), int(self.offsets[-1])
        rows = self.values[begin:end]
        flat: list[Any] = rows.tolist() if isinstance(rows, np.ndarray) else rows.to_list()
        bounds = (self.offsets - begin).tolist()
        return [flat[a:b] for a, b in pairwise(bounds)]

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """The rows as an array of arrays."""
        array = np.empty(len(self), object)
        for i, row in enumerate(self):
            array[i] = row if isinstance(row, np.ndarray) else row.to_numpy()
        return array

    def to_dense(self, default: Any = None, length: int | None = None) -> Flat:
        """The rows as one array, padded to the longest.

        Args:
            default: What to pad with; zero or empty if not given.
            length: Pad, or cut, to this length instead.
        """
        if isinstance(self.values, Ragged):
            raise TypeError("only one level of rows can be padded: take .values, or pad row by row")
        lengths = self.lengths
        width = int(lengths.max(initial=0)) if length is None else length
        if isinstance(self.values, BytesColumn):
            return _padded_strings(self, self.values, width, b"" if default is None else default)
        inner = self.values.shape[1:]
        dense = np.full((len(self), width, *inner), padding(default, self.values.dtype), self.values.dtype)
        kept = np.minimum(lengths, width)
        dense[np.arange(width) < kept[:, None]] = self.values[_places(self.offsets, kept)]
        return dense

    def __reduce__(self) -> tuple[Any, ...]:
        rows = self.trimmed()  # a slice must not take along all the rest
        return _revive, (rows.values, rows.offsets, rows.present, rows._splits_dtype)

    def __repr__(self) -> str:
        values = self.values
        inner = f"dtype {values.dtype}" if isinstance(values, np.ndarray) else repr(values).strip("<>")
        return f"<tfreel.Ragged of {len(self)} rows, {inner}>"


def _revive(
    values: Flat | Ragged, offsets: I64, present: npt.NDArray[np.bool_] | None, splits: str
) -> Ragged:
    return Ragged(values, offsets, present=present, row_splits_dtype=splits)


def padding(default: Any, dtype: npt.DTypeLike) -> Any:
    """The number to pad with: zero if none is given.

    Raises:
        TypeError: It is no number, or not one of the dtype.
    """
    given, wanted = np.asarray(0 if default is None else default), np.dtype(dtype)
    fits = not given.ndim and given.dtype.kind in ("iubf" if wanted.kind == "f" else "iub")
    if fits and wanted.kind in "iu":
        fits = np.iinfo(wanted).min <= int(given) <= np.iinfo(wanted).max
    if not fits:
        raise TypeError(f"default must be one number of dtype {wanted}, not {default!r}")
    return given


def _places(offsets: I64, lengths: I64) -> I64:
    """The positions of the first `lengths` values of each row."""
    ends = np.cumsum(lengths)
    first = np.repeat(offsets[:-1] - (ends - lengths), lengths)
    return first + np.arange(int(ends[-1]) if len(ends) else 0)


def _padded_strings(column: Ragged, values: BytesColumn, width: int, default: bytes) -> BytesColumn:
    inner = math.prod(values.shape[1:])
    kept = np.minimum(column.lengths, width)
    chosen = values.take(_places(column.offsets, kept))
    filled = (np.arange(width) < kept[:, None]).repeat(inner, axis=1).ravel()
    lengths = np.full(len(filled), len(default), np.int64)
    lengths[filled] = np.diff(chosen.offsets)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    data = np.empty(int(offsets[-1]), np.uint8)
    from_column = np.repeat(filled, lengths)
    data[from_column] = chosen.data
    data[~from_column] = np.tile(np.frombuffer(default, np.uint8), int((~filled).sum()))
    return BytesColumn(data, offsets, (len(column), width, *values.shape[1:]))
