"""Columns taken apart: all values in a row, and which of them belong to which record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Batch, Column
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import as_rows
from tfreel.columns.strings import I64, BytesColumn


@dataclass(frozen=True, slots=True)
class FlatValues:
    """The values of a column without levels.

    Attributes:
        values: An array of numbers, or a list of `bytes`.
        offsets: Where the values of each row begin, and at last where the last ones end.
        missing: For each row, whether its record lacks the feature.
    """

    values: Any
    offsets: I64
    missing: npt.NDArray[np.bool_]

    def any_row(self, true: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For each row, whether one of its values is marked."""
        before = np.concatenate([[0], np.cumsum(true)])
        found: npt.NDArray[np.bool_] = before[self.offsets[1:]] > before[self.offsets[:-1]]
        return found

    def no_row(self, true: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For each row that is not missing, whether none of its values is marked."""
        return ~self.any_row(true) & ~self.missing


def flat_values(column: Column) -> FlatValues:
    """The values of a column, and where those of each row are."""
    rows = len(column)
    column = as_rows(column)
    missing = np.zeros(rows, np.bool_)
    if isinstance(column, Ragged):
        if column.present is not None:
            missing = ~column.present
        column = column.trimmed()
        offsets, inner = column.offsets, column.values
        while isinstance(inner, Ragged):
            offsets, inner = inner.offsets[offsets], inner.values
    else:
        offsets, inner = np.arange(rows + 1), column
    width = math.prod(inner.shape[1:])
    if isinstance(inner, BytesColumn):
        return FlatValues(BytesColumn(inner.data, inner.offsets).to_list(), offsets * width, missing)
    return FlatValues(inner.reshape(-1), offsets * width, missing)


def chosen(batch: Batch, rows: I64) -> Batch:
    """Some rows of a batch."""
    columns = {
        name: column[rows] if isinstance(column, np.ndarray) else as_rows(column).take(rows)
        for name, column in batch.items()
    }
    return Batch(columns, len(rows))


def only(batch: Batch, names: list[str]) -> Batch:
    """Some columns of a batch."""
    return Batch({name: batch[name] for name in names}, batch.num_rows)
