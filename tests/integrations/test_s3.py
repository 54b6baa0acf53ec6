"""A real S3 interface, moto's, on this machine: by obstore, and by s3fs where obstore cannot go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfreel
from s3_server import SETTINGS, Requests
from tfreel.commits import Part, StoreJob, begin_job, new_set
from tfreel.storage.remote import obstores, retries
from tfreel.storage.remote.stores import ChangedError, store_of
from tfreel.storage.url import Url

RECORDS = [f"record {i} ".encode() * 64 for i in range(3000)]


@pytest.fixture
def client(server: tuple[str, Requests], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import boto3

    url, requests = server
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": url}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(retries, "_FIRST_PAUSE_SECONDS", 0.01)
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    requests.fails = lambda method, path: False
    requests.seen.clear()
    yield client
    requests.fails = lambda method, path: False
    for row in client.list_objects_v2(Bucket="bucket").get("Contents", []):
        client.delete_object(Bucket="bucket", Key=row["Key"])
    client.close()


def keys(client: Any) -> list[str]:
    return [row["Key"] for row in client.list_objects_v2(Bucket="bucket").get("Contents", [])]


def uploads(client: Any) -> list[str]:
    return [row["Key"] for row in client.list_multipart_uploads(Bucket="bucket").get("Uploads", [])]


@pytest.fixture
def stored(client: Any) -> str:
    with tfreel.Writer("s3://bucket/a folder/data é.tfrecord") as out:
        out.write_many(RECORDS)
    return "s3://bucket/a folder/data é.tfrecord"


def test_what_was_written_is_read(stored: str) -> None:
    assert list(tfreel.read(stored)) == RECORDS
    records = tfreel.open(stored)
    assert records[[2999, 0, 1500]] == [RECORDS[2999], RECORDS[0], RECORDS[1500]]
    assert tfreel.verify(stored).ok


def test_globs_list_a_bucket(client: Any) -> None:
    with tfreel.ShardedWriter("s3://bucket/sets/train.tfrecord", shards=4) as out:
        out.write_many(RECORDS)
    for pattern in ("sets/train-*.tfrecord", "sets/train.tfrecord", "*/train-0*", "sets/train@4.tfrecord"):
        assert len(tfreel.open(f"s3://bucket/{pattern}")) == 3000
    with pytest.raises(FileNotFoundError, match="bucket cannot be a glob"):
        tfreel.read("s3://*/train.tfrecord")


def test_options_say_what_the_environment_does_not(
    stored: str, server: tuple[str, Requests], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*SETTINGS, "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    url = tfreel.Url(
        stored,
        endpoint=server[0],
        region="us-east-1",
        access_key_id="testing",
        secret_access_key="testing-secret",
    )
    assert tfreel.open(url)[5] == RECORDS[5]
    assert "testing" not in repr(tfreel.open(url).files) + repr(url)


def test_a_dataset_is_fetched_in_few_requests(client: Any, server: tuple[str, Requests]) -> None:
    tfreel.save("s3://bucket/rows.tfrecord", {"x": range(20_000), "y": [[0.5] * 32] * 20_000})
    ds = tfreel.Dataset("s3://bucket/rows.tfrecord")
    requests = server[1]
    requests.seen.clear()
    seen = [x for batch in ds.shuffle(seed=5, window=4096).batch(100) for x in batch["x"].tolist()]
    assert sorted(seen) == list(range(20_000))
    assert len(requests.seen) < 60  # for 200 batches


def test_a_random_batch_takes_three_round_trips_for_each_shard(
    client: Any, server: tuple[str, Requests]
) -> None:
    with tfreel.ShardedWriter("s3://bucket/train.tfrecord", shards=4) as out:
        out.write_many(RECORDS)
    records = tfreel.open("s3://bucket/train.tfrecord")
    requests = server[1]
    requests.seen.clear()
    picks = [(i * 7919) % 3000 for i in range(256)]
    found = records[picks]
    whole = list(tfreel.read("s3://bucket/train.tfrecord"))
    assert found == [whole[i] for i in picks]
    for shard in range(4):
        asked = [path for _, path in requests.seen[:13] if f"train-0000{shard}" in path]
        assert 1 <= len(asked) <= 3


def test_a_large_object_is_sent_in_parts(client: Any, server: tuple[str, Requests], tmp_path: Path) -> None:
    big = [os.urandom(1 << 20) for _ in range(70)]
    with tfreel.Writer("s3://bucket/big.tfrecord") as out:
        out.write_many(big)
    assert any("uploadId" in path for method, path in server[1].seen if method == "PUT")
    assert list(tfreel.read("s3://bucket/big.tfrecord")) == big
    with pytest.raises(FileExistsError):
        tfreel.Writer("s3://bucket/big.tfrecord")


def test_a_failing_upload_leaves_no_object_and_no_parts(client: Any, server: tuple[str, Requests]) -> None:
    server[1].fails = lambda method, path: method == "PUT" and "partNumber=3" in path
    out = tfreel.Writer("s3://bucket/big.tfrecord")
    out.write_many(os.urandom(1 << 20) for _ in range(70))
    with pytest.raises(OSError, match="cannot be written") as caught:
        out.close()
    assert "testing" not in str(caught.value)
    with pytest.raises(OSError, match="cannot be written"):
        out.close()
    assert keys(client) == []
    assert uploads(client) == []


def test_an_object_that_came_in_between_is_not_replaced(client: Any) -> None:
    out = tfreel.Writer("s3://bucket/new.tfrecord")
    out.write(b"mine")
    client.put_object(Bucket="bucket", Key="new.tfrecord", Body=b"theirs")
    with pytest.raises(FileExistsError, match="exists already"):
        out.close()
    assert client.get_object(Bucket="bucket", Key="new.tfrecord")["Body"].read() == b"theirs"


def test_busy_servers_are_asked_again(stored: str, server: tuple[str, Requests]) -> None:
    times = iter([True, True] + [False] * 1000)
    server[1].fails = lambda method, path: method == "GET" and next(times)
    assert list(tfreel.read(stored)) == RECORDS


def test_a_changed_object_is_found(stored: str, client: Any) -> None:
    reader = tfreel.read(stored)
    reader._open()
    records = tfreel.open(stored)
    assert records[0] == RECORDS[0]
    with tfreel.Writer(stored, mode="w") as out:
        out.write_many(record[::-1] for record in RECORDS)
    with pytest.raises(tfreel.CorruptError, match="changed") as caught:
        list(reader)
    assert caught.value.kind == "file_changed"
    with pytest.raises(tfreel.TfreelError, match="changed"):
        records[1]


def test_pack_makes_a_data_set_in_a_bucket(client: Any) -> None:
    Path("table.csv").write_text("a,b\n" + "".join(f"{i},{i}\n" for i in range(50)))
    tfreel.pack("table.csv", "s3://bucket/packed", split={"train": 0.8, "test": 0.2})
    assert keys(client)[0] == "packed/dataset.json"
    ds = tfreel.Dataset("s3://bucket/packed", split="train")
    assert len(ds) == 40
    assert len(tfreel.Dataset("s3://bucket/packed")) == 50


def test_a_missing_bucket_is_an_error_of_one_line(client: Any) -> None:
    with pytest.raises(OSError, match="nobucket") as caught:
        tfreel.read("s3://nobucket/data-*.tfrecord")
    assert "\n" not in str(caught.value)


# Forks ------------------------------------------------------------------------------------------------------


def in_fork(work: Callable[[], bool], seconds: int = 20) -> int:
    """The exit code of a forked child that does some work: 0 if it says True. -SIGALRM if it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks with threads, which this is about
def test_a_forked_child_reads_by_s3fs(stored: str) -> None:
    records = tfreel.open(stored)
    reader = tfreel.read(stored)
    first = next(reader)
    assert records[7] == RECORDS[7]
    assert obstores._used_in
    assert in_fork(lambda: records[7] == RECORDS[7] and [first, *reader] == RECORDS) == 0
    assert in_fork(lambda: list(tfreel.read(stored)) == RECORDS) == 0
    assert [first, *reader] == RECORDS


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_dataset_goes_on_in_a_forked_child(client: Any) -> None:
    tfreel.save("s3://bucket/rows.tfrecord", {"x": range(5000)})
    batches = iter(tfreel.Dataset("s3://bucket/rows.tfrecord").shuffle(seed=1).batch(100))
    next(batches)
    whole = [b["x"].tolist() for b in tfreel.Dataset("s3://bucket/rows.tfrecord").shuffle(seed=1).batch(100)]
    assert in_fork(lambda: [batch["x"].tolist() for batch in batches] == whole[1:]) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_without_s3fs_is_told_what_to_do(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec  # noqa: F401 - which may know s3fs already

    assert next(tfreel.read(stored)) == RECORDS[0]
    monkeypatch.setitem(sys.modules, "s3fs", None)

    def refused() -> bool:
        sys.modules["fsspec.registry"]._registry.pop("s3", None)
        try:
            tfreel.read(stored)
        except RuntimeError as error:
            return 'multiprocessing_context="forkserver"' in str(error)
        return False

    assert in_fork(refused) == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_reads_local_files_as_before(stored: str, tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "data.tfrecord") as out:
        out.write_many(RECORDS)
    records = tfreel.open(tmp_path / "data.tfrecord")
    assert records[3] == RECORDS[3]
    assert in_fork(lambda: records[4] == RECORDS[4]) == 0


# Other file systems -----------------------------------------------------------------------------------------


def test_filesystems_of_fsspec_and_pyarrow_are_stores(stored: str, server: tuple[str, Requests]) -> None:
    import pyarrow.fs
    import s3fs

    ours = s3fs.S3FileSystem(endpoint_url=server[0])
    arrow = pyarrow.fs.S3FileSystem(endpoint_override=server[0], region="us-east-1")
    path = stored.removeprefix("s3://")
    for filesystem in (ours, arrow):
        url = tfreel.Url(path, filesystem=filesystem)
        assert list(tfreel.read(url)) == RECORDS
        assert tfreel.open(url)[[9, 2]] == [RECORDS[9], RECORDS[2]]
        with tfreel.Writer(tfreel.Url("bucket/other.tfrecord", filesystem=filesystem), mode="w") as out:
            out.write(b"one")
        assert list(tfreel.read("s3://bucket/other.tfrecord")) == [b"one"]


def test_a_local_filesystem_of_pyarrow_is_a_store(tmp_path: Path) -> None:
    import pyarrow.fs

    url = tfreel.Url(str(tmp_path / "deep" / "data.tfrecord"), filesystem=pyarrow.fs.LocalFileSystem())
    with tfreel.Writer(url) as out:
        out.write_many(RECORDS)
    assert tfreel.open(url)[3] == RECORDS[3]
    assert list(tfreel.read(tmp_path / "deep" / "data.tfrecord")) == RECORDS


# Jobs that write --------------------------------------------------------------------------------------------


def test_an_object_is_copied_by_the_store(
    stored: str, server: tuple[str, Requests], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = Url(stored)
    server[1].seen.clear()
    store_of(url).copy(url, url.beside("copy é.tfrecord"))
    assert [method for method, _ in server[1].seen] == ["HEAD", "PUT"]
    monkeypatch.setattr(obstores, "_LARGEST_COPY_BYTES", 1000)
    store_of(url).copy(url, url.beside("large.tfrecord"))
    for name in ("copy é.tfrecord", "large.tfrecord"):
        assert list(tfreel.read(url.beside(name))) == RECORDS
    with pytest.raises(FileNotFoundError):
        store_of(url).copy(url.beside("nothing"), url)


def test_an_object_is_swapped_only_if_it_is_what_it_was(client: Any) -> None:
    url = Url("s3://bucket/manifest")
    store = store_of(url)
    store.swap(url, b"one", None)
    with pytest.raises(ChangedError):
        store.swap(url, b"two", None)
    before = store.head(url)
    store.swap(url, b"two", before)
    with pytest.raises(ChangedError):
        store.swap(url, b"three", before)
    now = store.head(url)
    store.delete(url)
    with pytest.raises(ChangedError):
        store.swap(url, b"three", now)


def test_the_store_itself_refuses_what_came_too_late(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the change."""
    url = Url("s3://bucket/manifest")
    store = store_of(url)
    store.swap(url, b"one", None)
    before = store.head(url)
    real = obstores._facts

    def late(meta: Any) -> Any:
        client.put_object(Bucket="bucket", Key="manifest", Body=b"other")
        return real(meta)

    monkeypatch.setattr(obstores, "_facts", late)
    with pytest.raises(ChangedError):
        store.swap(url, b"two", before)
    assert client.get_object(Bucket="bucket", Key="manifest")["Body"].read() == b"other"


def test_jobs_that_commit_at_the_same_time_lose_nothing(client: Any) -> None:
    def one(number: int) -> None:
        job = begin_job(Url("s3://bucket/out"), suffix=".tfrecord", replace=False)
        assert isinstance(job, StoreJob)
        with tfreel.Writer(job.file(0, 0)) as out:
            out.write(b"%d" % number)
        started.wait()
        job.commit([Part.of(0, out)], {})

    started = threading.Barrier(6)
    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tfreel.read("s3://bucket/out")) == [b"%d" % number for number in range(6)]
    assert len(keys(client)) == 8


def test_of_drivers_that_publish_at_the_same_time_the_last_one_wins(client: Any) -> None:
    def one(number: int) -> None:
        new = new_set(Url("s3://bucket/train.tfrecord"), replace=True)
        new.begin()
        parts = []
        for task in range(3):
            with new.parts.writer(task) as out:
                out.write(b"%d" % number)
            parts.append(Part.of(task, out))
        started.wait()
        new.publish(parts)

    started = threading.Barrier(4)
    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = list(tfreel.read("s3://bucket/train-*.tfrecord"))
    assert len(found) == 3
    assert len(set(found)) == 1
    assert not [key for key in keys(client) if "part-" in key or "decision" in key]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "npz", "parquet", "tar"])
def test_records_are_unpacked_into_a_bucket(client: Any, kind: str, tmp_path: Path) -> None:
    tfreel.save("s3://bucket/a.tfrecord", [{"label": i, "image": b"\x89PNG"} for i in range(20)])
    here = tmp_path / f"a.{kind}"
    tfreel.unpack("s3://bucket/a.tfrecord", here)
    tfreel.unpack("s3://bucket/a.tfrecord", f"s3://bucket/out/a.{kind}")
    found = client.get_object(Bucket="bucket", Key=f"out/a.{kind}")["Body"].read()
    assert found == here.read_bytes()
    with pytest.raises(FileExistsError):
        tfreel.unpack("s3://bucket/a.tfrecord", f"s3://bucket/out/a.{kind}")
    with pytest.raises(ValueError, match=r"a store takes a \.tar of it"):
        tfreel.unpack("s3://bucket/a.tfrecord", "s3://bucket/folder/")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_records_in_a_bucket_are_packed(client: Any, suffix: str, tmp_path: Path) -> None:
    source = f"s3://bucket/a.tfrecord{suffix}"
    rows = [{"x": i} for i in range(500)]
    tfreel.save(source, rows)
    report = tfreel.pack(source, tmp_path / "out", split={"train": 0.9, "test": 0.1})
    assert report.written == 500
    assert sorted(tfreel.read(tmp_path / "out")) == sorted(map(tfreel.encode, rows))
    tfreel.pack("s3://bucket/a.*", "s3://bucket/again", shuffle=False)
    assert list(tfreel.read("s3://bucket/again")) == list(map(tfreel.encode, rows))


def test_a_bucket_that_is_not_there_is_called_so(client: Any) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such bucket"):
        tfreel.save("s3://nobody/a.tfrecord", [{"a": 1}])


@pytest.mark.parametrize("endpoint", ["", "localhost:9000", "http:///"])
def test_an_endpoint_that_is_no_url_is_an_error_in_words(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**SETTINGS, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="AWS_ENDPOINT_URL must be a URL, as http://localhost:9000 is one"):
        tfreel.open("s3://elsewhere/a.tfrecord")


def test_ctrl_c_ends_an_upload_and_no_object_appears(
    client: Any, server: tuple[str, Requests], tmp_path: Path
) -> None:
    url, requests = server
    begun = threading.Event()
    ended = threading.Event()

    def wait(method: str, path: str) -> bool:
        if method == "PUT" and "partNumber" in path:
            begun.set()
            ended.wait(30)
        return False

    requests.fails = wait
    program = (
        "import os, tfreel\n"
        "with tfreel.Writer('s3://bucket/large.tfrecord') as out:\n"
        "    for _ in range(9): out.write(os.urandom(10_000_000))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, **SETTINGS, "AWS_ENDPOINT_URL": url, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    assert begun.wait(60)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(10) != 0
    finally:
        ended.set()
    assert process.stderr is not None
    with process.stderr as errors:
        assert b"KeyboardInterrupt" in errors.read()
    assert "large.tfrecord" not in keys(client)
    assert os.listdir(tmp_path) == []
