"""What `Session.run` gives: arrays, scalars and bytes, and named parts of sparse and ragged values."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tfreel.tf.values.handles import Array, RaggedValue, SparseValue


class SparseTensorValue(NamedTuple):
    """The value of a sparse tensor."""

    indices: Array
    values: Array
    dense_shape: Array


class RaggedTensorValue(NamedTuple):
    """The value of a ragged tensor: the values of all rows, and where the rows begin and end."""

    values: Any  # an array, or the rows within the rows
    row_splits: Array

    @property
    def flat_values(self) -> Array:
        """The values without any rows."""
        inner = self.values
        while isinstance(inner, RaggedTensorValue):
            inner = inner.values
        flat: Array = inner
        return flat

    @property
    def nested_row_splits(self) -> tuple[Array, ...]:
        """Where rows begin and end, the outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    def to_list(self) -> list[Any]:
        """The rows as lists."""
        inner = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [inner[begin:end] for begin, end in pairwise(splits)]


def given(value: Any, *, copy: bool = False) -> Any:
    """A value in the form in which users get it."""
    if isinstance(value, SparseValue):
        return SparseTensorValue(*value)
    if isinstance(value, RaggedValue):
        return RaggedTensorValue(given(value.values), value.row_splits)
    if isinstance(value, np.ndarray):
        return value[()] if value.ndim == 0 else value.copy() if copy else value
    return value
