"""Stages that elements come from: numbers, tensors, generators, and the records of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tfreel
from tfreel._core import Block, Philox
from tfreel.columns.parse import Picked
from tfreel.records.read import Reader
from tfreel.tf.data.batch_specs import without_first
from tfreel.tf.data.chunks import (
    INFINITE,
    UNKNOWN,
    Chunk,
    Fault,
    Item,
    Stage,
    single,
    sizes,
)
from tfreel.tf.errors import InvalidArgumentError, as_tensorflow, translated
from tfreel.tf.graphs.rows import Column, Dense, Records, concatenated, taken_apart
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int64, string
from tfreel.tf.values.handles import Handle
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import spec_of

_FIRST = 16
_CHUNK_BYTES = 4 << 20  # of records; what is made of them, such as pixels, may be ten times as large


class Range:
    """Numbers from one to another."""

    def __init__(self, start: int, stop: int, step: int, dtype: Any) -> None:
        self._numbers = range(start, stop, step)
        self._dtype = as_dtype(dtype)
        self.specs: Any = TensorSpec([], self._dtype)

    def chunks(self, most: int | None) -> Iterator[Item]:
        begin = 0
        for size in sizes(_FIRST, most):
            part = self._numbers[begin : begin + size]
            if not part:
                return
            made = np.arange(part.start, part.stop, part.step).astype(self._dtype.numpy)
            yield Chunk(0, [Dense(made)], len(part))
            begin += size

    def cardinality(self) -> int:
        return len(self._numbers)


class RandomNumbers:
    """TensorFlow's random numbers, without an end."""

    def __init__(self, seeds: tuple[int, int] | None) -> None:
        self._seeds = seeds or (int(np.random.default_rng().integers(1 << 62)), 0)
        self.specs: Any = TensorSpec([], int64)

    def chunks(self, most: int | None) -> Iterator[Item]:
        numbers = Philox(*self._seeds)
        for size in sizes(_FIRST, most):
            yield Chunk(0, [Dense(numbers.take(size).astype(np.int64))], size)

    def cardinality(self) -> int:
        return INFINITE


class Slices:
    """The rows of tensors, side by side."""

    def __init__(self, structure: Any, values: list[Any]) -> None:
        self._structure = structure
        self._columns: list[Column] = [_rows_of(value) for value in values]
        self.specs = nest.pack(structure, [without_first(spec_of(value)) for value in values])
        counts = {len(column) for column in self._columns}
        if len(counts) > 1:
            raise ValueError(
                f"Dimensions {sorted(counts)} are not compatible: the tensors have different lengths"
            )
        self._count = counts.pop() if counts else 0

    def chunks(self, most: int | None) -> Iterator[Item]:
        whole = Chunk(self._structure, self._columns, self._count)
        begin = 0
        for size in sizes(_FIRST, most):
            if begin >= self._count:
                return
            end = min(begin + size, self._count)
            yield whole.part(begin, end)
            begin = end

    def cardinality(self) -> int:
        return self._count


def _rows_of(value: Any) -> Column:
    if isinstance(value, np.ndarray) and not value.ndim:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return taken_apart(value)


class Single:
    """Tensors, as the only element."""

    def __init__(self, structure: Any, values: list[Any]) -> None:
        self._chunk = single(structure, values)
        self.specs = nest.pack(structure, [spec_of(value) for value in values])

    def chunks(self, most: int | None) -> Iterator[Item]:
        yield self._chunk

    def cardinality(self) -> int:
        return 1


class Generated:
    """What a generator of the user gives, one at a time."""

    def __init__(self, generator: Callable[..., Any], args: tuple[Any, ...], specs: Any) -> None:
        self._generator = generator
        self._args = args
        self.specs = specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        elements = iter(self._generator(*self._args))
        while True:
            try:
                element = next(elements)
            except StopIteration:
                return
            except Exception as error:  # noqa: BLE001 - the user's own, raised where elements are taken
                yield Fault(error)
                return
            try:
                made = self._checked(element)
            except Exception as error:  # noqa: BLE001 - told in the place of this element
                yield Fault(error)
            else:
                yield made

    def _checked(self, element: Any) -> Chunk:
        try:
            leaves = nest.flatten_as(self.specs, element)
        except ValueError as error:
            raise InvalidArgumentError(
                f"`generator` yielded an element that did not match the expected structure: {error}"
            ) from None
        values = [_as_spec(leaf, spec) for leaf, spec in zip(leaves, nest.flatten(self.specs), strict=True)]
        return single(self.specs, values)

    def cardinality(self) -> int:
        return UNKNOWN


def _as_spec(leaf: Any, spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return leaf.value() if isinstance(leaf, Handle) else leaf
    try:
        made = array(leaf, None if isinstance(leaf, np.ndarray) and leaf.dtype == object else spec.dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"`generator` yielded an element that could not be converted to the expected type"
            f" {spec.dtype.name}: {leaf!r} ({error})"
        ) from None
    if not TensorShape(spec.shape).is_compatible_with(made.shape):
        raise InvalidArgumentError(
            f"`generator` yielded an element of shape {made.shape} where an element of shape {spec.shape}"
            " was expected."
        )
    return made


class RecordsOfFiles:
    """The records of some files, one file behind the other.

    Args:
        paths: Makes the paths anew for each pass; they may come from another dataset.
    """

    def __init__(self, paths: Callable[[], Iterator[str | Fault]], compression: str | None) -> None:
        self._paths = paths
        self._compression = compression
        self.specs: Any = TensorSpec([], string)

    def chunks(self, most: int | None) -> Iterator[Item]:
        for path in self._paths():
            if isinstance(path, Fault):
                yield path
            else:
                yield from self._records(path, most)

    def _records(self, path: str, most: int | None) -> Iterator[Item]:
        try:
            with as_tensorflow():
                reader = tfreel.read(path, compression=self._compression)
            yield from _chunks_of(reader, most)
        except Exception as error:  # noqa: BLE001 - told behind the records that were sound
            yield Fault(translated(error))

    def cardinality(self) -> int:
        return UNKNOWN


def _chunks_of(reader: Reader, most: int | None) -> Iterator[Chunk]:
    """The records of a reader: few at first, then about so many bytes at a time."""
    gathering = _Gathering(most)
    try:
        for block in reader.blocks():
            yield from gathering.with_block(block)
    finally:
        # Also before an error: what came before it is sound.
        rest = gathering.rest()
        if rest is not None:
            yield rest


class _Gathering:
    """Records out of blocks, which are smaller or larger than chunks."""

    def __init__(self, most: int | None) -> None:
        self._sizes = sizes(_FIRST, most)
        self._wanted = next(self._sizes)
        self._parts: list[Records] = []
        self._rows = 0
        self._bytes = 0

    def with_block(self, block: Block) -> Iterator[Chunk]:
        """The chunks that are complete with a block."""
        ends = np.cumsum(block.lengths)
        begin = 0
        while begin < len(block):
            base = int(ends[begin - 1]) if begin else 0
            enough = int(np.searchsorted(ends, base + _CHUNK_BYTES - self._bytes)) + 1
            end = min(begin + self._wanted - self._rows, max(enough, begin + 1), len(block))
            self._parts.append(Records(Picked((block,))).part(begin, end))
            self._rows += end - begin
            self._bytes += int(ends[end - 1]) - base
            if self._rows >= self._wanted or self._bytes >= _CHUNK_BYTES:
                yield self._chunk()
            begin = end

    def rest(self) -> Chunk | None:
        """What is left."""
        return self._chunk() if self._parts else None

    def _chunk(self) -> Chunk:
        made = Chunk(0, [concatenated(self._parts)], self._rows)
        self._parts, self._rows, self._bytes = [], 0, 0
        self._wanted = next(self._sizes)
        return made


class Paths:
    """File names out of a dataset of strings."""

    def __init__(self, source: Stage) -> None:
        self._source = source

    def __call__(self) -> Iterator[str | Fault]:
        for item in self._source.chunks(None):
            if isinstance(item, Fault):
                yield item
                continue
            for i in range(item.count):
                for name in array(item.values(i)[0]).reshape(-1):
                    yield name.decode(errors="surrogateescape")
