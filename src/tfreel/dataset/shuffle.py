"""`shuffle` by arithmetic: exact; or in windows, for disks and stores where every jump costs.

As all of `tfreel.dataset.order`: promises, which never change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tfreel import _core
from tfreel.dataset.order import Batching, Order, Positions, UnaryOrder, known, mixed, permutation

# A window is filled from so many places of the set, each read in one go.
_PLACES = 64


@dataclass(frozen=True, slots=True)
class Permutation(UnaryOrder):
    """All elements below, each once, in another order."""

    seed: int
    verb: ClassVar[str] = "shuffle()"

    def under_batch(self, size: int, *, drop_remainder: bool) -> Order:
        return replace(self, below=self.below.under_batch(size, drop_remainder=drop_remainder))

    def batching(self, size: int) -> Batching | None:
        return self.below.batching(size)


@dataclass(frozen=True, slots=True)
class Shuffled(Permutation):
    """An exact permutation of everything below, new in each epoch unless it is `fixed`."""

    fixed: bool = False

    @property
    def reshuffles(self) -> bool:
        return not self.fixed or self.below.reshuffles

    def nearby(self) -> int:
        return 1

    def at(self, positions: Positions, epoch: int) -> Positions:
        order = permutation(known(self.below), self.seed, 0 if self.fixed else epoch)
        return self.below.at(order.take(positions), epoch)


@dataclass(frozen=True, slots=True)
class Windowed(Permutation):
    """A shuffle that reads ahead no further than a window, for disks where every jump costs.

    The set is cut into runs of a sixty-fourth of a window, the runs are permuted, and then the records within
    each window of as many runs. So every window holds records from sixty-four places, in any order.
    """

    window: int
    reshuffles = True

    def nearby(self) -> int:
        return self.window

    def at(self, positions: Positions, epoch: int) -> Positions:
        within = _within_windows(positions, self.window, known(self.below), self.seed, epoch)
        return self.below.at(self._across_runs(within, epoch), epoch)

    def _across_runs(self, positions: Positions, epoch: int) -> Positions:
        size = known(self.below)
        run = max(1, self.window // _PLACES)
        runs, rest = divmod(size, run)
        if runs < 2:
            return positions
        # The last run may be a short one. It is put between two others, in each epoch elsewhere, so that it
        # has no favourite window either.
        short_begin = (mixed(epoch, -2, self.seed) % (runs + 1)) * run
        first, last = _ends(positions)
        order = permutation(runs, self.seed, mixed(epoch, -1))
        if last < short_begin:
            return _with_runs_moved(positions, order, run)
        if first >= short_begin + rest:
            return _with_runs_moved(positions - np.uint64(rest), order, run)
        before, after = positions < np.uint64(short_begin), positions >= np.uint64(short_begin + rest)
        moved = positions - np.uint64(short_begin) + np.uint64(runs * run)  # as in the short one
        moved[before] = _with_runs_moved(positions[before], order, run)
        moved[after] = _with_runs_moved(positions[after] - np.uint64(rest), order, run)
        return moved


@dataclass(frozen=True, slots=True)
class Laned(Permutation):
    """A shuffle in windows for many readers: every so manyth position is of one lane, which reads for itself.

    The set is cut into runs as by `Windowed`, the permuted runs are dealt to the lanes, and each lane mixes
    its own, a window at a time. So a rank that has some lanes for itself reads whole runs. What does not come
    out even is mixed as a whole, and comes last.
    """

    window: int
    lanes: int
    reshuffles = True

    def nearby(self) -> int:
        return self.window * self.lanes  # one window of each

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
    first, last = _ends(positions)
    if first // window == last // window:  # as with most batches
        return _within_window(positions, first // window, window, size, seed, epoch)
    moved = np.empty_like(positions)
    windows = positions // np.uint64(window)
    for number in np.unique(windows).tolist():
        inside = windows == number
        moved[inside] = _within_window(positions[inside], number, window, size, seed, epoch)
    return moved


def _within_window(
    positions: Positions, number: int, window: int, size: int, seed: int, epoch: int
) -> Positions:
    """Positions that all lie in the window of that number, mixed."""
    begin = number * window
    order = permutation(min(window, size - begin), seed, mixed(epoch, number))
    moved = order.take(positions - np.uint64(begin))
    moved += np.uint64(begin)
    return moved


def _with_runs_moved(positions: Positions, order: _core.Permutation, run: int) -> Positions:
    """Positions in runs of so many, where a permutation puts these runs."""
    numbers = positions // np.uint64(run)
    moved = _looked_up(order, numbers)
    moved -= numbers  # how many runs each goes on; it may wrap around, and does so back again
    moved *= np.uint64(run)
    moved += positions
    return moved


def _looked_up(order: _core.Permutation, numbers: Positions) -> Positions:
    """What a permutation makes of numbers that are mostly the same few: each of these is asked for once."""
    first, last = _ends(numbers)
    if last - first >= len(numbers):
        return order.take(numbers)
    found: Positions = order.take(np.arange(first, last + 1, dtype=np.uint64))[numbers - np.uint64(first)]
    return found


def _ends(positions: Positions) -> tuple[int, int]:
    """The lowest and the highest."""
    return (int(positions.min()), int(positions.max())) if len(positions) else (0, 0)
