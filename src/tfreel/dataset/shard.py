"""Plans shared out: among ranks, which share records, and among the workers of one, which share batches.

Ranks share what batches are made of, so that the batches of all of them are of the same size. Workers share
the batches themselves, each every so manyth, so that whoever takes from one after the other sees them in
their order, whatever the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tfreel.dataset.cache import Cached
from tfreel.dataset.map import Mapped
from tfreel.dataset.node import Node, parts_of
from tfreel.dataset.order import Even, Natural, Order, Sharded
from tfreel.dataset.plan import Stage
from tfreel.dataset.push_order import reordered, sharing
from tfreel.dataset.rows import Batches, Rows, View
from tfreel.dataset.shuffle_buffer import Stirred
from tfreel.dataset.stream import Streamed
from tfreel.dataset.take import Again, Filtered, Gathered, Prefetched, Strided, Unbatched, Uneven
from tfreel.errors import StateError


@dataclass(frozen=True, slots=True)
class Share:
    """What falls to one of several.

    Attributes:
        index: Which of them, from 0.
        count: How many there are.
        uneven: As in `Dataset.shard`.

    Raises:
        ValueError: There is no such one, or no such way.
    """

    index: int
    count: int
    uneven: Uneven = "keep"

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            raise ValueError(f"index must be from 0 to {self.count - 1}, not {self.index}")
        if self.uneven not in ("pad", "drop", "keep"):
            raise ValueError(f'uneven must be "pad", "drop" or "keep", not {self.uneven!r}')

    @property
    def stage(self) -> Stage:
        """It in words; a state is good for any number of ranks."""
        return Stage(f"shard {self.index} of {self.count}", ["shard", self.uneven])

    def of_order(self, order: Order) -> Order:
        """Every so manyth position."""
        if self.uneven != "keep" and order.size is not None:
            order = Even(order, order, self.count, pad=self.uneven == "pad")
        return Sharded(order, self.index, self.count)

    def of_elements(self, node: Node) -> Node:
        """Every so manyth element, whatever it is."""
        if node.lost_by is None:
            return sharing(reordered(node, self.of_order, self.stage, keeps_marks=True), self.count)
        if isinstance(node, Streamed) and self.count > 1 and node.source.once:
            raise ValueError("a pipe is read only once, and cannot be shared out")
        return Strided(node, self.index, self.count, self.uneven, self.stage)

    def of_records(self, node: Node) -> Node:
        """Every so manyth of the records that the elements are made of, as far down as they can be told.

        Raises:
            ValueError: All should get as many, and a stage in between leaves some out.
        """
        if isinstance(node, Batches):
            return replace(node, rows=self._of_rows(node.rows))
        if isinstance(node, Cached) and self.count == 1:
            # Gone through from the front, it has the workers of the stages below it.
            return replace(node, arranged=(*node.arranged, self.stage))
        if not isinstance(node, (Gathered, *_PASSING)):
            return self.of_elements(node)
        self._require_even(node)
        return replace(node, below=self.of_records(node.below))

    def of_batches(self, node: Node) -> Node:
        """Every so manyth element; where these have no positions, of what they are made of."""
        if node.lost_by is not None and isinstance(node, (Gathered, *_PASSING)):
            return replace(node, below=self.of_batches(node.below))
        return self.of_elements(node)

    def _of_rows(self, rows: Rows) -> Rows:
        return replace(
            rows,
            order=self.of_order(rows.order),
            arranged=(*rows.arranged, self.stage),
            shares=(*rows.shares, self.count),
        )

    def _require_even(self, node: Node) -> None:
        drops = isinstance(node, Filtered) or (isinstance(node, Mapped) and node.on_error == "skip")
        if drops and self.uneven != "keep" and self.count > 1:
            raise ValueError(
                f"uneven={self.uneven!r} cannot be kept behind {node.lost_by}, which leaves each rank with"
                ' another number of elements; only uneven="keep" can'
            )


# What these give of a part is a part of what they give of the whole.
_PASSING = (Mapped, Filtered, Unbatched, Stirred, Prefetched, Again)


def state_behind(node: Node, count: int) -> Any:
    """The state that a run has after its first elements, without a run.

    Args:
        node: Something shared out, which has not lost its positions.
        count: How many elements; at least 1.
    """
    if isinstance(node, Cached):
        return count
    if isinstance(node, (Rows, View)):
        return node.order.mark(count)
    if isinstance(node, Again):
        number, last = node.place(count - 1)
        return [number, state_behind(node.round(number), last + 1)]
    if isinstance(node, (Batches, Gathered)):
        rows = node.rows if isinstance(node, Batches) else node.below
        wanted = count * node.batch_size
        return state_behind(rows, wanted if rows.size is None else min(wanted, rows.size))
    return state_behind(_passing(node).below, count)


def rest_of(node: Node, state: Any) -> Node:
    """What is left behind a state, as a plan. Its states are those of the whole.

    Raises:
        StateError: There is no such place.
    """
    if isinstance(node, Cached):
        return View(node, Natural(node.size).onward(state))
    if isinstance(node, (Rows, View)):
        return replace(node, order=node.order.onward(state))
    if isinstance(node, Again):
        number, below = parts_of(state, [0, None])
        if type(number) is not int or number < 0 or (node.times is not None and number >= node.times):
            raise StateError(f"the state stands in round {number!r}, and there are {node.times}")
        return replace(node, begun=rest_of(node.below, below), rounds_over=number + 1)
    if isinstance(node, Batches):
        return replace(node, rows=replace(node.rows, order=node.rows.order.onward(state)))
    passing = _passing(node)
    return replace(passing, below=rest_of(passing.below, state))


def _passing(node: Node) -> Mapped | Prefetched | Gathered:
    if isinstance(node, (Mapped, Prefetched, Gathered)):
        return node
    raise TypeError(f"{type(node).__name__} was not shared out")
