"""Sums, means and the like of ragged tensors: of all values, or of those of each row."""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation
from tfreel.tf.ops.arrays import size
from tfreel.tf.ops.casting import cast
from tfreel.tf.ops.operators import as_floats, divide
from tfreel.tf.ops.reductions import reduce_sum
from tfreel.tf.values.handles import Array, RaggedValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec

_MEAN = "reduce_mean"  # which divides here, also whole numbers


def reduced(compute: Operation, input_tensor: Any, axis: Any = None, keepdims: Any = None, **old: Any) -> Any:
    """A reduction of a ragged tensor.

    Raises:
        InvalidArgumentError: It is along an axis other than that of the rows.
    """
    axis = old.get("reduction_indices") if axis is None else axis
    flat = input_tensor.flat_values
    if axis is None and compute.kernel.__name__ == _MEAN:
        return divide(reduce_sum(flat), cast(size(flat), flat.dtype))
    if axis is None:
        return compute(flat)
    known = len(input_tensor.shape)
    along = int(axis) + known if isinstance(axis, int) and axis < 0 else axis
    if along != 1 or input_tensor.ragged_rank != 1 or keepdims or old.get("keep_dims"):
        raise InvalidArgumentError(
            "ragged tensors are reduced over all values, or over those of each row (axis=1, keepdims=False):"
            " .values or .to_tensor() make one for other ways"
        )
    return _of_rows(compute)(input_tensor)


@functools.cache
def _of_rows(compute: Operation) -> Operation:
    is_mean = compute.kernel.__name__ == _MEAN

    def kernel(ragged: RaggedValue) -> Array:
        if is_mean:
            return _means(ragged)
        bounds = ragged.row_splits.tolist()
        rows = [compute.kernel(ragged.values[begin:end], 0) for begin, end in pairwise(bounds)]
        return np.stack(rows) if rows else compute.kernel(ragged.values[np.newaxis, :0], 1)[:0]

    def infer(ragged: RaggedTensorSpec) -> TensorSpec:
        inner = ragged.shape.as_list()[2:]
        dtype = compute.infer(TensorSpec([3, *inner], ragged.dtype), 0).dtype
        if is_mean:
            dtype = as_floats(np.zeros(1, dtype.numpy)).dtype
        return TensorSpec([ragged.shape[0], *inner], dtype)

    kernel.__name__ = compute.kernel.__name__
    return Operation(kernel, infer)


def _means(ragged: RaggedValue) -> Array:
    """The mean of each row, in the way of TensorFlow: a sum, divided; NaN where there is no value."""
    values, bounds = ragged.values, ragged.row_splits.tolist()
    sums = np.array([values[begin:end].sum(axis=0, dtype=values.dtype) for begin, end in pairwise(bounds)])
    sums = as_floats(sums.astype(values.dtype).reshape(-1, *values.shape[1:]))
    counts = np.diff(ragged.row_splits).reshape(-1, *[1] * (sums.ndim - 1))
    with np.errstate(all="ignore"):
        return np.asarray(sums / counts.astype(sums.dtype))
