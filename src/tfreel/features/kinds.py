"""The kinds of features, with the names and the argument order that TensorFlow gives them.

All of them are values: frozen, equal when they say the same, checked when they are made.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

DType: TypeAlias = Literal["int64", "float32", "bytes"]
DTYPES: tuple[DType, ...] = ("int64", "float32", "bytes")

_NAMES: dict[object, DType] = {
    "int64": "int64",
    "float32": "float32",
    "bytes": "bytes",
    "string": "bytes",
    "str": "bytes",
    int: "int64",
    float: "float32",
    bytes: "bytes",
    str: "bytes",
}


def dtype_named(dtype: Any) -> DType:
    """One of the three dtypes an example can hold, however it is named.

    Raises:
        ValueError: It is none of them.
    """
    if isinstance(dtype, (str, type)) and dtype in _NAMES:
        return _NAMES[dtype]
    dtype = getattr(dtype, "as_numpy_dtype", dtype)  # TensorFlow's
    try:
        known = np.dtype(dtype)
    except TypeError:
        known = np.dtype(np.void)
    if known.kind in "SUO":
        return "bytes"
    for name in DTYPES[:2]:
        if known == np.dtype(name):
            return name
    raise ValueError(
        f"dtype must be int64, float32 or bytes, the three that an Example holds, not {dtype!r};"
        " convert the column after parsing"
    )


def _checked_shape(shape: Any, *, least: int) -> tuple[int, ...]:
    if shape is None:
        raise ValueError("shape must be known: use VarLenFeature or RaggedFeature for lists of any length")
    sizes = shape if isinstance(shape, Iterable) else (shape,)
    try:
        checked = tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise ValueError(
            f"shape must be made of whole numbers, not {shape!r}; VarLenFeature and RaggedFeature take lists"
            " of any length"
        ) from None
    if any(size < least for size in checked):
        raise ValueError(f"the dimensions of a shape must be at least {least}: {list(checked)}")
    if math.prod(checked) >= 1 << 31:
        raise ValueError(f"no example can hold a shape of {math.prod(checked):,} values: {list(checked)}")
    return checked


def _checked_default(value: Any, dtype: DType, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The default as a flat tuple of Python values of the dtype."""
    size = math.prod(shape)
    if dtype == "bytes":
        # NumPy would take a bytearray or memoryview apart.
        single = isinstance(value, (bytearray, memoryview))
        items = [value] if single else np.array(value, object).ravel()
        flat = [_to_bytes(item) for item in items]
    else:
        array = np.asarray(value)
        _refuse_lossy(array, dtype)
        with np.errstate(over="ignore"):  # too large for a float32 is infinite, as in a FloatList
            flat = array.astype(dtype).ravel().tolist()
    if len(flat) != size:
        raise ValueError(f"default_value has {len(flat)} values, and the shape {list(shape)} needs {size}")
    return tuple(flat)


def _refuse_lossy(array: npt.NDArray[Any], dtype: DType) -> None:
    if array.dtype.kind not in ("iub" if dtype == "int64" else "iubf") and array.size:
        raise TypeError(f"default_value must be of dtype {dtype}, not {array.dtype}")
    if dtype == "int64" and array.dtype == np.uint64 and (array > np.uint64(np.iinfo(np.int64).max)).any():
        raise ValueError("default_value does not fit into an int64")


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"default_value must be bytes or str, not {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class FixedLenFeature:
    """A feature with the same number of values in every example: a dense column.

    Args:
        shape: Of the values; ``[]`` for one.
        dtype: ``"int64"``, ``"float32"`` or ``"bytes"``, also as a NumPy or Python type.
        default_value: What stands for the feature where an example lacks it. Without one it is required.

    Example:
        >>> tfreel.FixedLenFeature([2, 2], "float32")
        FixedLenFeature(shape=(2, 2), dtype='float32', default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None

    def __post_init__(self) -> None:
        shape = _checked_shape(self.shape, least=0)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype_named(self.dtype))
        if self.default_value is not None:
            default = _checked_default(self.default_value, self.dtype, shape)
            # As in TensorFlow, a default without values is none.
            object.__setattr__(self, "default_value", _as_shape(default, shape) if default else None)


def _as_shape(flat: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The flat values as nested tuples; a single value for the shape ()."""
    if not shape:
        return flat[0]
    step = len(flat) // shape[0] if shape[0] else 0
    return tuple(_as_shape(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))


@dataclass(frozen=True, slots=True)
class VarLenFeature:
    """A feature with any number of values: a `Sparse` column.

    Args:
        dtype: As in `FixedLenFeature`.
    """

    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_named(self.dtype))


@dataclass(frozen=True, slots=True)
class FixedLenSequenceFeature:
    """A feature with any number of items of one shape: a dense column, padded to the longest row.

    Args:
        shape: Of one item.
        dtype: As in `FixedLenFeature`.
        allow_missing: Let examples lack it: no items. In plain Examples it must be True, as in TensorFlow.
        default_value: One value, to pad with; zero or empty if not given.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _checked_shape(self.shape, least=1))
        object.__setattr__(self, "dtype", dtype_named(self.dtype))
        if self.default_value is not None:
            (default,) = _checked_default(self.default_value, self.dtype, ())
            object.__setattr__(self, "default_value", default)


@dataclass(frozen=True, slots=True)
class SparseFeature:
    """Two features, one with positions and one with values: a `Sparse` column of a known size.

    Args:
        index_key: The feature with the positions; a list of them for more dimensions.
        value_key: The feature with the values.
        dtype: Of the values, as in `FixedLenFeature`.
        size: Of the dimension that the positions count; a list for a list of them.
        already_sorted: The positions are in order in every example.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False

    def __post_init__(self) -> None:
        keys = self.index_key
        if isinstance(keys, str):
            if isinstance(self.size, Iterable):
                raise TypeError("size must be one number for one index_key; give both as lists, or neither")
            size: Any = operator.index(self.size)
        else:
            keys = tuple(keys)
            if not isinstance(self.size, Iterable):
                raise TypeError("size must be a list, with a number for each index_key")
            size = tuple(map(operator.index, self.size))
            if len(size) != len(keys) or not keys:
                raise ValueError(f"{len(keys)} index keys, but {len(size)} sizes")
        object.__setattr__(self, "index_key", keys)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "dtype", dtype_named(self.dtype))

    @property
    def index_keys(self) -> tuple[str, ...]:
        """The index keys, also if there is one."""
        return (self.index_key,) if isinstance(self.index_key, str) else self.index_key

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes, also if there is one."""
        return (self.size,) if isinstance(self.size, int) else self.size


@dataclass(frozen=True, slots=True)
class _KeyPartition:
    key: str


class _RowSplits(_KeyPartition):
    """Where each row begins, and at last where the last one ends."""

    __slots__ = ()


class _RowLengths(_KeyPartition):
    """How long each row is."""

    __slots__ = ()


class _RowStarts(_KeyPartition):
    """Where each row begins."""

    __slots__ = ()


class _RowLimits(_KeyPartition):
    """Where each row ends."""

    __slots__ = ()


class _ValueRowIds(_KeyPartition):
    """The row of each value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _UniformRowLength:
    length: int

    def __post_init__(self) -> None:
        if operator.index(self.length) < 1:
            raise ValueError(f"a row length must be at least 1, not {self.length}")


Partition: TypeAlias = _KeyPartition | _UniformRowLength


@dataclass(frozen=True, slots=True)
class RaggedFeature:
    """A feature with any number of values, perhaps nested: a `Ragged` column.

    Args:
        dtype: As in `FixedLenFeature`.
        value_key: The feature with the values; the key it is asked for by, if not given.
        partitions: How the values of an example are cut into rows, the outermost first: `RowSplits`,
            `RowLengths`, `RowStarts`, `RowLimits` or `ValueRowIds` of a feature, or `UniformRowLength`.
        row_splits_dtype: ``"int32"`` or ``"int64"``.
        validate: Accepted for TensorFlow's sake: partitions are always checked here.

    Example:
        >>> tfreel.RaggedFeature("int64", partitions=[tfreel.RaggedFeature.RowLengths("lengths")]).dtype
        'int64'
    """

    RowSplits = _RowSplits
    RowLengths = _RowLengths
    RowStarts = _RowStarts
    RowLimits = _RowLimits
    ValueRowIds = _ValueRowIds
    UniformRowLength = _UniformRowLength

    dtype: Any
    value_key: str | None = None
    partitions: Any = ()
    row_splits_dtype: Any = "int32"
    validate: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_named(self.dtype))
        if not isinstance(self.partitions, Iterable):
            raise TypeError(f"partitions must be a list of them, not {self.partitions!r}")
        partitions = tuple(self.partitions)
        for partition in partitions:
            if not isinstance(partition, (_KeyPartition, _UniformRowLength)):
                raise TypeError(f"a partition must be one of RaggedFeature's, not {partition!r}")
        object.__setattr__(self, "partitions", partitions)
        splits = np.dtype(getattr(self.row_splits_dtype, "as_numpy_dtype", self.row_splits_dtype)).name
        if splits not in ("int32", "int64"):
            raise ValueError(f'row_splits_dtype must be "int32" or "int64", not {self.row_splits_dtype!r}')
        object.__setattr__(self, "row_splits_dtype", splits)


Feature: TypeAlias = FixedLenFeature | VarLenFeature | FixedLenSequenceFeature | SparseFeature | RaggedFeature
