"""Ray Data, on a cluster of this machine: all rows once, also when workers die; nothing half published."""

from __future__ import annotations

import os
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
from ray.data.expressions import col, lit

import tfreel
from tfreel.adapters.ray import Datasource, read, write
from tfreel.adapters.ray_conditions import columns_of, condition_of

from on_workers import die_at, fail_at

ROWS = 2000

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.usefixtures("cluster"),
    # Ray's own
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _quiet(cluster: str) -> None:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True


def columns(count: int = ROWS) -> dict[str, Any]:
    return {
        "label": np.arange(count) % 7,
        "weight": np.arange(count, dtype=np.float32) / 8,
        "name": [f"row {i}" for i in range(count)],
        "box": np.arange(4 * count, dtype=np.float32).reshape(count, 4),
        "tokens": [list(range(i % 4)) if i % 4 else None for i in range(count)],
    }


FEATURES = {
    "label": tfreel.FixedLenFeature([], "int64"),
    "weight": tfreel.FixedLenFeature([], "float32"),
    "name": tfreel.FixedLenFeature([], "bytes"),
    "box": tfreel.FixedLenFeature([2, 2], "float32"),
    "tokens": tfreel.RaggedFeature("int64"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three shards, with indexes."""
    tfreel.save(tmp_path / "train.tfrecord", columns(), shards=3)
    tfreel.build_index(tmp_path / "train.tfrecord")
    return tmp_path / "train.tfrecord"


def table_of(ds: Any) -> pa.Table:
    blocks = [ray.get(reference) for reference in ds.to_arrow_refs()]
    return pa.concat_tables([block for block in blocks if block.num_rows] or blocks)


def expected(path: Path, **options: Any) -> pa.Table:
    return pa.table(tfreel.scan(path, features=FEATURES, **options))


# Reading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_all_rows_are_read_once_whatever_the_number_of_tasks(path: Path, blocks: int) -> None:
    ds = read(path, FEATURES, override_num_blocks=blocks)
    assert table_of(ds).equals(expected(path).combine_chunks()) or table_of(ds) == expected(path)


def test_features_are_found_in_the_files(path: Path) -> None:
    ds = read(path)
    assert ds.schema().names == ["box", "label", "name", "tokens", "weight"]
    assert ds.sum("label") == int(columns()["label"].sum())


def test_tensors_are_arrays_in_batches(path: Path) -> None:
    batch = next(iter(read(path, FEATURES).iter_batches(batch_size=10)))
    assert batch["box"].shape == (10, 2, 2)
    assert batch["box"].dtype == np.float32


def test_names_of_files_mean_what_they_mean_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    assert read("train-*.tfrecord", columns=["label"]).materialize().count() == ROWS
    assert read([Path("train-00000-of-00003.tfrecord")], columns=["label"]).count() == 667


def test_rows_are_counted_without_reading(path: Path) -> None:
    ds = read(path, FEATURES, override_num_blocks=8)
    for shard in path.parent.glob("train-*-of-*.tfrecord"):
        with open(shard, "r+b") as file:  # of which reading would tell
            file.seek(40)
            file.write(b"damage")
    assert ds.count() == ROWS
    with pytest.raises(tfreel.CorruptError):
        ds.materialize()


def test_a_manifest_counts_rows_where_there_is_no_index(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "train.tfrecord", columns(100), shards=3)
    tasks = Datasource(tfreel.scan(tmp_path / "train.tfrecord")).get_read_tasks(3)
    assert sum(task.metadata.num_rows for task in tasks) == 100
    os.unlink(tmp_path / "train.tfrecord.manifest.json")
    tasks = Datasource(tfreel.scan(tmp_path / "train*.tfrecord")).get_read_tasks(3)
    assert [task.metadata.num_rows for task in tasks] == [None] * 3


def test_rows_that_nobody_counted_are_counted_by_reading(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "train.tfrecord.gz", columns(100))
    assert read(tmp_path / "train.tfrecord.gz").count() == 100


def test_a_large_file_is_shared_out(path: Path) -> None:
    one = path.parent / "train-00001-of-00003.tfrecord"
    tasks = Datasource(tfreel.scan(one, features=FEATURES)).get_read_tasks(4)
    rows = [task.metadata.num_rows for task in tasks]
    assert len(rows) == 4
    assert sum(rows) == 667
    assert [sum(table.num_rows for table in task()) for task in tasks] == rows
    assert tasks[0].metadata.input_files == (str(one),)


def test_files_are_looked_at_once_for_all_questions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Datasource(tfreel.scan(path, features=FEATURES))
    source.get_read_tasks(4)
    source.estimate_inmemory_data_size()
    monkeypatch.setattr(tfreel.Scan, "split", None)  # whoever calls it fails
    assert len(source.apply_projection({"label": "label"}).get_read_tasks(4)) == 4
    assert source.estimate_inmemory_data_size() > 0


def test_only_columns_that_are_wanted_are_decoded(path: Path) -> None:
    ds = read(path, {**FEATURES, "name": tfreel.FixedLenFeature([], "int64")})  # which would fail
    assert table_of(ds.select_columns(["weight", "label"])).column_names == ["weight", "label"]
    with pytest.raises(tfreel.FeatureMismatchError, match="'name'"):
        ds.select_columns(["name"]).materialize()


def test_no_columns_are_rows_all_the_same(path: Path) -> None:
    tasks = Datasource(tfreel.scan(path, features=FEATURES)).apply_projection({}).get_read_tasks(2)
    assert sum(table.num_rows for task in tasks for table in task()) == ROWS


@pytest.mark.parametrize(
    ("predicate", "where"),
    [
        (col("label") == 3, "(`label` == 3)"),
        (lit(3) < col("label"), "(`label` > 3)"),
        ((col("label") >= 2) & (col("weight") < 10.5), "(`label` >= 2) and (`weight` < 10.5)"),
        ((col("label") == 1) | (col("name") == b'a"\\b'), '((`label` == 1) or (`name` == "a\\"\\\\b"))'),
        (~(col("label") != 5), "(not (`label` != 5))"),
        (col("label").is_in([1, 2]), "(`label` in [1, 2])"),
        (col("label").not_in([1, 2]), "(`label` not in [1, 2])"),
        (col("name") == "row 7", '(`name` == "row 7")'),
        # What one of both would round, what rows may lack, and what we have no word for, is not asked first.
        ((col("weight") > 0.1) & (col("label") == 2), "(`label` == 2)"),
        (col("label") > 2.5, None),
        ((col("label") + 1) == 4, None),
        (col("tokens").is_null(), None),
        ((col("weight") > 0.1) | (col("label") == 2), None),
    ],
)
def test_conditions_reach_the_files(path: Path, predicate: Any, where: str | None) -> None:
    assert condition_of(predicate, FEATURES) == where
    whole = expected(path)
    wanted = whole.filter(predicate.to_pyarrow())
    ds = read(path, FEATURES).filter(expr=predicate)
    assert table_of(ds) == wanted
    assert ds.count() == wanted.num_rows
    assert table_of(ds.select_columns(["weight"])) == wanted.select(["weight"])


def test_conditions_may_be_as_long_as_one_likes(path: Path) -> None:
    some = reduce(or_, [col("label") == i for i in range(3, 63)])
    for predicate in (some, ~some):
        scan = tfreel.scan(path, features=FEATURES, where=condition_of(predicate, FEATURES))
        assert scan.count() == expected(path).filter(predicate.to_pyarrow()).num_rows


def test_columns_of_a_condition_are_found_wherever_they_stand() -> None:
    predicate = ((col("a") + col("b")) > 1) | ~col("c").is_null()
    assert columns_of(predicate, ["c", "b", "a"]) == ["a", "b", "c"]


def test_our_own_conditions_and_those_of_ray_go_together(path: Path) -> None:
    ds = read(path, FEATURES, columns=["name"], where='label == 3 and name != "row 3"')
    assert ds.count() == len(range(3, ROWS, 7)) - 1
    assert ds.filter(expr=col("name") == b"row 10").count() == 1


def test_the_first_rows_need_not_wait_for_all(path: Path) -> None:
    rows = read(path, FEATURES).limit(5).take_all()
    assert [row["name"] for row in rows] == [f"row {3 * i}".encode() for i in range(5)]


def test_files_without_records_still_tell_their_columns(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "none.tfrecord"):
        pass
    ds = read(tmp_path / "none.tfrecord", FEATURES)
    assert ds.schema().names == list(FEATURES)
    assert ds.count() == 0
    assert ds.take_all() == []


def test_a_bad_record_reaches_the_driver_with_path_record_and_offset(path: Path) -> None:
    shard = path.parent / "train-00001-of-00003.tfrecord"
    _, record, offset = tfreel.open(shard).place(400)
    with open(shard, "r+b") as file:
        file.seek(offset + 14)
        file.write(b"\xff\xff")
    with pytest.raises(tfreel.ChecksumError) as caught:
        read(path, FEATURES, override_num_blocks=6).materialize()
    found: Any = caught.value
    assert (found.path, found.record, found.offset, found.kind) == (str(shard), record, offset, "data_crc")
    ds = read(path, FEATURES, on_corrupt="skip")
    assert ds.count() == ROWS - 1


def test_another_version_is_refused_by_workers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfreel.adapters.ray_read.version", lambda _: "9.9.9")
    with pytest.raises(tfreel.TfreelError, match=r"tfreel 9\.9\.9; install the same version"):
        read(path, FEATURES).materialize()


def test_what_goes_to_workers_is_small_and_names_no_open_file(path: Path) -> None:
    source = Datasource(tfreel.scan(path, features=FEATURES))
    tasks = [ray.cloudpickle.dumps(task) for task in source.get_read_tasks(8)]
    assert max(map(len, tasks)) < 10_000
    ray.cloudpickle.dumps(source)


# Writing ----------------------------------------------------------------------------------------------------


def there(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_rows_go_out_and_come_back(path: Path, tmp_path: Path) -> None:
    paths = write(read(path, FEATURES, override_num_blocks=4), tmp_path / "out" / "copy.tfrecord")
    assert [os.path.basename(name) for name in paths] == [f"copy-{i:05d}-of-00004.tfrecord" for i in range(4)]
    assert there(tmp_path / "out") == [*map(os.path.basename, paths), "copy.tfrecord.manifest.json"]
    assert list(tfreel.read(tmp_path / "out" / "copy.tfrecord")) == list(tfreel.read(path))


def test_compressed_shards_are_compressed(path: Path, tmp_path: Path) -> None:
    (written,) = write(read(path, FEATURES).repartition(1), tmp_path / "copy.tfrecord.gz", level=9)
    assert Path(written).read_bytes()[:2] == b"\x1f\x8b"
    assert tfreel.verify(tmp_path / "copy.tfrecord.gz").records == ROWS


def test_what_ray_makes_can_be_written(tmp_path: Path) -> None:
    def more(batch: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": batch["id"],
            "image": np.zeros((len(batch["id"]), 3, 2), np.float32),
            "words": np.array([f"w{i}" for i in batch["id"]]),
            "list": [list(range(i % 3)) for i in batch["id"]],
        }

    write(ray.data.range(7, override_num_blocks=7).map_batches(more), tmp_path / "made.tfrecord")
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "made.tfrecord")]
    assert [row["id"].tolist() for row in rows] == [[i] for i in range(7)]
    assert [row["words"] for row in rows] == [[f"w{i}".encode()] for i in range(7)]
    assert all(row["image"].tolist() == [0] * 6 for row in rows)
    # A list that is empty in all rows of a block is of no type, and no feature: readers take it for empty.
    found = tfreel.load(tmp_path / "made.tfrecord", {"list": tfreel.RaggedFeature("int64")})
    assert found["list"].to_list() == [list(range(i % 3)) for i in range(7)]


def test_frames_of_pandas_can_be_written(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    write(ray.data.from_pandas(frame), tmp_path / "frame.tfrecord")
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "frame.tfrecord")]
    assert [sorted(row) for row in rows] == [["a", "b"], ["a"]]


def test_tasks_without_rows_make_no_shard(path: Path, tmp_path: Path) -> None:
    ds = read(path, FEATURES, override_num_blocks=4)
    few = ds.filter(expr=col("name") == b"row 1")
    assert len(write(few, tmp_path / "few.tfrecord")) == 1
    none = ds.filter(expr=col("label") > 100)
    assert len(write(none, tmp_path / "none.tfrecord")) == 1
    assert list(tfreel.read(tmp_path / "none.tfrecord")) == []
    assert len(write(ray.data.from_items([]), tmp_path / "nothing.tfrecord")) == 1


def test_shards_have_as_many_rows_as_was_asked_for(tmp_path: Path) -> None:
    ds = ray.data.range(1000, override_num_blocks=10)
    paths = write(ds, tmp_path / "numbers.tfrecord", min_rows_per_file=400)
    assert all(len(tfreel.open(path)) >= 400 for path in paths[:-1])
    assert len(paths) < 4


def test_a_set_that_is_there_is_kept_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "numbers.tfrecord"
    write(ray.data.range(10, override_num_blocks=3), path)
    with pytest.raises(FileExistsError, match='mode="w" replaces it'):
        write(ray.data.range(20), path)
    assert len(tfreel.open(path)) == 10
    write(ray.data.range(20, override_num_blocks=2), path, mode="w")
    assert len(tfreel.open(path)) == 20
    with pytest.raises(ValueError, match="mode must be"):
        write(ray.data.range(20), path, mode="a")  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["x", "w"])
def test_a_task_that_fails_leaves_nothing_and_says_why(tmp_path: Path, mode: Any) -> None:
    path = tmp_path / "out" / "numbers.tfrecord"
    if mode == "w":
        write(ray.data.range(10), path)
    before = there(path.parent)
    ds = ray.data.range(100, override_num_blocks=5).map_batches(partial(fail_at, 63))
    with pytest.raises(ray.exceptions.RayTaskError, match="63 is one too many"):
        write(ds, path, mode=mode)
    assert there(path.parent) == before


def test_a_worker_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "died"
    ds = ray.data.range(1000, override_num_blocks=6).map_batches(partial(die_at, 500, marker), batch_size=10)
    write(ds, tmp_path / "out" / "numbers.tfrecord")
    assert marker.exists()
    found = tfreel.load(tmp_path / "out" / "numbers.tfrecord")["id"]
    assert sorted(np.asarray(found).tolist()) == list(range(1000))
    assert [name for name in there(tmp_path / "out") if name.startswith(".")] == []


def test_a_worker_killed_while_it_reads_is_replaced(path: Path, tmp_path: Path) -> None:
    marker = tmp_path / "died"
    ds = read(path, FEATURES, columns=["name"], override_num_blocks=4)
    names = ds.map_batches(partial(die_at, b"row 900", marker, column="name"), batch_size=50)
    found = sorted(row["name"] for row in names.take_all())
    assert marker.exists()
    assert found == sorted(f"row {i}".encode() for i in range(ROWS))


def test_what_cannot_be_a_feature_is_refused_by_name(tmp_path: Path) -> None:
    ds = ray.data.from_arrow(pa.table({"place": pa.array([{"x": 1}, {"x": 2}])}))
    with pytest.raises(TypeError, match="'place'") as caught:
        write(ds, tmp_path / "out" / "places.tfrecord")
    assert type(caught.value) is TypeError
    assert there(tmp_path / "out") == []
