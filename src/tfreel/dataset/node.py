"""What all stages of a dataset are: nodes of a plan that can be run from the beginning, or from a state.

A run gives elements one by one, each with the state that goes on behind it. So whoever takes elements, even
if others are already being made ahead, always has the state that belongs to the last one he took.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from tfreel.columns.parse import Features
from tfreel.dataset.collate import Pad, gather, rows_of
from tfreel.dataset.example_source import ExampleSource
from tfreel.dataset.order import (
    Batching,
    Counts,
    Natural,
    Order,
    Positions,
    Rank,
    Rest,
    even_count,
    other_ranks_error,
    position_in,
)
from tfreel.dataset.plan import Stage
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.state import Move, parts_of
from tfreel.errors import StateError
from tfreel.records.report import Fault
from tfreel.storage.paths import display

if TYPE_CHECKING:
    from tfreel.dataset.rows import Rows

Reorder: TypeAlias = Callable[[Order], Order]
FAR = 1 << 32  # from so many elements is drawn where there is no end
Bytes: TypeAlias = Literal["bytes"]  # instead of features, where records are given as they are


class Origin(NamedTuple):
    """The records that an element was made of."""

    elements: ExampleSource
    records: Positions | int

    def first(self) -> tuple[str, int, int]:
        """The file of the first record, its number there, and its offset."""
        first = self.records if isinstance(self.records, int) else int(self.records[0])
        return self.elements.records.place(first)

    def __str__(self) -> str:
        path, record, offset = self.first()
        more = 0 if isinstance(self.records, int) else len(self.records) - 1
        others = f", and {more:,} others" if more else ""
        return f"record {record} of {display(path)} at byte {offset}{others}"


Origins: TypeAlias = tuple[Origin, ...]


def origins_of_rows(origins: Origins, rows: Sequence[int], count: int | None) -> Origins:
    """The records that some of the rows of a batch were made of; all of them if a row is not one record."""
    each = [
        Origin(origin.elements, int(record))
        for origin in origins
        for record in np.atleast_1d(np.asarray(origin.records))
    ]
    return tuple(each[row] for row in rows) if len(each) == count else origins


def note_origins(error: Exception, stage: str, origins: Origins) -> None:
    """Lets what a function raised say where it was called, and on which records."""
    where = "; ".join(map(str, origins)) or "an element of unknown origin"
    error.add_note(f"in {stage}, on {where}")


class Step(NamedTuple):
    """One element of a run.

    Attributes:
        element: The element.
        state: What `Node.run` needs to go on behind it, as JSON. Parts of it may be functions that give it,
            at any time: `resolve_state` calls them.
        origins: Where it comes from.
    """

    element: Any
    state: Any
    origins: Origins


@dataclass(frozen=True, slots=True)
class Run:
    """What belongs to a whole run.

    Attributes:
        epoch: How often everything has been gone through before.
        report: What was left out and replaced.
        ahead: Whether it pays to read ahead. It does not for one who wants a single element.
    """

    epoch: int
    report: DatasetReport
    ahead: bool = True

    @classmethod
    def alone(cls, epoch: int) -> Run:
        """For single elements that nobody reports on."""
        return cls(epoch, DatasetReport(), ahead=False)

    def in_epoch(self, epoch: int) -> Run:
        """The same in another epoch."""
        return replace(self, epoch=epoch)

    def for_one(self) -> Run:
        """The same for a single element."""
        return replace(self, ahead=False)


class Node(ABC):
    """One stage, with all that lies below it, and what everybody else has to know of it.

    Whoever writes a stage says in it: how many elements it gives, whether they are batches, which stage took
    away their positions, and what of an order, a shard or a state may pass through it to what lies below.
    Nobody asks what class a stage is.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # fields in some: dataclasses would take a property here for their default

        @property
        def size(self) -> int | None:
            """The number of elements; None if there is no end, or nobody can tell."""

        @property
        def unindexable_reason(self) -> str | None:
            """The stage that took away positions; None if elements can be asked for by them.

            Stages with positions have states that are counts: how many elements have been given.
            """

    @abstractmethod
    def run(self, run: Run, state: Any) -> Iterator[Step]:
        """The elements from the beginning (None) or from a state on."""

    @abstractmethod
    def stages(self) -> list[Stage]:
        """What it does: a line for each stage, the lowest first."""

    # What it is made of.

    @property
    def children(self) -> tuple[Node, ...]:
        """The stages right below it."""
        return ()

    def with_children(self, children: Sequence[Node]) -> Node:  # noqa: ARG002
        """The same above others."""
        return self

    def faults(self) -> Iterable[Fault]:
        """The damage that is known before anything is read, and passed over."""
        return (fault for child in self.children for fault in child.faults())

    def data_versions(self) -> list[Any]:
        """What tells its data from others as JSON, where the words of its stages do not."""
        return [version for child in self.children for version in child.data_versions()]

    # What its elements are.

    @property
    def batched(self) -> bool:
        """Whether its elements are batches of rows."""
        return all(child.batched for child in self.children)

    @property
    def features(self) -> Features | None:
        """What is read of each record; None for bytes, and for records of several sources."""
        return self.children[0].features if len(self.children) == 1 else None

    @property
    def element_features(self) -> Features | Bytes | None:
        """What each element holds, where that is just what was read; None if nobody can tell."""
        return self.children[0].element_features if self.keeps_elements else None

    @property
    def keeps_elements(self) -> bool:
        """Whether it holds what the one stage below holds: its elements, or batches of them."""
        return False

    @property
    def source_rows(self) -> Rows | None:
        """Its elements one by one, or those of its batches, if they are records and nothing else."""
        return None

    @property
    def keeps_rows(self) -> bool:
        """Whether rows are still where they were when the batch was made: functions may move them."""
        return True

    @property
    def reads_once(self) -> bool:
        """Whether it can be gone through only once, as a pipe."""
        return any(child.reads_once for child in self.children)

    @property
    def padding(self) -> int:
        """How many elements come once more, so that all ranks have as many."""
        return sum(child.padding for child in self.children)

    @property
    def drops_elements(self) -> bool:
        """Whether nobody can tell how many of the elements below are in what it gives."""
        return False

    @property
    def restarts_dearly(self) -> bool:
        """Whether to begin in the middle costs more than to go on from an element before."""
        return any(child.restarts_dearly for child in self.children)

    @property
    def reshuffles(self) -> bool:
        """Whether its elements come in another order in each epoch; what functions draw is not looked at."""
        return any(child.reshuffles for child in self.children)

    # Elements by position.

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        """The elements at these positions, unless they are lost."""
        return [element for element, _ in self.visit(iter(positions.tolist()), Run.alone(epoch))]

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:  # noqa: ARG002
        """The elements at these positions, one after the other."""
        raise self._no_positions()

    def origins_at(self, position: int, epoch: int) -> Origins:  # noqa: ARG002
        """The records that the element at a position is made of, as far as they can be told unread."""
        raise self._no_positions()

    def _no_positions(self) -> TypeError:
        return TypeError(f"elements cannot be asked for by position after {self.unindexable_reason}")

    # Rows in place of others, where a function fails on some of a batch.

    def row_sources(self, position: int, run: Run) -> list[Any]:
        """What the rows of the batch at a position are made of, for `batch_of`; or else these rows."""
        ((batch, _),) = self.visit(iter([position]), run)
        return rows_of(batch)

    def draw_source(self, draw: int, run: Run) -> tuple[Any, Origins]:
        """By a random number, what one of all rows is made of; an element, if these are no batches."""
        if not self.batched:
            return one_of(self, draw, run)
        row, position = divmod(draw, self.size or FAR)
        sources = self.row_sources(position, run)
        row %= len(sources)
        return sources[row], origins_of_rows(self.origins_at(position, run.epoch), [row], len(sources))

    def batch_of(self, sources: Sequence[Any]) -> Any:
        """The batch that it makes of some sources."""
        return gather(sources)

    # What is done to it.

    @property
    def passes_order(self) -> bool:
        """Whether to change the order of its elements is to change that of the stage below."""
        return False

    @property
    def shards_below(self) -> bool:
        """Whether ranks can share what is below it: of a part it gives a part of what it gives of all."""
        return False

    @property
    def keeps_count(self) -> bool:
        """Whether it gives an element for each of the stage below, whatever it is."""
        return False

    def push_order(self, reorder: Reorder, stage: Stage, *, still: bool) -> Node | None:  # noqa: ARG002
        """The same in another order, if the stage has an order of its own; see `reordered`."""
        return None

    def batch(self, size: int, pad: Pad, *, drop_remainder: bool) -> Node | None:  # noqa: ARG002
        """Its elements in batches, if it makes them itself; see `batches`."""
        return None

    def without_remainder(self) -> Node | None:
        """The same without batches that are smaller than the others, if it makes batches itself."""
        return None

    def under_batch(self, size: int, *, drop_remainder: bool) -> Node:
        """The same behind a shard() that is told of the batches, so that all ranks get as many."""
        if not self.keeps_count:
            return self
        return self.with_children(
            [child.under_batch(size, drop_remainder=drop_remainder) for child in self.children]
        )

    def batching(self, size: int) -> Batching | None:
        """Where batches of that size begin and end, if a shard() decides it."""
        return self.children[0].batching(size) if self.keeps_count else None

    # Ranks.

    @property
    def shards(self) -> tuple[Rank, ...]:
        """The ranks whose part it is, for each shard() in it."""
        return tuple(rank for child in self.children for rank in child.shards)

    def at_rank(self, index: int, count: int) -> Node:
        """The same for another rank, or for one of another number of them."""
        return self.with_children([child.at_rank(index, count) for child in self.children])

    @property
    def verb(self) -> str:
        """What it is to users, where it stands behind shard() and has to be refused."""
        return self.stages()[-1].words

    def ends_even(self, state: Any) -> bool:
        """Whether all ranks had as many elements in a run that ended behind this state."""
        if not self.shards:
            return True
        if self.unindexable_reason is not None:
            return self._ends_even(state)
        world = self.shards[0][1]
        return self.knows_other_ranks and len({self.at_rank(n, world).size for n in range(world)}) == 1

    @property
    def knows_other_ranks(self) -> bool:
        """Whether `at_rank` tells how many elements others have; not if each picks some of its own share."""
        return all(child.knows_other_ranks for child in self.children)

    def _ends_even(self, state: Any) -> bool:  # noqa: ARG002
        return False

    # States.

    def steps(self, run: Run, state: Any) -> Iterator[Step]:
        """What `run` gives, also from a state that came from other ranks."""
        if type(state) is list and self.unindexable_reason is None:
            return self._steps_of_rest(run, state)
        return self.run(run, state)

    def _steps_of_rest(self, run: Run, state: list[Any]) -> Iterator[Step]:
        taken, count = parts_of(state, [None, 0])
        for step in self.remaining(taken).run(run, count):
            yield step._replace(state=[taken, step.state])

    def count_in(self, state: Any) -> int:
        """How many elements have been given, by the state of a stage with positions.

        Raises:
            StateError: There are not so many.
        """
        return position_in(self.size, state)

    def moved(self, state: Any, move: Move) -> Any:
        """A state that another rank saved when all had handed out as many elements, for this one.

        Raises:
            StateError: A stage forbids it; the error names it.
        """
        if state is None or not self.shards:
            return state
        if self.unindexable_reason is not None:
            return self._move(state, move)
        if move.same_world:
            return state
        world = move.saver[1]
        there = self.at_rank(0, world)
        if type(state) is list:
            taken, state = parts_of(state, [None, 0])
            there = there.remaining(taken)
        sizes = [there.at_rank(rank, world).size for rank in range(world)]
        count = there.count_in(state)
        return [there.taken(np.array([count if n is None else min(count, n) for n in sizes], np.int64)), 0]

    def _move(self, state: Any, move: Move) -> Any:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def taken(self, counts: Counts) -> Any:
        """What the ranks of a world have taken together, as JSON that holds for any number of ranks.

        Args:
            counts: How many elements each has had, from the first on.

        Raises:
            StateError: What is left is not what another number of ranks would begin with.
        """
        return self._taken(counts) if self.shards else even_count(counts)

    def _taken(self, counts: Counts) -> Any:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def remaining(self, taken: Any) -> Node:
        """What is left of it.

        Raises:
            StateError: There is no such place.
        """
        return self._remaining(taken) if self.shards else self.rest(taken)

    def _remaining(self, taken: Any) -> Node:  # noqa: ARG002
        raise other_ranks_error(self.verb)

    def rest(self, state: Any) -> Node:
        """What is left behind a state of a stage with positions, as a plan."""
        if type(state) is list:
            taken, state = parts_of(state, [None, 0])
            return self.remaining(taken).rest(state)
        start = self.count_in(state)
        return reordered(self, lambda order: Rest(order, start), _NO_STAGE) if start else self


@dataclass(frozen=True, slots=True)
class UnaryNode(Node):
    """A stage above one other."""

    below: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.below,)

    def with_children(self, children: Sequence[Node]) -> Self:
        (below,) = children
        return replace(self, below=below)

    @property
    def size(self) -> int | None:
        return self.below.size

    @property
    def unindexable_reason(self) -> str | None:
        return self.below.unindexable_reason

    def origins_at(self, position: int, epoch: int) -> Origins:
        if not self.keeps_count:
            raise self._no_positions()
        return self.below.origins_at(position, epoch)

    def _ends_even(self, state: Any) -> bool:
        return self.keeps_count and self.below.ends_even(state)

    def _taken(self, counts: Counts) -> Any:
        return self.below.taken(counts) if self.keeps_count else super(UnaryNode, self)._taken(counts)

    def _remaining(self, taken: Any) -> Node:
        if not self.keeps_count:
            return super(UnaryNode, self)._remaining(taken)
        return self.with_children([self.below.remaining(taken)])


_NO_STAGE = Stage("")  # which nobody sees


def reordered(node: Node, reorder: Reorder, stage: Stage, *, still: bool = False) -> Node:
    """The elements of a stage in another order.

    Args:
        node: The stage.
        reorder: Makes the new order of the old one.
        stage: What it is.
        still: Whether the order is made of the one of the first epoch, because it picks elements out: then
            what lies below it, such as batches of a shuffle, is the same in all epochs too.
    """
    if node.passes_order:
        return node.with_children([reordered(child, reorder, stage, still=still) for child in node.children])
    own = node.push_order(reorder, stage, still=still)
    return own or View(node, reorder(Natural(node.size)), (stage,), still=still)


ORDERED_AT_ONCE = 1024  # positions: few are ordered in as much time as one


def chunks_of(order: Order, batching: Batching, epoch: int, first: int = 0) -> Iterator[Positions]:
    """What lies below an order, in batches from the first one on."""
    at_once = max(1, ORDERED_AT_ONCE // batching.size)
    number, end = first, batching.count
    while end is None or number < end:
        stop = number + at_once if end is None else min(number + at_once, end)
        bounds = batching.bounds(number, stop)
        positions = order.at(np.arange(bounds[0], bounds[-1], dtype=np.uint64), epoch)
        for begin, until in pairwise(bounds):
            yield positions[begin - bounds[0] : until - bounds[0]]
        number = stop


@dataclass(frozen=True, slots=True)
class View(Node):
    """The elements of any stage in another order; `still`: those that it has in the first epoch."""

    below: Node
    order: Order
    arranged: tuple[Stage, ...] = ()
    still: bool = False
    unindexable_reason = None
    keeps_elements = True

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.below,)

    def with_children(self, children: Sequence[Node]) -> Node:
        (below,) = children
        return replace(self, below=below)

    @property
    def size(self) -> int | None:
        return self.order.size

    @property
    def keeps_rows(self) -> bool:
        return self.below.keeps_rows

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        return self.below.visit(self._places(positions, run.epoch), self._run_below(run))

    def origins_at(self, position: int, epoch: int) -> Origins:
        place = next(self._places(iter([position]), epoch))
        return self.below.origins_at(place, self._below(epoch))

    def row_sources(self, position: int, run: Run) -> list[Any]:
        place = next(self._places(iter([position]), run.epoch))
        return self.below.row_sources(place, self._run_below(run))

    def batch_of(self, sources: Sequence[Any]) -> Any:
        return self.below.batch_of(sources)

    def _places(self, positions: Iterator[int], epoch: int) -> Iterator[int]:
        while some := list(islice(positions, ORDERED_AT_ONCE)):
            yield from self.order.at(np.array(some, np.uint64), epoch).tolist()

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        count = self.count_in(state)
        below = self._run_below(run)
        if self.order.is_identity:
            yield from self.below.steps(below, count)
            return
        positions = chain.from_iterable(
            chunk.tolist()
            for chunk in chunks_of(
                self.order, Batching.of(self.size, 1, drop_remainder=False), run.epoch, count
            )
        )
        for element, origins in self.below.visit(positions, below):
            count += 1
            yield Step(element, count, origins)
        run.report.repeated += self.order.padding

    def _below(self, epoch: int) -> int:
        return 0 if self.still else epoch

    def _run_below(self, run: Run) -> Run:
        return run.in_epoch(self._below(run.epoch))

    @property
    def padding(self) -> int:
        return self.below.padding + self.order.padding

    @property
    def reshuffles(self) -> bool:
        return self.order.reshuffles or (self.below.reshuffles and not self.still)

    def push_order(self, reorder: Reorder, stage: Stage, *, still: bool) -> Node:
        order = reorder(self.order)
        return replace(self, order=order, arranged=(*self.arranged, stage), still=self.still or still)

    def under_batch(self, size: int, *, drop_remainder: bool) -> Node:
        return replace(self, order=self.order.under_batch(size, drop_remainder=drop_remainder))

    def batching(self, size: int) -> Batching | None:
        return self.order.batching(size)

    @property
    def shards(self) -> tuple[Rank, ...]:
        return (*self.below.shards, *self.order.shards)

    @property
    def knows_other_ranks(self) -> bool:
        return self.below.knows_other_ranks and self.order.knows_other_ranks

    def at_rank(self, index: int, count: int) -> Node:
        below = self.below.at_rank(index, count)
        return replace(self, below=below, order=self.order.at_rank(index, count))

    def _taken(self, counts: Counts) -> Any:
        if self.below.shards:
            raise other_ranks_error(self.arranged[-1].words)
        return self.order.taken(counts)

    def _remaining(self, taken: Any) -> Node:
        return replace(self, order=self.order.remaining(taken))

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), *self.arranged]


def one_of(node: Node, draw: int, run: Run) -> tuple[Any, Origins]:
    """One of the elements of a stage, by a random number."""
    ((element, origins),) = node.visit(iter([draw % (node.size or FAR)]), run)
    return element, origins


def first_of(steps: Iterable[Step]) -> Step:
    """The element behind a state that says there is one."""
    for step in steps:
        return step
    raise StateError("the state names an element behind the last one")
