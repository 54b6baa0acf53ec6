"""Paths that are URLs, by fsspec's file system in memory: everything that takes a path takes one."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner

import tfreel
from tfreel import profile
from tfreel.cli.program import program
from tfreel.storage.remote.obstores import ObjectStore
from tfreel.storage.url import Url, is_url, place

from viewing import Visitor

RECORDS = [f"record {i}".encode() for i in range(500)]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(scratch))
    files = fsspec.filesystem("memory")
    files.rm("/", recursive=True)
    yield files
    assert list(scratch.iterdir()) == []  # nothing was left behind


def names(memory: Any) -> list[str]:
    return sorted(path.lstrip("/") for path in memory.find("/"))


# Names ------------------------------------------------------------------------------------------------------


def test_a_url_shows_no_secrets() -> None:
    url = Url("https://me:secret@host:80/a/b.tfrecord?sig=secret#part")
    assert url == "https://host:80/a/b.tfrecord"
    assert (url.user, url.query) == (("me", "secret"), "sig=secret")
    assert "secret" not in repr(url) + str(url) + f"{url}" + repr([url + ".idx"])
    assert (url + ".idx").query == url.beside("c").query == "sig=secret"
    again = pickle.loads(pickle.dumps(url))
    assert (again, again.user, again.query) == (url, url.user, url.query)


def test_a_question_mark_is_a_glob_where_there_are_no_queries() -> None:
    assert Url("s3://bucket/train-?.tfrecord") == "s3://bucket/train-?.tfrecord"
    assert Url("memory://train@8.tfrecord") == "memory://train@8.tfrecord"


def test_what_is_no_url_stays_a_path(tmp_path: Path) -> None:
    assert not any(map(is_url, ["a/b", "/a", "C:/a", "-", "a:b", "~/x"]))
    assert place("a/b") == "a/b"
    assert place(f"file://{tmp_path}/a%20b") == f"{tmp_path}/a b"
    with pytest.raises(ValueError, match="not a URL"):
        tfreel.Url("a/b")


def test_an_unknown_scheme_is_said() -> None:
    with pytest.raises(ValueError, match="knows the scheme 'nosuch'"):
        tfreel.read("nosuch://a/b")


def test_a_filesystem_must_be_one() -> None:
    with pytest.raises(TypeError, match="expected a file system"):
        tfreel.read(tfreel.Url("a/b", filesystem=object()))


# Reading ----------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(memory: Any) -> Any:
    for suffix in ("", ".gz", ".zlib"):
        with tfreel.Writer(f"plain.tfrecord{suffix}") as out:
            out.write_many(RECORDS)
        memory.put_file(f"plain.tfrecord{suffix}", f"/box/plain.tfrecord{suffix}")
    return memory


@pytest.mark.parametrize("suffix", ["", ".gz", ".zlib"])
def test_plain_and_compressed_objects_read_like_files(stored: Any, suffix: str) -> None:
    url = f"memory://box/plain.tfrecord{suffix}"
    assert list(tfreel.read(url)) == RECORDS
    records = tfreel.open(url)
    assert len(records) == 500
    assert (records[-1], records[3:6], records[[9, 2]]) == (
        RECORDS[-1],
        RECORDS[3:6],
        [RECORDS[9], RECORDS[2]],
    )
    assert list(records) == RECORDS


def test_any_place_in_a_reader_can_be_saved_and_restored(stored: Any) -> None:
    for url in ("memory://box/plain.tfrecord", "memory://box/plain.tfrecord.gz"):
        reader = tfreel.read(url)
        for count in (0, 1, 77):
            taken = [next(reader) for _ in range(count)]
            state = reader.state_dict()
            later = tfreel.read(url)
            later.load_state_dict(state)
            copy = pickle.loads(pickle.dumps(reader))
            assert next(later) == next(copy)
            assert len(taken) == count


def test_a_filesystem_object_is_a_store(stored: Any) -> None:
    assert list(tfreel.read(tfreel.Url("box/plain.tfrecord", filesystem=stored))) == RECORDS
    records = tfreel.open(tfreel.Url("/box/plain.*.gz", filesystem=stored))
    assert records[7] == RECORDS[7]


def test_empty_objects_have_no_records(memory: Any) -> None:
    memory.pipe_file("/empty.tfrecord", b"")
    assert list(tfreel.read("memory://empty.tfrecord")) == []
    assert len(tfreel.open("memory://empty.tfrecord")) == 0


def test_something_else_is_told_by_its_looks(memory: Any) -> None:
    memory.pipe_file("/page.tfrecord", b"<!doctype html><title>404</title>")
    with pytest.raises(tfreel.CorruptError, match="looks like an HTML"):
        list(tfreel.read("memory://page.tfrecord"))


def test_an_object_does_not_grow(stored: Any) -> None:
    with pytest.raises(ValueError, match="follow="):
        next(tfreel.read("memory://box/plain.tfrecord", follow=0.1))
    with pytest.raises(ValueError, match="cannot be added to"):
        tfreel.Writer("memory://box/plain.tfrecord", mode="a")
    with pytest.raises(ValueError, match="of this machine"):
        tfreel.open("memory://box/plain.tfrecord", index="text")


def test_an_object_replaced_while_it_is_read_is_found(stored: Any) -> None:
    reader = tfreel.read("memory://box/plain.tfrecord")
    reader._open()
    with tfreel.Writer("memory://box/plain.tfrecord", mode="w") as out:
        out.write_many(record[::-1] for record in RECORDS)
    with pytest.raises(tfreel.CorruptError, match="changed") as caught:
        list(reader)
    assert caught.value.kind == "file_changed"


# Sets -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shards(memory: Any) -> Any:
    with tfreel.ShardedWriter("memory://box/train.tfrecord", shards=3) as out:
        out.write_many(RECORDS)
    return memory


@pytest.mark.parametrize(
    "pattern",
    [
        "box/train.tfrecord",
        "box/train-*.tfrecord",
        "box/train@3.tfrecord",
        "box/train-{00000..00002}-of-00003.tfrecord",
        "**/train-?????-of-*",
    ],
)
def test_patterns_find_the_shards(shards: Any, pattern: str) -> None:
    assert len(tfreel.open(f"memory://{pattern}")) == 500


def test_a_missing_shard_is_named(shards: Any) -> None:
    shards.rm_file("/box/train-00001-of-00003.tfrecord")
    for pattern in ("train.tfrecord", "train-*.tfrecord", "train@3.tfrecord"):
        with pytest.raises(FileNotFoundError, match="train-00001-of-00003"):
            tfreel.read(f"memory://box/{pattern}")


def test_a_shard_of_another_size_is_refused(shards: Any) -> None:
    shards.pipe_file("/box/train-00001-of-00003.tfrecord", b"")
    with pytest.raises(tfreel.StaleIndexError, match="has 0 bytes, but its manifest promises"):
        tfreel.read("memory://box/train.tfrecord")


def test_a_glob_that_finds_nothing_says_so(shards: Any) -> None:
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tfreel.read("memory://box/test-*.tfrecord")


# Writing ----------------------------------------------------------------------------------------------------


def test_an_object_appears_when_it_is_whole(memory: Any) -> None:
    with tfreel.Writer("memory://box/new.tfrecord.gz") as out:
        out.write_many(RECORDS)
        out.flush(sync=True)
        assert names(memory) == []
    assert list(tfreel.read("memory://box/new.tfrecord.gz")) == RECORDS


def write_half(url: str, mode: Any) -> None:
    with tfreel.Writer(url, mode=mode) as out:
        out.write(b"half")
        raise KeyError


def test_an_exception_leaves_no_object_or_the_old_one(memory: Any) -> None:
    url = "memory://box/new.tfrecord"
    for mode in ("x", "w"):
        with pytest.raises(KeyError):
            write_half(url, mode)
        assert names(memory) == []
    with tfreel.Writer(url) as out:
        out.write(b"old")
    with pytest.raises(KeyError):
        write_half(url, "w")
    assert list(tfreel.read(url)) == [b"old"]


def test_an_object_is_not_replaced_unasked(memory: Any) -> None:
    url = "memory://box/new.tfrecord"
    out, other = tfreel.Writer(url), tfreel.Writer(url)
    for writer in (out, other):
        writer.write(b"mine")
    out.close()
    with pytest.raises(FileExistsError):
        other.close()
    with pytest.raises(FileExistsError, match='mode="w" replaces it'):
        tfreel.Writer(url)
    assert list(tfreel.read(url)) == [b"mine"]


def test_a_failed_upload_is_the_last_word(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfreel.storage.remote import retries

    monkeypatch.setattr(retries, "_FIRST_PAUSE_SECONDS", 0.001)
    out = tfreel.Writer("memory://box/new.tfrecord")
    out.write(b"one")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no network")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "put_file", fail)
        with pytest.raises(OSError, match="cannot be written"):
            out.close()
    with pytest.raises(OSError, match="cannot be written"):
        out.close()
    with pytest.raises(OSError, match="cannot be written"):
        out.write(b"two")
    assert names(memory) == []


def test_a_set_whose_upload_fails_is_taken_back(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfreel.storage.remote import retries

    monkeypatch.setattr(retries, "_FIRST_PAUSE_SECONDS", 0.001)
    put = type(memory).put_file

    def sometimes(self: Any, path: str, target: str, **options: Any) -> None:
        if "00002-of" in target:
            raise OSError("no network")
        put(self, path, target, **options)

    monkeypatch.setattr(type(memory), "put_file", sometimes)
    with (
        pytest.raises(OSError, match="cannot be written"),
        tfreel.ShardedWriter("memory://box/train.tfrecord", shards=3) as out,
    ):
        out.write_many(RECORDS)
    assert names(memory) == []


def test_a_set_is_replaced_as_a_whole(shards: Any) -> None:
    with pytest.raises(FileExistsError, match="the set exists already"):
        tfreel.ShardedWriter("memory://box/train.tfrecord", shards=2)
    with tfreel.ShardedWriter("memory://box/train.tfrecord", max_records=300, mode="w") as out:
        out.write_many(RECORDS)
    assert names(shards) == [
        "box/train-00000-of-00002.tfrecord",
        "box/train-00001-of-00002.tfrecord",
        "box/train.tfrecord.manifest.json",
    ]
    assert list(tfreel.read("memory://box/train.tfrecord")) == RECORDS


def test_an_index_goes_beside_its_object_and_with_it(stored: Any) -> None:
    url = "memory://box/plain.tfrecord"
    assert tfreel.build_index(url) == [f"{url}.tfreel-index"]
    assert tfreel.open(url, index="require")[3] == RECORDS[3]
    with tfreel.Writer(url, mode="w") as out:
        out.write(b"new")
    assert "box/plain.tfrecord.tfreel-index" not in names(stored)
    assert tfreel.open(url)[0] == b"new"


def test_repair_saves_an_object_to_another(stored: Any) -> None:
    damaged = bytearray(stored.cat_file("/box/plain.tfrecord"))
    damaged[13] ^= 1
    stored.pipe_file("/box/bad.tfrecord", bytes(damaged))
    report = tfreel.repair("memory://box/bad.tfrecord", "memory://box/good.tfrecord")
    assert (report.records, report.records_lost) == (499, 1)
    assert list(tfreel.read("memory://box/good.tfrecord")) == RECORDS[1:]
    assert "box/good.tfrecord.lost.jsonl" in names(stored)
    with pytest.raises(ValueError, match="does not overwrite its source"):
        tfreel.repair("memory://box/bad.tfrecord", "memory://box/bad.tfrecord", mode="w")


# Datasets, packing, the command line ------------------------------------------------------------------------


@pytest.fixture
def rows(memory: Any) -> tuple[tfreel.Dataset, tfreel.Dataset]:
    tfreel.save("rows.tfrecord", {"x": range(5000), "y": [[0.5, 1.0]] * 5000})
    memory.put_file("rows.tfrecord", "/box/rows.tfrecord")
    return tfreel.Dataset("memory://box/rows.tfrecord"), tfreel.Dataset("rows.tfrecord")


def test_a_dataset_of_objects_is_that_of_the_files(rows: tuple[tfreel.Dataset, tfreel.Dataset]) -> None:
    def found(ds: tfreel.Dataset) -> list[list[int]]:
        plans = (ds, ds.shuffle(seed=1), ds.shuffle(seed=1, window=512), ds.split(0.5, 0.5, seed=2)[1])
        return [batch["x"].tolist() for plan in plans for batch in plan.batch(37)]

    remote, local = rows
    assert found(remote) == found(local)
    assert remote[-1]["x"] == 4999
    assert [row["x"] for row in remote.take(600)] == list(range(600))
    assert len(pickle.loads(pickle.dumps(remote))) == 5000


def test_a_state_of_either_dataset_is_one_of_the_other(rows: tuple[tfreel.Dataset, tfreel.Dataset]) -> None:
    remote, local = (ds.shuffle(seed=1).batch(64) for ds in rows)
    iterator = iter(remote)
    for _ in range(5):
        next(iterator)
    later = iter(local)
    later.load_state_dict(iterator.state_dict())
    assert [batch["x"].tolist() for batch in later] == [batch["x"].tolist() for batch in iterator]


def test_a_damaged_record_is_an_error_when_its_batch_comes(
    rows: tuple[tfreel.Dataset, tfreel.Dataset], memory: Any
) -> None:
    remote, _ = rows
    damaged = bytearray(memory.cat_file("/box/rows.tfrecord"))
    damaged[len(damaged) // 2] ^= 1
    store = memory.store["/box/rows.tfrecord"]
    store.seek(0)
    store.write(bytes(damaged))
    batches = iter(remote.batch(100))
    read = []
    with pytest.raises(tfreel.TfreelError):
        read.extend(batch["x"].tolist() for batch in batches)
    assert [x for batch in read for x in batch] == list(range(100 * len(read)))
    assert len(read) in (24, 25)


def test_pack_sends_the_data_set_with_its_manifest_last(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("table.csv").write_text("a,b\n" + "".join(f"{i},{i}\n" for i in range(20)))
    sent: list[str] = []
    put = type(memory).put_file

    def noted(self: Any, path: str, target: str, **options: Any) -> None:
        sent.append(target)
        put(self, path, target, **options)

    monkeypatch.setattr(type(memory), "put_file", noted)
    report = tfreel.pack("table.csv", "memory://packed", split={"train": 0.5, "test": 0.5}, shards=2)
    assert report.path == "memory://packed"
    assert sent[-1] == "/packed/dataset.json"
    assert len(tfreel.Dataset("memory://packed", split="train")) == 10
    with pytest.raises(FileExistsError, match="force=True"):
        tfreel.pack("table.csv", "memory://packed")
    tfreel.pack("table.csv", "memory://packed", force=True)
    assert names(memory) == ["packed/dataset.json", "packed/train-00000-of-00001.tfrecord"]


def test_a_packed_set_whose_upload_fails_is_taken_back(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tfreel.storage.remote import retries

    monkeypatch.setattr(retries, "_FIRST_PAUSE_SECONDS", 0.001)
    Path("table.csv").write_text("a,b\n1,2\n3,4\n")
    put = type(memory).put_file

    def sometimes(self: Any, path: str, target: str, **options: Any) -> None:
        if "json" in target:
            raise OSError("no network")
        put(self, path, target, **options)

    monkeypatch.setattr(type(memory), "put_file", sometimes)
    with pytest.raises(OSError, match="cannot be written"):
        tfreel.pack("table.csv", "memory://packed")
    assert names(memory) == []


@pytest.mark.parametrize(
    "command",
    [["head"], ["info"], ["count"], ["verify"], ["schema"], ["stats"], ["cat"], ["index"], []],
    ids=lambda command: " ".join(command) or "alone",
)
def test_commands_take_urls(rows: object, command: list[str]) -> None:
    done = CliRunner().invoke(program, [*command, "memory://box/rows.tfrecord"])
    assert done.exit_code == 0, done.output


def test_what_looks_at_records_takes_urls(rows: object) -> None:
    url = "memory://box/rows.tfrecord"
    assert profile.fingerprint(url) == profile.fingerprint("rows.tfrecord")
    assert profile.diff(url, "rows.tfrecord").equal == 5000
    assert tfreel.infer_features(url).keys() == {"x", "y"}
    tfreel.unpack(url, "rows.csv")
    assert Path("rows.csv").read_text().count("\n") == 5001


def test_the_viewer_takes_urls(rows: object) -> None:
    viewer = tfreel.view("memory://box/rows.tfrecord")
    try:
        visitor = Visitor(viewer).enter()
        while visitor.get("records/0").status == 503:
            time.sleep(0.02)
        assert len(visitor.found(where="x > 4990")) == 9
        assert visitor.json("records/7")
    finally:
        viewer.stop()


def test_a_command_says_in_one_line_that_nothing_is_there(memory: Any) -> None:
    done = CliRunner().invoke(program, ["head", "memory://box/none.tfrecord"])
    assert done.exit_code == 2
    assert "memory://box/none.tfrecord" in done.output
    assert "Traceback" not in done.output


# Tables and statistics --------------------------------------------------------------------------------------


@pytest.mark.parametrize("indexed", [False, True])
def test_sets_in_a_store_are_scanned_divided_and_counted(memory: Any, indexed: bool) -> None:
    rows = [{"n": i, "name": f"row {i}"} for i in range(1000)]
    with tfreel.ShardedWriter("memory://sets/s.tfrecord", shards=3) as out:
        for row in rows:
            out.write(row)
    if indexed:
        tfreel.build_index("memory://sets/s-*.tfrecord")
    scan = tfreel.scan("memory://sets/s-*.tfrecord", columns=["n"])
    parts = [pickle.loads(pickle.dumps(part)) for part in scan.split(5 if indexed else 3)]
    assert scan.count() == sum(part.count() for part in parts) == 1000
    found = [int(n) for part in parts for batch in part.batches() for n in batch["n"]]
    assert sorted(found) == list(range(1000))
    assert tfreel.scan("memory://sets/s-*.tfrecord", where="n < 10").count() == 10
    told = profile.stats("memory://sets/s-*.tfrecord")
    assert (told.records, told.features["n"].numbers.max) == (1000, 999)


def test_what_cannot_become_an_object_is_refused_and_nothing_lands_here(memory: Any, tmp_path: Path) -> None:
    tfreel.save("memory://box/a.tfrecord", [{"a": 1}])
    before = os.listdir(".")
    tfreel.unpack("memory://box/a.tfrecord", "memory://box/out.csv")
    assert memory.cat("/box/out.csv") == b"a\n1\n"
    assert (
        CliRunner()
        .invoke(program, ["stats", "memory://box/a.tfrecord", "--html", "memory://box/r.html"])
        .exit_code
        == 0
    )
    assert memory.cat("/box/r.html").startswith(b"<!doctype html>")
    assert os.listdir(".") == before


@pytest.mark.parametrize("kind", [None, "csv"])
def test_of_a_store_only_records_are_packed(memory: Any, kind: str | None, tmp_path: Path) -> None:
    memory.pipe("/box/t.csv", b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="only TFRecord files are packed; copy the others here first"):
        tfreel.pack("memory://box/t.csv", tmp_path / "out", kind=kind)
    tfreel.save("memory://box/a.tfrecord", [{"a": 1}])
    assert tfreel.pack("memory://box/a.tfrecord", tmp_path / "out").written == 1


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("az://box/a", {"account_name": "me", "use_fabric_endpoint": True}),
        ("s3://box/a", {"endpoint": "http://localhost:9000", "region": "here"}),
    ],
)
def test_only_the_endpoint_of_a_store_has_to_be_a_url(
    url: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost")  # of another store, or not the one that counts
    assert ObjectStore(Url(url, **options))
    with pytest.raises(ValueError, match=r"endpoint must be a URL, .* not 'somewhere'"):
        ObjectStore(Url(url, **{**options, "endpoint": "somewhere"}))
