"""The cache of what was fetched: it saves requests, stays within its cap, and is never believed blindly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfreel
from tfreel.storage.remote import cache

from faulty_server import Site, serving

RECORDS = [f"record {i} ".encode() * 100 for i in range(6000)]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("content") / "data.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many(RECORDS)
    return path.read_bytes()


@pytest.fixture
def site(content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    monkeypatch.setenv("TFREEL_CACHE", os.fspath(tmp_path / "cache"))
    cache._written.clear()
    with serving() as site:
        site.files["/data.tfrecord"] = content
        yield site


def blocks(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache" / "blocks").rglob("*") if path.is_file()]


def fetched(site: Site) -> int:
    return sum(method == "GET" and path == "/data.tfrecord" for method, path, _ in site.asked)


def url(site: Site) -> str:
    return f"{site.url}/data.tfrecord"


def test_what_was_read_once_is_not_fetched_again(site: Site) -> None:
    assert list(tfreel.read(url(site))) == RECORDS
    assert tfreel.open(url(site))[[5999, 3]] == [RECORDS[5999], RECORDS[3]]
    site.asked.clear()
    assert list(tfreel.read(url(site))) == RECORDS
    assert tfreel.open(url(site))[[5999, 3, 77]] == [RECORDS[5999], RECORDS[3], RECORDS[77]]
    assert fetched(site) == 0


def test_the_index_of_an_object_is_kept_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(tfreel.open(url(site))) == 6000

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("scanned again")

    monkeypatch.setattr("tfreel.index.build.scan", fail)
    assert tfreel.open(url(site))[4] == RECORDS[4]


def test_another_version_has_its_own_blocks(site: Site, content: bytes) -> None:
    assert list(tfreel.read(url(site))) == RECORDS
    with tfreel.Writer("new.tfrecord") as out:
        out.write_many(RECORDS[::-1])
    site.files["/data.tfrecord"] = Path("new.tfrecord").read_bytes()
    assert list(tfreel.read(url(site))) == RECORDS[::-1]
    assert tfreel.open(url(site))[0] == RECORDS[-1]


def test_damaged_blocks_are_fetched_again(site: Site, tmp_path: Path) -> None:
    assert list(tfreel.read(url(site))) == RECORDS
    for i, path in enumerate(blocks(tmp_path)):
        content = bytearray(path.read_bytes())
        content[i * 97 % len(content)] ^= 1
        path.write_bytes(content[: -1 if i % 2 else None])
    assert list(tfreel.read(url(site))) == RECORDS


def test_what_the_network_garbled_is_not_kept(site: Site) -> None:
    records = tfreel.open(url(site), index="memory")
    for path in Path(os.environ["TFREEL_CACHE"]).rglob("*"):
        if path.is_file():
            path.unlink()
    site.mishaps = ["garbled"]
    with pytest.warns(tfreel.TfreelWarning, match="a second read was good"):
        assert records[[7, 9]] == [RECORDS[7], RECORDS[9]]
    assert records[8] == RECORDS[8]


def test_the_cap_holds_and_what_was_used_last_stays(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = 3 << 20
    monkeypatch.setenv("TFREEL_CACHE_BYTES", str(cap))
    assert list(tfreel.read(url(site))) == RECORDS
    assert 0 < sum(path.stat().st_size for path in blocks(tmp_path)) <= cap
    assert list(tfreel.read(url(site))) == RECORDS


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TFREEL_CACHE", os.fspath(tmp_path / "file" / "below"))
    assert list(tfreel.read(url(site))) == RECORDS
    assert tfreel.open(url(site))[3] == RECORDS[3]
