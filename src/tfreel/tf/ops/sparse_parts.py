"""What can be done with sparse tensors: `tf.sparse`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.ragged_rows import RaggedRows, VarLenRows
from tfreel.tf.graphs.rows import Column, Dense, is_column
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.handles import Array, SparseValue
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import SparseTensorSpec


def sparse_of(given: Any) -> SparseValue:
    """What is behind a SparseTensor, also if it is given as its three parts.

    Raises:
        TypeError: It is none.
    """
    if isinstance(given, SparseValue):
        return given
    if hasattr(given, "dense_shape"):
        return _made(given.indices, given.values, given.dense_shape)
    raise TypeError(f"Input must be a SparseTensor, not {given!r}")


def _made(indices: Any, values: Any, dense_shape: Any) -> SparseValue:
    made = SparseValue(array(indices, int64), array(values), array(dense_shape, int64))
    if made.indices.ndim != 2:
        raise ValueError(f"indices of shape {made.indices.shape} must have rank 2")
    if made.values.ndim != 1 or made.dense_shape.ndim != 1:
        raise ValueError("values and dense_shape must have rank 1")
    count, rank = made.indices.shape
    if count != len(made.values):
        raise ValueError(f"Dimensions {count} and {len(made.values)} are not compatible: indices and values")
    if rank != len(made.dense_shape):
        raise ValueError(f"Dimensions {rank} and {len(made.dense_shape)} are not compatible: the ranks")
    return made


def _made_spec(indices: Any, values: Any, dense_shape: Any) -> SparseTensorSpec:
    rank = None
    for shape, place in ((indices, 1), (dense_shape, 0)):
        known = TensorShape(shape.shape) if isinstance(shape, TensorSpec) else array(shape).shape
        rank = known[place] if rank is None and len(known) > place else rank
    sizes = None if rank is None else [None] * int(rank)
    if not isinstance(dense_shape, TensorSpec):
        sizes = array(dense_shape).tolist()
    dtype = values.dtype if isinstance(values, TensorSpec) else array(values).dtype
    return SparseTensorSpec(sizes, dtype)


@operation(infer=_made_spec)
def made(indices: Any, values: Any, dense_shape: Any) -> SparseValue:
    """A sparse tensor of its parts."""
    return _made(indices, values, dense_shape)


@operation(infer=lambda sparse, other: TensorSpec([None], sparse.dtype))
def at_values(sparse: SparseValue, other: Any) -> Array:
    """What of another tensor stands where the values are."""
    other = array(other) if isinstance(other, np.ndarray) else array(other, sparse.values.dtype)
    if not other.ndim:
        return np.full(len(sparse.values), other)
    try:
        found: Array = np.broadcast_to(other, sparse.dense_shape.tolist())[tuple(sparse.indices.T)]
    except ValueError as error:
        raise InvalidArgumentError(f"Incompatible shapes: {sparse.dense_shape} vs. {other.shape}") from error
    return found


def _values_rows(sparse: Any) -> Column | None:
    return RaggedRows(sparse.ragged) if isinstance(sparse, VarLenRows) else None


def _shape_rows(sparse: Any) -> Column | None:
    return Dense(sparse.ragged.lengths[:, np.newaxis]) if isinstance(sparse, VarLenRows) else None


@operation(infer=lambda sparse: TensorSpec([None, sparse.shape.rank], int64))
def indices(sparse: SparseValue) -> Array:
    """The positions."""
    return sparse.indices


@operation(infer=lambda sparse: TensorSpec([None], sparse.dtype), rows=_values_rows)
def values(sparse: SparseValue) -> Array:
    """The values."""
    return sparse.values


@operation(infer=lambda sparse: TensorSpec([sparse.shape.rank], int64), rows=_shape_rows)
def dense_shape(sparse: SparseValue) -> Array:
    """The shape."""
    return sparse.dense_shape


def _with_values_spec(sparse: SparseTensorSpec, new_values: Any) -> SparseTensorSpec:
    dtype = new_values.dtype if isinstance(new_values, TensorSpec) else array(new_values).dtype
    return SparseTensorSpec(sparse.shape, dtype)


@operation(infer=_with_values_spec)
def with_values(sparse: SparseValue, new_values: Any) -> SparseValue:
    """Other values at the same positions."""
    return _made(sparse.indices, new_values, sparse.dense_shape)


def _dense_rows(sp_input: Any, default_value: Any = None, *_: Any, **__: Any) -> Column | None:
    # Between the values of a VarLenFeature there is nothing that a default could stand for.
    if isinstance(sp_input, VarLenRows) and default_value is None and not is_column(default_value):
        return RaggedRows(sp_input.ragged)
    return None


def _dense_spec(sp_input: SparseTensorSpec, *_: Any, **__: Any) -> TensorSpec:
    return TensorSpec(sp_input.shape, sp_input.dtype)


@operation(infer=_dense_spec, rows=_dense_rows)
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Array:
    """`tf.sparse.to_dense`: the tensor, with a default where there is no value.

    Raises:
        InvalidArgumentError: A position lies outside, or (if that is checked) is there twice or out of order.
    """
    sparse = sparse_of(sp_input)
    default = _default(default_value, sparse.values.dtype)
    _check_order(sparse, strictly=bool(validate_indices))
    dense = np.full(tuple(sparse.dense_shape.tolist()), default, sparse.values.dtype)
    dense[tuple(sparse.indices.T)] = sparse.values
    return dense


def _default(given: Any, dtype: Any) -> Any:
    if given is None:
        return b"" if dtype.kind == "O" else dtype.type(0)
    default = array(given, dtype)
    if default.ndim:
        raise InvalidArgumentError("default_value should be a scalar.")
    return default.item() if dtype.kind == "O" else default


def _check_order(sparse: SparseValue, *, strictly: bool) -> None:
    outside = ((sparse.indices < 0) | (sparse.indices >= sparse.dense_shape)).any(axis=1)
    if outside.any():
        i = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"indices[{i}] = {sparse.indices[i].tolist()} is out of bounds:"
            f" need 0 <= index < {sparse.dense_shape.tolist()}"
        )
    if not strictly or len(sparse.indices) < 2:
        return
    places = _flat_places(sparse.indices, sparse.dense_shape)
    bad = np.diff(places) <= 0
    if bad.any():
        i = int(np.argmax(bad)) + 1
        why = "is repeated" if places[i] == places[i - 1] else "is out of order"
        raise InvalidArgumentError(
            f"indices[{i}] = {sparse.indices[i].tolist()} {why}. Many sparse ops require sorted indices."
            " Use `tf.sparse.reorder` to create a correctly ordered copy."
        )


def _flat_places(indices: Array, shape: Array) -> Array:
    """Where the positions are in the flat array: as Python integers, if no other could hold them."""
    sizes = shape.tolist()
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    small = math.prod(sizes) < 1 << 62
    return indices @ np.array(steps, np.int64) if small else indices.astype(object) @ np.array(steps, object)


def _spec_of_dense(tensor: TensorSpec) -> SparseTensorSpec:
    return SparseTensorSpec(tensor.shape, tensor.dtype)


@operation(infer=lambda tensor, *_: _spec_of_dense(tensor))
def from_dense(tensor: Any, name: Any = None) -> SparseValue:
    """`tf.sparse.from_dense`: the values that are not zero or empty."""
    dense = array(tensor)
    there = dense != (b"" if dense.dtype == object else dense.dtype.type(0))
    positions = np.argwhere(there).astype(np.int64)
    return SparseValue(positions, dense[there], np.array(dense.shape, np.int64))


def _unchanged(sp_input: SparseTensorSpec, *_: Any, **__: Any) -> SparseTensorSpec:
    return sp_input


def _some_shape(sp_input: SparseTensorSpec, *_: Any, **__: Any) -> SparseTensorSpec:
    rank = sp_input.shape.rank
    return SparseTensorSpec(None if rank is None else [None] * rank, sp_input.dtype)


@operation(infer=_unchanged)
def reorder(sp_input: Any, name: Any = None) -> SparseValue:
    """`tf.sparse.reorder`: the positions in order."""
    return _ordered(sparse_of(sp_input))


def _ordered(sparse: SparseValue) -> SparseValue:
    order = np.lexsort(sparse.indices.T[::-1]) if sparse.indices.size else slice(None)
    return SparseValue(sparse.indices[order], sparse.values[order], sparse.dense_shape)


def _concat_spec(axis: Any, sp_inputs: Any, *_: Any, **__: Any) -> SparseTensorSpec:
    first = next(each for each in sp_inputs if isinstance(each, SparseTensorSpec))
    return _some_shape(first)


@operation(infer=_concat_spec)
def concat(axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: Any = None) -> SparseValue:
    """`tf.sparse.concat`: sparse tensors one behind the other along an axis.

    Raises:
        InvalidArgumentError: They differ in rank, or in another dimension that is not to be expanded.
    """
    parts = [sparse_of(each) for each in sp_inputs]
    rank = len(parts[0].dense_shape)
    along = int(axis) + (rank if int(axis) < 0 else 0)
    for i, each in enumerate(parts):
        if len(each.dense_shape) != rank:
            raise InvalidArgumentError(
                f"Ranks of all input tensors must match: expected {rank} but got {len(each.dense_shape)}"
                f" at position {i}"
            )
        others = np.delete(each.dense_shape != parts[0].dense_shape, along)
        if others.any() and not expand_nonconcat_dims:
            raise InvalidArgumentError(f"Input shapes must match: they differ at position {i}")
    shape = np.max([each.dense_shape for each in parts], axis=0)
    begins = np.cumsum([0, *(int(each.dense_shape[along]) for each in parts)])
    shape[along] = begins[-1]
    step = np.eye(rank, dtype=np.int64)[along]
    places = [each.indices + begin * step for each, begin in zip(parts, begins, strict=False)]
    values = np.concatenate([each.values for each in parts])
    return _ordered(SparseValue(np.concatenate(places), values, shape))


def _reshape_spec(sp_input: SparseTensorSpec, shape: Any, *_: Any, **__: Any) -> SparseTensorSpec:
    sizes = [None] * int(shape.shape[0]) if isinstance(shape, TensorSpec) else list(array(shape, int64))
    return SparseTensorSpec(sizes, sp_input.dtype)


@operation(infer=_reshape_spec)
def reshape(sp_input: Any, shape: Any, name: Any = None) -> SparseValue:
    """`tf.sparse.reshape`: the same values in another shape, of which one size may be -1."""
    sparse = sparse_of(sp_input)
    sizes = array(shape, int64).tolist()
    total = math.prod(sparse.dense_shape.tolist())
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = total // known if known else 0
    if math.prod(sizes) != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has"
            f" {math.prod(sizes)}. input_shape={sparse.dense_shape.tolist()} output_shape={sizes}"
        )
    places = np.asarray(_flat_places(sparse.indices, sparse.dense_shape), np.int64)
    indices = np.stack(np.unravel_index(places, sizes), axis=1) if len(places) else np.zeros((0, len(sizes)))
    return SparseValue(indices.astype(np.int64), sparse.values, np.array(sizes, np.int64))


@operation(infer=_some_shape)
def sliced(sp_input: Any, start: Any, size: Any, name: Any = None) -> SparseValue:
    """`tf.sparse.slice`: the part that begins at `start` and is at most as large as `size`."""
    sparse = sparse_of(sp_input)
    begin = array(start, int64)
    shape = np.clip(sparse.dense_shape - begin, 0, array(size, int64))
    inside = ((sparse.indices >= begin) & (sparse.indices < begin + shape)).all(axis=1)
    return SparseValue(sparse.indices[inside] - begin, sparse.values[inside], shape)


@operation(infer=_some_shape)
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseValue:
    """`tf.sparse.reset_shape`: the same values in a larger shape, or in the smallest that holds them.

    Raises:
        ValueError: The new shape is smaller.
    """
    sparse = sparse_of(sp_input)
    if new_shape is None:
        tight = sparse.indices.max(axis=0, initial=-1) + 1
        return SparseValue(sparse.indices, sparse.values, tight)
    shape = array(new_shape, int64)
    if len(shape) != len(sparse.dense_shape) or (shape < sparse.dense_shape).any():
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape."
            f" Found new_shape ({shape.tolist()}), sp_input.shape ({sparse.dense_shape.tolist()})."
        )
    return SparseValue(sparse.indices, sparse.values, shape)


@operation(infer=lambda sp_input, *_, **__: SparseTensorSpec(None, sp_input.dtype))
def expand_dims(sp_input: Any, axis: Any = None, name: Any = None) -> SparseValue:
    """`tf.sparse.expand_dims`: a dimension of one more."""
    sparse = sparse_of(sp_input)
    rank = len(sparse.dense_shape)
    place = rank if axis is None else int(axis) + (rank + 1 if int(axis) < 0 else 0)
    return SparseValue(
        np.insert(sparse.indices, place, 0, axis=1), sparse.values, np.insert(sparse.dense_shape, place, 1)
    )


@operation(infer=_unchanged)
def retain(sp_input: Any, to_retain: Any) -> SparseValue:
    """`tf.sparse.retain`: only some of the values."""
    sparse = sparse_of(sp_input)
    kept = array(to_retain, bool)
    return SparseValue(sparse.indices[kept], sparse.values[kept], sparse.dense_shape)
