"""Columns in, records out: whatever has columns, as the core wants them.

A column is an array whose first dimension counts the rows, a list with an element for each row, or one of our
own columns. The rules are those of `tfreel.encode`; they hold for a whole column instead of one value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.arrow_import import exports_arrow
from tfreel.columns.batch import Batch
from tfreel.columns.objects import as_times
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse
from tfreel.columns.strings import I64, BytesColumn
from tfreel.examples.encode import adapt
from tfreel.examples.tensor import Tensor, expand

Columns: TypeAlias = Mapping[str, Any] | Any


@dataclass(frozen=True, slots=True)
class _Flat:
    """The values of all rows, and how many each row has."""

    values: npt.NDArray[Any]
    value_offsets: I64 | None = None
    count: int = 1
    row_offsets: I64 | None = None
    present: npt.NDArray[np.bool_] | None = None


def encode_columns(columns: Columns) -> Iterator[_core.Block]:
    """The rows of a table as serialized Examples, in blocks.

    Args:
        columns: A mapping from names to columns, or anything that exports Arrow data.

    Raises:
        TypeError: A column cannot be a feature.
        ValueError: Columns differ in length, or a value does not fit.
    """
    table = _table(_by_name(columns))
    begin = 0
    while begin < len(table):
        block = table.encode(begin)
        begin += len(block)
        yield block


def encode_block(columns: Columns) -> _core.Block:
    """The rows of a table, of which there are not too many, as one block. As in `encode_columns`."""
    return _table(_by_name(columns)).encode_all()


def _by_name(columns: Columns) -> dict[str, Any]:
    if isinstance(columns, (Mapping, Batch)):
        return dict(columns)
    if exports_arrow(columns):
        return dict(Batch.from_arrow(columns))
    raise TypeError(
        f"columns must be a mapping from names to columns, a data frame or an Arrow table, not"
        f" {type(columns).__name__}"
    )


def _table(columns: dict[str, Any]) -> _core.Table:
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"columns are named by str, not {type(name).__name__}")
    columns = _with_tensors(columns)
    columns = {name: _sized(name, column) for name, column in columns.items()}
    rows = _number_of_rows(columns)
    table = _core.Table(rows)
    if not rows:
        return table
    for name, column in columns.items():
        flat = _flat(name, column)
        table.add(
            name,
            flat.values,
            value_offsets=flat.value_offsets,
            row_offsets=flat.row_offsets,
            count=flat.count,
            present=flat.present,
        )
    return table


def _sized(name: str, column: Any) -> Any:
    single = isinstance(column, (str, bytes)) or getattr(column, "ndim", 1) == 0
    if single or not isinstance(column, (Iterable, Ragged, Sparse, BytesColumn)):
        raise TypeError(f"column {name!r} must have a value for each row, not {type(column).__name__}")
    return column if hasattr(column, "__len__") else list(column)


def _number_of_rows(columns: dict[str, Any]) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise ValueError(f"columns differ in length: {told}")
    return next(iter(lengths.values()), 0)


def _with_tensors(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns with three in place of each tensor, whose first dimension counts the rows."""
    expanded = dict(columns)
    for name, column in columns.items():
        if not isinstance(column, Tensor):
            continue
        array = _sized(name, column.array)
        rows = len(array)
        # `expand` knows how one is stored, and this is one with all rows in it.
        parts = expand({name: column})
        data = np.frombuffer(parts[name], np.uint8)
        step = data.nbytes // rows if rows else 0
        parts[name] = BytesColumn(data, np.arange(rows + 1, dtype=np.int64) * step)
        parts[f"{name}/shape"] = np.tile(np.array(array.shape[1:], np.int64), (rows, 1))
        parts[f"{name}/dtype"] = [parts[f"{name}/dtype"]] * rows
        taken = next((helper for helper in parts if helper != name and helper in columns), None)
        if taken is not None:
            raise ValueError(f"column {taken!r}: the name is needed for the tensor {name!r}")
        expanded.update(parts)
    return expanded


def _flat(name: str, column: Any) -> _Flat:
    if isinstance(column, Sparse):
        column = column.to_ragged()
    if isinstance(column, Ragged):
        return _flat_ragged(name, column)
    if isinstance(column, BytesColumn):
        return _Flat(column.data, column.offsets, count=math.prod(column.shape[1:]))
    if isinstance(column, (list, tuple)):
        return _flat_list(name, column)
    return _flat_array(name, np.asanyarray(column))


def _flat_ragged(name: str, column: Ragged) -> _Flat:
    offsets, values = column.offsets, column.values
    while isinstance(values, Ragged):
        _refuse_nulls(name, values, offsets)
        offsets, values = values.offsets[offsets], values.values
    inner = _flat(name, values)
    return replace(inner, row_offsets=offsets * inner.count, present=column.present)


def _refuse_nulls(name: str, values: Ragged, offsets: I64) -> None:
    """Fails if a row has null among its values: left out, it would let those behind it move up."""
    present = values.present
    if present is None or present[offsets[0] : offsets[-1]].all():
        return
    row = int(np.searchsorted(offsets, np.flatnonzero(~present[: offsets[-1]])[0], "right")) - 1
    where = f"row {row:,}" if len(offsets) > 2 else "its row"
    raise TypeError(
        f"column {name!r} holds null among the values of {where}, which no Example can;"
        " fill or drop it first (pandas gives NaN in lists to others as null)"
    )


def _flat_array(name: str, array: npt.NDArray[Any]) -> _Flat:
    if isinstance(array, np.ma.MaskedArray) or array.dtype.kind not in "biufmMSU":
        adapted = adapt(name, array) if array.dtype.kind != "O" or array.ndim > 1 else array.tolist()
        if isinstance(adapted, list):
            width = math.prod(array.shape[1:])
            if array.ndim > 1:
                adapted = [adapted[i * width : (i + 1) * width] for i in range(len(array))]
            return _flat_list(name, adapted)
        array = np.asarray(adapted).reshape(array.shape)
    if array.dtype.kind in "mM" and array.ndim == 1 and np.isnat(array).any():
        return _flat_times(name, array)
    count = math.prod(array.shape[1:])
    if array.dtype.kind in "SU":
        return replace(_flat_strings(name, array.ravel().tolist()), count=count)
    return _Flat(_numbers(name, array).ravel(), count=count)


def _flat_times(name: str, array: npt.NDArray[Any]) -> _Flat:
    """Times of which some are none: what is null to others is absent here."""
    present = ~np.isnat(array)
    offsets = _offsets(present.astype(np.int64))
    return _Flat(_numbers(name, array[present]), row_offsets=offsets, present=present)


def _numbers(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The numbers as int64 or float32, if they fit."""
    if array.dtype.kind in "mM":
        array = np.asarray(adapt(name, array)).reshape(array.shape)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > _MOST_INT64:
        raise ValueError(f"column {name!r}: {int(array.max())} does not fit int64")
    if array.dtype.kind != "f":
        return np.ascontiguousarray(array, np.int64)
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(array, np.float32)
    if array.dtype.itemsize > 4:
        lost = np.isinf(rounded) & np.isfinite(array)
        if lost.any():
            raise ValueError(f"column {name!r}: {float(array[lost].flat[0])!r} does not fit float32")
    return rounded


_MOST_INT64 = np.iinfo(np.int64).max


def _flat_strings(name: str, values: list[Any]) -> _Flat:
    try:
        encoded = [value.encode() if isinstance(value, str) else value for value in values]
    except UnicodeEncodeError:
        raise ValueError(f"column {name!r}: text with lone surrogates has no UTF-8 form") from None
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return _Flat(np.frombuffer(b"".join(encoded), np.uint8), offsets)


def _flat_list(name: str, rows: list[Any] | tuple[Any, ...]) -> _Flat:
    """A list with a scalar, a list, an array or None for each row."""
    types = set(map(type, rows))
    if types == {type(None)}:  # the column is nowhere present: nothing is written of it
        return _Flat(
            np.empty(0, np.int64),
            row_offsets=np.zeros(len(rows) + 1, np.int64),
            present=np.zeros(len(rows), np.bool_),
        )
    if type(None) in types:
        present = np.array([row is not None for row in rows], np.bool_)
        some = _flat_list(name, [row for row in rows if row is not None])
        counts = np.zeros(len(rows), np.int64)
        counts[present] = some.count if some.row_offsets is None else np.diff(some.row_offsets)
        return replace(some, row_offsets=_offsets(counts), present=present)
    if any(issubclass(kind, (list, tuple, np.ndarray)) for kind in types):
        return _flat_rows(name, rows)
    return _flat_scalars(name, rows, types)


def _flat_rows(name: str, rows: list[Any] | tuple[Any, ...]) -> _Flat:
    if all(isinstance(row, np.ndarray) for row in rows):
        counts = [row.size for row in rows]
        if len({row.dtype.kind for row in rows}) > 1:
            raise TypeError(f"column {name!r} mixes arrays of different kinds")
        flat = _flat_array(name, np.concatenate([row.ravel() for row in rows]))
    else:
        lists = [list(_leaves(row)) for row in rows]
        counts = [len(row) for row in lists]
        values = list(chain.from_iterable(lists))
        flat = _flat_scalars(name, values, set(map(type, values)))
    return replace(flat, row_offsets=_offsets(np.array(counts, np.int64)))


def _leaves(row: Any) -> Iterator[Any]:
    if isinstance(row, np.ndarray):
        yield from row.ravel().tolist()
    elif isinstance(row, (list, tuple)):
        for item in row:
            yield from _leaves(item)
    else:
        yield row


def _flat_scalars(name: str, values: list[Any] | tuple[Any, ...], types: set[type]) -> _Flat:
    if not values:
        raise TypeError(
            f"column {name!r} has no values, and so no kind; an empty array has one: np.array([], dtype)"
        )
    if all(issubclass(kind, (int, np.integer, np.bool_)) for kind in types):
        try:
            return _Flat(np.array([int(value) for value in values], np.int64))
        except OverflowError:
            raise ValueError(f"column {name!r}: a value does not fit int64") from None
    if all(issubclass(kind, (float, np.floating)) for kind in types):
        return _Flat(_numbers(name, np.array(values, np.float64)))
    if all(issubclass(kind, (str, bytes, bytearray, memoryview)) for kind in types):
        plain = [v if isinstance(v, (str, bytes)) else bytes(v) for v in values]
        return _flat_strings(name, plain)
    if all(issubclass(kind, (np.datetime64, np.timedelta64)) for kind in types):
        return _flat_array(name, np.array(values))
    times = as_times(values)
    if times is not None:
        return _flat_array(name, times)
    if len(types) == 1:
        adapt(name, values[0])  # which knows best what is wrong with it
    told = ", ".join(sorted(kind.__name__ for kind in types))
    raise TypeError(f"column {name!r} must hold values of one kind, not {told}")


def _offsets(counts: I64) -> I64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
