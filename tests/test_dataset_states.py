"""States of datasets: every plan goes on from any of them as if nothing had happened."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import pytest

import tfreel
from tfreel.dataset import Dataset
from tfreel.states import sealed

from numbered import COUNT, doubled, even, numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def unless_in_threes(row: Any) -> Any:
    """Fails on whole batches of three, on some of their rows, and on none."""
    if row["n"] % 9 in (0, 1, 2, 4):
        raise ValueError("in a bad place")
    return row


PLANS: dict[str, Callable[[Dataset], Any]] = {
    "rows": lambda ds: ds,
    "batches": lambda ds: ds.shuffle(seed=1).batch(7),
    "whole batches": lambda ds: ds.shuffle(seed=1).batch(7, drop_remainder=True),
    "epochs": lambda ds: ds[:20].shuffle(seed=1).repeat(3).batch(6),
    "epochs of epochs": lambda ds: ds[:5].shuffle(seed=1).repeat(3).repeat(2).batch(4),
    "windows": lambda ds: ds.shuffle(seed=1, window=16).shard(1, 3).batch(4),
    "lanes": lambda ds: ds.shuffle(seed=1, window=8, lanes=3).shard(1, 3).batch(4),
    "shards, padded": lambda ds: ds.shuffle(seed=1).shard(3, 4, uneven="pad").batch(5),
    "shards, dropped": lambda ds: ds.shuffle(seed=1).shard(3, 4, uneven="drop").batch(5),
    "shards, repeated": lambda ds: ds[:30].shuffle(seed=1).shard(1, 4).repeat(3).batch(5),
    "repeated, sharded": lambda ds: ds[:30].shuffle(seed=1).repeat(3).shard(1, 4).batch(5),
    "shards of shards": lambda ds: ds.shard(1, 2).shuffle(seed=1).shard(0, 3).repeat(2),
    "split": lambda ds: ds.split(0.4, 0.6, seed=2)[0].shuffle(seed=3),
    "split by class": lambda ds: ds.split(0.4, 0.6, seed=2, stratify="c")[0].shuffle(seed=3).batch(4),
    "fold": lambda ds: ds.folds(3, seed=2)[1][0].shuffle(seed=3).batch(4),
    "balanced": lambda ds: ds.sample(balance="c", seed=3).repeat(2).batch(9),
    "weighted": lambda ds: ds.sample(weights="n", seed=3).repeat(2).batch(9),
    "mapped": lambda ds: ds.map(doubled).shuffle(seed=2),
    "mapped, batched": lambda ds: ds.map(doubled).batch(4),
    "mapped in threads": lambda ds: ds.shuffle(seed=1).batch(7).map(doubled, workers=3),
    "mapped in threads, repeated": lambda ds: (
        ds[:20].shuffle(seed=1).batch(7).map(doubled, workers=3).repeat(3)
    ),
    "row by row": lambda ds: ds.batch(7).map(doubled, batched=False),
    "row by row, some left out": lambda ds: (
        ds.shuffle(seed=1).batch(3).map(unless_in_threes, batched=False, on_error="skip")
    ),
    "row by row in threads, some left out": lambda ds: (
        ds.batch(3).map(unless_in_threes, workers=2, batched=False, on_error="skip").unbatch().prefetch(2)
    ),
    "filtered": lambda ds: ds.shuffle(seed=1).filter(even),
    "filtered, batched": lambda ds: ds.shuffle(seed=1).filter(even).batch(4),
    "filtered and limited": lambda ds: ds.filter(even).skip(3).take(20).map(doubled),
    "filtered, repeated": lambda ds: ds[:30].shuffle(seed=4).filter(even).repeat(3),
    "filtered shards": lambda ds: ds.shuffle(seed=4).shard(1, 2).filter(even),
    "stirred": lambda ds: ds[:40].shuffle(seed=3, buffer=9),
    "stirred and prefetched": lambda ds: ds[:40].filter(even).shuffle(seed=3, buffer=9).prefetch(2),
    "stirred batches": lambda ds: ds.batch(5).shuffle(seed=3, buffer=4).repeat(2),
    "enumerated": lambda ds: ds.filter(even).enumerate(),
    "prefetched": lambda ds: ds.shuffle(seed=1).batch(7).map(doubled).prefetch(3),
    "prefetched filter": lambda ds: ds.shuffle(seed=1).filter(even).prefetch(2),
    "unbatched": lambda ds: ds.batch(7).map(doubled).unbatch(),
    "unbatched filter": lambda ds: ds.batch(7).map(dict).unbatch().filter(even),
    "shuffled batches": lambda ds: ds.batch(7).shuffle(seed=3).repeat(2),
    "shards of batches": lambda ds: ds[:50].shuffle(seed=1).batch(4).shard(1, 2).repeat(3),
    "some batches": lambda ds: ds.shuffle(seed=1).batch(4)[2:9].map(doubled).repeat(3),
    "numbered, some of them": lambda ds: ds.shuffle(seed=1).enumerate().take(9).repeat(3),
    "parts of batches": lambda ds: (
        ds.shuffle(seed=1).batch(4).split(0.3, seed=2, drop_rest=True)[0].repeat(3)
    ),
    "joined": lambda ds: ds[:10].concat(ds[50:].shuffle(seed=1)).batch(4),
    "joined filters": lambda ds: ds[:30].filter(even).concat(ds[50:80].filter(even)),
    "zipped": lambda ds: ds[:30].zip(ds[50:].shuffle(seed=1)),
    "zipped filters": lambda ds: ds[:30].filter(even).zip(ds[50:].shuffle(seed=1)),
    "mixed": lambda ds: Dataset.mix([ds[:30], ds[50:].shuffle(seed=1)], weights=[1, 2], seed=4).batch(5),
    "mixed filters": lambda ds: Dataset.mix([ds[:40].filter(even), ds[50:].map(doubled)], seed=4),
    "cached": lambda ds: ds[:30].shuffle(seed=1).filter(even).cache().repeat(2),
    "cached on disk": lambda ds: ds[:30].shuffle(seed=1).batch(4).cache("kept").repeat(2),
    "batches, repeated": lambda ds: ds[:20].shuffle(seed=1).batch(6).map(doubled).repeat(3),
    "endless": lambda ds: ds[:7].shuffle(seed=1).repeat().batch(3),
    "endless batches": lambda ds: ds[:7].shuffle(seed=1).batch(3).repeat(),
}
STREAMS: dict[str, Callable[[Dataset], Any]] = {
    "rows": lambda ds: ds,
    "batches": lambda ds: ds.batch(7),
    "whole batches": lambda ds: ds.batch(7, drop_remainder=True),
    "stirred": lambda ds: ds.shuffle(seed=1, buffer=20).batch(4),
    "repeated": lambda ds: ds.filter(even).repeat(2).take(70),
}
LONGEST = 60
UNBATCHED = (  # elements that are not all rows
    "enumerated",
    "numbered, some of them",
    "zipped",
    "zipped filters",
    "mixed filters",
)
ENDLESS = ("endless", "endless batches")


def test_every_state_gives_exactly_the_tail_of_a_stream(path: str) -> None:
    for plan in STREAMS.values():
        check_all_tails(lambda plan=plan: plan(Dataset(path, stream=True)))


@pytest.mark.parametrize("name", PLANS)
def test_every_state_gives_exactly_the_tail(path: str, name: str) -> None:
    check_all_tails(lambda: PLANS[name](Dataset(path)))


class Hiccup:
    """A function that fails at one call, and at no other."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, element: Any) -> Any:
        self.left -= 1
        if self.left == -1:
            raise OSError("hiccup")
        return element


@pytest.mark.parametrize("batch", [0, 4])
@pytest.mark.parametrize("name", [*PLANS, *(f"stream, {name}" for name in STREAMS)])
def test_behind_a_failure_it_goes_on_from_the_last_good_element(path: str, name: str, batch: int) -> None:
    def plan(at: int) -> Any:
        stream = name.startswith("stream, ")
        made = (STREAMS if stream else PLANS)[name.removeprefix("stream, ")](Dataset(path, stream=stream))
        if batch and not made._node.batched and name not in UNBATCHED:
            made = made.batch(batch)
        return made.map(Hiccup(at))

    expected = [numbers([element]) for element in islice(plan(10**9), LONGEST)]
    for at in {0, 1, len(expected) // 2, len(expected) - 1}:
        steps = iter(plan(at))
        before = [numbers([element]) for element in islice(steps, at)]
        with pytest.raises(OSError, match="hiccup"):
            next(steps)
        resumed = iter(plan(10**9))
        resumed.load_state_dict(kept(steps))
        for onward in (resumed, steps):
            assert before + [numbers([element]) for element in islice(onward, LONGEST - at)] == expected


def test_a_buffer_is_told_of_in_few_words_and_made_again_in_few_steps(path: str) -> None:
    made = 0

    def counted(row: Any) -> Any:
        nonlocal made
        made += 1
        return row

    for stream in (False, True):
        rows = Dataset(path, stream=stream).map(counted).repeat(40)
        plan = rows.shuffle(seed=1, buffer=500).prefetch(2)
        steps = iter(plan)
        for _ in islice(steps, 3000):
            pass
        state = kept(steps)
        assert len(json.dumps(state)) < 500 * (8 if stream else 16)
        resumed = iter(plan)
        resumed.load_state_dict(state)
        made = 0
        assert next(resumed)["n"] == next(steps)["n"]
        assert made < 500 * (10 if stream else 4)
        for number in (-1, 0.5, "0", 10**6, 2**70, state["state"][1][1]):
            wrong = {
                **state,
                "state": [state["state"][0], [number, *state["state"][1][1:]], *state["state"][2:]],
            }
            resumed.load_state_dict(sealed({key: wrong[key] for key in wrong if key != "check"}))
            with pytest.raises(tfreel.StateError, match="for the buffer that are"):
                next(resumed)


@pytest.mark.parametrize(
    "wrong",
    [
        [1, [2**62], [[0, None]], None],
        [2**62, [2**61], [[0, None]], None],
        [9, [0, 1, 2, 3, 4, 5], [[0, None]], None],
        [5, [3], [[4, None]], None],
        [5, [3], [], None],
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_no_state_of_a_buffer_makes_it_read_for_ever(path: str, wrong: Any, *, stream: bool) -> None:
    plan = Dataset(path, stream=stream).repeat().shuffle(seed=1, buffer=4)
    steps = iter(plan)
    state = {key: value for key, value in steps.state_dict().items() if key != "check"}
    steps.load_state_dict(sealed({**state, "state": wrong}))
    with pytest.raises(tfreel.StateError, match="elements for the buffer that are"):
        next(steps)


def test_buffers_behind_buffers_have_small_states(path: str) -> None:
    plan = Dataset(path).repeat(20).shuffle(seed=1, buffer=200).shuffle(seed=2, buffer=200)
    steps = iter(plan)
    for _ in islice(steps, 900):
        pass
    state = kept(steps)
    assert len(json.dumps(state)) < 20_000
    resumed = iter(plan)
    resumed.load_state_dict(state)
    assert numbers(islice(resumed, 100)) == numbers(islice(steps, 100))


def check_all_tails(plan: Callable[[], Any]) -> None:
    steps = iter(plan())
    states, elements = [kept(steps)], []
    for element in islice(steps, LONGEST):
        elements.append(numbers([element]))
        states.append(kept(steps))
    assert elements
    over = next(steps, None) is None
    for i, state in enumerate(states):
        resumed = iter(plan())
        resumed.load_state_dict(state)
        assert resumed.state_dict() == state
        tail = [numbers([element]) for element in islice(resumed, len(elements) - i)]
        assert tail == elements[i:]
        if over:
            assert next(resumed, None) is None
            assert next(resumed, None) is None


def kept(steps: Any) -> Any:
    return json.loads(json.dumps(steps.state_dict()))


@pytest.mark.parametrize("processes", [False, True])
def test_results_that_come_as_they_are_ready_all_come_once(path: str, *, processes: bool) -> None:
    def plan() -> Dataset:
        batches = Dataset(path).shuffle(seed=1).batch(9)
        return batches.map(doubled, workers=2, processes=processes, ordered=False)

    everything = sorted(2 * n for n in range(COUNT))
    for stop in (0, 3, 7) if processes else range(13):
        steps = iter(plan())
        before = numbers(islice(steps, stop))
        resumed = iter(plan())
        resumed.load_state_dict(kept(steps))
        assert sorted(before + numbers(resumed)) == everything


# Other numbers of ranks -------------------------------------------------------------------------------------

SHARED: dict[str, Callable[[Dataset, int, int], Any]] = {
    "batches": lambda ds, rank, ranks: ds.shuffle(seed=1).shard(rank, ranks).batch(2),
    "padded": lambda ds, rank, ranks: ds.shuffle(seed=1).shard(rank, ranks, uneven="pad").batch(2),
    "dropped": lambda ds, rank, ranks: ds.shuffle(seed=1).shard(rank, ranks, uneven="drop").batch(2),
    "epochs": lambda ds, rank, ranks: ds.shuffle(seed=1).shard(rank, ranks).batch(2).repeat(2),
    "rounds": lambda ds, rank, ranks: ds.shuffle(seed=1).repeat(2).shard(rank, ranks).batch(2),
    "rounds of shards": lambda ds, rank, ranks: ds.shuffle(seed=1).shard(rank, ranks).repeat(2).batch(2),
    "in threads": lambda ds, rank, ranks: ds.shard(rank, ranks).batch(2).map(doubled, workers=2).prefetch(2),
    "shards of batches": lambda ds, rank, ranks: ds.shuffle(seed=1).batch(3).shard(rank, ranks),
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3), (4, 2), (3, 3)])
def test_a_state_is_good_for_any_number_of_ranks(path: str, name: str, before: int, after: int) -> None:
    ds = Dataset(path)[:48]
    plan = SHARED[name]
    factor = 2 if name == "in threads" else 1
    times = 2 if name in ("epochs", "rounds", "rounds of shards") else 1
    for steps in range(5):
        runs = [iter(plan(ds, rank, before)) for rank in range(before)]
        seen = [n for run in runs for n in numbers(islice(run, steps))]
        states = [kept(run) for run in runs]
        assert all(state["state"] == states[0]["state"] for state in states)
        rest = []
        for rank in range(after):
            run = iter(plan(ds, rank, after))
            run.load_state_dict(states[0])
            rest.append(numbers(run))
        together = Counter(seen + [n for part in rest for n in part])
        expected = Counter({n * factor: times for n in range(48)})
        missing, extra = expected - together, together - expected
        assert sum(missing.values()) < (after if name == "dropped" else 1)
        assert sum(extra.values()) < (after if name == "padded" else 1)
        if name in ("padded", "dropped"):
            assert len({len(part) for part in rest}) == 1


def test_a_state_that_counts_what_a_rank_has_seen_is_only_good_for_as_many_ranks(ds: Dataset) -> None:
    steps = iter(ds.shard(0, 2).take(20))
    next(steps)
    state = kept(steps)
    iter(ds.shard(1, 2).take(20)).load_state_dict(state)
    with pytest.raises(
        tfreel.StateError, match=r"take\(\).* behind shard\(\) gives every rank elements of its own"
    ):
        iter(ds.shard(0, 3).take(20)).load_state_dict(state)


# Not the right state ----------------------------------------------------------------------------------------


def test_a_state_of_a_sample_is_only_good_for_what_was_balanced(ds: Dataset) -> None:
    state = iter(ds.sample(balance="c", seed=1)).state_dict()
    with pytest.raises(tfreel.StateError, match="where this one has “103 drawn, n balanced"):
        iter(ds.sample(balance="n", seed=1)).load_state_dict(state)


def test_states_of_other_plans_and_other_data_are_refused(ds: Dataset, tmp_path: Path) -> None:
    state = iter(ds.shuffle(seed=1)).state_dict()
    tfreel.save(tmp_path / "other", {"n": range(COUNT)})
    for other, why in (
        (ds, "“shuffled with seed 1” is only in that one"),
        (ds.shuffle(seed=2), "it has “shuffled with seed 1” where this one has “shuffled with seed 2”"),
        (ds.shuffle(seed=1).batch(2), "“in batches of 2” is only in this one"),
        (Dataset(tmp_path / "other").shuffle(seed=1), "it has “103 records of 3 files"),
    ):
        with pytest.raises(tfreel.StateError, match=why):
            iter(other).load_state_dict(state)
    for key, value in (("state", 5), ("plan", "x"), ("check", "00000000"), ("epoch", 1)):
        with pytest.raises(tfreel.StateError, match="damaged"):
            iter(ds.shuffle(seed=1)).load_state_dict({**state, key: value})
    for wrong in ({}, None, {**state, "version": 9}, {"format": "tfreel-reader"}):
        with pytest.raises(tfreel.StateError):
            iter(ds.shuffle(seed=1)).load_state_dict(wrong)  # type: ignore[arg-type]


def test_moved_files_are_the_same_data_and_changed_files_are_not(path: str, tmp_path: Path) -> None:
    state = iter(Dataset(path).batch(5)).state_dict()
    for file in tfreel.read(path).files:
        shutil.copy(str(file), tmp_path)
    moved = str(tmp_path / "*.tfrecord*")
    iter(Dataset(moved).batch(5)).load_state_dict(state)
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "a.tfrecord")]
    rows[3]["n"][0] = 1000
    tfreel.save(tmp_path / "a.tfrecord", rows, mode="w")
    with pytest.raises(tfreel.StateError, match="other data or other features in “103 records of 3 files"):
        iter(Dataset(moved).batch(5)).load_state_dict(state)


@pytest.mark.parametrize("name", sorted({*PLANS} - {*ENDLESS}))
def test_each_round_of_a_repeat_is_an_epoch(path: str, name: str) -> None:
    plan = PLANS[name](Dataset(path))
    epochs = (numbers(plan.epoch(epoch)) for epoch in range(3))
    assert numbers(plan.repeat(3)) == [*chain.from_iterable(epochs)]


def test_epochs_are_in_the_state(ds: Dataset) -> None:
    third = iter(ds.shuffle(seed=1).epoch(2))
    next(third)
    resumed = iter(ds.shuffle(seed=1))
    resumed.load_state_dict(kept(third))
    assert numbers(resumed) == numbers(third) == numbers(ds.shuffle(seed=1).repeat(3))[2 * COUNT + 1 :]


# Killed -----------------------------------------------------------------------------------------------------

TRAINING = """
import json, os, sys
import numpy as np
import tfreel

path, state, log = sys.argv[1:]
ds = tfreel.Dataset(path).shuffle(seed=5).repeat(3).batch(4).map(lambda b: b["n"], workers=2).prefetch(2)
steps = iter(ds)
if os.path.exists(state):
    with open(state) as file:
        steps.load_state_dict(json.load(file))
with open(log, "a", buffering=1) as out:
    for batch in steps:
        # A step and its state in one line: whatever was written last, both are of the same moment.
        out.write(json.dumps([batch.tolist(), steps.state_dict()]) + "\\n")
        print("step", flush=True)
"""


def test_killed_and_resumed_again_and_again_nothing_is_lost_or_repeated(path: str, tmp_path: Path) -> None:
    expected = numbers(Dataset(path).shuffle(seed=5).repeat(3))
    log, state = tmp_path / "log", tmp_path / "state"
    for steps in (3, 17, 1, 30, 9, None):
        with subprocess.Popen(
            [sys.executable, "-c", TRAINING, path, state, log], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _ in range(steps or 10**6):
                if not process.stdout.readline():
                    break
            process.send_signal(signal.SIGKILL)
        lines = [line for line in log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        log.write_text("".join(lines))
        state.write_text(json.dumps(json.loads(lines[-1])[1]))
    trained = [n for line in lines for n in json.loads(line)[0]]
    assert trained == expected
