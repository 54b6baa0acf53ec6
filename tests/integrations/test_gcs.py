"""Google Cloud Storage, by gcsfs and an emulator on this machine, which lacks what obstore asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfreel
from tfreel.commits import Part, begin_job, new_set

RECORDS = [f"record {i} ".encode() * 20 for i in range(1000)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from gcp_storage_emulator.server import create_server

    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="bucket")
    server.start()
    host, port = server._api._httpd.socket.getsockname()[:2]
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def files(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # or it asks by gRPC, for a minute
    import gcsfs

    return gcsfs.GCSFileSystem(endpoint_url=endpoint, token="anon", skip_instance_cache=True)


def test_records_are_written_read_and_listed(files: Any) -> None:
    def url(name: str) -> tfreel.Url:
        return tfreel.Url(f"bucket/{name}", filesystem=files)

    with tfreel.Writer(url("data.tfrecord")) as out:
        out.write_many(RECORDS)
    assert list(tfreel.read(url("data.tfrecord"))) == RECORDS
    assert tfreel.open(url("data.tfrecord"))[[999, 0]] == [RECORDS[999], RECORDS[0]]
    with pytest.raises(FileExistsError):
        tfreel.Writer(url("data.tfrecord"))
    with tfreel.ShardedWriter(url("train.tfrecord"), shards=2) as out:
        out.write_many(RECORDS)
    assert len(tfreel.open(url("train-*.tfrecord"))) == 1000


def test_a_changed_object_is_found(files: Any) -> None:
    url = tfreel.Url("bucket/changing.tfrecord", filesystem=files)
    with tfreel.Writer(url) as out:
        out.write_many(RECORDS)
    reader = tfreel.read(url)
    reader._open()
    with tfreel.Writer(url, mode="w") as out:
        out.write_many(RECORDS[::-1])
    with pytest.raises(tfreel.CorruptError, match="changed"):
        list(reader)


def test_sets_and_folders_of_jobs_are_committed(files: Any) -> None:
    folder = tfreel.Url("bucket/out", filesystem=files)
    for i in range(3):
        job = begin_job(folder, suffix=".tfrecord", replace=i == 2)
        with tfreel.Writer(job.file(0, 0)) as out:
            out.write(b"%d" % i)
        job.commit([Part.of(0, out)], {})
        assert list(tfreel.read(folder)) == ([b"2"] if i == 2 else [b"0", b"1"][: i + 1])
    path = tfreel.Url("bucket/sets/train.tfrecord", filesystem=files)
    for i in range(2):
        new = new_set(path, replace=True)
        new.begin()
        with new.parts.writer(0) as out:
            out.write(b"%d" % i)
        new.publish([Part.of(0, out)])
        assert list(tfreel.read(path)) == [b"%d" % i]
    assert sorted(name.rpartition("/")[2][:5] for name in files.find("bucket/out")) == [
        "_SUCC",
        "datas",
        "part-",
    ]
    assert len(files.find("bucket/sets")) == 2
