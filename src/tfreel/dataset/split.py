"""Some elements out of all: those that somebody names, and those of each part of a split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.dataset.concat import CombinedOrder, ConcatDeal
from tfreel.dataset.group_by import dealt_by_class, dealt_by_hash, groups_of, rows_with
from tfreel.dataset.node import Node, Reorder
from tfreel.dataset.order import Chosen, Frozen, Order, Part
from tfreel.dataset.shuffle import Shuffled


def positions_in(size: int, indices: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Positions among so many elements, as NumPy reads them: from the end if negative, or by a mask.

    Raises:
        IndexError: There is no such element, or the mask has another size.
        TypeError: These are no integers.
    """
    array = np.asarray(indices)
    if array.dtype == np.bool_:
        if array.shape != (size,):
            raise IndexError(f"a mask of {array.size:,} for {size:,} elements")
        return np.flatnonzero(array).astype(np.uint64)
    if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
        raise TypeError("elements are picked by a flat list of integers, or a mask")
    positions = array.astype(np.int64)
    outside = (positions < -size) | (positions >= size)
    if outside.any():
        raise IndexError(f"index {int(positions[outside][0])} out of range for {size:,} elements")
    return np.where(positions < 0, positions + size, positions).astype(np.uint64)


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
    return CombinedOrder(ConcatDeal(tuple(part.size for part in parts)), parts, (0,) * len(parts))


def split_orders(
    node: Node,
    size: int,
    fractions: Sequence[float],
    *,
    seed: int | None,
    by: str | None,
    stratify: str | None,
) -> list[Reorder]:
    """How to make the order of each part of a split, of a stage that knows the positions of its elements.

    Raises:
        ValueError: It is to be by a feature and stratified.
    """
    if by is not None and stratify is not None:
        raise ValueError("a split is by a feature or stratified by one, not both")
    if by is not None:
        parts = dealt_by_hash(groups_of(rows_with("by", node), by), fractions, seed or 0)
    elif stratify is not None:
        parts = dealt_by_class(groups_of(rows_with("stratify", node), stratify), fractions, seed)
    else:
        bounds = [0, *(min(size, round(size * sum(fractions[: i + 1]))) for i in range(len(fractions)))]
        return [
            partial(dealt, seed=seed, start=start, count=stop - start) for start, stop in pairwise(bounds)
        ]
    return [
        partial(frozen_picks, picks=np.flatnonzero(parts == i).astype(np.uint64))
        for i in range(len(fractions))
    ]
