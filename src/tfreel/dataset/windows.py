"""Shuffles that read in runs: for disks and stores where every jump costs.

As all of `tfreel.dataset.order`: promises, which never change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfreel import _core
from tfreel.dataset.order import Order, Positions, known, mixed, permutation

# A window is filled from so many places of the set, each read in one go.
_PLACES = 64


@dataclass(frozen=True, slots=True)
class Windowed(Order):
    """A shuffle that reads ahead no further than a window, for disks where every jump costs.

    The set is cut into runs of a sixty-fourth of a window, the runs are permuted, and then the records within
    each window of as many runs. So every window holds records from sixty-four places, in any order.
    """

    below: Order
    seed: int
    window: int

    @property
    def size(self) -> int | None:
        return self.below.size

    def at(self, positions: Positions, epoch: int) -> Positions:
        within = _within_windows(positions, self.window, known(self.below), self.seed, epoch)
        return self.below.at(self._across_runs(within, epoch), epoch)

    def _across_runs(self, positions: Positions, epoch: int) -> Positions:
        size = known(self.below)
        run = max(1, self.window // _PLACES)
        runs, rest = divmod(size, run)
        if runs < 2:
            return positions
        order = permutation(runs, self.seed, mixed(epoch, -1))
        # The last run may be a short one. It is put between two others, in each epoch elsewhere, so that it
        # has no favourite window either.
        short_begin = (mixed(epoch, -2, self.seed) % (runs + 1)) * run
        after = positions >= np.uint64(short_begin + rest)
        in_short = (positions >= np.uint64(short_begin)) & ~after
        whole = positions - np.where(after, np.uint64(rest), np.uint64(0))
        whole[in_short] = 0
        numbers = whole // np.uint64(run)
        moved = _looked_up(order, numbers)
        moved -= numbers  # how many runs each goes on; it may wrap around, and does so back again
        moved *= np.uint64(run)
        moved += whole
        moved[in_short] = positions[in_short] - np.uint64(short_begin) + np.uint64(runs * run)
        return moved


@dataclass(frozen=True, slots=True)
class Laned(Order):
    """A shuffle in windows for many readers: every so manyth position is of one lane, which reads for itself.

    The set is cut into runs as by `Windowed`, the permuted runs are dealt to the lanes, and each lane mixes
    its own, a window at a time. So a rank that has some lanes for itself reads whole runs. What does not come
    out even is mixed as a whole, and comes last.
    """

    below: Order
    seed: int
    window: int
    lanes: int

    @property
    def size(self) -> int | None:
        return self.below.size

    def at(self, positions: Positions, epoch: int) -> Positions:
        size, run = known(self.below), max(1, self.window // _PLACES)
        runs = size // run
        lane_size = runs // self.lanes * run
        even = np.uint64(lane_size * self.lanes)
        moved = np.empty_like(positions)
        early = positions < even
        if early.any():
            moved[early] = self._in_lanes(positions[early], epoch, lane_size)
        if not early.all():
            order = permutation(size - int(even), self.seed, mixed(epoch, -2))
            moved[~early] = order.take(positions[~early] - even) + even
        numbers = moved // np.uint64(run)
        whole = numbers < np.uint64(runs)
        order = permutation(runs, self.seed, mixed(epoch, -1))
        moved[whole] += (order.take(numbers[whole]) - numbers[whole]) * np.uint64(run)
        return self.below.at(moved, epoch)

    def _in_lanes(self, positions: Positions, epoch: int, lane_size: int) -> Positions:
        """Where these stand among the permuted runs: the first of each lane, then the second of each, …."""
        places, lanes = np.divmod(positions, np.uint64(self.lanes))
        for lane in np.unique(lanes).tolist():
            mine = lanes == np.uint64(lane)
            places[mine] = _within_windows(
                places[mine], self.window, lane_size, self.seed, mixed(epoch, lane)
            )
        run = np.uint64(max(1, self.window // _PLACES))
        numbers, within = np.divmod(places, run)
        return (numbers * np.uint64(self.lanes) + lanes) * run + within


def _within_windows(positions: Positions, window: int, size: int, seed: int, epoch: int) -> Positions:
    """Positions of so many, mixed within windows."""
    moved = np.empty_like(positions)
    windows = positions // np.uint64(window)
    for number in np.unique(windows).tolist():
        inside = windows == number
        mine = slice(None) if inside.all() else inside  # most batches lie in one window
        begin = number * window
        length = min(window, size - begin)
        order = permutation(length, seed, mixed(epoch, number))
        moved[mine] = order.take(positions[mine] - np.uint64(begin)) + np.uint64(begin)
    return moved


def _looked_up(order: _core.Permutation, numbers: Positions) -> Positions:
    """What a permutation makes of numbers that are mostly the same few: each of these is asked for once."""
    first, last = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if last - first >= len(numbers):
        return order.take(numbers)
    found: Positions = order.take(np.arange(first, last + 1, dtype=np.uint64))[numbers - np.uint64(first)]
    return found
