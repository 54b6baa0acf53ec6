"""Batches read ahead: the same as batches read one by one, whatever happens meanwhile."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.columns import Batch
from tfreel.columns.batch import SequenceBatch
from tfreel.dataset.example_source import ExampleSource

from columns_equal import assert_same_batch
from interruption import Interrupted, Interruption
from memory import PEAK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tfreel.dataset.order import Positions

COUNT = 1000
FEATURES: dict[str, Any] = {
    "n": tfreel.FixedLenFeature([], "int64"),
    "x": tfreel.FixedLenFeature([2], "float32"),
    "name": tfreel.FixedLenFeature([], "bytes", default_value=b"none"),
    "words": tfreel.RaggedFeature("bytes"),
    "counts": tfreel.VarLenFeature("int64"),
    "steps": tfreel.FixedLenSequenceFeature([], "float32", allow_missing=True, default_value=-1.0),
}


def row(i: int) -> dict[str, Any]:
    whole: dict[str, Any] = {"n": i, "x": np.array([i, i / 2], "f4"), "steps": np.arange(i % 4, dtype="f4")}
    if i % 2:
        whole["name"] = f"no. {i}"
    if i % 3:
        whole["counts"] = np.arange(i % 7)
    if i % 4:
        whole["words"] = [b"w" * (i % 5)] * (i % 4)
    return whole


def write(path: Path, files: int, count: int = COUNT, suffix: str = "") -> str:
    path.mkdir(exist_ok=True)
    for file, part in enumerate(np.array_split(np.arange(count), files)):
        with tfreel.Writer(path / f"{file:04}.tfrecord{suffix}", durable=False) as out:
            out.write_many(row(int(i)) for i in part)
    return str(path / f"*.tfrecord{suffix}")


def elements(paths: str, features: Any = FEATURES, *, threads: int = 2) -> ExampleSource:
    return ExampleSource(tfreel.open(paths), features, {}, threads)


def positions(*values: int) -> Positions:
    return np.array(values, np.uint64)


def chunks_of(order: Any, size: int) -> list[Positions]:
    order = np.asarray(order, np.uint64)
    return [order[i : i + size] for i in range(0, len(order), size)]


def threads_now() -> int:
    """How many there are, as soon as it stays so: the kernel lists those that were joined a moment longer."""
    count, before = len(os.listdir("/proc/self/task")), -1
    while count != before:
        time.sleep(0.02)
        count, before = len(os.listdir("/proc/self/task")), count
    return count


def shuffled(count: int = COUNT) -> Any:
    return np.random.default_rng(0).permutation(count)


def assert_same_batches(found: Iterator[Any], source: ExampleSource, chunks: list[Positions]) -> None:
    for chunk in chunks:
        assert_same_element(next(found), source.batch(chunk))
    assert next(found, None) is None


def assert_same_element(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, Batch):
        assert_same_columns(found, expected)
    elif isinstance(expected, SequenceBatch):
        assert_same_columns(found.context, expected.context)
        assert_same_columns(found.sequences, expected.sequences)
        assert found.lengths.keys() == expected.lengths.keys()
        for name, lengths in expected.lengths.items():
            assert found.lengths[name].tolist() == lengths.tolist()
    else:
        assert found == expected


def assert_same_columns(found: Batch, expected: Batch) -> None:
    assert_same_batch(_without_sparse(found), _without_sparse(expected))


def _without_sparse(batch: Batch) -> Batch:
    columns = {
        name: column.to_ragged() if isinstance(column, tfreel.Sparse) else column
        for name, column in batch.items()
    }
    return Batch(columns, batch.num_rows)


# The same ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("files", [1, 3, 150])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    "order",
    [range(COUNT), range(COUNT - 1, -1, -1), shuffled(), shuffled() // 50, [3] * 500, range(0, COUNT, 7)],
    ids=["in order", "backwards", "shuffled", "repeated", "one record", "with gaps"],
)
def test_batches_are_those_that_are_read_one_by_one(
    tmp_path: Path, files: int, threads: int, order: Any
) -> None:
    source = elements(write(tmp_path, files), threads=threads)
    for size, together in [(1, 1), (1, 7), (64, 1), (64, 3), (5000, 2)]:
        chunks = chunks_of(order, size)[:40]
        assert_same_batches(source.batches(iter(chunks), together), source, chunks)


def test_batches_of_sequences_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfreel.Writer(path) as out:
        for i in range(300):
            tokens = [np.arange(k) for k in range(i % 5)]
            out.write(tfreel.encode_sequence({"id": i}, {"tokens": tokens, "scores": [[0.5]] * (i % 3)}))
    source = ExampleSource(
        tfreel.open(path),
        {"id": tfreel.FixedLenFeature([], "int64")},
        {"tokens": tfreel.RaggedFeature("int64"), "scores": tfreel.FixedLenSequenceFeature([1], "float32")},
        2,
    )
    chunks = chunks_of(shuffled(300), 32)
    assert_same_batches(source.batches(iter(chunks)), source, chunks)


def test_an_empty_chunk_is_an_empty_batch(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 2))
    chunks = [positions(), positions(7), positions(), positions(999, 0)]
    assert_same_batches(source.batches(iter(chunks)), source, chunks)
    assert list(source.batches(iter(()))) == []


def test_bytes_are_read_without_threads(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 2), None)
    before = threads_now()
    chunks = chunks_of(shuffled(), 300)
    found = source.batches(iter(chunks))
    assert next(found) == source.batch(chunks[0])
    assert threads_now() == before
    found.close()
    assert next(found, None) is None
    assert_same_batches(source.batches(iter(chunks)), source, chunks)


@pytest.mark.parametrize("features", [FEATURES, None], ids=["columns", "bytes"])
def test_compressed_files_are_read_too(tmp_path: Path, features: Any) -> None:
    write(tmp_path, 2, 100, ".gz")
    write(tmp_path, 1, 100)
    source = elements(str(tmp_path / "*"), features)
    chunks = chunks_of(shuffled(200), 30)
    assert_same_batches(source.batches(iter(chunks)), source, chunks)


def test_elements_that_were_pickled_read_ahead(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 3))
    chunks = chunks_of(shuffled(), 100)
    copy: ExampleSource = pickle.loads(pickle.dumps(source))
    assert_same_batches(copy.batches(iter(chunks)), source, chunks)


def test_many_files_keep_few_descriptors_open(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 300), threads=2)
    before = len(os.listdir("/proc/self/fd"))
    found = source.batches(iter(chunks_of(np.tile(shuffled(), 3), 250)))
    for _ in range(8):
        next(found)
        assert len(os.listdir("/proc/self/fd")) - before <= 64 + 2
    del found, source
    assert len(os.listdir("/proc/self/fd")) == before


HELD = """
import os, sys, time
import tfreel

def memory_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

ds = tfreel.Dataset(sys.argv[1], {"data": tfreel.FixedLenFeature([], "bytes")}, threads=6)
before = memory_bytes()
batches = iter(ds.shuffle(seed=1).repeat(10).batch(32))
next(batches)
time.sleep(1)  # more than all eight of them would take
print(memory_bytes() - before, len(list(batches)))
"""


def test_large_batches_are_not_all_held_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many({"data": b"%03d" % i * 350_000} for i in range(64))
    # In a process of its own: nobody else's memory is counted, nor given back.
    command = [sys.executable, "-c", HELD, os.fspath(path)]
    held, left = map(int, subprocess.run(command, capture_output=True, check=True).stdout.split())
    assert held < 5.5 * 32 * 3 * 350_000  # three batches, the records of two, and a little besides
    assert left == 19


WIDE = (
    PEAK_BYTES
    + """
import time
import tfreel

wide = {"wide": tfreel.FixedLenFeature([4096], "float32", default_value=[0.0] * 4096)}
ds = tfreel.Dataset(sys.argv[1], wide, threads=2).shuffle(seed=1, window=20_000)
batches = iter(ds.batch(32))
before = peak_bytes()
for _ in range(300):
    next(batches)
time.sleep(0.5)  # for what is made ahead
print(peak_bytes() - before)
"""
)


def test_columns_that_are_larger_than_their_records_are_not_made_far_ahead(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord", durable=False) as out:
        out.write_many({"n": i} for i in range(20_000))
    command = [sys.executable, "-c", WIDE, os.fspath(tmp_path / "a.tfrecord")]
    peak = int(subprocess.run(command, capture_output=True, check=True).stdout)
    assert peak < 140 << 20  # all columns of a window take 320 MiB


FEW = """
import sys, time
import tfreel

def bytes_read():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("rchar")).split()[1])

ds = tfreel.Dataset(sys.argv[1], {"n": tfreel.FixedLenFeature([], "int64")}, threads=2)
batches = iter(ds.shuffle(seed=1, window=20_000).batch(32))
before = bytes_read()
for _ in range(12):
    next(batches)
time.sleep(0.5)
print(bytes_read() - before)
"""


def test_who_wants_a_few_batches_does_not_read_a_window(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord", durable=False) as out:
        out.write_many({"n": i, "rest": b"." * 400} for i in range(20_000))
    command = [sys.executable, "-c", FEW, os.fspath(tmp_path / "a.tfrecord")]
    env = {**os.environ, "TFREEL_HELD_BYTES": "0"}
    read = int(subprocess.run(command, capture_output=True, check=True, env=env).stdout)
    assert read < 8 * 12 * 32 * 450


CALLS = """
import sys
import tfreel

def calls():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("syscr")).split()[1])

ds = tfreel.Dataset(sys.argv[1], {"n": tfreel.FixedLenFeature([], "int64")}, threads=2)
ds = ds.shuffle(seed=1, window=int(sys.argv[2]))
before = calls()
rows = sum(batch.num_rows for batch in ds.batch(50))
print(calls() - before, rows)
"""


def test_what_batches_of_a_window_share_is_read_once(tmp_path: Path) -> None:
    count = 64_000
    with tfreel.Writer(tmp_path / "a.tfrecord", durable=False) as out:
        out.write_many({"n": i, "rest": b"." * 1000} for i in range(count))
    env = {**os.environ, "TFREEL_HELD_BYTES": "0"}
    command = [sys.executable, "-c", CALLS, os.fspath(tmp_path / "a.tfrecord"), "6400"]
    done = subprocess.run(command, capture_output=True, check=True, env=env)
    calls, rows = map(int, done.stdout.split())
    assert rows == count
    assert calls < count / 4  # a run has a hundred records; each by itself would be as many as there are


# Damage -----------------------------------------------------------------------------------------------------


def damage(path: str, offset: int) -> None:
    """Changes a byte of a file, whose times stay as they are."""
    info = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def error_of(call: Any) -> tfreel.TfreelError:
    with pytest.raises(tfreel.TfreelError) as caught:
        call()
    return caught.value


def assert_same_error(found: tfreel.TfreelError, expected: tfreel.TfreelError) -> None:
    assert type(found) is type(expected)
    assert str(found) == str(expected)
    for name in ("path", "record", "offset", "kind"):
        assert getattr(found, name) == getattr(expected, name)


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("files", [1, 4])
def test_a_damaged_record_is_an_error_of_its_batch_and_the_others_are_good(
    tmp_path: Path, files: int, together: int
) -> None:
    source = elements(write(tmp_path, files))
    path, record, offset = source.records.place(500)
    damage(path, offset + 20)
    chunks = chunks_of(shuffled(), 100)
    found = source.batches(iter(chunks), together)
    faults = 0
    for chunk in chunks:
        if 500 not in chunk:
            assert_same_element(next(found), source.batch(chunk))
            continue
        faults += 1
        error = error_of(lambda: next(found))
        assert error.kind == "data_crc"
        assert (error.path, error.record, error.offset) == (path, record, offset)
    assert faults == 1
    assert next(found, None) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": "a string", "x": [0.0, 1.0]},
        {"n": 3, "x": [0.0]},
        {"x": [0.0, 1.0]},
    ],
    ids=["kind", "count", "missing"],
)
def test_a_record_with_a_wrong_feature_is_an_error_of_its_batch(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "a.tfrecord"
    rows = [row(i) for i in range(50)]
    rows[33] = wrong
    with tfreel.Writer(path) as out:
        out.write_many(rows)
    source = elements(str(path))
    chunks = chunks_of(shuffled(50), 10)
    found = source.batches(iter(chunks))
    for chunk in chunks:
        if 33 in chunk:
            assert_same_error(error_of(lambda: next(found)), error_of(lambda c=chunk: source.batch(c)))
        else:
            assert_same_element(next(found), source.batch(chunk))


def test_values_that_do_not_fit_their_columns_are_an_error_that_names_the_record(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many({"pairs": [1.0] * (3 if i == 33 else 2)} for i in range(50))
    pairs = tfreel.FixedLenSequenceFeature([2], "float32", allow_missing=True)
    source = elements(str(path), {"pairs": pairs})
    chunks = chunks_of(shuffled(50), 25)
    found = source.batches(iter(chunks))
    errors = [error_of(lambda: next(found)) if 33 in chunk else next(found) for chunk in chunks]
    (error,) = (error for error in errors if isinstance(error, tfreel.FeatureMismatchError))
    assert (error.path, error.record) == (str(path), 33)


def test_a_file_that_was_replaced_is_the_error_of_a_batch_read_by_itself(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 2))
    path, *_ = source.records.place(0)
    with tfreel.Writer(path, mode="w") as out:
        out.write(row(0))
    found = source.batches(iter([positions(0, 1), positions(999, 998)]))
    assert_same_error(error_of(lambda: next(found)), error_of(lambda: source.batch(positions(0, 1))))
    assert next(found)["n"].tolist() == [999, 998]


@pytest.mark.parametrize("held", [False, True])
def test_a_file_that_changes_under_the_threads_is_an_error_and_no_wrong_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, held: bool
) -> None:
    paths = write(tmp_path, 1)
    size = sum(path.stat().st_size for path in tmp_path.glob("*.tfrecord"))
    monkeypatch.setenv("TFREEL_HELD_BYTES", str(size if held else size - 1))
    source = elements(paths)
    path = source.records.files[0]
    if held:  # a small file that was read at many places is in memory, and stays what it was
        list(source.batches(iter(chunks_of(np.tile(shuffled(), 20), 100))))
    found = source.batches(iter(chunks_of(np.tile(shuffled(), 50), 100)))
    next(found)
    os.truncate(path, os.path.getsize(path) // 2)
    kinds = set()
    for _ in range(300):
        try:
            batch = next(found)
        except tfreel.TfreelError as error:
            kinds.add(error.kind)
        else:
            assert (batch["x"][:, 0] == batch["n"]).all()
    assert kinds == (set() if held else {"file_changed"})


@pytest.mark.parametrize("most", ["0", "1000000000"])
def test_what_is_held_in_memory_gives_the_same_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str
) -> None:
    monkeypatch.setenv("TFREEL_HELD_BYTES", most)
    source = elements(write(tmp_path, 70))  # more than are open at the same time
    chunks = chunks_of(np.tile(shuffled(), 5), 100)
    assert_same_batches(source.batches(iter(chunks)), source, chunks)


def test_a_set_in_memory_needs_no_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = elements(write(tmp_path, 70))
    chunks = chunks_of(np.tile(shuffled(), 5), 100)
    before = len(os.listdir("/proc/self/fd"))
    list(source.batches(iter(chunks)))
    held = len(os.listdir("/proc/self/fd")) - before
    monkeypatch.setenv("TFREEL_HELD_BYTES", "0")
    other = elements(str(tmp_path / "*.tfrecord"))
    list(other.batches(iter(chunks)))
    assert (held, len(os.listdir("/proc/self/fd")) - before) == (0, 64)


def test_how_much_to_hold_must_be_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFREEL_HELD_BYTES", "much")
    source = elements(write(tmp_path, 1))
    with pytest.raises(ValueError, match="TFREEL_HELD_BYTES must be a whole number, not 'much'"):
        next(source.batches(iter(chunks_of(shuffled(), 100))))


def test_a_position_that_does_not_exist_is_an_error_of_its_batch(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 1))
    found = source.batches(iter([positions(3), positions(COUNT), positions(4)]))
    assert next(found)["n"].tolist() == [3]
    with pytest.raises(IndexError):
        next(found)
    assert next(found)["n"].tolist() == [4]


# Threads ----------------------------------------------------------------------------------------------------


def test_threads_start_with_the_first_batch_and_end_with_the_last(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 1), threads=3)
    before = threads_now()
    found = source.batches(iter(chunks_of(shuffled(), 100)))
    assert threads_now() == before
    next(found)
    assert threads_now() == before + 3
    assert len(list(found)) == 9
    assert threads_now() == before


def test_a_single_batch_needs_no_thread(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 1))
    before = threads_now()
    found = source.batches(iter([positions(3, 1)]))
    assert next(found)["n"].tolist() == [3, 1]
    assert threads_now() == before
    assert next(found, None) is None


@pytest.mark.parametrize("how", ["close", "drop", "error"])
def test_batches_that_are_left_behind_leave_no_threads(tmp_path: Path, how: str) -> None:
    source = elements(write(tmp_path, 1))
    before = threads_now()
    chunks = chunks_of(np.tile(shuffled(), 100), 1000)
    chunks[1] = positions(COUNT)
    found = source.batches(iter(chunks))
    next(found)
    assert threads_now() > before
    if how == "drop":
        del found
    elif how == "close":
        found.close()
        assert next(found, None) is None
        found.close()
    else:
        with pytest.raises(IndexError) as caught:
            next(found)
        found.close()
        assert caught.tb is not None  # which knows the iterator
    assert threads_now() == before


@pytest.mark.parametrize("together", [1, 16])
def test_both_sides_of_a_fork_go_on(tmp_path: Path, together: int) -> None:
    source = elements(write(tmp_path, 3))
    chunks = chunks_of(np.tile(shuffled(), 20), 100)
    expected = [source.batch(chunk)["n"].tolist() for chunk in chunks]
    found = source.batches(iter(chunks), together)
    assert [next(found)["n"].tolist() for _ in range(50)] == expected[:50]
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        same = [batch["n"].tolist() for batch in found] == expected[50:]
        os._exit(0 if same else 1)
    assert [batch["n"].tolist() for batch in found] == expected[50:]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_child_of_a_fork_may_leave_batches_behind(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 3))
    found = source.batches(iter(chunks_of(np.tile(shuffled(), 20), 1000)))
    next(found)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        found.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(found)) == 19


@pytest.mark.parametrize(("size", "together"), [(200, 1), (125, 3)])
def test_interrupted_batches_go_on_without_loss_or_repetition(
    tmp_path: Path, size: int, together: int
) -> None:
    source = elements(write(tmp_path, 2), {"n": FEATURES["n"]})
    chunks = chunks_of(shuffled(), size)
    chunks[3] = positions(COUNT)  # which is an error, but no end
    expected = [source.batch(chunk)["n"].tolist() for chunk in chunks if chunk[0] < COUNT]
    for n in range(100_000):
        found = source.batches(iter(chunks), together)
        batches: list[Any] = []
        finished = False
        try:
            with Interruption(n):
                collect(found, batches)
                finished = True
        except Interrupted:
            collect(found, batches)
        assert [batch["n"].tolist() for batch in batches] == expected
        if finished:
            break
    assert n > 100


def collect(found: Iterator[Any], batches: list[Any]) -> None:
    """What comes, until it ends; by C code, which is not interrupted between two of them."""
    while True:
        try:
            return batches.extend(found)
        except IndexError:
            pass


def test_ctrl_c_is_answered_while_a_batch_is_awaited(tmp_path: Path) -> None:
    source = elements(write(tmp_path, 1))
    chunk = np.random.default_rng(0).integers(0, COUNT, 3_000_000).astype(np.uint64)
    found = source.batches(iter([chunk, chunk]))
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(found)
    assert time.monotonic() - start < 0.2 + 0.25 + 0.5  # the last for a busy machine
    found.close()


def test_a_program_ends_quietly_while_batches_are_read(tmp_path: Path) -> None:
    script = """
import sys
import numpy as np
import tfreel
from tfreel.dataset.example_source import ExampleSource
source = ExampleSource(tfreel.open(sys.argv[1]), {"n": tfreel.FixedLenFeature([], "int64")}, {}, 2)
chunk = np.arange(1_000_000, dtype=np.uint64) % len(source.records)
found = source.batches(iter([chunk[:10], *[chunk] * 100]))
print(next(found)["n"].sum())
if len(sys.argv) > 2:
    found = [found]
    found.append(found)
"""
    for more in ([], ["cycle"]):
        command = [sys.executable, "-c", script, write(tmp_path / str(len(more)), 1), *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "45\n", "")
