"""`sample`: elements drawn with other frequencies than they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tfreel.dataset.concat import CombinedOrder
from tfreel.dataset.mix import MixDeal
from tfreel.dataset.order import Chosen, Frozen, Order, Part, Positions, UnaryOrder, known, mixed, scrambled
from tfreel.dataset.repeat import Repeated
from tfreel.dataset.shuffle import Shuffled


@dataclass(frozen=True, slots=True)
class WeightedOrder(UnaryOrder):
    """Positions below drawn with replacement, each in proportion to its weight.

    The draw at a position depends on the seed, the epoch and the position alone.
    """

    seed: int
    draws: int
    ends: npt.NDArray[np.float64] = field(compare=False)  # running sums of the weights
    verb: ClassVar[str] = "sample()"

    @property
    def knows_other_ranks(self) -> bool:
        return not self.below.shards

    reshuffles = True

    @classmethod
    def of(cls, below: Order, weights: npt.ArrayLike, seed: int, size: int | None = None) -> WeightedOrder:
        """Draws by these weights, one for each position below.

        Raises:
            ValueError: There are not as many, one is negative or not finite, or all are zero.
        """
        array = np.asarray(weights, np.float64)
        if array.shape != (known(below),):
            raise ValueError(f"{array.size} weights for {below.size} elements")
        if not np.isfinite(array).all() or (array < 0).any() or not array.any():
            raise ValueError("weights must be finite, not negative, and not all zero")
        return cls(below, seed, known(below) if size is None else size, np.cumsum(array))

    @property
    def size(self) -> int:
        return self.draws

    @property
    def padding(self) -> int:
        return 0

    def nearby(self) -> int:
        return 1

    def at(self, positions: Positions, epoch: int) -> Positions:
        draws = scrambled(positions, mixed(epoch, self.seed)) >> np.uint64(11)
        shares = draws.astype(np.float64) * (float(self.ends[-1]) / (1 << 53))
        picks = np.searchsorted(self.ends, shares, "right")
        return self.below.at(np.minimum(picks, len(self.ends) - 1).astype(np.uint64), epoch)


def balanced(order: Order, members: list[npt.NDArray[np.int64]], seed: int, count: int) -> Order:
    """So many elements, of every group as many."""
    parts = tuple(
        Repeated(Shuffled(Chosen(Frozen(order), picks.astype(np.uint64)), seed), None) for picks in members
    )
    deal = MixDeal.of((None,) * len(parts), np.ones(len(parts)), seed)
    return Part(CombinedOrder(deal, parts, (0,) * len(parts)), 0, 1, count)
