"""What tests with a browser or a cluster share. Nothing is imported before one of them runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tfreel

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from browsing import Guest, Visit


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Ray on this machine, with two workers: its address."""
    import ray

    context = ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        logging_level="ERROR",
        # Where they find what tests have them do.
        runtime_env={"env_vars": {"PYTHONPATH": os.path.dirname(os.path.dirname(__file__))}},
    )
    yield context.address_info["address"]
    ray.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium. Not for the whole session: its event loop is in the way of tests that have their own."""
    from browsing import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def viewers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tfreel.Viewer]]:
    """The viewer of an exhibit, which is made when somebody wants to see it."""
    import exhibits

    known: dict[str, tfreel.Viewer] = {}

    def viewer(name: str) -> tfreel.Viewer:
        if name not in known:
            known[name] = tfreel.view(getattr(exhibits, name)(tmp_path_factory.mktemp(name)))
        return known[name]

    yield viewer
    for one in known.values():
        one.stop()


@pytest.fixture
def visit(browser: Browser, viewers: Callable[[str], tfreel.Viewer], tmp_path: Path) -> Iterator[Visit]:
    """Visits of exhibits. At the end of each a picture is taken, and nothing may have gone wrong."""
    from browsing import Guest

    guests: list[Guest] = []

    def visit(name: str, view: str = "", **options: object) -> Guest:
        guests.append(Guest(browser, viewers(name), **options))
        return guests[-1].enter(view)

    yield visit
    for guest in guests:
        guest.photograph(tmp_path)
        guest.context.close()
        assert guest.problems == []
