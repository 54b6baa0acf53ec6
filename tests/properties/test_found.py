"""Pipelines that once lost, repeated or mixed up elements, or failed without need: every law holds."""

from __future__ import annotations

import pytest

from properties import verbs
from properties.plans import chain, several
from properties.search import Search
from properties.verbs import SHARD, SOURCE

BATCH, UNBATCH, MAP, FILTER, REPEAT = (
    verbs.Batch(),
    verbs.Unbatch(),
    verbs.Map(),
    verbs.Filter(),
    verbs.Repeat(),
)
BUFFER, CONCAT, MIX, CACHE, ZIP = (
    verbs.ShuffleBuffer(),
    verbs.Concat(),
    verbs.Mix(),
    verbs.Cache(),
    verbs.Zip(),
)
TAKE, SKIP, SHUFFLE, PREFETCH = verbs.Take(), verbs.Skip(), verbs.Shuffle(), verbs.Prefetch()

HERE = (0, False, True, True)  # a map that is called here
IN_WORKERS = (2, False, True, False)  # as results come


PLAIN, MORE = (SOURCE, "plain", "rows"), (SOURCE, "several", "rows")
DAMAGED, STREAM, OTHER_STREAM = (
    (SOURCE, "damaged", "rows"),
    (SOURCE, "several", "stream"),
    (SOURCE, "gzip", "stream"),
)
PAIRS, MINE = (BATCH, 2, False, None), (SHARD, 0, 2, None)

FOUND = {
    "concat of batches": several(CONCAT, chain(PLAIN, PAIRS), chain(MORE, PAIRS)),
    "mix of batches": several(MIX, chain(PLAIN, PAIRS), chain(MORE, PAIRS), args=(0, (1, 1))),
    "concat of batches and rows": several(CONCAT, chain(PLAIN, PAIRS), chain(MORE)),
    "filter of a rank": chain(MORE, MINE, (FILTER, "keep_some")),
    "batches of a filter of a rank": chain(MORE, MINE, (FILTER, "keep_some"), PAIRS),
    "rows of batches of a rank": chain(MORE, MINE, PAIRS, (MAP, *HERE), (UNBATCH,)),
    "rows of a rank's batches": chain(MORE, PAIRS, MINE, (UNBATCH,)),
    "uneven batches, repeated": chain(PLAIN, MINE, PAIRS, (REPEAT, 3)),
    "uneven ranks, repeated": chain(PLAIN, MINE, (REPEAT, 3)),
    "uneven ranks, joined": several(
        CONCAT, chain(PLAIN, MINE, (MAP, *HERE)), chain(DAMAGED, MINE, (MAP, *HERE))
    ),
    "uneven ranks, mixed": several(
        MIX, chain(PLAIN, MINE, (MAP, *HERE)), chain(DAMAGED, MINE, (MAP, *HERE)), args=(1, (1, 2))
    ),
    "workers of a rank, as they come": chain(MORE, MINE, (MAP, *IN_WORKERS)),
    "a buffer of a rank": chain(MORE, MINE, (BUFFER, ("seed", 1), ("buffer", 3))),
    "repeated batches of a shuffle": chain(MORE, (SHUFFLE, ("seed", 1)), PAIRS, (REPEAT, 2)),
    "repeated batches of a map": chain(MORE, (MAP, *HERE), PAIRS, (REPEAT, 2)),
    "batches of a filter": chain(MORE, (FILTER, "keep_some"), PAIRS),
    "batches of a buffer": chain(MORE, (BUFFER, ("seed", 1), ("buffer", 3)), PAIRS),
    "rounds of which some are empty": chain(
        MORE, (SHUFFLE, ("seed", 2)), (TAKE, 1), (FILTER, "keep_few"), (REPEAT, 12)
    ),
    "concat with what is damaged": several(CONCAT, chain(PLAIN), chain(DAMAGED)),
    "mix with what is damaged": several(MIX, chain(PLAIN), chain(DAMAGED), args=(0, (1, 1))),
    "a cache of a stream": chain(STREAM, (CACHE, True)),
    "a cache of another stream": chain(OTHER_STREAM, (CACHE, True)),
    "a cache of a rank": chain(MORE, (SHARD, 0, 2, "balance"), (CACHE, False)),
    "batches of a rank without an end": chain(MORE, (REPEAT, None), MINE, PAIRS),
    "a buffer of a rank of a stream, joined": several(
        CONCAT,
        chain(STREAM, (SHARD, 0, 2, "drop"), (BUFFER, ("seed", 3), ("buffer", 5)), (BATCH, 1, False, None)),
        chain(PLAIN, MINE, (BATCH, 1, False, None)),
    ),
    "joined, and ended by some": several(
        CONCAT, chain(PLAIN, (SHARD, 0, 1, "pad")), chain(DAMAGED, (SHARD, 0, 1, "pad"))
    ),
    "batches of mixed ranks of streams": several(
        BATCH,
        several(
            MIX,
            chain(STREAM, (SHARD, 0, 4, "keep")),
            chain((SOURCE, "one", "stream"), (SHARD, 0, 4, "keep")),
            args=(0, (1, 1)),
        ),
        args=(2, False, None),
    ),
    "what ranks leave out, repeated": chain(MORE, MINE, (SKIP, 1), (REPEAT, 2)),
    "what ranks balance, saved": chain(PLAIN, (SHARD, 1, 3, "balance")),
    "ahead of the batches of a rank": chain(PLAIN, MINE, (PREFETCH, 2), PAIRS),
    "side by side of ranks": several(ZIP, chain(PLAIN, MINE), chain(PLAIN, MINE, (MAP, *HERE))),
}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    return Search(tmp_path_factory.mktemp("pipelines"))


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_right(search: Search, name: str) -> None:
    for seed in range(2):
        assert search.wrong(FOUND[name], seed) is None, FOUND[name]
