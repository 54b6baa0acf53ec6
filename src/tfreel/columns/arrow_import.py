"""Arrow in, columns out: the arrays of any library with the Arrow C interface, without a copy where it goes.

Arrays are first read as they are, null by null, and those of a stream are joined. Only then it is known
whether a column has nulls, and so what it becomes: see `arrow_layouts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.arrow import NUMBERS, UNITS, Field, tensor_of
from tfreel.columns.arrow_layouts import (
    Fixed,
    Layout,
    Lists,
    Numbers,
    Strings,
    Valid,
    join,
    offsets_of,
    places_of,
    to_column,
)
from tfreel.columns.ragged import Flat, Ragged
from tfreel.columns.strings import I64, U8

_PICKLED = b"ray.data.arrow_pickled_object"  # the name of this type of Ray's


class Array(Protocol):
    """An array of another library, as the extension shows it."""

    @property
    def length(self) -> int: ...
    @property
    def null_count(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def buffer_count(self) -> int: ...
    @property
    def children(self) -> Sequence[Array]: ...
    @property
    def dictionary(self) -> Array | None: ...

    def buffer(self, index: int, nbytes: int) -> U8 | None:
        """The first bytes of a buffer."""


def import_columns(source: Any) -> tuple[dict[str, Flat | Ragged], int]:
    """The columns of an object with `__arrow_c_stream__` or `__arrow_c_array__`, and their number of rows.

    Raises:
        TypeError: It is no such object, or no table; or a column is of a type that has no column here.
        ValueError: Two columns have the same name, or whole rows are null.
    """
    field, arrays = open_arrow(source)
    return _columns(field, list(arrays))


def import_batches(source: Any) -> Iterator[tuple[dict[str, Flat | Ragged], int]]:
    """The same, batch by batch of a stream; of one without any, its columns without a row."""
    field, arrays = open_arrow(source)
    first = next(arrays, None)
    yield _columns(field, [] if first is None else [first])
    for array in arrays:
        yield _columns(field, [array])


def exports_arrow(source: object) -> bool:
    """Whether it is Arrow data to others."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def open_arrow(source: Any) -> tuple[Field, Iterator[Array]]:
    """The type of a table and its arrays, which come one by one, as their producer makes them.

    Raises:
        TypeError: It is no table.
        ValueError: Two columns have the same name.
    """
    field, arrays = _opened(source)
    if field.format != "+s":
        raise TypeError(f"a table with named columns is needed, not one column of {_type_name(field)}")
    for name, count in Counter(child.name for child in field.children).items():
        if count > 1:
            raise ValueError(f"two columns are named {name!r}")
    return field, arrays


def columns_of(field: Field, array: Array, wanted: Callable[[str], bool]) -> dict[str, Flat | Ragged]:
    """Some of the columns of one array of a table."""
    _refuse_null_rows(array)
    parts = zip(field.children, array.children, strict=True)
    return {child.name: _column(child, [array], [part]) for child, part in parts if wanted(child.name)}


def _columns(field: Field, arrays: Sequence[Array]) -> tuple[dict[str, Flat | Ragged], int]:
    for array in arrays:
        _refuse_null_rows(array)
    parts = [array.children for array in arrays]  # once: it is a new list each time, of thousands perhaps
    columns = {
        child.name: _column(child, arrays, [each[i] for each in parts])
        for i, child in enumerate(field.children)
    }
    return columns, sum(array.length for array in arrays)


def _refuse_objects(source: Any) -> None:
    """Fails for frames of Polars with Python objects, which it exports as the addresses of these."""
    schema = getattr(source, "schema", None)
    if type(source).__module__.partition(".")[0] == "polars" and isinstance(schema, Mapping):
        for name, kind in schema.items():
            if str(kind) == "Object":
                raise TypeError(f"column {name!r}: it holds Python objects, which have no form elsewhere")


def _opened(source: Any) -> tuple[Field, Iterator[Array]]:
    _refuse_objects(source)
    index = getattr(source, "index", None)
    if hasattr(source, "reset_index") and set(getattr(index, "names", ())) == {None}:
        source = source.reset_index(drop=True)  # of pandas: numbers that are left of rows that are gone
    if hasattr(source, "__arrow_c_stream__"):
        stream = _core.ArrowStream(source.__arrow_c_stream__())
        return _field(stream.field()), iter(stream.next, None)
    if hasattr(source, "__arrow_c_array__"):
        schema, array = source.__arrow_c_array__()
        return _field(_core.read_arrow_schema(schema)), iter([_core.read_arrow_array(array)])
    raise TypeError(f"{type(source).__name__} has neither __arrow_c_stream__ nor __arrow_c_array__")


def _field(raw: Any) -> Field:
    letters, name, flags, metadata, children, dictionary = raw
    inner = None if dictionary is None else _field(dictionary)
    return Field(letters, name, flags, metadata, [_field(child) for child in children], inner)


def _refuse_null_rows(array: Array) -> None:
    valid = _validity(array, 0, array.length)
    if valid is not None:
        raise ValueError(f"row {int(np.argmin(valid))} is null as a whole: only values in rows may be")


def _column(field: Field, tables: Sequence[Array], parts: Sequence[Array]) -> Flat | Ragged:
    """A column of tables, of each of which `parts` has its array."""
    try:
        pieces = [
            _read(field, part, table.offset, table.length) for table, part in zip(tables, parts, strict=True)
        ]
        return to_column(join(pieces or [_read(field, _NoArray(), 0, 0)]))
    except TypeError as error:
        raise TypeError(f"column {field.name!r} cannot come from Arrow: {error}") from None


class _NoArray:
    """An array without rows and without memory, where a stream has none at all."""

    length = null_count = offset = buffer_count = 0

    @property
    def children(self) -> Sequence[Array]:
        return [self]

    @property
    def dictionary(self) -> Array | None:
        return self

    def buffer(self, index: int, nbytes: int) -> U8 | None:  # noqa: ARG002
        return None


def _read(field: Field, array: Array, start: int, count: int) -> Layout:
    """Some rows of an array, counted from the row at which its own offset stands."""
    if field.dictionary is not None and array.dictionary is not None:
        return _read_dictionary(field, field.dictionary, array, start, count)
    reader = _READERS.get(field.format.partition(":")[0])
    if field.metadata is not None and _PICKLED in field.metadata:
        raise TypeError("it holds Python objects, pickled")
    if reader is None:
        raise TypeError(f"it is of the type {_type_name(field)}")
    return reader(field, array, start, count)


def _read_dictionary(field: Field, values: Field, array: Array, start: int, count: int) -> Layout:
    entries: Any = array.dictionary
    every = _read(values, entries, 0, entries.length)
    numbers = _items(array, 1, NUMBERS[field.format], start, count).astype(np.int64)
    valid = _validity(array, start, count)
    if valid is None:
        return every.take(numbers)
    taken = every.take(np.where(valid, numbers, 0))
    return taken.with_valid(valid if taken.valid is None else valid & taken.valid)


def _read_numbers(field: Field, array: Array, start: int, count: int) -> Layout:
    return Numbers(_items(array, 1, NUMBERS[field.format], start, count), _validity(array, start, count))


def _read_bools(_field: Field, array: Array, start: int, count: int) -> Layout:
    bits = _bits(array, 1, start, count)
    values = np.zeros(count, np.bool_) if bits is None else bits
    return Numbers(values, _validity(array, start, count))


def _read_nulls(_field: Field, _array: Array, _start: int, count: int) -> Layout:
    return Numbers(np.zeros(count, np.float32), np.zeros(count, np.bool_))


def _read_times(field: Field, array: Array, start: int, count: int) -> Layout:
    stored, meant = _TIMES[field.format.partition(":")[0]]
    ticks = _items(array, 1, stored, start, count).astype(np.int64, copy=False)
    return Numbers(ticks.view(meant), _validity(array, start, count))


def _read_strings(field: Field, array: Array, start: int, count: int) -> Layout:
    begin, offsets = _offsets(array, start, count, large=field.format in "ZU")
    data = array.buffer(2, begin + int(offsets[-1]))
    data = np.zeros(0, np.uint8) if data is None else data[begin:]
    return Strings(data, offsets, _validity(array, start, count))


def _read_fixed_strings(field: Field, array: Array, start: int, count: int) -> Layout:
    width = int(field.format[2:])
    first = (array.offset + start) * width
    data = array.buffer(1, first + count * width)
    data = np.zeros(count * width, np.uint8) if data is None else data[first:]
    return Strings(data, np.arange(count + 1, dtype=np.int64) * width, _validity(array, start, count))


def _read_string_views(_field: Field, array: Array, start: int, count: int) -> Layout:
    views = _items(array, 1, np.dtype((np.void, 16)), start, count).view(np.uint8)
    valid = _validity(array, start, count)
    if valid is not None:
        views = np.where(valid[:, None], views.reshape(count, 16), np.uint8(0)).ravel()
    # The last buffer says how long those between are.
    between = max(array.buffer_count - 3, 0)
    sizes = array.buffer(array.buffer_count - 1, 8 * between) if between else None
    buffers = []
    for i, size in enumerate([] if sizes is None else sizes.view(np.int64).tolist()):
        buffer = array.buffer(2 + i, size)
        buffers.append(np.zeros(0, np.uint8) if buffer is None else buffer)
    data, offsets = _core.join_string_views(views, buffers)
    return Strings(data, offsets, valid)


def _read_lists(field: Field, array: Array, start: int, count: int) -> Layout:
    begin, offsets = _offsets(array, start, count, large=field.format == "+L")
    child = _read(field.children[0], array.children[0], begin, int(offsets[-1]))
    return Lists(child, offsets, _validity(array, start, count))


def _read_list_views(field: Field, array: Array, start: int, count: int) -> Layout:
    dtype = np.dtype(np.int64 if field.format == "+vL" else np.int32)
    begins, lengths = (_items(array, i, dtype, start, count).astype(np.int64) for i in (1, 2))
    valid = _validity(array, start, count)
    if valid is not None:
        lengths[~valid] = 0
    offsets = offsets_of(lengths)
    (child,) = array.children
    values = _read(field.children[0], child, 0, child.length)
    return Lists(values.take(places_of(begins, lengths, offsets)), offsets, valid)


def _read_fixed_lists(field: Field, array: Array, start: int, count: int) -> Layout:
    size = int(field.format[3:])
    first = (array.offset + start) * size
    child = _read(field.children[0], array.children[0], first, count * size)
    return Fixed(child, count, size, tensor_of(field.metadata), _validity(array, start, count))


def _items(array: Array, i: int, dtype: np.dtype[Any], start: int, count: int) -> npt.NDArray[Any]:
    first = array.offset + start
    buffer = array.buffer(i, (first + count) * dtype.itemsize)
    if buffer is None:
        return np.zeros(count, dtype)
    items = buffer[first * dtype.itemsize :].view(dtype)
    return items if items.flags.aligned else items.copy()


def _bits(array: Array, i: int, start: int, count: int) -> Valid:
    first = array.offset + start
    buffer = array.buffer(i, (first + count + 7) // 8)
    if buffer is None:
        return None
    bits = np.unpackbits(buffer[first // 8 :], bitorder="little")
    return bits[first % 8 :][:count].view(np.bool_)


def _validity(array: Array, start: int, count: int) -> Valid:
    if array.null_count == 0 or array.buffer_count == 0:
        return None
    valid = _bits(array, 0, start, count)
    return None if valid is None or valid.all() else valid


def _offsets(array: Array, start: int, count: int, *, large: bool) -> tuple[int, I64]:
    """Where the first row begins, and where all begin from there."""
    dtype = np.dtype(np.int64 if large else np.int32)
    offsets = _items(array, 1, dtype, start, count + 1).astype(np.int64, copy=False)
    begin = int(offsets[0])
    return begin, offsets - begin if begin else offsets


def _type_name(field: Field) -> str:
    letters = field.format
    name = _NAMES.get(letters.partition(":")[0]) or _NAMES.get(letters[:2])
    return f"{name} ({letters})" if name else letters


_NAMES = {
    **{letter: dtype.name for letter, dtype in NUMBERS.items()},
    "b": "bool",
    "n": "nulls",
    "u": "string",
    "U": "large string",
    "vu": "string",
    "z": "binary",
    "Z": "large binary",
    "vz": "binary",
    "+l": "list",
    "+L": "large list",
    "+w": "fixed-size list",
    "td": "date",
    "tt": "time",
    "ts": "timestamp",
    "tD": "duration",
    "+s": "struct",
    "+m": "map",
    "+u": "union",
    "+r": "run-end encoded",
    "d:": "decimal",
    "ti": "interval",
}

# What is stored, and what it means. Times of the day count from midnight.
_TIMES: dict[str, tuple[np.dtype[Any], str]] = {
    "tdD": (np.dtype(np.int32), "M8[D]"),
    "tdm": (np.dtype(np.int64), "M8[ms]"),
    "tts": (np.dtype(np.int32), "m8[s]"),
    "ttm": (np.dtype(np.int32), "m8[ms]"),
    "ttu": (np.dtype(np.int64), "m8[us]"),
    "ttn": (np.dtype(np.int64), "m8[ns]"),
    **{f"ts{letter}": (np.dtype(np.int64), f"M8[{unit}]") for unit, letter in UNITS.items()},
    **{f"tD{letter}": (np.dtype(np.int64), f"m8[{unit}]") for unit, letter in UNITS.items()},
}

_Reader: TypeAlias = Callable[[Field, Array, int, int], Layout]

# By what stands before the colon of the format.
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(NUMBERS, _read_numbers),
    **dict.fromkeys(_TIMES, _read_times),
    "b": _read_bools,
    "n": _read_nulls,
    **dict.fromkeys(("z", "u", "Z", "U"), _read_strings),
    **dict.fromkeys(("vz", "vu"), _read_string_views),
    "w": _read_fixed_strings,
    **dict.fromkeys(("+l", "+L"), _read_lists),
    **dict.fromkeys(("+vl", "+vL"), _read_list_views),
    "+w": _read_fixed_lists,
}
