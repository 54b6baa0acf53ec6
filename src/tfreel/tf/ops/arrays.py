"""Tensors out of nothing or of their shape: constant, zeros, range, one_hot, shape, …."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.graphs.rows import Column, Dense
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.ops.static import (
    dense,
    has_specs,
    invalid_argument,
    known_sizes,
    no_columns,
    one_number,
    row_axis,
    spec,
    whole_numbers,
)
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, bool_, float32, float64, int32
from tfreel.tf.values.handles import Array, Handle, RaggedValue, SparseValue, is_promised
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import probed
from tfreel.tf.values.tensor import Tensor

newaxis = None


def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = "Const") -> Any:
    """A tensor of a value; one value fills a whole shape.

    Raises:
        TypeError: The dtype cannot hold it, or the shape is of another size.
        ValueError: No tensor can hold it.
    """
    if isinstance(value, Handle) and dtype is not None and value.dtype != dtype:  # type: ignore[attr-defined]
        raise TypeError(f"Expected tensor {value!r} with dtype {as_dtype(dtype)!r}; tf.cast makes one")
    made = convert_to_tensor(value, dtype)
    if shape is None or is_promised(made):
        return made
    sizes = TensorShape(shape).as_list()
    held: Array = made.value()
    if held.size == math.prod(size or 0 for size in sizes):
        return Tensor.of(held.reshape(sizes))
    if held.size != 1:
        raise TypeError(f"a constant of {held.size} values cannot have the shape {sizes}")
    return Tensor.of(np.full(sizes, held.reshape(())[()], held.dtype))


def _same_spec(input: Any) -> Any:
    return input if not isinstance(input, (list, tuple)) else probed(identity.kernel, input)


@operation(infer=_same_spec, rows=lambda input: input if not isinstance(input, (list, tuple)) else None)
def identity(input: Any) -> Any:
    """The same values."""
    return input if isinstance(input, (SparseValue, RaggedValue)) else array(input)


class _OfShape(Operation):
    """An operation that only asks for the shape, which may be known before there are values."""

    def __call__(self, input: Any, *args: Any, **options: Any) -> Any:
        known = input.shape if isinstance(input, Tensor) and input.source is not None else None
        if known is not None and known.is_fully_defined():
            input = np.broadcast_to(np.uint8(0), [size or 0 for size in known])
        return super().__call__(input, *args, **options)


def _sizes_of(input: Any) -> list[int]:
    if isinstance(input, SparseValue):
        return [int(size) for size in input.dense_shape]
    return list(array(input).shape)


def _shape_rows(input: Any, out_type: Any = int32) -> Column | None:
    made = dense(input)
    if made is None:
        return None
    sizes = np.array(made.shape[1:], as_dtype(out_type).numpy)
    return Dense(np.broadcast_to(sizes, (len(made), len(sizes))))


def _shape_kernel(input: Any, out_type: Any = int32) -> Array:
    """The sizes of a tensor, as a tensor."""
    return np.array(_sizes_of(input), as_dtype(out_type).numpy)


def _size_kernel(input: Any, out_type: Any = int32) -> Array:
    """The number of values of a tensor."""
    return np.array(math.prod(_sizes_of(input)), as_dtype(out_type).numpy)


def _size_rows(input: Any, out_type: Any = int32) -> Column | None:
    made = dense(input)
    if made is None:
        return None
    return Dense(np.full(len(made), math.prod(made.shape[1:]), as_dtype(out_type).numpy))


def _shape_spec(input: Any, out_type: Any = int32) -> TensorSpec:
    return TensorSpec([input.shape.rank], out_type)


shape = _OfShape(_shape_kernel, infer=_shape_spec, rows=_shape_rows)
size = _OfShape(_size_kernel, infer=lambda input, out_type=int32: TensorSpec([], out_type), rows=_size_rows)


@operation(infer=lambda input: TensorSpec([], int32))
def _rank(input: Any) -> Array:
    return np.array(len(_sizes_of(input)), np.int32)


def rank(input: Any, name: Any = None) -> Any:
    """The number of dimensions of a tensor."""
    if isinstance(input, Tensor) and input.shape.rank is not None:
        return Tensor.of(np.array(input.shape.rank, np.int32))
    return _rank(input)


def _filled_spec(dims: Any, value: Any) -> TensorSpec:
    return TensorSpec(known_sizes(dims), spec(value).dtype)


@operation(infer=_filled_spec)
def fill(dims: Any, value: Any) -> Array:
    """One value everywhere."""
    made = array(value)
    if made.size != 1:
        raise InvalidArgumentError(f"value must be a scalar, not of shape {list(made.shape)}")
    with invalid_argument():
        return np.full(whole_numbers(dims, "dims"), made.reshape(())[()], made.dtype)


def _nothing(dtype: Any) -> Any:
    return b"" if as_dtype(dtype).name == "string" else np.zeros((), as_dtype(dtype).numpy)


def _one(dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    return array(True, wanted) if wanted.is_bool else array(1, wanted)


def zeros(shape: Any, dtype: Any = float32, name: Any = None, layout: Any = None) -> Any:
    """Zeros, or empty strings."""
    return fill(shape, _nothing(dtype))


def ones(shape: Any, dtype: Any = float32, name: Any = None, layout: Any = None) -> Any:
    """Ones."""
    return fill(shape, _one(dtype))


@operation()
def zeros_like(input: Any, dtype: Any = None) -> Array:
    """Zeros in the shape of a tensor."""
    made = array(input)
    return np.full(made.shape, _nothing(dtype or made.dtype), as_dtype(dtype or made.dtype).numpy)


@operation()
def ones_like(input: Any, dtype: Any = None) -> Array:
    """Ones in the shape of a tensor."""
    made = array(input)
    wanted = as_dtype(dtype or made.dtype)
    if wanted.name == "string":
        raise InvalidArgumentError("there is no one among strings")
    return np.ones(made.shape, wanted.numpy)


@operation(infer=lambda num_rows, num_columns=None, batch_shape=None, dtype=float32: TensorSpec(None, dtype))
def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32) -> Array:
    """Ones where the row is the column, else zeros."""
    rows = one_number(num_rows, "num_rows")
    columns = rows if num_columns is None else one_number(num_columns, "num_columns")
    made = np.eye(rows, columns, dtype=as_dtype(dtype).numpy)
    batch = [] if batch_shape is None else whole_numbers(batch_shape)
    return np.tile(made, (*batch, 1, 1))


_ORDER = ("int32", "int64", "float32", "float64")


@operation(infer=lambda start, limit, delta, dtype: TensorSpec([None], dtype))
def _counted(start: Any, limit: Any, delta: Any, dtype: Any) -> Array:
    first, end, step = (np.asarray(each).astype(dtype.numpy).item() for each in (start, limit, delta))
    if not step:
        raise InvalidArgumentError("Requires delta != 0: 0")
    if (step > 0 and first > end) or (step < 0 and first < end):
        raise InvalidArgumentError(f"no way from start {first} to limit {end} by delta {step}")
    if dtype.is_integer:
        return np.arange(first, end, step, dtype=dtype.numpy)
    count = math.ceil(abs((end - first) / step))
    kind = dtype.numpy.type
    return np.asarray(kind(first) + np.arange(count).astype(kind) * kind(step), kind)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = "range") -> Any:
    """Numbers from start up to limit, without it, by steps of delta."""
    start, limit = (0, start) if limit is None else (start, limit)
    given = [start, limit, delta]
    if dtype is None:
        names = [convert_to_tensor(each).dtype.name for each in given]
        dtype = max((name for name in names if name in _ORDER), key=_ORDER.index)
    for each in given:
        if convert_to_tensor(each).shape.rank not in (0, None):
            raise InvalidArgumentError("start, limit and delta must be scalars")
    return _counted(*given, as_dtype(dtype))


def _linspace_spec(start: Any, stop: Any, num: Any, axis: int = 0) -> TensorSpec:
    first = spec(start)
    dtype = float64 if first.dtype.is_integer else first.dtype
    if first.shape.rank is None:
        return TensorSpec(None, dtype)
    sizes = first.shape.as_list()
    sizes.insert(
        axis if axis >= 0 else len(sizes) + 1 + axis, None if has_specs(num) else one_number(num, "num")
    )
    return TensorSpec(sizes, dtype)


@operation(infer=_linspace_spec)
def linspace(start: Any, stop: Any, num: Any, axis: int = 0) -> Array:
    """Numbers at equal distances from start to stop, with both."""
    first = array(start)
    if first.dtype.kind in "iu":
        first = first.astype(np.float64)
    last, count = array(stop).astype(first.dtype), one_number(num, "num")
    if count < 0:
        raise InvalidArgumentError(f"Requires num >= 0: {count}")
    return np.linspace(first, last, count, axis=axis, dtype=first.dtype)


def _one_hot_dtype(on_value: Any, off_value: Any, dtype: Any) -> Any:
    found = [spec(each).dtype for each in (on_value, off_value) if each is not None]
    if dtype is not None:
        return as_dtype(dtype)
    if len(found) == 2 and found[0] != found[1]:
        raise TypeError(f"dtype {found[0]} of on_value does not match dtype {found[1]} of off_value")
    return found[0] if found else float32


def _one_hot_rows(indices: Any, depth: Any, *values: Any, axis: Any = None, **options: Any) -> Column | None:
    made = dense(indices)
    if made is None or not no_columns(depth, values, list(options.values())) or len(values) > 2:
        return None
    last = -1 if axis is None else axis
    kernel: Any = one_hot.kernel
    return Dense(kernel(made, depth, *values, axis=row_axis(last), **options))


def _one_hot_spec(indices: Any, depth: Any, *args: Any, **options: Any) -> Any:
    kernel: Any = one_hot.kernel
    if has_specs(depth):
        return TensorSpec(None, kernel(0, 1, *args, **{**options, "axis": None}).dtype)
    return probed(kernel, indices, depth, *args, **options)


@operation(infer=_one_hot_spec, rows=_one_hot_rows)
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None
) -> Array:
    """One at the place that an index names among `depth`, else zero; nowhere for an index outside."""
    where = array(indices)
    if where.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices must be whole numbers, not {as_dtype(where.dtype).name}")
    count = one_number(depth, "depth")
    if count < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {count}")
    wanted = _one_hot_dtype(on_value, off_value, dtype)
    on = array(
        1 if on_value is None else on_value, None if on_value is not None and dtype is None else wanted
    )
    off = array(0 if off_value is None else off_value, wanted)
    last = where.ndim if axis in (None, -1) else axis
    if not 0 <= last <= where.ndim:
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {where.ndim}].  But received: {axis}"
        )
    places = np.arange(count).reshape(-1, *([1] * (where.ndim - last)))
    return np.where(np.expand_dims(where, last) == places, on, off).astype(wanted.numpy)


def _mask_spec(lengths: Any, maxlen: Any = None, dtype: Any = bool_) -> TensorSpec:
    longest = None if maxlen is None or has_specs(maxlen) else one_number(maxlen, "maxlen")
    return TensorSpec(spec(lengths).shape.concatenate([longest]), dtype)


@operation(infer=_mask_spec)
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_) -> Array:
    """True in the first places of each row, as many as its length says."""
    made = array(lengths)
    if maxlen is None:
        if made.dtype.kind not in "if" or made.dtype.itemsize < 4:
            raise InvalidArgumentError(f"the longest of {as_dtype(made.dtype).name} lengths is not known")
        longest = math.ceil(max(made.max(), 0)) if made.size else 0
    else:
        longest, made = one_number(maxlen, "maxlen"), made.astype(np.int64)
    return (np.arange(longest) < made[..., np.newaxis]).astype(as_dtype(dtype).numpy)


@operation(infer=lambda x, shape: TensorSpec(spec(x).shape.merge_with(shape), spec(x).dtype))
def ensure_shape(x: Any, shape: Any) -> Array:
    """The same tensor, if it has the shape.

    Raises:
        InvalidArgumentError: It has another.
    """
    made = array(x)
    if not TensorShape(shape).is_compatible_with(made.shape):
        raise InvalidArgumentError(
            f"Shape of tensor input {list(made.shape)} is not compatible with expected shape"
            f" {TensorShape(shape)}"
        )
    return made


@operation()
def meshgrid(*args: Any, indexing: str = "xy") -> list[Array]:
    """The coordinates of a grid, of those along its sides."""
    made = [array(each) for each in args]
    if len({each.dtype for each in made}) > 1:
        raise InvalidArgumentError("the sides of a grid must be of one dtype")
    grid: Any = np.meshgrid(*made, indexing="ij" if indexing == "ij" else "xy")
    return [np.ascontiguousarray(each) for each in grid]
