"""A trillion records for a thousand ranks: orders, sides, shares and states cost no more than for few."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tfreel.dataset.order import Natural, Order, Shuffled, known
from tfreel.dataset.push_order import dealt
from tfreel.dataset.shard import Share
from tfreel.dataset.shuffle import Laned, Windowed

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
    got = [Share(rank, RANKS).of_order(order).at(some(step * 1024, 64), 3) for rank in range(RANKS)]
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
    state = json.dumps(Share(421, RANKS).of_order(order).mark(step * 1024))
    assert len(state) < 20
    rest = order.onward(json.loads(state))
    assert known(rest) == known(order) - step * 1024 * RANKS
    got = [Share(rank, ranks).of_order(rest).at(some(0, 4), 0) for rank in range(ranks)]
    wanted = order.at(some(step * 1024 * RANKS, 4 * ranks), 0)
    assert (np.stack(got, 1).reshape(-1) == wanted).all()
