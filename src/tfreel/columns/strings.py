"""A column of bytes: one buffer, and where each value lies in it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard, overload

import numpy as np
import numpy.typing as npt

from tfreel import _core

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]


class BytesColumn:
    """Byte strings of any length, in an array of any shape, without an object for each.

    ``column[3]`` is `bytes` (or a smaller column, where the shape has more than one dimension); `to_list`,
    `to_numpy`, `to_fixed` and `to_array` give all of them in other forms.

    Attributes:
        data: The bytes of all values, one behind the other.
        offsets: Where each value begins in `data`, and at last where the last one ends.
        shape: The first dimension counts the rows.

    Example:
        >>> records = [tfreel.encode({"name": name}) for name in ("cat", "horse")]
        >>> names = tfreel.parse(records, {"name": tfreel.FixedLenFeature([], "bytes")})["name"]
        >>> names[1], names.to_list(), names.lengths
        (b'horse', [b'cat', b'horse'], array([3, 5]))
    """

    __slots__ = ("data", "offsets", "shape")

    def __init__(self, data: U8, offsets: I64, shape: tuple[int, ...] | None = None) -> None:
        self.data = data
        self.offsets = offsets
        self.shape = (len(offsets) - 1,) if shape is None else shape
        if math.prod(self.shape) != len(offsets) - 1:
            raise ValueError(f"{len(offsets) - 1} values do not fill the shape {self.shape}")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.data.nbytes + self.offsets.nbytes

    @property
    def lengths(self) -> I64:
        """The length of each value."""
        return np.diff(self.offsets).reshape(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> bytes | BytesColumn: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> BytesColumn: ...

    def __getitem__(
        self, key: int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any]
    ) -> bytes | BytesColumn:
        step = math.prod(self.shape[1:])
        if isinstance(key, slice):
            start, stop, stride = key.indices(len(self))
            if stride != 1:
                return self.take(np.arange(start, stop, stride))
            stop = max(start, stop)
            return BytesColumn(
                self.data, self.offsets[start * step : stop * step + 1], (stop - start, *self.shape[1:])
            )
        if names_rows(key):
            return self.take(key)
        i = row_number(key, len(self))
        if self.ndim == 1:
            return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()
        return BytesColumn(self.data, self.offsets[i * step : (i + 1) * step + 1], self.shape[1:])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list()) if self.ndim == 1 else (self[i] for i in range(len(self)))

    def take(self, rows: npt.ArrayLike) -> BytesColumn:
        """The rows of these numbers, in this order, negative ones from the end; or those of a mask."""
        rows = row_numbers(rows, len(self))
        step = math.prod(self.shape[1:])
        picks = (rows[:, None] * step + np.arange(step)).ravel()
        data, offsets = _core.take_bytes(self.data, self.offsets, picks)
        return BytesColumn(data, offsets, (len(rows), *self.shape[1:]))

    def to_list(self) -> list[Any]:
        """The values as `bytes`, in lists nested as the shape is."""
        flat: list[Any] = _core.split_bytes(self.data, self.offsets)
        for size in self.shape[:0:-1]:
            flat = [flat[i : i + size] for i in range(0, len(flat), size)] if size else []
        return flat if self.size or self.ndim == 1 else np.empty(self.shape, object).tolist()

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """The values as an array of `bytes` objects."""
        array = np.empty(self.size, object)
        array[:] = _core.split_bytes(self.data, self.offsets)
        return array.reshape(self.shape)

    def to_fixed(self) -> npt.NDArray[np.bytes_]:
        """The values as an array of fixed-width strings. NumPy drops zero bytes at their ends."""
        return self.to_numpy().astype(np.bytes_)

    def to_array(
        self, dtype: npt.DTypeLike = np.uint8, shape: tuple[int, ...] | None = None
    ) -> npt.NDArray[Any]:
        """The values as numbers, all of one length: raw pixels, for example. Without a copy.

        Args:
            dtype: Of the numbers, little-endian.
            shape: Of the numbers in one value; one dimension if not given.

        Raises:
            ValueError: The values are not all of one length, or not of that shape.
        """
        lengths = np.diff(self.offsets)
        width = int(lengths[0]) if len(lengths) else 0
        if (lengths != width).any():
            other = int(np.argmax(lengths != width))
            raise ValueError(f"value 0 has {width} bytes, but value {other} has {int(lengths[other])}")
        item = np.dtype(dtype).newbyteorder("<")
        if width % item.itemsize:
            raise ValueError(f"{width} bytes are not a whole number of {item.name}")
        inner = (width // item.itemsize,) if shape is None else tuple(shape)
        if len(lengths) and math.prod(inner) * item.itemsize != width:
            raise ValueError(f"{width} bytes do not fill the shape {inner} of {item.name}")
        begin, end = int(self.offsets[0]), int(self.offsets[-1])
        return self.data[begin:end].view(item).reshape(*self.shape, *inner)

    def decode(self, encoding: str = "utf-8") -> list[Any]:
        """The values as text, in lists nested as the shape is."""
        return _decoded(self.to_list(), encoding)

    def __array__(self, dtype: Any = None, copy: object = None) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        begin, end = int(self.offsets[0]), int(self.offsets[-1])  # a slice must not take along all the rest
        return BytesColumn, (self.data[begin:end], self.offsets - begin, self.shape)

    def __repr__(self) -> str:
        return f"<tfreel.BytesColumn of shape {self.shape}, {self.data.nbytes:,} bytes>"


def strings_of(values: Sequence[bytes], shape: tuple[int, ...] | None = None) -> BytesColumn:
    """A column of these values."""
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return BytesColumn(np.frombuffer(b"".join(values), np.uint8), offsets, shape)


def names_rows(key: Any) -> TypeGuard[npt.ArrayLike]:
    """Whether an index means several rows: a list or an array, of numbers or as a mask."""
    return isinstance(key, list) or getattr(key, "ndim", 0) > 0


def row_number(key: Any, count: int) -> int:
    """The number of a row among `count`, counted from the start.

    Raises:
        TypeError: It is no whole number.
        IndexError: There is no such row.
    """
    if isinstance(key, tuple):
        raise TypeError("a column is indexed by its rows alone: column[row][value], not column[row, value]")
    number = operator.index(key)
    if not -count <= number < count:
        raise IndexError(f"index {number} out of range for {count} rows")
    return number % count


def row_numbers(rows: npt.ArrayLike, count: int) -> I64:
    """The numbers of rows among `count`, none of them negative.

    Raises:
        TypeError: They are no whole numbers, and no mask.
        IndexError: There is no such row, or the mask is for another number of them.
    """
    given = np.asarray(rows)
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise IndexError(f"a mask of shape {given.shape} for {count} rows")
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise TypeError("rows are picked by a flat list of whole numbers, or a mask")
    numbers = given.astype(np.int64)
    outside = (numbers < -count) | (numbers >= count)
    if outside.any():
        raise IndexError(f"index {int(numbers[int(np.argmax(outside))])} out of range for {count} rows")
    return np.where(numbers < 0, numbers + count, numbers)


def _decoded(values: list[Any], encoding: str) -> list[Any]:
    return [_decoded(v, encoding) if isinstance(v, list) else v.decode(encoding) for v in values]
