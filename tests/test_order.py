"""Orders: every one is a function of position and epoch, and visits exactly what it should."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfreel.dataset.order import Chosen, Frozen, Natural, Order, Part, Rest, known
from tfreel.dataset.repeat import Repeated
from tfreel.dataset.sample import WeightedOrder
from tfreel.dataset.shard import UNEVEN, ShardOrder
from tfreel.dataset.shuffle import Laned, Shuffled, Windowed
from tfreel.errors import StateError


def positions(start: int, stop: int) -> Any:
    return np.arange(start, stop, dtype=np.uint64)


def listed(order: Order, epoch: int = 0, stop: int | None = None) -> list[int]:
    size = order.size if stop is None else stop
    assert size is not None
    return order.at(positions(0, size), epoch).tolist()


# Bijections -------------------------------------------------------------------------------------------------

SIZES = st.integers(0, 700)
SEEDS = st.integers(0, 2**64 - 1)


@given(SIZES, SEEDS, st.integers(0, 5))
def test_a_shuffle_visits_everything_once(size: int, seed: int, epoch: int) -> None:
    assert sorted(listed(Shuffled(Natural(size), seed), epoch)) == list(range(size))


@given(SIZES, SEEDS, st.integers(0, 5), st.integers(1, 800))
def test_a_windowed_shuffle_visits_everything_once(size: int, seed: int, epoch: int, window: int) -> None:
    assert sorted(listed(Windowed(Natural(size), seed, window), epoch)) == list(range(size))


@given(SIZES, SEEDS, st.integers(0, 5), st.integers(1, 800), st.integers(1, 40))
def test_lanes_visit_everything_once(size: int, seed: int, epoch: int, window: int, lanes: int) -> None:
    assert sorted(listed(Laned(Natural(size), seed, window, lanes), epoch)) == list(range(size))


@settings(max_examples=50)
@given(SEEDS, st.integers(1, 300), st.integers(1, 5))
def test_repeating_visits_everything_as_often(seed: int, size: int, times: int) -> None:
    order = Repeated(Shuffled(Natural(size), seed), times)
    assert order.size == size * times
    assert Counter(listed(order)) == dict.fromkeys(range(size), times)


def orders(below: Order) -> st.SearchStrategy[Order]:
    size = below.size or 0
    return st.one_of(
        SEEDS.map(lambda seed: Shuffled(below, seed)),
        SEEDS.map(lambda seed: Shuffled(below, seed, fixed=True)),
        st.tuples(SEEDS, st.integers(1, 50)).map(lambda t: Windowed(below, *t)),
        st.tuples(SEEDS, st.integers(1, 50), st.integers(1, 5)).map(lambda t: Laned(below, *t)),
        st.integers(1, 3).map(lambda times: Repeated(below, times)),
        st.just(Frozen(below)),
        st.tuples(st.integers(0, 2), st.sampled_from(UNEVEN)).map(lambda t: ShardOrder(below, t[0], 3, t[1])),
        st.tuples(st.integers(0, 2), st.integers(1, 9)).map(
            lambda t: ShardOrder(below, t[0], 3, "balance", t[1])
        ),
        st.integers(0, 3).map(lambda index: ShardOrder(below, index, 4)),
        st.tuples(st.integers(0, size), st.integers(1, 4)).map(
            lambda t: Part(below, t[0], t[1], max(0, -((t[0] - size) // t[1])))
        ),
    )


def some_order(data: Any, size: int) -> tuple[Order, int]:
    """Any composition of orders, and an epoch."""
    order: Order = Natural(size)
    for _ in range(data.draw(st.integers(0, 4))):
        if order.size:
            order = data.draw(orders(order))
    return order, data.draw(st.integers(0, 3))


@given(st.data(), st.integers(1, 200))
def test_any_piece_of_any_order_is_that_piece_of_the_whole(data: Any, size: int) -> None:
    order, epoch = some_order(data, size)
    whole = listed(order, epoch)
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, len(whole)))
    assert order.at(positions(start, stop), epoch).tolist() == whole[start:stop]
    scattered = np.array(data.draw(st.permutations(range(len(whole)))), np.uint64)
    assert order.at(scattered, epoch).tolist() == [whole[i] for i in scattered.tolist()]
    assert set(whole) <= set(range(size))


@given(st.data(), st.integers(1, 200))
def test_what_is_left_behind_a_position_is_the_tail(data: Any, size: int) -> None:
    order, epoch = some_order(data, size)
    whole = listed(order, epoch)
    first = data.draw(st.integers(0, len(whole)))
    rest = order.rest(first)
    assert listed(rest, epoch) == whole[first:]
    second = data.draw(st.integers(0, len(whole) - first))
    assert listed(rest.rest(second), epoch) == whole[first + second :]


@pytest.mark.parametrize("wrong", [-1, 11, "1", [0, 1], True, {}])
def test_what_nobody_can_have_taken_is_refused(wrong: Any) -> None:
    with pytest.raises(StateError):
        Shuffled(Natural(10), 1).rest(wrong)
    for taken in (wrong, [wrong, []], [5, [wrong]], [5, [4, 3]], [5, [3, 3]], [5, [5]]):
        with pytest.raises(StateError):
            ShardOrder(Natural(10), 0, 2).remaining(taken)
    for taken in (wrong, [wrong, 0], [[], wrong], [[[wrong, 0]], 1], [[[1, 0], [0, 0]], 2], [[[2, 0]], 2]):
        if taken not in ([[], 11],):  # rounds have no end here
            with pytest.raises(StateError):
                Repeated(ShardOrder(Natural(10), 0, 2), None).remaining(taken)


@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 7), st.integers(1, 5), st.data(), SEEDS)
def test_what_some_ranks_left_others_share(
    size: int, before: int, after: int, step: int, data: Any, seed: int
) -> None:
    def shared(order: Order) -> Order:
        return ShardOrder(order, 0, 1, uneven, step)

    uneven = data.draw(st.sampled_from(["keep", "balance"]))
    shuffled = Shuffled(Natural(size), seed)
    order = data.draw(
        st.sampled_from([shared(Repeated(shuffled, 2)), Repeated(shared(shuffled), 2), shared(shuffled)])
    )
    ranks = [order.at_rank(rank, before) for rank in range(before)]
    counts = [data.draw(st.integers(0, known(rank))) for rank in ranks]
    seen = [n for rank, count in zip(ranks, counts, strict=True) for n in listed(rank)[:count]]
    rest = order.remaining(json.loads(json.dumps(ranks[0].taken(np.array(counts)))))
    left = [n for rank in range(after) for n in listed(rest.at_rank(rank, after))]
    times = 1 if isinstance(order, ShardOrder) and order.below is shuffled else 2
    found = Counter(seen + left)
    assert set(found) == set(range(size))
    extra = found - Counter(dict.fromkeys(range(size), times))
    assert Counter(dict.fromkeys(range(size), times)) <= found
    assert sum(extra.values()) <= (0 if uneven == "keep" else 2 * times * (before + after))


# Each by itself ---------------------------------------------------------------------------------------------


def test_parts_are_slices() -> None:
    ten = Natural(10)
    assert listed(Part(ten, 2, 3, 3)) == [2, 5, 8]
    assert listed(Part(ten, 9, -1, 10)) == list(range(10))[::-1]
    assert listed(Part(Part(ten, 2, 2, 4), 1, 2, 2)) == [4, 8]


def test_a_shuffle_is_new_in_each_epoch_unless_it_is_fixed() -> None:
    order = Shuffled(Natural(1000), 7)
    assert listed(order, 0) != listed(order, 1)
    assert listed(order, 1) == listed(order, 1)
    fixed = Shuffled(Natural(1000), 7, fixed=True)
    assert listed(fixed, 0) == listed(fixed, 1)
    assert listed(Shuffled(Natural(1000), 8)) != listed(order)


def test_each_repetition_is_an_epoch() -> None:
    shuffled = Shuffled(Natural(50), 3)
    order = Repeated(shuffled, 3)
    assert listed(order) == listed(shuffled, 0) + listed(shuffled, 1) + listed(shuffled, 2)
    assert listed(Repeated(order, 2)) == [i for epoch in range(6) for i in listed(shuffled, epoch)]


def test_repeating_without_end_has_no_size_but_every_position() -> None:
    order = Repeated(Shuffled(Natural(50), 3), None)
    assert order.size is None
    far = order.at(positions(50 * 10**12, 50 * 10**12 + 50), 0).tolist()
    assert sorted(far) == list(range(50))
    with pytest.raises(ValueError, match="has no end"):
        Shuffled(order, 1).at(positions(0, 1), 0)
    assert Repeated(Natural(0), None).size == 0


def test_a_window_is_filled_from_a_few_places_and_never_looks_further() -> None:
    size, window = 100_000, 1600
    order = np.array(listed(Windowed(Natural(size), 5, window)))
    for begin in range(0, size - window, window):
        inside = np.sort(order[begin : begin + window])
        runs = 1 + int((np.diff(inside) > 1).sum())
        assert runs <= 66  # sixty-four, and perhaps pieces of the short one and at the borders
    moved = np.abs(order - np.arange(size))
    assert np.median(moved) > size / 5  # not only within the window


@pytest.mark.parametrize(
    "arrange",
    [
        lambda windows: windows,
        lambda windows: Part(windows, 5000, 2, 20_000),
        lambda windows: ShardOrder(windows, 1, 4),
        lambda windows: Rest(Repeated(Frozen(windows), 2), 1700),
        lambda windows: ShardOrder(windows, 0, 1, "pad"),
        lambda windows: ShardOrder(Laned(windows.below, 5, 1600, 4), 1, 4),
    ],
    ids=["windows", "part", "shard", "rest of repeated", "even", "lanes"],
)
def test_positions_nearby_have_their_records_at_a_few_places(arrange: Any) -> None:
    order: Order = arrange(Windowed(Natural(100_000), 5, 1600))
    nearby = order.nearby()
    assert 400 <= nearby <= 1600
    for begin in range(0, 15_000, nearby):
        records = np.sort(order.at(positions(begin, begin + nearby), 0).astype(np.int64))
        places = 1 + int((np.diff(records) > 25).sum())  # a run has twenty-five records
        assert places <= 2 * 64 + 4  # of two windows, and pieces of a run at their borders


@pytest.mark.parametrize("order", [Natural(9), Shuffled(Natural(9), 1), Chosen(Natural(9), positions(0, 3))])
def test_orders_without_windows_have_nothing_nearby(order: Order) -> None:
    assert order.nearby() == 1


@pytest.mark.parametrize("ranks", [1, 5, 10, 20])
def test_ranks_read_whole_runs_in_lanes_of_their_own(ranks: int) -> None:
    size, window, lanes = 101_007, 640, 20
    order = Laned(Natural(size), 5, window, lanes)
    seen = []
    for rank in range(ranks):
        mine = np.array(listed(ShardOrder(order, rank, ranks)))
        of_windows = window * (lanes // ranks)  # as many records as the windows of its lanes hold
        dealt = len(mine) // of_windows * of_windows
        for begin in range(0, dealt, of_windows):
            inside = np.sort(mine[begin : begin + of_windows])
            starts = inside[np.flatnonzero(np.diff(inside, prepend=-2) > 1)]
            assert len(starts) <= 64 * (lanes // ranks)
            assert (starts % 10 == 0).all()  # a run has ten records
        seen += mine.tolist()
    assert sorted(seen) == list(range(size))
    moved = np.abs(np.array(listed(order)) - np.arange(size))
    assert np.median(moved) > size / 5


def test_chosen_positions_come_in_their_order() -> None:
    order = Chosen(Part(Natural(10), 5, 1, 5), np.array([4, 0, 2], np.uint64))
    assert listed(order) == [9, 5, 7]


def test_weights_are_kept_in_the_long_run_and_zeros_never_drawn() -> None:
    order = WeightedOrder.of(Natural(4), [1, 0, 3, 6], seed=1, size=100_000)
    drawn = Counter(listed(order))
    assert drawn[1] == 0
    for i, share in ((0, 0.1), (2, 0.3), (3, 0.6)):
        assert drawn[i] / 100_000 == pytest.approx(share, abs=0.01)
    assert listed(order, 1, 1000) != listed(order, 0, 1000)


@pytest.mark.parametrize("wrong", [[1, 2], [1, 2, -1], [1, 2, np.nan], [0, 0, 0], [1, np.inf, 1]])
def test_weights_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="weights"):
        WeightedOrder.of(Natural(3), wrong, seed=1)


def test_a_billion_records_cost_nothing() -> None:
    order = Part(Shuffled(Repeated(Shuffled(Natural(10**9), 1), 3), 2), 7, 8, 10**8)
    assert len(set(listed(order, 0, 1000))) > 990


def test_shuffles_mix_well() -> None:
    order = np.array(listed(Shuffled(Natural(10_000), 1)))
    assert abs(np.corrcoef(order, np.arange(10_000))[0, 1]) < 0.05
    firsts = [listed(Shuffled(Natural(10), seed), 0, 1)[0] for seed in range(5000)]
    counts = np.bincount(firsts, minlength=10)
    assert ((counts - 500) ** 2 / 500).sum() < 30  # chi squared with 9 degrees of freedom


# Promises ---------------------------------------------------------------------------------------------------

PROMISED = {
    "shuffled": (Shuffled(Natural(12345), 17), "bca7f0d66480e556"),
    "windowed": (Windowed(Natural(12345), 17, 500), "8b10cada10673466"),
    "in lanes": (Laned(Natural(12345), 17, 500, 8), "5ab0dc3870aec719"),
    "repeated": (Repeated(Shuffled(Natural(1234), 17), 10), "3d00c5783af975c3"),
    "split": (Part(Shuffled(Natural(12345), 17, fixed=True), 1000, 3, 3000), "6647e7fdedf78762"),
    "weighted": (WeightedOrder.of(Natural(1000), np.arange(1000), 17, 12345), "7db88947f53dee1d"),
}


@pytest.mark.parametrize("name", PROMISED)
def test_orders_never_change(name: str) -> None:
    order, promised = PROMISED[name]
    digest = hashlib.sha256()
    for epoch in (0, 1, 5):
        digest.update(order.at(positions(0, order.size or 0), epoch).astype("<u8").tobytes())
    assert digest.hexdigest()[:16] == promised
