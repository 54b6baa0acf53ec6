"""Columns in, Arrow out: the type of each, and its buffers.

The values of numbers and bytes are handed over as they lie in memory. Copied are only bools, which Arrow
packs into bits; offsets, which are 32 bits wide unless that is too narrow; and arrays that are not
contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.arrow import NULLABLE, NUMBERS, UNITS, Data, Field, tensor_metadata
from tfreel.columns.objects import Rows, holds_rows, is_nothing, is_text, uniform
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse, as_rows
from tfreel.columns.strings import I64, BytesColumn

# Many consumers know no wider offsets, so that these are used only beyond.
LAST_SMALL_OFFSET = 2**31 - 1
_WIDEST = 8  # bytes of a number

# By kind and size: NumPy has several integers of 64 bits.
_FORMATS = {(dtype.kind, dtype.itemsize): letter for letter, dtype in NUMBERS.items()}


def export_field(columns: Mapping[str, Rows | Sparse], like: Field | None = None) -> Field:
    """The type of a batch: a struct of its columns.

    Args:
        columns: By name.
        like: The type of other batches: that of columns in which there is nothing but None.

    Raises:
        TypeError: A column is of a dtype that Arrow does not know.
    """
    known = {} if like is None else {child.name: child for child in like.children}
    fields = []
    for name, column in columns.items():
        try:
            rows = as_rows(column)
            if name in known and is_nothing(rows):
                fields.append(known[name])
                continue
            fields.append(_field(name, _filled(rows)[0], text=is_text(rows)))
        except TypeError as error:
            raise TypeError(f"column {name!r} cannot go to Arrow: {error}") from None
    return Field("+s", "", 0, None, fields)


def export_data(columns: Mapping[str, Rows | Sparse], field: Field, num_rows: int) -> Data:
    """The rows of a batch, of the type that `export_field` gave."""
    children = []
    for column, child in zip(columns.values(), field.children, strict=True):
        if is_nothing(as_rows(column)):
            children.append(_nulls(child, num_rows))
            continue
        rows, present = _filled(as_rows(column))
        data = _data(rows, child)
        if present is not None:
            nulls, validity = _validity(present)
            data = data._replace(null_count=nulls, buffers=(validity, *data.buffers[1:]))
        children.append(data)
    return Data(num_rows, 0, (None,), children)


def _filled(rows: Rows) -> tuple[Rows, npt.NDArray[np.bool_] | None]:
    """The rows with values of one kind; and which of them have one, where an array of objects has None."""
    plain = uniform(rows)
    if not isinstance(plain, Ragged) or isinstance(rows, Ragged) or holds_rows(rows):
        return plain, None
    values, present = plain.flat_values, plain.present
    if isinstance(values, BytesColumn):  # a row without a value ends where it begins
        return BytesColumn(values.data, values.offsets[plain.offsets]), present
    filled = np.zeros(len(plain), values.dtype)
    filled[present] = values
    return filled, present


def _field(name: str, column: Rows, *, text: bool) -> Field:
    if isinstance(column, Ragged):
        item = _field("item", column.values, text=text)
        return _of_children("+L" if _is_large(column.offsets) else "+l", name, item)
    if isinstance(column, BytesColumn):
        letter = "u" if text else "z"
        field = Field(letter.upper() if _is_large(column.offsets) else letter, "item", NULLABLE, None, [])
        for size in reversed(column.shape[1:]):
            field = _of_children(f"+w:{size}", "item", field)
        return field._replace(name=name)
    numbers = Field(_number_format(column.dtype), name, NULLABLE, None, [])
    if column.ndim == 1:
        return numbers
    inner = column.shape[1:]
    return _of_children(f"+w:{math.prod(inner)}", name, numbers._replace(name="item"), tensor_metadata(inner))


def _of_children(letters: str, name: str, child: Field, metadata: bytes | None = None) -> Field:
    return Field(letters, name, NULLABLE, metadata, [child])


def _is_large(offsets: I64) -> bool:
    return int(offsets[-1]) - int(offsets[0]) > LAST_SMALL_OFFSET


def _number_format(dtype: np.dtype[Any]) -> str:
    if dtype == np.bool_:
        return "b"
    if dtype.kind in "mM":
        unit, step = np.datetime_data(dtype)
        if step == 1 and unit in UNITS:
            return f"ts{UNITS[unit]}:" if dtype.kind == "M" else f"tD{UNITS[unit]}"
        if step == 1 and unit == "D" and dtype.kind == "M":
            return "tdD"
        raise TypeError(f"Arrow has no {dtype}; take seconds, or ms, us, ns of them")
    letter = _FORMATS.get((dtype.kind, dtype.itemsize))
    if letter is None:
        raise TypeError(f"Arrow has no type for NumPy's {dtype}")
    return letter


def _data(column: Rows, field: Field) -> Data:
    if isinstance(column, Ragged):
        begin, end = int(column.offsets[0]), int(column.offsets[-1])
        values = _data(column.values[begin:end], field.children[0])
        nulls, validity = _validity(column.present)
        offsets = _offsets(column.offsets, large=field.format == "+L")
        return Data(len(column), nulls, (validity, offsets), [values])
    if isinstance(column, BytesColumn):
        return _nested(_strings(column, field), column.shape)
    flat = _native(column).reshape(-1)
    return _nested(_numbers(flat), (len(column), math.prod(column.shape[1:]))[: column.ndim])


def _nulls(field: Field, count: int) -> Data:
    """So many rows of nothing, of any type that columns have."""
    validity = np.zeros(-(-count // 8), np.uint8)
    letters = field.format
    if letters.startswith("+w:"):
        (child,) = field.children
        return Data(count, count, (validity,), [_nulls(child, count * int(letters[3:]))])
    if letters in ("+l", "+L", "u", "z", "U", "Z"):
        offsets = np.zeros(count + 1, np.int64 if letters in ("+L", "U", "Z") else np.int32)
        if field.children:
            return Data(count, count, (validity, offsets), [_nulls(field.children[0], 0)])
        return Data(count, count, (validity, offsets, np.zeros(0, np.uint8)), [])
    return Data(count, count, (validity, np.zeros(count * _WIDEST, np.uint8)), [])


def _nested(data: Data, shape: tuple[int, ...]) -> Data:
    """Flat values in the fixed-size lists around them."""
    for ndim in range(len(shape) - 1, 0, -1):
        data = Data(math.prod(shape[:ndim]), 0, (None,), [data])
    return data


def _strings(column: BytesColumn, field: Field) -> Data:
    while field.children:
        (field,) = field.children
    data = column.data[int(column.offsets[0]) : int(column.offsets[-1])]
    offsets = _offsets(column.offsets, large=field.format in "ZU")
    return Data(column.size, 0, (None, offsets, np.ascontiguousarray(data)), [])


def _offsets(offsets: I64, *, large: bool) -> npt.NDArray[Any]:
    narrow: npt.NDArray[Any] = (offsets - offsets[0]).astype(np.int64 if large else np.int32, copy=False)
    return narrow


def _validity(present: npt.NDArray[np.bool_] | None) -> tuple[int, npt.NDArray[np.uint8] | None]:
    """The number of nulls, and a bit for each row that is none."""
    if present is None or present.all():
        return 0, None
    return int(len(present) - np.count_nonzero(present)), np.packbits(present, bitorder="little")


def _native(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as Arrow needs it; the same one, most often."""
    return np.require(array, array.dtype.newbyteorder("="), ["C_CONTIGUOUS", "ALIGNED"])


def _numbers(values: npt.NDArray[Any]) -> Data:
    if values.dtype == np.bool_:
        return Data(len(values), 0, (None, np.packbits(values, bitorder="little")), [])
    if values.dtype.kind not in "mM":
        return Data(len(values), 0, (None, values), [])
    # "Not a time" is a number like any other to those who read the buffer: nulls are what they have for it.
    nulls, validity = _validity(~np.isnat(values))
    ticks = values.view(np.int64)
    if np.datetime_data(values.dtype)[0] == "D":
        ticks = _days(values)
    return Data(len(values), nulls, (validity, ticks), [])


def _days(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    days = np.where(np.isnat(values), 0, values.view(np.int64))
    if len(days) and max(int(days.max()), -1 - int(days.min())) > LAST_SMALL_OFFSET:
        raise ValueError("a date lies outside of the 32 bits that Arrow has for days")
    return days.astype(np.int32)
