"""Some of the values, or their places: gather, where, boolean_mask, sort, argmax, unique, …."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense
from tfreel.tf.ops.conversion import convert_to_tensor, of_one_dtype
from tfreel.tf.ops.operators import elementwise, of_kinds
from tfreel.tf.ops.static import (
    dense,
    has_specs,
    invalid_argument,
    known_sizes,
    no_columns,
    one_number,
    row_axis,
    spec,
    unranked,
    whole_numbers,
)
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, bool_, int32, int64
from tfreel.tf.values.handles import Array, Handle
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import probed


def _indices(value: Any, most: int, what: str = "indices") -> Array:
    made = array(value)
    if made.dtype.kind != "i" or made.dtype.itemsize == 1:
        raise InvalidArgumentError(f"{what} must be int32 or int64, not {as_dtype(made.dtype).name}")
    if made.size and (made.min() < 0 or made.max() >= most):
        wrong = int(made.min() if made.min() < 0 else made.max())
        raise InvalidArgumentError(f"{what} has {wrong}, which is not in [0, {most})")
    return made


def _gather_spec(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0
) -> Any:
    if has_specs(axis):
        return unranked(params)
    return probed(gather.kernel, params, indices, validate_indices, axis, batch_dims)


@operation(infer=_gather_spec)
def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0
) -> Array:
    """The parts of a tensor along an axis that indices name."""
    made, first = array(params), array(indices)
    batch = batch_dims if batch_dims >= 0 else batch_dims + first.ndim
    where = batch if axis is None else one_number(axis, "axis")
    where = where + made.ndim if where < 0 else where
    if not batch <= where < made.ndim or first.shape[:batch] != made.shape[:batch]:
        raise InvalidArgumentError(
            f"cannot gather along axis {axis} with batch_dims={batch_dims} of {list(made.shape)}"
        )
    places = _indices(first, made.shape[where])
    if not batch:
        return np.take(made, places, where)
    lead = made.shape[:batch]
    rows = [np.take(made[at], places[at], where - batch) for at in np.ndindex(lead)]
    shape = (*made.shape[:where], *places.shape[batch:], *made.shape[where + 1 :])
    return np.stack(rows).reshape(shape) if rows else np.empty(shape, made.dtype)


def _gather_nd_spec(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    return probed(gather_nd.kernel, params, indices, batch_dims)


@operation(infer=_gather_nd_spec)
def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Array:
    """The parts of a tensor at places that have several coordinates each."""
    made, places = array(params), array(indices)
    if batch_dims:
        lead = made.shape[:batch_dims]
        return np.stack([gather_nd.kernel(made[at], places[at]) for at in np.ndindex(lead)]).reshape(
            *lead, *places.shape[batch_dims:-1], *made.shape[batch_dims + places.shape[-1] :]
        )
    if not places.ndim or places.shape[-1] > made.ndim:
        raise InvalidArgumentError(f"cannot find {list(places.shape)} in a tensor of {list(made.shape)}")
    parts = tuple(_indices(places[..., i], made.shape[i]) for i in range(places.shape[-1]))
    found = made[parts] if parts else np.broadcast_to(made, (*places.shape[:-1], *made.shape))
    return found if isinstance(found, np.ndarray) else _like(found, made)


def _like(value: Any, of: Array) -> Array:
    made = np.empty((), of.dtype)
    made[()] = value
    return made


def _masked_spec(tensor: Any, mask: Any, axis: Any = None) -> TensorSpec:
    known, rank = spec(tensor), spec(mask).shape.rank
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if known.shape.rank is None or rank is None or has_specs(axis):
        return TensorSpec(None, known.dtype)
    where = 0 if axis is None else one_number(axis, "axis") % known.shape.rank
    sizes = known.shape.as_list()
    return TensorSpec([*sizes[:where], None, *sizes[where + rank :]], known.dtype)


@operation(infer=_masked_spec)
def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Array:
    """The parts of a tensor where a mask is true."""
    made, chosen = array(tensor), array(mask)
    if not chosen.ndim:
        raise ValueError("mask cannot be scalar.")
    where = 0 if axis is None else one_number(axis, "axis")
    where = where + made.ndim if where < 0 else where
    if made.shape[where : where + chosen.ndim] != chosen.shape:
        raise ValueError(f"Shapes {list(made.shape[where:])} and {list(chosen.shape)} are incompatible")
    of_kinds(chosen, "b", "boolean_mask")
    keys: list[Any] = [slice(None)] * where
    return np.asarray(made[(*keys, chosen)])


@elementwise
def _chosen(condition: Any, x: Any, y: Any) -> Any:
    which = array(condition)
    if x.dtype != y.dtype:
        raise InvalidArgumentError(
            f"cannot choose between {as_dtype(x.dtype).name} and {as_dtype(y.dtype).name}; tf.cast makes one"
        )
    with invalid_argument():
        return np.where(of_kinds(which, "b", "where"), x, y)


@operation(infer=lambda condition: TensorSpec([None, spec(condition).shape.rank], int64))
def _true_places(condition: Any) -> Array:
    made = of_kinds(array(condition), "biufc", "where")
    if not made.ndim:
        raise InvalidArgumentError("WhereOp : a scalar has no places")
    return np.argwhere(made).astype(np.int64)


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """The values of x where a condition is true and else of y; without these, the places where it is true.

    Raises:
        ValueError: Only one of x and y is given.
    """
    if x is None and y is None:
        return _true_places(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if not isinstance(condition, Handle):
        condition = convert_to_tensor(condition, bool_)
    return _chosen(condition, *of_one_dtype([x, y]))


class Unique(NamedTuple):
    """The values of a vector once each, and which of them stands at each place."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The values of a vector once each, which of them stands at each place, and how often each does."""

    y: Any
    idx: Any
    count: Any


def _unique_parts(x: Any, out_idx: Any) -> tuple[Array, Array, Array]:
    made = array(x)
    if made.ndim != 1:
        raise InvalidArgumentError("unique expects a 1D vector.")
    _, first, inverse, counts = np.unique(made, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    index = as_dtype(out_idx).numpy
    return made[first[order]], place[inverse.reshape(-1)].astype(index), counts[order].astype(index)


@operation(
    infer=lambda x, out_idx=int32: Unique(
        TensorSpec([None], spec(x).dtype), TensorSpec(spec(x).shape, out_idx)
    )
)
def unique(x: Any, out_idx: Any = int32) -> Unique:
    """The values of a vector once each, in the order in which they come."""
    return Unique(*_unique_parts(x, out_idx)[:2])


@operation(
    infer=lambda x, out_idx=int32: UniqueWithCounts(
        TensorSpec([None], spec(x).dtype), TensorSpec(spec(x).shape, out_idx), TensorSpec([None], out_idx)
    )
)
def unique_with_counts(x: Any, out_idx: Any = int32) -> UniqueWithCounts:
    """The values of a vector once each, in the order in which they come, and how often."""
    return UniqueWithCounts(*_unique_parts(x, out_idx))


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING or DESCENDING. Received: {direction}"
        )
    return direction == "DESCENDING"


def _order(made: Array, axis: int, *, descending: bool) -> Array:
    """Where the values stand in order; of equal ones the first comes first, in both directions."""
    if not descending:
        return np.argsort(made, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(made, axis), axis=axis, kind="stable")
    return np.flip(made.shape[axis] - 1 - backwards, axis)


@operation()
def sort(values: Any, axis: int = -1, direction: str = "ASCENDING") -> Array:
    """The values along an axis in their order."""
    made = of_kinds(array(values), "iuf", "sort")
    with invalid_argument():
        found = np.sort(made, axis=axis)
    return np.flip(found, axis).copy() if _descending(direction) else found


@operation()
def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False) -> Array:
    """Where the values along an axis stand in their order."""
    made = of_kinds(array(values), "iuf", "argsort")
    if not made.ndim:
        raise InvalidArgumentError("tf.argsort wants a tensor with a dimension")
    return _order(made, axis, descending=_descending(direction)).astype(np.int32)


def _greatest(name: str, find: Any) -> Any:
    def rows(input: Any, axis: Any = None, output_type: Any = int64, dimension: Any = None) -> Column | None:
        made, axis = dense(input), dimension if axis is None else axis
        if made is None or not no_columns(axis) or made.ndim < 2:
            return None
        along = row_axis(0 if axis is None else one_number(axis, "axis"))
        with invalid_argument():
            return Dense(np.asarray(find(made, along)).astype(as_dtype(output_type).numpy))

    @operation(rows=rows)
    def kernel(input: Any, axis: Any = None, output_type: Any = int64, dimension: Any = None) -> Array:
        made, axis = of_kinds(array(input), "biuf", name), dimension if axis is None else axis
        if not made.ndim:
            raise InvalidArgumentError(f"tf.{name} wants a tensor with a dimension")
        with invalid_argument():
            found = find(made, 0 if axis is None else one_number(axis, "axis"))
        return np.asarray(found).astype(as_dtype(output_type).numpy)

    kernel.__doc__ = f"`tf.{name}`: the first place along an axis."
    return kernel


argmax = _greatest("argmax", np.argmax)
argmin = _greatest("argmin", np.argmin)


class TopK(NamedTuple):
    """The greatest values, and where they stand."""

    values: Any
    indices: Any


def _top_k_spec(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32) -> TopK:
    known = spec(input)
    count = None if has_specs(k) else one_number(k, "k")
    shape = TensorShape(None) if known.shape.rank is None else known.shape[:-1].concatenate([count])
    return TopK(TensorSpec(shape, known.dtype), TensorSpec(shape, index_type))


@operation(infer=_top_k_spec)
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32) -> TopK:
    """The greatest values of each row; of equal ones the first comes first."""
    made, count = of_kinds(array(input), "iuf", "math.top_k"), one_number(k, "k")
    if not made.ndim or not 0 <= count <= made.shape[-1]:
        raise InvalidArgumentError(f"input must have at least k={count} columns, not {list(made.shape)}")
    places = _order(made, -1, descending=True)[..., :count]
    return TopK(np.take_along_axis(made, places, -1), places.astype(as_dtype(index_type).numpy))


def _slice_spec(input_: Any, begin: Any, size: Any) -> Any:
    if not has_specs(begin, size):
        return probed(slice_.kernel, input_, begin, size)
    known = spec(input_)
    sizes = None if known.shape.rank is None else [None] * known.shape.rank
    if isinstance(size, (list, tuple)) and sizes is not None:
        sizes = [None if isinstance(each, TensorSpec) or int(each) < 0 else int(each) for each in size]  # type: ignore[misc]
    return TensorSpec(sizes, known.dtype)


@operation(infer=_slice_spec)
def slice_(input_: Any, begin: Any, size: Any) -> Array:
    """The part of a tensor that begins somewhere and has a size; -1 for all that is left."""
    made, starts, sizes = array(input_), whole_numbers(begin, "begin"), whole_numbers(size, "size")
    if len(starts) != made.ndim or len(sizes) != made.ndim:
        raise InvalidArgumentError(f"Expected begin and size to be of {made.ndim} numbers")
    keys = []
    for at, count, most in zip(starts, sizes, made.shape, strict=True):
        end = most if count == -1 else at + count
        if not 0 <= at <= end <= most:
            raise InvalidArgumentError(f"a slice from {at} of size {count} in a dimension of {most}")
        keys.append(builtins.slice(at, end))
    return made[tuple(keys)] if keys else made


@operation()
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32) -> Array:
    """Where values would stand among sorted ones."""
    made, wanted = array(sorted_sequence), array(values)
    if made.ndim != wanted.ndim or made.shape[:-1] != wanted.shape[:-1]:
        raise InvalidArgumentError("sorted_sequence and values must have the same leading dimensions")
    kind = as_dtype(out_type).numpy
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    found = np.empty(wanted.shape, kind)
    for at in np.ndindex(made.shape[:-1]):
        found[at] = np.searchsorted(made[at], wanted[at], side)  # type: ignore[call-overload]
    return found


def _scattered(made: Array, indices: Any, updates: Any) -> tuple[tuple[Array, ...], Array]:
    """Where in a tensor values go, and these."""
    places, news = array(indices), array(updates, made.dtype)
    if not places.ndim or places.shape[-1] > made.ndim:
        raise InvalidArgumentError(f"cannot find {list(places.shape)} in a tensor of {list(made.shape)}")
    parts = tuple(_indices(places[..., i], made.shape[i]) for i in range(places.shape[-1]))
    if news.shape != (*places.shape[:-1], *made.shape[places.shape[-1] :]):
        raise InvalidArgumentError(f"updates of shape {list(news.shape)} do not fit")
    return parts, news


@operation()
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any) -> Array:
    """The tensor with other values at some places."""
    made = array(tensor).copy()
    parts, news = _scattered(made, indices, updates)
    made[parts] = news
    return made


@operation()
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any) -> Array:
    """The tensor with values added at some places, several at one if it is named several times."""
    made = of_kinds(array(tensor), "iufc", "tensor_scatter_nd_add").copy()
    np.add.at(made, *_scattered(made, indices, updates))
    return made


def _scatter_spec(indices: Any, updates: Any, shape: Any) -> TensorSpec:
    return TensorSpec(known_sizes(shape), spec(updates).dtype)


@operation(infer=_scatter_spec)
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Array:
    """Zeros with values added at some places."""
    news = of_kinds(array(updates), "iufc", "scatter_nd")
    made = np.zeros(whole_numbers(shape, "shape"), news.dtype)
    np.add.at(made, *_scattered(made, indices, news))
    return made
