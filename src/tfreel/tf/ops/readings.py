"""From what TensorFlow's features say to what the parser is asked for, and from its columns to tensors.

There is a reading for each feature: it knows the native feature, and what becomes of the column that is
found: a value for a batch, a column of values for single examples, and the specs of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.features import kinds
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.ragged_rows import (
    NestedRows,
    RaggedRows,
    SparseRows,
    VarLenListRows,
    VarLenRows,
    plain,
    ragged_value,
    sparse_value,
)
from tfreel.tf.graphs.rows import Column, Dense, Strings
from tfreel.tf.ops import features as asked
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import DType, as_dtype, float32, int64, string
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec


class Reading(Protocol):
    """What is read for one feature, and what is made of it."""

    @property
    def native(self) -> kinds.Feature:
        """What the parser is asked for."""

    def batch(self, column: Any) -> Any:
        """The value for a batch of examples."""

    def rows(self, column: Any) -> Column:
        """The values for single examples."""

    def batch_spec(self, count: int | None) -> Any:
        """The spec of the value for a batch."""

    def single_spec(self) -> Any:
        """The spec of the value for a single example."""


class FixedReading:
    """A tensor of one shape."""

    def __init__(self, name: str, feature: asked.FixedLenFeature) -> None:
        self.dtype = known_dtype(name, feature)
        self.shape = known_shape(name, feature)
        default = default_of(self.dtype, math.prod(self.shape), feature)
        if default is not None:
            default = default.reshape(self.shape)
        self.native = kinds.FixedLenFeature(self.shape, self.dtype, default)

    def batch(self, column: Any) -> Any:
        return plain(column)

    def rows(self, column: Any) -> Column:
        if isinstance(column, BytesColumn) and column.ndim == 1:
            return Strings(column)
        return Dense(plain(column))

    def batch_spec(self, count: int | None) -> Any:
        return TensorSpec([count, *self.shape], self.dtype)

    def single_spec(self) -> Any:
        return TensorSpec(self.shape, self.dtype)


class SequenceReading:
    """Any number of items of one shape, padded in a batch."""

    def __init__(self, name: str, feature: asked.FixedLenSequenceFeature) -> None:
        if not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        self.name = name
        self.dtype = known_dtype(name, feature)
        self.shape = known_shape(name, feature, least=1)
        self.default = default_of(self.dtype, 1, feature)
        self.native = kinds.RaggedFeature(self.dtype, row_splits_dtype="int64")

    def _items(self, column: Ragged) -> Ragged:
        stride = math.prod(self.shape)
        uneven = np.flatnonzero(column.lengths % stride)
        if len(uneven):
            raise InvalidArgumentError(
                f"Error while parsing feature with key {self.name}: number of elements should be divisible by"
                f" {stride}, found {int(column.lengths[uneven[0]])} instead"
            )
        values = column.flat_values
        if isinstance(values, BytesColumn):
            values = BytesColumn(values.data, values.offsets, (len(values) // stride, *self.shape))
        else:
            values = values.reshape(-1, *self.shape)
        return Ragged(values, column.offsets // stride)

    def batch(self, column: Any) -> Any:
        return plain(self._items(column).to_dense(None if self.default is None else self.default.item()))

    def rows(self, column: Any) -> Column:
        return RaggedRows(self._items(column))

    def batch_spec(self, count: int | None) -> Any:
        return TensorSpec([count, None, *self.shape], self.dtype)

    def single_spec(self) -> Any:
        return TensorSpec([None, *self.shape], self.dtype)


class VarLenReading:
    """A sparse vector."""

    def __init__(self, name: str, feature: asked.VarLenFeature) -> None:
        self.dtype = known_dtype(name, feature)
        self.native = kinds.RaggedFeature(self.dtype, row_splits_dtype="int64")

    def batch(self, column: Any) -> Any:
        return VarLenRows(column).joined()

    def rows(self, column: Any) -> Column:
        return VarLenRows(column)

    def batch_spec(self, count: int | None) -> Any:
        return SparseTensorSpec([count, None], self.dtype)

    def single_spec(self) -> Any:
        return SparseTensorSpec([None], self.dtype)


class SparseReading:
    """A sparse tensor of a known shape."""

    def __init__(self, name: str, feature: asked.SparseFeature) -> None:
        self.dtype = known_dtype(name, feature)
        self.native = kinds.SparseFeature(
            feature.index_key, feature.value_key, self.dtype, feature.size, feature.already_sorted
        )

    def batch(self, column: Any) -> Any:
        return sparse_value(column)

    def rows(self, column: Any) -> Column:
        return SparseRows.of(sparse_value(column))

    def batch_spec(self, count: int | None) -> Any:
        return SparseTensorSpec([count, *self.native.sizes], self.dtype)

    def single_spec(self) -> Any:
        return SparseTensorSpec(self.native.sizes, self.dtype)


class RaggedReading:
    """A ragged tensor for a batch; of a single example, the tensor that is its row."""

    def __init__(self, _name: str, feature: asked.RaggedFeature) -> None:
        self.dtype = as_dtype(feature.dtype)
        self.splits = as_dtype(feature.row_splits_dtype)
        self.native = kinds.RaggedFeature(
            self.dtype, feature.value_key, feature.partitions, self.splits, feature.validate
        )
        # What is cut evenly at the bottom is a plain dimension, not a ragged one.
        self.sizes = [getattr(each, "length", None) for each in feature.partitions]
        self.depth = len(self.sizes)
        while self.depth and self.sizes[self.depth - 1] is not None:
            self.depth -= 1

    def batch(self, column: Any) -> Any:
        return ragged_value(column)

    def rows(self, column: Any) -> Column:
        return NestedRows(column) if isinstance(column.values, Ragged) else RaggedRows(column)

    def batch_spec(self, count: int | None) -> Any:
        return RaggedTensorSpec([count, None, *self.sizes], self.dtype, self.depth + 1, self.splits)

    def single_spec(self) -> Any:
        shape = [None, *self.sizes]
        if not self.depth:
            return TensorSpec(shape, self.dtype)
        return RaggedTensorSpec(shape, self.dtype, self.depth, self.splits)


class Steps(NamedTuple):
    """What is found of a list of items: padded, and how many there are in each record."""

    column: Any
    lengths: Any


class StepReading:
    """A feature list of items of one shape, padded in a batch."""

    def __init__(self, name: str, feature: asked.FixedLenSequenceFeature) -> None:
        if feature.default_value is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{name}] must be None")
        self.dtype = known_dtype(name, feature)
        self.shape = known_shape(name, feature, least=1)
        self.native = kinds.FixedLenSequenceFeature(self.shape, self.dtype, bool(feature.allow_missing))

    def batch(self, found: Any) -> Any:
        return plain(found.column)

    def rows(self, found: Any) -> Column:
        padded = plain(found.column)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(found.lengths)])
        inside = np.arange(padded.shape[1]) < found.lengths[:, np.newaxis]
        return RaggedRows(Ragged(padded[inside], offsets))

    def batch_spec(self, count: int | None) -> Any:
        return TensorSpec([count, None, *self.shape], self.dtype)

    def single_spec(self) -> Any:
        return TensorSpec([None, *self.shape], self.dtype)


class VarLenListReading(VarLenReading):
    """A feature list of any number of values in each step: a sparse tensor with a dimension more."""

    def batch(self, column: Any) -> Any:
        return VarLenListRows(column).joined()

    def rows(self, column: Any) -> Column:
        return VarLenListRows(column)

    def batch_spec(self, count: int | None) -> Any:
        return SparseTensorSpec([count, None, None], self.dtype)

    def single_spec(self) -> Any:
        return SparseTensorSpec([None, None], self.dtype)


class RaggedListReading(RaggedReading):
    """A feature list of rows."""

    def batch_spec(self, count: int | None) -> Any:
        return RaggedTensorSpec([count, None, None, *self.sizes], self.dtype, self.depth + 2, self.splits)

    def single_spec(self) -> Any:
        return RaggedTensorSpec([None, None, *self.sizes], self.dtype, self.depth + 1, self.splits)


Readings: TypeAlias = dict[type, Callable[[str, Any], Reading]]

_OF_EXAMPLES: Readings = {
    asked.FixedLenFeature: FixedReading,
    asked.FixedLenSequenceFeature: SequenceReading,
    asked.VarLenFeature: VarLenReading,
    asked.SparseFeature: SparseReading,
    asked.RaggedFeature: RaggedReading,
}
_OF_CONTEXTS: Readings = {
    asked.FixedLenFeature: FixedReading,
    asked.VarLenFeature: VarLenReading,
    asked.RaggedFeature: RaggedReading,
}
_OF_LISTS: Readings = {
    asked.FixedLenSequenceFeature: StepReading,
    asked.VarLenFeature: VarLenListReading,
    asked.RaggedFeature: RaggedListReading,
}


def reading_of(name: str, feature: Any, readings: Readings = _OF_EXAMPLES) -> Reading:
    """The reading for a feature of Examples.

    Raises:
        ValueError: It is none, or does not say what is needed.
        InvalidArgumentError: It asks for what no Example can hold.
    """
    make = readings.get(type(feature))
    if make is None:
        raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key {name!r}")
    return make(name, feature)


def context_reading(name: str, feature: Any) -> Reading:
    """The reading for a feature of the context of SequenceExamples."""
    return reading_of(name, feature, _OF_CONTEXTS)


def list_reading(name: str, feature: Any) -> Reading:
    """The reading for a feature list of SequenceExamples."""
    return reading_of(name, feature, _OF_LISTS)


def known_dtype(name: str, feature: Any) -> DType:
    """The dtype of a feature."""
    if feature.dtype is None:
        raise ValueError(f"Missing type for feature {name}. Received feature={feature!r}.")
    dtype = as_dtype(feature.dtype)
    if dtype not in (float32, int64, string):
        raise InvalidArgumentError(
            f"feature {name!r} of dtype {dtype.name}: an Example holds int64, float32 and string values only;"
            f" read one of these, and tf.cast it"
        )
    return dtype


def known_shape(name: str, feature: Any, least: int = 0) -> tuple[int, ...]:
    """The shape of a feature, all of which must be known."""
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {name}. Received feature={feature!r}.")
    shape = TensorShape(feature.shape)
    sizes = [each for each in shape.as_list() if each is not None]
    if len(sizes) < len(shape):
        is_sequence = isinstance(feature, asked.FixedLenSequenceFeature)
        instead = "RaggedFeature" if is_sequence else "FixedLenSequenceFeature"
        raise ValueError(
            f"All dimensions of shape for feature {name} need to be known but received {shape}."
            f" Consider using {instead} or VarLenFeature."
        )
    if any(size < least for size in sizes):
        raise ValueError(f"The dimensions of shape for feature {name} must be at least {least}: {shape}")
    return tuple(sizes)


def default_of(dtype: DType, size: int, feature: Any) -> Any:
    """The default value of a feature, as an array."""
    if feature.default_value is None:
        return None
    default = array(feature.default_value, dtype)
    if default.size and default.size != size:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {default.size} values, but the requested shape has {size}:"
            f" the default_value of {feature!r}"
        )
    return default if default.size else None
