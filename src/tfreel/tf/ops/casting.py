"""Other dtypes for the same values: cast, saturate_cast, bitcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError, UnimplementedError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, all_dense
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import DType, as_dtype, float32, float64, int32, int64
from tfreel.tf.values.handles import Array, RaggedValue, SparseValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec, probed


def _cast_spec(x: Any, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if isinstance(x, TensorSpec):
        _check(x.dtype, wanted)
        return TensorSpec(x.shape, wanted)
    if isinstance(x, SparseTensorSpec):
        return SparseTensorSpec(x.shape, wanted)
    if isinstance(x, RaggedTensorSpec):
        return RaggedTensorSpec(x.shape, wanted, x.ragged_rank, x.row_splits_dtype)
    return probed(cast.kernel, x, dtype)


def _check(found: DType, wanted: DType) -> None:
    if found != wanted and "string" in (found.name, wanted.name):
        reads = "; tf.strings.to_number reads numbers" if found.name == "string" else ""
        reads = "; tf.strings.as_string writes numbers" if wanted.name == "string" else reads
        raise UnimplementedError(f"Cast {found.name} to {wanted.name} is not supported{reads}")


def converted(values: Array, wanted: DType) -> Array:
    """An array of another dtype: floats lose what is behind the point, whole numbers what does not fit."""
    found = as_dtype(values.dtype)
    if found == wanted:
        return values
    _check(found, wanted)
    if found.is_complex and not wanted.is_complex:
        values = values.real
    with np.errstate(all="ignore"):
        return values.astype(wanted.numpy)


def _cast_rows(x: Any, dtype: Any) -> Column | None:
    return Dense(converted(x.array, as_dtype(dtype))) if all_dense([x]) else None


@operation(infer=_cast_spec, rows=_cast_rows)
def cast(x: Any, dtype: Any) -> Any:
    """The values as another dtype."""
    wanted = as_dtype(dtype)
    if isinstance(x, (SparseValue, RaggedValue)):
        return x._replace(values=cast.kernel(x.values, wanted))
    return converted(array(x), wanted)


def to_float(x: Any, name: Any = None) -> Any:
    """The values as float32."""
    return cast(x, float32)


def to_double(x: Any, name: Any = None) -> Any:
    """The values as float64."""
    return cast(x, float64)


def to_int32(x: Any, name: Any = None) -> Any:
    """The values as int32."""
    return cast(x, int32)


def to_int64(x: Any, name: Any = None) -> Any:
    """The values as int64."""
    return cast(x, int64)


@operation(infer=_cast_spec)
def saturate_cast(value: Any, dtype: Any) -> Array:
    """The values as another dtype, at its least or greatest where they are beyond."""
    made, wanted = array(value), as_dtype(dtype)
    if made.dtype.kind in "iuf" and (wanted.is_integer or wanted.is_floating):
        found = as_dtype(made.dtype)
        made = np.clip(made, _edge(found, wanted.min, up=True), _edge(found, wanted.max, up=False))
    return converted(made, wanted)


def _edge(found: DType, limit: Any, *, up: bool) -> Any:
    """A limit of another dtype as a value of this one that is not beyond it."""
    if found.is_integer:
        return min(max(int(limit), found.min), found.max)
    edge = np.asarray(limit).astype(found.numpy)
    beyond = float(edge) < float(limit) if up else float(edge) > float(limit) or int(edge) > int(limit)
    return np.nextafter(edge, np.asarray(0, edge.dtype)) if beyond else edge


@operation()
def bitcast(input: Any, type: Any) -> Array:
    """The bytes of the values as values of another dtype."""
    made, wanted = array(input), as_dtype(type).numpy
    if made.dtype == object or as_dtype(type).name == "string":
        raise InvalidArgumentError("strings have no bits to cast")
    made = np.asarray(made, order="C")
    if wanted.itemsize <= made.dtype.itemsize:
        parts = made.dtype.itemsize // wanted.itemsize
        shape = made.shape if parts == 1 else (*made.shape, parts)
        return made.reshape(-1).view(wanted).reshape(shape)
    if not made.ndim or made.shape[-1] * made.dtype.itemsize != wanted.itemsize:
        raise InvalidArgumentError(f"Cannot bitcast a shape of {list(made.shape)} to wider values")
    return made.reshape(-1).view(wanted).reshape(made.shape[:-1])
