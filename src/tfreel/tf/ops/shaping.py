"""The same values in other shapes and orders: reshape, stack, concat, pad, transpose, …."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, is_column
from tfreel.tf.ops.conversion import stacked_rows
from tfreel.tf.ops.static import (
    dense,
    has_specs,
    invalid_argument,
    known_sizes,
    no_columns,
    one_number,
    row_axis,
    same_for_all,
    spec,
    whole_numbers,
)
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, TensorList
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import of_unknown_sizes, probed


def tensors(values: Any) -> list[Array]:
    """The arrays of a list of values, all of one dtype.

    Raises:
        InvalidArgumentError: They are of several.
    """
    if isinstance(values, np.ndarray):
        return list(values)
    first = next((each for each in values if isinstance(each, np.ndarray)), None)
    dtype = array(values[0]).dtype if first is None else array(first).dtype
    made = [each if isinstance(each, np.ndarray) else array(each, dtype) for each in values]
    for each in made:
        if each.dtype != dtype and isinstance(values, TensorList):
            raise InvalidArgumentError(
                f"cannot put tensors of {as_dtype(dtype).name} and {as_dtype(each.dtype).name} together;"
                " tf.cast makes one of the other"
            )
    return [array(each, dtype) for each in made]


def _stack_rows(values: Any, axis: int = 0) -> Column | None:
    return stacked_rows(values, axis) if isinstance(values, (list, tuple)) else None


@operation(rows=_stack_rows)
def stack(values: Any, axis: int = 0) -> Array:
    """Tensors of one shape as one with a dimension more."""
    if not isinstance(values, (np.ndarray, TensorList)):
        try:
            values = array(values)
        except (TypeError, ValueError):
            values = list(values)
    if not len(values):
        return array(values)
    parts = [np.asarray(each) for each in tensors(values)]
    if any(each.shape != parts[0].shape for each in parts):
        raise InvalidArgumentError(f"Shapes of all inputs must match: {[list(each.shape) for each in parts]}")
    if not -parts[0].ndim - 1 <= axis <= parts[0].ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-parts[0].ndim - 1}, {parts[0].ndim + 1})")
    return np.stack(parts, axis)


def _unstack_spec(value: Any, num: int | None = None, axis: int = 0) -> Any:
    known = spec(value)
    if known.shape.is_fully_defined():
        return probed(unstack.kernel, value, num, axis)
    sizes = [] if known.shape.rank is None else known.shape.as_list()
    count = (sizes.pop(axis) if sizes else None) or num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {known.shape}")
    return [TensorSpec(None if known.shape.rank is None else sizes, known.dtype)] * count


@operation(infer=_unstack_spec)
def unstack(value: Any, num: int | None = None, axis: int = 0) -> list[Array]:
    """The parts of a tensor along an axis."""
    made = array(value)
    if not -made.ndim <= axis < made.ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-made.ndim}, {made.ndim})")
    if num is not None and num != made.shape[axis]:
        raise InvalidArgumentError(f"expected {num} parts along axis {axis}, not {made.shape[axis]}")
    return [np.array(each, made.dtype) if not made.ndim - 1 else each for each in np.moveaxis(made, axis, 0)]


def _concat_rows(values: Any, axis: Any) -> Column | None:
    if not isinstance(values, (list, tuple)) or not no_columns(axis):
        return None
    columns = [each for each in values if is_column(each)]
    arrays = [dense(each) for each in columns]
    if any(each is None for each in arrays):
        return None
    count, dtype = len(columns[0]), next(each.dtype for each in arrays if each is not None)
    parts = []
    for each in values:
        part = dense(each)
        if part is None:
            part = array(each, dtype)
            part = np.broadcast_to(part, (count, *part.shape))
        if part.dtype != dtype or part.ndim < 2:
            return None
        parts.append(part)
    with invalid_argument():
        return Dense(np.concatenate(parts, row_axis(one_number(axis, "axis"))))


@operation(rows=_concat_rows)
def concat(values: Any, axis: Any) -> Array:
    """Tensors one behind the other along an axis."""
    where = one_number(axis, "axis")
    if not isinstance(values, (list, tuple)):
        return array(values)
    if not values:
        raise InvalidArgumentError("there is nothing to concatenate")
    parts = tensors(values)
    if len(parts) == 1:
        return parts[0]
    with invalid_argument():
        return np.concatenate(parts, where)


def _resolved(sizes: list[int], count: int) -> list[int]:
    """Sizes with a number in place of -1.

    Raises:
        InvalidArgumentError: No number would do.
    """
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("Only one input size may be -1")
    if any(size < -1 for size in sizes):
        raise InvalidArgumentError(f"sizes must be non-negative, not {sizes}")
    known = math.prod(size for size in sizes if size >= 0)
    if -1 in sizes:
        rest = count // known if known else 1
        sizes = [rest if size == -1 else size for size in sizes]
    if math.prod(sizes) != count:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape is {sizes}"
        )
    return sizes


def _reshape_spec(tensor: Any, shape: Any) -> TensorSpec:
    known = spec(tensor)
    sizes = known_sizes(shape)
    if sizes is None or not known.shape.is_fully_defined() or has_specs(shape):
        return TensorSpec(sizes, known.dtype)
    return TensorSpec(_resolved(whole_numbers(shape), known.shape.num_elements() or 0), known.dtype)


def _reshape_rows(tensor: Any, shape: Any) -> Column | None:
    made, sizes = dense(tensor), same_for_all(shape)
    if made is None or sizes is None:
        return None
    return Dense(
        made.reshape(len(made), *_resolved(whole_numbers(sizes, "shape"), math.prod(made.shape[1:])))
    )


@operation(infer=_reshape_spec, rows=_reshape_rows)
def reshape(tensor: Any, shape: Any) -> Array:
    """The same values, in the same order, in another shape; -1 for a size that follows from the others."""
    made = array(tensor)
    return made.reshape(_resolved(whole_numbers(shape, "shape"), made.size))


def _axes(axis: Any) -> tuple[int, ...] | None:
    return None if axis is None else tuple(whole_numbers(axis, "axis")) or None


def _squeeze_rows(input: Any, axis: Any = None, squeeze_dims: Any = None) -> Column | None:
    made = dense(input)
    if made is None or not no_columns(axis):
        return None
    axes = _axes(squeeze_dims if axis is None else axis)
    if axes is None:
        axes = tuple(i - 1 for i, size in enumerate(made.shape) if i and size == 1)
    with invalid_argument():
        return Dense(np.squeeze(made, tuple(row_axis(each) for each in axes)))


@operation(rows=_squeeze_rows)
def squeeze(input: Any, axis: Any = None, squeeze_dims: Any = None) -> Array:
    """The tensor without its dimensions, or those named, of size one."""
    with invalid_argument():
        return np.squeeze(array(input), _axes(squeeze_dims if axis is None else axis))


def _expand_dims_rows(input: Any, axis: Any = None, dim: Any = None) -> Column | None:
    made, where = dense(input), dim if axis is None else axis
    if made is None or not no_columns(where):
        return None
    with invalid_argument():
        return Dense(np.expand_dims(made, row_axis(one_number(where, "axis"))))


@operation(rows=_expand_dims_rows)
def expand_dims(input: Any, axis: Any = None, dim: Any = None) -> Array:
    """The tensor with a dimension of size one more."""
    with invalid_argument():
        return np.expand_dims(array(input), one_number(dim if axis is None else axis, "axis"))


def _tile_spec(input: Any, multiples: Any) -> Any:
    return of_unknown_sizes(spec(input)) if has_specs(multiples) else probed(tile.kernel, input, multiples)


@operation(infer=_tile_spec)
def tile(input: Any, multiples: Any) -> Array:
    """The tensor several times along its dimensions."""
    made, times = array(input), whole_numbers(multiples, "multiples")
    if len(times) != made.ndim or any(each < 0 for each in times):
        raise InvalidArgumentError(f"Expected {made.ndim} multiples of at least 0, not {times}")
    return np.tile(made, times)


def _transpose_rows(a: Any, perm: Any = None, conjugate: bool = False) -> Column | None:
    made = dense(a)
    if made is None or not no_columns(perm) or conjugate:
        return None
    rank = made.ndim - 1
    order = list(reversed(range(rank))) if perm is None else whole_numbers(perm, "perm")
    with invalid_argument():
        return Dense(np.ascontiguousarray(np.transpose(made, [0, *(each % rank + 1 for each in order)])))


@operation(rows=_transpose_rows)
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Array:
    """The tensor with its dimensions in another order; reversed if none is given."""
    made = array(a)
    with invalid_argument():
        order = None if perm is None else whole_numbers(perm, "perm")
        made = np.asarray(np.transpose(made, order), order="C")
    return np.conj(made) if conjugate else made


_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pad_spec(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    if not has_specs(paddings):
        return probed(pad.kernel, tensor, paddings, mode)
    known = spec(tensor)
    return TensorSpec(None if known.shape.rank is None else [None] * known.shape.rank, known.dtype)


@operation(infer=_pad_spec)
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Array:
    """The tensor with values before and behind it along each dimension."""
    made, widths = array(tensor), array(paddings)
    if mode.upper() not in _MODES:
        raise ValueError(f"Value of argument `mode` expected to be one of {sorted(_MODES)}, not {mode!r}")
    if widths.shape != (made.ndim, 2) or widths.dtype.kind not in "iu":
        raise InvalidArgumentError(f"paddings must be of shape [{made.ndim}, 2], not {list(widths.shape)}")
    if np.any(widths < 0):
        raise InvalidArgumentError(f"Paddings must be non-negative: {widths.tolist()}")
    mode = mode.upper()
    if mode == "CONSTANT":
        filler: Any = b"" if made.dtype == object and not constant_values else constant_values
        return np.pad(made, widths, constant_values=array(filler, made.dtype)[()])
    most = np.array(made.shape) - (mode == "REFLECT")
    if np.any(widths > most[:, np.newaxis]):
        raise InvalidArgumentError(f"paddings must be no greater than the dimension sizes: {widths.tolist()}")
    return np.pad(made, widths, mode=_MODES[mode])  # type: ignore[call-overload, no-any-return]


def _split_sizes(num_or_size_splits: Any, total: int) -> list[int]:
    made = array(num_or_size_splits)
    if made.ndim == 0:
        count = one_number(made, "num_or_size_splits")
        if count <= 0 or total % count:
            raise InvalidArgumentError(f"cannot split a dimension of {total} in {count} equal parts")
        return [total // count] * count
    sizes = whole_numbers(made, "num_or_size_splits")
    if sizes.count(-1) == 1:
        rest = total - sum(size for size in sizes if size >= 0)
        sizes = [rest if size == -1 else size for size in sizes]
    if sum(sizes) != total or any(size < 0 for size in sizes):
        raise InvalidArgumentError(f"cannot split a dimension of {total} in parts of {sizes}")
    return sizes


def _split_spec(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> Any:
    known, sizes = spec(value), None if has_specs(axis) else spec(num_or_size_splits).shape
    if sizes is None or sizes.rank is None or (sizes.rank == 0 and has_specs(num_or_size_splits)):
        raise ValueError("Cannot infer argument `num`: the number of parts has to be known")
    if known.shape.is_fully_defined() and not has_specs(num_or_size_splits):
        return probed(split.kernel, value, num_or_size_splits, axis)
    count = (
        one_number(num_or_size_splits, "num_or_size_splits") if sizes.rank == 0 else num or sizes.as_list()[0]
    )
    return [TensorSpec(None, known.dtype) for _ in range(count or 0)]


@operation(infer=_split_spec)
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> list[Array]:
    """The tensor in equal parts, or in parts of given sizes, along an axis."""
    made, where = array(value), one_number(axis, "axis")
    if not -made.ndim <= where < made.ndim:
        raise InvalidArgumentError(f"axis {where} of a tensor with {made.ndim} dimensions")
    sizes = _split_sizes(num_or_size_splits, made.shape[where])
    return [np.ascontiguousarray(each) for each in np.split(made, np.cumsum(sizes)[:-1], where)]


@operation()
def reverse(tensor: Any, axis: Any) -> Array:
    """The tensor backwards along some axes."""
    made = array(tensor)
    with invalid_argument():
        return np.flip(made, tuple(whole_numbers(axis, "axis"))).copy()


@operation()
def roll(input: Any, shift: Any, axis: Any) -> Array:
    """The tensor with its values moved round along some axes."""
    with invalid_argument():
        return np.roll(array(input), tuple(whole_numbers(shift, "shift")), tuple(whole_numbers(axis, "axis")))


def _repeat_spec(input: Any, repeats: Any, axis: Any = None) -> Any:
    if not has_specs(repeats):
        return probed(repeat.kernel, input, repeats, axis)
    known = spec(input)
    sizes = [None] if axis is None else known.shape.sizes and known.shape.as_list()
    if sizes:
        sizes[axis or 0] = None
    return TensorSpec(sizes, known.dtype)


@operation(infer=_repeat_spec)
def repeat(input: Any, repeats: Any, axis: Any = None) -> Array:
    """The tensor with each of its values, or parts along an axis, several times."""
    made = array(input)
    times = whole_numbers(repeats, "repeats")
    return np.repeat(made, times[0] if len(times) == 1 else times, axis)


@operation(infer=lambda input, shape: TensorSpec(known_sizes(shape), spec(input).dtype))
def broadcast_to(input: Any, shape: Any) -> Array:
    """The tensor as often as it takes to fill a shape."""
    made = array(input)
    with invalid_argument():
        return np.broadcast_to(made, whole_numbers(shape, "shape")).copy()
