"""What methods of datasets are given: whole numbers of anybody's, and what is refused where it is given."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.dataset import Dataset
from tfreel.dataset.group_by import Groups, dealt_by_hash
from tfreel.dataset.order import permutation

from numbered import doubled, even, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

# Every method that takes a whole number, with one of some type.
PLANS: dict[str, Callable[[Dataset, Any], Any]] = {
    "shuffle": lambda ds, n: ds.shuffle(seed=n(5)),
    "windows": lambda ds, n: ds.shuffle(seed=n(5), window=n(16)),
    "lanes": lambda ds, n: ds.shuffle(seed=n(5), window=n(16), lanes=n(2)),
    "buffer": lambda ds, n: ds.shuffle(seed=n(5), buffer=n(16)),
    "split": lambda ds, n: ds.split(0.5, 0.5, seed=n(5))[0],
    "split by": lambda ds, n: ds.split(0.5, 0.5, seed=n(5), by="n")[0],
    "stratify": lambda ds, n: ds.split(0.5, 0.5, seed=n(5), stratify="c")[0],
    "whole fractions": lambda ds, n: ds.split(n(1), n(0))[0],
    "folds": lambda ds, n: ds.folds(n(3), seed=n(5))[0][0],
    "weights": lambda ds, n: ds.sample(seed=n(5), weights="n", size=n(20)),
    "balance": lambda ds, n: ds.sample(seed=n(5), balance="c", size=n(20)),
    "shard": lambda ds, n: ds.shard(n(1), n(3)),
    "take": lambda ds, n: ds.take(n(20)),
    "skip": lambda ds, n: ds.skip(n(20)),
    "limits": lambda ds, n: ds.filter(even).skip(n(3)).take(n(20)),
    "slice": lambda ds, n: ds[n(1) : n(50) : n(2)],
    "repeat": lambda ds, n: ds[:20].repeat(n(2)),
    "repeated filter": lambda ds, n: ds[:20].filter(even).repeat(n(2)),
    "epoch": lambda ds, n: ds.shuffle(seed=5).epoch(n(2)),
    "mix": lambda ds, n: Dataset.mix([ds[:50], ds[50:]], [n(1), n(2)], seed=n(5)),
    "mixed filters": lambda ds, n: Dataset.mix([ds.filter(even), ds[50:].filter(even)], seed=n(5)),
    "batch": lambda ds, n: ds.batch(n(7)),
    "gathered": lambda ds, n: ds.map(doubled).batch(n(7)),
    "map": lambda ds, n: ds.map(doubled, workers=n(2)),
    "enumerate": lambda ds, n: ds.enumerate(n(7)),
    "prefetch": lambda ds, n: ds.prefetch(n(2)),
}


@pytest.mark.parametrize("kind", [np.int64, np.uint32, np.int8])
@pytest.mark.parametrize("name", PLANS)
def test_whole_numbers_of_numpy_are_those_of_python(ds: Dataset, name: str, kind: Any) -> None:
    plan, same = PLANS[name](ds, kind), PLANS[name](ds, int)
    assert repr(plan) == repr(same)
    steps = iter(plan)
    begun = numbers(islice(steps, 3))
    goes_on = iter(same)
    goes_on.load_state_dict(json.loads(json.dumps(steps.state_dict())))
    assert begun + numbers(goes_on) == numbers(same)


def test_a_number_of_threads_may_be_numpys(path: str) -> None:
    assert numbers(Dataset(path, threads=np.int64(2))) == numbers(Dataset(path))


def test_fractions_and_shares_of_numpy_can_be_saved(ds: Dataset) -> None:
    half, third = np.float32(0.5), np.float32(1 / 3)
    plan = Dataset.mix(ds.split(half, third, seed=1, drop_rest=True), np.array([half, third]), seed=1)
    json.dumps(iter(plan).state_dict())


def test_orders_and_deals_take_seeds_of_numpy() -> None:
    positions = np.arange(20, dtype=np.uint64)
    permutation.cache_clear()  # where both are the same
    mine = permutation(20, np.int64(-5), 0).take(positions)
    permutation.cache_clear()
    assert mine.tolist() == permutation(20, -5, 0).take(positions).tolist()
    groups = Groups([b"a", b"b", b"c", b"d"], np.arange(4))
    mine = dealt_by_hash(groups, [0.5, 0.5], np.int64(-5))
    assert mine.tolist() == dealt_by_hash(groups, [0.5, 0.5], -5).tolist()


# Every argument that must be a whole number, given another value.
WHOLE: dict[str, Callable[[Dataset, Any], Any]] = {
    "seed of a shuffle": lambda ds, v: ds.shuffle(seed=v),
    "seed of a buffer": lambda ds, v: ds.filter(even).shuffle(seed=v, buffer=2),
    "seed of a split": lambda ds, v: ds.split(0.5, 0.5, seed=v),
    "seed of folds": lambda ds, v: ds.folds(2, seed=v),
    "seed of a sample": lambda ds, v: ds.sample(seed=v, balance="c"),
    "seed of a mixture": lambda ds, v: Dataset.mix([ds, ds], seed=v),
    "index of a shard": lambda ds, v: ds.shard(v, 3),
    "count of shards": lambda ds, v: ds.shard(0, v),
    "count of folds": lambda ds, v: ds.folds(v),
    "count to take": lambda ds, v: ds.take(v),
    "count to take of a filter": lambda ds, v: ds.filter(even).take(v),
    "count to skip": lambda ds, v: ds.skip(v),
    "count to skip of a filter": lambda ds, v: ds.filter(even).skip(v),
    "number of an epoch": lambda ds, v: ds.epoch(v),
    "size of a batch": lambda ds, v: ds.batch(v),
    "workers": lambda ds, v: ds.map(doubled, workers=v),
    "start": lambda ds, v: ds.enumerate(v),
    "depth": lambda ds, v: ds.prefetch(v),
}
WHOLE_OR_NONE: dict[str, Callable[[Dataset, Any], Any]] = {
    "window": lambda ds, v: ds.shuffle(seed=1, window=v),
    "lanes": lambda ds, v: ds.shuffle(seed=1, window=16, lanes=v),
    "buffer": lambda ds, v: ds.shuffle(seed=1, buffer=v),
    "size of a sample": lambda ds, v: ds.sample(seed=1, balance="c", size=v),
    "times": lambda ds, v: ds.repeat(v),
}


@pytest.mark.parametrize("value", [2.5, 2.0, True, np.True_, "2", [2], np.float64(2), np.array([2, 3])])
@pytest.mark.parametrize("name", [*WHOLE, *WHOLE_OR_NONE])
def test_what_is_no_whole_number_is_refused_at_once(ds: Dataset, name: str, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        {**WHOLE, **WHOLE_OR_NONE}[name](ds, value)
    assert str(caught.value) == f"{name.split()[0]} must be a whole number, not {value!r}"


@pytest.mark.parametrize("name", WHOLE)
def test_what_must_be_given_is_not_none(ds: Dataset, name: str) -> None:
    with pytest.raises(TypeError, match=f"{name.split()[0]} must be a whole number, not None"):
        WHOLE[name](ds, None)


@pytest.mark.parametrize("name", WHOLE_OR_NONE)
def test_what_need_not_be_given_may_be_none(ds: Dataset, name: str) -> None:
    WHOLE_OR_NONE[name](ds, None)


LEAST: dict[str, tuple[Callable[[Dataset, int], Any], int]] = {
    "seed of a shuffle": (lambda ds, v: ds.shuffle(seed=v), 0),
    "seed of a split": (lambda ds, v: ds.split(0.5, 0.5, seed=v), 0),
    "seed of folds": (lambda ds, v: ds.folds(2, seed=v), 0),
    "seed of a sample": (lambda ds, v: ds.sample(seed=v, balance="c"), 0),
    "seed of a mixture": (lambda ds, v: Dataset.mix([ds, ds], seed=v), 0),
    "window": (lambda ds, v: ds.shuffle(seed=1, window=v), 1),
    "lanes": (lambda ds, v: ds.shuffle(seed=1, window=16, lanes=v), 1),
    "buffer": (lambda ds, v: ds.shuffle(seed=1, buffer=v), 1),
    "count of folds": (lambda ds, v: ds.folds(v), 2),
    "size of a sample": (lambda ds, v: ds.sample(seed=1, balance="c", size=v), 0),
    "count of shards": (lambda ds, v: ds.shard(0, v), 1),
    "count to take": (lambda ds, v: ds.take(v), 0),
    "count to take of a filter": (lambda ds, v: ds.filter(even).take(v), 0),
    "count to skip": (lambda ds, v: ds.skip(v), 0),
    "count to skip of a filter": (lambda ds, v: ds.filter(even).skip(v), 0),
    "times": (lambda ds, v: ds.repeat(v), 0),
    "number of an epoch": (lambda ds, v: ds.epoch(v), 0),
    "size of a batch": (lambda ds, v: ds.batch(v), 1),
    "workers": (lambda ds, v: ds.map(doubled, workers=v), 0),
    "depth": (lambda ds, v: ds.prefetch(v), 1),
}


@pytest.mark.parametrize("name", LEAST)
def test_what_is_too_small_is_refused_at_once(ds: Dataset, name: str) -> None:
    make, least = LEAST[name]
    make(ds, least)
    for value in (least - 1, np.int64(-7)):
        with pytest.raises(
            ValueError, match=f"^{name.split()[0]} must be at least {least}, not {int(value)}(;|$)"
        ):
            make(ds, value)


def test_minus_one_of_tensorflow_is_told_what_to_write_instead(ds: Dataset) -> None:
    with pytest.raises(ValueError, match=r"not -1; repeat\(\) without a number is for ever"):
        ds.repeat(-1)
    with pytest.raises(ValueError, match="not -1; without take, all elements come"):
        ds.take(-1)


# Every method that takes a seed, with options and further arguments by position.
SEEDED: dict[str, Callable[..., Any]] = {
    "shuffle": lambda ds, *more, **how: ds.shuffle(*more, **how),
    "windows": lambda ds, *more, **how: ds.shuffle(*more, window=16, **how),
    "lanes": lambda ds, *more, **how: ds.shuffle(*more, window=16, lanes=2, **how),
    "buffer": lambda ds, *more, **how: ds.shuffle(*more, buffer=16, **how),
    "split": lambda ds, *more, **how: ds.split(0.5, 0.5, *more, **how)[1],
    "split by": lambda ds, *more, **how: ds.split(0.5, 0.5, *more, by="n", **how)[1],
    "stratify": lambda ds, *more, **how: ds.split(0.5, 0.5, *more, stratify="c", **how)[1],
    "folds": lambda ds, *more, **how: ds.folds(3, *more, **how)[1][0],
    "fold": lambda ds, *more, **how: ds.folds(3, *more, **how)[1][1],
    "weights": lambda ds, *more, **how: ds.sample(*more, weights="n", **how),
    "balance": lambda ds, *more, **how: ds.sample(*more, balance="c", **how),
    "mix": lambda ds, *more, **how: Dataset.mix([ds[:50], ds[50:]], [1, 2], *more, **how),
    "mixed filters": lambda ds, *more, **how: Dataset.mix([ds.filter(even)] * 2, None, *more, **how),
}


@pytest.mark.parametrize("name", SEEDED)
def test_without_a_seed_it_is_0(ds: Dataset, name: str) -> None:
    plan, same, other = (SEEDED[name](ds, **how) for how in ({}, {"seed": 0}, {"seed": 1}))
    assert numbers(plan) == numbers(same) != numbers(other)
    assert repr(plan) == repr(same) != repr(other)
    assert "with seed 0" in repr(plan)
    assert "with seed 1" in repr(other)
    steps = iter(plan)
    begun = numbers(islice(steps, 5))
    goes_on = iter(same)
    goes_on.load_state_dict(json.loads(json.dumps(steps.state_dict())))
    assert begun + numbers(goes_on) == numbers(plan)
    with pytest.raises(tfreel.StateError, match="another plan"):
        iter(other).load_state_dict(steps.state_dict())


@pytest.mark.parametrize("name", SEEDED)
def test_no_seed_is_drawn(ds: Dataset, name: str) -> None:
    with pytest.raises(TypeError, match=r"not None: none is ever drawn, .* without seed= it is 0"):
        SEEDED[name](ds, seed=None)


@pytest.mark.parametrize("name", [name for name in SEEDED if not name.startswith(("split", "stratify"))])
def test_seeds_have_a_name(ds: Dataset, name: str) -> None:
    with pytest.raises(TypeError, match=r"takes its options by name: .*a seed is seed=…"):
        SEEDED[name](ds, 5)


def test_the_buffer_size_of_tensorflow_is_no_seed(ds: Dataset) -> None:
    shuffle: Any = ds.shuffle
    for call in (lambda: shuffle(1024), lambda: shuffle(1024, seed=1)):
        with pytest.raises(TypeError, match=r"^shuffle\(\) .*an exact shuffle needs no buffer size"):
            call()
    with pytest.raises(ValueError, match=r"fractions must add up to 1, not to 18: \(0.8, 0.2, 17\)"):
        ds.split(0.8, 0.2, 17)


def test_seeds_may_be_of_any_size(ds: Dataset) -> None:
    for huge in (5 + (1 << 70), 5 + (1 << 200)):
        assert numbers(ds.shuffle(seed=huge)) == numbers(ds.shuffle(seed=5))
    assert numbers(ds.split(0.5, 0.5, seed=5 + (1 << 128), by="n")[0]) == numbers(PLANS["split by"](ds, int))


def test_what_cannot_be_called_is_refused_at_once(ds: Dataset) -> None:
    with pytest.raises(TypeError, match="function must be callable, not 5"):
        ds.map(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="function must be callable, not None"):
        ds.batch(2).map(None, batched=False)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keep must be callable, not 'n'"):
        ds.filter("n")  # type: ignore[arg-type]


def test_wrong_options_of_files_are_refused_at_once(path: str) -> None:
    for value in (2.5, True, "2"):
        with pytest.raises(TypeError, match=f"threads must be a whole number, not {value!r}"):
            Dataset(path, threads=value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="columns must be a list of names, not 'x'"):
        Dataset(path, columns="x")
    for features in (["x"], "x"):
        with pytest.raises(TypeError, match=r"features must be a dict .*; columns=\[…\] reads"):
            Dataset(path, features)  # type: ignore[arg-type]
    for options in ({"columns": ["x"]}, {"features": {"x": tfreel.VarLenFeature("int64")}}):
        with pytest.raises(ValueError, match="raw=True gives records as they are"):
            Dataset(path, raw=True, **options)  # type: ignore[arg-type]


def test_features_are_named_by_one_text(ds: Dataset) -> None:
    names: Any = ["c"]
    for call in (
        lambda: ds.split(0.5, 0.5, by=names),
        lambda: ds.split(0.5, 0.5, seed=1, stratify=names),
        lambda: ds.sample(balance=names, seed=1),
    ):
        with pytest.raises(TypeError, match=r"a feature is named by one text, not \['c'\]"):
            call()


def test_columns_may_come_from_a_generator(path: str) -> None:
    names: Any = (name for name in ("x", "n"))
    assert list(Dataset(path, columns=names)[0]) == ["x", "n"]


@pytest.mark.parametrize(
    "call",
    [
        lambda ds: ds.concat("a.tfrecord"),
        lambda ds: ds.zip(5),
        lambda _: Dataset.mix(["a.tfrecord"], seed=1),
    ],
    ids=["concat", "zip", "mix"],
)
def test_files_are_no_dataset_yet(ds: Dataset, call: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a tfreel.Dataset, not (str|int); tfreel.Dataset"):
        call(ds)
