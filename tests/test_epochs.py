"""Loops over epochs: an order for each, states that go on anywhere, and no pass without elements."""

from __future__ import annotations

import json
import pickle
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

import tfreel
from tfreel.dataset import Dataset

from numbered import COUNT, even, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

PLANS: dict[str, Callable[[Dataset], Dataset]] = {
    "positions": lambda ds: ds.shuffle(seed=1).batch(40),
    "a count that comes out even": lambda ds: ds[:80].shuffle(seed=1).batch(40),
    "no positions": lambda ds: ds.shuffle(seed=1).filter(even).batch(20),
    "a buffer": lambda ds: ds[:60].shuffle(seed=1, buffer=9).batch(20),
    "rounds": lambda ds: ds[:40].shuffle(seed=1).batch(20).repeat(2),
}
each_plan = pytest.mark.parametrize("name", PLANS)


@pytest.fixture
def ds(path: str) -> Dataset:
    return Dataset(path)


def kept(loop: Any) -> Any:
    return json.loads(json.dumps(loop.state_dict()))


def steps_of(loop: Any) -> list[tuple[int, list[int]]]:
    """All steps that are left in a loop: the epoch, and the numbers of a batch."""
    return [(epoch, batch["n"].tolist()) for epoch, batches in loop for batch in batches]


@each_plan
def test_each_epoch_is_what_the_dataset_has_in_it(ds: Dataset, name: str) -> None:
    plan = PLANS[name](ds)
    seen = [(epoch, numbers(batches)) for epoch, batches in plan.epochs(3)]
    assert seen == [(epoch, numbers(plan.epoch(epoch))) for epoch in range(3)]
    assert len({tuple(each) for _, each in seen}) == 3
    assert numbers(plan) == numbers(plan) == seen[0][1]  # a plan is a value


@each_plan
def test_a_state_from_anywhere_gives_exactly_the_steps_that_are_left(ds: Dataset, name: str) -> None:
    plan = PLANS[name](ds)
    whole = steps_of(plan.epochs(3))
    loop = plan.epochs(3)
    done, states = 0, [(0, kept(loop))]
    for _, batches in loop:
        for done, _ in enumerate(batches, done + 1):  # noqa: B020 - it goes on counting
            states.append((done, kept(loop)))
        states.append((done, kept(loop)))  # when the end of the epoch was seen
    assert done == len(whole)
    for done, state in states:
        later = plan.epochs(3)
        later.load_state_dict(state)
        assert steps_of(later) == whole[done:]
        again = plan.epochs(3)
        again.load_state_dict(state)
        first = next(again, None)
        assert (None if first is None else first[0]) == (whole[done][0] if done < len(whole) else None)


def test_epochs_go_on_without_end_and_begin_where_the_dataset_is(ds: Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(50)
    assert [epoch for epoch, _ in islice(plan.epochs(), 5)] == [0, 1, 2, 3, 4]
    assert [epoch for epoch, _ in plan.epoch(3).epochs(2)] == [3, 4]
    assert list(plan.epochs(0)) == []
    for wrong in (-1, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="count must be"):
            plan.epochs(wrong)  # type: ignore[arg-type]


def test_a_run_that_was_broken_off_is_left_behind(ds: Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(40)
    seen = []
    loop = plan.epochs(2)
    for _, batches in loop:
        seen.append(next(batches)["n"].tolist())
        in_the_middle = kept(loop)
    assert seen == [plan.epoch(epoch)[0]["n"].tolist() for epoch in range(2)]
    later = plan.epochs(2)
    later.load_state_dict(in_the_middle)
    assert steps_of(later) == [(1, batch["n"].tolist()) for batch in plan.epoch(1)[1:]]


def test_a_loop_goes_on_in_another_process(ds: Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(40)
    loop = plan.epochs(2)
    _, batches = next(loop)
    next(batches)
    there = pickle.loads(pickle.dumps(loop))
    assert kept(there) == kept(loop)
    assert steps_of(there) == [(1, batch["n"].tolist()) for batch in plan.epoch(1)]


def test_states_of_runs_and_loops_are_of_one_kind(ds: Dataset) -> None:
    plan = ds.shuffle(seed=1).batch(40)
    steps = iter(plan.epoch(2))
    next(steps)
    loop = plan.epochs(4)
    loop.load_state_dict(kept(steps))
    epoch, batches = next(loop)
    assert (epoch, kept(loop)) == (2, kept(steps))
    assert numbers(batches) == numbers(steps)
    with pytest.raises(tfreel.StateError, match="shuffled with seed 1"):
        ds.shuffle(seed=2).batch(40).epochs(4).load_state_dict(kept(loop))


@pytest.mark.parametrize(("before", "after"), [(1, 3), (2, 1), (2, 3), (3, 2), (3, 3)])
@pytest.mark.parametrize("uneven", [None, "keep", "drop", "pad"])
def test_ranks_go_on_together_from_the_state_of_any_of_them(
    ds: Dataset, before: int, after: int, uneven: Any
) -> None:
    def plan(rank: int, world: int) -> Dataset:
        return ds[:65].shuffle(seed=1).shard(rank, world, uneven=uneven).batch(16)

    steps = max(len(plan(rank, before)) for rank in range(before))
    for stop in range(steps + 1):
        loops = [plan(rank, before).epochs(3) for rank in range(before)]
        seen: list[int] = []
        for loop in loops:
            _, batches = next(loop)
            seen += numbers(islice(batches, stop))
        for state in map(kept, loops):
            first, second = list(seen), []
            for rank in range(after):
                loop = plan(rank, after).epochs(3)
                loop.load_state_dict(state)
                for epoch, batches in loop:
                    found = numbers(batches)
                    assert found or after > 1
                    first += found if epoch == 0 else []
                    second += found if epoch == 1 else []
            check_all(first, uneven, before + after)
            check_all(second, uneven, after)


def check_all(seen: list[int], uneven: str | None, ranks: int) -> None:
    """That a set of 65 was seen whole, as far as ranks take it whole."""
    missing, extra = 65 - len(set(seen)), len(seen) - len(set(seen))
    assert missing < (ranks if uneven == "drop" else 1)
    assert extra < (2 * ranks if uneven in (None, "pad") else 1)


def test_a_state_behind_the_last_batch_is_good_for_other_ranks_whatever_the_plan(ds: Dataset) -> None:
    numbered = [ds.shard(rank, 2).batch(8).enumerate() for rank in range(2)]
    loop = numbered[0].epochs(2)
    _, batches = next(loop)
    assert len(list(islice(batches, len(numbered[0])))) == len(numbered[0])
    other = ds.shard(0, 3).batch(8).enumerate().epochs(2)
    other.load_state_dict(kept(loop))
    assert next(other)[0] == 1


def test_a_rank_that_has_come_to_its_end_does_not_end_the_epoch_of_one_that_has_more(ds: Dataset) -> None:
    uneven = [ds.shard(rank, 2).skip(1) for rank in range(2)]
    assert [len(plan) for plan in uneven] == [51, 50]
    loop = uneven[1].epochs(2)
    _, rows = next(loop)
    assert len(list(islice(rows, 50))) == 50
    other = uneven[0].epochs(2)
    other.load_state_dict(kept(loop))
    epoch, rows = next(other)
    assert (epoch, [int(row["n"]) for row in rows]) == (0, [102])


def test_an_element_that_fails_is_not_taken_for_the_end(ds: Dataset) -> None:
    def fail(row: Any) -> bool:
        if row["n"] >= 20:
            raise ZeroDivisionError
        return True

    plan = ds.filter(fail).batch(20)
    loop = plan.epochs(2)
    _, batches = next(loop)
    next(batches)
    later = plan.epochs(2)
    later.load_state_dict(kept(loop))
    epoch, batches = next(later)
    assert epoch == 0
    with pytest.raises(ZeroDivisionError):
        next(batches)


def test_plans_know_whether_epochs_have_orders_of_their_own(path: str) -> None:
    ds = Dataset(path)
    stream = Dataset(path, stream=True)
    shuffled = ds.shuffle(seed=1)
    for plan in (
        shuffled,
        ds.shuffle(seed=1, window=16),
        ds.shuffle(seed=1, window=8, lanes=2),
        stream.shuffle(seed=1, buffer=8),
        shuffled.filter(even).batch(4).prefetch(2),
        ds.batch(4).shuffle(seed=1),
        ds.sample(balance="c", seed=1),
        ds.sample(weights="n", seed=1),
        ds.split(0.5, 0.5, seed=1)[0].shuffle(seed=1),
        ds.concat(shuffled),
        ds.zip(shuffled),
        shuffled.shard(0, 2).repeat(2).batch(4),
    ):
        assert plan._node.reshuffles
        assert numbers(plan) != numbers(plan.epoch(1))
    for plan in (
        ds,
        stream.batch(4),
        ds.map(dict).filter(even),
        ds[::2].batch(4),
        shuffled.split(0.5, 0.5, seed=1)[0],
        shuffled.batch(4).split(0.5, 0.5)[0],
        shuffled.cache(),
        Dataset.mix([ds, ds], seed=1),
        ds.concat(ds).shard(0, 2),
    ):
        assert not plan._node.reshuffles
        assert numbers(plan) == numbers(plan.epoch(1))
    assert len(numbers(shuffled)) == COUNT
