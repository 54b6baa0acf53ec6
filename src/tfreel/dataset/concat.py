"""`concat`: one data set after the other; and what all stages above several others have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from tfreel.columns.parse import Features
from tfreel.dataset.node import ORDERED_AT_ONCE, Bytes, Node, Origins, Run, Step
from tfreel.dataset.order import Counts, Order, Positions, other_ranks_error, position_in
from tfreel.dataset.plan import Stage
from tfreel.dataset.rows import Rows
from tfreel.dataset.state import Move, parts_of, resolve_state
from tfreel.features import FixedLenFeature
from tfreel.index.access import Records, joined


class Deal(Protocol):
    """Which of several parts has its turn, with which of its elements: arithmetic, a promise like orders."""

    @property
    def size(self) -> int | None:
        """The number of positions; None if there is no end."""

    def at(self, positions: Positions) -> tuple[npt.NDArray[np.int64], Positions]:
        """Whose each position is, and where it lies among their own."""

    def counts(self, position: int) -> Sequence[int]:
        """How many elements each part has given before a position."""

    @property
    def start(self) -> int:
        """Before which position of a longer one it stands."""

    def resized(self, sizes: Sequence[int | None], position: int = 0) -> Deal:
        """The same from a position on, of parts that have so many left."""


@dataclass(frozen=True, slots=True)
class ConcatDeal:
    """One part after the other."""

    sizes: tuple[int | None, ...]

    @property
    def size(self) -> int | None:
        return None if None in self.sizes else sum(size or 0 for size in self.sizes)

    def at(self, positions: Positions) -> tuple[npt.NDArray[np.int64], Positions]:
        sizes = [np.iinfo(np.int64).max if size is None else size for size in self.sizes]
        with np.errstate(over="ignore"):
            ends = np.cumsum(np.array(sizes, np.uint64))
        if None in self.sizes:  # what comes after a part without an end never has its turn
            ends[self.sizes.index(None) :] = np.iinfo(np.uint64).max
        owners = np.searchsorted(ends, positions, "right")
        begins = np.concatenate([np.zeros(1, np.uint64), ends])
        return owners, positions - begins[owners]

    def counts(self, position: int) -> list[int]:
        counts = []
        for size in self.sizes:
            counts.append(position if size is None else min(size, position))
            position -= counts[-1]
        return counts

    @property
    def start(self) -> int:
        return 0

    def resized(self, sizes: Sequence[int | None], position: int = 0) -> ConcatDeal:  # noqa: ARG002
        return ConcatDeal(tuple(sizes))


def taken_parts(whole: Any, counts: Counts) -> list[Any]:
    """What ranks have taken of the parts of a whole: the place in the deal, and the state of each part."""
    world = len(counts)
    each = [whole.at_rank(rank, world).deal.counts(count) for rank, count in enumerate(counts.tolist())]
    by_part = np.array(each, np.int64).T
    states = [part.taken(inner) for part, inner in zip(whole.parts, by_part, strict=True)]
    return [whole.deal.start + int(counts.min()), states]


def remaining_parts(whole: Any, taken: Any) -> tuple[int, list[Any]]:
    """What is left of them by what `taken_parts` says, and their place in the deal.

    Raises:
        StateError: It says something else.
    """
    position, states = parts_of(taken, [0, []])
    states = parts_of(states, [None] * len(whole.parts))
    left = [part.remaining(state) for part, state in zip(whole.parts, states, strict=True)]
    return position_in(None, position), left  # of another number of ranks: it may be behind the end of one


@dataclass(frozen=True, slots=True)
class CombinedOrder(Order):
    """Several orders as one."""

    deal: Deal
    parts: tuple[Order, ...]
    bases: tuple[int, ...]  # where the records of each part begin

    @property
    def size(self) -> int | None:
        return self.deal.size

    @property
    def children(self) -> tuple[Order, ...]:
        return self.parts

    def with_children(self, children: Sequence[Order]) -> Self:
        deal = self.deal.resized([child.size for child in children])
        return replace(self, deal=deal, parts=tuple(children))

    @property
    def padding(self) -> int:
        return sum(part.padding for part in self.parts)

    def nearby(self) -> int:
        return min((part.nearby() for part in self.parts), default=1)

    def at(self, positions: Positions, epoch: int) -> Positions:
        owners, inner = self.deal.at(positions)
        found = np.empty_like(positions)
        for owner in np.unique(owners).tolist():
            mine = owners == owner
            found[mine] = self.parts[owner].at(inner[mine], epoch) + np.uint64(self.bases[owner])
        return found

    def _taken(self, counts: Counts) -> Any:
        return taken_parts(self, counts)

    def _remaining(self, taken: Any) -> Order:
        position, left = remaining_parts(self, taken)
        deal = self.deal.resized([part.size for part in left], position)
        return replace(self, deal=deal, parts=tuple(left))

    def at_rank(self, index: int, count: int) -> CombinedOrder:
        return self.with_children([part.at_rank(index, count) for part in self.parts])


@dataclass(frozen=True, slots=True)
class NaryNode(Node):
    """A stage above several others."""

    parts: tuple[Node, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return self.parts

    def with_children(self, children: Sequence[Node]) -> Self:
        return replace(self, parts=tuple(children))

    @property
    def unindexable_reason(self) -> str | None:
        return next((part.unindexable_reason for part in self.parts if part.unindexable_reason), None)

    def stages(self) -> list[Stage]:
        """The stages of the parts, as those of each, and its own."""
        inner = [
            stage._replace(
                words=f"  {f'{number + 1}:' if not i else '  '} {stage.words}",
                identity=None if stage.identity is None else [number, stage.identity],
            )
            for number, part in enumerate(self.parts)
            for i, stage in enumerate(part.stages())
        ]
        return [*inner, self._stage]

    @property
    @abstractmethod
    def _stage(self) -> Stage:
        """Its own stage."""


@dataclass(frozen=True, slots=True)
class DealNode(NaryNode):
    """A stage above several others whose elements come in turn."""

    @property
    @abstractmethod
    def deal(self) -> Deal:
        """Whose turn it is."""

    @property
    def element_features(self) -> Features | Bytes | None:
        return self.parts[0].element_features

    @property
    def keeps_rows(self) -> bool:
        return all(part.keeps_rows for part in self.parts)

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        while some := list(islice(positions, ORDERED_AT_ONCE)):
            owners, inner = self.deal.at(np.array(some, np.uint64))
            nexts = {
                owner: self.parts[owner].visit(iter(inner[owners == owner].tolist()), run)
                for owner in np.unique(owners).tolist()
            }
            yield from (next(nexts[owner]) for owner in owners.tolist())

    def origins_at(self, position: int, epoch: int) -> Origins:
        owners, inner = self.deal.at(np.array([position], np.uint64))
        return self.parts[int(owners[0])].origins_at(int(inner[0]), epoch)

    def _taken(self, counts: Counts) -> Any:
        return taken_parts(self, counts)


@dataclass(frozen=True, slots=True)
class Concat(DealNode):
    """One after the other."""

    @property
    def deal(self) -> ConcatDeal:
        return ConcatDeal(tuple(part.size for part in self.parts))

    @property
    def size(self) -> int | None:
        return self.deal.size

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        if self.unindexable_reason is None:
            return self._run_by_count(run, self.count_in(state))
        return self._run_by_state(run, state)

    def _run_by_count(self, run: Run, count: int) -> Iterator[Step]:
        given = self.deal.counts(count)
        for part, begin in zip(self.parts, given, strict=True):
            if begin == part.size:
                continue
            for step in part.steps(run, begin):
                count += 1
                yield step._replace(state=count)

    def _run_by_state(self, run: Run, state: Any) -> Iterator[Step]:
        first, below, even = parts_of(state, [0, None, True])
        for number, part in enumerate(self.parts[first:], first):
            for step in part.steps(run, below):
                below = step.state
                yield step._replace(state=[number, below, even])
            even = even and part.ends_even(resolve_state(below))
            below = None

    def _ends_even(self, state: Any) -> bool:
        number, below, even = parts_of(state, [0, None, True])
        return bool(even) and number == len(self.parts) - 1 and self.parts[number].ends_even(below)

    def _move(self, state: Any, move: Move) -> Any:
        number, below, even = parts_of(state, [0, None, True])
        if not even or number >= len(self.parts):
            raise other_ranks_error(
                "concat()", 'say shard(…, uneven="drop") or "pad", or put shard() behind concat()'
            )
        return [number, self.parts[number].moved(below, move), even]

    def _remaining(self, taken: Any) -> Node:
        _, left = remaining_parts(self, taken)
        return self.with_children(left)

    @property
    def _stage(self) -> Stage:
        return concat_stage(len(self.parts))


def concat_stage(count: int) -> Stage:
    """Concatenation, in words."""
    return Stage(f"{count} datasets, one after the other", ["concat", count])


def require_alike(nodes: Sequence[Node], verb: str) -> None:
    """Makes sure that elements of several stages can follow each other, as far as it can be told.

    Raises:
        ValueError: Some are batches and others are not, or they hold other features.
    """
    first, *others = nodes
    for number, other in enumerate(others, 2):
        where = f"{verb}: dataset 1 and dataset {number}"
        if first.batched != other.batched:
            raise ValueError(
                f"{where} differ: one has batches, the other single elements; batch both, or none"
            )
        ours, theirs = first.element_features, other.element_features
        if ours is None or theirs is None:
            continue
        if isinstance(ours, str) or isinstance(theirs, str):
            if ours != theirs:
                raise ValueError(f"{where} differ: one gives records as bytes, the other parses them")
            continue
        if alone := sorted(set(ours) ^ set(theirs)):
            raise ValueError(f"{where} differ: only one has {alone[0]!r}; columns=[…] chooses what both have")
        for name, feature in ours.items():
            if difference := _difference(feature, theirs[name]):
                raise ValueError(f"{where} differ in {name!r}: {difference}")


def _difference(ours: Any, theirs: Any) -> str | None:
    """What keeps values of two features from one column."""
    if getattr(ours, "dtype", None) != getattr(theirs, "dtype", None):
        return f"{ours.dtype} and {theirs.dtype}"
    if type(ours) is type(theirs) is FixedLenFeature and ours.shape != theirs.shape:
        return f"shapes {list(ours.shape)} and {list(theirs.shape)}"
    return None


def combine_rows(nodes: Sequence[Node], deal: Deal, stage: Stage) -> Rows | None:
    """Several sets of records as one, if they are read in the same way: so they can share batches."""
    rows = [node.source_rows for node in nodes if not node.batched and node.source_rows is not None]
    if len(rows) < len(nodes) or any(not rows[0].elements.alike(each.elements) for each in rows):
        return None
    sources: list[Records] = []
    for each in rows:
        if all(each.elements.records is not records for records in sources):
            sources.append(each.elements.records)
    begins = np.cumsum([0, *map(len, sources)]).tolist()
    bases = {id(records): begin for records, begin in zip(sources, begins, strict=False)}
    arranged = [
        Stage(f"  {number + 1}: {inner.words}", None if inner.identity is None else [number, inner.identity])
        for number, each in enumerate(rows)
        for inner in each.arranged
    ]
    parts = tuple(each.order for each in rows)
    order = CombinedOrder(deal, parts, tuple(bases[id(each.elements.records)] for each in rows))
    elements = replace(rows[0].elements, records=sources[0] if len(sources) == 1 else joined(sources))
    sizes = [len(each.elements.records) for each in rows]
    return Rows(elements, order, (*arranged, stage._replace(identity=[stage.identity, sizes])))


def concatenated(nodes: Sequence[Node]) -> Node:
    """One stage after the other.

    Raises:
        ValueError: They have other elements.
    """
    require_alike(nodes, "concat")
    deal = ConcatDeal(tuple(node.size for node in nodes))
    return combine_rows(nodes, deal, concat_stage(len(nodes))) or Concat(tuple(nodes))
