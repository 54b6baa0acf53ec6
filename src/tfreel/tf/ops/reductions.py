"""Fewer values out of many, along some axes: sums, means, extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.graphs.rows import Column, Dense
from tfreel.tf.ops.operators import of_kinds
from tfreel.tf.ops.static import (
    dense,
    has_specs,
    invalid_argument,
    no_columns,
    row_axis,
    unranked,
    whole_numbers,
)
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, bool_, int64
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import probed

Compute = Callable[..., Any]


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes to reduce; all if none is named.

    Raises:
        InvalidArgumentError: There are not so many.
    """
    if axis is None:
        return tuple(range(rank))
    named = whole_numbers(axis, "axis")
    for each in named:
        if not -rank <= each < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({each} for input with {rank} dimension(s))"
            )
    found = tuple(each % rank for each in named)
    if len(set(found)) < len(found):
        raise InvalidArgumentError("Invalid reduction arguments: Axes contains duplicate dimension")
    return found


def _reduction(name: str, compute: Compute, kinds: str, exact: str = "") -> Operation:
    """An operation that reduces axes; `exact` kinds come out the same if many rows are reduced at once.

    First-generation code says `reduction_indices` and `keep_dims` for `axis` and `keepdims`.
    """

    def kernel(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Array:
        wanted = bool_ if kinds == "b" and not isinstance(input_tensor, np.ndarray) else None
        made = of_kinds(array(input_tensor, wanted), kinds, name)
        axes = _axes(reduction_indices if axis is None else axis, made.ndim)
        with np.errstate(all="ignore"):
            return np.asarray(compute(made, axis=axes, keepdims=bool(keepdims or keep_dims)))

    def rows(input_tensor: Any, axis: Any = None, keepdims: Any = None, **old: Any) -> Column | None:
        made = dense(input_tensor)
        if made is None or made.dtype.kind not in exact or not no_columns(axis) or old:
            return None
        axes = tuple(row_axis(each) for each in _axes(axis, made.ndim - 1))
        return Dense(np.asarray(compute(made, axis=axes, keepdims=bool(keepdims))))

    def infer(input_tensor: Any, axis: Any = None, keepdims: Any = None, **old: Any) -> Any:
        if has_specs(axis):
            return unranked(probed(kernel, input_tensor))
        return probed(kernel, input_tensor, axis, keepdims, **old)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"`tf.{name}` along some axes, or all."
    return Operation(kernel, infer, rows, of_ragged=_of_ragged)


def _of_ragged(compute: Operation, *args: Any, **options: Any) -> Any:
    from tfreel.tf.ops.ragged_reductions import reduced

    return reduced(compute, *args, **options)


def _sum(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype))


def _product(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype))


def _count(x: Array, axis: tuple[int, ...]) -> int:
    count = 1
    for each in axis:
        count *= x.shape[each]
    return count


def _mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    count = _count(x, axis)
    if not count:
        nothing = np.nan if x.dtype.kind in "fc" else 0
        return np.full_like(_sum(x, axis, keepdims), nothing)
    if x.dtype.kind in "fc":
        return np.asarray(np.mean(x, axis=axis, keepdims=keepdims), x.dtype)
    total = np.asarray(np.sum(x, axis=axis, keepdims=keepdims, dtype=np.int64))
    whole = np.abs(total) // count  # towards zero, where Python goes down
    return np.where(total < 0, -whole, whole).astype(x.dtype)


def _extreme(find: Any, least: bool) -> Compute:
    def compute(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
        if _count(x, axis):
            return np.asarray(find(x, axis=axis, keepdims=keepdims))
        limits: Any = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        start = (limits.min if least else limits.max) if limits else (-np.inf if least else np.inf)
        return np.asarray(find(x, axis=axis, keepdims=keepdims, initial=start))

    return compute


def _of_floats(find: Any) -> Compute:
    def compute(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
        if x.dtype.kind != "f":
            raise TypeError(f"Input must be either real or complex. Received {as_dtype(x.dtype).name}.")
        if not _count(x, axis):
            return np.full_like(_sum(x, axis, keepdims), np.nan)
        return np.asarray(find(x, axis=axis, keepdims=keepdims), x.dtype)

    return compute


def _log_sum_exp(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    most = np.max(x, axis=axis, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    found = np.log(np.sum(np.exp(x - most), axis=axis, keepdims=True)) + most
    return np.asarray(found if keepdims else np.squeeze(found, axis), x.dtype)


reduce_sum = _reduction("reduce_sum", _sum, "iufc", exact="iu")
reduce_prod = _reduction("reduce_prod", _product, "iufc", exact="iu")
reduce_mean = _reduction("reduce_mean", _mean, "iufc", exact="iu")
reduce_max = _reduction("reduce_max", _extreme(np.max, least=True), "iuf", exact="iuf")
reduce_min = _reduction("reduce_min", _extreme(np.min, least=False), "iuf", exact="iuf")
reduce_any = _reduction("reduce_any", np.any, "b", exact="b")
reduce_all = _reduction("reduce_all", np.all, "b", exact="b")
reduce_variance = _reduction("math.reduce_variance", _of_floats(np.var), "biufc")
reduce_std = _reduction("math.reduce_std", _of_floats(np.std), "biufc")
reduce_logsumexp = _reduction("reduce_logsumexp", _log_sum_exp, "f")


@operation(infer=lambda input, axis=None, keepdims=False, dtype=int64: TensorSpec(None, dtype))
def count_nonzero(input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = int64) -> Array:
    """How many values are not zero, or not empty."""
    made = array(input)
    there = made != (b"" if made.dtype == object else 0)
    with invalid_argument():
        found = np.sum(there, axis=_axes(axis, made.ndim), keepdims=keepdims)
    return np.asarray(found).astype(as_dtype(dtype).numpy)
