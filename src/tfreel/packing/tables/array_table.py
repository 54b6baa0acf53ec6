"""Arrays whose first dimension counts the rows, side by side: in memory, or read row after row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tfreel.examples.tensor import tensor
from tfreel.features.kinds import DType, Feature, FixedLenFeature
from tfreel.packing.naming import Naming
from tfreel.packing.source import Made, digest
from tfreel.packing.tables.table import (
    MOST_CLASSES,
    ColumnNote,
    RowName,
    Table,
    TableOptions,
    TableStream,
    values_of,
)

_PART_BYTES = 1 << 21
# What the kinds of NumPy's dtypes become.
DTYPES: dict[str, DType] = {
    **dict.fromkeys("biumM", "int64"),
    "f": "float32",
    "S": "bytes",
    "U": "bytes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayOptions(TableOptions):
    """What can be said about arrays.

    Attributes:
        tensors: Keep the dtype and the shape of rows that are arrays themselves, as `tfreel.tensor` does;
            otherwise they become lists of int64 or float32.
    """

    tensors: bool = False


class RowArray(Protocol):
    """An array with rows. Text is of dtype ``S`` or ``U``."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...

    def parts(self, rows: int) -> Iterator[npt.NDArray[Any]]:
        """All rows, so many at a time."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """An array that is in memory already."""

    array: npt.NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """With the rows first."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self.array.dtype

    def parts(self, rows: int) -> Iterator[npt.NDArray[Any]]:
        """All rows, so many at a time."""
        return (self.array[begin : begin + rows] for begin in range(0, len(self.array), rows))


class ArrayTable(TableStream):
    """Arrays with the same number of rows.

    Args:
        arrays: By the names of their columns.
        options: What else is to be done.
        kind: What it is to the user.
        folder: Where files are that a column names.
        identity: What changes when the arrays do.

    Raises:
        ValueError: They differ in length, or one of them cannot be a column.
    """

    kind = "numpy"

    def __init__(
        self,
        arrays: Mapping[str, RowArray],
        options: ArrayOptions,
        *,
        folder: str | None = None,
        identity: str | None = None,
    ) -> None:
        super().__init__(options, folder)
        self.check_names(list(arrays))
        self._arrays = {name: array for name, array in arrays.items() if self.wants(name)}
        self._tensors = options.tensors
        self._identity = identity
        for name, array in self._arrays.items():
            _refuse_array(name, array)
        lengths = {name: array.shape[0] for name, array in self._arrays.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
            raise ValueError(f"columns differ in length: {told}")
        if options.label is not None:
            label = self._arrays[options.label]
            self.set_classes(DTYPES[label.dtype.kind], _labels_in(label))
        self.describe(self._features())
        self.note([_note(name, array, self._is_tensor(array)) for name, array in self._arrays.items()])

    @classmethod
    def of_columns(cls, columns: Mapping[str, npt.NDArray[Any]], options: ArrayOptions) -> ArrayTable:
        """Arrays in memory."""
        return cls({name: InMemory(array) for name, array in columns.items()}, options)

    def identity(self) -> str | None:
        if self._identity is None:
            return None
        return digest(self._identity, None if self._tree is None else self._tree.identity())

    def use(self, naming: Naming) -> None:
        super().use(naming)
        # Shape and dtype go with their tensor, whatever it is called.
        parts = {
            f"{name}/{part}": f"{naming.name(name)}/{part}"
            for name, array in self._arrays.items()
            if self._is_tensor(array)
            for part in ("shape", "dtype")
        }
        self.naming = replace(naming, rename={**naming.rename, **parts})

    def _is_tensor(self, array: RowArray) -> bool:
        return self._tensors and len(array.shape) > 1 and array.dtype.kind in "biuf"

    def _features(self) -> dict[str, Feature]:
        features: dict[str, Feature] = {}
        for name, array in self._arrays.items():
            if self._is_tensor(array):
                features[name] = FixedLenFeature([], "bytes")
                features[f"{name}/shape"] = FixedLenFeature([len(array.shape) - 1], "int64")
                features[f"{name}/dtype"] = FixedLenFeature([], "bytes")
            else:
                features[name] = FixedLenFeature(array.shape[1:], DTYPES[array.dtype.kind])
        return features

    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        rows = max(1, _PART_BYTES // max(1, sum(map(_row_bytes, self._arrays.values()))))
        parts = zip(*(array.parts(rows) for array in self._arrays.values()), strict=True)
        for number, part in enumerate(parts):
            table = dict(zip(self._arrays, part, strict=True))
            yield partial(_as_it_is, table, number * rows)

    def shaped(self, table: Table) -> Table:
        return {
            name: tensor(column) if name in self._arrays and self._is_tensor(self._arrays[name]) else column
            for name, column in table.items()
        }


def _as_it_is(table: Table, first: int) -> tuple[Table, RowName, Made]:
    return table, lambda i: f"row {first + i}", Made()


def _row_bytes(array: RowArray) -> int:
    return math.prod(array.shape[1:]) * array.dtype.itemsize


def _refuse_array(name: str, array: RowArray) -> None:
    if array.dtype.kind not in DTYPES:
        hint = (
            "; Python objects would be unpickled, which runs what they say" if array.dtype.hasobject else ""
        )
        raise ValueError(f"column {name!r}: an array of {array.dtype} cannot be a feature{hint}")
    if not array.shape:
        raise ValueError(f"column {name!r} is one value, not one for each row")
    if 0 in array.shape[1:]:
        raise ValueError(f"column {name!r}: rows of the shape {list(array.shape[1:])} hold nothing")
    if _row_bytes(array) >= 1 << 31:
        raise ValueError(f"column {name!r}: a row of {_row_bytes(array):,} bytes; a record has 2 GiB at most")


def _labels_in(array: RowArray) -> list[bytes] | None:
    if array.dtype.kind not in "biuSU" or len(array.shape) != 1:
        return None
    found: set[Any] = set()
    for part in array.parts(1 << 16):
        found.update(np.unique(part).tolist())
        if len(found) > MOST_CLASSES:
            break
    values = values_of(sorted(found))
    return [value if isinstance(value, bytes) else str(int(value)).encode() for value in values]


def _note(name: str, array: RowArray, is_tensor: bool) -> ColumnNote:  # noqa: FBT001
    told = [f"rows of shape {list(array.shape[1:])}"] if len(array.shape) > 1 else []
    if is_tensor:
        return ColumnNote(name, "bytes", f"tensors of {array.dtype}, {told[0]}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        told.append(f"{array.dtype} is rounded to float32")
    if array.dtype.kind in "mM":
        told.append("times are in nanoseconds")
    return ColumnNote(name, DTYPES[array.dtype.kind], "; ".join(told))
