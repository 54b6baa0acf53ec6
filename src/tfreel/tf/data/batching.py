"""Stages between elements and batches: batch, padded_batch, ragged_batch, unbatch, window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfreel.tf.data.batch_specs import with_first, without_first
from tfreel.tf.data.chunks import UNKNOWN, Chunk, Fault, Item, Stage, merged
from tfreel.tf.data.padding import Padding
from tfreel.tf.data.ragged_batches import ragged, ragged_specs
from tfreel.tf.errors import InvalidArgumentError, OpError
from tfreel.tf.graphs.rows import Column, Dense, Listed, taken_apart
from tfreel.tf.values import nest
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import DatasetSpec, RaggedTensorSpec


def batched_cardinality(count: int, size: int, *, drop_remainder: bool) -> int:
    """How many batches so many elements are."""
    if count < 0:
        return count
    return count // size if drop_remainder else -(-count // size)


class _Groups:
    """Elements in groups of one size, several groups at a time where they come so."""

    def __init__(self, source: Stage, size: int, *, drop_remainder: bool) -> None:
        self._source = source
        self._size = size
        self._drop_remainder = drop_remainder

    def groups(self, most: int | None) -> Iterator[tuple[Chunk, int] | Fault]:
        """The elements of some groups, and how many groups they are. A fault ends the group it is in."""
        rest = _Rest(self._size)
        for item in self._source.chunks(None if most is None else most * self._size):
            if isinstance(item, Fault):
                rest.clear()
                yield item
            else:
                yield from rest.groups_with(item)
        if rest.count and not self._drop_remainder:
            yield rest.group(), 1

    def cardinality(self) -> int:
        return batched_cardinality(
            self._source.cardinality(), self._size, drop_remainder=self._drop_remainder
        )


class _Rest:
    """The elements of a group that is not complete."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        """Forgets them."""
        self._parts: list[Chunk] = []
        self.count = 0

    def group(self) -> Chunk:
        """All of them."""
        return merged(self._parts)

    def groups_with(self, chunk: Chunk) -> Iterator[tuple[Chunk, int]]:
        """The groups that are complete with a chunk. Only what completes one is copied to it."""
        begin = 0
        if self.count:
            begin = min(self._size - self.count, chunk.count)
            self._keep(chunk.part(0, begin))
            if self.count == self._size:
                yield self.group(), 1
                self.clear()
        groups = (chunk.count - begin) // self._size
        end = begin + groups * self._size
        if groups:
            yield chunk.part(begin, end), groups
        if end < chunk.count:
            self._keep(chunk.part(end, chunk.count))

    def _keep(self, part: Chunk) -> None:
        self._parts.append(part)
        self.count += part.count


class Batched:
    """Elements stacked in batches.

    Args:
        stack: What makes one value of the rows of a column, for the leaf of this number; by default they are
        stacked.
        specs: Of the batches.
    """

    def __init__(
        self,
        source: Stage,
        size: int,
        *,
        drop_remainder: bool,
        stack: Callable[[int, Column], Any] | None = None,
        specs: Any = None,
    ) -> None:
        self._groups = _Groups(source, size, drop_remainder=drop_remainder)
        self._stack = stack
        self.specs = specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        for item in self._groups.groups(most):
            if isinstance(item, Fault):
                yield item
                continue
            chunk, groups = item
            if self._stack is None and all(isinstance(column, Dense) for column in chunk.columns):
                yield Chunk(chunk.structure, [_reshaped(column, groups) for column in chunk.columns], groups)
            else:
                yield from self._one_by_one(chunk, groups)

    def _one_by_one(self, chunk: Chunk, groups: int) -> Iterator[Item]:
        size = chunk.count // groups
        for i in range(groups):
            part = chunk.part(i * size, (i + 1) * size)
            try:
                values = [self._stacked(leaf, column) for leaf, column in enumerate(part.columns)]
            except OpError as error:
                yield Fault(error)
            else:
                yield Chunk(chunk.structure, [_of_one(value) for value in values], 1)

    def _stacked(self, leaf: int, column: Column) -> Any:
        return column.joined() if self._stack is None else self._stack(leaf, column)

    def cardinality(self) -> int:
        return self._groups.cardinality()


def _of_one(value: Any) -> Column:
    return Dense(value[np.newaxis]) if isinstance(value, np.ndarray) else Listed([value])


def _reshaped(column: Any, groups: int) -> Dense:
    array = column.array
    return Dense(array.reshape(groups, len(array) // groups, *array.shape[1:]))


def batch(source: Stage, size: int, padding: Padding | None = None, *, drop_remainder: bool) -> Batched:
    """Elements in batches: of one shape, or padded until they are."""
    first = size if drop_remainder else None
    stack = _stack_of(source.specs) if padding is None else padding.stacked
    if source.specs is None:
        specs = None
    elif padding is None:
        specs = nest.mapped(lambda spec: with_first(spec, first), source.specs)
    else:
        specs = padding.specs(source.specs, first)
    return Batched(source, size, drop_remainder=drop_remainder, stack=stack, specs=specs)


def _stack_of(specs: Any) -> Callable[[int, Column], Any] | None:
    """How the rows of ragged tensors are stacked, which may differ in length; None if there are none such."""
    known = [] if specs is None else nest.flatten(specs)
    rows = {
        i: spec for i, spec in enumerate(known) if isinstance(spec, RaggedTensorSpec) and not spec.ragged_rank
    }

    def stacked(leaf: int, column: Column) -> Any:
        spec = rows.get(leaf)
        if spec is None:
            return column.joined()
        return ragged(column, TensorSpec(spec.shape, spec.dtype), spec.row_splits_dtype)

    return stacked if rows else None


def ragged_batch(source: Stage, size: int, row_splits_dtype: Any, *, drop_remainder: bool) -> Batched:
    """Elements of different shapes in batches of rows of different lengths."""
    specs = source.specs and ragged_specs(source.specs, size if drop_remainder else None, row_splits_dtype)
    known = None if source.specs is None else nest.flatten(source.specs)

    def stacked(leaf: int, column: Column) -> Any:
        return ragged(column, None if known is None else known[leaf], row_splits_dtype)

    return Batched(source, size, drop_remainder=drop_remainder, stack=stacked, specs=specs)


class Unbatched:
    """The elements of batches."""

    def __init__(self, source: Stage) -> None:
        self._source = source
        self.specs = None if source.specs is None else nest.mapped(without_first, source.specs)

    def chunks(self, most: int | None) -> Iterator[Item]:
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            for i in range(item.count):
                columns = [taken_apart(value) for value in item.values(i)]
                counts = {len(column) for column in columns}
                if len(counts) != 1:
                    yield Fault(
                        InvalidArgumentError(f"the parts of a batch have different lengths: {sorted(counts)}")
                    )
                elif count := counts.pop():
                    yield Chunk(item.structure, columns, count)

    def cardinality(self) -> int:
        count, leaves = self._source.cardinality(), nest.flatten(self._source.specs)
        sizes = [leaf.shape[0] for leaf in leaves if leaf.shape.rank]
        known = next((size for size in sizes if size is not None), None)
        return count if count < 0 else UNKNOWN if known is None else count * known


class Windows:
    """Datasets of some elements each, which may overlap or leave some out."""

    def __init__(
        self,
        source: Stage,
        size: int,
        shift: int,
        stride: int,
        *,
        drop_remainder: bool,
        dataset: Callable[[Stage], Any],
    ) -> None:
        self._source = source
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._dataset = dataset
        self.specs = None if source.specs is None else nest.mapped(DatasetSpec, source.specs)

    def chunks(self, most: int | None) -> Iterator[Item]:
        span = (self._size - 1) * self._stride + 1
        held: Chunk | None = None
        skip = 0
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            held = item if held is None else merged([held, item])
            while held is not None:
                if skip:
                    gone = min(skip, held.count)
                    skip -= gone
                    held = held.part(gone, held.count) if gone < held.count else None
                    continue
                if held.count < span:
                    break
                yield self._window(held, span)
                skip = self._shift
        while held is not None and not self._drop_remainder:
            gone = min(skip, held.count)
            if gone == held.count:
                return
            held, skip = held.part(gone, held.count), self._shift
            yield self._window(held, min(span, held.count))

    def _window(self, held: Chunk, span: int) -> Chunk:
        chosen = held.take(np.arange(0, span, self._stride))
        datasets = [
            self._dataset(Given(Chunk(0, [column], chosen.count), spec))
            for column, spec in zip(chosen.columns, self._leaf_specs(chosen), strict=True)
        ]
        return Chunk(chosen.structure, [Listed([each]) for each in datasets], 1)

    def _leaf_specs(self, chunk: Chunk) -> list[Any]:
        return [None] * len(chunk.columns) if self._source.specs is None else nest.flatten(self._source.specs)

    def cardinality(self) -> int:
        count = self._source.cardinality()
        if count < 0:
            return count
        span = (self._size - 1) * self._stride + 1
        if self._drop_remainder:
            return 0 if count < span else (count - span) // self._shift + 1
        return -(-count // self._shift)


class Given:
    """Elements that are there already."""

    def __init__(self, chunk: Chunk, specs: Any) -> None:
        self._chunk = chunk
        self.specs = specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        if self._chunk.count:
            yield self._chunk

    def cardinality(self) -> int:
        return self._chunk.count
