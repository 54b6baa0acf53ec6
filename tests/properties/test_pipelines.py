"""Thousands of pipelines by chance are what plain lists say, in every state and for all ranks."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from properties.laws import taken
from properties.plans import code_of, generated, shared
from properties.search import Search
from properties.verbs import Env

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


def test_a_pipeline_prints_itself_as_the_program_that_builds_it(search: Search) -> None:
    rng = Random(1)
    for number in range(60):
        plan = (generated if number % 2 else shared)(rng, 5)
        if not plan.facts.refused:
            names: dict[str, Any] = {}
            exec(code_of(plan), names)
            built = plan.build(Env(search.sources, folder=str(search.folder)))
            assert words(names["ds"], names["folder"]) == words(built, str(search.folder))
            limit = 20 if plan.facts.endless else None
            if plan.facts.ordered:
                assert taken(names["ds"], plan, limit) == plan.values(limit=limit)


def words(ds: Any, folder: str) -> str:
    return repr(ds).replace(folder, "")
