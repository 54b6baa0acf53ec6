"""Plans put together: where in the tree of stages a new order goes, and of what it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.dataset.map import Mapped
from tfreel.dataset.mix import Deal, Dealt, InTurn, Mixture
from tfreel.dataset.node import Node
from tfreel.dataset.order import Chosen, Frozen, Natural, Order, Part, Repeated, Shuffled
from tfreel.dataset.plan import Stage
from tfreel.dataset.rows import Batches, Rows, View
from tfreel.dataset.shuffle_buffer import Stirred
from tfreel.dataset.stream import Streamed
from tfreel.dataset.take import Again, Filtered, Gathered, Prefetched, Unbatched, repeat_stage
from tfreel.index.access import Records, joined

Reorder: TypeAlias = Callable[[Order], Order]


def reordered(
    node: Node, reorder: Reorder, stage: Stage, *, keeps_marks: bool = False, still: bool = False
) -> Node:
    """The elements of a stage in another order.

    Args:
        node: The stage.
        reorder: Makes the new order of the old one.
        stage: What it is.
        keeps_marks: Whether the new order has the marks of the old one. If not, a state that stands behind a
            shard holds only for as many ranks as it was saved with.
        still: Whether the order is made of a `Frozen` one, because it picks elements out: then what lies
            below it, such as batches of a shuffle, is the same in all epochs too.
    """
    if isinstance(node, (Mapped, Prefetched)):  # they do not care for the order, but have workers
        below = reordered(node.below, reorder, stage, keeps_marks=keeps_marks, still=still)
        return replace(node, below=below)
    if isinstance(node, View):
        node = replace(node, still=node.still or still)
    if isinstance(node, (Rows, View)):
        stage = stage if keeps_marks else _pinned(stage, node)
        return replace(node, order=reorder(node.order), arranged=(*node.arranged, stage))
    return View(node, reorder(Natural(node.size)), (_pinned(stage, node),), node.shares, still)


def _pinned(stage: Stage, node: Node) -> Stage:
    return stage._replace(identity=[stage.identity, *node.shares])


def sharing(node: Node, count: int) -> Node:
    """The same stage, shared out among one more number of ranks."""
    if isinstance(node, (Rows, View)):
        return replace(node, shares=(*node.shares, count))
    if isinstance(node, (Mapped, Prefetched)):
        return replace(node, below=sharing(node.below, count))
    raise TypeError(f"{type(node).__name__} has no order of its own")


def repeated(node: Node, times: int | None) -> Node:
    """A stage again and again."""
    if isinstance(node, (Mapped, Prefetched)):
        return replace(node, below=repeated(node.below, times))
    if isinstance(node, Rows) and node.size is not None:  # a view must tell those below it of the epoch, too
        return reordered(node, lambda order: Repeated(order, times), repeat_stage(times), keeps_marks=True)
    return Again(node, times)


def whole_batches(node: Node) -> Node:
    """The same without batches that are smaller than the others.

    Raises:
        TypeError: These are no batches.
        ValueError: Batches have been put into another order, or together with others.
    """
    if isinstance(node, (Batches, Gathered)) or (isinstance(node, Streamed) and node.batch_size):
        return replace(node, drop_remainder=True)
    if isinstance(node, (Mapped, Filtered, Stirred, Prefetched, Again)):
        return replace(node, below=whole_batches(node.below))
    if isinstance(node, (Rows, Streamed, Unbatched)):
        raise TypeError("the dataset must be batched first: ds.batch(…)")
    raise ValueError("say batch(…, drop_remainder=True) yourself, and drop_remainder=False here")


def dealt(order: Order, *, seed: int | None, start: int, count: int) -> Order:
    """One part of a split: so many from `start` on, of all in random order if there is a seed."""
    frozen = Frozen(order)  # or an element would change sides with the epochs of a shuffle below
    return Part(frozen if seed is None else Shuffled(frozen, seed, fixed=True), start, 1, count)


def frozen_picks(order: Order, *, picks: npt.NDArray[np.uint64]) -> Order:
    """The elements at these positions, in every epoch the same ones."""
    return Chosen(Frozen(order), picks)


def in_turn(order: Order, *, reorders: Sequence[Reorder]) -> Order:
    """Several orders of the same elements, one after the other."""
    parts = tuple(reorder(order) for reorder in reorders)
    return Dealt(InTurn(tuple(part.size for part in parts)), parts, (0,) * len(parts))


def balanced(order: Order, members: list[npt.NDArray[np.int64]], seed: int, count: int) -> Order:
    """So many elements, of every group as many."""
    parts = tuple(
        Repeated(Shuffled(Chosen(Frozen(order), picks.astype(np.uint64)), seed), None) for picks in members
    )
    deal = Mixture.of((None,) * len(parts), np.ones(len(parts)), seed)
    return Part(Dealt(deal, parts, (0,) * len(parts)), 0, 1, count)


def together(nodes: Sequence[Node], deal: Deal, stage: Stage) -> Rows | None:
    """Several sets of records as one, if they are read in the same way: so they can share batches."""
    rows = [node for node in nodes if isinstance(node, Rows)]
    first = rows[0].elements if rows else None
    if first is None or len(rows) < len(nodes) or any(not first.alike(each.elements) for each in rows):
        return None
    sources: list[Records] = []
    for each in rows:
        if all(each.elements.records is not records for records in sources):
            sources.append(each.elements.records)
    begins = np.cumsum([0, *map(len, sources)]).tolist()
    bases = {id(records): begin for records, begin in zip(sources, begins, strict=False)}
    shares = tuple(count for each in rows for count in each.shares)
    arranged = [
        Stage(f"  {number + 1}: {inner.words}", [number, inner.identity])
        for number, each in enumerate(rows)
        for inner in each.arranged
    ]
    order = Dealt(deal, tuple(e.order for e in rows), tuple(bases[id(e.elements.records)] for e in rows))
    elements = replace(first, records=sources[0] if len(sources) == 1 else joined(sources))
    sizes = [len(each.elements.records) for each in rows]
    joint = stage._replace(identity=[stage.identity, sizes, *shares])
    return Rows(elements, order, (*arranged, joint), shares)
