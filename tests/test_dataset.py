"""Datasets: every plan visits what it should, and goes on from any state as if nothing had happened."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.dataset import Dataset

from numbered import COUNT, doubled, even, fail_at_60, numbers

# By position ------------------------------------------------------------------------------------------------


def test_elements_are_rows_in_the_order_of_the_files(ds: Dataset) -> None:
    assert len(ds) == COUNT
    assert numbers(ds) == list(range(COUNT))
    row = ds[41]
    assert (row["n"], row["x"].tolist(), row["t"].to_list()) == (41, [41, 20.5], [b"41"] * 3)
    assert ds[-1]["n"] == COUNT - 1
    assert [row["n"] for row in ds.__getitems__([3, 99, 0])] == [3, 99, 0]
    for wrong in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match="out of range for 103 elements"):
            ds[wrong]


def test_slices_and_lists_are_datasets(ds: Dataset) -> None:
    for key in (slice(5, 20), slice(None, None, 7), slice(None, None, -1), slice(90, 10, -9), slice(50, 10)):
        assert numbers(ds[key]) == list(range(COUNT))[key]
    assert numbers(ds[[7, 3, -1]]) == [7, 3, COUNT - 1]
    assert numbers(ds[10:20][2:4]) == [12, 13]
    assert numbers(ds[np.arange(COUNT) % 50 == 3]) == [3, 53]
    assert numbers(ds[[]]) == []
    with pytest.raises(IndexError, match="a mask of 2 for 103 elements"):
        ds[[True, False]]
    for wrong in ([1.5], [[1, 2]], ["a"]):
        with pytest.raises(TypeError, match="a flat list of integers, or a mask"):
            ds[wrong]


def test_raw_elements_are_bytes_and_columns_are_chosen(path: str) -> None:
    assert [tfreel.decode(record)["n"][0] for record in Dataset(path, raw=True)] == list(range(COUNT))
    assert Dataset(path, raw=True).batch(50)[2] == list(tfreel.read(path))[100:]
    assert list(Dataset(path, columns=["x"])[0]) == ["x"]
    with pytest.raises(ValueError, match="no feature is called 'y'; there are 'c', 'n', 't', 'x'"):
        Dataset(path, columns=["y"])
    with pytest.raises(ValueError, match=r"no feature is called 'X'; .* did you mean 'x'\?"):
        Dataset(path, columns=["X"])


def test_batches_are_columns(ds: Dataset) -> None:
    batches = list(ds.batch(10))
    assert [batch.num_rows for batch in batches] == [10] * 10 + [3]
    assert batches[3]["x"].shape == (10, 2)
    assert batches[4]["t"].to_list()[1] == [b"41"] * 3
    assert len(ds.batch(10)) == 11
    assert len(ds.batch(10, drop_remainder=True)) == 10
    assert ds.batch(10)[-1]["n"].tolist() == [100, 101, 102]


# Order ------------------------------------------------------------------------------------------------------


def test_a_shuffle_is_exact_and_the_same_for_the_same_seed(ds: Dataset, path: str) -> None:
    shuffled = numbers(ds.shuffle(seed=3))
    assert sorted(shuffled) == list(range(COUNT))
    assert shuffled != list(range(COUNT))
    assert numbers(Dataset(path).shuffle(seed=3).batch(7)) == shuffled
    assert numbers(ds.shuffle(seed=4)) != shuffled
    assert sorted(numbers(ds.shuffle(seed=3, window=20))) == list(range(COUNT))


def test_each_repetition_has_an_order_of_its_own(ds: Dataset) -> None:
    twice = numbers(ds.shuffle(seed=3).repeat(2))
    assert twice[:COUNT] == numbers(ds.shuffle(seed=3))
    assert sorted(twice[COUNT:]) == list(range(COUNT))
    assert twice[COUNT:] != twice[:COUNT]
    endless = ds.shuffle(seed=3).repeat()
    assert numbers(endless.take(2 * COUNT)) == twice
    with pytest.raises(TypeError, match="no length, because of repeat"):
        len(endless)


def test_repeated_batches_keep_their_positions_and_shuffle_anew(ds: Dataset) -> None:
    once = ds.shuffle(seed=3).batch(10)
    thrice = once.repeat(3)
    assert len(thrice) == 33
    assert numbers(thrice) == numbers(ds.shuffle(seed=3).repeat(3))
    assert thrice[12]["n"].tolist() == numbers(thrice)[COUNT + 10 : COUNT + 20]
    assert numbers(once.repeat().take(33)) == numbers(thrice)
    for endless in (once.repeat(), ds.repeat()):
        with pytest.raises(TypeError, match="no length, because of repeat"):
            len(endless)
        with pytest.raises(TypeError, match="no length, because of repeat"):
            endless.shuffle(seed=1)


@pytest.mark.parametrize(
    "fractions",
    [(0.8, 0.1, 0.1), (0.5, 0.5), (1.0,), (0.33, 0.33, 0.34), (1 / 3,) * 3, (0.2, 0.1), (1.0, 0.0), (0.0,)],
)
@pytest.mark.parametrize("how", [{}, {"seed": 17}, {"shuffle": False}])
def test_splits_are_disjoint_and_exact(ds: Dataset, fractions: tuple[float, ...], how: Any) -> None:
    parts = [numbers(part) for part in ds.split(*fractions, drop_rest=True, **how)]
    together = Counter(n for part in parts for n in part)
    assert set(together.values()) <= {1}
    assert abs(sum(map(len, parts)) - COUNT * sum(fractions)) < 1
    for part, fraction in zip(parts, fractions, strict=True):
        assert abs(len(part) - COUNT * fraction) <= 1
    assert parts == [numbers(part) for part in ds.split(*fractions, drop_rest=True, **how)]
    if sum(fractions) > 0.9:
        assert parts == [numbers(part) for part in ds.split(*fractions, **how)]
        assert set(together) == set(range(COUNT))


def test_without_shuffling_parts_follow_each_other(ds: Dataset) -> None:
    first, second, third = ds.split(0.5, 0.3, 0.2, shuffle=False)
    assert numbers(first) + numbers(second) + numbers(third) == list(range(COUNT))
    assert numbers(ds.folds(4, shuffle=False)[1][1]) == list(range(26, 52))
    assert "part 2 of 3: 0.3 of all, in order" in repr(second)
    low, high = ds.split(0.5, 0.5, stratify="c", shuffle=False)
    assert max(n for n in numbers(low) if n % 10 < 7) < min(n for n in numbers(high) if n % 10 < 7)
    assert "c in proportion, in order" in repr(low)
    split: Any
    for split in (ds.folds, lambda count, **how: ds.split(*[1 / count] * count, **how)):
        for seed in (0, 5, None):
            with pytest.raises(ValueError, match="shuffle=False keeps the order, in which seed= has no say"):
                split(3, shuffle=False, seed=seed)
        with pytest.raises(ValueError, match=r"by= .* does not go with shuffle=False"):
            split(3, shuffle=False, by="n")


def test_what_is_dealt_out_at_random_is_sorted_no_more(ds: Dataset) -> None:
    train, test = ds.split(0.5, 0.5)
    assert max(numbers(train)) > min(numbers(test))
    assert max(numbers(test)) > min(numbers(train))


def test_the_first_part_of_a_split_grows_into_the_next(ds: Dataset) -> None:
    small, large = (set(numbers(ds.split(f, 1 - f, seed=5)[0])) for f in (0.5, 0.7))
    assert small < large


@pytest.mark.parametrize(
    "wrong",
    [(), (0.5, 0.6), (0.5, 0.5 + 1e-8), (80, 20), (-0.1, 1.1), (math.nan, 0.5), (0.5, math.nan), (math.inf,)],
)
@pytest.mark.parametrize("drop_rest", [False, True])
def test_fractions_that_are_none_are_refused(ds: Dataset, wrong: tuple[float, ...], drop_rest: bool) -> None:
    with pytest.raises(ValueError, match="fractions") as caught:
        ds.split(*wrong, drop_rest=drop_rest)
    assert "drop_rest" not in str(caught.value)


@pytest.mark.parametrize("short", [(0.999,), (0.6, 0.2), (1 - 2e-9,), (0.0, 0.0), (0,)])
def test_fractions_that_leave_a_rest_must_say_so(ds: Dataset, short: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"must add up to 1, not to 0.*; drop_rest=True leaves out the rest"):
        ds.split(*short)
    parts = ds.split(*short, drop_rest=True)
    assert [len(part) for part in parts] == pytest.approx([COUNT * fraction for fraction in short], abs=1)


@pytest.mark.parametrize(
    "sums_to_1", [(1 / 3,) * 3, (0.1,) * 10, (0.5, 0.5 + 1e-10), (0.5, 0.5 - 1e-10), (1, 0)]
)
@pytest.mark.parametrize("how", [{}, {"shuffle": False}, {"by": "n"}, {"stratify": "c"}])
def test_sums_are_1_whatever_rounding_makes_of_them(
    ds: Dataset, sums_to_1: tuple[float, ...], how: Any
) -> None:
    parts = ds.split(*sums_to_1, **how)
    assert sorted(n for part in parts for n in numbers(part)) == list(range(COUNT))
    assert [numbers(part) for part in ds.split(*sums_to_1, drop_rest=True, **how)] == [*map(numbers, parts)]


def test_rounding_loses_nothing_of_very_many_elements(ds: Dataset) -> None:
    many = ds.repeat(10**10)
    parts = many.split(0.5, 0.5 - 1e-10, 0)
    assert [len(part) for part in parts] == [len(many) // 2, len(many) - len(many) // 2, 0]
    assert sum(len(part) for part in many.split(0.5, 0.25, drop_rest=True)) == len(many) // 4 * 3


@pytest.mark.parametrize("how", [{}, {"shuffle": False}, {"stratify": "c"}])
def test_a_part_that_would_be_empty_is_named(ds: Dataset, how: Any) -> None:
    with pytest.raises(ValueError, match=r"part 2 of 2 would be empty: it is to get 0.1 of 3 elements"):
        ds[:3].split(0.9, 0.1, **how)
    with pytest.raises(ValueError, match=r"part 1 of 2 would be empty: it is to get 0.8 of 0 elements"):
        ds[:0].split(0.8, 0.2, **how)
    with pytest.raises(ValueError, match=r"part 3 of 3 .* 0.001 of 103 elements"):
        ds.split(0, 0.9, 0.001, drop_rest=True, **how)
    with pytest.raises(ValueError, match=r"fold \d of 5 would be empty: it is to get 0.2 of 3 elements"):
        ds[:3].folds(5, **how)
    nothing, everything, last = ds[:3].split(0, 1, 0, **how)
    assert (len(nothing), sorted(numbers(everything)), len(last)) == (0, [0, 1, 2], 0)


def test_a_part_without_a_group_is_named(ds: Dataset) -> None:
    same = ds[:5]  # all of one class
    with pytest.raises(
        ValueError, match=r"part \d of 2 .* of 5 elements; by= keeps groups together, here 1: "
    ):
        same.split(0.5, 0.5, by="c")
    with pytest.raises(ValueError, match=r"fold \d of 2 .* of 5 elements; by= keeps groups together"):
        same.folds(2, by="c")
    with pytest.raises(ValueError, match=r"part 1 of 1 would be empty: it is to get 1 of 0 elements"):
        ds[:0].split(1, by="c")


@pytest.mark.parametrize("wrong", [([0.8, 0.2],), ({"train": 0.8},), ("0.8", "0.2"), (np.array([0.5, 0.5]),)])
def test_fractions_are_numbers_one_after_the_other(ds: Dataset, wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"as in split\(0.8, 0.2\)"):
        ds.split(*wrong)


def test_what_never_ends_is_not_split(ds: Dataset) -> None:
    with pytest.raises(TypeError, match="has no length"):
        ds.repeat().split(0.5, 0.5)


@pytest.mark.parametrize("count", [1, 2, 4, 7, 200])
def test_shards_share_everything_out(ds: Dataset, count: int) -> None:
    shuffled = ds.shuffle(seed=1)
    kept = [numbers(shuffled.shard(i, count)) for i in range(count)]
    assert sorted(n for shard in kept for n in shard) == list(range(COUNT))
    dropped = [numbers(shuffled.shard(i, count, uneven="drop")) for i in range(count)]
    assert {len(shard) for shard in dropped} == {COUNT // count}
    padded = [numbers(shuffled.shard(i, count, uneven="pad")) for i in range(count)]
    assert {len(shard) for shard in padded} == {-(-COUNT // count)}
    assert {n for shard in padded for n in shard} == set(range(COUNT))
    for wrong in (-1, count):
        with pytest.raises(ValueError, match="index must be"):
            ds.shard(wrong, count)


def test_datasets_follow_each_other(ds: Dataset) -> None:
    joined = ds[:3].concat(ds[100:], ds[5:6])
    assert numbers(joined) == [0, 1, 2, 100, 101, 102, 5]
    assert joined[4]["n"] == 101
    assert sorted(numbers(joined.shuffle(seed=1))) == [0, 1, 2, 5, 100, 101, 102]


# Functions --------------------------------------------------------------------------------------------------


def test_functions_work_on_elements_and_keep_positions_where_they_can(ds: Dataset) -> None:
    mapped = ds.map(doubled)
    assert mapped[50]["n"] == 100
    assert numbers(mapped.shuffle(seed=1)) == [2 * n for n in numbers(ds.shuffle(seed=1))]
    assert numbers(ds.filter(even)) == list(range(0, COUNT, 2))
    assert numbers(ds.filter(even).skip(2).take(3)) == [4, 6, 8]
    assert [number for number, _ in ds.filter(even).enumerate(5)] == list(range(5, 57))
    assert ds.enumerate()[7][0] == 7


def test_a_stage_that_lost_positions_is_named(ds: Dataset) -> None:
    filtered = ds.filter(even)
    with pytest.raises(TypeError, match=r"filter\(even\) took away the positions; .* buffer="):
        filtered.shuffle(seed=1)
    with pytest.raises(TypeError, match=r"which filter\(even\) hides: shard before that, or say uneven="):
        filtered.shard(0, 2)
    with pytest.raises(TypeError, match=r"no length, because of filter\(even\)"):
        len(filtered)
    with pytest.raises(TypeError, match=r"filter\(even\)"):
        filtered[3]


def test_errors_of_functions_and_records_come_where_they_belong(ds: Dataset, path: str) -> None:
    failing = iter(ds.map(fail_at_60).prefetch(3))
    assert [int(next(failing)["n"]) for _ in range(60)] == list(range(60))
    with pytest.raises(ZeroDivisionError):
        next(failing)
    wrong = Dataset(path, {"m": tfreel.FixedLenFeature([], "int64")})
    with pytest.raises(tfreel.MissingFeatureError, match=r"record 1 of .*c.tfrecord; it has"):
        wrong[42]


# Words ----------------------------------------------------------------------------------------------------


def test_the_plan_is_told_in_words(ds: Dataset) -> None:
    plan = ds.split(0.8, 0.2, seed=1)[0].shuffle(seed=2).batch(32).map(doubled).prefetch(2)
    assert repr(plan) == (
        "<tfreel.Dataset: 103 records of 3 files, with c, n, t, x, as found in a sample\n"
        "  part 1 of 2: 0.8 of all, shuffled with seed 1\n"
        "  shuffled with seed 2\n"
        "  in batches of 32\n"
        "  each through doubled\n"
        "  2 of them ahead>"
    )


def test_a_plan_of_several_tells_which_stage_is_of_which(ds: Dataset) -> None:
    parts = ds.batch(2).split(0.5, 0.5, seed=1)
    assert repr(parts[0].concat(parts[1])) == (
        "<tfreel.Dataset: 1: 103 records of 3 files, with c, n, t, x, as found in a sample\n"
        "       in batches of 2\n"
        "       part 1 of 2: 0.5 of all, shuffled with seed 1\n"
        "    2: 103 records of 3 files, with c, n, t, x, as found in a sample\n"
        "       in batches of 2\n"
        "       part 2 of 2: 0.5 of all, shuffled with seed 1\n"
        "  2 datasets, one after the other>"
    )


def test_the_plan_of_a_folder_names_the_splits_that_it_joins(tmp_path: Path) -> None:
    rows = [{"n": n} for n in range(9)]
    tfreel.pack(rows, tmp_path / "out", split={"train": 0.7, "test": 0.3})
    both, train = Dataset(tmp_path / "out"), Dataset(tmp_path / "out", split="train")
    assert "\n  all splits together: train, test" in repr(both)
    assert "splits" not in repr(train)
    state = iter(both).state_dict()  # it knows records, not how they were named
    iter(Dataset(sorted((tmp_path / "out").glob("*.tfrecord"), reverse=True))).load_state_dict(state)
    assert repr(both.concat(train)).count("all splits together") == 1


@pytest.mark.parametrize("stream", [False, True])
def test_records_without_a_feature_are_an_error_that_says_how_to_read_them(
    tmp_path: Path, stream: bool
) -> None:
    path = tmp_path / "bare.tfrecord"
    tfreel.save(path, [{}, {}])
    with pytest.raises(
        tfreel.FeatureError, match=r"bare\.tfrecord: no feature in 2 records; tfreel.read gives"
    ):
        tfreel.Dataset(path, stream=stream)
    assert list(tfreel.Dataset(path, stream=stream, raw=True)) == [b"\n\0"] * 2
