"""Elements to batches and back: stacking, padding, taking apart."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Batch, Column, SequenceBatch
from tfreel.columns.ragged import Ragged, padding
from tfreel.columns.sparse import Sparse
from tfreel.columns.strings import BytesColumn, strings_of

_ROW = (Mapping, Batch)

Pad: TypeAlias = int | float | bytes | Mapping[str, int | float | bytes] | None


def gather(elements: Sequence[Any]) -> Any:
    """One batch of several elements: rows become columns, tuples go member by member.

    Rows that have rows or tuples in them become a dict, whose members are batches of their own.

    Raises:
        TypeError: Some are rows or tuples, and some are not.
        ValueError: They do not have the same names, or not the same number of members.
    """
    first = elements[0]
    if isinstance(first, _ROW):
        _refuse_others(elements, _ROW, "rows")
        names = list(first)
        for element in elements:
            if list(element) != names and set(element) != set(names):
                raise ValueError(f"a batch cannot hold rows with {names} and rows with {list(element)}")
        columns = {name: _named_column(name, elements) for name in names}
        if any(isinstance(column, (*_ROW, tuple)) for column in columns.values()):
            return columns
        return Batch(columns, len(elements))
    if isinstance(first, tuple):
        _refuse_others(elements, (tuple,), "tuples")
        for element in elements:
            if len(element) != len(first):
                raise ValueError(f"a batch cannot hold tuples of {len(first)} and of {len(element)} members")
        return tuple(_column(members) for members in zip(*elements, strict=True))
    return _column(elements)


def _refuse_others(elements: Sequence[Any], kinds: tuple[type, ...], words: str) -> None:
    for element in elements:
        if not isinstance(element, kinds):
            raise TypeError(f"a batch cannot hold {words} and values of type {type(element).__name__}")


def _named_column(name: Any, rows: Sequence[Any]) -> Any:
    try:
        return _column([row[name] for row in rows])
    except _KindsError as error:
        raise ValueError(f"column {name!r}: {error}") from None


class _KindsError(ValueError):
    """Values that no column can hold as they are."""


def _column(values: Sequence[Any]) -> Any:
    if isinstance(values[0], (Mapping, Batch, tuple)):
        return gather(values)
    if all(isinstance(value, bytes) for value in values):
        return strings_of(values)
    if all(isinstance(value, BytesColumn) for value in values):
        return _rows_of_strings(values)
    if all(isinstance(value, Sparse) and value.has_positions for value in values):
        return _stacked(values)
    if any(isinstance(value, Sparse) for value in values):  # batches of batches: rows of rows
        return _column([value.to_ragged() if isinstance(value, Sparse) else value for value in values])
    if any(isinstance(value, Ragged) for value in values):  # the others happen to have rows of one length
        return _rows(values, _column([row for value in values for row in value]))
    return _numbers(values)


def _numbers(values: Sequence[Any]) -> Any:
    if all(isinstance(value, (np.generic, int, float)) for value in values):
        return _unchanged(np.array(values), values)
    arrays = _arrays(values)
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return _unchanged(np.stack(arrays), arrays)
    if len({shape[1:] for shape in shapes}) == 1 and () not in shapes:
        return _rows(arrays, _unchanged(np.concatenate(arrays), arrays))
    column = np.empty(len(arrays), object)  # nothing better can hold arrays of any shape, and None
    for i, (value, array) in enumerate(zip(values, arrays, strict=True)):
        column[i] = None if value is None else array
    return column


def _arrays(values: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """The values as arrays. An empty list is one of whatever the others are."""
    arrays = [np.asarray(value) for value in values]
    filled = next((array.dtype for array in arrays if array.size), None)
    if filled is None:
        return arrays
    return [
        array if array.size or isinstance(value, np.ndarray) else array.astype(filled)
        for value, array in zip(values, arrays, strict=True)
    ]


def _unchanged(column: npt.NDArray[Any], values: Sequence[Any]) -> npt.NDArray[Any]:
    """The column, if all values are in it as they were given.

    Raises:
        _KindsError: Numbers became text, or whole numbers lost digits.
    """
    if len(types := set(map(type, values))) == 1 and np.ndarray not in types:
        return column
    if column.dtype == object:  # which holds anything
        return column
    dtypes = {np.asarray(value).dtype for value in values}
    if len({dtype.kind for dtype in dtypes}) <= 1 and column.dtype in dtypes:
        return column
    if any(_is_changed(np.asarray(value), column.dtype) for value in values):
        kinds = " and ".join(sorted({dtype.name.rstrip("0123456789") for dtype in dtypes}))
        raise _KindsError(f"a batch cannot hold values of {kinds} side by side")
    return column


def _is_changed(given: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether numbers become text, or whole numbers lose digits, as values of that dtype."""
    if (given.dtype.kind in "SU") != (dtype.kind in "SU"):
        return True
    if given.dtype.kind not in "iu" or dtype.kind != "f" or not given.size:
        return False
    exact = 1 << (np.finfo(dtype).nmant + 1)
    return int(given.max()) > exact or int(given.min()) < -exact


def _rows(values: Iterable[Any], flat: Any) -> Ragged:
    return Ragged(flat, _offsets(map(len, values)))


def _stacked(values: Sequence[Sparse]) -> Sparse:
    shapes = {value.dense_shape for value in values}
    if len(shapes) > 1:
        raise _KindsError(f"a batch cannot hold sparse values of the shapes {sorted(shapes)} side by side")
    numbers = np.repeat(np.arange(len(values)), [len(value.indices) for value in values])
    indices = np.concatenate([value.indices for value in values])
    parts = [value.values for value in values]
    strings = [part for part in parts if isinstance(part, BytesColumn)]
    flat = strings_of([string for part in strings for string in part]) if strings else np.concatenate(parts)
    return Sparse(np.column_stack([numbers, indices]), flat, (len(values), *shapes.pop()))


def _rows_of_strings(values: Sequence[BytesColumn]) -> Any:
    flat = strings_of([string for value in values for string in _flat(value)])
    shapes = {value.shape for value in values}
    if len(shapes) == 1:
        return BytesColumn(flat.data, flat.offsets, (len(values), *shapes.pop()))
    return _rows(values, flat)


def _flat(strings: BytesColumn) -> list[bytes]:
    return BytesColumn(strings.data, strings.offsets).to_list()


def _offsets(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def rows_of(batch: Any) -> list[Any]:
    """The elements that a batch is made of.

    Raises:
        TypeError: It is no batch.
        ValueError: Its columns differ in length.
    """
    if isinstance(batch, Batch):
        return list(batch.rows())
    if isinstance(batch, SequenceBatch):
        return list(batch.merged().rows())
    if isinstance(batch, Mapping):
        columns = {name: _members(name, column) for name, column in batch.items()}
        _refuse_lengths(columns)
        return [dict(zip(batch, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(batch, tuple):
        members = list(map(rows_of, batch))
        _refuse_lengths(dict(enumerate(members)))
        return list(zip(*members, strict=True))
    if isinstance(batch, (list, np.ndarray, BytesColumn, Ragged, Sparse)):
        return list(batch)
    raise TypeError(f"only batches can be taken apart, not {type(batch).__name__}")


def row_count(batch: Any) -> int | None:
    """The number of rows of a batch; None if it is none."""
    if isinstance(batch, (Batch, SequenceBatch)):
        return batch.num_rows
    if isinstance(batch, Mapping):
        return row_count(next(iter(batch.values()), []))
    if isinstance(batch, tuple) and batch:
        return row_count(batch[0])
    if isinstance(batch, np.ndarray) and not batch.ndim:
        return None
    return len(batch) if isinstance(batch, (list, np.ndarray, BytesColumn, Ragged, Sparse)) else None


def rows_at(batch: Any, rows: Sequence[int]) -> Any:
    """Some rows of a batch, in columns of the same kinds.

    Raises:
        TypeError: It is no batch.
    """
    if isinstance(batch, Batch):
        return Batch({name: rows_at(column, rows) for name, column in batch.items()}, len(rows))
    if isinstance(batch, SequenceBatch):
        lengths = {name: each[rows] for name, each in batch.lengths.items()}
        return SequenceBatch(rows_at(batch.context, rows), rows_at(batch.sequences, rows), lengths)
    if isinstance(batch, Mapping):
        return {name: rows_at(column, rows) for name, column in batch.items()}
    if isinstance(batch, tuple):
        return tuple(rows_at(member, rows) for member in batch)
    if isinstance(batch, list):
        return [batch[row] for row in rows]
    if isinstance(batch, Sparse) and not batch.has_positions:
        return Sparse.from_ragged(batch.to_ragged().take(rows))
    if isinstance(batch, (np.ndarray, BytesColumn, Ragged, Sparse)):
        return batch.take(rows, axis=0) if isinstance(batch, np.ndarray) else batch.take(rows)
    raise TypeError(f"only batches can be taken apart, not {type(batch).__name__}")


def copy_of(element: Any) -> Any:
    """The element with arrays of its own: who works in place changes nothing for those who come later."""
    if isinstance(element, (np.ndarray, Batch, SequenceBatch, BytesColumn, Ragged, Sparse)):
        return copy.deepcopy(element)
    if type(element) is dict:
        return {name: copy_of(member) for name, member in element.items()}
    if type(element) in (list, tuple):
        return type(element)(map(copy_of, element))
    return element


def _members(name: Any, column: Any) -> Any:
    """What a column gives to each row; of a batch among the columns, the rows of it."""
    if isinstance(column, (*_ROW, SequenceBatch, tuple)):
        return rows_of(column)
    if not hasattr(column, "__len__") or getattr(column, "ndim", 1) == 0:
        raise TypeError(f"only batches can be taken apart: {name!r} is one {type(column).__name__}")
    return column


def _refuse_lengths(columns: Mapping[Any, Any]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise ValueError(f"a batch cannot be taken apart whose columns differ in length: {told}")


def padded(batch: Any, pad: Pad) -> Any:
    """The batch with rows of any length filled up to the longest.

    Args:
        batch: Anything that `gather` or a parser gave.
        pad: What numbers are filled up with, and strings if it is `bytes` (they are with empty ones
            otherwise); or this by name, for some columns only.
    """
    if pad is None:
        return batch
    if isinstance(batch, SequenceBatch):
        return SequenceBatch(padded(batch.context, pad), padded(batch.sequences, pad), batch.lengths)
    if isinstance(batch, Batch):
        columns = {name: _padded_column(name, column, pad) for name, column in batch.items()}
        return Batch(columns, batch.num_rows)
    if isinstance(batch, tuple):
        return tuple(padded(member, pad) for member in batch)
    if isinstance(batch, dict):
        return {name: _padded_member(name, member, pad) for name, member in batch.items()}
    return dense(batch, pad) if _is_uneven(batch) else batch


def _is_uneven(column: Any) -> TypeGuard[npt.NDArray[Any] | Ragged | Sparse]:
    """Whether rows are of different lengths, or arrays of different shapes."""
    return isinstance(column, (Ragged, Sparse)) or (
        isinstance(column, np.ndarray)
        and column.dtype == object
        and bool(len(column))
        and all(isinstance(row, np.ndarray) and row.dtype.kind in "biuf" for row in column)
        and len({row.ndim for row in column}) == 1
    )


def _padded_member(name: str, member: Any, pad: Pad) -> Any:
    if isinstance(member, (*_ROW, tuple)):
        return padded(member, pad)
    return _padded_column(name, member, pad)


def _padded_column(name: str, column: Column, pad: Pad) -> Column:
    if not _is_uneven(column) or (isinstance(pad, Mapping) and name not in pad):
        return column
    try:
        return dense(column, pad[name] if isinstance(pad, Mapping) else pad)
    except (TypeError, ValueError) as error:
        raise type(error)(f"column {name!r} cannot be padded: {error}") from None


def dense(column: npt.NDArray[Any] | Ragged | Sparse, value: Any) -> npt.NDArray[Any] | BytesColumn:
    """Rows of any length, rows of such rows, and arrays of any shape, as one array."""
    if isinstance(column, np.ndarray):
        return _filled(list(column), value)
    if isinstance(column, Sparse):
        return column.to_dense(_fitting(value, column.values))
    if isinstance(column.values, Ragged):
        column = Ragged(dense(column.values, value), column.offsets)
    return column.to_dense(_fitting(value, column.values))


def _filled(arrays: list[npt.NDArray[Any]], value: Any) -> npt.NDArray[Any]:
    dtype = np.result_type(*arrays)
    shape = np.max([array.shape for array in arrays], axis=0)
    filled = np.full((len(arrays), *shape), padding(value, dtype), dtype)
    for row, array in zip(filled, arrays, strict=True):
        row[tuple(map(slice, array.shape))] = array
    return filled


def _fitting(value: Any, values: object) -> Any:
    """Numbers do not fill up strings, nor the other way round."""
    return value if isinstance(value, bytes) == isinstance(values, BytesColumn) else None
