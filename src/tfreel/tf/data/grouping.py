"""Stages that put elements into groups by a key: group_by_window, bucket_by_sequence_length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfreel.tf.data.batching import Given
from tfreel.tf.data.chunks import UNKNOWN, Chunk, Fault, Item, Stage, merged
from tfreel.tf.data.functions import Function, specs_of_given
from tfreel.tf.data.mapping import stage_of
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values.dtypes import int64
from tfreel.tf.values.handles import wrap
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import DatasetSpec


class Grouped:
    """Datasets of elements with one key, each made something of by a function when it has its size.

    Args:
        key: The group of an element, a number.
        reduce: Makes a dataset out of the key and the dataset of a group.
        size: How many elements a group of some key takes.
        dataset: Makes a dataset of a stage.
    """

    def __init__(
        self,
        source: Stage,
        key: Callable[..., Any],
        reduce: Callable[[Any, Any], Any],
        size: Callable[[int], int],
        dataset: Callable[[Stage], Any],
    ) -> None:
        self._source = source
        self._key = Function(key, source.specs)
        self._reduce = reduce
        self._size = size
        self._dataset = dataset
        window = None if source.specs is None else (TensorSpec([], int64), DatasetSpec(source.specs))
        self.specs = specs_of_given(reduce, window, dataset)

    def chunks(self, most: int | None) -> Iterator[Item]:
        groups: dict[int, list[Chunk]] = {}
        for found in self._keyed():
            if isinstance(found, Fault):
                yield found
                continue
            element, key = found
            group = groups.setdefault(key, [])
            group.append(element)
            if len(group) >= self._size(key):
                yield from self._reduced(key, groups.pop(key))
        for key in sorted(groups):
            yield from self._reduced(key, groups[key])

    def _keyed(self) -> Iterator[tuple[Chunk, int] | Fault]:
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            begin = 0
            for keys in self._key.over(item):
                if isinstance(keys, Fault):
                    begin += 1
                    yield keys
                    continue
                for i in range(keys.count):
                    yield item.part(begin + i, begin + i + 1), int(keys.values(i)[0])
                begin += keys.count

    def _reduced(self, key: int, group: list[Chunk]) -> Iterator[Item]:
        window = self._dataset(Given(merged(group), self._source.specs))
        try:
            stage = stage_of(self._reduce(wrap(np.array(key, np.int64)), window))
        except Exception as error:  # noqa: BLE001 - the user's own, raised where elements are taken
            yield Fault(error)
        else:
            yield from stage.chunks(None)

    def cardinality(self) -> int:
        return UNKNOWN


def buckets(
    boundaries: list[int], sizes: list[int], length: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[[int], int]]:
    """The key of an element by its length, and the size of a batch by that key.

    Raises:
        ValueError: There is not one size more than boundaries.
    """
    if len(sizes) != len(boundaries) + 1:
        raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1`")

    def bucket(*element: Any) -> Any:
        return np.int64(bisect_right(boundaries, int(length(*element))))

    return bucket, lambda key: sizes[key]


def longest(boundaries: list[int], key: int) -> int:
    """The greatest length of an element in the bucket of this key.

    Raises:
        InvalidArgumentError: It is the last bucket, which has none.
    """
    if key == len(boundaries):
        raise InvalidArgumentError(
            "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
        )
    return boundaries[key] - 1


def window_size(size: Any, of_key: Callable[..., Any] | None) -> Callable[[int], int]:
    """How many elements a group takes, which is one number or is told by a function.

    Raises:
        ValueError: Not exactly one of both is given.
        InvalidArgumentError: It is not above zero.
    """
    if (size is None) == (of_key is None):
        raise ValueError("Exactly one of `window_size` and `window_size_func` must be given")
    if of_key is not None:
        told = of_key
        return lambda key: int(told(wrap(np.array(key, np.int64))))
    if int(size) < 1:
        raise InvalidArgumentError(f"window_size must be greater than zero, not {size}")
    return lambda key: int(size)
