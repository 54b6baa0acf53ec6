"""Functions that fail on some elements: what is left out, what comes in their place, and who tells of it."""

from __future__ import annotations

import functools
import json
import os
import pickle
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.dataset import Dataset
from tfreel.dataset.collate import row_count, rows_at, rows_of
from tfreel.dataset.report import DatasetReport, Skipped, portable
from tfreel.dataset.shard import ShardSpec, shard_records

from numbered import COUNT, even, numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BAD = frozenset({0, 7, 8, 9, 10, 40, 41, 60, 61, 62, 63, 102})


class Picky:
    """A function of rows or of batches that fails where a number is bad."""

    def __init__(self, bad: Any = BAD) -> None:
        self.bad = bad
        self.calls: list[int] = []

    def __call__(self, element: Any) -> Any:
        found = np.atleast_1d(element["n"]).tolist()
        self.calls.append(len(found))
        if wrong := [n for n in found if n in self.bad]:
            raise PickyError("bad", *wrong)
        return {"n": element["n"], "twice": element["n"] * 2}


class PickyError(ValueError):
    """An error that can be sent only as words."""

    def __init__(self, word: str, *bad: int) -> None:
        super().__init__(f"{word} {bad}")
        self.lambda_ = lambda: bad


def told(report: DatasetReport) -> Any:
    """What a report says, whatever order it came in."""
    examples = sorted((each.stage, str(each.path), each.record, each.offset) for each in report.examples)
    return report.skipped, report.replaced, report.repeated, examples, report.faults


def all_of(plan: Dataset) -> tuple[list[list[int]], Any]:
    steps = iter(plan)
    return [numbers([element]) for element in steps], told(steps.report)


# To replace ------------------------------------------------------------------------------------------------

# Each is given the dataset, and how to map it.
PLANS: dict[str, Callable[[Dataset, Callable[[Dataset], Dataset]], Dataset]] = {
    "rows": lambda ds, m: m(ds),
    "shuffled before": lambda ds, m: m(ds.shuffle(seed=1)),
    "shuffled behind": lambda ds, m: m(ds).shuffle(seed=1),
    "shuffled behind in epoch 3": lambda ds, m: m(ds).shuffle(seed=1).epoch(3),
    "in windows behind": lambda ds, m: m(ds).shuffle(seed=1, window=16),
    "batched before": lambda ds, m: m(ds.batch(7)),
    "whole batches before": lambda ds, m: m(ds.shuffle(seed=1).batch(7, drop_remainder=True)),
    "batches shuffled behind": lambda ds, m: m(ds.batch(7)).shuffle(seed=2),
    "batches of two batched rows": lambda ds, m: m(ds.batch(3).map(dict)),
    "batched behind": lambda ds, m: m(ds.shuffle(seed=1)).batch(7),
    "whole batches behind": lambda ds, m: m(ds.shuffle(seed=1)).batch(10, drop_remainder=True),
    "repeated before": lambda ds, m: m(ds[:20].shuffle(seed=1).repeat(2)),
    "repeated behind": lambda ds, m: m(ds[:20].shuffle(seed=1)).repeat(3),
    "batches, repeated behind": lambda ds, m: m(ds[:20].shuffle(seed=1).batch(6)).repeat(3),
    "repeated before batches": lambda ds, m: m(ds[:20].batch(6).repeat(2)),
    "endless": lambda ds, m: m(ds[:20].shuffle(seed=1).repeat().batch(7)).take(9),
    "sharded before": lambda ds, m: m(ds.shuffle(seed=1).shard(1, 3).batch(5)),
    "sharded behind": lambda ds, m: m(ds.shuffle(seed=1)).shard(1, 3).batch(5),
    "batches sharded behind": lambda ds, m: m(ds.batch(5)).shard(1, 2),
    "some of them": lambda ds, m: m(ds)[55:65],
    "one part of a split": lambda ds, m: m(ds).split(0.5, 0.5, seed=1)[0],
    "batches of a split": lambda ds, m: m(ds.batch(6).split(0.5, 0.5, seed=1)[0]),
    "sampled": lambda ds, m: m(ds.sample(weights="n", seed=3)).batch(9),
    "joined": lambda ds, m: m(ds[:30].map(dict).concat(ds[55:])),
    "joined batches": lambda ds, m: m(ds[:30].batch(4).map(dict).concat(ds[55:].batch(4).map(dict))),
    "mixed batches": lambda ds, m: m(Dataset.mix([ds[:30].batch(4), ds[55:].batch(3)], seed=1)),
    "zipped behind": lambda ds, m: m(ds).zip(ds),
    "numbered behind": lambda ds, m: m(ds).enumerate(),
    "prefetched": lambda ds, m: m(ds.prefetch(3)).prefetch(2),
    "prefetched batches": lambda ds, m: m(ds.batch(4).prefetch(3)).prefetch(2),
    "cached before": lambda ds, m: m(ds.cache()),
    "cached batches": lambda ds, m: m(ds.batch(5).cache()),
    "cached behind": lambda ds, m: m(ds).cache().batch(4),
    "cached on disk": lambda ds, m: m(ds.batch(5).cache("kept")),
    "twice": lambda ds, m: m(ds.batch(6).map(Picky({3, 4, 50}), on_error="replace")),
    "twice by rows": lambda ds, m: m(ds.map(Picky({3, 4, 50}), on_error="replace")).batch(4),
    "below rows by rows": lambda ds, m: m(ds.batch(6).map(dict, batched=False)),
    "everything in one batch": lambda ds, m: m(ds.batch(COUNT)),
}
WAYS: list[dict[str, Any]] = [
    {"workers": 2},
    {"workers": 3, "batched": False},
    {"workers": 0, "batched": False},
    {"workers": 2, "processes": True},
]


def mapped(function: Any, **options: Any) -> Callable[[Dataset], Dataset]:
    return lambda ds: ds.map(function, on_error="replace", **options)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PLANS)
def test_what_fails_is_replaced_in_its_place_and_nothing_else(ds: Dataset, name: str) -> None:
    found, report = all_of(PLANS[name](ds, mapped(Picky())))
    expected, _ = all_of(PLANS[name](ds, mapped(Picky(()))))
    assert list(map(len, found)) == list(map(len, expected))
    assert len(PLANS[name](ds, mapped(Picky()))) == len(found)
    if name == "zipped behind":
        found, expected = [some[:1] for some in found], [some[:1] for some in expected]
    pairs = [
        pair for ours, theirs in zip(found, expected, strict=True) for pair in zip(ours, theirs, strict=True)
    ]
    bad = BAD | ({3, 4, 50} if name.startswith("twice") else set())
    assert all((ours == theirs) is (theirs not in bad) for ours, theirs in pairs)
    assert not any(ours in bad for ours, _ in pairs)
    skipped, replaced, *_ = report
    assert skipped == 0
    # What took the place of one of these may fail in the other function.
    surplus = len(bad) if name.startswith("twice") else 0
    assert 0 <= replaced - sum(theirs in bad for _, theirs in pairs) <= surplus


@pytest.mark.parametrize("name", PLANS)
def test_the_same_come_whoever_makes_them(ds: Dataset, name: str) -> None:
    found, report = all_of(PLANS[name](ds, mapped(Picky())))
    for way in WAYS:
        assert all_of(PLANS[name](ds, mapped(Picky(), **way))) == (found, report)
    by_position = PLANS[name](ds, mapped(Picky()))
    assert [numbers([by_position[i]]) for i in range(len(found))] == found
    assert [numbers([element]) for element in by_position.__getitems__(range(len(found)))] == found
    assert [numbers([each]) for each in by_position[::-1]] == found[::-1]
    again = pickle.loads(pickle.dumps(by_position))
    assert all_of(again)[0] == found


@pytest.mark.parametrize("name", PLANS)
def test_a_state_gives_the_same_tail(ds: Dataset, name: str) -> None:
    def plan() -> Dataset:
        return PLANS[name](ds, mapped(Picky()))

    found, _ = all_of(plan())
    steps = iter(plan())
    for number in range(len(found)):
        if number % 7 == 0 or number < 12:
            later = iter(plan())
            later.load_state_dict(json.loads(json.dumps(steps.state_dict())))
            assert [numbers([element]) for element in islice(later, 5)] == found[number : number + 5]
        next(steps)


@pytest.mark.parametrize("batch", [0, 6])
@pytest.mark.parametrize("processes", [False, True])
def test_the_same_come_without_order(ds: Dataset, batch: int, processes: bool) -> None:
    below = ds.batch(batch) if batch else ds
    found, report = all_of(below.map(Picky(), on_error="replace"))
    plan = below.map(Picky(), on_error="replace", workers=3, ordered=False, processes=processes)
    steps = iter(plan)
    first = [numbers([next(steps)]) for _ in range(5)]
    state = steps.state_dict()
    assert sorted(first + [numbers([each]) for each in steps]) == sorted(found)
    assert told(steps.report) == report
    steps.load_state_dict(state)
    assert sorted(first + [numbers([each]) for each in steps]) == sorted(found)


def test_each_epoch_has_others(ds: Dataset) -> None:
    plan = ds[:20].map(Picky(), on_error="replace")
    rounds = np.array(numbers(plan.repeat(4))).reshape(4, 20)
    assert rounds.tolist() == [numbers(plan.epoch(number)) for number in range(4)]
    assert len({tuple(row) for row in rounds.tolist()}) > 1


def test_an_order_pushed_below_changes_no_replacement(ds: Dataset) -> None:
    plan = ds.map(Picky(), on_error="replace")
    by_record = dict(zip(range(COUNT), numbers(plan), strict=True))
    for how in (
        lambda ds: ds.shuffle(seed=5),
        lambda ds: ds.shuffle(seed=5).shard(2, 3),
        lambda ds: ds.shard(2, 3).shuffle(seed=5),
        lambda ds: ds.take(70).skip(5)[::-3],
        lambda ds: ds.split(0.3, 0.7, seed=4)[1],
        lambda ds: ds.sample(weights=np.arange(COUNT), seed=1),
        lambda ds: ds.folds(3, seed=1)[1][0],
    ):
        assert numbers(how(plan)) == [by_record[n] for n in numbers(how(ds))]


def test_ranks_have_the_replacements_of_one(ds: Dataset) -> None:
    alone = ds.shuffle(seed=1).map(Picky(), on_error="replace")
    by_record = dict(zip(numbers(ds.shuffle(seed=1)), numbers(alone), strict=True))
    for world in (2, 3):
        for rank in range(world):
            part = alone.shard(rank, world).batch(4)
            plain = ds.shuffle(seed=1).shard(rank, world).batch(4)
            assert numbers(part) == [by_record[n] for n in numbers(plain)]


def test_a_state_of_ranks_is_good_for_others(ds: Dataset) -> None:
    rows = ds.shuffle(seed=1).map(Picky(), on_error="replace")

    def plan(rank: int, world: int) -> Dataset:
        return rows.shard(rank, world).batch(4)

    old = [iter(plan(rank, 2)) for rank in range(2)]
    seen = [n for steps in old for n in numbers(islice(steps, 5))]
    for world in (1, 3):
        rest: list[int] = []
        for rank in range(world):
            steps = iter(plan(rank, world))
            steps.load_state_dict(old[0].state_dict())
            rest += numbers(steps)
        assert sorted(seen + rest) == sorted(numbers(rows))


def test_rows_of_batches_are_replaced_by_record_in_any_batch(ds: Dataset) -> None:
    """Which batch a row is in has no say in what comes in its place, as long as the plan is one."""
    plan = ds.batch(10).map(Picky(), on_error="replace")
    assert numbers(plan.shuffle(seed=1)) == [
        n for i in numbers_of_batches(ds.batch(10).shuffle(seed=1)) for n in numbers([plan[i]])
    ]
    whole = dict(zip(range(COUNT), numbers(plan), strict=True))
    for rank in range(3):  # which share records, as those of a loader do
        spec = ShardSpec(rank, 3, "balance")
        share = plan._of(shard_records(plan._node, spec))
        records = ds._of(shard_records(ds.batch(10)._node, spec))
        assert numbers(share) == [whole[n] for n in numbers(records)]


def numbers_of_batches(batches: Any) -> list[int]:
    return [int(batch["n"][0]) // 10 for batch in batches]


def test_what_is_drawn_is_a_promise(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "n.tfrecord", {"n": range(12)})
    ds = Dataset(tmp_path / "n.tfrecord", {"n": tfreel.FixedLenFeature([], "int64")})
    assert numbers(ds.map(Picky(), on_error="replace")) == GOLDEN_ROWS
    assert numbers(ds.epoch(1).batch(5).map(Picky(), on_error="replace")) == GOLDEN_BATCHES


GOLDEN_ROWS = [4, 1, 2, 3, 4, 5, 6, 2, 1, 1, 6, 11]
GOLDEN_BATCHES = [11, 1, 2, 3, 4, 5, 6, 3, 11, 2, 5, 11]


@pytest.mark.parametrize("batch", [0, 5])
@pytest.mark.parametrize(
    "options", [{}, {"workers": 2}, {"workers": 2, "processes": True}, {"batched": False}]
)
def test_after_sixteen_failures_the_error_is_raised(ds: Dataset, batch: int, options: Any) -> None:
    everything = ds.batch(batch) if batch else ds
    steps = iter(everything.map(Picky(range(COUNT)), on_error="replace", **options))
    for _ in range(2):
        with pytest.raises(ValueError if not options.get("processes") else Exception, match="bad") as caught:
            next(steps)
        assert caught.value.__notes__[0].startswith("16 others were drawn in its place")
        assert "on record 0 of " in caught.value.__notes__[1]
        assert "others" not in caught.value.__notes__[1]
    assert steps.report.replaced == 0
    with pytest.raises(Exception, match="bad"):
        everything.map(Picky(range(COUNT)), on_error="replace")[0]


def test_a_function_is_called_on_halves_and_once_on_what_is_repaired(ds: Dataset) -> None:
    picky = Picky({5})
    (batch,) = ds[:16].batch(16).map(picky, on_error="replace")
    assert picky.calls[0] == picky.calls[-1] == 16
    assert sorted(picky.calls[1:-1]) == [1, 1, 1, 2, 2, 4, 4, 8, 8]  # the search, and what was drawn
    assert batch["n"].tolist()[:5] == [0, 1, 2, 3, 4]
    assert batch["n"].tolist()[6:] == list(range(6, 16))


def kinds(batch: Any) -> Any:
    """Fails on a batch that is not as batches of records are, and on one record."""
    sparse, ragged, text = batch["v"], batch["r"], batch["t"]
    assert isinstance(batch, tfreel.Batch)
    assert isinstance(sparse, tfreel.Sparse)
    assert sparse.indices.shape[1] == 2
    assert isinstance(ragged, tfreel.Ragged)
    assert isinstance(text, tfreel.BytesColumn)
    assert batch["p"].ndim == 2
    if 3 in batch["n"]:
        raise ValueError("three")
    return {"n": batch["n"], "v": sparse.to_ragged().lengths, "r": ragged.lengths, "p": batch["p"]}


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_columns_keep_their_kinds(tmp_path: Path, on_error: Any) -> None:
    lists = [[n] * (n % 4) for n in range(12)]
    tfreel.save(
        tmp_path / "kinds.tfrecord",
        {"n": range(12), "v": lists, "r": lists, "p": lists, "t": [[b"%d" % n] for n in range(12)]},
    )
    features: Any = {
        "n": tfreel.FixedLenFeature([], "int64"),
        "v": tfreel.VarLenFeature("int64"),
        "r": tfreel.RaggedFeature("int64"),
        "p": tfreel.RaggedFeature("int64"),
        "t": tfreel.FixedLenFeature([], "bytes"),
    }
    ds = Dataset(tmp_path / "kinds.tfrecord", features).batch(4, pad={"p": -1})
    found = list(ds.map(kinds, on_error=on_error))
    assert sum(len(batch["n"]) for batch in found) == (11 if on_error == "skip" else 12)
    for batch in found:
        assert batch["v"].tolist() == batch["r"].tolist() == [n % 4 for n in batch["n"]]
        assert batch["p"].shape[1] == (3 if on_error == "skip" else max(n % 4 for n in batch["n"]))


def only_whole(batch: Any) -> Any:
    """Fails on whole batches, and on no row alone."""
    if len(batch["n"]) > 1 and 3 in batch["n"]:
        raise ValueError("together")
    return batch


def test_a_batch_that_fails_on_no_row_alone_fails_as_a_whole(ds: Dataset) -> None:
    steps = iter(ds[:12].batch(4).map(only_whole, on_error="skip"))
    assert numbers(steps) == list(range(4, 12))
    assert steps.report.skipped == 4
    with pytest.raises(ValueError, match="together") as caught:
        list(ds[:12].batch(4).map(only_whole, on_error="replace"))
    assert "on none of its rows alone" in caught.value.__notes__[0]
    assert "record 0 of " in caught.value.__notes__[1]


class Never:
    """Fails on a row, and on the batch from then on."""

    failed = False

    def __call__(self, batch: Any) -> Any:
        if 3 in batch["n"]:
            self.failed = True
            raise ValueError("three")
        if self.failed and len(batch["n"]) > 2:
            raise ValueError("repaired")
        return batch


def test_a_repaired_batch_that_fails_is_an_error_or_left_out(ds: Dataset) -> None:
    steps = iter(ds[:4].batch(4).map(Never(), on_error="skip"))
    assert list(steps) == []
    assert steps.report.skipped == 4
    assert sorted(str(each.error) for each in steps.report.examples) == ["repaired"] * 3 + ["three"]
    steps = iter(ds[:4].batch(4).map(Never(), on_error="replace"))
    with pytest.raises(ValueError, match="repaired") as caught:
        next(steps)
    assert "other rows in place" in caught.value.__notes__[0]
    assert steps.report.replaced == 0


def test_an_error_behind_a_replacement_names_the_record_that_came(ds: Dataset) -> None:
    plan = ds[:12].map(Picky({5}), on_error="replace")
    came = numbers(plan)[5]
    batches = ds[:12].batch(4).map(Picky({5}), batched=False, on_error="replace")
    drawn = numbers(batches)[5]
    for failing, place in (
        (plan.map(lambda row: 1 // int(row["n"] != came)), came),
        (batches.map(lambda row: 1 // int(row["n"] != drawn), batched=False), drawn),
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            list(failing)
        assert f"record {place} of " in caught.value.__notes__[0]


def test_what_has_no_positions_cannot_be_replaced(ds: Dataset, path: str) -> None:
    for plan, stage in (
        (ds.filter(even), r"filter\(even\)"),
        (ds.filter(even).batch(4), r"filter\(even\)"),
        (ds.map(Picky(), on_error="skip"), r"map\(Picky, on_error='skip'\)"),
        (ds.shuffle(seed=1, buffer=4), r"shuffle\(buffer=\)"),
        (Dataset(path, stream=True), "reading as a stream"),
        (ds.batch(2).map(Picky()).unbatch(), r"unbatch\(\)"),
        (ds.map(Picky(), workers=2, ordered=False), "ordered=False"),
    ):
        with pytest.raises(TypeError, match=stage):
            plan.map(Picky(), on_error="replace")


def test_the_plan_says_it_and_a_state_knows_it(ds: Dataset) -> None:
    plans = {how: ds.batch(4).map(Picky(), on_error=how) for how in ("raise", "skip", "replace")}  # type: ignore[arg-type]
    assert repr(plans["raise"]).endswith("  each through Picky>")
    assert repr(plans["skip"]).endswith("  each through Picky, those that fail left out>")
    assert repr(plans["replace"]).endswith("  each through Picky, those that fail replaced>")
    assert "replaced" in plans["replace"]._repr_html_()
    for how, plan in plans.items():
        state = iter(plan).state_dict()
        for other, there in plans.items():
            if other == how:
                iter(there).load_state_dict(state)
                continue
            with pytest.raises(tfreel.StateError, match="another plan"):
                iter(there).load_state_dict(state)


def test_batches_kept_on_disk_are_told_apart_by_what_became_of_failures(ds: Dataset) -> None:
    for how, count in (("skip", COUNT - len(BAD)), ("replace", COUNT)):
        plan = ds.batch(4).map(Picky(), on_error=how).cache("kept")  # type: ignore[arg-type]
        assert len(numbers(plan)) == len(numbers(plan)) == count


# To leave out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"workers": 3},
        {"workers": 3, "ordered": False},
        {"workers": 2, "processes": True},
        {"batched": False},
        {"batched": False, "workers": 2, "processes": True, "ordered": False},
    ],
)
@pytest.mark.parametrize("batch", [0, 1, 4, 50, COUNT])
def test_a_bad_row_costs_itself_and_no_more(ds: Dataset, batch: int, options: Any) -> None:
    below = ds.shuffle(seed=1)
    steps = iter((below.batch(batch) if batch else below).map(Picky(), on_error="skip", **options))
    found = [numbers([element]) for element in steps]
    assert sorted(n for some in found for n in some) == [n for n in range(COUNT) if n not in BAD]
    assert all(found)
    assert (steps.report.skipped, steps.report.replaced) == (len(BAD), 0)
    places = {(str(each.path)[-len("a.tfrecord") :], each.record) for each in steps.report.examples}
    assert len(places) == len(BAD)
    for example in steps.report.examples:
        assert "bad" in str(example.error)
        assert example.stage == "Picky"


def test_batches_of_which_nothing_is_left_are_left_out(ds: Dataset) -> None:
    steps = iter(ds[:12].batch(2).map(Picky({0, 1, 4, 5, 6}), on_error="skip"))
    assert [numbers([batch]) for batch in steps] == [[2, 3], [7], [8, 9], [10, 11]]
    assert steps.report.skipped == 5
    steps = iter(ds[:12].batch(5).map(Picky(range(COUNT)), on_error="skip"))
    assert list(steps) == []
    assert steps.report.skipped == 12


def test_what_is_no_batch_is_left_out_as_a_whole(ds: Dataset) -> None:
    sums = ds[:12].batch(4).map(lambda batch: int(batch["n"].sum()))
    steps = iter(sums.map(lambda total: 1 // (total - 6) + total, on_error="skip"))
    assert list(steps) == [22, 38]
    assert steps.report.skipped == 1
    with pytest.raises(ZeroDivisionError):
        list(sums.map(lambda total: 1 // (total - 6), on_error="replace"))


def die(element: Any) -> Any:
    if 5 in np.atleast_1d(element["n"]):
        os._exit(3)
    return element


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_worker_that_dies_is_no_bad_element(ds: Dataset, on_error: Any) -> None:
    with pytest.raises(Exception, match="terminated abruptly"):
        list(ds[:12].map(die, on_error=on_error, workers=1, processes=True))


def halved_in_place(batch: Any) -> Any:
    """Changes what it is given before it fails."""
    batch["x"][:] = batch["x"] / 2
    for row in batch.get("o", ()):
        row /= 2
    if 5 in batch["n"]:
        raise ValueError("five")
    return batch


@pytest.mark.parametrize("below", ["records", "objects"])
@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_function_may_work_in_place(ds: Dataset, below: str, on_error: Any) -> None:
    plan = ds[:12].batch(6)
    if below == "objects":
        shapes = [(1,), (2, 2), (3, 1, 1)]
        plan = (
            ds[:12]
            .map(lambda row: {"n": row["n"], "x": row["x"], "o": np.ones(shapes[row["n"] % 3]) * row["n"]})
            .batch(6)
        )
    found = list(plan.map(halved_in_place, on_error=on_error))
    assert len(numbers(found)) == (11 if on_error == "skip" else 12)
    for batch in found:
        assert batch["x"][:, 0].tolist() == [n / 2 for n in batch["n"]]
        for n, row in zip(batch["n"], batch.get("o", ()), strict=False):
            assert set(row.ravel().tolist()) == {n / 2}


def with_lambda(batch: Any) -> Any:
    """Makes what cannot be sent, of some batches."""
    return {"n": batch["n"], "f": (lambda: 1) if 5 in batch["n"] else 1}


def test_what_cannot_be_sent_is_a_failure_of_the_whole_batch(ds: Dataset) -> None:
    steps = iter(ds[:12].batch(4).map(with_lambda, on_error="skip", workers=1, processes=True))
    assert numbers(steps) == [0, 1, 2, 3, 8, 9, 10, 11]
    assert steps.report.skipped == 4
    with pytest.raises(Exception, match="pickle") as caught:
        list(ds[:12].batch(4).map(with_lambda, on_error="replace", workers=1, processes=True))
    assert "on none of its rows alone" in caught.value.__notes__[0]


# Reports ---------------------------------------------------------------------------------------------------


def test_a_report_tells_the_first_hundred_and_counts_all(ds: Dataset) -> None:
    steps = iter(ds.repeat(2).map(Picky(range(COUNT)), on_error="skip"))
    assert list(steps) == []
    assert steps.report.skipped == 2 * COUNT
    assert len(steps.report.examples) == 100


def test_news_are_told_once_and_add_up(ds: Dataset) -> None:
    plan = ds.batch(5).map(Picky(), on_error="replace")
    steps, whole = iter(plan), DatasetReport()
    for _ in steps:
        whole.add(pickle.loads(pickle.dumps(steps.report.increment().portable())))
    assert steps.report.increment() == DatasetReport()
    other = iter(plan)
    list(other)
    assert told(whole) == told(other.report)
    assert whole.replaced == len(BAD)
    assert whole.gather() is whole  # there are no ranks


@pytest.mark.parametrize("batch", [10, 8])
def test_what_fails_in_a_remainder_that_is_left_out_concerns_nobody(ds: Dataset, batch: int) -> None:
    rows = ds.map(Picky(), on_error="replace")
    plan = rows.batch(batch, drop_remainder=True)
    steps = iter(plan)
    rest = set(range(COUNT // batch * batch, COUNT))
    assert len(numbers(steps)) == COUNT - len(rest)
    assert steps.report.replaced == len(BAD - rest)
    by_position = iter(plan.shuffle(seed=1))
    assert len(numbers(by_position)) == COUNT - len(rest)
    assert told(by_position.report) == told(steps.report)


def test_what_comes_once_more_is_counted_behind_a_remainder(ds: Dataset) -> None:
    for size, drop in ((5, False), (5, True), (4, True)):
        plan = ds.map(Picky(), on_error="replace").shard(1, 2, uneven="pad").batch(size, drop_remainder=drop)
        steps = iter(plan)
        list(steps)
        assert steps.report.repeated == plan._node.padding == 1


def test_damage_is_told_once_however_many_say_it(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", {"n": range(9)})
    content = bytearray((tmp_path / "a.tfrecord").read_bytes())
    content[30] ^= 255
    (tmp_path / "a.tfrecord").write_bytes(content)
    reports = [iter(Dataset(tmp_path / "a.tfrecord", on_corrupt="skip")).report for _ in range(2)]
    whole = DatasetReport()
    for report in reports:
        whole.add(report.increment())
        assert report.increment() == DatasetReport()
    assert [fault.kind for fault in whole.faults] == ["length_crc"]


def test_errors_are_sent_as_they_are_or_in_words() -> None:
    error = ValueError("as it is")
    assert portable(error) is error
    sent = portable(PickyError("bad", 3))
    assert type(sent) is RuntimeError
    assert "bad (3,)" in str(sent)
    report = DatasetReport(examples=[Skipped("f", PickyError("bad", 3))])
    (example,) = pickle.loads(pickle.dumps(report.portable())).examples
    assert "bad (3,)" in str(example.error)


@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_errors_of_processes_arrive(ds: Dataset, on_error: Any) -> None:
    plan = ds[:8].map(Picky({5}), on_error=on_error, workers=1, processes=True)
    steps = iter(plan)
    if on_error == "raise":
        with pytest.raises(RuntimeError, match=r"PickyError\(.bad \(5,\).\)") as caught:
            list(steps)
        assert "record 5 of" in caught.value.__notes__[0]
        return
    list(steps)
    (example,) = steps.report.examples
    assert (str(example.error), example.record) == ("PickyError('bad (5,)')", 5)


# What batches are taken apart by ---------------------------------------------------------------------------


def test_rows_of_a_batch_are_picked_in_columns_of_the_same_kinds() -> None:
    columns = {
        "n": np.arange(6).reshape(3, 2),
        "r": tfreel.Ragged(np.arange(6), np.array([0, 1, 3, 6])),
        "v": tfreel.Sparse.from_ragged(tfreel.Ragged(np.arange(6), np.array([0, 1, 3, 6]))),
        "s": tfreel.Sparse(np.array([[0, 5], [2, 1]]), np.array([7, 8]), (3, 9)),
    }
    for batch in (tfreel.Batch(columns), columns, (columns["n"], columns["r"]), [1, 2, 3], columns["n"]):
        assert row_count(batch) == 3
        picked = rows_at(batch, [2, 0])
        assert type(picked) is type(batch)
        assert row_count(picked) == 2
        assert repr(rows_of(picked)) == repr([rows_of(batch)[2], rows_of(batch)[0]])
    picked = rows_at(tfreel.Batch(columns), [2, 0])
    assert picked["v"].indices.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert picked["s"].indices.tolist() == [[0, 1], [1, 5]]
    for value in (3, np.array(4), {"n": 3}, ()):
        assert row_count(value) is None
    with pytest.raises(TypeError, match="only batches"):
        rows_at({"n": 3}, [0])


def test_a_partial_is_named_in_reports(ds: Dataset) -> None:
    steps = iter(ds[:8].batch(3).map(functools.partial(Picky({5})), on_error="skip"))
    list(steps)
    assert steps.report.examples[0].stage == "Picky"
