"""Some elements out of all: those that somebody names, and those of each part of a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.dataset.arguments import seed_in
from tfreel.dataset.concat import CombinedOrder, ConcatDeal
from tfreel.dataset.group_by import dealt_by_class, dealt_by_hash, groups_of, rest_of, rows_with
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


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """How elements are dealt out to parts or folds.

    Attributes:
        seed: Of the random order in which they are dealt out; None keeps the order they have.
        by: The feature whose values stay together.
        stratify: The feature of whose values each part has its share.
    """

    seed: int | None
    by: str | None
    stratify: str | None

    @classmethod
    def of(cls, seed: Any, *, shuffle: bool, by: str | None, stratify: str | None) -> SplitOptions:
        """The options as users give them.

        Raises:
            TypeError: The seed is no whole number.
            ValueError: It is negative, or two options contradict each other.
        """
        if by is not None and stratify is not None:
            raise ValueError("a split is by a feature or stratified by one, not both")
        if by is not None and not shuffle:
            raise ValueError(
                "by= deals out values by their hash, whatever their order: it does not go with shuffle=False"
            )
        return cls(seed_in(seed) if shuffle else None, by, stratify)

    @property
    def words(self) -> str:
        """What they do, for people."""
        if self.by is not None:
            return f" by {self.by}, with seed {self.seed}"
        if self.stratify is not None:
            order = "in order" if self.seed is None else f"drawn with seed {self.seed}"
            return f", {self.stratify} in proportion, {order}"
        return ", in order" if self.seed is None else f", shuffled with seed {self.seed}"

    @property
    def identity(self) -> list[Any]:
        """The same, as JSON."""
        return [self.seed, self.by, self.stratify]


def check_fractions(fractions: Sequence[float], *, drop_rest: bool) -> None:
    """Makes sure that the fractions of a split are some, and of all elements.

    Raises:
        TypeError: One is no number.
        ValueError: One is negative, or they do not add up to 1.
    """
    if not all(isinstance(each, Real) for each in fractions):
        raise TypeError(f"fractions are numbers, one after the other, as in split(0.8, 0.2): {fractions}")
    if not fractions or not min(fractions) >= 0:
        raise ValueError(f"fractions are from 0 on, and add up to 1, as in split(0.8, 0.2): {fractions}")
    rest = rest_of(fractions)
    if not rest >= 0 or (rest > 0 and not drop_rest):
        advice = "; drop_rest=True leaves out the rest" if rest > 0 else ""
        raise ValueError(f"fractions must add up to 1, not to {1 - rest:.12g}: {fractions}{advice}")


def split_orders(
    node: Node, size: int, fractions: Sequence[float], options: SplitOptions, *, what: str
) -> list[Reorder]:
    """How to make the order of each part of a split, of a stage that knows the positions of its elements.

    Args:
        node: The stage.
        size: How many elements it has.
        fractions: The share of each part.
        options: How they are dealt out.
        what: What a part is called.

    Raises:
        ValueError: A part would have nothing, though it has a share.
    """
    if options.by is not None:
        groups = groups_of(rows_with("by", node), options.by)
        parts = dealt_by_hash(groups, fractions, options.seed or 0)
        hint = f"; by= keeps groups together, here {len(groups.values):,}: another seed= may part them"
    elif options.stratify is not None:
        groups = groups_of(rows_with("stratify", node), options.stratify)
        parts = dealt_by_class(groups, fractions, options.seed)
        hint = ""
    else:
        return _in_runs(size, fractions, options.seed, what)
    picks = [np.flatnonzero(parts == i).astype(np.uint64) for i in range(len(fractions))]
    _require_some(size, fractions, [len(each) for each in picks], what, hint)
    return [partial(frozen_picks, picks=each) for each in picks]


def _in_runs(size: int, fractions: Sequence[float], seed: int | None, what: str) -> list[Reorder]:
    """Parts that follow each other in one order."""
    bounds = [0, *(min(size, round(size * sum(fractions[: i + 1]))) for i in range(len(fractions)))]
    if rest_of(fractions) == 0:  # whatever rounding made of the sum
        last = max(i for i, fraction in enumerate(fractions) if fraction > 0)
        bounds[last + 1 :] = [size] * (len(fractions) - last)
    counts = [stop - start for start, stop in pairwise(bounds)]
    _require_some(size, fractions, counts, what)
    return [
        partial(dealt, seed=seed, start=start, count=count)
        for start, count in zip(bounds, counts, strict=False)
    ]


def _require_some(
    size: int, fractions: Sequence[float], counts: Sequence[int], what: str, hint: str = ""
) -> None:
    for i, (fraction, count) in enumerate(zip(fractions, counts, strict=True)):
        if fraction > 0 and count == 0:
            raise ValueError(
                f"{what} {i + 1} of {len(fractions)} would be empty: it is to get {fraction:g} of {size:,}"
                f" elements{hint}"
            )
