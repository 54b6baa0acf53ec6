"""Tensors out of anything: what every operation does first with its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, is_column
from tfreel.tf.values.convert import array, hinted
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, Handle, is_promised
from tfreel.tf.values.tensor import Tensor


def stacked_rows(values: Any, axis: int) -> Column | None:
    """Columns and values side by side, as `stack` puts them in each row; None where they are not alike."""
    columns = [each for each in values if is_column(each)]
    if not columns or not all(isinstance(each, Dense) for each in columns):
        return None
    shape, dtype = columns[0].array.shape, columns[0].array.dtype
    parts = []
    for each in values:
        part = each.array if isinstance(each, Dense) else np.broadcast_to(array(each, dtype), shape)
        if part.shape != shape or part.dtype != dtype or np.ndim(each) not in (0, len(shape) - 1):
            return None
        parts.append(part)
    return Dense(np.stack(parts, axis=axis + 1 if axis >= 0 else axis))


def _packed_rows(values: Any, dtype: Any = None) -> Column | None:
    made = stacked_rows(values, 0)
    if not isinstance(made, Dense) or (dtype is not None and as_dtype(dtype) != as_dtype(made.array.dtype)):
        return None
    return made


@operation(rows=_packed_rows)
def packed(values: Any, dtype: Any = None) -> Array:
    """Lists of tensors as one tensor."""
    return array(values, dtype)


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None) -> Any:
    """A tensor of a value; one that is a tensor already stays itself.

    Raises:
        ValueError: It is a tensor of another dtype, or no tensor can hold it.
        TypeError: The dtype cannot hold it.
    """
    if isinstance(value, Handle):
        found = value.dtype if isinstance(value, Tensor) else None
        if dtype is not None and found is not None and found != as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with"
                f" dtype {found.name}: {value!r}"
            )
        return value
    if is_promised(value):
        return packed(value, dtype)
    if dtype is None and dtype_hint is not None:
        return Tensor.of(hinted(value, dtype_hint))
    return Tensor.of(array(value, dtype))


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of some kind."""
    return isinstance(x, Handle)


def of_one_dtype(values: Sequence[Any]) -> list[Any]:
    """Tensors of values, all of which take the dtype of the first that is a tensor, else of the first."""
    tensors = [each for each in values if isinstance(each, Tensor)]
    if len(tensors) == len(values):
        return tensors
    dtype = (tensors[0] if tensors else convert_to_tensor(values[0])).dtype
    return [each if isinstance(each, Handle) else convert_to_tensor(each, dtype) for each in values]


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as NumPy has it; None if it has none yet."""
    return None if is_promised(tensor) else convert_to_tensor(tensor).numpy()


def dimension_value(dimension: Any) -> int | None:
    """A size of a shape as a number, of either generation; None if it is not known."""
    return None if dimension is None else int(dimension)
