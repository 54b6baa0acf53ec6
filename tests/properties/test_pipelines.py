"""Thousands of pipelines by chance are what plain lists say, in every state and for all ranks."""

from __future__ import annotations

import pytest

from properties.search import Search

SEED = 20
CHUNKS = 10
PLANS = 320  # of each chunk


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    return Search(tmp_path_factory.mktemp("pipelines"))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_pipeline_is_what_plain_lists_say(search: Search, chunk: int) -> None:
    search.shared = search.refused = 0
    wrong = [search.failure(SEED, number) for number in range(chunk * PLANS, (chunk + 1) * PLANS)]
    found = [each for each in wrong if each is not None]
    assert not found, f"{len(found)} pipelines are wrong; the first:\n{found[0]}"
    assert search.shared > PLANS / 2
    assert search.refused * 10 <= search.shared  # or states of ranks would be good for little
