"""Spark reads from an object store and writes to it: all rows once, whoever dies, and no secret is seen."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfreel
from s3_server import SETTINGS, Requests

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _environment(server: tuple[str, Requests]) -> Iterator[None]:
    """What workers find in theirs: it is set before Spark starts any."""
    patch = pytest.MonkeyPatch()
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": server[0]}.items():
        patch.setenv(name, value)
    import boto3

    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    client.close()
    yield
    patch.undo()


def write(frame: Any, path: str, mode: str = "append", **options: Any) -> None:
    frame.write.format("tfrecord").mode(mode).options(**options).save(path)


def read(spark: Any, path: str, **options: Any) -> Any:
    return spark.read.format("tfrecord").options(**options).load(path)


def ids(path: str) -> list[int]:
    return sorted(int(tfreel.decode(record)["id"][0]) for record in tfreel.read(path))


def keys(folder: str) -> list[str]:
    import boto3

    client = boto3.client("s3")
    found = client.list_objects_v2(Bucket="bucket", Prefix=f"{folder}/").get("Contents", [])
    client.close()
    return [row["Key"].rpartition("/")[2] for row in found]


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    pytest.fail("it did not come to that")


def test_what_was_written_is_read_added_to_and_replaced(spark: Any, server: tuple[str, Requests]) -> None:
    path = "s3://bucket/numbers"
    server[1].users.clear()
    write(spark.range(100), path, codec="gzip")
    assert ids(path) == list(range(100))
    assert len(keys("numbers")) == 4
    frame = read(spark, path)
    assert frame.dtypes == [("id", "bigint")]
    assert frame.filter("id < 7").count() == 7
    write(spark.range(100, 110), path)
    assert ids(path) == list(range(110))
    write(read(spark, path).selectExpr("id + 1 id"), path, "overwrite")
    assert sorted(row.id for row in read(spark, path, where="id > 100").collect()) == list(range(101, 111))
    assert len(keys("numbers")) == len(tfreel.open(path).files) + 2
    assert len(tfreel.Dataset(path)) == 110
    assert server[1].users == {"testing"}


def fails_once(where: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A step that fails in the middle of its first attempt."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task = TaskContext.get()
        yield from batches
        if task is not None and task.partitionId() == 0 and not os.path.exists(where):
            Path(where).touch()
            raise RuntimeError("on purpose")

    return step


def test_a_task_that_runs_twice_writes_once(spark: Any, tmp_path: Path) -> None:
    write(spark.range(20).mapInArrow(fails_once(str(tmp_path / "failed")), "id long"), "s3://bucket/twice")
    assert (tmp_path / "failed").exists()
    assert ids("s3://bucket/twice") == list(range(20))
    assert sorted(name[:5] for name in keys("twice")) == ["_SUCC", "datas", "part-", "part-"]


def test_a_job_that_fails_leaves_the_folder_as_it_was(spark: Any) -> None:
    from pyspark.errors import PySparkException

    path = "s3://bucket/kept"
    write(spark.range(5), path)
    broken = spark.range(10).selectExpr("if(id = 9, raise_error('on purpose'), id) id")
    for mode in ("append", "overwrite"):
        with pytest.raises(PySparkException, match="on purpose"):
            write(broken, path, mode)
        assert ids(path) == list(range(5))
        wait_until(lambda: len(keys("kept")) == 4)  # a task that was still at work takes away what it wrote
    write(spark.range(5, 7), path)
    assert ids(path) == list(range(7))


def test_what_the_manifest_does_not_list_is_not_read(spark: Any) -> None:
    path = "s3://bucket/listed"
    write(spark.range(5), path)
    left = f"{path}/part-00000-{'0' * 16}-3.tfrecord"
    tfreel.save(left, {"id": [99]})
    assert read(spark, path).count() == tfreel.scan(path).count() == len(tfreel.Dataset(path)) == 5


def test_credentials_in_a_url_reach_the_workers_and_no_message(
    spark: Any, server: tuple[str, Requests], capfd: pytest.CaptureFixture[str]
) -> None:
    from pyspark.errors import PySparkException

    path = "s3://testing-key:hush-hush@bucket/private"
    server[1].users.clear()
    write(spark.range(10), path)
    frame = read(spark, path)
    assert frame.count() == 10
    assert server[1].users == {"testing-key"}
    frame.explain(extended=True)
    with pytest.raises(PySparkException) as caught:
        read(spark, "s3://testing-key:hush-hush@bucket/nothing")
    with pytest.raises(PySparkException) as other:
        read(spark, path, paths=json.dumps([path])[:-1])
    said = capfd.readouterr()
    assert "s3://bucket/nothing" in str(caught.value)
    assert "hush" not in str(caught.value) + str(other.value) + said.out + said.err
