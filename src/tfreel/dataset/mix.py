"""`Dataset.mix`: several data sets in fixed shares, in random order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.dataset.arguments import plain
from tfreel.dataset.concat import DealNode, combine_rows, remaining_parts, require_alike
from tfreel.dataset.node import Node, Run, Step
from tfreel.dataset.order import Positions, permutation
from tfreel.dataset.plan import Stage
from tfreel.dataset.state import Move, parts_of

# In each run of so many positions, every set has exactly its share.
_RUN = 1 << 14


@dataclass(frozen=True, slots=True)
class MixDeal:
    """Parts in fixed shares, in random order; it ends where the first of them has nothing left.

    The positions are cut into long runs. In each, every part has as many as its share is, exactly, and they
    are dealt out by a permutation. Each gives its elements in their own order. Whose turn it is does not
    depend on the epoch, or each would end elsewhere.

    Attributes:
        quotas: How many positions of each run each part has.
        seed: What the permutations are made of.
        size: The number of positions; None if there is no end.
        start: Where it begins, if it is the rest of a longer one.
    """

    quotas: tuple[int, ...]
    seed: int
    size: int | None = None
    start: int = 0

    @classmethod
    def of(cls, sizes: Sequence[int | None], weights: npt.ArrayLike, seed: int) -> MixDeal:
        """A mixture by these weights.

        Raises:
            ValueError: There are not as many weights as parts, or one is not a positive number.
        """
        return cls(_quotas(np.asarray(weights, np.float64), len(sizes)), seed).resized(sizes)

    def resized(self, sizes: Sequence[int | None], position: int = 0) -> MixDeal:
        given = self._given(position)
        ends = [self._place(i, given[i] + size) for i, size in enumerate(sizes) if size is not None]
        end = min(ends, default=None)
        return replace(self, size=None if end is None else end - position, start=position)

    def at(self, positions: Positions) -> tuple[npt.NDArray[np.int64], Positions]:
        positions = positions + np.uint64(self.start)
        runs = positions // np.uint64(_RUN)
        within = positions % np.uint64(_RUN)
        owners = np.empty(len(positions), np.int64)
        inner = np.empty_like(positions)
        quotas = np.array(self.quotas, np.uint64)
        for run in np.unique(runs).tolist():
            mine = runs == run
            dealt, ranks = _dealt(self.quotas, self.seed, run)
            owners[mine] = dealt[within[mine]]
            inner[mine] = ranks[within[mine]] + quotas[owners[mine]] * np.uint64(run)
        if self.start:
            inner -= np.array(self._given(self.start), np.uint64)[owners]
        return owners, inner

    def counts(self, position: int) -> list[int]:
        before = self._given(self.start)
        return [n - b for n, b in zip(self._given(self.start + position), before, strict=True)]

    def _given(self, position: int) -> list[int]:
        """How many elements each part has given before a position, from the very first one on."""
        runs, rest = divmod(position, _RUN)
        if not rest:
            return [quota * runs for quota in self.quotas]
        owners, _ = _dealt(self.quotas, self.seed, runs)
        last = np.bincount(owners[:rest], minlength=len(self.quotas)).tolist()
        return [quota * runs + count for quota, count in zip(self.quotas, last, strict=True)]

    def _place(self, owner: int, number: int) -> int:
        """The position where a part has to give its element of this number."""
        runs, rest = divmod(number, self.quotas[owner])
        owners, _ = _dealt(self.quotas, self.seed, runs)
        return runs * _RUN + int(np.flatnonzero(owners == owner)[rest])


@lru_cache(maxsize=64)
def _dealt(quotas: tuple[int, ...], seed: int, run: int) -> tuple[npt.NDArray[np.int64], Positions]:
    """Whose each position of a run is, and the how manyth of theirs in it."""
    slots = permutation(_RUN, seed, run).take(np.arange(_RUN, dtype=np.uint64))
    owners = np.searchsorted(np.cumsum(quotas), slots.astype(np.int64), "right")
    ranks = np.empty(_RUN, np.uint64)
    for owner, quota in enumerate(quotas):
        ranks[owners == owner] = np.arange(quota, dtype=np.uint64)
    return owners, ranks


def _quotas(weights: npt.NDArray[np.float64], count: int) -> tuple[int, ...]:
    """What each set has in a run: its share, rounded so that all of them make a run; never nothing."""
    if weights.shape != (count,):
        raise ValueError(f"{weights.size} weights for {count} datasets")
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise ValueError(f"weights must be positive numbers: {weights.tolist()}")
    if count > _RUN:
        raise ValueError(f"at most {_RUN:,} datasets can be mixed, not {count:,}")
    shares = weights / weights.sum() * (_RUN - count)
    quotas = np.floor(shares).astype(np.int64) + 1
    largest_rests = np.argsort(-(shares % 1), kind="stable")
    quotas[largest_rests[: _RUN - int(quotas.sum())]] += 1
    return tuple(quotas.tolist())


@dataclass(frozen=True, slots=True)
class Mix(DealNode):
    """Mixed in fixed shares, until the first one has nothing left."""

    mixture: MixDeal
    words: str
    identity: tuple[Any, ...]

    @property
    def deal(self) -> MixDeal:
        return self.mixture

    @property
    def size(self) -> int | None:
        return None if self.unindexable_reason else self.mixture.size

    def with_children(self, children: Sequence[Node]) -> Mix:
        return self._of(children, self.mixture.start)

    def _of(self, parts: Sequence[Node], position: int) -> Mix:
        return replace(self, parts=tuple(parts), mixture=self.mixture.resized(_sizes(parts), position))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        indexable = self.unindexable_reason is None
        if indexable:
            position = self.count_in(state)
            states: list[Any] = list(self.mixture.counts(position))
        else:
            position, states = parts_of(state, [0, [None] * len(self.parts)])
            states = list(parts_of(states, [None] * len(self.parts)))
        runs = [iter(part.steps(run, below)) for part, below in zip(self.parts, states, strict=True)]
        for owner in self._owners(position):
            step = next(runs[owner], None)
            if step is None:
                return
            position += 1
            states[owner] = step.state
            yield step._replace(state=position if indexable else [position, states.copy()])

    def _owners(self, position: int) -> Iterator[int]:
        size = self.size
        while size is None or position < size:
            stop = position + 1024 if size is None else min(position + 1024, size)
            owners, _ = self.mixture.at(np.arange(position, stop, dtype=np.uint64))
            yield from owners.tolist()
            position = stop

    def _move(self, state: Any, move: Move) -> Any:
        position, states = parts_of(state, [0, []])
        states = parts_of(states, [None] * len(self.parts))
        return [position, [part.moved(each, move) for part, each in zip(self.parts, states, strict=True)]]

    def _remaining(self, taken: Any) -> Node:
        position, left = remaining_parts(self, taken)
        return self._of(left, position)

    @property
    def _stage(self) -> Stage:
        return Stage(self.words, list(self.identity))


def _sizes(nodes: Sequence[Node]) -> list[int | None]:
    return [None if node.unindexable_reason else node.size for node in nodes]


def mixed_nodes(nodes: Sequence[Node], weights: Sequence[float] | None, seed: int) -> Node:
    """Several stages mixed in fixed shares, in random order.

    Raises:
        ValueError: They have other elements, or there are not as many weights, or these are not positive.
    """
    require_alike(nodes, "mix")
    shares = [1.0] * len(nodes) if weights is None else list(weights)
    deal = MixDeal.of(_sizes(nodes), shares, seed)
    words = f"{len(nodes)} datasets, mixed {':'.join(f'{share:g}' for share in shares)} with seed {seed}"
    stage = Stage(words, ["mix", [*map(plain, shares)], seed])
    return combine_rows(nodes, deal, stage) or Mix(tuple(nodes), deal, words, tuple(stage.identity))
