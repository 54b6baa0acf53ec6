"""The parts of ragged tensors, and other forms of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.ragged_rows import plain, ragged_of, ragged_value, sparse_value
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int64
from tfreel.tf.values.handles import Array, RaggedValue, SparseValue
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec, spec_of


def flat_of(value: Any) -> Array:
    """The values below all rows."""
    while isinstance(value, RaggedValue):
        value = value.values
    flat: Array = value
    return flat


def nested_splits(value: Any) -> list[Array]:
    """The row splits, the outermost first."""
    found = []
    while isinstance(value, RaggedValue):
        found.append(value.row_splits)
        value = value.values
    return found


def nested(flat: Any, splits: list[Array]) -> Any:
    """The reverse: rows of rows."""
    for each in reversed(splits):
        flat = RaggedValue(flat, each)
    return flat


def with_flat(value: RaggedValue, flat: Any) -> RaggedValue:
    """Other values in the same rows."""
    made: RaggedValue = nested(flat, nested_splits(value))
    return made


def inner_spec(spec: RaggedTensorSpec) -> TensorSpec | RaggedTensorSpec:
    """The spec of the values of all rows."""
    shape = [None, *spec.shape.as_list()[2:]]
    if spec.ragged_rank == 1:
        return TensorSpec(shape, spec.dtype)
    return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)


def _per_row(more: int = 0) -> Any:
    def infer(ragged: RaggedTensorSpec) -> TensorSpec:
        count = ragged.shape[0]
        return TensorSpec([None if count is None else count + more], ragged.row_splits_dtype)

    return infer


@operation(infer=inner_spec)
def values(ragged: RaggedValue) -> Any:
    """The values of all rows."""
    return ragged.values


@operation(
    infer=lambda ragged: TensorSpec([None, *ragged.shape.as_list()[ragged.ragged_rank + 1 :]], ragged.dtype)
)
def flat_values(ragged: RaggedValue) -> Array:
    """The values below all rows."""
    return flat_of(ragged)


@operation(infer=_per_row(1))
def row_splits(ragged: RaggedValue) -> Array:
    """Where each row begins, and at last where the last one ends."""
    return ragged.row_splits


@operation(infer=_per_row())
def row_starts(ragged: RaggedValue) -> Array:
    """Where each row begins."""
    return ragged.row_splits[:-1]


@operation(infer=_per_row())
def row_limits(ragged: RaggedValue) -> Array:
    """Where each row ends."""
    return ragged.row_splits[1:]


@operation(infer=_per_row())
def row_lengths(ragged: RaggedValue) -> Array:
    """How long each row is."""
    return np.diff(ragged.row_splits)


@operation(infer=lambda ragged, out_type=None: TensorSpec([], out_type or ragged.row_splits_dtype))
def nrows(ragged: RaggedValue, out_type: Any = None) -> Array:
    """How many rows there are."""
    return np.array(len(ragged.row_splits) - 1, _sizes_dtype(ragged, out_type))


def _sizes_dtype(ragged: RaggedValue, out_type: Any) -> Any:
    return ragged.row_splits.dtype if out_type is None else as_dtype(out_type).numpy


@operation(infer=lambda ragged: TensorSpec([None], ragged.row_splits_dtype))
def value_rowids(ragged: RaggedValue) -> Array:
    """The row of each value."""
    splits = ragged.row_splits
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


@operation(
    infer=lambda ragged, out_type=None: TensorSpec([ragged.shape.rank], out_type or ragged.row_splits_dtype)
)
def bounding_shape(ragged: RaggedValue, out_type: Any = None) -> Array:
    """The shape of the smallest tensor that holds all rows."""
    splits = nested_splits(ragged)
    sizes = [len(splits[0]) - 1, *(int(np.diff(each).max(initial=0)) for each in splits)]
    return np.array([*sizes, *flat_of(ragged).shape[1:]], _sizes_dtype(ragged, out_type))


def _other_values_spec(ragged: RaggedTensorSpec, new_values: Any) -> RaggedTensorSpec:
    spec = new_values if isinstance(new_values, (TensorSpec, RaggedTensorSpec)) else _spec_of_any(new_values)
    depth = spec.ragged_rank + 1 if isinstance(spec, RaggedTensorSpec) else 1
    shape = [ragged.shape[0], None, *spec.shape.as_list()[1:]]
    return RaggedTensorSpec(shape, spec.dtype, depth, ragged.row_splits_dtype)


def _spec_of_any(value: Any) -> Any:
    return spec_of(value if isinstance(value, RaggedValue) else array(value))


@operation(infer=_other_values_spec)
def with_values(ragged: RaggedValue, new_values: Any) -> RaggedValue:
    """Other values in the same rows."""
    inner = new_values if isinstance(new_values, RaggedValue) else array(new_values)
    count = len(inner.row_splits) - 1 if isinstance(inner, RaggedValue) else len(inner)
    if count != int(ragged.row_splits[-1]):
        raise ValueError(f"{count} values for rows of {int(ragged.row_splits[-1])}")
    return RaggedValue(inner, ragged.row_splits)


def _other_flat_spec(ragged: RaggedTensorSpec, new_values: Any) -> RaggedTensorSpec:
    spec = new_values if isinstance(new_values, TensorSpec) else _spec_of_any(new_values)
    shape = ragged.shape.as_list()[: ragged.ragged_rank + 1] + spec.shape.as_list()[1:]
    return RaggedTensorSpec(shape, spec.dtype, ragged.ragged_rank, ragged.row_splits_dtype)


@operation(infer=_other_flat_spec)
def with_flat_values(ragged: RaggedValue, new_values: Any) -> RaggedValue:
    """Other values below all rows."""
    flat = array(new_values)
    if len(flat) != len(flat_of(ragged)):
        raise ValueError(f"{len(flat)} values for rows of {len(flat_of(ragged))}")
    return with_flat(ragged, flat)


def _tensor_spec(ragged: RaggedTensorSpec, default_value: Any = None, shape: Any = None) -> TensorSpec:
    known = list(ragged.shape.as_list())
    wanted = TensorShape(shape)
    if wanted.rank is not None:
        known = [a if b is None else b for a, b in zip(known, wanted.as_list(), strict=True)]
    return TensorSpec(known, ragged.dtype)


@operation(infer=_tensor_spec)
def to_tensor(ragged: RaggedValue, default_value: Any = None, shape: Any = None) -> Array:
    """The rows padded, or cut, to one length.

    Raises:
        InvalidArgumentError: The shape has another rank.
        TypeError: The default is of another dtype.
    """
    flat = flat_of(ragged)
    default: Any = b"" if flat.dtype == object else 0
    if default_value is not None:
        default = array(default_value, flat.dtype)
        default = default.item() if flat.dtype == object and not default.ndim else default
    rows = Sparse.from_ragged(ragged_of(ragged))
    sizes = [*rows.dense_shape, *flat.shape[1:]]
    wanted = TensorShape(shape)
    if wanted.rank is not None:
        if wanted.rank != len(sizes):
            raise InvalidArgumentError(
                f"rt_input.shape and shape={wanted.as_list()} are incompatible: rt_input.rank = {len(sizes)}"
                f" but shape.rank = {wanted.rank}"
            )
        sizes = [a if b is None else b for a, b in zip(sizes, wanted.as_list(), strict=True)]
    dense = np.empty(sizes, flat.dtype)
    dense[...] = default
    depth = len(rows.dense_shape)
    inside = (rows.indices < sizes[:depth]).all(axis=1)
    dense[tuple(rows.indices[inside].T)] = plain(rows.values)[inside]
    return dense


@operation(infer=lambda ragged: SparseTensorSpec(ragged.shape, ragged.dtype))
def to_sparse(ragged: RaggedValue) -> SparseValue:
    """The values at their rows and their positions in them."""
    return sparse_value(Sparse.from_ragged(_all_ragged(ragged_of(ragged))))


def _all_ragged(rows: Ragged) -> Ragged:
    """The same with rows also in place of inner dimensions."""
    if isinstance(rows.values, Ragged):
        return Ragged(_all_ragged(rows.values), rows.offsets)
    flat = plain(rows.values)
    if flat.ndim == 1:
        return rows
    count, size = flat.shape[:2]
    inner = Ragged(flat.reshape(count * size, *flat.shape[2:]), np.arange(count + 1, dtype=np.int64) * size)
    return Ragged(_all_ragged(inner), rows.offsets)


def as_numpy(value: Any) -> Array:
    """The rows as one array if they are of one length, else as an array of arrays."""
    if not isinstance(value, RaggedValue):
        plain_value: Array = value
        return plain_value
    inner = as_numpy(value.values)
    rows = [inner[a:b] for a, b in zip(value.row_splits[:-1], value.row_splits[1:], strict=True)]
    if rows and len({len(each) for each in rows}) == 1:
        return np.stack(rows)
    found = np.empty(len(rows), object)
    for i, each in enumerate(rows):
        found[i] = each
    return found


def as_list(value: RaggedValue) -> list[Any]:
    """The rows as lists."""
    return ragged_of(value).to_list()


def whole_splits(given: Any) -> Array:
    """Row splits, lengths and the like: int64, if they are not int32 already."""
    if isinstance(given, np.ndarray) and given.dtype == np.int32:
        return given
    return array(given, int64)


def taken(value: Any, rows: Any) -> Any:
    """Some of the rows of a ragged value or of an array; a slice, or their numbers."""
    if not isinstance(value, RaggedValue):
        return value[rows]
    ragged = ragged_of(value)
    return ragged_value(ragged[rows] if isinstance(rows, slice) else ragged.take(rows))


def splits_dtype(named: Any) -> Any:
    """The dtype of row splits, for NumPy."""
    dtype = as_dtype(named).numpy
    if dtype not in (np.int32, np.int64):
        raise ValueError(f"row_splits_dtype must be int32 or int64, not {named!r}")
    return dtype
