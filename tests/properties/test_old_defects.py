"""Defects that pipelines once had, put back one by one: a search finds each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from properties import verbs
from properties.plans import chain
from properties.search import Search
from properties.verbs import SHARD, SOURCE, Plan
from tfreel.dataset import batch, cache, concat, mix, node, repeat, rows, shard, shuffle_buffer, stream, take
from tfreel.dataset import map as mapping
from tfreel.dataset.state import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 20
MOST_PLANS = 500

Patch = pytest.MonkeyPatch


def served_as_it_is(patch: Patch) -> None:
    """A state of one rank is taken for one of any other."""
    patch.setattr(node.Node, "moved", lambda self, state, move: state)


def no_batches_behind(stage: type) -> Callable[[Patch], None]:
    """Batches count as single elements behind a stage."""

    def put_back(patch: Patch) -> None:
        patch.setattr(stage, "batched", False)

    return put_back


def passed_below(stage: Any) -> Callable[[Patch], None]:
    """A stage without a count that is the same for all ranks hands their states to what lies below it."""

    def put_back(patch: Patch) -> None:
        patch.setattr(stage, "_move", lambda self, state, move: state, raising=False)

    return put_back


def ends_at_an_empty_round(patch: Patch) -> None:
    whole = repeat.Repeat._run_by_state

    def run(self: repeat.Repeat, run_: Any, state: Any) -> Iterator[Any]:
        last = -1 if state is None else parts_of(state, [0, None, True])[0]
        for step in whole(self, run_, state):
            if step.state[0] > last + 1:
                return
            last = step.state[0]
            yield step

    patch.setattr(repeat.Repeat, "_run_by_state", run)


def all_ranks_end_alike(patch: Patch) -> None:
    """Nobody minds that some ranks had one more in the round, or the part, before."""
    patch.setattr(node.Node, "ends_even", lambda self, state: True)


def the_end_of_a_stream_is_even(patch: Patch) -> None:
    patch.setattr(shard.Stride, "_is_even", True)


def ranks_keep_what_is_over(patch: Patch) -> None:
    """Batches of ranks are not evened out."""
    patch.setattr(shard.ShardOrder, "under_batch", lambda self, size, drop_remainder: self)


def last_steps_are_as_large_as_can_be(patch: Patch) -> None:
    """65 records in batches of 32 for two ranks: the last one alone."""

    def greedy(size: int, count: int, step: int) -> tuple[int, tuple[int, ...]]:
        full, rest = divmod(size, count * step)
        return full, (rest,) if rest else ()

    patch.setattr(shard, "last_steps", greedy)


def others_join_anything(patch: Patch) -> None:
    """What cannot follow each other is found in the middle of a run."""
    for module in (concat, mix):
        patch.setattr(module, "require_alike", lambda nodes, verb: None)


def holes_are_forgotten(patch: Patch) -> None:
    """What one rank had not taken yet, behind what another had, is lost to a new number of them."""
    whole = shard.ShardOrder._frontier
    patch.setattr(
        shard.ShardOrder,
        "_frontier",
        lambda self, counts: (whole(self, counts)[0], whole(self, counts)[1][:0]),
    )


def caches_know_streams_by_their_features(patch: Patch) -> None:
    patch.setattr(stream.Stream, "data_versions", lambda self: [])


def numbers_begin_anew(patch: Patch) -> None:
    """enumerate() behind a state counts from the start."""
    whole = take.Enumerate.run

    def run(self: take.Enumerate, run_: Any, state: Any) -> Iterator[Any]:
        given = 0 if self.unindexable_reason else self.count_in(state)
        for step in whole(self, run_, state):
            number, element = step.element
            yield step._replace(element=(number - given, element))

    patch.setattr(take.Enumerate, "run", run)


def caches_go_with_the_epoch(patch: Patch) -> None:
    whole = cache._Memory.steps
    patch.setattr(
        cache._Memory,
        "steps",
        lambda self, below, run, position: whole(type(self)(), below, run.in_epoch(1), position),
    )


def epochs_are_all_the_same(patch: Patch) -> None:
    patch.setattr(repeat, "round_epoch", lambda epoch, times, number: epoch)


def workers_count_from_the_front(patch: Patch) -> None:
    """A loader's state says what this run gave, not what was given before it."""
    patch.setattr("tfreel.adapters.ranks._after", lambda state, count: count)


def rows_of_ranks_are_shared_anew(patch: Patch) -> None:
    """What saves or loads a rank's rows puts them in batches as a user would."""
    made = rows.BatchRows

    def batched(below: rows.Rows, size: int, drop_remainder: bool, pad: Any) -> rows.BatchRows:
        return made(below.under_batch(size, drop_remainder=drop_remainder), size, drop_remainder, pad)

    patch.setattr("tfreel.dataset.to_arrow.BatchRows", batched)


# By chance these take thousands of plans.
EMPTY_ROUNDS = chain(
    (SOURCE, "several", "rows"),
    (verbs.Shuffle(), ("seed", 2)),
    (verbs.Take(), 1),
    (verbs.Filter(), "keep_few"),
    (verbs.Repeat(), 3),
)
UNEVEN_ROUNDS = chain((SOURCE, "plain", "stream"), (SHARD, 0, 2, "keep"), (verbs.Repeat(), 3))
ROWS_OF_A_RANK = chain((SOURCE, "plain", "rows"), (SHARD, 1, 3, "balance"))

# What was wrong, and the verbs without which it cannot be seen, or a plan in which it can.
DEFECTS: dict[str, tuple[Callable[[Patch], None], set[str] | Plan]] = {
    "batches behind concat": (no_batches_behind(concat.Concat), {"concat", "batch"}),
    "batches behind mix": (no_batches_behind(mix.Mix), {"mix", "batch"}),
    "a state of another rank": (served_as_it_is, {"shard"}),
    "a state of another rank behind filter": (passed_below(take.Filter), {"shard", "filter"}),
    "a state of another rank behind unbatch": (passed_below(batch.Unbatch), {"shard", "unbatch"}),
    "a state of another rank's buffer": (passed_below(shuffle_buffer.BufferShuffle), {"shard", "shuffle"}),
    "a state of another rank behind map": (passed_below(mapping.Map), {"shard", "map"}),
    "a state of another rank behind take": (passed_below(take.Limit), {"shard", "take", "filter"}),
    "repeat of an empty round": (ends_at_an_empty_round, EMPTY_ROUNDS),
    "repeat and concat of ranks that are uneven": (all_ranks_end_alike, UNEVEN_ROUNDS),
    "the end of a stream that ranks share": (the_end_of_a_stream_is_even, {"shard"}),
    "steps of ranks that are uneven": (ranks_keep_what_is_over, {"shard", "batch"}),
    "last steps of ranks": (last_steps_are_as_large_as_can_be, {"shard", "batch"}),
    "concat and mix of what differs": (others_join_anything, {"concat"}),
    "ranks of which one was ahead": (holes_are_forgotten, {"shard", "batch"}),
    "a cache of another stream": (caches_know_streams_by_their_features, {"cache"}),
    "enumerate behind a state": (numbers_begin_anew, {"enumerate"}),
    "cache in another epoch": (caches_go_with_the_epoch, {"cache", "shuffle"}),
    "repeat without epochs": (epochs_are_all_the_same, {"repeat", "shuffle"}),
    "a loader that went on": (workers_count_from_the_front, {"source"}),
    "the rows of a rank, saved": (rows_of_ranks_are_shared_anew, ROWS_OF_A_RANK),
}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    return Search(tmp_path_factory.mktemp("pipelines"))


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_that_was_is_found(search: Search, defect: str, monkeypatch: Patch) -> None:
    put_back, where = DEFECTS[defect]
    put_back(monkeypatch)
    if isinstance(where, Plan):
        assert search.wrong(where, SEED) is not None
    else:
        assert search.finds(SEED, where, MOST_PLANS), "nothing was found"
