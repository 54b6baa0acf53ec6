"""Scans: the records of files as a table, in batches, in parts, with conditions."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel import _core
from tfreel.columns.batch import Batch

from columns_equal import assert_same_batch
from memory import PEAK_BYTES

ROWS = 5000


def made(path: str, rows: int = ROWS, *, first: int = 0, **options: Any) -> None:
    numbers = np.arange(first, first + rows)
    columns = {
        "label": numbers % 10,
        "name": [f"no. {i}" for i in numbers],
        "x": np.stack([numbers, -numbers], axis=1).astype(np.float32),
    }
    tfreel.save(path, columns, **options)


def names(scan: tfreel.Scan) -> list[bytes]:
    return [name for batch in scan.select(["name"]).batches() for name in batch["name"].to_list()]


def expected(rows: int = ROWS, label: int | None = None) -> list[bytes]:
    return [f"no. {i}".encode() for i in range(rows) if label is None or i % 10 == label]


# Reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_scan_gives_what_load_gives(threads: int | None, suffix: str) -> None:
    made(f"a.tfrecord{suffix}", shards=3)
    scan = tfreel.scan(f"a.tfrecord{suffix}", threads=threads)
    assert_same_batch(Batch.from_arrow(scan), tfreel.load(f"a.tfrecord{suffix}"))


def test_batches_have_the_rows_and_bytes_that_were_allowed() -> None:
    made("a.tfrecord")
    by_rows = [batch.num_rows for batch in tfreel.scan("a.tfrecord", batch_rows=700).batches()]
    assert by_rows == [700] * 7 + [100]
    sizes = [batch.num_rows for batch in tfreel.scan("a.tfrecord", batch_bytes=1).batches()]
    assert sum(sizes) == ROWS
    assert len(sizes) > 1  # a block of records at a time


def test_the_first_batches_are_small_so_that_nobody_waits_for_them() -> None:
    made("a.tfrecord", 30_000)
    sizes = [batch.num_rows for batch in tfreel.scan("a.tfrecord").batches()]
    assert sizes == [1024, 4096, 16384, 30_000 - 1024 - 4096 - 16384]


def test_every_stream_is_a_new_reading() -> None:
    made("a.tfrecord", 10)
    scan = tfreel.scan("a.tfrecord")
    first = scan.batches()
    assert next(first).num_rows == 10
    assert Batch.from_arrow(scan).num_rows == Batch.from_arrow(scan).num_rows == 10
    assert next(first, None) is None
    made("a.tfrecord", 20, mode="w")
    assert Batch.from_arrow(scan).num_rows == 20


def test_columns_come_in_the_order_they_are_asked_for() -> None:
    made("a.tfrecord", 10)
    scan = tfreel.scan("a.tfrecord", columns=["x", "label"])
    assert scan.columns == list(scan.features) == ["x", "label"]
    (batch,) = scan.batches()
    assert batch.column_names == ["x", "label"]
    assert Batch.from_arrow(scan.select(["name"]))["name"].to_list() == expected(10)


def test_columns_that_are_not_asked_for_are_not_decoded() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write({"label": 1, "x": 1.0})
        out.write({"label": 2, "x": "of another kind"})
    features = {"label": tfreel.FixedLenFeature([], "int64"), "x": tfreel.FixedLenFeature([], "float32")}
    scan = tfreel.scan("a.tfrecord", features=features)
    assert Batch.from_arrow(scan.select(["label"]))["label"].tolist() == [1, 2]
    with pytest.raises(tfreel.FeatureMismatchError, match=r"record 1 of a.tfrecord"):
        list(scan.batches())


def test_lists_and_absent_features_keep_one_type_in_all_batches() -> None:
    rows = [{"steps": list(range(i % 4 + 1)), **({"tag": "t"} if i % 3 else {})} for i in range(3000)]
    tfreel.save("a.tfrecord", rows)
    features = {
        "steps": tfreel.FixedLenSequenceFeature([], "int64", allow_missing=True),
        "tag": tfreel.VarLenFeature("bytes"),
    }
    scan = tfreel.scan("a.tfrecord", features=features, batch_rows=500)
    table = Batch.from_arrow(scan)
    assert table["steps"].to_list() == [row["steps"] for row in rows]
    assert table["tag"].to_list() == [[b"t"] if "tag" in row else [] for row in rows]
    assert table["tag"].present.tolist() == ["tag" in row for row in rows]


def test_sequence_examples_have_their_lists_beside_their_context() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        for i in range(2000):
            out.write(
                tfreel.encode_sequence({"id": i}, {"tokens": [[1, 2]] * (i % 3), "one": [[i]] * (i % 2)})
            )
    scan = tfreel.scan("a.tfrecord", batch_rows=300)
    assert scan.columns == ["id", "one", "tokens"]
    table = Batch.from_arrow(scan.where("id > 3"))
    assert table["id"].tolist() == list(range(4, 2000))
    assert [np.shape(row)[0] for row in table["tokens"].to_list()] == [i % 3 for i in range(4, 2000)]
    assert scan.select(["one"]).where("2 in tokens and one == 7").count() == 1


# Conditions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_a_condition_leaves_the_rows_for_which_it_is_true(threads: int) -> None:
    made("a.tfrecord", shards=2)
    every = [name for batch in tfreel.scan("a.tfrecord").batches() for name in batch["name"].to_list()]
    scan = tfreel.scan("a.tfrecord", where="label == 3", threads=threads)
    labels = Batch.from_arrow(scan)["label"]
    assert labels.tolist() == [3] * (ROWS // 10)
    assert names(scan) == [name for name in every if name.endswith(b"3")]
    assert scan.count() == ROWS // 10


def test_of_rejected_rows_only_the_condition_is_decoded() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write({"label": 1, "x": "of another kind"})
        out.write({"label": 2, "x": 2.0})
    features = {"label": tfreel.FixedLenFeature([], "int64"), "x": tfreel.FixedLenFeature([], "float32")}
    scan = tfreel.scan("a.tfrecord", features=features, where="label == 2")
    assert Batch.from_arrow(scan)["x"].tolist() == [2.0]
    with pytest.raises(tfreel.FeatureMismatchError, match=r"record 0 of a.tfrecord"):
        list(tfreel.scan("a.tfrecord", features=features, where="label in [1, 2]").batches())


def test_conditions_add_up() -> None:
    made("a.tfrecord", 100)
    scan = tfreel.scan("a.tfrecord", where="label == 3 or label == 4").where("name != 'no. 3'")
    assert scan.condition == "(label == 3 or label == 4) and (name != 'no. 3')"
    assert scan.count() == 19
    assert scan.select(["x"]).head(2).count() == 2


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("f == 0.1", [0]),  # which a float32 is not
        ("f <= 1e39", [0, 1]),  # larger than any float32, and less than infinity
        ("f > -1e400", [0, 1, 2]),
        (f"f < 1{'0' * 400}", [0, 1]),
        ("i == 9007199254740992.0", [0]),
        ("i > 9007199254740992.0", [1, 2]),
        ("i < 9.3e18", [0, 1, 2]),
        ("i >= 0.5", [0, 1, 2]),
    ],
)
def test_numbers_are_compared_to_the_last_bit(condition: str, rows: list[int]) -> None:
    floats = np.array([0.1, 3.4e38, np.inf], np.float32)
    tfreel.save("a.tfrecord", {"f": floats, "i": [2**53, 2**53 + 1, 2**63 - 1], "row": [0, 1, 2]})
    (found,) = tfreel.scan("a.tfrecord", ["row"], condition).batches()
    assert found["row"].tolist() == rows


def test_conditions_may_be_as_many_as_one_likes() -> None:
    made("a.tfrecord", 100)
    scan = tfreel.scan("a.tfrecord")
    for i in range(60):
        scan = scan.where(f"name != 'no. {i}' or label == 3")
    assert scan.count() == 46
    again = tfreel.scan("a.tfrecord", where=scan.condition)
    assert names(again) == names(scan) == names(pickle.loads(pickle.dumps(scan)))


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("lable == 3", "did you mean 'label'"),
        ("label ==", "expected a number"),
        ("label == 'cat'", "'label' holds numbers, not text"),
        ("name == 3", "'name' holds text, not a number"),
    ],
)
def test_a_wrong_condition_is_refused_before_anything_is_read(condition: str, message: str) -> None:
    made("a.tfrecord", 10)
    with pytest.raises(ValueError, match=message):
        tfreel.scan("a.tfrecord", where=condition)


def test_nothing_may_match() -> None:
    made("a.tfrecord", 100)
    scan = tfreel.scan("a.tfrecord", where="label == 77")
    assert list(scan.batches()) == []
    table = Batch.from_arrow(scan)
    assert table.num_rows == 0
    assert table["x"].shape == (0, 2)


# Counting ---------------------------------------------------------------------------------------------------


def test_rows_are_counted_without_reading_where_there_is_an_index() -> None:
    made("a.tfrecord", 100)
    scan = tfreel.scan("a.tfrecord")
    assert scan.num_rows is None
    assert scan.count() == 100
    tfreel.build_index("a.tfrecord")
    times = os.stat("a.tfrecord")
    with open("a.tfrecord", "r+b") as file:  # a record in the middle, of which no sample is taken
        file.seek(times.st_size // 2 + 30)
        file.write(b"\xff")
    os.utime("a.tfrecord", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert scan.count() == 100
    with pytest.raises(tfreel.CorruptError):
        list(scan.batches())


def test_rows_of_a_set_with_a_manifest_are_counted_without_reading() -> None:
    made("a.tfrecord", 100, shards=2)
    scan = tfreel.scan("a.tfrecord")
    with open(scan.files[0], "r+b") as file:
        file.seek(os.path.getsize(scan.files[0]) // 2)
        file.write(b"\xff\xff\xff")
    assert scan.count() == 100
    assert scan.where("label == 1").select(["x"]).head(0).count() == 0
    with pytest.raises(tfreel.CorruptError):
        scan.where("label == 1").count()
    with open(scan.files[0], "ab") as file:  # not what the manifest promised
        file.write(b"more")
    with pytest.raises(tfreel.CorruptError):
        scan.count()


def test_head_counts_no_more_than_it_gives() -> None:
    made("a.tfrecord", 100)
    scan = tfreel.scan("a.tfrecord")
    for rows in (0, 1, 99, 100, 1000):
        assert scan.head(rows).count() == min(rows, 100) == len(names(scan.head(rows)))
    assert scan.head(10).head(20).count() == 10
    assert scan.where("label == 1").head(3).count() == 3
    with pytest.raises(ValueError, match="where before head"):
        scan.head(3).where("label == 1")


def test_head_reads_no_further_than_it_must() -> None:
    made("a.tfrecord", 50_000)
    with open("a.tfrecord", "r+b") as file:
        file.truncate(os.path.getsize("a.tfrecord") - 5)
    assert names(tfreel.scan("a.tfrecord").head(3)) == expected(3)


# Parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("index", ["auto", "sidecar"])
def test_parts_hold_all_rows_in_order(count: int, index: Any) -> None:
    made("a-0.tfrecord", 1000)
    made("a-1.tfrecord", 1, first=1000)
    made("a-2.tfrecord.gz", 1999, first=1001)
    made("a-3.tfrecord", 2000, first=3000)
    tfreel.build_index(["a-3.tfrecord", "a-2.tfrecord.gz"])
    parts = tfreel.scan("a-*.tfrecord*").split(count, index=index)
    assert len(parts) <= count
    assert [name for part in parts for name in names(part)] == expected()
    if index == "auto":
        assert sum(part.num_rows or 0 for part in parts) == ROWS
        assert all(part.num_rows == len(names(part)) for part in parts)
    again = [piece for part in parts for piece in part.split(3, index=index)]
    assert [name for part in again for name in names(part)] == expected()


def test_parts_of_so_many_rows_never_cross_files() -> None:
    made("a-0.tfrecord", 1000)
    made("a-1.tfrecord", 250, first=1000)
    parts = tfreel.scan("a-*.tfrecord").split(rows=300, index="auto")
    assert [part.num_rows for part in parts] == [250] * 5
    assert [len(part.files) for part in parts] == [1] * 5
    assert [name for part in parts for name in names(part)] == expected(1250)


def test_parts_are_of_about_the_same_size() -> None:
    rows = [{"x": b"x" * (10_000 if i < 100 else 10)} for i in range(1000)]
    tfreel.save("a.tfrecord", rows)
    parts = tfreel.scan("a.tfrecord").split(4, index="auto")
    sizes = [sum(batch.nbytes for batch in part.batches()) for part in parts]
    assert max(sizes) < 1.5 * min(sizes)


def test_parts_of_an_empty_file_are_none_and_its_scan_has_no_rows() -> None:
    made("a.tfrecord", 10)
    with tfreel.Writer("b.tfrecord"):
        pass
    scan = tfreel.scan(["b.tfrecord", "a.tfrecord"])
    assert names(scan) == expected(10)
    assert sum(part.num_rows or 0 for part in scan.split(5, index="auto")) == 10
    with pytest.raises(ValueError, match=r"nothing tells the features of b.tfrecord"):
        tfreel.scan("b.tfrecord")
    empty = tfreel.scan("b.tfrecord", features={"x": tfreel.FixedLenFeature([], "int64")})
    assert empty.count() == Batch.from_arrow(empty).num_rows == 0


def test_parts_keep_columns_and_conditions_and_do_not_know_their_rows_then() -> None:
    made("a.tfrecord")
    parts = tfreel.scan("a.tfrecord", columns=["name"], where="label == 3").split(3, index="auto")
    assert [part.num_rows for part in parts] == [None] * 3
    assert [name for part in parts for name in names(part)] == expected(label=3)


def test_a_file_that_changed_after_it_was_divided_is_refused() -> None:
    made("a.tfrecord")
    parts = tfreel.scan("a.tfrecord").split(3, index="auto")
    made("a.tfrecord", 4000, mode="w")
    assert sum(batch.num_rows for part in parts[:2] for batch in part.batches()) > 3000
    with pytest.raises(tfreel.StaleIndexError, match=r"a.tfrecord: the file changed after it was divided"):
        list(parts[2].batches())
    row = {"label": 1, "name": "longer than before", "x": [0.0, 1.0]}
    tfreel.save("a.tfrecord", [row] * ROWS, mode="w")
    for part in parts:
        with pytest.raises(tfreel.TfreelError, match=r"a.tfrecord"):
            list(part.batches())


def test_what_cannot_be_divided_says_why() -> None:
    made("a.tfrecord", 10)
    scan = tfreel.scan("a.tfrecord")
    with pytest.raises(ValueError, match="split before head"):
        scan.head(3).split(2)
    with pytest.raises(ValueError, match="either parts or rows"):
        scan.split()
    with pytest.raises(ValueError, match="at least 1"):
        scan.split(0)


# Bad input --------------------------------------------------------------------------------------------------


def damaged(path: str) -> None:
    made(path)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        file.write(b"\xff\xff\xff")


def test_damage_raises_after_every_row_before_it() -> None:
    damaged("a.tfrecord")
    stream = tfreel.scan("a.tfrecord", batch_rows=100).batches()
    sizes: list[int] = []
    with pytest.raises(tfreel.CorruptError, match=r"a.tfrecord: record \d+ at byte"):
        sizes.extend(batch.num_rows for batch in stream)
    assert 2000 < sum(sizes) < 3000


def test_damage_that_is_passed_over_is_reported() -> None:
    damaged("a.tfrecord")
    scan = tfreel.scan("a.tfrecord", on_corrupt="skip")
    stream = scan.batches()
    rows = sum(batch.num_rows for batch in stream)
    assert stream.report.fault_count == 1
    assert ROWS - 3 < rows < ROWS
    assert scan.count() == rows
    with pytest.warns(tfreel.TfreelWarning, match=r"passed over: a.tfrecord: record"):
        assert Batch.from_arrow(scan).num_rows == rows
    (part,) = scan.split(4, index="auto")  # where damage is, rows have no fixed place
    assert sum(batch.num_rows for batch in part.batches()) == rows


def test_damage_reaches_who_reads_the_arrow_stream_in_words() -> None:
    damaged("a.tfrecord")
    with pytest.raises(RuntimeError, match=r"ChecksumError: a.tfrecord: record \d+ at byte \d+: checksum"):
        Batch.from_arrow(tfreel.scan("a.tfrecord"))


def test_wrong_questions_are_refused() -> None:
    made("a.tfrecord", 10)
    with pytest.raises(ValueError, match="did you mean 'label'"):
        tfreel.scan("a.tfrecord", columns=["lable"])
    with pytest.raises(ValueError, match="asked for twice"):
        tfreel.scan("a.tfrecord", columns=["label", "label"])
    with pytest.raises(TypeError, match="a list of names"):
        tfreel.scan("a.tfrecord", columns="label")
    for ask in (tfreel.scan("a.tfrecord").where, lambda function: tfreel.scan("a.tfrecord", where=function)):
        with pytest.raises(TypeError, match=r"a condition is text, such as .*, not function"):
            ask(lambda row: True)
    with pytest.raises(ValueError, match="batch_rows must be at least 1"):
        tfreel.scan("a.tfrecord", batch_rows=0)
    with pytest.raises(ValueError, match="a stream has no random access"), open("a.tfrecord", "rb") as file:
        tfreel.scan(file)
    with pytest.raises(FileNotFoundError):
        tfreel.scan("b.tfrecord")


# Life -------------------------------------------------------------------------------------------------------


def test_a_scan_pickles_as_its_configuration() -> None:
    made("a.tfrecord")
    scan = tfreel.scan("a.tfrecord", columns=["name"], where="label == 3", threads=1)
    list(scan.batches())
    assert scan.count() == 500
    packed = pickle.dumps(scan)
    assert len(packed) < 2000
    again = pickle.loads(packed)
    assert repr(again) == repr(scan)
    assert names(again) == expected(label=3)
    for part in pickle.loads(pickle.dumps(scan.split(3, index="auto"))):
        assert part.count() > 100


def test_threads_end_with_a_stream_that_is_dropped() -> None:
    made("a.tfrecord", 50_000)
    before = threading.active_count()
    streams = [tfreel.scan("a.tfrecord", batch_rows=100, threads=2).batches() for _ in range(3)]
    for stream in streams:
        next(stream)
    streams[0].close()
    assert next(streams[0], None) is None
    capsule = tfreel.scan("a.tfrecord", batch_rows=100, threads=2).__arrow_c_stream__()
    arrow = _core.ArrowStream(capsule)
    assert arrow.next().length == 100
    del streams, stream, capsule, arrow
    gc.collect()
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_with_one_thread_no_other_is_started() -> None:
    made("a.tfrecord", 5000)
    before = threading.active_count()
    stream = tfreel.scan("a.tfrecord", batch_rows=100, threads=1).batches()
    next(stream)
    assert threading.active_count() == before


PROGRAM = (
    PEAK_BYTES
    + """
import tfreel
scan = tfreel.scan("a.tfrecord", batch_bytes=1 << 20, threads=2)
next(scan.batches())
before = peak_bytes()
rows = sum(batch.num_rows for batch in scan.batches())
print(rows, peak_bytes() - before >> 20)
"""
)


def test_memory_is_bounded_by_the_batches_and_not_by_the_file() -> None:
    with tfreel.Writer("a.tfrecord") as out:
        record = tfreel.encode({"x": np.zeros(1 << 16, np.float32)})
        out.write_many([record] * 800)  # 210 MB
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    rows, grown = map(int, done.stdout.split())
    assert rows == 800
    assert grown < 60


def test_folders_of_data_sets_know_their_splits_and_features() -> None:
    made("in.tfrecord", 100)
    tfreel.pack("in.tfrecord", "folder", split={"train": 0.8, "test": 0.2}, seed=1)
    assert tfreel.scan("folder", split="test").count() == 20
    assert tfreel.scan("folder").count() == 100
