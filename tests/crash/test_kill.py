"""Killed at any moment: names are absent or complete, what was synced can be saved, and a rerun succeeds.

The tests run this file as a program of its own, with `failing_calls.c` preloaded. It forks a child for every
system call that a writer makes, which is killed after that call or half-way through it. The tests look at
what is left.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import write_file
from counting import count

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and /proc are Linux's")

OLD = [b"old %d" % i for i in range(9)]
NEW = [b"%d " % i * (15_000 if i == 12 else i) for i in range(20)]
SYNC_EVERY = 10
DEATHS = (("any", "kill-after"), ("write,writev", "kill-half"))  # before a call is after the one before it
NUMPY_HAS_THREADS = ("-W", "ignore:This process:DeprecationWarning")  # of which Python 3.12 warns at a fork
CLOSED = len(NEW) + 1  # what the child says when close has returned


@dataclass(frozen=True)
class Scenario:
    """One way to write a file or a set."""

    name: str
    mode: str = "x"
    options: tuple[tuple[str, int], ...] = ()  # of a set of shards

    def prepare(self, directory: Path) -> None:
        """What is there before: an old file, an old set, or nothing."""
        directory.mkdir(parents=True)
        if self.options and self.mode == "w":
            with tfreel.ShardedWriter(directory / self.name, shards=3, durable=False) as out:
                out.write_many(OLD)
        elif self.mode != "x":
            write_file(directory / self.name, OLD, "gzip" if self.name.endswith(".gz") else "none")

    def open(self, directory: Path, mode: str | None = None) -> tfreel.Writer | tfreel.ShardedWriter:
        if self.options:
            return tfreel.ShardedWriter(directory / self.name, mode=mode or self.mode, **dict(self.options))
        return tfreel.Writer(directory / self.name, mode=mode or self.mode)


SCENARIOS = {
    "new": Scenario("a.tfrecord"),
    "new-gzip": Scenario("a.tfrecord.gz"),
    "new-zlib": Scenario("a.tfrecord.zlib"),
    "replace": Scenario("a.tfrecord", "w"),
    "append": Scenario("a.tfrecord", "a"),
    "append-gzip": Scenario("a.tfrecord.gz", "a"),
    "shards": Scenario("a.tfrecord", "x", (("shards", 3),)),
    "shards-in-turn": Scenario("a.tfrecord.gz", "x", (("max_records", 8),)),
    "shards-replaced": Scenario("a.tfrecord", "w", (("shards", 3),)),
    "shards-fewer": Scenario("a.tfrecord", "w", (("shards", 2),)),
}
FILES = [name for name, plan in SCENARIOS.items() if not plan.options and plan.mode != "a"]
APPENDS = [name for name, plan in SCENARIOS.items() if plan.mode == "a"]
SETS = [name for name, plan in SCENARIOS.items() if plan.options]


# The program ------------------------------------------------------------------------------------------------


def write_all(out: tfreel.Writer | tfreel.ShardedWriter, progress: int) -> None:
    """Writes the records; says before every step how many are known to be on the disk."""
    for start in range(0, len(NEW), SYNC_EVERY):
        for record in NEW[start : start + 4]:
            out.write(record)
        out.flush()
        out.write_many(NEW[start + 4 : start + SYNC_EVERY])
        out.flush(sync=True)
        os.pwrite(progress, bytes([start + SYNC_EVERY]), 0)
    out.close()
    os.pwrite(progress, bytes([CLOSED]), 0)


def child(scenario: Scenario, directory: Path, progress: int, settings: dict[str, object]) -> None:
    os.environ.update({f"FAIL_{name.upper()}": str(value) for name, value in settings.items()})
    os.environ["FAIL_UNDER"] = str(directory)
    ctypes.CDLL(None).failing_calls_reload()
    write_all(scenario.open(directory), progress)


def sweep(scenario: Scenario, base: Path, call: str, how: str) -> Iterator[dict[str, Any]]:
    """Children that die at their first such call, at the second one, and so on until one survives."""
    status, number = -1, 0
    while status:
        number += 1
        directory = base / f"{how}-{number}"
        scenario.prepare(directory)
        progress = os.open(base / f"progress-{how}-{number}", os.O_RDWR | os.O_CREAT)
        process = os.fork()
        if not process:
            try:
                child(scenario, directory, progress, {"call": call, "at": number, "how": how})
            except BaseException:  # noqa: BLE001 - a child must not return into its parent's loop
                os._exit(99)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status not in (0, -signal.SIGKILL):
            raise RuntimeError(f"a child of {how} {number} ended with {status}")
        synced = int.from_bytes(os.pread(progress, 1, 0), "little")
        os.close(progress)
        yield {
            "how": how,
            "at": number,
            "killed": bool(status),
            "synced": synced,
            "directory": str(directory),
        }


def main() -> None:
    scenario, base = SCENARIOS[sys.argv[1]], Path(sys.argv[2])
    json.dump([outcome for call, how in DEATHS for outcome in sweep(scenario, base, call, how)], sys.stdout)


# Running it -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`failing_calls.c`, compiled."""
    library = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang", "g++"))))
    source = Path(__file__).with_name("failing_calls.c")
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-O1", "-Wall", "-o", library, source, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed")


@functools.cache
def _swept(shim: Path, base: Path, scenario: str) -> list[dict[str, Any]]:
    own = Path(tempfile.mkdtemp(dir=base))
    environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-W", "error", *NUMPY_HAS_THREADS, __file__, scenario, own],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = json.loads(done.stdout)
    count("processes killed at a system call", sum(outcome["killed"] for outcome in outcomes))
    return [{**outcome, "directory": Path(outcome["directory"])} for outcome in outcomes]


@pytest.fixture
def deaths(shim: Path, base: Path, scenario: str) -> list[dict[str, Any]]:
    """What every death left behind: to look at, not to touch."""
    return _swept(shim, base, scenario)


@pytest.fixture
def own_deaths(deaths: list[dict[str, Any]], tmp_path: Path) -> list[dict[str, Any]]:
    """What every death left behind, in a copy of one's own."""
    copies = [tmp_path / outcome["directory"].name for outcome in deaths]
    for outcome, copy in zip(deaths, copies, strict=True):
        shutil.copytree(outcome["directory"], copy)
    return [{**outcome, "directory": copy} for outcome, copy in zip(deaths, copies, strict=True)]


def read_or_error(path: Path) -> list[bytes] | None:
    """All records in order, or None if this does not pass for complete."""
    try:
        return list(tfreel.read(path))
    except (OSError, tfreel.TfreelError):
        return None


def temporaries(directory: Path) -> list[Path]:
    return [path for path in directory.glob(".a*.tmp") if "manifest" not in path.name]


def salvaged(path: Path, directory: Path) -> list[bytes]:
    """What `repair` saves; the mode for torn tails must find the same."""
    sound = directory / "sound.tfrecord"
    tfreel.repair(path, sound, mode="w", durable=False)
    records = list(tfreel.read(sound))
    assert list(tfreel.read(path, on_corrupt="tail")) == records
    return records


# Single files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_sweep_kills_at_every_kind_of_place(deaths: list[dict[str, Any]], scenario: str) -> None:
    for _, how in DEATHS:
        found = [outcome for outcome in deaths if outcome["how"] == how]
        assert [outcome["killed"] for outcome in found] == [True] * (len(found) - 1) + [False]
        assert len(found) > 3
        assert found[-1]["synced"] == CLOSED
    assert {outcome["synced"] for outcome in deaths} == {0, 10, 20, CLOSED}


@pytest.mark.parametrize("scenario", FILES)
def test_the_name_is_absent_or_complete(deaths: list[dict[str, Any]], scenario: str) -> None:
    plan = SCENARIOS[scenario]
    seen = set()
    for outcome in deaths:
        path = outcome["directory"] / plan.name
        if not path.exists():
            assert plan.mode == "x", outcome
            assert outcome["synced"] != CLOSED, outcome
            seen.add("absent")
            continue
        records = list(tfreel.read(path))
        if outcome["synced"] == CLOSED or plan.mode == "x":
            assert records == NEW, outcome
        assert records in (OLD, NEW), outcome
        seen.add("complete" if records == NEW else "old")
    assert seen == {"complete", "absent" if plan.mode == "x" else "old"}


@pytest.mark.parametrize("scenario", FILES)
def test_what_was_synced_can_be_saved_from_the_temporary(
    deaths: list[dict[str, Any]], scenario: str, tmp_path: Path
) -> None:
    saved_more = 0
    for outcome in deaths:
        left = temporaries(outcome["directory"])
        if read_or_error(outcome["directory"] / SCENARIOS[scenario].name) == NEW:
            continue
        assert len(left) == (outcome["synced"] > 0 or len(left)), outcome
        for temporary in left:
            records = salvaged(temporary, tmp_path)
            assert len(records) >= outcome["synced"], outcome
            assert records == NEW[: len(records)], outcome
            saved_more += len(records) > outcome["synced"]
    assert saved_more  # also some of what was written, but not synced


@pytest.mark.parametrize("scenario", FILES)
def test_a_rerun_succeeds(own_deaths: list[dict[str, Any]], scenario: str) -> None:
    plan = SCENARIOS[scenario]
    for outcome in own_deaths:
        path = outcome["directory"] / plan.name
        if plan.mode == "x" and path.exists():
            with pytest.raises(FileExistsError):
                plan.open(outcome["directory"])
            continue
        with tfreel.Writer(path, mode=plan.mode, durable=False) as out:
            out.write_many(NEW)
        assert list(tfreel.read(path)) == NEW


@pytest.mark.parametrize("scenario", APPENDS)
def test_an_append_keeps_the_old_records_and_what_was_synced(
    deaths: list[dict[str, Any]], scenario: str
) -> None:
    torn = 0
    for outcome in deaths:
        path = outcome["directory"] / SCENARIOS[scenario].name
        reader = tfreel.read(path, on_corrupt="tail")
        records = list(reader)
        assert records[: len(OLD)] == OLD, outcome
        added = records[len(OLD) :]
        assert added == NEW[: len(added)], outcome
        assert len(added) >= min(outcome["synced"], len(NEW)), outcome
        torn += not reader.report.ok
    assert torn


def _opened_to_append(path: Path) -> tuple[Path, tfreel.Writer, str | None]:
    """The file or, where that is refused, a repaired copy of it; and why it was refused."""
    try:
        return path, tfreel.Writer(path, mode="a", durable=False), None
    except tfreel.CorruptError as error:
        sound = path.with_name(f"sound-{path.name}")
        tfreel.repair(path, sound, durable=False)
        return sound, tfreel.Writer(sound, mode="a", durable=False), str(error)


@pytest.mark.parametrize("scenario", APPENDS)
def test_the_next_append_is_behind_whole_records_or_refused(
    own_deaths: list[dict[str, Any]], scenario: str
) -> None:
    refused = 0
    for outcome in own_deaths:
        path = outcome["directory"] / SCENARIOS[scenario].name
        before = path.read_bytes()
        found = list(tfreel.read(path, on_corrupt="tail"))
        grown, out, refusal = _opened_to_append(path)
        with out:
            out.write(b"more")
        assert list(tfreel.read(grown)) == [*found, b"more"], outcome
        if refusal is not None:
            refused += 1
            assert "tfreel.repair" in refusal, outcome
            assert path.read_bytes() == before
    assert refused


# Sets -------------------------------------------------------------------------------------------------------


def _patterns(plan: Scenario) -> list[str]:
    suffix = plan.name[1:]
    return [plan.name, f"a-*{suffix}", f"a@2{suffix}", f"a@3{suffix}"]


def _in_order(records: list[bytes] | None) -> list[bytes] | None:
    return None if records is None else sorted(records)


@pytest.mark.parametrize("scenario", SETS)
def test_no_half_set_passes_for_complete(deaths: list[dict[str, Any]], scenario: str) -> None:
    plan = SCENARIOS[scenario]
    seen = set()
    for outcome in deaths:
        for pattern in _patterns(plan):
            records = _in_order(read_or_error(outcome["directory"] / pattern))
            assert records in (None, sorted(OLD), sorted(NEW)), (pattern, outcome)
            if records == sorted(OLD):
                assert plan.mode == "w"
            seen.add(None if records is None else "old" if records == sorted(OLD) else "new")
        if outcome["synced"] == CLOSED:
            assert _in_order(read_or_error(outcome["directory"] / plan.name)) == sorted(NEW), outcome
    assert seen == ({None, "new", "old"} if plan.mode == "w" else {None, "new"})


@pytest.mark.parametrize("scenario", SETS)
def test_a_set_with_a_manifest_is_whole_by_every_name(deaths: list[dict[str, Any]], scenario: str) -> None:
    plan = SCENARIOS[scenario]
    for outcome in deaths:
        directory = outcome["directory"]
        if (directory / f"{plan.name}.manifest.json").exists():
            found = _in_order(read_or_error(directory / plan.name))
            assert found in (sorted(OLD), sorted(NEW)), outcome
            assert _in_order(read_or_error(directory / _patterns(plan)[1])) == found, outcome


@pytest.mark.parametrize("scenario", SETS)
def test_what_was_synced_can_be_saved_from_the_files_of_a_set(
    deaths: list[dict[str, Any]], scenario: str, tmp_path: Path
) -> None:
    for outcome in deaths:
        directory = outcome["directory"]
        shards = [path for path in directory.glob("a-*") if not path.name.endswith(".json")]
        saved = {record for path in [*temporaries(directory), *shards] for record in salvaged(path, tmp_path)}
        assert saved <= {*NEW, *OLD}, outcome
        assert saved >= set(NEW[: outcome["synced"]]), outcome


@pytest.mark.parametrize("scenario", SETS)
def test_a_rerun_of_a_set_leaves_exactly_the_new_one(own_deaths: list[dict[str, Any]], scenario: str) -> None:
    plan = SCENARIOS[scenario]
    for outcome in own_deaths:
        directory = outcome["directory"]
        visible = [name for name in os.listdir(directory) if not name.startswith(".")]
        if plan.mode == "x" and visible:
            with pytest.raises(FileExistsError, match=r'mode="w" replaces it'):
                plan.open(directory)
        mode = "w" if visible else plan.mode
        with tfreel.ShardedWriter(
            directory / plan.name, mode=mode, durable=False, **dict(plan.options)
        ) as out:
            out.write_many(NEW)
        for pattern in _patterns(plan)[:2]:
            assert _in_order(read_or_error(directory / pattern)) == sorted(NEW), (pattern, outcome)


# At no chosen place -----------------------------------------------------------------------------------------

ENDLESS = """
import os, sys, tfreel
out = tfreel.Writer(sys.argv[1])
i = 0
while True:
    out.write(b"%d " % i * 50)
    i += 1
    if i % 100 == 0:
        out.flush(sync=i % 500 == 0)
        if i % 500 == 0:
            os.write(1, b"%d\\n" % i)
"""


@pytest.mark.parametrize("suffix", [".tfrecord", ".tfrecord.gz"])
@pytest.mark.parametrize("seed", range(3))
def test_a_kill_at_any_time_loses_nothing_that_was_synced(tmp_path: Path, suffix: str, seed: int) -> None:
    path = tmp_path / f"a{suffix}"
    with subprocess.Popen([sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE) as process:
        synced = int(process.stdout.readline())
        time.sleep(random.Random(seed).uniform(0, 0.1))  # the moment does not matter, only that it varies
        process.kill()
        synced = max([synced, *(int(line) for line in process.stdout.read().split(b"\n")[:-1])])
    assert not path.exists()
    (temporary,) = temporaries(tmp_path)
    records = salvaged(temporary, tmp_path)
    assert len(records) >= synced
    assert records == [b"%d " % i * 50 for i in range(len(records))]
    with tfreel.Writer(path) as out:
        out.write_many(records)
    assert list(tfreel.read(path)) == records


if __name__ == "__main__":
    main()
