"""Several sets as one: whose turn it is at which position.

Like orders, deals are arithmetic, and promises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.dataset.order import Order, Positions, permutation

Owners: TypeAlias = npt.NDArray[np.int64]

# In each run of so many positions, every set has exactly its share.
_RUN = 1 << 14


class Deal(ABC):
    """Which of several sets is next, and with which of its elements."""

    __slots__ = ()

    if TYPE_CHECKING:  # a field in some: dataclasses would take a property here for its default

        @property
        def size(self) -> int | None:
            """The number of positions; None if there is no end."""

    @abstractmethod
    def at(self, positions: Positions, epoch: int) -> tuple[Owners, Positions]:
        """Whose each position is, and where it lies among their own."""


@dataclass(frozen=True, slots=True)
class InTurn(Deal):
    """One set after the other."""

    sizes: tuple[int | None, ...]

    @property
    def size(self) -> int | None:
        return None if None in self.sizes else sum(size or 0 for size in self.sizes)

    def at(self, positions: Positions, epoch: int) -> tuple[Owners, Positions]:  # noqa: ARG002
        sizes = [np.iinfo(np.int64).max if size is None else size for size in self.sizes]
        with np.errstate(over="ignore"):
            ends = np.cumsum(np.array(sizes, np.uint64))
        if None in self.sizes:  # what comes after a set without an end never has its turn
            ends[self.sizes.index(None) :] = np.iinfo(np.uint64).max
        owners = np.searchsorted(ends, positions, "right")
        begins = np.concatenate([np.zeros(1, np.uint64), ends])
        return owners, positions - begins[owners]


@dataclass(frozen=True, slots=True)
class Mixture(Deal):
    """Sets in fixed shares, in random order; it ends where the first of them has nothing left.

    The positions are cut into long runs. In each, every set has as many as its share is, exactly, and they
    are dealt out by a permutation. Each set gives its elements in their own order. Whose turn it is does not
    depend on the epoch, or each would end elsewhere.
    """

    quotas: tuple[int, ...]  # in each run
    seed: int
    size: int | None

    @classmethod
    def of(cls, sizes: tuple[int | None, ...], weights: npt.ArrayLike, seed: int) -> Mixture:
        """A mixture by these weights.

        Raises:
            ValueError: There are not as many weights as sets, or one is not a positive number.
        """
        quotas = _quotas(np.asarray(weights, np.float64), len(sizes))
        ends = [_place(quotas, seed, i, size) for i, size in enumerate(sizes) if size is not None]
        return cls(quotas, seed, min(ends, default=None))

    def at(self, positions: Positions, epoch: int) -> tuple[Owners, Positions]:  # noqa: ARG002
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
        return owners, inner


def _place(quotas: tuple[int, ...], seed: int, owner: int, number: int) -> int:
    """The position where a set has to give its element of this number."""
    runs, rest = divmod(number, quotas[owner])
    owners, _ = _dealt(quotas, seed, runs)
    return runs * _RUN + int(np.flatnonzero(owners == owner)[rest])


@lru_cache(maxsize=64)
def _dealt(quotas: tuple[int, ...], seed: int, run: int) -> tuple[Owners, Positions]:
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
class Dealt(Order):
    """Several orders as one."""

    deal: Deal
    parts: tuple[Order, ...]
    bases: tuple[int, ...]  # where the records of each part begin

    @property
    def size(self) -> int | None:
        return self.deal.size

    def nearby(self) -> int:
        return min((part.nearby() for part in self.parts), default=1)

    def at(self, positions: Positions, epoch: int) -> Positions:
        owners, inner = self.deal.at(positions, epoch)
        found = np.empty_like(positions)
        for owner in np.unique(owners).tolist():
            mine = owners == owner
            found[mine] = self.parts[owner].at(inner[mine], epoch) + np.uint64(self.bases[owner])
        return found
