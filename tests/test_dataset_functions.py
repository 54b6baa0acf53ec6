"""What is done to elements: functions here and in workers, batches of anything, caches, streams."""

from __future__ import annotations

import copy
import gzip
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfreel
from tfreel.dataset import Dataset
from tfreel.dataset.cache_format import pack, unpack
from tfreel.dataset.collate import gather, padded, rows_of
from tfreel.dataset.functions import fingerprint_of

from numbered import COUNT, doubled, even, fail_at_60, numbers

if TYPE_CHECKING:
    from pathlib import Path


# Workers ----------------------------------------------------------------------------------------------------


def slow_at_first(batch: Any) -> Any:
    time.sleep(0.5 if batch["n"][0] == 0 else 0)
    return {"n": batch["n"], "pid": np.full(len(batch["n"]), os.getpid())}


def thread_names(batch: Any) -> Any:
    return {"n": batch["n"], "thread": threading.current_thread().name}


def die(batch: Any) -> Any:
    if 50 in batch["n"]:
        os._exit(3)
    return batch


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"workers": 2, "processes": True}])
def test_workers_change_nothing_but_the_time(ds: Dataset, options: Any) -> None:
    found = list(ds.batch(10).map(slow_at_first, **options))
    assert numbers(found) == list(range(COUNT))
    pids = {int(pid) for batch in found for pid in batch["pid"]}
    assert (os.getpid() in pids) is not options.get("processes", False)


def test_order_depends_on_no_number_of_threads_workers_or_elements_ahead(path: str) -> None:
    def order(threads: int, workers: int, ahead: int) -> list[list[int]]:
        plan = Dataset(path, threads=threads).shuffle(seed=3).repeat(2).batch(9).map(doubled, workers=workers)
        return [numbers([batch]) for batch in (plan.prefetch(ahead) if ahead else plan)]

    orders = [order(*how) for how in ((1, 0, 0), (2, 0, 0), (4, 0, 3), (1, 3, 0), (3, 2, 1))]
    assert all(found == orders[0] for found in orders)


def test_threads_are_used_and_end_with_the_run(ds: Dataset) -> None:
    steps = iter(ds.batch(5).map(thread_names, workers=3))
    assert next(steps)["thread"].startswith("tfreel-map")
    del steps
    deadline = time.monotonic() + 10
    while any(thread.name.startswith("tfreel-map") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_unordered_results_do_not_wait_for_a_slow_one(ds: Dataset) -> None:
    found = list(ds.batch(10).map(slow_at_first, workers=2, ordered=False))
    assert found[0]["n"][0] != 0
    assert sorted(numbers(found)) == list(range(COUNT))


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"workers": 2, "processes": True}])
def test_an_error_comes_in_its_place_with_the_record_it_is_about(ds: Dataset, options: Any) -> None:
    steps = iter(ds.map(fail_at_60, **options))
    assert numbers(islice(steps, 60)) == list(range(60))
    for _ in range(2):  # asked again, it comes again: nothing is left out in silence
        with pytest.raises(ZeroDivisionError, match="no 60") as caught:
            next(steps)
        (note,) = caught.value.__notes__
        assert note.startswith("in map(fail_at_60), on record 19 of ")
        assert "c.tfrecord at byte " in note
    batches = iter(ds.batch(50).map(lambda batch: [fail_at_60({"n": n}) for n in batch["n"]]))
    next(batches)
    with pytest.raises(ZeroDivisionError) as caught:
        next(batches)
    assert "record 9 of" in caught.value.__notes__[0]
    assert "and 49 others" in caught.value.__notes__[0]


def test_a_function_of_rows_in_a_batch_fails_on_one_record(ds: Dataset) -> None:
    for plan in (ds.batch(50), ds.shuffle(seed=1).batch(50), ds.filter(bool).batch(50)):
        with pytest.raises(ZeroDivisionError) as caught:
            list(plan.map(fail_at_60, batched=False))
        (note,) = caught.value.__notes__
        assert "on record 19 of " in note
        assert "others" not in note


def only_odd_ones(row: Any) -> Any:
    if row["n"] % 2 == 0 or row["n"] in (3, 5):
        raise OddError("even", row["n"])
    return row


@pytest.mark.parametrize(
    "options", [{}, {"workers": 2}, {"workers": 2, "ordered": False}, {"workers": 1, "processes": True}]
)
def test_rows_of_a_batch_that_fail_are_left_out_alone(ds: Dataset, options: Any) -> None:
    steps = iter(ds[:12].batch(3).map(only_odd_ones, batched=False, on_error="skip", **options))
    found = sorted(batch["n"].tolist() for batch in steps)
    assert found == [[1], [7], [9, 11]]  # the batch of 3, 4 and 5 is gone
    assert steps.report.skipped == 8
    assert sorted(example.record for example in steps.report.examples if example.record is not None) == [
        n for n in range(12) if n not in (1, 7, 9, 11)
    ]
    for example in steps.report.examples:
        assert f"even{example.record}" in str(example.error)
        assert example.stage == "only_odd_ones"


def test_an_error_behind_rows_that_were_left_out_names_its_record(ds: Dataset) -> None:
    def no_eleven(row: Any) -> Any:
        return row if row["n"] != 11 else 1 / 0

    plan = ds[:12].batch(6).map(only_odd_ones, batched=False, on_error="skip").map(no_eleven, batched=False)
    with pytest.raises(ZeroDivisionError) as caught:
        list(plan)
    assert "on record 11 of " in caught.value.__notes__[0]


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"workers": 3, "ordered": False}])
def test_what_fails_can_be_left_out_and_is_reported(ds: Dataset, options: Any) -> None:
    plan = ds.map(fail_at_60, on_error="skip", **options)
    steps = iter(plan)
    assert sorted(numbers(steps)) == [n for n in range(COUNT) if n != 60]
    assert steps.report.skipped == 1
    (skipped,) = steps.report.examples
    assert (skipped.stage, type(skipped.error), skipped.record) == ("fail_at_60", ZeroDivisionError, 19)
    assert str(skipped.path).endswith("c.tfrecord")
    assert skipped.offset is not None
    assert skipped.offset > 0
    with pytest.raises(TypeError, match=r"no length, because of map\(fail_at_60, on_error='skip'\)"):
        len(plan)


def test_a_worker_that_dies_is_an_error_not_a_hang(ds: Dataset) -> None:
    steps = iter(ds.batch(10).map(die, workers=2, processes=True))
    with pytest.raises(Exception, match="terminated abruptly"):
        list(steps)


def test_wrong_options_are_refused(ds: Dataset) -> None:
    with pytest.raises(ValueError, match="on_error"):
        ds.map(doubled, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a window or a buffer, not both"):
        ds.shuffle(seed=1, window=3, buffer=3)


def test_functions_are_named(ds: Dataset) -> None:
    assert "each through doubled" in repr(ds.map(partial(doubled)))
    assert "each through doubled" in repr(ds.batch(2).map(doubled, batched=False))


ORPHANS = """
import os, sys, time
import tfreel
ds = tfreel.Dataset(sys.argv[1]).batch(5).map(lambda batch: os.getpid(), workers=2, processes=True)
print(*{next(iter(ds)), os.getpid()}, flush=True)
steps = iter(ds)
print(next(steps), flush=True)
time.sleep(60)
"""


def test_workers_do_not_outlive_a_killed_process(path: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        worker = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 20
    while is_running(worker):
        assert time.monotonic() < deadline, "the worker is still there"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="forks where nothing is said")
@pytest.mark.parametrize(
    ("program", "works"),
    [
        ("", True),
        ("multiprocessing.RLock()", True),  # which settles on the default
        ("multiprocessing.set_start_method('fork')", True),
        ("multiprocessing.set_start_method('spawn')", False),
    ],
)
@pytest.mark.parametrize("default", ["fork", "forkserver"])
def test_a_function_that_does_not_pickle_wants_a_fork(
    path: str, default: str, program: str, works: bool
) -> None:
    script = f"""if True:
        import multiprocessing, sys
        import tfreel
        # As this Python has it, or as those from 3.14 on.
        defaults = multiprocessing.context._default_context
        methods = sorted(defaults.get_all_start_methods(), key=lambda name: name != {default!r})
        defaults._default_context = multiprocessing.get_context({default!r})
        multiprocessing.get_all_start_methods = lambda: methods
        {program}
        ds = tfreel.Dataset(sys.argv[1]).batch(5).map(lambda batch: 1, workers=2, processes=True)
        print(sum(ds) == len(ds))
    """
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.stdout == ("True\n" if works else "")
    assert ("pickle" in done.stderr.lower()) != works


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


# Batches of anything ----------------------------------------------------------------------------------------


def test_rows_of_any_kind_are_gathered() -> None:
    rows = [
        {"i": 1, "f": 0.5, "b": b"one", "a": np.arange(3), "r": np.arange(2), "o": np.zeros((2, 1))},
        {"i": 2, "f": 1.5, "b": b"", "a": np.arange(3), "r": np.arange(5), "o": np.zeros((1, 2))},
    ]
    batch = gather(rows)
    assert batch.num_rows == 2
    assert batch["i"].tolist() == [1, 2]
    assert batch["b"].to_list() == [b"one", b""]
    assert batch["a"].shape == (2, 3)
    assert batch["r"].to_list() == [[0, 1], [0, 1, 2, 3, 4]]
    assert batch["o"].dtype == object
    assert [int(row["i"]) for row in rows_of(batch)] == [1, 2]
    pair = gather([(1, {"x": 2}), (3, {"x": 4})])
    assert (pair[0].tolist(), pair[1]["x"].tolist()) == ([1, 3], [2, 4])
    assert gather([b"a", b"bc"]).to_list() == [b"a", b"bc"]
    with pytest.raises(ValueError, match=r"rows with \['x'\] and rows with \['y'\]"):
        gather([{"x": 1}, {"y": 1}])
    with pytest.raises(TypeError, match="only batches can be taken apart"):
        rows_of(3)


def test_batches_behind_functions_hold_what_native_ones_hold(ds: Dataset) -> None:
    for native, gathered in zip(ds.batch(10), ds.map(dict).batch(10), strict=True):
        assert native["n"].tolist() == gathered["n"].tolist()
        assert native["x"].tolist() == gathered["x"].tolist()
        assert native["t"].to_list() == gathered["t"].to_list()
    assert len(ds.map(dict).batch(10, drop_remainder=True)) == 10
    assert ds.map(dict).batch(10)[-1]["n"].tolist() == [100, 101, 102]
    rows = ds.batch(10).map(doubled, batched=False)
    assert rows[3]["n"].tolist() == [2 * n for n in range(30, 40)]


def test_rows_of_different_lengths_are_padded(ds: Dataset) -> None:
    for plan in (ds, ds.map(dict)):
        batch = plan.batch(4, pad=0)[0]
        assert batch["t"].to_list()[:2] == [[b"0", b"", b""], [b"1", b"1", b""]]
    assert ds.batch(4, pad={"t": b"-"})[0]["t"].to_list()[0] == [b"0", b"-", b"-"]
    assert isinstance(ds.batch(4, pad={"n": 0})[0]["t"], tfreel.Ragged)
    with pytest.raises(ValueError, match="no feature is called 'u'"):
        ds.batch(4, pad={"u": 0})
    numbers_ = tfreel.Batch({"r": gather([np.arange(1), np.arange(3)])})
    assert padded(numbers_, -1)["r"].tolist() == [[0, -1, -1], [0, 1, 2]]
    nested = gather([gather([np.arange(1), np.arange(2)]), gather([np.arange(3)])])
    assert padded(nested, 9).tolist() == [[[0, 9, 9], [0, 1, 9]], [[0, 1, 2], [9, 9, 9]]]


def test_sequences_are_elements_too(tmp_path: Path) -> None:
    with tfreel.Writer("s.tfrecord") as out:
        for i in range(10):
            out.write(tfreel.encode_sequence({"n": i}, {"tokens": [[j] * (j + 1) for j in range(i % 3)]}))
    ds = Dataset("s.tfrecord")
    assert sorted(ds[5]) == ["n", "tokens"]
    assert ds[5]["tokens"].to_list() == [[0], [1, 1]]
    batch = ds.shuffle(seed=1).batch(4)[0]
    assert batch.context["n"].shape == (4,)
    number, tokens = tfreel.FixedLenFeature([], "int64"), tfreel.RaggedFeature("int64")
    given = Dataset("s.tfrecord", {"n": number}, sequence_features={"tokens": tokens})
    assert given.batch(10)[0]["tokens"].to_list() == ds.batch(10)[0]["tokens"].to_list()
    assert list(Dataset("s.tfrecord", sequence_features={"tokens": tokens})[5]) == ["tokens"]
    dense = ds.batch(10, pad=-1)[0]["tokens"]
    assert dense.shape == (10, 2, 2)
    assert dense[5].tolist() == [[0, -1], [1, 1]]
    assert [int(row["n"]) for row in ds.batch(4).map(lambda b: b, batched=True).unbatch()] == list(range(10))


def test_everything_is_loaded_as_columns(ds: Dataset) -> None:
    assert ds.shuffle(seed=1).load()["n"].tolist() == numbers(ds.shuffle(seed=1))
    assert ds.batch(10).load()["x"].shape == (COUNT, 2)
    assert ds.filter(even).load()["n"].tolist() == list(range(0, COUNT, 2))
    assert ds.batch(10).map(doubled).load()["n"].tolist() == [2 * n for n in range(COUNT)]
    assert ds.filter(lambda _: False).load().num_rows == 0
    assert ds.split(0.1, 0.9, seed=1)[0].load().num_rows == 10


# Caches -----------------------------------------------------------------------------------------------------


class Counting:
    """Doubles, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, element: Any) -> Any:
        self.calls += 1
        return doubled(element)


@pytest.mark.parametrize("directory", [None, "kept"])
def test_a_cache_makes_everything_once(ds: Dataset, directory: str | None) -> None:
    counting = Counting()
    plan = ds.shuffle(seed=1).batch(10).map(counting).cache(directory)
    first = numbers(plan)
    assert sorted(first) == [2 * n for n in range(COUNT)]
    assert counting.calls == 11
    assert numbers(plan.repeat(2)) == first * 2
    assert counting.calls == 11
    assert "kept in " in repr(plan)


@pytest.mark.parametrize("directory", [None, "kept"])
def test_what_is_asked_for_by_position_is_kept_too(ds: Dataset, directory: str | None) -> None:
    counting = Counting()
    plan = ds.batch(10).map(counting).cache(directory)
    shuffled = plan.shuffle(seed=1).repeat(3)
    assert sorted(numbers(shuffled)) == sorted([2 * n for n in range(COUNT)] * 3)
    assert counting.calls == 11
    assert plan[3]["n"].tolist() == [2 * n for n in range(30, 40)]
    assert numbers(plan) == [2 * n for n in range(COUNT)]
    assert counting.calls == 11


def test_a_cache_in_a_directory_is_found_again_by_its_plan_alone(ds: Dataset, path: str) -> None:
    def plan(seed: int) -> tuple[Counting, Dataset]:
        counting = Counting()
        return counting, Dataset(path).shuffle(seed=seed).map(counting).cache("kept")

    counting, dataset = plan(1)
    rows = numbers(dataset)
    assert len(os.listdir("kept")) == 1
    counting, dataset = plan(1)
    assert (numbers(dataset), counting.calls) == (rows, 0)
    counting, dataset = plan(2)
    assert sorted(numbers(dataset)) == sorted(rows)
    assert counting.calls == COUNT
    assert len(os.listdir("kept")) == 2


def test_a_cache_that_was_not_finished_leaves_nothing_and_a_damaged_one_is_noticed(ds: Dataset) -> None:
    plan = ds.batch(10).cache("kept")
    steps = iter(plan)
    next(steps)
    del steps
    assert os.listdir("kept") == []
    list(plan)
    (name,) = os.listdir("kept")
    with open(f"kept/{name}", "r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    with pytest.raises(tfreel.CorruptError):
        list(ds.batch(10).cache("kept"))


@pytest.mark.parametrize("directory", [None, "kept"])
@pytest.mark.parametrize("rows", [None, 4])
def test_who_works_in_place_changes_nothing_in_a_cache(
    ds: Dataset, rows: int | None, directory: str | None
) -> None:
    few = ds.take(4) if rows is None else ds.take(4).batch(rows)
    plan = few.cache(directory)

    def spoilt(element: Any) -> Any:
        for name in element:
            if isinstance(element[name], np.ndarray):
                element[name][...] = 0
        return element

    expected = [element["x"].tolist() for element in few]
    for _ in range(2):
        assert [element["x"].tolist() for element in plan] == expected
        list(plan.map(spoilt))
        spoilt(plan[1 if rows is None else 0])


def test_a_cache_in_memory_serves_several_runs_at_once(ds: Dataset) -> None:
    counting = Counting()
    plan = ds.map(counting).cache()
    for first, second in zip(plan, plan, strict=True):
        assert first["n"] == second["n"]
    assert counting.calls == COUNT


def test_a_cache_fills_on_after_an_error(ds: Dataset) -> None:
    failures = [True]

    def once(element: Any) -> Any:
        if element["n"] == 60 and failures:
            failures.pop()
            raise ZeroDivisionError
        return element

    steps = iter(ds.map(once).cache())
    assert numbers(islice(steps, 60)) == list(range(60))
    with pytest.raises(ZeroDivisionError):
        next(steps)
    assert numbers(steps) == list(range(60, COUNT))


def test_what_is_kept_comes_back_as_it_was(ds: Dataset) -> None:
    batch = ds.batch(5)[1]
    again = unpack(pack(batch))
    assert again["t"].to_list() == batch["t"].to_list()
    assert again["x"].tobytes() == batch["x"].tobytes()
    row = ds[7]
    assert len(pack(row)) < 1000  # not with the bytes of all other rows
    assert repr(unpack(pack(row))) == repr(row)
    for value in (
        None,
        True,
        -(2**70),
        float("inf"),
        "ü",
        b"\0\xff",
        [1, (2.5, {"a": []})],
        np.float32(1.5),
        np.array([b"a", b"bc"]),
        np.zeros((0, 3), "i2"),
        np.array("2020-01-01", "M8[D]"),
    ):
        again = unpack(pack(value))
        assert type(again) is type(value)
        assert repr(again) == repr(value)
    assert np.isnan(unpack(pack(float("nan"))))
    unpack(pack(np.zeros(3)))[0] = 1  # what comes back may be changed
    for wrong in (object(), {1: 2}, np.array([None]), threading):
        with pytest.raises(TypeError, match="a cache in a directory"):
            pack(wrong)
    packed = pack(batch)
    for damaged in (b"", packed[:20], packed[:-1], b"\xff" * 40, pack(1).replace(b"plain", b"plane")):
        with pytest.raises(tfreel.DecodeError):
            unpack(damaged)


# Streams ----------------------------------------------------------------------------------------------------


def test_a_stream_gives_the_same_without_positions(ds: Dataset, path: str) -> None:
    stream = Dataset(path, stream=True)
    assert numbers(stream) == list(range(COUNT))
    assert numbers(stream.batch(10)) == list(range(COUNT))
    assert [batch.num_rows for batch in stream.batch(10)] == [10] * 10 + [3]
    assert [batch.num_rows for batch in stream.batch(10, drop_remainder=True)] == [10] * 10
    assert numbers(Dataset(path, raw=True, stream=True)) == list(range(COUNT))
    assert sorted(numbers(stream.shuffle(seed=1, buffer=30).batch(7))) == list(range(COUNT))
    assert stream.load()["x"].shape == (COUNT, 2)
    assert numbers(stream.filter(even).take(3)) == [0, 2, 4]
    for operation in (
        lambda: stream.shuffle(seed=1),
        lambda: stream[3],
        lambda: stream.shard(0, 2),
        lambda: stream.split(0.5, 0.5),
        lambda: len(stream),
        lambda: stream.sample(balance="c", seed=1),
    ):
        with pytest.raises(TypeError, match="reading as a stream"):
            operation()


def test_pipes_are_streams(path: str, tmp_path: Path) -> None:
    features = {"n": tfreel.FixedLenFeature([], "int64")}
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def feed() -> None:
        with tfreel.Writer(tmp_path / "all", mode="w") as out:
            out.write_many(tfreel.read(path))
        fifo.write_bytes((tmp_path / "all").read_bytes())

    threading.Thread(target=feed).start()
    with open(fifo, "rb") as pipe:
        with pytest.raises(ValueError, match="a pipe cannot be looked at twice: give the features"):
            Dataset(pipe)
        ds = Dataset(pipe, features).batch(10)
        assert numbers(ds) == list(range(COUNT))
        with pytest.raises(ValueError, match="a pipe can be read only once"):
            list(ds)


def test_errors_of_a_stream_say_where_they_are(path: str) -> None:
    wrong = Dataset(path, {"m": tfreel.FixedLenFeature([], "int64")}, stream=True)
    with pytest.raises(tfreel.MissingFeatureError, match=r"record 0 of .*a.tfrecord; it has"):
        next(iter(wrong.batch(50)))


def test_damaged_records_are_left_out_if_that_is_asked_for(path: str, tmp_path: Path) -> None:
    data = bytearray((tmp_path / path).parent.joinpath("a.tfrecord").read_bytes())
    data[200] ^= 1
    (tmp_path / "damaged.tfrecord").write_bytes(data)
    (tmp_path / "damaged.tfrecord.gz").write_bytes(gzip.compress(data))
    for name in ("damaged.tfrecord", "damaged.tfrecord.gz"):
        with pytest.raises(tfreel.CorruptError):
            Dataset(tmp_path / name)
        sound = Dataset(tmp_path / name, on_corrupt="skip")
        assert len(sound) == 39
        assert numbers(sound.shuffle(seed=1).batch(8)) == numbers(sound.shuffle(seed=1))
        assert numbers(sound) == numbers(Dataset(tmp_path / name, on_corrupt="skip", stream=True))
        assert numbers(pickle.loads(pickle.dumps(sound))) == numbers(sound)


# Processes --------------------------------------------------------------------------------------------------


def count_up(dataset: Any, queue: Any) -> None:
    queue.put(numbers(dataset))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("name", ["batches", "workers", "cached", "prefetched", "mixed"])
def test_a_dataset_that_is_being_read_goes_to_other_processes(ds: Dataset, method: str, name: str) -> None:
    plan = {
        "batches": ds.shuffle(seed=1).batch(7),
        "workers": ds.shuffle(seed=1).batch(7).map(doubled, workers=2),
        "cached": ds.shuffle(seed=1).batch(7).cache(),
        "prefetched": ds.shuffle(seed=1).batch(7).prefetch(2),
        "mixed": Dataset.mix([ds[:50], ds[50:].shuffle(seed=1)], seed=1).batch(7),
    }[name]
    expected = numbers(plan)
    steps = iter(plan)
    next(steps)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=count_up, args=(plan, queue))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(20)
    assert process.exitcode == 0
    assert numbers(steps) == expected[7:]


@pytest.mark.parametrize("name", ["batches", "workers", "cached", "prefetched", "stirred"])
def test_a_run_goes_on_in_the_child_of_a_fork(ds: Dataset, name: str) -> None:
    plan = {
        "batches": ds.shuffle(seed=1).batch(7),
        "workers": ds.shuffle(seed=1).batch(7).map(doubled, workers=2),
        "cached": ds.shuffle(seed=1).batch(7).cache(),
        "prefetched": ds.shuffle(seed=1).batch(7).prefetch(2),
        "stirred": ds.batch(7).shuffle(seed=1, buffer=5),
    }[name]
    expected = [numbers([batch]) for batch in plan]
    steps = iter(plan)
    assert [numbers([batch]) for batch in islice(steps, 4)] == expected[:4]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=count_up, args=(steps, queue))
    process.start()
    tail = [n for batch in expected[4:] for n in batch]
    assert queue.get(timeout=60) == tail
    process.join(20)
    assert numbers(steps) == tail


def test_a_notebook_shows_the_plan_and_trusts_no_name(path: str) -> None:
    tfreel.save("<b>.tfrecord", {"<script>": [1]})
    shown = Dataset("<b>.tfrecord").batch(2)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<li>in batches of 2</li>" in shown


# Batches of anything ----------------------------------------------------------------------------------------


def gathered(*values: Any) -> Any:
    return gather([{"a": value} for value in values])["a"]


def test_an_empty_list_is_one_of_whatever_the_others_are() -> None:
    found = gathered([2**53 + 1], [], [3, 4])
    assert found.values.dtype == np.int64
    assert found.to_list() == [[2**53 + 1], [], [3, 4]]
    assert gathered([], [1.5]).values.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ((10**15, b"a\0"), "bytes and int"),
        ((1, "x"), "int and str"),
        ((2**60 + 1, 0.5), "float and int"),
        ((np.uint64(2**63), np.int64(-1)), "int and uint"),
        (([2**60 + 1], [0.5, 1.5]), "float and int"),
        (([1, 2], ["x", "y"]), "int and str"),
    ],
)
def test_values_that_would_not_stay_what_they_are_make_no_batch(values: Any, kinds: str) -> None:
    with pytest.raises(ValueError, match=f"column 'a': a batch cannot hold values of {kinds} side by side"):
        gathered(*values)


def test_a_column_of_objects_holds_anything() -> None:
    assert gathered(None, "x").tolist() == [None, "x"]
    assert gathered(None, 3).tolist() == [None, 3]


def test_a_filter_says_on_which_record_it_failed(ds: Dataset) -> None:
    with pytest.raises(KeyError) as caught:
        list(ds.skip(3).filter(lambda row: row["nope"]))
    (note,) = caught.value.__notes__
    assert note.startswith("in filter(")
    assert "on record 3 of " in note


def test_what_is_no_batch_cannot_be_taken_apart(ds: Dataset) -> None:
    with pytest.raises(TypeError, match="only batches can be taken apart: 'n' is one int64"):
        list(ds.map(lambda row: {"n": row["n"]}).unbatch())
    with pytest.raises(ValueError, match="columns differ in length: 'a' has 2, 'b' has 1"):
        list(ds.map(lambda _: {"a": [1, 2], "b": [1]}).unbatch())
    with pytest.raises(ValueError, match="columns differ in length: 0 has 2, 1 has 1"):
        list(ds.map(lambda _: ([1, 2], [1])).unbatch())


def test_a_file_without_records_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    empty = Dataset(tmp_path / "empty")
    assert "without features" in repr(empty)
    assert (empty.load().num_rows, list(empty), list(empty.batch(2))) == (0, [], [])


def test_threads_that_share_a_run_get_every_element_once(ds: Dataset) -> None:
    steps = iter(ds.repeat(20).batch(2).map(lambda batch: batch))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: numbers(steps), range(6)))
    assert sorted(n for part in found for n in part) == sorted(list(range(COUNT)) * 20)


class OddError(Exception):
    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(f"{first}{second}")
        self.lock = threading.Lock()


def odd(row: Any) -> Any:
    raise OddError(1, 2)


def test_a_run_that_left_something_out_can_be_pickled(ds: Dataset) -> None:
    steps = iter(ds[:3].map(odd, on_error="skip"))
    assert list(steps) == []
    report = pickle.loads(pickle.dumps(steps)).report
    assert (report.skipped, str(report.examples[0].error)) == (3, "OddError('12')")


def test_a_child_that_is_forked_while_another_thread_reads_goes_on(ds: Dataset) -> None:
    inside, over = threading.Event(), threading.Event()

    def slow(row: Any) -> Any:
        if row["n"] == 1:
            inside.set()
            over.wait(20)
        return row

    steps = iter(ds.map(slow))
    next(steps)
    thread = threading.Thread(target=lambda: next(steps))
    thread.start()
    inside.wait(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        inside, over = threading.Event(), threading.Event()
        over.set()
        good = steps.state_dict()["state"] is not None and numbers([next(steps)]) == [1]
        os._exit(0 if good else 1)
    over.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_run_can_be_copied_and_pickled_where_it_stands(ds: Dataset) -> None:
    steps = iter(ds.shuffle(seed=1, buffer=9).batch(4))
    next(steps)
    copies = [pickle.loads(pickle.dumps(steps)), copy.deepcopy(steps)]
    rest = numbers(steps)
    assert [numbers(each) for each in copies] == [rest, rest]


def test_steps_of_a_row_do_not_depend_on_other_rows(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", [{"t": list(range(i % 4 + 1))} for i in range(12)])
    with tfreel.Writer(tmp_path / "b") as out:
        for i in range(12):
            out.write(tfreel.encode_sequence({"id": i}, {"t": [[1.0, 2.0]] * (i % 4 + 1)}))
    features = {"t": tfreel.FixedLenSequenceFeature([], "int64", allow_missing=True)}
    for stream in (False, True):
        for ds in (
            Dataset(tmp_path / "a", features, stream=stream),
            Dataset(tmp_path / "b", stream=stream),
        ):
            lengths = [1, 2, 3, 4] * 3
            assert [len(row["t"]) for row in ds] == lengths
            assert [len(row["t"]) for row in ds.map(dict)] == lengths
            steps = iter(ds)
            for _ in range(5):
                next(steps)
            resumed = iter(ds)
            resumed.load_state_dict(steps.state_dict())
            assert [len(row["t"]) for row in resumed] == lengths[5:]
            assert next(iter(ds.map(dict).batch(12, pad=0)))["t"].shape[:2] == (12, 4)
            assert next(iter(ds.batch(12)))["t"].shape[:2] == (12, 4)
            if not stream:
                assert [len(ds[i]["t"]) for i in range(12)] == lengths


def test_one_name_in_context_and_lists_makes_no_row(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a") as out:
        out.write(tfreel.encode_sequence({"label": 7, "id": 1}, {"label": [[1], [2]]}))
    ds = Dataset(tmp_path / "a")
    batch = next(iter(ds.batch(1)))
    assert (batch.context["label"].tolist(), batch.sequences["label"].tolist()) == ([7], [[1, 2]])
    for door in (lambda: ds[0], lambda: list(ds), lambda: tfreel.save(tmp_path / "b", ds)):
        with pytest.raises(ValueError, match="'label' is in the context and in the feature lists"):
            door()


def test_values_at_positions_keep_them(tmp_path: Path) -> None:
    some = [{"i": [3, 1], "v": [0.5, 1.5], "w": ["a", "b"]}, {"i": [7], "v": [2.5], "w": ["c"]}, {}]
    tfreel.save(tmp_path / "a", some * 4)
    ds = Dataset(
        tmp_path / "a",
        {
            "s": tfreel.SparseFeature("i", "v", "float32", 10),
            "w": tfreel.SparseFeature("i", "w", "bytes", 10),
        },
    )
    dense = ds.batch(12)[0]["s"].to_dense()
    assert dense[:3].tolist() == [[0, 1.5, 0, 0.5] + [0] * 6, [0] * 7 + [2.5, 0, 0], [0] * 10]
    assert ds[0]["s"].indices.tolist() == [[1], [3]]
    assert ds[0]["s"].values.tolist() == [1.5, 0.5]
    for plan in (
        ds.map(dict).batch(12),
        ds.batch(5).unbatch().batch(12),
        ds.batch(12).map(dict, batched=False),
        ds.cache().batch(12),
        ds.batch(12).cache(),
        ds.cache(tmp_path / "rows").batch(12),
        ds.batch(12).cache(tmp_path / "batches"),
    ):
        for batch in (next(iter(plan)), next(iter(plan))):
            assert batch["s"].to_dense().tolist() == dense.tolist()
            assert batch["w"].to_dense()[0].to_list() == [b"", b"b", b"", b"a"] + [b""] * 6
    column = ds.batch(12)[0]["s"]
    assert column[[1, 0]].to_dense().tolist() == dense[[1, 0]].tolist()
    assert column[4:1:-1].to_dense().tolist() == dense[4:1:-1].tolist()
    assert column.take(dense[:, 7] > 0).to_dense().tolist() == dense[dense[:, 7] > 0].tolist()
    assert ds.batch(12)[0].slice(1, 3)["s"].to_dense().tolist() == dense[1:3].tolist()
    with pytest.raises(ValueError, match=r"column 's': a batch cannot hold sparse values of the shapes"):
        gather([{"s": ds[0]["s"]}, {"s": column}])


class Scale:
    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, row: Any) -> Any:
        return {"n": row["n"] * self.by}


def scaled(row: Any, by: int) -> Any:
    return {"n": row["n"] * by}


def scaling(by: int) -> Any:
    return lambda row: {"n": row["n"] * by}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda row: {"n": row["n"] + 1}, lambda row: {"n": row["n"] * 10}),
        (lambda row: {"n": row["n"] + 1}, lambda row: {"n": row["n"] + 2}),
        (partial(scaled, by=2), partial(scaled, by=3)),
        (Scale(2), Scale(3)),
        (Scale(2).__call__, Scale(3).__call__),
        (scaling(2), scaling(3)),
    ],
    ids=["code", "constants", "partial", "object", "method", "closure"],
)
def test_a_directory_keeps_what_each_function_made(
    ds: Dataset, tmp_path: Path, first: Any, second: Any
) -> None:
    def kept(function: Any) -> list[int]:
        return numbers(ds.map(function).cache(tmp_path / "kept"))

    expected = [numbers(ds.map(first)), numbers(ds.map(second))]
    for _ in range(2):
        assert [kept(first), kept(second)] == expected
    assert len(list((tmp_path / "kept").glob("*.tfrecord"))) == 2


def test_a_function_is_found_again_by_another_process(path: str, tmp_path: Path) -> None:
    script = f"""
import numpy as np, tfreel
from functools import partial
def scaled(row, by, table, options):
    return {{"n": row["n"] * by}}
table, words = np.arange(5), {{"b", "a", "c"}}
made = tfreel.Dataset({path!r}).map(partial(scaled, by=2, table=table, options=words))
made = made.filter(lambda row: row["n"] in (2, 4)).map(tfreel.images.decoder, on_error="skip")
print(len(list(made.cache({str(tmp_path / "kept")!r}))))
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    assert len(list((tmp_path / "kept").glob("*.tfrecord"))) == 1


class Carrier:
    """Holds what cannot be pickled beside what counts."""

    def __init__(self, by: int) -> None:
        self.by = by
        self.words = {"a", "b", "c"}
        self.lock = threading.Lock()
        self.function = lambda: None

    def scaled(self, row: Any) -> Any:
        return {"n": row["n"] * self.by}


def wrapped(by: int) -> Any:
    return lru_cache(lambda row: row * by)


def carried(by: int) -> Any:
    carrier = Carrier(by)
    return lambda row: carrier.scaled(row)


@pytest.mark.parametrize("make", [wrapped, carried, lambda by: Carrier(by).scaled, lambda by: {1: by}.get])
def test_functions_are_told_apart_by_all_that_they_carry(make: Any) -> None:
    assert fingerprint_of(make(2)) == fingerprint_of(make(2))
    assert fingerprint_of(make(2)) != fingerprint_of(make(3))


def test_what_is_shared_or_deep_takes_no_time() -> None:
    shared: list[Any] = [1]
    for _ in range(60):
        shared = [shared, shared]
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value in (shared, deep):
        assert len(fingerprint_of(partial(scaled, by=value))) == 16  # type: ignore[arg-type]


def test_only_one_of_many_fills_a_directory_and_none_waits(ds: Dataset, tmp_path: Path) -> None:
    made = ds.map(doubled).cache(tmp_path / "kept")
    begun = iter(made)
    next(begun)
    assert numbers(made) == numbers(ds.map(doubled))  # not kept: another run is at it
    assert numbers([made[5], made[-1]]) == [10, 2 * COUNT - 2]
    assert list((tmp_path / "kept").glob("*.tfrecord")) == []
    assert len(numbers(begun)) == COUNT - 1
    assert len(list((tmp_path / "kept").glob("*.tfrecord"))) == 1
    other = ds.map(even).cache(tmp_path / "other")
    assert len(list(other.zip(other))) == COUNT
    threads = ds.map(scaling(2)).cache(tmp_path / "threads")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: sum(numbers(threads)), range(4))) == [COUNT * (COUNT - 1)] * 4


def test_damage_passed_over_on_the_way_to_an_error_is_reported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        tfreel.save(tmp_path / name, {"n": [1, 2]})
    whole = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(whole + bytes(30))  # a tail, then a record that is damaged
    (tmp_path / "b").write_bytes(b"x" + whole[1:])
    steps = iter(Dataset([tmp_path / "a", tmp_path / "b"], raw=True, stream=True, on_corrupt="tail"))
    assert len([next(steps), next(steps)]) == 2
    with pytest.raises(tfreel.CorruptError):
        next(steps)
    assert [fault.kind for fault in steps.report.faults] == ["zero_filled_tail"]


@pytest.mark.parametrize("stream", [False, True])
def test_damage_that_is_passed_over_is_reported(tmp_path: Path, *, stream: bool) -> None:
    tfreel.save(tmp_path / "a", {"n": range(20)})
    data = bytearray((tmp_path / "a").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "a").write_bytes(data)
    whole = Dataset(tmp_path / "a", on_corrupt="skip", stream=stream)
    plans = [whole, whole.batch(4), whole.map(doubled).repeat(3), whole.concat(whole)]
    if not stream:
        plans += [whole.shuffle(seed=1).batch(4), whole.batch(4).shuffle(seed=1), whole[[1, 2]]]
    for plan in plans:
        steps = iter(plan)
        for _ in steps:
            pass
        (fault,) = steps.report.faults
        assert (fault.path, fault.kind, fault.record) == (str(tmp_path / "a"), "length_crc", 10)
        assert steps.report.skipped == 0
    assert len(list(whole)) == 19


def test_what_functions_make_is_padded_by_its_name_and_in_all_dimensions(ds: Dataset) -> None:
    def made(row: Any) -> Any:
        n = row["n"].item() % 4
        return {"list": list(range(n)), "pixels": np.full((n + 1, 4 - n), n, np.uint8), "n": row["n"]}

    batch = next(iter(ds.map(made).batch(4, pad={"list": -1})))
    assert batch["list"].tolist() == [[-1, -1, -1], [0, -1, -1], [0, 1, -1], [0, 1, 2]]
    assert batch["pixels"].dtype == object
    pixels = next(iter(ds.map(made).batch(4, pad=9)))["pixels"]
    assert (pixels.shape, pixels.dtype) == ((4, 4, 4), np.uint8)
    for n in range(4):
        assert (pixels[n, : n + 1, : 4 - n] == n).all()
        assert (pixels[n] == 9).sum() == 16 - (n + 1) * (4 - n)
    for pad in (0.5, 256, -1, "x"):
        with pytest.raises(TypeError, match=f"column 'pixels' cannot be padded: .*uint8, not {pad!r}"):
            next(iter(ds.map(made).batch(4, pad={"pixels": pad})))
    with pytest.raises(ValueError, match="no feature is called 'list'; there are"):
        ds.batch(4, pad={"list": 0})


def test_batches_of_batches_are_rows_of_rows(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", [{"t": list(range(i % 4 + 1))} for i in range(8)])
    ds = Dataset(tmp_path / "a", {"t": tfreel.VarLenFeature("int64")})
    batch = next(iter(ds.batch(2).batch(2)))
    assert batch["t"].to_list() == [[[0], [0, 1]], [[0, 1, 2], [0, 1, 2, 3]]]
    pairs = list(ds.batch(2).map(lambda batch: (batch["t"], batch["t"])).unbatch())
    assert [first.tolist() for first, _ in pairs[:2]] == [[0], [0, 1]]


def test_rows_within_rows_are_batches_within_batches(ds: Dataset) -> None:
    def nested(row: Any) -> Any:
        return {"inputs": {"x": row["n"], "list": list(range(row["n"].item() % 3))}, "pair": (row["n"], b"a")}

    made = ds.map(nested).batch(4)
    first = next(iter(made))
    assert isinstance(first, dict)
    assert first["inputs"]["x"].tolist() == [0, 1, 2, 3]
    assert first["inputs"]["list"].to_list() == [[], [0], [0, 1], []]
    assert first["pair"][0].tolist() == [0, 1, 2, 3]
    assert first["pair"][1].to_list() == [b"a"] * 4
    padded = next(iter(ds.map(nested).batch(4, pad=-1)))
    assert padded["inputs"]["list"].tolist() == [[-1, -1], [0, -1], [0, 1], [-1, -1]]
    rows = list(made.unbatch())
    assert [row["inputs"]["x"].item() for row in rows] == [row["n"].item() for row in ds]
    assert rows[2]["pair"] == (2, b"a")


@pytest.mark.parametrize(
    ("elements", "error", "told"),
    [
        ([(1, 2), (1, 2, 3)], ValueError, "tuples of 2 and of 3 members"),
        ([(1, 2), None], TypeError, "tuples and values of type NoneType"),
        ([{"a": 1}, 3], TypeError, "rows and values of type int"),
        ([{"a": {"b": 1}}, {"a": None}], TypeError, "rows and values of type NoneType"),
    ],
)
def test_elements_that_are_not_alike_make_no_batch(elements: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=f"a batch cannot hold {told}"):
        gather(elements)


def test_numbers_that_stay_what_they_are_share_a_batch() -> None:
    assert gathered(1, 2.5).tolist() == [1, 2.5]
    assert gathered(True, 2).tolist() == [1, 2]
    assert gathered(np.float32(0.5), 0.25).tolist() == [0.5, 0.25]
    assert gathered(np.array([1], np.int32), np.array([2, 3])).to_list() == [[1], [2, 3]]


COLLECTING = """
import gc, multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor
import tfreel

def collect(row):
    gc.collect()
    return row

if __name__ == "__main__":
    ds = tfreel.Dataset(sys.argv[1])
    ending = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))
    ending.submit(os.getpid).result()
    gc.disable()
    with ending._shutdown_lock:  # as its own thread has it while it ends
        garbage = [ending]
        garbage.append(garbage)
        del ending, garbage
        print(len(list(ds[:5].map(collect, workers=2, processes=True))), flush=True)
    for process in multiprocessing.active_children():
        process.kill()
    os._exit(0)
"""


def test_processes_do_not_wait_for_those_of_before_that_are_still_ending(path: str, tmp_path: Path) -> None:
    script = tmp_path / "collecting.py"
    script.write_text(COLLECTING)
    done = subprocess.run(
        [sys.executable, script, path], capture_output=True, check=True, timeout=60, text=True
    )
    assert done.stdout == "5\n"
