"""``ragged[key]``: rows, parts of rows, and parts of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.ragged_parts import flat_of, nested_splits, taken
from tfreel.tf.values.handles import RaggedValue
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec


def as_arguments(key: Any) -> list[Any]:
    """The parts of a key, with slices as lists, in which tensors are seen."""
    parts = key if isinstance(key, tuple) else (key,)
    return [
        ["slice", each.start, each.stop, each.step] if isinstance(each, slice) else each for each in parts
    ]


def _as_key(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(*part[1:]) if isinstance(part, list) else part for part in arguments)


def _spec(ragged: RaggedTensorSpec, *arguments: Any) -> Any:
    """How deep the rows of a part are: found with a tensor of one value, of which all is taken."""
    key = tuple(_whole_part(part) for part in _as_key(arguments))
    value: Any = np.zeros([1] * (len(ragged.shape) - ragged.ragged_rank), ragged.dtype.numpy)
    for _ in range(ragged.ragged_rank):
        value = RaggedValue(value, np.array([0, 1], ragged.row_splits_dtype.numpy))
    found = _picked(value, _without_ellipsis(value, key))
    depth, rank = len(nested_splits(found)), flat_of(found).ndim
    if not depth:
        return TensorSpec([None] * rank, ragged.dtype)
    return RaggedTensorSpec([None] * (depth + rank), ragged.dtype, depth, ragged.row_splits_dtype)


def _whole_part(part: Any) -> Any:
    if part is None or part is Ellipsis:
        return part
    return slice(None) if isinstance(part, slice) else 0


@operation(infer=_spec)
def picked(ragged: RaggedValue, *arguments: Any) -> Any:
    """The part of a ragged tensor that a key means; slices in it are lists."""
    key = tuple(map(_plain, _as_key(arguments)))
    return _picked(ragged, _without_ellipsis(ragged, key))


def _plain(part: Any) -> Any:
    if isinstance(part, slice):
        return slice(*(None if each is None else _whole(each) for each in (part.start, part.stop, part.step)))
    return part if part is None or part is Ellipsis else _whole(part)


def _whole(part: Any) -> int:
    made = np.asarray(part)
    if made.ndim or made.dtype.kind not in "iu":
        raise TypeError(f"ragged tensors are indexed by whole numbers and slices, not by {part!r}")
    return int(made)


def _without_ellipsis(ragged: RaggedValue, key: tuple[Any, ...]) -> tuple[Any, ...]:
    places = [i for i, part in enumerate(key) if part is Ellipsis]
    if not places:
        return key
    rank = len(nested_splits(ragged)) + flat_of(ragged).ndim
    said = sum(part is not None and part is not Ellipsis for part in key)
    return (*key[: places[0]], *[slice(None)] * (rank - said), *key[places[0] + 1 :])


def _picked(value: Any, key: tuple[Any, ...]) -> Any:
    """The part of a value that a key means, from its first dimension on."""
    if not key:
        return value
    if not isinstance(value, RaggedValue):
        try:
            found = value[key]
        except IndexError as error:
            raise InvalidArgumentError(f"slice index out of bounds: {error!s}") from error
        return found if isinstance(found, np.ndarray) else np.array(found, value.dtype)
    first, rest = key[0], key[1:]
    splits = value.row_splits
    if first is None:
        inner = _picked(value, rest)
        return RaggedValue(inner, np.array([0, len(splits) - 1], splits.dtype))
    if isinstance(first, slice):
        return _picked_in_rows(taken(value, first), rest)
    count = len(splits) - 1
    if first >= count:
        raise IndexError(f"Row key {first} out of bounds")
    if first < -count:
        raise InvalidArgumentError(f"Row key {first} out of bounds")
    row = first % count
    return _picked(taken(value.values, slice(int(splits[row]), int(splits[row + 1]))), rest)


def _picked_in_rows(value: RaggedValue, key: tuple[Any, ...]) -> Any:
    """The part of each row that a key means."""
    if not key:
        return value
    first, rest = key[0], key[1:]
    if first is None:
        inner = _picked_in_rows(value, rest)
        return RaggedValue(inner, np.arange(len(value.row_splits), dtype=value.row_splits.dtype))
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    cut = _cut_rows(value, first)
    return RaggedValue(_picked(cut.values, (slice(None), *rest)), cut.row_splits) if rest else cut


def _cut_rows(value: RaggedValue, part: slice) -> RaggedValue:
    """The same slice of every row; rows of one length are cut alike."""
    splits = value.row_splits.astype(np.int64)
    lengths, which = np.unique(np.diff(splits), return_inverse=True)
    ranges = [range(*part.indices(int(length))) for length in lengths]
    counts = np.array([len(each) for each in ranges], np.int64)[which]
    starts = np.array([each.start for each in ranges], np.int64)[which]
    step = 1 if part.step is None else int(part.step)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    within = np.arange(int(bounds[-1])) - np.repeat(bounds[:-1], counts)
    places = np.repeat(splits[:-1] + starts, counts) + step * within
    return RaggedValue(taken(value.values, places), bounds.astype(value.row_splits.dtype))
