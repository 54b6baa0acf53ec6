"""Columns of text and of Python objects, as functions of users make them: values of one kind, or refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from tfreel.columns.arrow_layouts import offsets_of
from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.strings import BytesColumn, strings_of

Rows: TypeAlias = Flat | Ragged

_TEXTS = (str, bytes, bytearray, memoryview)
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_TIMES = (np.datetime64, np.timedelta64)


def uniform(rows: Rows) -> Rows:
    """The same rows with values of one kind: text as UTF-8, and rows of no value where there is None.

    Raises:
        TypeError: There are values of several kinds, or of one that no column has.
    """
    if isinstance(rows, Ragged):
        values = uniform(rows.values)
        if values is rows.values:
            return rows
        if isinstance(values, Ragged) and not isinstance(rows.values, Ragged):
            raise TypeError("None among values; only a whole row can be None")
        return Ragged(values, rows.offsets, present=rows.present)
    if isinstance(rows, BytesColumn):
        return rows
    if rows.dtype.kind == "c":
        raise TypeError("it holds complex numbers")
    if rows.dtype.kind not in "SUTO":
        return rows
    if rows.dtype.kind != "O":
        return _strings(rows.ravel().tolist(), rows.shape)
    if rows.ndim > 1:
        return _values(rows.ravel().tolist(), rows.shape)
    present = np.array([value is not None for value in rows.tolist()], np.bool_)
    found = _values([value for value in rows.tolist() if value is not None])
    if present.all():
        return found
    lengths = present.astype(np.int64)
    if isinstance(found, Ragged):
        lengths[present], found = found.lengths, found.values
    return Ragged(found, offsets_of(lengths), present=present)


def holds_rows(rows: Rows) -> bool:
    """Whether an array of objects holds arrays: one for each row, and not one value."""
    return _are_objects(rows) and any(isinstance(value, np.ndarray) for value in rows.tolist())


def is_nothing(rows: Rows) -> bool:
    """Whether an array of objects holds nothing but None, and so no kind."""
    return _are_objects(rows) and all(value is None for value in rows.tolist())


def _are_objects(rows: Rows) -> TypeGuard[npt.NDArray[np.object_]]:
    return isinstance(rows, np.ndarray) and rows.dtype == object and rows.ndim == 1


def is_text(rows: Rows) -> bool:
    """Whether the values are text, and not just bytes."""
    flat = rows.flat_values if isinstance(rows, Ragged) else rows
    if isinstance(flat, BytesColumn):
        return False
    if flat.dtype.kind != "O":
        return flat.dtype.kind in "UT"
    members = [value for value in flat.ravel().tolist() if value is not None]
    return bool(members) and all(
        value.dtype.kind in "UT" if isinstance(value, np.ndarray) else isinstance(value, str)
        for value in members
    )


def _values(values: Sequence[Any], shape: tuple[int, ...] | None = None) -> Rows:
    kinds = set(map(type, values))
    shape = (len(values),) if shape is None else shape
    if not kinds:
        return np.zeros(shape, np.float32)
    if all(issubclass(kind, _TEXTS) for kind in kinds):
        return _strings(values, shape)
    if all(issubclass(kind, _NUMBERS) for kind in kinds) or all(issubclass(kind, _TIMES) for kind in kinds):
        array: npt.NDArray[Any] = np.array(values)
        if array.dtype != object:  # of integers beyond 64 bits
            return array.reshape(shape)
    times = as_times(values)
    if times is not None:
        return times.reshape(shape)
    if kinds == {np.ndarray}:
        return _rows(values)
    told = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(f"it holds objects of type {told}")


def as_times(values: Sequence[Any]) -> npt.NDArray[Any] | None:
    """Python's dates as those of NumPy, and its times, if these are in no zone; None for other values."""
    kinds = set(map(type, values))
    if kinds == {dt.date}:
        return np.array(values, "M8[D]")
    if kinds == {dt.datetime} and not any(value.tzinfo for value in values):
        return np.array(values, "M8[us]")
    return None


def _rows(arrays: Sequence[npt.NDArray[Any]]) -> Ragged:
    if len({array.shape[1:] for array in arrays}) > 1 or any(array.ndim == 0 for array in arrays):
        raise TypeError("it holds arrays of different shapes")
    flat = uniform(np.concatenate(arrays))
    return Ragged(flat, offsets_of(np.array([len(array) for array in arrays])))


def _strings(values: Sequence[Any], shape: tuple[int, ...]) -> BytesColumn:
    return strings_of([value.encode() if isinstance(value, str) else bytes(value) for value in values], shape)
