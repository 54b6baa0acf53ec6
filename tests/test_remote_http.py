"""Objects behind a web server, by obstore: what the network does to them, and what we do about it."""

from __future__ import annotations

import base64
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfreel
from tfreel.storage.remote import retries

from faulty_server import Site, serving

RECORDS = [f"record {i} ".encode() * 100 for i in range(2000)]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("content") / "data.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    return path.read_bytes()


@pytest.fixture
def site(content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(retries, "_FIRST_PAUSE_SECONDS", 0.01)
    with serving() as site:
        site.files["/data.tfrecord"] = content
        yield site


def url(site: Site) -> str:
    return f"{site.url}/data.tfrecord"


def test_an_object_reads_like_a_file(site: Site) -> None:
    assert list(tfreel.read(url(site))) == RECORDS


def test_a_missing_object_is_a_missing_file(site: Site) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.tfrecord"):
        tfreel.read(f"{site.url}/none.tfrecord")


@pytest.mark.parametrize("mishap", ["500", "503", "reset", "short", "wrong range", "whole"])
def test_what_goes_wrong_once_is_tried_again(site: Site, mishap: str) -> None:
    reader = tfreel.read(url(site))
    site.mishaps = [None, mishap, None, mishap]
    assert list(reader) == RECORDS


@pytest.mark.parametrize("mishap", ["500", "reset", "wrong range", "whole"])
def test_what_goes_wrong_always_is_an_error_with_url_and_range(site: Site, mishap: str) -> None:
    reader = tfreel.read(url(site))
    site.mishaps = [None] + [mishap] * 100
    with pytest.raises(OSError, match=r"bytes 0-262144 cannot be read") as caught:
        list(reader)
    assert caught.value.filename == url(site)
    assert 2 <= len(site.asked) < 40


def test_a_reader_goes_on_when_the_network_is_back(site: Site) -> None:
    reader = tfreel.read(url(site))
    read = [next(reader)]
    site.mishaps = ["500"] * 200
    with pytest.raises(OSError, match="cannot be read"):
        read.extend(reader)  # all that came before the error
    site.mishaps = []
    assert read + list(reader) == RECORDS


def test_a_changed_object_is_found_while_it_is_read(site: Site, content: bytes) -> None:
    reader = tfreel.read(url(site))

    def change() -> None:
        site.files["/data.tfrecord"] = content[::-1]

    site.mishaps = [None, None, change]
    delivered = []
    with pytest.raises(tfreel.CorruptError, match="changed while it was read") as caught:
        delivered.extend(reader)
    assert caught.value.kind == "file_changed"
    assert delivered == RECORDS[: len(delivered)]
    assert delivered


def test_a_server_that_ignores_preconditions_is_found_out(site: Site) -> None:
    reader = tfreel.read(url(site))
    site.etags["/data.tfrecord"] = 'W/"one"'  # weak: no precondition

    def change() -> None:
        site.etags["/data.tfrecord"] = 'W/"two"'

    site.mishaps = [None, None, change]
    with pytest.raises(tfreel.CorruptError, match="changed while it was read"):
        list(reader)


def test_random_access_to_a_changed_object_is_an_error(site: Site, content: bytes) -> None:
    records = tfreel.open(url(site))
    assert records[3] == RECORDS[3]
    site.files["/data.tfrecord"] = content[:-10] + b"0123456789"
    assert records[5] == RECORDS[5]  # it is there as it was: nothing is wrong with it
    with pytest.raises(tfreel.TfreelError, match="changed") as caught:
        records[-1]
    assert caught.value.kind == "file_changed"
    del site.files["/data.tfrecord"]
    with pytest.raises(tfreel.TfreelError, match="changed"):
        records[5]


def test_garbled_bytes_are_fetched_again_and_noted(site: Site) -> None:
    reader = tfreel.read(url(site))
    site.mishaps = [None, "garbled"]
    with pytest.warns(tfreel.TfreelWarning, match="a second read was good"):
        assert list(reader) == RECORDS
    assert "a second read was good" in reader.report.notes[0]


def test_garbled_records_by_position_are_fetched_again_and_warned_of(site: Site) -> None:
    records = tfreel.open(url(site))
    assert records[1] == RECORDS[1]
    site.mishaps = ["garbled"]
    with pytest.warns(tfreel.TfreelWarning, match="a second read was good"):
        assert records[7] == RECORDS[7]


def test_a_damaged_record_is_reported_with_both_attempts(site: Site, content: bytes) -> None:
    damaged = bytearray(content)
    damaged[20] ^= 1
    site.files["/data.tfrecord"] = bytes(damaged)
    with pytest.raises(tfreel.ChecksumError, match="a second read gave no better") as caught:
        list(tfreel.read(url(site)))
    assert (caught.value.record, caught.value.offset) == (0, 0)
    assert list(tfreel.read(url(site), on_corrupt="skip")) == RECORDS[1:]
    report = tfreel.verify(url(site))
    assert (report.records, report.fault_count) == (len(RECORDS) - 1, 1)


def test_a_cut_off_object_ends_in_a_precise_fault(site: Site, content: bytes) -> None:
    site.files["/data.tfrecord"] = content[:-100]
    with pytest.raises(tfreel.TruncatedError, match="ends inside the record"):
        list(tfreel.read(url(site)))
    assert list(tfreel.read(url(site), on_corrupt="tail")) == RECORDS[:-1]


def test_content_encoding_is_not_believed(site: Site, tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "data.tfrecord.gz") as out:
        out.write_many(RECORDS)
    site.files["/data.tfrecord.gz"] = (tmp_path / "data.tfrecord.gz").read_bytes()
    site.headers["Content-Encoding"] = "gzip"
    assert list(tfreel.read(f"{site.url}/data.tfrecord.gz")) == RECORDS
    assert tfreel.open(f"{site.url}/data.tfrecord.gz")[[1999, 0]] == [RECORDS[1999], RECORDS[0]]


def test_an_index_beside_the_object_saves_the_scan(site: Site, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.tfrecord"
    path.write_bytes(content)
    (sidecar,) = tfreel.build_index(path)
    site.files["/data.tfrecord.tfreel-index"] = Path(sidecar).read_bytes()
    site.asked.clear()
    records = tfreel.open(url(site), index="require")
    assert records[[7, 1999]] == [RECORDS[7], RECORDS[1999]]
    assert not any(span == "bytes=0-262143" for _, path, span in site.asked if path == "/data.tfrecord")


def test_an_index_of_another_object_is_refused(site: Site, content: bytes, tmp_path: Path) -> None:
    other = tmp_path / "other.tfrecord"
    with tfreel.Writer(other) as out:
        out.write_many(record[::-1] for record in RECORDS)
    site.files["/data.tfrecord.tfreel-index"] = Path(tfreel.build_index(other)[0]).read_bytes()
    with pytest.raises(tfreel.StaleIndexError, match="holds other records"):
        tfreel.open(url(site))
    assert tfreel.open(url(site), index="memory")[0] == RECORDS[0]


def test_a_batch_of_256_takes_at_most_three_round_trips(site: Site) -> None:
    records = tfreel.open(url(site))
    site.asked.clear()
    picks = [(i * 7919) % len(RECORDS) for i in range(256)]
    assert records[picks] == [RECORDS[i] for i in picks]
    assert len(site.asked) <= 3


def test_records_that_lie_far_apart_are_asked_for_at_the_same_time(site: Site, tmp_path: Path) -> None:
    far = [bytes([i]) * (600_000 if i % 2 else 1000) for i in range(130)]
    with tfreel.Writer(tmp_path / "far.tfrecord") as out:
        out.write_many(far)
    site.files["/far.tfrecord"] = (tmp_path / "far.tfrecord").read_bytes()
    site.files["/far.tfrecord.tfreel-index"] = Path(
        tfreel.build_index(tmp_path / "far.tfrecord")[0]
    ).read_bytes()
    records = tfreel.open(f"{site.url}/far.tfrecord")
    assert records[0] == far[0]
    everyone = threading.Barrier(64, timeout=60)

    def wait_for_all() -> None:
        everyone.wait()

    site.mishaps = [wait_for_all] * 64
    assert records[list(range(2, 130, 2))] == far[2::2]  # none is answered before all of them are asked for
    assert not everyone.broken


def test_secrets_of_a_url_stay_secret(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.login = "Basic " + base64.b64encode(b"me:hunter2").decode()
    secret = url(site).replace("://", "://me:hunter2@") + "?token=hunter3"
    reader = tfreel.read(secret)
    assert next(reader) == RECORDS[0]
    assert any("token=hunter3" in path for _, path, _ in site.asked)
    records = tfreel.open(secret)
    assert records[1] == RECORDS[1]
    seen = [repr(reader), repr(records), str(reader.files), str(reader.state_dict()), repr(records.files)]
    site.mishaps = ["500"] * 100
    with pytest.raises(OSError, match="cannot be read") as caught:
        records[1]
    seen += [str(caught.value), repr(caught.value), str(caught.value.__cause__)]
    site.mishaps = []
    site.login = "other"
    with pytest.raises(PermissionError, match="403") as denied:
        tfreel.read(secret)
    seen.append(str(denied.value))
    assert "hunter" not in "".join(seen) + capsys.readouterr().err
    assert pickle.loads(pickle.dumps(records.files[0])).query == "token=hunter3"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"endpont": "http://hunter2"}, "'endpont' is not valid"),
        ({"client_options": {"timeot": "1s"}}, "timeot"),
        ({"region": 5}, "not an instance of"),
    ],
)
def test_options_that_no_store_has_are_told_in_a_line(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r"^s3://bucket: a store cannot be opened like that: ") as caught:
        tfreel.read(tfreel.Url("s3://bucket/a.tfrecord", **options))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_signed_url_needs_no_head(site: Site) -> None:
    site.heads = False
    assert list(tfreel.read(f"{url(site)}?signature=abc")) == RECORDS


def test_a_glob_over_a_web_server_says_why_not(site: Site) -> None:
    with pytest.raises(OSError, match="does not list"):
        tfreel.read(f"{site.url}/*.tfrecord")


def test_a_shard_pattern_needs_no_listing(site: Site, content: bytes) -> None:
    for i in range(2):
        site.files[f"/train-0000{i}-of-00002.tfrecord"] = content
    assert len(tfreel.open(f"{site.url}/train@2.tfrecord")) == 2 * len(RECORDS)
    del site.files["/train-00001-of-00002.tfrecord"]
    with pytest.raises(FileNotFoundError, match="train-00001-of-00002"):
        tfreel.read(f"{site.url}/train@2.tfrecord")
