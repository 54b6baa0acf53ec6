"""Ray Data reads from an object store and writes to it: a whole set or none, and no secrets to be seen."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import ray

import tfreel
from s3_server import SETTINGS, Requests
from tfreel.adapters.ray import read, write

from on_workers import die_at, fail_at

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


@pytest.fixture
def bucket(server: tuple[str, Requests]) -> Iterator[tfreel.Url]:
    """A bucket of which the environment, also that of the workers, knows nothing."""
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=server[0],
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="hush-hush",
    )
    client.create_bucket(Bucket="bucket")
    yield tfreel.Url(
        "s3://bucket",
        endpoint=server[0],
        region="us-east-1",
        access_key_id="from-the-url",
        secret_access_key="hush-hush",
    )
    for row in client.list_objects_v2(Bucket="bucket").get("Contents", []):
        client.delete_object(Bucket="bucket", Key=row["Key"])
    client.close()


def there(bucket: tfreel.Url) -> list[str]:
    from tfreel.storage.remote.stores import store_of

    return sorted(url.removeprefix("s3://bucket/") for url, _ in store_of(bucket).sizes(bucket, deep=True))


WHOLE = [
    "out/train-00000-of-00002.tfrecord",
    "out/train-00001-of-00002.tfrecord",
    "out/train.tfrecord.manifest.json",
]


def test_rows_go_out_and_come_back_by_a_url_with_options(
    bucket: tfreel.Url, server: tuple[str, Requests]
) -> None:
    server[1].users.clear()
    path = bucket.within("out/train.tfrecord")
    paths = write(ray.data.range(100).repartition(2), path)
    assert there(bucket) == WHOLE
    assert [p.removeprefix("s3://bucket/") for p in paths] == WHOLE[:2]
    ds = read(path)
    assert ds.count() == 100
    assert [row["id"] for row in ds.take_all()] == list(range(100))
    assert read(path, where="id >= 90").sum("id") == sum(range(90, 100))
    with pytest.raises(FileExistsError, match="the set exists already"):
        write(ray.data.range(1), path)
    assert server[1].users == {"from-the-url"}
    write(ray.data.range(7).repartition(1), path, mode="w")
    assert [row["id"] for row in read(path).take_all()] == list(range(7))
    assert len(there(bucket)) == 2


def test_no_secret_is_in_a_message(bucket: tfreel.Url, capfd: pytest.CaptureFixture[str]) -> None:
    path = bucket.within("out/train.tfrecord")
    write(ray.data.range(10).repartition(1), path)
    ds = read(path)
    with pytest.raises(FileNotFoundError) as caught:
        read(bucket.within("nothing.tfrecord"))
    with pytest.raises(tfreel.FeatureMismatchError) as other:
        read(path, {"id": tfreel.FixedLenFeature([2], "int64")}).take(1)
    ds.materialize()
    said = capfd.readouterr()
    shown = f"{caught.value}{other.value}{ds!r}{ds.stats()}{ds.input_files()}{said.out}{said.err}"
    assert "s3://bucket/out/train-00000-of-00001.tfrecord" in shown
    assert "hush" not in shown
    assert b"hush" in pickle.dumps(path)  # which is how it gets to the workers


def test_settings_may_be_in_the_environment_of_the_workers(
    bucket: tfreel.Url, server: tuple[str, Requests], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**SETTINGS, "AWS_ENDPOINT_URL": server[0]}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    theirs = {"runtime_env": {"env_vars": settings}}
    server[1].users.clear()
    write(ray.data.range(20).repartition(1), "s3://bucket/plain.tfrecord", ray_remote_args=theirs)
    ds = read("s3://bucket/plain.tfrecord", ray_remote_args=theirs)
    assert sorted(row["id"] for row in ds.take_all()) == list(range(20))
    assert server[1].users == {"testing"}


def test_a_task_that_fails_leaves_nothing(bucket: tfreel.Url) -> None:
    path = bucket.within("out/train.tfrecord")
    ds = ray.data.range(40, override_num_blocks=2).map_batches(partial(fail_at, 30))
    with pytest.raises(ray.exceptions.RayTaskError, match="30 is one too many"):
        write(ds, path)
    assert there(bucket) == []


def test_a_worker_that_is_killed_loses_and_repeats_nothing(bucket: tfreel.Url, tmp_path: Path) -> None:
    path = bucket.within("out/train.tfrecord")
    marker = tmp_path / "died"
    ds = ray.data.range(40, override_num_blocks=2).map_batches(partial(die_at, 30, marker), batch_size=10)
    write(ds, path)
    assert marker.exists()
    assert sorted(row["id"] for row in read(path).take_all()) == list(range(40))
    assert [name for name in there(bucket) if "part" in name] == []
