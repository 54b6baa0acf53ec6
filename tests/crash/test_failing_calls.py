"""Every system call a writer makes fails once: the error is told, it stays, and no half file gets a name.

The tests run this file as a program of its own, with `failing_calls.c` preloaded, which lets the calls fail.
The program writes down what came of it; the tests look at that, and at the files.
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import frames, write_file
from counting import count

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and /proc are Linux's")

OLD = [b"old %d" % i for i in range(9)]
NEW = [b"one", b"", b"large" * 60_000, b"two", bytes(range(256)) * 200, b"three", b"four" * 9_000, b"five"]
ERRORS = {
    "write": ("ENOSPC", "EDQUOT", "EFBIG", "EIO"),
    "writev": ("ENOSPC", "EDQUOT", "EFBIG", "EIO"),
    "fsync": ("EIO", "ENOSPC", "EDQUOT"),
    "close": ("EIO", "ENOSPC", "EDQUOT"),
    "link": ("EIO", "ENOSPC", "EDQUOT"),
    "rename": ("EIO", "ENOSPC", "EDQUOT"),
    "open": ("EIO", "ENOSPC", "EMFILE"),
    "unlink": ("EIO",),
}


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

    def open(self, directory: Path) -> tfreel.Writer | tfreel.ShardedWriter:
        if self.options:
            return tfreel.ShardedWriter(directory / self.name, mode=self.mode, **dict(self.options))
        return tfreel.Writer(directory / self.name, mode=self.mode)


SCENARIOS = {
    "new": Scenario("a.tfrecord"),
    "new-gzip": Scenario("a.tfrecord.gz"),
    "new-zlib": Scenario("a.tfrecord.zlib"),
    "replace": Scenario("a.tfrecord", "w"),
    "replace-gzip": Scenario("a.tfrecord.gz", "w"),
    "append": Scenario("a.tfrecord", "a"),
    "append-gzip": Scenario("a.tfrecord.gz", "a"),
    "shards": Scenario("a.tfrecord", "x", (("shards", 2),)),
    "shards-in-turn": Scenario("a.tfrecord.gz", "x", (("max_records", 3),)),
    "shards-replaced": Scenario("a.tfrecord", "w", (("shards", 2),)),
}


# The program ------------------------------------------------------------------------------------------------


def arm(**settings: object) -> None:
    """Tells the preloaded library what shall happen from here on."""
    for name in ("UNDER", "CALL", "AT", "TIMES", "HOW", "LOG"):
        os.environ.pop(f"FAIL_{name}", None)
    os.environ.update({f"FAIL_{name.upper()}": str(value) for name, value in settings.items()})
    ctypes.CDLL(None).failing_calls_reload()


def counted() -> int:
    return ctypes.CDLL(None).failing_calls_counted()


def told(error: BaseException | None) -> dict[str, Any] | None:
    if error is None:
        return None
    name = getattr(error, "filename", None)
    return {"type": type(error).__name__, "errno": getattr(error, "errno", None), "path": name}


def attempt(call: Any, *arguments: Any, **options: Any) -> dict[str, Any] | None:
    try:
        call(*arguments, **options)
    except BaseException as error:  # noqa: BLE001 - it is what we came to see
        return told(error)
    return None


def write_all(out: tfreel.Writer | tfreel.ShardedWriter) -> None:
    out.write(NEW[0])
    out.write(NEW[1])
    out.flush()
    out.write(NEW[2])
    out.write(NEW[3])
    out.flush(sync=True)
    out.write_many(NEW[4:6])
    out.flush()
    out.write_many(NEW[6:])


def use(
    scenario: Scenario, directory: Path, settings: dict[str, object], end: str = "close"
) -> dict[str, Any]:
    """Writes a file while calls fail, then tries to go on with the same writer while none does."""
    scenario.prepare(directory)
    log = f"{directory}.log"
    arm(under=directory, log=log, **settings)
    writer = None
    stage = "open"
    error: BaseException | None = None
    try:
        writer = scenario.open(directory)
        stage = "write"
        write_all(writer)
        stage = end
        getattr(writer, end)()
    except BaseException as caught:  # noqa: BLE001 - it is what we came to see
        error = caught
    count = counted()
    arm(under=directory, log=log)
    later = {}
    if writer is not None:
        later = {
            "write": attempt(writer.write, b"more"),
            "write_many": attempt(writer.write_many, [b"more"]),
            "flush": attempt(writer.flush),
            "sync": attempt(writer.flush, sync=True),
            "close": attempt(writer.close),
            "abort": attempt(writer.abort),
            "close after abort": attempt(writer.close),
        }
    arm()
    return {"counted": count, "stage": stage, "error": told(error), "later": later, "log": log,
            "directory": str(directory)}  # fmt: skip


def sweep(
    scenario: Scenario, base: Path, call: str, how: object, end: str, times: int
) -> Iterator[dict[str, Any]]:
    """The first such call fails, then the second one, and so on until there are no more."""
    number = 0
    while True:
        number += 1
        directory = base / f"{call}-{how}-{times}-{number}"
        settings = {"call": call, "at": number, "how": how, "times": times}
        outcome = use(scenario, directory, settings, end)
        yield {"call": call, "how": how, "at": number, **outcome}
        if outcome["counted"] < number:
            return


def main() -> None:
    """Answers requests, one a line, until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        scenario = SCENARIOS[request["scenario"]]
        base = Path(request["base"])
        found = [
            outcome
            for call, how in request["faults"]
            for outcome in sweep(scenario, base, call, how, request["end"], request["times"])
        ]
        print(json.dumps(found), flush=True)


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


class Program:
    """The program above, running, with the library preloaded."""

    def __init__(self, process: subprocess.Popen[str], base: Path) -> None:
        self._process = process
        self._base = base
        self._answers: dict[str, list[dict[str, Any]]] = {}

    def outcomes(
        self, scenario: str, faults: tuple[tuple[str, object], ...], end: str = "close", times: int = 1
    ) -> list[dict[str, Any]]:
        """What came of every fault at every place."""
        request = {"scenario": scenario, "faults": faults, "end": end, "times": times}
        key = json.dumps(request)
        if key not in self._answers:
            request["base"] = tempfile.mkdtemp(dir=self._base)
            print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
            assert (self._base / "stderr").read_text() == ""  # not even an exception that nobody could catch
            self._answers[key] = json.loads(answer)
            count("system calls that failed, stopped short or were interrupted", len(self._answers[key]))
        return self._answers[key]

    def failures(self, scenario: str, call: str) -> list[dict[str, Any]]:
        found = self.outcomes(scenario, ALL_FAULTS)
        return [
            outcome for outcome in found if outcome["call"] == call and outcome["counted"] >= outcome["at"]
        ]


@pytest.fixture(scope="module")
def program(shim: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    base = tmp_path_factory.mktemp("failing")
    environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": str(Path(__file__).parents[1])}
    with (
        open(base / "stderr", "wb") as stderr,
        subprocess.Popen(
            [sys.executable, "-W", "error", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
        ) as process,
    ):
        yield Program(process, base)


def calls_of(outcome: dict[str, Any]) -> list[tuple[str, str, int]]:
    """The calls that were made, in order: name, file, errno."""
    lines = Path(outcome["log"]).read_text().splitlines()
    return [(line.split()[0], line.split()[1], int(line.split()[-1])) for line in lines]


def read_or_error(path: Path) -> list[bytes] | None:
    """All records, or None if this does not pass for complete."""
    try:
        return sorted(tfreel.read(path))
    except (OSError, tfreel.TfreelError):
        return None


ALL_FAULTS = tuple((call, getattr(errno, name)) for call, names in ERRORS.items() for name in names)


def used_calls(scenario: str) -> list[str]:
    """The calls without which this scenario could not be what it is."""
    plan = SCENARIOS[scenario]
    calls = ["write" if plan.name.endswith(("gz", "zlib")) else "writev", "fsync", "close", "open"]
    if plan.mode != "a":
        calls.append("link" if plan.mode == "x" else "rename")
    return calls


EVERYTHING = [(scenario, call) for scenario in SCENARIOS for call in used_calls(scenario)]


# Failures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_sweep_reaches_every_call_and_ends_in_success(program: Program, scenario: str) -> None:
    found = program.outcomes(scenario, ALL_FAULTS)
    for call in ERRORS:
        ends = [outcome for outcome in found if outcome["call"] == call][-1]
        assert ends["error"] is None, call
    for call in used_calls(scenario):
        assert program.failures(scenario, call), call


@pytest.mark.parametrize(("scenario", "call"), EVERYTHING)
def test_the_first_failure_is_raised_with_path_and_errno(program: Program, scenario: str, call: str) -> None:
    raised = 0
    for outcome in program.failures(scenario, call):
        error = outcome["error"]
        if (
            error is None
        ):  # a look at somebody else's leftover may fail without harm, but then all must be there
            assert call in ("open", "close")
            assert read_or_error(Path(outcome["directory"], SCENARIOS[scenario].name)) is not None
            continue
        raised += 1
        assert error["errno"] == outcome["how"], outcome
        assert error["path"] is not None, outcome
        assert error["path"].startswith(outcome["directory"]), outcome
    assert raised


@pytest.mark.parametrize(("scenario", "call"), EVERYTHING)
def test_a_failure_stays(program: Program, scenario: str, call: str) -> None:
    for outcome in program.failures(scenario, call):
        if outcome["error"] is None or outcome["stage"] == "open":
            continue
        for use_again in ("write", "write_many", "flush", "sync", "close", "close after abort"):
            assert outcome["later"][use_again] == outcome["error"], (use_again, outcome)
        assert outcome["later"]["abort"] is None


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_failed_fsync_is_not_tried_again(program: Program, scenario: str) -> None:
    """Linux forgets the pages that it could not write: a second fsync would report success."""
    for outcome in program.failures(scenario, "fsync"):
        synced = [(path, error) for call, path, error in calls_of(outcome) if call == "fsync"]
        failed = next(i for i, (_, error) in enumerate(synced) if error)
        assert synced[failed][0] not in [path for path, _ in synced[failed + 1 :]]


@pytest.mark.parametrize("call", ERRORS)
@pytest.mark.parametrize("scenario", [name for name, plan in SCENARIOS.items() if not plan.options])
def test_the_name_is_absent_or_has_the_old_content(program: Program, scenario: str, call: str) -> None:
    plan = SCENARIOS[scenario]
    for outcome in program.failures(scenario, call):
        if outcome["error"] is None:
            continue
        directory = Path(outcome["directory"])
        renamed = any(name == "rename" and not error for name, _, error in calls_of(outcome))
        if plan.mode == "x":
            assert os.listdir(directory) == [], outcome
        elif renamed:  # only the sync of the directory was left to do: there is no way back, and no half file
            assert read_or_error(directory / plan.name) == sorted(NEW), outcome
        else:
            assert read_or_error(directory / plan.name) == sorted(OLD), outcome
        assert set(os.listdir(directory)) <= {plan.name}, outcome


@pytest.mark.parametrize("scenario", [name for name, plan in SCENARIOS.items() if plan.mode == "a"])
def test_a_failed_append_is_cut_back_to_the_old_bytes(
    program: Program, scenario: str, tmp_path: Path
) -> None:
    plan = SCENARIOS[scenario]
    plan.prepare(tmp_path / "old")
    old = (tmp_path / "old" / plan.name).read_bytes()
    for call in ERRORS:
        for outcome in program.failures(scenario, call):
            if outcome["error"] is not None:
                assert Path(outcome["directory"], plan.name).read_bytes() == old, outcome


@pytest.mark.parametrize("call", ERRORS)
@pytest.mark.parametrize("scenario", [name for name, plan in SCENARIOS.items() if plan.options])
def test_no_half_set_passes_for_complete(program: Program, scenario: str, call: str) -> None:
    plan = SCENARIOS[scenario]
    for outcome in program.failures(scenario, call):
        directory = Path(outcome["directory"])
        if outcome["error"] is not None and plan.mode == "x":
            assert os.listdir(directory) == [], outcome
        assert not [name for name in os.listdir(directory) if name.endswith(".tmp")], outcome
        for pattern in (plan.name, "a-*", "a@2" + plan.name[1:], "a@3" + plan.name[1:]):
            assert read_or_error(directory / pattern) in (None, sorted(OLD), sorted(NEW)), (pattern, outcome)


# Cleaning up that fails -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", ["new", "new-gzip", "replace"])
def test_an_abort_that_cannot_remove_the_temporary_says_so(program: Program, scenario: str) -> None:
    first, *rest = program.outcomes(scenario, (("unlink", errno.EIO),), end="abort")
    assert (first["error"]["errno"], first["stage"]) == (errno.EIO, "abort")
    (leftover,) = (name for name in os.listdir(first["directory"]) if name.endswith(".tmp"))
    assert leftover in first["error"]["path"]
    assert first["later"]["close"] is None
    assert [outcome["error"] for outcome in rest] == [None]


@pytest.mark.parametrize("call", ["ftruncate", "close"])
def test_an_abort_that_cannot_cut_back_says_so(program: Program, call: str) -> None:
    found = program.outcomes("append", ((call, errno.EIO),), end="abort")
    aborted = [outcome for outcome in found if outcome["stage"] == "abort" and outcome["error"]]
    assert [outcome["error"]["errno"] for outcome in aborted] == [errno.EIO]
    assert aborted[0]["error"]["path"].endswith("a.tfrecord")
    found = list(tfreel.read(Path(aborted[0]["directory"], "a.tfrecord"), on_corrupt="tail"))
    assert found[: len(OLD)] == OLD


def test_the_first_failure_is_told_even_if_cutting_back_fails_too(program: Program) -> None:
    faults = (("writev,ftruncate", errno.ENOSPC),)
    for outcome in program.outcomes("append", faults, times=0)[:-1]:
        assert outcome["stage"] in ("write", "close")
        assert outcome["error"]["errno"] == errno.ENOSPC
        assert outcome["later"]["close"] == outcome["error"]
        found = list(tfreel.read(Path(outcome["directory"], "a.tfrecord"), on_corrupt="tail"))
        assert found[: len(OLD)] == OLD
        assert found[len(OLD) :] == NEW[: len(found) - len(OLD)]


def test_a_disk_that_stays_broken_raises_the_first_failure(program: Program) -> None:
    faults = tuple((calls, errno.EIO) for calls in ("writev,fsync,close,unlink", "fsync,close,link,unlink"))
    for outcome in program.outcomes("new", faults, times=0):
        path = Path(outcome["directory"], "a.tfrecord")
        if outcome["error"]:
            assert outcome["error"]["errno"] == errno.EIO
            # A name that was given and cannot be taken away again is at least not that of a half file.
            assert not path.exists() or path.read_bytes() == frames(NEW)


# What is no failure -----------------------------------------------------------------------------------------

HARMLESS = (
    *((call, how) for call in ("write", "writev") for how in ("short", errno.EINTR, errno.EAGAIN)),
    ("fsync", errno.EINTR),
    ("open", errno.EINTR),
)


@pytest.mark.parametrize(
    ("scenario", "times"), [*((name, 1) for name in SCENARIOS), ("new", 3), ("new-gzip", 3), ("append", 3)]
)
def test_short_and_interrupted_calls_leave_no_trace(program: Program, scenario: str, times: int) -> None:
    found = program.outcomes(scenario, HARMLESS, times=times)
    assert sum(outcome["counted"] >= outcome["at"] for outcome in found) > 10
    plain = None
    for outcome in found:
        assert outcome["error"] is None, outcome
        directory = Path(outcome["directory"])
        files = {path.name: path.read_bytes() for path in sorted(directory.iterdir())}
        plain = plain or files
        assert files == plain, outcome
    records = [*OLD, *NEW] if SCENARIOS[scenario].mode == "a" else NEW
    assert read_or_error(directory / SCENARIOS[scenario].name) == sorted(records)


@pytest.mark.parametrize("scenario", ["new", "new-gzip", "append", "shards"])
def test_a_system_that_always_takes_half_gets_everything(program: Program, scenario: str) -> None:
    first = program.outcomes(scenario, (("write", "short"), ("writev", "short")), times=0)[0]
    assert first["error"] is None
    records = [*OLD, *NEW] if SCENARIOS[scenario].mode == "a" else NEW
    assert read_or_error(Path(first["directory"], SCENARIOS[scenario].name)) == sorted(records)


@pytest.mark.parametrize("scenario", ["new", "new-gzip", "replace-gzip", "append", "append-gzip"])
def test_ctrl_c_inside_a_call_publishes_a_prefix_or_nothing(program: Program, scenario: str) -> None:
    """Even if somebody catches it and closes the writer as if nothing had happened."""
    plan = SCENARIOS[scenario]
    old = [] if plan.mode == "x" else OLD
    found = program.outcomes(
        scenario, (("write", "interrupt"), ("writev", "interrupt"), ("fsync", "interrupt"))
    )
    interrupted = [outcome for outcome in found if outcome["counted"] >= outcome["at"]]
    assert interrupted
    for outcome in interrupted:
        assert outcome["error"]["type"] == "KeyboardInterrupt", outcome
        directory = Path(outcome["directory"])
        assert set(os.listdir(directory)) <= {plan.name}
        left = list(tfreel.read(directory / plan.name)) if os.listdir(directory) else []
        renamed = any(name == "rename" and not error for name, _, error in calls_of(outcome))
        if outcome["later"]["close"] is not None:
            assert left == (NEW if renamed else old), outcome
            assert all(outcome["later"][again] for again in ("write", "write_many", "flush")), outcome
            continue
        kept = left[len(old) :] if plan.mode == "a" else left
        if outcome["later"]["write"] is None:  # not spoilt by the interruption: `use` went on with it
            assert kept[-2:] == [b"more", b"more"], outcome
            kept = kept[:-2]
        assert kept == NEW[: len(kept)], outcome


@pytest.mark.parametrize("name", ["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"])
def test_a_file_system_without_hard_links_will_do(program: Program, name: str) -> None:
    first, *_ = program.outcomes("new", (("link", getattr(errno, name)),), times=0)
    assert first["counted"] == 1
    assert first["error"] is None
    assert Path(first["directory"], "a.tfrecord").read_bytes() == frames(NEW)
    assert os.listdir(first["directory"]) == ["a.tfrecord"]


# The order of things ----------------------------------------------------------------------------------------


def _undisturbed(program: Program, scenario: str) -> list[tuple[str, str, int]]:
    *_, last = program.outcomes(scenario, (("unlink", errno.EIO),))
    assert last["error"] is None
    return calls_of(last)


@pytest.mark.parametrize("scenario", ["new", "new-gzip", "replace", "replace-gzip"])
def test_content_is_on_the_disk_before_the_name_and_the_name_before_the_end(
    program: Program, scenario: str
) -> None:
    calls = _undisturbed(program, scenario)
    names = [name for name, _, _ in calls]
    naming = "link" if SCENARIOS[scenario].mode == "x" else "rename"
    writing = "write" if "gzip" in scenario else "writev"
    last_write = max(i for i, name in enumerate(names) if name == writing)
    named = names.index(naming)
    synced = [i for i, name in enumerate(names) if name == "fsync"]
    directory = os.path.dirname(calls[named][1])
    assert any(last_write < i < named and calls[i][1] == calls[last_write][1] for i in synced)
    assert any(i > named and calls[i][1] == directory for i in synced)


def test_the_manifest_goes_first_and_comes_last(program: Program) -> None:
    calls = _undisturbed(program, "shards-replaced")
    removed = [path for name, path, _ in calls if name == "unlink"]
    named = [(i, path) for i, (name, path, _) in enumerate(calls) if name == "rename"]
    assert removed[0].endswith(".manifest.json")
    assert [os.path.basename(path) for _, path in named] == [
        "a-00000-of-00002.tfrecord",
        "a-00001-of-00002.tfrecord",
        "a.tfrecord.manifest.json",
    ]
    directory = os.path.dirname(removed[0])
    last_removed = max(i for i, (name, _, _) in enumerate(calls) if name == "unlink")
    synced = [i for i, (name, path, _) in enumerate(calls) if name == "fsync" and path == directory]
    manifest = next(path for name, path, _ in calls if name == "write")
    assert manifest.endswith(".tmp")
    assert any(name == "fsync" and path == manifest for name, path, _ in calls[: named[2][0]])
    assert any(last_removed < i < named[0][0] for i in synced)
    assert any(named[1][0] < i < named[2][0] for i in synced)
    assert any(i > named[2][0] for i in synced)


def _logged(shim: Path, directory: Path, script: str) -> list[tuple[str, str, int]]:
    directory.mkdir()
    log = f"{directory}.log"
    environment = {**os.environ, "LD_PRELOAD": str(shim), "FAIL_UNDER": str(directory), "FAIL_LOG": log}
    subprocess.run([sys.executable, "-c", script, directory], check=True, env=environment, timeout=60)
    return calls_of({"log": log})


def test_what_need_not_be_durable_is_not_synced(shim: Path, tmp_path: Path) -> None:
    script = """
import sys, tfreel
with tfreel.Writer(sys.argv[1] + "/deep/a.tfrecord", durable=False) as out:
    out.write(b"a")
with tfreel.ShardedWriter(sys.argv[1] + "/b.tfrecord", shards=2, durable=False) as out:
    out.write(b"a")
"""
    calls = _logged(shim, tmp_path / "out", script)
    assert "writev" in [name for name, _, _ in calls]
    assert "fsync" not in [name for name, _, _ in calls]


@pytest.mark.parametrize(
    "target",
    [
        'tfreel.Writer(sys.argv[1] + "/a.tfrecord", durable=False)',
        'tfreel.Writer(sys.argv[1] + "/a.tfrecord.gz", durable=False)',
        'tfreel.Writer(open(sys.argv[1] + "/a.tfrecord", "wb"))',
        'tfreel.ShardedWriter(sys.argv[1] + "/a.tfrecord", shards=1, durable=False)',
    ],
    ids=["file", "gzip", "stream", "shard"],
)
@pytest.mark.parametrize("sync", [False, True])
def test_flush_with_sync_puts_it_on_the_disk(shim: Path, tmp_path: Path, target: str, sync: bool) -> None:
    script = f"""
import sys, tfreel
out = {target}
out.write(b"a")
out.flush(sync={sync})
out.abort()
"""
    calls = _logged(shim, tmp_path / "out", script)
    written = next(i for i, (name, _, _) in enumerate(calls) if name in ("write", "writev"))
    synced = [path for name, path, _ in calls[written:] if name == "fsync"]
    assert synced == ([calls[written][1]] if sync else [])


def test_new_directories_are_on_the_disk_too(shim: Path, tmp_path: Path) -> None:
    script = """
import sys, tfreel
with tfreel.Writer(sys.argv[1] + "/deep/er/a.tfrecord") as out:
    out.write(b"a")
"""
    calls = _logged(shim, tmp_path / "out", script)
    synced = [path for name, path, _ in calls if name == "fsync"]
    for directory in ("out", "out/deep", "out/deep/er"):
        assert str(tmp_path / directory) in synced


# Disks that are really full ---------------------------------------------------------------------------------

FILL = """
import json, os, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_failing_calls as own
base, limit = Path(sys.argv[2]), int(sys.argv[3])
for name, scenario in own.SCENARIOS.items():
    scenario.prepare(base / name)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
outcomes = {}
for name, scenario in own.SCENARIOS.items():
    errors = []
    writer = scenario.open(base / name)
    try:
        for _ in range(100):
            writer.write(os.urandom(5000))
            writer.flush()
        writer.close()
    except OSError as error:
        errors.append(own.told(error))
    errors.append(own.attempt(writer.write, b"more"))
    errors.append(own.attempt(writer.close))
    found = own.read_or_error(base / name / scenario.name)
    old = None if found is None else found == sorted(own.OLD)
    outcomes[name] = {"errors": errors, "names": os.listdir(base / name), "old": old}
print(json.dumps(outcomes))
"""


def _fill(prefix: list[str], directory: Path, limit: int) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    script = [
        sys.executable,
        "-W",
        "error",
        "-c",
        FILL,
        str(Path(__file__).parent),
        str(directory),
        str(limit),
    ]
    done = subprocess.run(
        [*prefix, *script], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def _small_disk(directory: Path) -> list[str] | None:
    """A command prefix that gives a program a tiny file system of its own, if that is allowed."""
    mount = f'mount -t tmpfs -o size=128k tmpfs "{directory}" && exec "$@"'
    for private in (["unshare", "--mount"], ["unshare", "--mount", "--user", "--map-root-user"]):
        prefix = [*private, "sh", "-c", mount, "sh"]
        with suppress(OSError):
            if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
                return prefix
    return None


@pytest.mark.parametrize("disk", ["small file system", "file size limit"])
def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path, disk: str) -> None:
    prefix = _small_disk(tmp_path) if disk == "small file system" else None
    limit = 0 if prefix else 12_000  # where nothing may be mounted, the limit stands in for it
    for scenario, found in _fill(prefix or [], tmp_path, limit).items():
        first = found["errors"][0]
        assert first["errno"] == (errno.ENOSPC if prefix else errno.EFBIG), scenario
        assert first["path"].startswith(str(tmp_path)), scenario
        assert found["errors"] == [first] * 3, scenario
        assert not [name for name in found["names"] if name.endswith(".tmp")], scenario
        assert found["old"] is (None if SCENARIOS[scenario].mode == "x" else True), scenario


@pytest.mark.parametrize("buffering", [0, 1 << 20])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_device_that_is_always_full_is_told(buffering: int, compression: str) -> None:
    file = open("/dev/full", "wb", buffering=buffering)  # noqa: SIM115
    out = tfreel.Writer(file, compression=compression)
    out.write(b"a")
    with pytest.raises(OSError, match="No space left") as caught:
        out.flush()
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == "/dev/full"
    for use_again in (lambda: out.write(b"b"), out.flush, out.close):
        with pytest.raises(OSError, match="No space left"):
            use_again()
    with suppress(OSError):
        file.close()


def test_a_stream_that_would_block_is_waited_for() -> None:
    """A pipe that is full and does not block: nothing is lost, nothing written twice."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    records = [b"%d" % i * 1000 for i in range(200)]
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    with (
        subprocess.Popen([sys.executable, "-c", script], stdin=reading, stdout=subprocess.PIPE) as reader,
        open(writing, "wb", buffering=0) as file,
    ):
        os.close(reading)
        with tfreel.Writer(file) as out:
            out.write_many(records)
        file.close()
        found = reader.stdout.read()
    assert found == frames(records)


def test_a_buffered_stream_that_would_block_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    records = [b"%d" % i * 1000 for i in range(200)]
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    with (
        subprocess.Popen([sys.executable, "-c", script], stdin=reading, stdout=subprocess.PIPE) as reader,
        io.BufferedWriter(io.FileIO(writing, "wb"), 1 << 12) as file,
    ):
        os.close(reading)
        with tfreel.Writer(file) as out:
            out.write_many(records)
        file.close()
        found = reader.stdout.read()
    assert found == frames(records)


if __name__ == "__main__":
    main()
