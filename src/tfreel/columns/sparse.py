"""A column of values at positions, with nothing between them: TensorFlow's form of rows of any length."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.strings import I64, BytesColumn


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

    __slots__ = ("dense_shape", "indices", "present", "values")

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

    @classmethod
    def from_ragged(cls, rows: Ragged) -> Sparse:
        """The values of `rows`, each at its row and its position in it."""
        columns, shape = _positions(rows)
        return cls(np.stack(columns, axis=1), rows.flat_values, shape, present=rows.present)

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.values.nbytes + self.indices.nbytes

    def __len__(self) -> int:
        return self.dense_shape[0]

    def to_ragged(self) -> Ragged:
        """The values row by row, without their positions."""
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
        shape = np.array(self.dense_shape)
        outside = ((self.indices < 0) | (self.indices >= shape)).any(axis=1)
        if outside.any():
            where = self.indices[int(np.argmax(outside))].tolist()
            raise ValueError(f"position {where} lies outside of the shape {list(self.dense_shape)}")
        places = tuple(self.indices.T)
        if isinstance(self.values, BytesColumn):
            filled = np.full(self.dense_shape, -1, np.int64)
            filled[places] = np.arange(len(self.values))
            return _strings_at(self.values, filled, b"" if default is None else default)
        dense = np.full(self.dense_shape, 0 if default is None else default, self.values.dtype)
        dense[places] = self.values
        return dense

    def __repr__(self) -> str:
        return f"<tfreel.Sparse of shape {self.dense_shape}, {len(self.values)} values>"


def _strings_at(values: BytesColumn, places: I64, default: bytes) -> BytesColumn:
    """An array with the value of each place, and `default` where it is -1."""
    extra = BytesColumn(
        np.concatenate([values.data, np.frombuffer(default, np.uint8)]),
        np.append(values.offsets, values.offsets[-1] + len(default)),
    )
    # Values may be a view that begins later or ends sooner than its data.
    extra.data = np.concatenate([values.data[: int(values.offsets[-1])], np.frombuffer(default, np.uint8)])
    picked = extra.take(np.where(places < 0, len(values), places).ravel())
    return BytesColumn(picked.data, picked.offsets, places.shape)


def _positions(rows: Ragged) -> tuple[list[I64], tuple[int, ...]]:
    """For each dimension, the position of every value; and the shape that holds them all."""
    lengths = rows.lengths
    row = np.repeat(np.arange(len(rows)), lengths)
    column = np.arange(len(row)) - np.repeat(rows.offsets[:-1] - rows.offsets[0], lengths)
    shape = (len(rows), int(lengths.max(initial=0)))
    if not isinstance(rows.values, Ragged):
        return [row, column], shape
    inner, inner_shape = _positions(rows.values)
    return [row[inner[0]], column[inner[0]], *inner[1:]], (*shape, *inner_shape[1:])
