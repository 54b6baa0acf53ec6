"""What all tests share."""

from __future__ import annotations

import doctest
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings

import tfreel
from tfreel import Dataset

import counting
from numbered import write_numbered

if TYPE_CHECKING:
    from pathlib import Path

# What lands is tested with the inputs that its author saw. `make fuzz` looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("new", derandomize=False)
settings.load_profile("same")

# Whoever runs the tests in the background (`nohup`, `&` in a script, some CI runners) has these ignored,
# and so would have every program that the tests start, interrupt and wait for.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


# Examples are written for NumPy 2. NumPy 1 shows a number of its own, np.int64(1), as one of Python.
if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    check_output = doctest.OutputChecker.check_output

    def check_for_numpy_1(checker: doctest.OutputChecker, want: str, got: str, flags: int) -> bool:
        return check_output(checker, re.sub(r"np\.\w+\((.*?)\)", r"\1", want), got, flags)

    doctest.OutputChecker.check_output = check_for_numpy_1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the processes that share the tests have counted."""
    for what, times in getattr(node, "workeroutput", {}).get("counted", {}).items():
        counting.count(what, times)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tells the process that adds up, if there is one."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["counted"] = counting.counted()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how often hostile tests did what they do."""
    if lines := counting.summary():
        terminalreporter.section("hostile tests")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in a directory of its own, and keeps caches there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TFREEL_CACHE_DIR", os.fspath(tmp_path / ".cache"))


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The files of a small set of numbered rows."""
    return write_numbered(tmp_path_factory.mktemp("numbered"))


@pytest.fixture(scope="session")
def ds(path: str) -> Dataset:
    """These rows as a dataset."""
    return Dataset(path)


@pytest.fixture(scope="session")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file that takes very long to read."""
    folder = tmp_path_factory.mktemp("endless")
    with tfreel.Writer(folder / "member.gz", level=9) as out:
        out.write_many([bytes(1 << 20)] * 64)
    path = folder / "endless.tfrecord.gz"
    path.write_bytes((folder / "member.gz").read_bytes() * 500)
    return path
