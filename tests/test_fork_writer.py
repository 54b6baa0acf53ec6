"""A fork with an open writer: only the process that opened it may use it; what the other does is no harm."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tfreel

from corpus import RECORDS, SUFFIXES, frames, write_file

if TYPE_CHECKING:
    from pathlib import Path

# Every test is a program of its own: what forks should have no threads, and nobody else's files open.
PRELUDE = """
import gc, multiprocessing, os, sys, time, traceback
import tfreel

def in_child(work, leave=os._exit):
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        work()
    except SystemExit:  # of a child of its own, which comes this way
        raise
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    leave(0)

def refused(use, *arguments, **options):
    try:
        use(*arguments, **options)
    except RuntimeError as error:
        assert "forked" in str(error), error
    else:
        raise AssertionError(f"{use.__name__} was not refused")

def nothing():
    pass

RECORDS = [b"%d " % i * i for i in range(500)]
"""
NUMPY_HAS_THREADS = ("-W", "ignore:This process:DeprecationWarning")  # of which Python 3.12 warns at a fork
WRITTEN = [b"%d " % i * i for i in range(500)]

USES = """
refused(out.write, b"child")
refused(out.write, bytearray(b"child"))
refused(out.write, b"child" * 100_000)
refused(out.write_many, [b"child"])
refused(out.write_many, iter([b"child"]))
refused(out.flush)
refused(out.flush, sync=True)
refused(out.close)
refused(out.close)
"""

KINDS = {
    "plain": "tfreel.Writer('a.tfrecord')",
    "gzip": "tfreel.Writer('a.tfrecord.gz')",
    "zlib": "tfreel.Writer('a.tfrecord.zlib')",
    "replace": "tfreel.Writer('a.tfrecord', mode='w')",
    "append": "tfreel.Writer('a.tfrecord', mode='a')",
    "shards": "tfreel.ShardedWriter('a.tfrecord', shards=3)",
    "shards in turn": "tfreel.ShardedWriter('a.tfrecord', max_records=50)",
}


def run(script: str, directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *NUMPY_HAS_THREADS, "-c", PRELUDE + script],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def prepare(kind: str, directory: Path) -> list[bytes]:
    """The old file, where there is one; gives what will stay of it."""
    if kind not in ("replace", "append"):
        return []
    write_file(directory / "a.tfrecord", RECORDS)
    return RECORDS if kind == "append" else []


def check(kind: str, directory: Path, old: list[bytes]) -> None:
    """The parent's file is there, whole, and alone."""
    name = "a" + SUFFIXES.get(kind, ".tfrecord")
    if kind.startswith("shards"):
        assert sorted(tfreel.read(directory / name)) == sorted(WRITTEN)
    else:
        assert list(tfreel.read(directory / name)) == [*old, *WRITTEN]
        assert sorted(path.name for path in directory.iterdir()) == [name]
    if kind in ("plain", "replace", "append"):
        assert (directory / name).read_bytes() == frames([*old, *WRITTEN])
    assert not list(directory.glob(".*.tmp"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_child_is_refused_and_the_parent_goes_on(tmp_path: Path, kind: str) -> None:
    old = prepare(kind, tmp_path)
    run(
        f"""
out = {KINDS[kind]}
out.write_many(RECORDS[:200])
out.flush()
out.write_many(RECORDS[200:300])  # stays in memory, of which the child has a copy

def child():
{USES.replace(chr(10), chr(10) + "    ")}
for leave in (os._exit, sys.exit):
    assert in_child(child, leave) == 0
out.write_many(RECORDS[300:])
assert out.records_written == len(RECORDS)
out.close()
""",
        tmp_path,
    )
    check(kind, tmp_path, old)


@pytest.mark.parametrize("kind", KINDS)
def test_no_way_out_of_the_child_spoils_the_parents_file(tmp_path: Path, kind: str) -> None:
    old = prepare(kind, tmp_path)
    run(
        f"""
out = {KINDS[kind]}
out.write_many(RECORDS[:300])
for work in (
    nothing,
    lambda: out.abort(),
    lambda: (out.abort(), refused(out.write, b"child")),
    lambda: (globals().pop("out"), gc.collect()),
    lambda: refused(out.__exit__, None, None, None),
    lambda: out.__exit__(ValueError, ValueError(), None),
):
    for leave in (os._exit, sys.exit):
        assert in_child(work, leave) == 0
        out.flush()
out.write_many(RECORDS[300:])
out.flush(sync=True)
out.close()
""",
        tmp_path,
    )
    check(kind, tmp_path, old)


def test_a_child_that_falls_through_the_with_block_is_told(tmp_path: Path) -> None:
    output = run(
        """
try:
    with tfreel.Writer("a.tfrecord") as out:
        out.write_many(RECORDS)
        process = os.fork()
        if process:
            assert os.waitpid(process, 0)[1] == 0
except RuntimeError as error:
    assert process == 0
    print("told:", error)
""",
        tmp_path,
    )
    assert output.startswith("told: this writer was opened before the process forked")
    check("plain", tmp_path, [])


def test_the_childs_end_publishes_nothing_before_the_parent_does(tmp_path: Path) -> None:
    output = run(
        """
out = tfreel.Writer("a.tfrecord")
out.write_many(RECORDS)
out.flush()
before = sorted(os.listdir())
for leave in (os._exit, sys.exit):
    in_child(nothing, leave)
    assert sorted(os.listdir()) == before
print(before)
out.abort()
assert os.listdir() == []
""",
        tmp_path,
    )
    assert ".tmp" in output


def test_the_parents_file_stays_locked_when_the_child_has_ended(tmp_path: Path) -> None:
    run(
        """
out = tfreel.Writer("a.tfrecord")
sharded = tfreel.ShardedWriter("b.tfrecord", max_records=1)
sharded.write_many([b"a", b"b"])

def second(open, *arguments, **options):
    try:
        open(*arguments, **options)
    except FileExistsError as error:
        assert "another writer" in str(error)
    else:
        raise AssertionError("not locked")

def child():
    second(tfreel.Writer, "a.tfrecord")
    second(tfreel.ShardedWriter, "b.tfrecord", shards=2)

for leave in (os._exit, sys.exit):
    assert in_child(child, leave) == 0
    child()  # the same in the parent
out.close()
sharded.close()
""",
        tmp_path,
    )


def test_the_child_may_outlive_the_parents_writer(tmp_path: Path) -> None:
    """An open descriptor in the child would keep the lock, and the next writer out."""
    run(
        """
for i in range(3):
    out = tfreel.Writer("a.tfrecord", mode="w")
    grown = tfreel.Writer("b.tfrecord", mode="a")
    sharded = tfreel.ShardedWriter("c.tfrecord", shards=2, mode="w")
    for writer in (out, grown, sharded):
        writer.write_many(RECORDS)
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(writing)
        os.read(reading, 1)  # until the parent is through
        os._exit(0)
    os.close(reading)
    for writer in (out, grown, sharded):
        writer.close()
    with tfreel.Writer("a.tfrecord", mode="w") as again:
        again.write_many(RECORDS)
    with tfreel.Writer("b.tfrecord", mode="a") as again:
        again.write(b"again")
    with tfreel.ShardedWriter("c.tfrecord", shards=2, mode="w") as again:
        again.write_many(RECORDS)
    os.close(writing)
    assert os.waitpid(process, 0)[1] == 0
""",
        tmp_path,
    )
    assert list(tfreel.read(tmp_path / "a.tfrecord")) == WRITTEN
    assert list(tfreel.read(tmp_path / "b.tfrecord")) == [*WRITTEN, b"again"] * 3
    assert sorted(tfreel.read(tmp_path / "c.tfrecord")) == sorted(WRITTEN)


def test_a_child_that_has_not_begun_to_run_does_not_keep_the_next_writer_out(tmp_path: Path) -> None:
    """Forked by C, it never comes to let go of its copies of the descriptors."""
    run(
        """
import ctypes, signal
libc = ctypes.CDLL(None)
for mode in ("x", "w", "a"):
    out = tfreel.Writer("a.tfrecord", mode=mode)
    sharded = tfreel.ShardedWriter("b.tfrecord", shards=2, mode="w")
    process = libc.fork()
    if not process:
        libc.pause()
    for writer in (out, sharded):
        writer.write_many(RECORDS)
        writer.close()
    tfreel.Writer("a.tfrecord", mode="a").close()
    tfreel.Writer("a.tfrecord", mode="w").abort()
    tfreel.ShardedWriter("b.tfrecord", shards=3, mode="w").abort()
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
""",
        tmp_path,
    )
    assert list(tfreel.read(tmp_path / "a.tfrecord")) == WRITTEN * 2


def test_a_child_may_write_files_of_its_own(tmp_path: Path) -> None:
    run(
        """
out = tfreel.Writer("a.tfrecord")
out.write_many(RECORDS[:250])

def child():
    with tfreel.Writer("child.tfrecord.gz") as own:
        own.write_many(RECORDS)
    assert in_child(lambda: refused(out.write, b"grandchild"), sys.exit) == 0
    with tfreel.ShardedWriter("child.tfrecord", shards=2) as own:
        own.write_many(RECORDS)
        assert in_child(lambda: refused(own.close), sys.exit) == 0

for leave in (os._exit, sys.exit):
    assert in_child(child, leave) == 0
    os.makedirs("done", exist_ok=True)
    for name in os.listdir():
        if name.startswith("child"):
            os.replace(name, f"done/{name}")
out.write_many(RECORDS[250:])
out.close()
""",
        tmp_path,
    )
    assert list(tfreel.read(tmp_path / "a.tfrecord")) == WRITTEN
    assert list(tfreel.read(tmp_path / "done" / "child.tfrecord.gz")) == WRITTEN
    assert sorted(tfreel.read(tmp_path / "done" / "child.tfrecord")) == sorted(WRITTEN)


def test_many_children_at_once_leave_the_parent_alone(tmp_path: Path) -> None:
    run(
        """
out = tfreel.Writer("a.tfrecord.gz")
children = []
for start in range(0, 500, 50):
    out.write_many(RECORDS[start : start + 50])
    process = os.fork()
    if not process:
        refused(out.write, b"child")
        refused(out.close)
        sys.exit(0)
    children.append(process)
out.close()
for process in children:
    assert os.waitpid(process, 0)[1] == 0
""",
        tmp_path,
    )
    check("gzip", tmp_path, [])


@pytest.mark.parametrize("kind", ["plain", "gzip", "append", "shards"])
def test_multiprocessing_by_fork_leaves_the_parent_alone(tmp_path: Path, kind: str) -> None:
    old = prepare(kind, tmp_path)
    run(
        f"""
out = {KINDS[kind]}
out.write_many(RECORDS[:300])

def work(number=0):
    refused(out.write, b"child")
    refused(out.close)
    return number * number

forking = multiprocessing.get_context("fork")
process = forking.Process(target=work)
process.start()
process.join()
assert process.exitcode == 0
with forking.Pool(2) as pool:
    assert pool.map(work, range(10)) == [i * i for i in range(10)]
out.write_many(RECORDS[300:])
out.close()
""",
        tmp_path,
    )
    check(kind, tmp_path, old)


def test_an_open_stream_is_not_written_to_by_the_child(tmp_path: Path) -> None:
    run(
        """
with open("a.tfrecord", "wb", buffering=0) as file:
    with tfreel.Writer(file) as out:
        out.write_many(RECORDS[:300])

        def child():
            refused(out.write, b"child")
            refused(out.flush)
            refused(out.close)

        for leave in (os._exit, sys.exit):
            assert in_child(child, leave) == 0
        out.write_many(RECORDS[300:])
""",
        tmp_path,
    )
    assert (tmp_path / "a.tfrecord").read_bytes() == frames(WRITTEN)


def test_a_closed_writer_is_closed_in_the_child_too(tmp_path: Path) -> None:
    run(
        """
out = tfreel.Writer("a.tfrecord")
out.write_many(RECORDS)
out.close()

def child():
    out.close()
    try:
        out.write(b"child")
    except ValueError as error:
        assert "closed" in str(error)
    else:
        raise AssertionError

assert in_child(child, sys.exit) == 0
""",
        tmp_path,
    )
    check("plain", tmp_path, [])


def test_a_program_started_by_exec_leaves_the_parent_alone(tmp_path: Path) -> None:
    run(
        """
out = tfreel.Writer("a.tfrecord")
out.write_many(RECORDS[:300])
assert in_child(lambda: os.execv(sys.executable, [sys.executable, "-c", "pass"])) == 0
out.write_many(RECORDS[300:])
out.close()
""",
        tmp_path,
    )
    check("plain", tmp_path, [])
