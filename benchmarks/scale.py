"""A trillion records in a million shards, for a thousand ranks: the arithmetic, without the records.

    python benchmarks/scale.py

Which record a rank gets at which step is computed from seed, epoch and position, by the very classes that
datasets use. So all of it can be tried at full size: splits, orders, shares and states, and what they cost.
What is claimed is asserted; the figures are printed.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from tfreel.dataset.order import Natural, Order, known
from tfreel.dataset.shard import ShardSpec
from tfreel.dataset.shuffle import Laned, Shuffled, Windowed
from tfreel.dataset.split import dealt

SHARDS = 10**6
RECORDS = 10**12
RANKS = 1_000
BATCH = 1_024
TEST = 10**10  # records that are kept out of training
WINDOW = 1 << 20  # for all ranks together
LANE_WINDOW = 1 << 16  # for each
SEED = 7

Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Set:
    """How many records each shard has is all that has to be known of a set."""

    starts: npt.NDArray[np.int64]

    @classmethod
    def made(cls) -> Set:
        """Shards of about a million records each, no two of a size."""
        counts = np.random.default_rng(SEED).integers(
            RECORDS // SHARDS // 2, RECORDS // SHARDS * 3 // 2, SHARDS
        )
        counts[-1] += RECORDS - counts.sum() if counts.sum() < RECORDS else 0
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(np.minimum(starts, RECORDS))

    def places(self, records: Numbers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The shard of each record, and its number there."""
        numbers = records.astype(np.int64)
        shards = np.searchsorted(self.starts, numbers, "right") - 1
        return shards, numbers - self.starts[shards]


def timed(action: Callable[[], object], repeat: int = 20) -> float:
    """Seconds, the best of some."""
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - begin)
    return best


def batch_of(order: Order, rank: int, step: int) -> Numbers:
    """The records of a rank in a step."""
    share = ShardSpec(rank, RANKS).of_order(order)
    return share.at(np.arange(step * BATCH, (step + 1) * BATCH, dtype=np.uint64), 0)


def check_shares(order: Order, step: int) -> None:
    """All ranks together get records of which no two are the same, and of the training side only."""
    got = np.concatenate([batch_of(order, rank, step) for rank in range(RANKS)])
    assert len(np.unique(got)) == RANKS * BATCH, "a record came twice"
    assert got.max() < RECORDS, "a record that is not there"


def check_sides(train: Order, test: Order) -> None:
    """No record is on both sides, as far as a million of each tell."""
    picks = np.random.default_rng(1)
    some = [
        side.at(picks.integers(0, known(side), 10**6, np.uint64), epoch)
        for side, epoch in ((train, 0), (train, 3), (test, 0))
    ]
    assert not np.intersect1d(np.concatenate(some[:2]), some[2]).size, "a record is on both sides"


def check_resuming(order: Order, step: int) -> str:
    """Whatever number of ranks goes on, it goes on behind what was seen. Gives the state."""
    share = ShardSpec(3, RANKS).of_order(order)
    taken = json.dumps(share.taken(np.full(RANKS, step * BATCH)))
    ranks = RANKS * 3 // 4
    left = share.remaining(json.loads(taken))
    rest = np.concatenate(
        [left.at_rank(rank, ranks).at(np.arange(8, dtype=np.uint64), 0) for rank in range(ranks)]
    )
    begin = step * BATCH * RANKS
    wanted = order.at(np.arange(begin, begin + 8 * ranks, dtype=np.uint64), 0)
    assert set(rest.tolist()) == set(wanted.tolist()), "some are lost, or come twice"
    return taken


def stretches(order: Order) -> int:
    """How many stretches of records that follow each other a rank reads for so many records."""
    share = ShardSpec(421, RANKS).of_order(order)
    got = np.sort(share.at(np.arange(LANE_WINDOW, 2 * LANE_WINDOW, dtype=np.uint64), 0))
    return 1 + int((np.diff(got) > 1).sum())


def tell(name: str, order: Order, found: Set) -> None:
    """Checks an order at its beginning, in its middle and at its end, and says what it costs."""
    last = known(order) // (RANKS * BATCH) - 1
    for step in (0, last // 2, last):
        check_shares(order, step)
        taken = check_resuming(order, step)
    seconds = timed(lambda: batch_of(order, 421, last // 2))
    shards = len(np.unique(found.places(batch_of(order, 421, last // 2))[0]))
    print(f"{name}: {seconds * 1e9 / BATCH:,.0f} ns a record, {shards:,} shards in a batch, state {taken}")
    print(f"    a rank reads {LANE_WINDOW:,} records in {stretches(order):,} stretches")


def main() -> None:
    """Checks it all, and prints a line for each figure."""
    found = Set.made()
    whole = Natural(RECORDS)
    train = dealt(whole, seed=SEED, start=0, count=RECORDS - TEST)
    test = dealt(whole, seed=SEED, start=RECORDS - TEST, count=TEST)
    check_sides(train, test)
    print(f"{RECORDS:,} records in {SHARDS:,} shards, {RANKS:,} ranks, batches of {BATCH:,}\n")
    in_files = dealt(whole, seed=None, start=0, count=RECORDS - TEST)
    orders = {
        "exact shuffle": Shuffled(train, SEED),
        f"window of {WINDOW:,}": Windowed(in_files, SEED, WINDOW),
        f"{RANKS:,} lanes with windows of {LANE_WINDOW:,}": Laned(in_files, SEED, LANE_WINDOW, RANKS),
    }
    for name, order in orders.items():
        tell(name, order, found)
    exact = orders["exact shuffle"]
    steps = count()  # another batch each time: nothing of it is in a cache yet
    places = timed(lambda: found.places(batch_of(exact, 421, next(steps))))
    print(f"with shard and place: {places * 1e9 / BATCH:,.0f} ns a record")
    first = timed(lambda: exact.at(np.arange(BATCH, dtype=np.uint64), 9))
    print(f"the first batch of another epoch: {first * 1e6:,.0f} µs")
    print(f"what has to be in memory: {found.starts.nbytes:,} bytes")
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


if __name__ == "__main__":
    main()
