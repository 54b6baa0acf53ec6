"""Norms, moments, products along axes, and sums of the rows that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.operators import of_kinds, same_dtype
from tfreel.tf.ops.static import has_specs, invalid_argument, one_number, spec, whole_numbers
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec


def _along(axis: Any) -> tuple[int, ...] | None:
    return None if axis is None else tuple(whole_numbers(axis, "axis"))


@operation()
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None) -> Array:
    """How long a vector is, by the powers that `ord` names; all values are one vector if there is no axis.

    Raises:
        ValueError: There is no such norm of vectors.
    """
    made, along = of_kinds(array(tensor), "fc", "norm"), _along(axis)
    sizes, kept = np.abs(made), bool(keepdims)
    if ord in ("euclidean", "fro") or (ord == 2 and (along is None or len(along) == 1)):
        found = np.sqrt(np.sum(sizes * sizes, axis=along, keepdims=kept, dtype=sizes.dtype))
    elif isinstance(ord, str) or ord <= 0 or (along is not None and len(along) != 1):
        raise ValueError(f"'ord' must be 'euclidean' or a positive number for vectors, not {ord!r}")
    elif ord == np.inf:
        found = np.max(sizes, axis=along, keepdims=kept)
    else:
        number = sizes.dtype.type  # with those of Python, NumPy 1 reckons scalars in float64
        found = np.sum(sizes ** number(ord), axis=along, keepdims=kept) ** number(1 / ord)
    return np.asarray(found, sizes.dtype)


@operation()
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, dim: Any = None) -> Array:
    """The values divided by their Euclidean norm along some axes."""
    made = of_kinds(array(x), "f", "nn.l2_normalize")
    squares = np.sum(made * made, axis=_along(dim if axis is None else axis), keepdims=True)
    return np.asarray(made / np.sqrt(np.maximum(squares, made.dtype.type(epsilon))), made.dtype)


@operation()
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> tuple[Array, Array]:
    """The mean and the variance along some axes."""
    made, along = of_kinds(array(x), "f", "nn.moments"), _along(axes)
    wide = made.astype(np.float32) if made.dtype == np.float16 else made
    mean = np.mean(wide, axis=along, keepdims=True)
    variance = np.mean(np.square(wide - mean), axis=along, keepdims=bool(keepdims))
    shown = mean if keepdims else mean.reshape(np.shape(variance))
    return np.asarray(shown, made.dtype), np.asarray(variance, made.dtype)


@operation()
def tensordot(a: Any, b: Any, axes: Any) -> Array:
    """The sums of the products along some axes of two tensors: the last and the first ones, or named ones."""
    first, second = same_dtype(a, b)
    given = array(axes)
    with invalid_argument():
        pair: Any = int(given) if not given.ndim else given.tolist()
        return np.asarray(np.tensordot(first, second, pair), first.dtype)


def _summed(data: Array, owners: Array, count: int) -> Array:
    if data.shape[: owners.ndim] != owners.shape:
        raise InvalidArgumentError(
            f"segment_ids of shape {list(owners.shape)} do not fit to data of shape {list(data.shape)}"
        )
    found = np.zeros((count, *data.shape[owners.ndim :]), data.dtype)
    np.add.at(found, owners[owners >= 0], data[owners >= 0])
    return found


def _segments_spec(data: Any, segment_ids: Any) -> TensorSpec:
    known = spec(data)
    sizes = known.shape.sizes
    return TensorSpec(None if sizes is None else [None, *sizes[1:]], known.dtype)


@operation(infer=_segments_spec)
def segment_sum(data: Any, segment_ids: Any) -> Array:
    """The sums of the rows with the same number; the numbers are sorted."""
    made, owners = of_kinds(array(data), "iufc", "math.segment_sum"), array(segment_ids)
    if owners.ndim != 1 or (owners.size and (owners[0] < 0 or np.any(np.diff(owners) < 0))):
        raise InvalidArgumentError("segment ids are not increasing")
    return _summed(made, owners, int(owners[-1]) + 1 if owners.size else 0)


def _unsorted_spec(data: Any, segment_ids: Any, num_segments: Any) -> TensorSpec:
    known, owners = spec(data), spec(segment_ids)
    if known.shape.sizes is None or owners.shape.rank is None:
        return TensorSpec(None, known.dtype)
    count = None if has_specs(num_segments) else one_number(num_segments, "num_segments")
    return TensorSpec([count, *known.shape.sizes[owners.shape.rank :]], known.dtype)


@operation(infer=_unsorted_spec)
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Array:
    """The sums of the rows with the same number; those with a negative one are left out."""
    made, owners = of_kinds(array(data), "iufc", "math.unsorted_segment_sum"), array(segment_ids)
    count = one_number(num_segments, "num_segments")
    if owners.size and owners.max() >= count:
        raise InvalidArgumentError(f"segment_ids = {owners.max()} is out of range [0, {count})")
    return _summed(made, owners, count)
