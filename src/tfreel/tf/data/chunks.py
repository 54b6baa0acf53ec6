"""Chunks: elements of a dataset on their way, many at once, each tensor of them as a column of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from tfreel.tf.data.tracing import structured
from tfreel.tf.graphs.rows import Column, Indices, collected, concatenated
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Handle, NotTracedError, wrap

INFINITE = -1
UNKNOWN = -2


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some elements, one behind the other.

    Attributes:
        structure: How each of them is built; its leaves are nothing that matters.
        columns: A column for each leaf.
        count: How many elements.
    """

    structure: Any
    columns: list[Column]
    count: int

    def part(self, begin: int, end: int) -> Chunk:
        """Some of the elements, one behind the other."""
        if (begin, end) == (0, self.count):
            return self
        return Chunk(self.structure, [each.part(begin, end) for each in self.columns], end - begin)

    def take(self, rows: Indices) -> Chunk:
        """Some of the elements, in another order."""
        return Chunk(self.structure, [each.take(rows) for each in self.columns], len(rows))

    def values(self, i: int) -> list[Any]:
        """The plain values of one element."""
        return [each.row(i) for each in self.columns]

    def element(self, i: int) -> Any:
        """One element, as users see it."""
        return nest.pack(self.structure, [wrap(each.row(i)) for each in self.columns])


class Fault(NamedTuple):
    """An element that could not be made. What comes behind it may be sound."""

    error: Exception


Item: TypeAlias = Chunk | Fault


class Stage(Protocol):
    """One step of a dataset.

    Attributes:
        specs: The structure of the elements, with specs as leaves; None if only the elements themselves will
        tell.
    """

    @property
    def specs(self) -> Any: ...

    def chunks(self, most: int | None) -> Iterator[Item]:
        """The elements, from the first on.

        Args:
            most: How many will be asked for at most, if that is known: what makes them need not make more.
        """

    def cardinality(self) -> int:
        """How many elements there are, `INFINITE` or `UNKNOWN`."""


class Unmade:
    """The elements of a dataset that a function is given while it is traced: only their specs are known."""

    def __init__(self, specs: Any) -> None:
        self.specs = specs

    def chunks(self, most: int | None) -> Iterator[Item]:
        raise NotTracedError("the elements of a dataset")

    def cardinality(self) -> int:
        return UNKNOWN


def _below(stage: Any) -> list[Any]:
    """The stages whose elements a stage takes."""
    sources = [getattr(stage, name, None) for name in ("_source", "_groups", "_paths")]
    return [each for each in (*sources, *getattr(stage, "_stages", ())) if each is not None]


def begin_in_vain(stage: Any) -> None:
    """Begins a stage as TensorFlow's `repeat` does once too often: shuffles draw an order for nobody then."""
    if hasattr(stage, "begin_in_vain"):
        stage.begin_in_vain()
        return
    for each in _below(stage):
        begin_in_vain(each)


def places(stage: Any) -> list[tuple[Any, int]]:
    """The shuffles in a stage and below it, each with the number of passes it has made."""
    found = [(stage, stage.passes)] if hasattr(stage, "passes") else []
    return found + [place for each in _below(stage) for place in places(each)]


def single(structure: Any, values: list[Any]) -> Chunk:
    """A chunk of one element."""
    return Chunk(structure, [collected([value]) for value in values], 1)


def chunk_of(structure: Any, rows: list[list[Any]]) -> Chunk:
    """A chunk of the values of some elements, of which there is one at least."""
    columns = [collected(list(same)) for same in zip(*rows, strict=True)]
    return Chunk(structure, columns, len(rows))


def merged(chunks: list[Chunk]) -> Chunk:
    """Chunks one behind the other in one."""
    if len(chunks) == 1:
        return chunks[0]
    columns = [concatenated(list(same)) for same in zip(*(each.columns for each in chunks), strict=True)]
    return Chunk(chunks[0].structure, columns, sum(each.count for each in chunks))


def values_of(result: Any) -> tuple[Any, list[Any]]:
    """The structure of what a function of the user gave, and its plain values.

    Raises:
        TypeError: Something in it is no tensor and cannot become one.
    """
    structure = structured(result)
    leaves = nest.flatten(structure)
    return structure, [
        leaf.value() if isinstance(leaf, Handle) else leaf if hasattr(leaf, "element_spec") else array(leaf)
        for leaf in leaves
    ]


def sizes(first: int, most: int | None, largest: int = 1024) -> Iterator[int]:
    """How many elements to make at a time: few at first, so that the first one comes soon, then more."""
    size, left = first, most
    while left is None or left > 0:
        now = size if left is None else min(size, left)
        yield now
        left = None if left is None else left - now
        size = min(2 * size, largest)
    while True:
        yield 1
