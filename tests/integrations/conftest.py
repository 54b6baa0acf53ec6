"""What tests with a browser or a cluster share. Nothing is imported before one of them runs."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from s3_server import Requests

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
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of its own, with two workers, of which each task may fail once."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.fail("Spark needs Java 17 or newer: make system, or apt-get install default-jre-headless")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYTHONWARNINGS", "ignore")  # of the workers: Spark and pandas are not at peace
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        settings = {
            "spark.driver.memory": "1g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.sql.python.filterPushdown.enabled": "true",
        }
        builder = SparkSession.builder.master("local[2,2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
        # The machine that Java runs on outlives its session, and must not outlive the tests.
        context = type(session.sparkContext)
        gateway = context._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(30)
        context._gateway = context._jvm = None  # or the next session would look for it
    patch.undo()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Requests]]:
    """An S3 on this machine: its address, and what it is asked."""
    from s3_server import s3_server

    with s3_server() as found:
        yield found


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
