"""Parts of datasets and datasets of parts: splits by value, folds, samples, mixtures, pairs."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel.dataset import Dataset
from tfreel.dataset.concat import ConcatDeal
from tfreel.dataset.mix import MixDeal

from numbered import COUNT, doubled, even, numbers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of forty people, between one and thirty of each."""
    directory = tmp_path_factory.mktemp("people")
    rng = np.random.default_rng(1)
    names = [f"person {i}" for i in range(40) for _ in range(rng.integers(1, 30))]
    order = rng.permutation(len(names))
    shuffled = [names[i] for i in order]
    tfreel.save(directory / "people.tfrecord", {"n": np.arange(len(names)), "name": shuffled})
    tfreel.save(directory / "more.tfrecord", {"n": np.arange(50), "name": ["person 3", "person 99"] * 25})
    return directory


def names_in(dataset: Dataset) -> set[bytes]:
    return {row["name"] for row in dataset}


# Splits -----------------------------------------------------------------------------------------------------


def test_groups_stay_together_and_more_files_never_move_them(people: Path) -> None:
    ds = Dataset(people / "people.tfrecord")
    train, val, test = ds.split(0.6, 0.2, 0.2, seed=3, by="name")
    sides = [names_in(part) for part in (train, val, test)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 40
    assert sorted(numbers(train) + numbers(val) + numbers(test)) == list(range(len(ds)))
    assert all(len(side) > 2 for side in sides)
    more = Dataset([people / "more.tfrecord", people / "people.tfrecord"])
    for part, side in zip(more.split(0.6, 0.2, 0.2, seed=3, by="name"), sides, strict=True):
        assert names_in(part) - {b"person 99"} == side
    assert names_in(ds.split(0.6, 0.2, 0.2, seed=4, by="name")[0]) != sides[0]


def test_numbers_group_as_well_as_names(ds: Dataset) -> None:
    parts = ds.split(0.5, 0.5, seed=8, by="c")
    assert sorted(n for part in parts for n in numbers(part)) == list(range(COUNT))
    classes = [{int(row["c"]) for row in part} for part in parts]
    assert not classes[0] & classes[1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=80),
    st.lists(st.floats(0.01, 1), min_size=1, max_size=4),
    st.one_of(st.none(), st.integers(0, 99)),
)
def test_strata_keep_their_share(labels: list[int], weights: list[float], seed: int | None) -> None:
    from tfreel.dataset.group_by import Groups, dealt_by_class

    fractions = [weight / sum(weights) for weight in weights]
    groups = Groups([b""] * 5, np.array(labels))
    parts = dealt_by_class(groups, fractions, seed)
    for i, fraction in enumerate(fractions):
        assert abs(np.sum(parts == i) - fraction * len(labels)) <= len(fractions)
        for label in set(labels):
            mine = np.sum((parts == i) & (groups.codes == label))
            assert abs(mine - fraction * labels.count(label)) <= len(fractions)
    assert set(parts.tolist()) <= set(range(len(fractions)))


def test_a_stratified_split_is_exact_where_it_can_be(people: Path) -> None:
    tfreel.save("even.tfrecord", {"n": range(1000), "c": [i % 10 // 9 for i in range(1000)]})
    ds = Dataset("even.tfrecord")
    parts = ds.split(0.8, 0.1, 0.1, seed=5, stratify="c")
    assert [len(part) for part in parts] == [800, 100, 100]
    assert [sum(int(row["c"]) for row in part) for part in parts] == [80, 10, 10]
    assert sorted(n for part in parts for n in numbers(part)) == list(range(1000))
    named = Dataset(people / "people.tfrecord")
    half, other = named.split(0.5, 0.5, seed=5, stratify="name")
    counts = [Counter(row["name"] for row in part) for part in (half, other)]
    assert all(abs(counts[0][name] - counts[1][name]) <= 1 for name in names_in(named))


def test_a_split_holds_its_sides_through_the_epochs_of_a_shuffle_below(ds: Dataset) -> None:
    for how in ({}, {"by": "n"}, {"stratify": "c"}):
        train, val = ds.shuffle(seed=1).split(0.7, 0.3, seed=2, **how)
        assert set(numbers(train.repeat(3))) == set(numbers(train))
        assert not set(numbers(train.repeat(3))) & set(numbers(val.shuffle(seed=9).repeat(4)))


@pytest.mark.parametrize(
    "elements",
    [
        lambda ds: ds.shuffle(seed=1).batch(7),
        lambda ds: ds.shuffle(seed=1).batch(7).shuffle(seed=2).map(dict),
        lambda ds: ds.shuffle(seed=1).enumerate().map(operator.itemgetter(1)),
        lambda ds: ds.shuffle(seed=1).zip(ds).map(operator.itemgetter(0)),
    ],
)
def test_parts_of_what_is_made_of_a_shuffle_hold_their_sides_too(ds: Dataset, elements: Any) -> None:
    def seen(part: Any) -> set[int]:
        return {int(n) for epoch in range(3) for n in numbers(part.epoch(epoch))}

    made = elements(ds)
    for train, val in (made.split(0.7, 0.3, seed=2), made.folds(3)[1]):
        assert not seen(train) & seen(val)
        assert seen(train) | seen(val) == set(range(COUNT))
        assert not seen(train.shuffle(seed=4)) & seen(val)
    only_first = [1.0] + [0.0] * (len(made) - 1)
    assert seen(made.sample(weights=only_first, seed=1)) == set(np.atleast_1d(made[0]["n"]).tolist())


@pytest.mark.parametrize(
    "how", [{"shuffle": False}, {"seed": 3}, {"seed": 3, "stratify": "c"}, {"seed": 3, "by": "n"}]
)
def test_folds_validate_everything_once(ds: Dataset, how: Any) -> None:
    folds = ds.folds(4, **how)
    assert sorted(n for _, val in folds for n in numbers(val)) == list(range(COUNT))
    for train, val in folds:
        assert sorted(numbers(train) + numbers(val)) == list(range(COUNT))
        assert len(train) + len(val) == COUNT
        assert len(train.shuffle(seed=1).batch(8)) == -(-len(train) // 8)
    assert "all but fold 2 of 4" in repr(folds[1][0])


def test_splits_by_what_is_no_feature_or_no_single_value_are_refused(ds: Dataset, path: str) -> None:
    with pytest.raises(KeyError, match="no feature is called 'label'; there are 'c', 'n', 't', 'x'"):
        ds.split(0.5, 0.5, stratify="label")
    for many in ("x", "t"):
        with pytest.raises(ValueError, match=f"{many!r} must hold one value in each record"):
            ds.split(0.5, 0.5, by=many)
    with pytest.raises(ValueError, match="by a feature or stratified by one"):
        ds.split(0.5, 0.5, by="n", stratify="n")
    with pytest.raises(TypeError, match="stratify= reads a feature of the records: use it before batch"):
        ds.batch(3).split(0.5, 0.5, stratify="n")
    columns = Dataset(path, columns=["x"])  # the label need not be among what is read
    assert len(columns.split(0.5, 0.5, seed=1, stratify="c")[0]) in (51, 52)


# Samples ----------------------------------------------------------------------------------------------------


def test_a_balanced_sample_has_as_many_of_each_and_uses_all_of_them(ds: Dataset) -> None:
    rare = [n for n in range(COUNT) if n % 10 // 7]
    sample = ds.sample(balance="c", seed=1, size=10_000)
    drawn = Counter(numbers(sample))
    assert abs(sum(drawn[n] for n in rare) - 5000) < 100
    assert set(drawn) == set(range(COUNT))
    ones = [drawn[n] for n in rare]
    assert max(ones) - min(ones) <= 1  # none comes again before all others came
    again = ds.sample(balance="c", seed=1)
    assert numbers(again.repeat(2))[:COUNT] == numbers(again)
    assert numbers(again.repeat(2))[COUNT:] != numbers(again)
    assert numbers(again) != numbers(ds.sample(balance="c", seed=2))


def test_weights_say_how_often_elements_are_drawn(ds: Dataset) -> None:
    by_name = Counter(numbers(ds.sample(weights="n", seed=1, size=20_000)))
    by_hand = Counter(numbers(ds.sample(weights=np.arange(COUNT), seed=1, size=20_000)))
    assert by_name == by_hand
    assert by_name[0] == 0
    assert by_name[100] / by_name[50] == pytest.approx(2, rel=0.3)
    for wrong in ({}, {"weights": "n", "balance": "c"}):
        with pytest.raises(ValueError, match="either weights or balance"):
            ds.sample(seed=1, **wrong)
    with pytest.raises(ValueError, match="2 weights for 103 elements"):
        ds.sample(weights=[1, 2], seed=1)
    with pytest.raises(ValueError, match="'t' must hold one value"):
        ds.sample(weights="t", seed=1)


# Several datasets -------------------------------------------------------------------------------------------


def test_datasets_of_other_files_are_read_together(ds: Dataset, people: Path) -> None:
    first, second = Dataset(people / "people.tfrecord"), Dataset(people / "more.tfrecord")
    both = second.concat(first)
    assert len(both) == len(first) + 50
    assert both[50]["n"] == 0
    assert numbers(both.batch(60)) == [*range(50), *range(len(first))]
    assert sorted(numbers(both.shuffle(seed=1).batch(9))) == sorted(numbers(both))
    for refused in (lambda: ds.concat(first), lambda: Dataset.mix([ds, first.filter(even)], seed=1)):
        with pytest.raises(ValueError, match="dataset 1 and dataset 2 differ: only one has 'c'"):
            refused()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40_000), st.floats(0.001, 10)), min_size=1, max_size=5),
    st.integers(0, 2**64 - 1),
)
def test_a_mixture_gives_each_set_its_share_in_its_order(sets: list[tuple[int, float]], seed: int) -> None:
    sizes, weights = zip(*sets, strict=True)
    deal = MixDeal.of(sizes, weights, seed)
    assert deal.size is not None
    owners, inner = deal.at(np.arange(deal.size, dtype=np.uint64))
    ends = []
    for owner, (size, weight) in enumerate(sets):
        mine = inner[owners == owner]
        assert mine.tolist() == list(range(len(mine)))
        assert len(mine) <= size
        ends.append(size - len(mine))
        if deal.size > 50_000:
            assert len(mine) / deal.size == pytest.approx(weight / sum(weights), abs=0.01)
    owners, inner = deal.at(np.arange(deal.size, deal.size + 1, dtype=np.uint64))
    assert inner[0] == sizes[owners[0]]  # the next one does not exist: so it ends here
    pieces = deal.at(np.array([deal.size // 2, 0], np.uint64))
    assert all(int(piece[1]) == int(deal.at(np.zeros(1, np.uint64))[i][0]) for i, piece in enumerate(pieces))


def test_turns_are_taken_to_the_end() -> None:
    owners, inner = ConcatDeal((2, 0, 3)).at(np.arange(5, dtype=np.uint64))
    assert (owners.tolist(), inner.tolist()) == ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    owners, inner = ConcatDeal((2, None, 3)).at(np.array([0, 2, 10**15], np.uint64))
    assert (owners.tolist(), inner.tolist()) == ([0, 1, 1], [0, 0, 10**15 - 2])


def test_mixtures_of_rows_and_of_anything_else_are_the_same(ds: Dataset) -> None:
    parts = [ds[:30], ds[30:90].shuffle(seed=1)]
    rows = numbers(Dataset.mix(parts, [1, 2], seed=5))
    anything = numbers(Dataset.mix([part.map(dict) for part in parts], [1, 2], seed=5))
    lost = numbers(Dataset.mix([part.filter(lambda _: True) for part in parts], [1, 2], seed=5))
    assert rows == anything == lost
    assert set(rows) <= set(range(90))
    assert set(range(30)) <= set(rows) or set(range(30, 90)) <= set(rows)
    assert len(Dataset.mix(parts, [1, 2], seed=5)) == len(rows)
    endless = Dataset.mix([part.repeat() for part in parts], seed=5)
    share = np.mean([n < 30 for n in numbers(endless.take(3000))])
    assert share == pytest.approx(0.5, abs=0.03)
    with pytest.raises(ValueError, match="nothing to mix"):
        Dataset.mix([], seed=1)
    for wrong in ([1], [1, 0], [1, -1], [1, np.nan]):
        with pytest.raises(ValueError, match="weights"):
            Dataset.mix(parts, wrong, seed=1)


def test_pairs_are_as_long_as_the_shortest(ds: Dataset) -> None:
    pairs = ds[:5].zip(ds[50:].map(doubled), ds.repeat())
    assert len(pairs) == 5
    first, second, third = pairs[2]
    assert (first["n"], second["n"], third["n"]) == (2, 104, 2)
    assert [tuple(int(part["n"]) for part in pair) for pair in pairs][4] == (4, 108, 4)
    assert len(list(ds.filter(even).zip(ds[:7]))) == 7
    batch = pairs.batch(4)[0]
    assert batch[1]["n"].tolist() == [100, 102, 104, 106]


# Promises ---------------------------------------------------------------------------------------------------


def test_who_gets_what_never_changes(people: Path) -> None:
    ds = Dataset(people / "people.tfrecord")
    found = {
        "by": numbers(ds.split(0.5, 0.5, seed=1, by="name")[0])[:6],
        "stratify": numbers(ds.split(0.5, 0.5, seed=1, stratify="name")[0])[:6],
        "balance": numbers(ds.sample(balance="name", seed=1))[:6],
        "mix": numbers(Dataset.mix([ds, ds.shuffle(seed=1)], [1, 3], seed=1))[:6],
        "stir": numbers(ds.shuffle(seed=1, buffer=50))[:6],
    }
    assert found == PROMISED


PROMISED = {
    "by": [3, 6, 8, 9, 10, 11],
    "stratify": [1, 2, 3, 5, 6, 9],
    "balance": [381, 200, 576, 464, 537, 219],
    "mix": [159, 0, 457, 1, 484, 590],
    "stir": [25, 32, 1, 35, 9, 20],
}


SAME_FEATURES: dict[str, Any] = {
    "batch, repeat": lambda ds: ds.batch(2).repeat(2),
    "filter, batch": lambda ds: ds.filter(bool).batch(2),
    "buffer, repeat": lambda ds: ds.shuffle(buffer=2).repeat(2),
    "batch, order": lambda ds: ds.batch(2).shuffle().prefetch(1),
    "cache, take": lambda ds: ds.filter(bool).cache().take(3),
}


@pytest.mark.parametrize("name", SAME_FEATURES)
def test_other_features_are_refused_behind_all_that_keeps_elements(
    ds: Dataset, people: Path, name: str
) -> None:
    ours, theirs = (SAME_FEATURES[name](each) for each in (ds, Dataset(people / "more.tfrecord")))
    for join in (lambda: ours.concat(theirs), lambda: Dataset.mix([ours, theirs])):
        with pytest.raises(ValueError, match="dataset 1 and dataset 2 differ"):
            join()
