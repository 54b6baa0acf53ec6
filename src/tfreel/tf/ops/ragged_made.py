"""Ragged tensors out of values and where rows begin, of lists of lists, and of dense and sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.ragged_rows import ragged_stacked
from tfreel.tf.ops.ragged_parts import flat_of, nested, splits_dtype, whole_splits
from tfreel.tf.ops.sparse_parts import sparse_of
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int32, int64
from tfreel.tf.values.handles import Array, RaggedValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, spec_of


def _inner(values: Any) -> Any:
    return values if isinstance(values, RaggedValue) else array(values)


def _count(values: Any) -> int:
    return len(values.row_splits) - 1 if isinstance(values, RaggedValue) else len(values)


def _checked(values: Any, splits: Array, validate: Any) -> RaggedValue:
    values = _inner(values)
    steps = np.diff(splits)
    # Splits that lie would be read past the end: they are checked in any case, as far as safety needs it.
    if len(splits) and validate and (splits[0] != 0 or splits[-1] != _count(values)):
        raise InvalidArgumentError(
            f"Arguments do not form a valid RaggedTensor: rows from {int(splits[0])} to {int(splits[-1])},"
            f" for {_count(values)} values"
        )
    if (steps < 0).any() or (len(splits) and (splits[0] < 0 or splits[-1] > _count(values))):
        raise InvalidArgumentError("Arguments form no valid RaggedTensor: rows that run backwards")
    return RaggedValue(values, splits)


def _partitioned(values: Any, rows: Any, *_: Any, **__: Any) -> RaggedTensorSpec:
    """The spec of values with something that says where rows are."""
    inner = values if isinstance(values, (TensorSpec, RaggedTensorSpec)) else spec_of(_inner(values))
    depth = inner.ragged_rank + 1 if isinstance(inner, RaggedTensorSpec) else 1
    splits = rows.dtype if isinstance(rows, (TensorSpec, np.ndarray)) else int64
    return RaggedTensorSpec([None, None, *inner.shape.as_list()[1:]], inner.dtype, depth, splits)


@operation(infer=_partitioned)
def from_row_splits(values: Any, row_splits: Any, name: Any = None, validate: Any = True) -> RaggedValue:
    """Rows of where each begins, and at last where the last one ends."""
    splits = whole_splits(row_splits)
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty.")
    return _checked(values, splits, validate)


@operation(infer=_partitioned)
def from_row_lengths(values: Any, row_lengths: Any, name: Any = None, validate: Any = True) -> RaggedValue:
    """Rows of how long each is."""
    return _checked(values, _summed(whole_splits(row_lengths)), validate)


def _summed(lengths: Array) -> Array:
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])


@operation(infer=_partitioned)
def from_row_starts(values: Any, row_starts: Any, name: Any = None, validate: Any = True) -> RaggedValue:
    """Rows of where each begins."""
    starts, values = whole_splits(row_starts), _inner(values)
    return _checked(values, np.append(starts, np.array(_count(values), starts.dtype)), validate)


@operation(infer=_partitioned)
def from_row_limits(values: Any, row_limits: Any, name: Any = None, validate: Any = True) -> RaggedValue:
    """Rows of where each ends."""
    limits = whole_splits(row_limits)
    return _checked(values, np.concatenate([np.zeros(1, limits.dtype), limits]), validate)


@operation(infer=_partitioned)
def from_value_rowids(
    values: Any, value_rowids: Any, nrows: Any = None, name: Any = None, validate: Any = True
) -> RaggedValue:
    """Rows of the row of each value."""
    ids = whole_splits(value_rowids)
    last = int(ids[-1]) if len(ids) else -1
    count = last + 1 if nrows is None else int(nrows)
    if count <= last:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={last}"
        )
    if (np.diff(ids) < 0).any() or (len(ids) and ids[0] < 0):
        raise InvalidArgumentError("Arguments to from_value_rowids do not form a valid RowPartition.")
    splits = _summed(np.bincount(ids, minlength=count).astype(ids.dtype))
    return _checked(values, splits, validate)


@operation(infer=lambda values, length, *_, **__: _partitioned(values, None))
def from_uniform_row_length(
    values: Any, uniform_row_length: Any, nrows: Any = None, validate: Any = True, name: Any = None
) -> RaggedValue:
    """Rows that are all of one length."""
    values, length = _inner(values), int(uniform_row_length)
    count = _count(values) // length if nrows is None and length else int(nrows or 0)
    if count * length != _count(values):
        raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={_count(values)}")
    return RaggedValue(values, np.arange(count + 1, dtype=np.int64) * length)


def from_nested_row_splits(
    flat_values: Any, nested_row_splits: Any, name: Any = None, validate: Any = True
) -> Any:
    """Rows of rows, of the splits of all of them."""
    if isinstance(nested_row_splits, (bytes, str)) or not isinstance(nested_row_splits, (list, tuple)):
        raise TypeError("Argument `nested_row_splits` must be a list of tensors")
    for splits in reversed(nested_row_splits):
        flat_values = from_row_splits(flat_values, splits, validate=validate)
    return flat_values


def from_nested_row_lengths(
    flat_values: Any, nested_row_lengths: Any, name: Any = None, validate: Any = True
) -> Any:
    """Rows of rows, of the lengths of all of them."""
    for lengths in reversed(nested_row_lengths):
        flat_values = from_row_lengths(flat_values, lengths, validate=validate)
    return flat_values


def _tensor_spec(
    tensor: TensorSpec,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: Any = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensorSpec:
    sizes = tensor.shape.as_list()
    shape = [sizes[0], *[None] * ragged_rank, *sizes[ragged_rank + 1 :]]
    return RaggedTensorSpec(shape, tensor.dtype, ragged_rank, row_splits_dtype)


@operation(infer=_tensor_spec)
def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: Any = None,
    row_splits_dtype: Any = int64,
) -> RaggedValue:
    """The rows of a dense tensor, of these lengths or without the padding at their ends."""
    dense = array(tensor)
    if dense.ndim < 2:
        raise ValueError(f"The rank of a RaggedTensor must be greater than 1, not {dense.ndim}")
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    dtype = splits_dtype(row_splits_dtype)
    if padding is not None:
        lengths = _without_padding(dense, array(padding, dense.dtype), ragged_rank)
    if lengths is not None:
        kept = np.clip(array(lengths, int64), 0, dense.shape[1])
        inside = np.arange(dense.shape[1]) < kept[:, np.newaxis]
        return RaggedValue(dense[inside], _summed(kept.astype(dtype)))
    shape = dense.shape
    splits = []
    rows = 1
    for level in range(ragged_rank):
        rows *= shape[level]
        splits.append(np.arange(rows + 1, dtype=dtype) * shape[level + 1])
    made: RaggedValue = nested(dense.reshape(rows * shape[ragged_rank], *shape[ragged_rank + 1 :]), splits)
    return made


def _without_padding(dense: Array, padding: Array, ragged_rank: int) -> Array:
    if ragged_rank != 1:
        raise ValueError("padding is for ragged_rank=1 only")
    other = dense != padding
    other = other.reshape(*dense.shape[:2], -1).any(axis=2)
    return np.where(other.any(axis=1), dense.shape[1] - np.argmax(other[:, ::-1], axis=1), 0)


@operation(infer=lambda st_input, *_, **__: RaggedTensorSpec([None, None], st_input.dtype, 1))
def from_sparse(st_input: Any, name: Any = None, row_splits_dtype: Any = int64) -> RaggedValue:
    """The rows of a sparse tensor that has no gaps.

    Raises:
        InvalidArgumentError: It has gaps.
        ValueError: It is no matrix.
    """
    sparse = sparse_of(st_input)
    if len(sparse.dense_shape) != 2:
        raise ValueError(f"rank(st_input) must be 2, not {len(sparse.dense_shape)}")
    count = int(sparse.dense_shape[0])
    row, column = sparse.indices.T
    bounds = np.searchsorted(row, np.arange(count + 1))
    if not np.array_equal(column, np.arange(len(column)) - bounds[:-1][row]):
        raise InvalidArgumentError("SparseTensor is not right-ragged")
    return RaggedValue(sparse.values, bounds.astype(splits_dtype(row_splits_dtype)))


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: Any = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """`tf.ragged.constant`: a ragged tensor of lists of lists; a tensor, if they are not nested.

    Raises:
        ValueError: Some values are nested deeper than others.

    Example:
        >>> tf.ragged.constant([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
    """
    return _constant(pylist, dtype, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)


@operation()
def _constant(
    pylist: Any, dtype: Any, ragged_rank: int | None, inner_shape: Any, *, row_splits_dtype: Any
) -> Any:
    splits_of = splits_dtype(row_splits_dtype)
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1) - (0 if inner_shape is None else len(inner_shape))
    if ragged_rank >= max(depth, 1):
        raise ValueError(f"pylist has no {ragged_rank} levels of rows: {pylist!r}")
    level, splits = pylist, []
    for _ in range(ragged_rank):
        splits.append(_summed(np.array([len(each) for each in level], splits_of)))
        level = [value for each in level for value in each]
    flat = np.zeros(0, np.float32) if ragged_rank and not len(level) else array(level)
    flat = array(level, dtype) if flat.size else flat.astype(as_dtype(dtype or flat.dtype).numpy)
    if inner_shape is not None and not flat.size:
        flat = flat.reshape(0, *inner_shape)
    return nested(flat, splits)


def _depth(pylist: Any) -> int:
    """How deep the values are nested.

    Raises:
        ValueError: Not all in the same depth.
    """
    if isinstance(pylist, np.ndarray):
        return pylist.ndim
    if not isinstance(pylist, (list, tuple)):
        return 0
    depths = {_depth(each) for each in pylist}
    if 0 in depths and len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return 1 + max(depths, default=0)


@operation(infer=lambda rt_inputs, *_, **__: _stack_spec(rt_inputs))
def stack(values: Any, axis: int = 0, name: Any = None) -> RaggedValue:
    """`tf.ragged.stack`: tensors of one rank as one with a dimension more."""
    if int(axis) != 0:
        raise InvalidArgumentError("tf.ragged.stack is for axis=0 only")
    parts = [_inner(each) for each in values]
    if all(isinstance(each, RaggedValue) for each in parts):
        return ragged_stacked(parts)
    lengths = np.array([len(each) for each in parts], np.int32)  # as TensorFlow has them here
    return RaggedValue(np.concatenate(parts), _summed(lengths))


def _stack_spec(values: Any) -> RaggedTensorSpec:
    inner = next(each for each in values if isinstance(each, (TensorSpec, RaggedTensorSpec)))
    shape = [len(values), None, *inner.shape.as_list()[1:]]
    if isinstance(inner, TensorSpec):
        return RaggedTensorSpec(shape, inner.dtype, 1, int32)
    return RaggedTensorSpec(shape, inner.dtype, inner.ragged_rank + 1, inner.row_splits_dtype)


@operation(
    infer=lambda starts, *_, **__: RaggedTensorSpec([None, None], getattr(starts, "dtype", "int32"), 1)
)
def ragged_range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: Any = None,
    row_splits_dtype: Any = int64,
) -> RaggedValue:
    """`tf.ragged.range`: rows of numbers from one to another."""
    if limits is None:
        starts, limits = 0, starts
    kind = None if dtype is None else as_dtype(dtype)
    begin, end, step = np.broadcast_arrays(array(starts, kind), array(limits, kind), array(deltas, kind))
    if not np.all(step):
        raise InvalidArgumentError("Requires delta != 0")
    rows = [
        np.arange(a, b, c, dtype=begin.dtype)
        for a, b, c in zip(*map(np.atleast_1d, (begin, end, step)), strict=True)
    ]
    lengths = np.array([len(row) for row in rows], splits_dtype(row_splits_dtype))
    return RaggedValue(np.concatenate([*rows, begin.ravel()[:0]]), _summed(lengths))


def _mask_spec(data: Any, mask: Any, *_: Any, **__: Any) -> Any:
    if isinstance(data, RaggedTensorSpec):
        return data
    rank = mask.shape.rank if isinstance(mask, TensorSpec) else array(mask).ndim
    if rank == 1:
        return TensorSpec([None, *data.shape.as_list()[1:]], data.dtype)
    return RaggedTensorSpec([data.shape[0], None, *data.shape.as_list()[2:]], data.dtype, 1)


@operation(infer=_mask_spec)
def boolean_mask(data: Any, mask: Any, name: Any = None) -> Any:
    """`tf.ragged.boolean_mask`: the values where the mask is true, in their rows."""
    data, mask = _inner(data), _inner(mask)
    if isinstance(mask, RaggedValue) and isinstance(data, RaggedValue):
        if not np.array_equal(data.row_splits, mask.row_splits) or isinstance(mask.values, RaggedValue):
            raise InvalidArgumentError("the mask of a ragged tensor must have the same rows, of one level")
        kept = flat_of(mask)
        counts = np.add.reduceat(np.append(kept, False).astype(np.int64), data.row_splits[:-1])
        counts = np.where(np.diff(data.row_splits) > 0, counts, 0)
        return RaggedValue(_inner(data.values)[kept], _summed(counts.astype(data.row_splits.dtype)))
    if isinstance(data, RaggedValue) or isinstance(mask, RaggedValue):
        raise InvalidArgumentError("data and mask must both be ragged, or both not")
    if mask.ndim == 1:
        return data[mask]
    if mask.ndim != 2:
        raise InvalidArgumentError(f"a mask of rank {mask.ndim}: one or two dimensions are known here")
    return RaggedValue(data[mask], _summed(mask.sum(axis=1).astype(np.int64)))
