"""Plans shared out among ranks and their workers: each record once, batches in one order, states for all."""

from __future__ import annotations

import io
from collections import Counter
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import pytest

import tfreel
from tfreel.dataset import Dataset, DatasetIterator
from tfreel.dataset.node import Run
from tfreel.dataset.report import DatasetReport
from tfreel.dataset.shard import ShardSpec, shard_batches, shard_records

from numbered import COUNT, even, fail_at_60, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfreel.dataset.node import Node


def plain(row: Any) -> Any:
    return {"n": row["n"]}


# How often each record comes, and the plan.
WITH_POSITIONS: dict[str, Callable[[Dataset], Dataset]] = {
    "rows": lambda ds: ds.shuffle(seed=1),
    "batches": lambda ds: ds.shuffle(seed=1).batch(7),
    "mapped batches": lambda ds: ds.shuffle(seed=1).batch(7).map(plain, workers=2).prefetch(2),
    "mapped rows": lambda ds: ds.shuffle(seed=1).map(plain).batch(7),
    "shuffled batches": lambda ds: ds.batch(7).shuffle(seed=1),
    "joined": lambda ds: ds[:50].batch(7).concat(ds[50:].batch(3)),
    "numbered": lambda ds: ds.batch(7).map(plain).enumerate(),
    "cached": lambda ds: ds.shuffle(seed=1).batch(7).cache(),
}
REPEATED: dict[str, Callable[[Dataset], Dataset]] = {
    "epochs": lambda ds: ds[:40].shuffle(seed=1).repeat(3).batch(7),
    "epochs of batches": lambda ds: ds[:40].shuffle(seed=1).batch(7).repeat(3),
    "epochs of mapped rows": lambda ds: ds[:40].shuffle(seed=1).map(plain).batch(7).map(dict).repeat(3),
}
WITHOUT_POSITIONS: dict[str, Callable[[Dataset], Dataset]] = {
    "filtered": lambda ds: ds.shuffle(seed=1).filter(even).batch(7),
    "filtered batches": lambda ds: ds.shuffle(seed=1).batch(1).filter(lambda batch: even(batch.row(0))),
    "filtered and limited": lambda ds: ds.filter(even).take(60).batch(7),
    "stirred": lambda ds: ds.filter(even).shuffle(seed=3, buffer=9).batch(7).prefetch(2),
    "unbatched": lambda ds: ds.batch(7).map(dict).unbatch().filter(even),
    "skipped": lambda ds: ds.map(only_even, on_error="skip").batch(7),
    "cached": lambda ds: ds.filter(even).batch(7).cache(),
}


def only_even(row: Any) -> Any:
    if not even(row):
        raise ValueError("odd")
    return plain(row)


def of_rank(dataset: Dataset, rank: int, ranks: int, uneven: Any = "keep") -> Node:
    return shard_records(dataset._node, ShardSpec(rank, ranks, uneven))


def elements(node: Node) -> Iterator[list[int]]:
    return (numbers([element]) for element in DatasetIterator(node))


def from_workers(node: Node, workers: int) -> list[list[int]]:
    """The batches of all workers, taken in turn as a loader does."""
    runs = [list(elements(shard_batches(node, ShardSpec(j, workers, "keep")))) for j in range(workers)]
    return [batch for turn in zip_longest(*runs) for batch in turn if batch is not None]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", [*WITH_POSITIONS, *REPEATED])
def test_ranks_share_all_records_and_workers_keep_the_order(ds: Dataset, name: str, ranks: int) -> None:
    plan = {**WITH_POSITIONS, **REPEATED}[name](ds)
    seen: list[int] = []
    for rank in range(ranks):
        node = of_rank(plan, rank, ranks)
        alone = list(elements(node))
        assert node.size == len(alone)
        for workers in (1, 2, 3, 5):
            assert from_workers(node, workers) == alone
        seen += [n for batch in alone for n in batch]
    assert Counter(seen) == Counter(numbers(plan))


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", WITHOUT_POSITIONS)
def test_without_positions_each_record_still_comes_once(
    ds: Dataset, name: str, ranks: int, workers: int
) -> None:
    plan = WITHOUT_POSITIONS[name](ds)
    seen = [
        n
        for rank in range(ranks)
        for batch in from_workers(of_rank(plan, rank, ranks), workers)
        for n in batch
    ]
    assert sorted(seen) == list(range(0, COUNT, 2))


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_that_must_be_even_are(ds: Dataset, path: str, ranks: int) -> None:
    streamed = Dataset(path, stream=True)
    for plan, whole in ((ds.shuffle(seed=1).batch(1), 1), (streamed, 1), (streamed.batch(5), 5)):
        for uneven in ("pad", "drop"):
            runs = [list(elements(of_rank(plan, rank, ranks, uneven))) for rank in range(ranks)]
            assert len({len(run) for run in runs}) == 1
            seen = Counter(n for run in runs for batch in run for n in batch)
            missing = COUNT - len(seen)
            extra = sum(seen.values()) - len(seen)
            assert (missing == 0 and extra < ranks * whole) if uneven == "pad" else extra == 0
            assert missing < ranks * whole


def test_evenness_that_cannot_be_kept_is_not_promised(ds: Dataset) -> None:
    for plan, stage in (
        (ds.filter(even).batch(3), r"filter\(even\)"),
        (ds.map(only_even, on_error="skip"), r"map\(only_even, on_error='skip'\)"),
    ):
        with pytest.raises(TypeError, match=f"uneven='drop' cannot be kept behind {stage}"):
            of_rank(plan, 0, 2, "drop")
        of_rank(plan, 0, 1, "drop")


def test_batches_of_ranks_are_whole_ones(ds: Dataset) -> None:
    for rank in range(3):
        sizes = [len(batch) for batch in elements(of_rank(ds.shuffle(seed=1).batch(8), rank, 3))]
        assert sizes[:-1] == [8] * (len(sizes) - 1)


def test_a_pipe_cannot_be_shared_out() -> None:
    piped = Dataset(io.BytesIO(), {"n": tfreel.FixedLenFeature([], "int64")})
    with pytest.raises(ValueError, match="a pipe is read only once"):
        of_rank(piped, 0, 2)
    of_rank(piped, 0, 1)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", [*WITH_POSITIONS, *REPEATED])
def test_states_can_be_told_without_a_run(ds: Dataset, name: str, ranks: int) -> None:
    node = of_rank({**WITH_POSITIONS, **REPEATED}[name](ds), 0, ranks)
    alone = list(elements(node))
    for count in range(1, len(alone) + 1):
        resumed = [numbers([step.element]) for step in node.run(Run(0, DatasetReport()), count)]
        assert resumed == alone[count:]
        rest = node.rest(count)
        assert list(elements(rest)) == alone[count:]
        assert from_workers(rest, 2) == alone[count:]
        for more in range(1, min(4, len(alone) - count + 1)):
            assert list(elements(rest.rest(more))) == alone[count + more :]


def test_without_end_there_are_states_too(ds: Dataset) -> None:
    for plan in (ds[:7].shuffle(seed=1).batch(3).repeat(), ds[:7].shuffle(seed=1).repeat().batch(3)):
        node = of_rank(plan, 1, 2)
        alone = list(islice(elements(node), 20))
        rest = node.rest(9)
        assert list(islice(elements(rest), 11)) == alone[9:]
        assert list(islice(elements(shard_batches(rest, ShardSpec(1, 2))), 5)) == alone[10:20:2]


def test_errors_of_functions_are_told_where_they_happened_in_any_order(ds: Dataset) -> None:
    for plan in (
        ds.map(fail_at_60).batch(7),
        ds.map(fail_at_60).batch(7).repeat(2),
        ds.batch(1).map(fail_at_60),
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            list(from_workers(of_rank(plan, 0, 1), 2))
        assert any("record 19 of" in note and "c.tfrecord" in note for note in caught.value.__notes__)


def test_one_rank_fills_a_cache_and_uses_it(ds: Dataset) -> None:
    made = []

    def noted(batch: Any) -> Any:
        made.append(numbers([batch]))
        return batch

    node = of_rank(ds.shuffle(seed=1).batch(10).map(noted).cache(), 0, 1)
    assert list(elements(node)) == list(elements(node)) == made


def test_a_state_of_what_each_rank_keeps_is_refused_in_words(ds: Dataset) -> None:
    steps = iter(ds.shard(0, 2).cache())
    next(steps)
    with pytest.raises(tfreel.StateError, match=r"cache\(\) behind shard\(\)"):
        iter(ds.shard(0, 3).cache()).load_state_dict(steps.state_dict())
