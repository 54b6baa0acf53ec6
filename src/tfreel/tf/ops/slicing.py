"""``tensor[key]``: parts of tensors, as Python's slices, numbers, `tf.newaxis` and masks mean them."""

from __future__ import annotations

from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, is_column
from tfreel.tf.ops.static import has_specs, spec, whole_numbers
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import merged, probed
from tfreel.tf.values.tensor import Tensor


def _ends(parts: tuple[Any, ...]) -> list[Any]:
    return [
        end
        for part in parts
        for end in ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,))
    ]


def _pick(tensor: Array, parts: tuple[Any, ...]) -> Array:
    keys: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            ends = (part.start, part.stop, part.step)
            keys.append(slice(*(None if end is None else _whole(end) for end in ends)))
        elif part is None or part is Ellipsis:
            keys.append(part)
        else:
            keys.append(_whole(part))
    try:
        found = tensor[tuple(keys)]
    except (IndexError, ValueError) as error:
        raise InvalidArgumentError(f"slice index out of bounds: {error!s}") from error
    return found if isinstance(found, np.ndarray) else _scalar(found, tensor.dtype)


def _scalar(value: Any, dtype: Any) -> Array:
    made = np.empty((), dtype)
    made[()] = value
    return made


def _whole(part: Any) -> int:
    made = np.asarray(part)
    if made.ndim or made.dtype.kind not in "iu":
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64"
            f" tensors are valid indices, got {part!r}"
        )
    return int(made)


def pick(tensor: Any, key: Any) -> Any:
    """``tensor[key]``, where parts of the key may be tensors themselves."""
    if isinstance(key, bool) or (isinstance(key, (np.ndarray, Tensor)) and key.dtype == bool):
        from tfreel.tf.ops.selection import boolean_mask

        return boolean_mask(tensor, key)
    return picked(tensor, *_as_arguments(key if isinstance(key, tuple) else (key,)))


def _as_arguments(key: tuple[Any, ...]) -> list[Any]:
    """Slices as lists, in which tensors are seen."""
    return [["slice", part.start, part.stop, part.step] if isinstance(part, slice) else part for part in key]


def _as_key(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(*part[1:]) if isinstance(part, list) else part for part in arguments)


def _picked_rows(tensor: Any, *arguments: Any) -> Column | None:
    key = _as_key(arguments)
    if not isinstance(tensor, Dense) or any(map(is_column, _ends(key))):
        return None
    return Dense(_pick(tensor.array, (slice(None), *key)))


def _picked_spec(tensor: Any, *arguments: Any) -> Any:
    """The spec of a part; a slice with a promised end is tried in two lengths, and so of an unknown one."""

    def tried(length: int) -> list[Any]:
        return [
            ["slice", 0, length, None] if isinstance(part, list) and _has_spec(part) else part
            for part in arguments
        ]

    found = [probed(picked.kernel, tensor, *tried(length)) for length in (0, 1)]
    with suppress(InvalidArgumentError):  # of an empty one there may be no such part
        found.append(probed(picked.kernel, _emptied(tensor), *tried(1)))
    return reduce(merged, found)


def _emptied(tensor: Any) -> Any:
    """The spec with zero for the sizes that are not known: ``[:1]`` of it is empty too."""
    if not isinstance(tensor, TensorSpec) or tensor.shape.sizes is None:
        return tensor
    return TensorSpec([size or 0 for size in tensor.shape.sizes], tensor.dtype)


def _has_spec(part: list[Any]) -> bool:
    return any(isinstance(end, TensorSpec) for end in part)


@operation(rows=_picked_rows, infer=_picked_spec)
def picked(tensor: Any, *arguments: Any) -> Array:
    """The part of a tensor that a key means; slices in it are lists."""
    return _pick(array(tensor), _as_key(arguments))


def _strided_spec(input_: Any, begin: Any, end: Any, *args: Any, **options: Any) -> Any:
    known = spec(input_)
    if has_specs(begin, end):
        return TensorSpec(None, known.dtype)
    return probed(strided_slice.kernel, input_, begin, end, *args, **options)


@operation(infer=_strided_spec)
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Array:
    """The part of a tensor between begin and end; bits of the masks say what a place in them means."""
    starts, stops = whole_numbers(begin, "begin"), whole_numbers(end, "end")
    steps = [1] * len(starts) if strides is None else whole_numbers(strides, "strides")
    keys: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            keys.append(Ellipsis)
        elif new_axis_mask & bit:
            keys.append(None)
        elif shrink_axis_mask & bit:
            keys.append(start)
        else:
            keys.append(slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return _pick(array(input_), tuple(keys))
