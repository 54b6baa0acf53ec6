"""Spark reads and writes TFRecords: schemas, partitions, filters, commits; and what happens to bad data."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfreel

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def numbers(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A thousand rows that Spark wrote."""
    path = str(tmp_path_factory.mktemp("numbers") / "out")
    columns = (
        "id",
        "cast(id as string) s",
        "cast(id as float) / 2 f",
        "if(id % 2 = 0, null, id) n",
        "if(id % 3 = 0, null, array(id, id)) a",
        "unhex('ff00') y",
        "id > 3 b",
    )
    write(spark.range(1000).selectExpr(*columns), path)
    return path


def write(frame: Any, path: str | Path, mode: str = "append", **options: Any) -> None:
    frame.write.format("tfrecord").mode(mode).options(**options).save(os.path.abspath(path))


def read(spark: Any, path: str | Path, schema: str | None = None, **options: Any) -> Any:
    reader = spark.read.format("tfrecord").options(**options)
    return (reader if schema is None else reader.schema(schema)).load(os.path.abspath(path))


def failure(act: Callable[[], Any]) -> str:
    """What Spark says when something goes wrong."""
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as caught:
        act()
    return str(caught.value)


def decoded(path: str | Path) -> list[dict[str, Any]]:
    return [tfreel.decode(record) for record in tfreel.read(os.fspath(path))]


# Both ways --------------------------------------------------------------------------------------------------


def test_spark_finds_the_format_by_itself_and_reads_what_it_wrote(spark: Any, numbers: str) -> None:
    frame = read(spark, numbers)
    assert frame.dtypes == [
        ("a", "array<bigint>"),
        ("b", "bigint"),
        ("f", "float"),
        ("id", "bigint"),
        ("n", "bigint"),
        ("s", "string"),
        ("y", "binary"),
    ]
    rows = sorted(frame.collect(), key=lambda row: row.id)
    assert [row.id for row in rows] == list(range(1000))
    first, last = rows[0].asDict(), rows[999].asDict()
    assert first == {"a": None, "b": 0, "f": 0.0, "id": 0, "n": None, "s": "0", "y": b"\xff\x00"}
    assert last == {"a": None, "b": 1, "f": 499.5, "id": 999, "n": 999, "s": "999", "y": b"\xff\x00"}
    assert rows[4].a == [4, 4]


def test_the_files_are_tfrecords_like_any_other(numbers: str) -> None:
    assert sorted(os.listdir(numbers))[:2] == ["_SUCCESS", "dataset.json"]
    assert len(tfreel.Dataset(numbers)) == 1000
    assert tfreel.verify(numbers).ok
    assert sorted(decoded(numbers)[0]) == ["b", "f", "id", "s", "y"]  # null is an absent feature


def test_a_schema_prunes_casts_and_fills_up_with_null(spark: Any, numbers: str) -> None:
    frame = read(
        spark, numbers, "b boolean, f double, n smallint, a array<int>, s binary, none array<string>"
    )
    row = frame.filter("n = 5").first().asDict()
    assert row == {"b": True, "f": 2.5, "n": 5, "a": [5, 5], "s": b"5", "none": None}


def test_columns_conditions_and_row_ranges_are_options(spark: Any, numbers: str) -> None:
    frame = read(spark, numbers, columns="s, id", where="a == 4 or id > 997", rowsPerPartition=100)
    assert [(row.s, row.id) for row in frame.collect()] == [("4", 4), ("998", 998), ("999", 999)]
    assert frame.columns == ["s", "id"]
    assert frame.rdd.getNumPartitions() == 10
    assert read(spark, numbers).rdd.getNumPartitions() == 2


def test_several_paths_and_globs_are_read(spark: Any, numbers: str) -> None:
    files = sorted(map(str, Path(numbers).glob("part-*")))
    reader = spark.read.format("tfrecord").option("columns", "id")
    assert reader.load(files).count() == 1000
    assert reader.load(f"file:{numbers}/part-00001-*").count() == 500


def test_given_features_are_kept_to_strictly(spark: Any, numbers: str) -> None:
    features = '{"id": {"type": "FixedLenFeature", "shape": [], "dtype": "int64"},'
    loose = features + '"a": {"type": "VarLenFeature", "dtype": "int64"}}'
    frame = read(spark, numbers, features=loose)
    assert frame.dtypes == [("id", "bigint"), ("a", "array<bigint>")]
    assert frame.filter("id = 7").first().a == [7, 7]
    strict = features + '"n": {"type": "FixedLenFeature", "shape": [], "dtype": "int64"}}'
    said = failure(lambda: read(spark, numbers, features=strict).collect())
    assert re.search(r"MissingFeatureError: feature 'n' is missing in record 0 of .*part-0000\d-", said)


def test_sequences_go_both_ways(spark: Any) -> None:
    frame = spark.range(4).selectExpr(
        "id",
        "array(array(id, 1), array(), array(id)) steps",
        "if(id = 2, null, array(array('a'), array('b', 'c'))) words",
        "cast(array() as array<double>) empty",
        "cast(id as double) / 3 third",
    )
    write(frame, "sequences", codec="gzip")
    records = list(tfreel.read("sequences/part-*.tfrecord.gz"))
    context, lists = tfreel.decode_sequence(records[1])
    assert context["id"].tolist() == [1]
    assert context["empty"].dtype == "float32"
    assert [step.tolist() for step in lists["steps"]] == [[1, 1], [], [1]]
    back = read(spark, "sequences")
    assert dict(back.dtypes)["steps"] == "array<array<bigint>>"
    rows = sorted(back.collect(), key=lambda row: row.id)
    assert rows[3].steps == [[3, 1], [], [3]]
    assert [row.words for row in rows[1:3]] == [[["a"], ["b", "c"]], None]
    assert "is a feature list" in failure(lambda: read(spark, "sequences", "steps int").collect())
    assert "these are SequenceExamples" in failure(lambda: read(spark, "sequences", recordType="Example"))


def test_whole_records_go_both_ways(spark: Any) -> None:
    records = [b"", b"one", b"\xff" * 10]
    frame = spark.createDataFrame([(record,) for record in records], "any binary").coalesce(1)
    write(frame, "raw", recordType="bytearray", codec="org.apache.hadoop.io.compress.DefaultCodec")
    assert list(tfreel.read("raw/part-*.zlib")) == records
    back = read(spark, "raw", recordType="ByteArray")
    assert [row.byteArray for row in back.collect()] == records
    assert "recordType ByteArray is for one column" in failure(
        lambda: write(spark.range(1), "raw", recordType="ByteArray")
    )


def test_doubles_become_the_nearest_float32_or_an_error(spark: Any) -> None:
    write(spark.sql("select 0.1D x"), "doubles")
    assert read(spark, "doubles", "x double").first().x == 0.10000000149011612
    said = failure(lambda: write(spark.sql("select 1e300D x"), "doubles"))
    assert "ValueError: column 'x': 1e+300 does not fit float32" in said
    assert len(decoded("doubles")) == 1


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("cast(1 as decimal(9, 2))", "column 'x' of type decimal(9,2) cannot be a feature: cast it to"),
        ("current_date()", "column 'x' of type date cannot be a feature"),
        ("named_struct('a', 1)", "make its fields columns of their own"),
        ("array(1, null)", "holds an array with null in it"),
    ],
)
def test_what_cannot_be_a_feature_is_refused_before_anything_is_written(
    spark: Any, column: str, said: str
) -> None:
    assert said in failure(lambda: write(spark.sql(f"select {column} x"), "out"))
    assert not os.path.exists("out")


# Folders ----------------------------------------------------------------------------------------------------


def test_append_adds_and_overwrite_replaces(spark: Any) -> None:
    write(spark.range(3), "out")
    write(spark.range(3, 5), "out")
    assert sorted(row.id for row in read(spark, "out").collect()) == [0, 1, 2, 3, 4]
    write(spark.range(7, 8).coalesce(1), "out", "overwrite")
    assert [row["id"].tolist() for row in decoded("out")] == [[7]]
    assert len(list(Path("out").iterdir())) == 3
    # Spark asks no data source that is written in Python whether something is there.
    assert "UNSUPPORTED_DATA_SOURCE_SAVE_MODE" in failure(lambda: write(spark.range(1), "out", "error"))


def test_a_folder_can_be_read_and_overwritten_at_the_same_time(spark: Any) -> None:
    write(spark.range(10), "out")
    write(read(spark, "out").selectExpr("id + 1 id"), "out", "overwrite")
    assert sorted(row["id"][0] for row in decoded("out")) == list(range(1, 11))


def test_empty_partitions_make_no_files(spark: Any) -> None:
    write(spark.range(0), "out")
    assert sorted(os.listdir("out")) == ["_SUCCESS", "dataset.json"]
    assert read(spark, "out", "id long").collect() == []
    assert "there are no records to tell the columns from" in failure(lambda: read(spark, "out"))
    write(spark.range(100).repartition(2).filter("id = 7"), "out")
    assert len(list(Path("out").glob("part-*"))) == 1


# Faults -----------------------------------------------------------------------------------------------------


def fails_once(where: str, how: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A step that fails in the middle of its first attempt, by an exception or by death."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task is not None and task.partitionId() == 0 and not os.path.exists(where):
            Path(where).touch()
            if how == "death":
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("on purpose")

    return step


@pytest.mark.parametrize("how", ["exception", "death"])
def test_a_task_that_runs_twice_writes_once(spark: Any, how: str, tmp_path: Path) -> None:
    frame = spark.range(20).mapInArrow(fails_once(str(tmp_path / "failed"), how), "id long")
    write(frame, "out")
    assert Path("failed").exists()
    assert sorted(row["id"][0] for row in decoded("out")) == list(range(20))
    assert not Path("out/_temporary").exists()


def test_a_writing_worker_that_is_killed_writes_once(spark: Any, tmp_path: Path) -> None:
    """The worker that writes is killed with its file half written."""
    from tfreel.adapters.spark.writing import RecordWriter

    source = tmp_path / "killer.py"
    source.write_text(KILLER.format(mark=str(tmp_path / "killed")))
    killer = load_by_value(source)
    assert issubclass(killer.Killer, RecordWriter)
    spark.dataSource.register(killer.Source)
    frame = spark.range(20)
    frame.write.format("killed").mode("append").save(os.fspath(tmp_path / "out"))
    assert (tmp_path / "killed").exists()
    assert sorted(row["id"][0] for row in decoded("out")) == list(range(20))


KILLER = """
import os, signal
from pyspark import TaskContext
from tfreel.adapters.spark import TFRecordSource
from tfreel.adapters.spark.options import writing_options
from tfreel.adapters.spark.writing import RecordWriter

class Killer(RecordWriter):
    def write(self, iterator):
        return RecordWriter.write(self, self._dying(iterator))

    def _dying(self, iterator):
        yield from iterator
        if TaskContext.get().partitionId() == 1 and not os.path.exists({mark!r}):
            open({mark!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

class Source(TFRecordSource):
    @classmethod
    def name(cls):
        return "killed"

    def writer(self, schema, overwrite):
        return Killer(schema, writing_options(self.options), overwrite=overwrite)
"""


def load_by_value(source: Path) -> Any:
    """A module that workers get by value: they do not find it on their path."""
    from pyspark import cloudpickle

    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.stem] = module
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)
    return module


def test_a_job_that_fails_leaves_the_folder_as_it_was(spark: Any) -> None:
    write(spark.range(5), "out")
    before = sorted(os.listdir("out"))
    broken = spark.range(10).selectExpr("if(id = 9, raise_error('on purpose'), id) id")
    for mode in ("append", "overwrite"):
        assert "on purpose" in failure(lambda mode=mode: write(broken, "out", mode))  # type: ignore[misc]
        assert sorted(os.listdir("out")) == before
    assert "on purpose" in failure(lambda: write(broken, "new"))
    assert not os.path.exists("new")


def test_a_bad_record_is_named_on_the_driver(spark: Any) -> None:
    tfreel.save("bad.tfrecord", {"x": range(100)})
    offset = tfreel.open("bad.tfrecord").place(42)[2]
    with open("bad.tfrecord", "r+b") as file:
        file.seek(offset + 14)
        file.write(b"\x00")
    frame = read(spark, "bad.tfrecord", "x long")
    said = failure(frame.collect)
    assert re.search(rf"ChecksumError: /.*/bad.tfrecord: record 42 at byte {offset}: checksum mismatch", said)
    assert read(spark, "bad.tfrecord", "x long", onCorrupt="skip").count() == 99


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            "x tinyint",
            r"feature 'x' of record 128 of /.*/wide.tfrecord: expected what fits int8, found .*128",
        ),
        ("x boolean", r"feature 'x' of record 2 of .*: expected 0 or 1"),
        ("x long not null, t string", r"feature 't' of record 3 of .*: expected what fits string"),
        (
            "x float",
            r"feature 'x' of record 0 of .*: expected values of kind float.*, found 1 value of kind int64",
        ),
        ("l long", r"feature 'l' of record 200 of .*: expected one value, found 2"),
    ],
)
def test_a_value_that_does_not_fit_is_named_on_the_driver(spark: Any, schema: str, said: str) -> None:
    rows = [{"x": i, "t": b"\xff" if i == 3 else b"a", "l": [1] * (1 + (i == 200))} for i in range(300)]
    tfreel.save("wide.tfrecord", rows)
    assert re.search(said, failure(lambda: read(spark, "wide.tfrecord", schema).collect()))


def test_options_that_are_unknown_are_refused_by_name(spark: Any, numbers: str) -> None:
    said = failure(lambda: read(spark, numbers, onCorupt="skip"))
    assert "no option is called 'oncorupt'" in said
    assert "did you mean 'onCorrupt'?" in said
    assert "did you mean 'codec'?" in failure(lambda: write(spark.range(1), "out", compression="gzip"))


# Filters ----------------------------------------------------------------------------------------------------


def test_queries_on_one_frame_know_nothing_of_each_others_filters(spark: Any, numbers: str) -> None:
    """Also in a session that pushes filters down, which Spark then keeps with the frame."""
    assert spark.conf.get("spark.sql.python.filterPushdown.enabled") == "true"
    frame = read(spark, numbers)
    few, more = frame.filter("id < 5"), frame.filter("id < 9")
    assert [few.count(), frame.count(), more.count(), few.count(), frame.count()] == [5, 1000, 9, 5, 1000]
    assert few.union(more).count() == 14
    assert frame.union(few).count() == 1005
    assert few.select("id").join(frame, "id", "right").count() == 1000
    assert few.select("id").join(more, "id").count() == 5
    kept = few.cache()
    try:
        assert [kept.count(), frame.count(), kept.filter("id > 2").count()] == [5, 1000, 2]
    finally:
        kept.unpersist()


# What is sent -----------------------------------------------------------------------------------------------


def test_readers_are_sent_as_their_configuration(spark: Any, numbers: str) -> None:
    from tfreel.adapters.spark import TFRecordSource

    source = TFRecordSource({"path": numbers, "rowsperpartition": "10"})
    reader = source.reader(source.schema())
    parts = reader.partitions()
    sent = pickle.dumps(reader)
    assert len(parts) == 100
    assert b"part-0" not in sent
    assert max(len(pickle.dumps(part)) for part in parts) < 1000
    again = pickle.loads(sent)
    assert sum(batch.num_rows for part in parts for batch in again.read(part)) == 1000


def test_another_version_is_refused_by_name(
    spark: Any, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tfreel.adapters.spark import TFRecordSource

    source = TFRecordSource({"path": numbers})
    reader = source.reader(source.schema())
    writer = source.writer(source.schema(), overwrite=False)
    monkeypatch.setattr(tfreel, "__version__", "0.0.9")
    for act in (lambda: list(reader.read(reader.partitions()[0])), lambda: writer.write(iter(()))):
        with pytest.raises(RuntimeError, match=r"the driver runs tfreel \S+, and this worker tfreel 0.0.9"):
            act()
    writer.abort([])
