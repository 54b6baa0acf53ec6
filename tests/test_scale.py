"""A trillion records for a thousand ranks: orders, sides, shares and states cost no more than for few."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tfreel.dataset.order import Natural, Order, known
from tfreel.dataset.shard import ShardSpec
from tfreel.dataset.shuffle import Laned, Shuffled, Windowed
from tfreel.dataset.split import dealt

RECORDS = 10**12
TEST = 10**10
RANKS = 1000
WHOLE = Natural(RECORDS)
TRAIN = dealt(WHOLE, seed=7, start=0, count=RECORDS - TEST)
IN_FILES = dealt(WHOLE, seed=None, start=0, count=RECORDS - TEST)
ORDERS = [Shuffled(TRAIN, 7), Windowed(IN_FILES, 7, 1 << 20), Laned(IN_FILES, 7, 1 << 16, RANKS)]


def some(start: int, count: int) -> np.ndarray:
    return np.arange(start, start + count, dtype=np.uint64)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("step", [0, 483_398, 966_795])
def test_ranks_get_what_is_theirs_and_nobody_elses(order: Order, step: int) -> None:
    got = [ShardSpec(rank, RANKS).of_order(order).at(some(step * 1024, 64), 3) for rank in range(RANKS)]
    together = np.stack(got, 1).reshape(-1)
    assert (together == order.at(some(step * 1024 * RANKS, 64 * RANKS), 3)).all()
    assert len(np.unique(together)) == 64 * RANKS
    assert together.max() < RECORDS


def test_what_is_kept_out_of_training_never_comes_there() -> None:
    test = dealt(WHOLE, seed=7, start=RECORDS - TEST, count=TEST)
    picks = np.random.default_rng(0)
    for epoch in range(3):
        trained = ORDERS[0].at(picks.integers(0, RECORDS - TEST, 10**5, np.uint64), epoch)
        tested = test.at(picks.integers(0, TEST, 10**5, np.uint64), epoch)
        assert not np.intersect1d(trained, tested).size


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", [1, 750, 4096])
def test_any_number_of_ranks_goes_on_where_others_stood(order: Order, ranks: int) -> None:
    step = 123_456
    share = ShardSpec(421, RANKS).of_order(order)
    state = json.dumps(share.taken(np.full(RANKS, step * 1024)))
    assert len(state) < 30
    rest = share.remaining(json.loads(state))
    assert known(rest.at_rank(0, 1)) == known(order) - step * 1024 * RANKS
    got = [rest.at_rank(rank, ranks).at(some(0, 4), 0) for rank in range(ranks)]
    wanted = order.at(some(step * 1024 * RANKS, 4 * ranks), 0)
    assert (np.stack(got, 1).reshape(-1) == wanted).all()
