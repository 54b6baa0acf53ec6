"""Fingerprints: one word for all records, in any order, and what it proves."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfreel
from tfreel import _core
from tfreel.profile import Fingerprint, fingerprint

RECORDS = [f"record {i}".encode() for i in range(500)]


def write(path: str, records: list[bytes]) -> str:
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(records)
    return path


@pytest.mark.parametrize("strong", [False, True])
def test_order_shards_and_compression_do_not_count(strong: bool) -> None:
    one = fingerprint(write("a.tfrecord", RECORDS), strong=strong)
    with tfreel.ShardedWriter("b.tfrecord.gz", shards=3) as out:
        out.write_many(RECORDS[::-1])
    other = fingerprint("b.tfrecord.gz", strong=strong)
    assert one == other
    assert hash(one) == hash(other)
    assert (one.files, other.files) == (1, 3)
    assert one.records == 500
    assert one.bytes == sum(map(len, RECORDS))


@pytest.mark.parametrize("strong", [False, True])
def test_everything_else_counts(strong: bool) -> None:
    found = {
        str(fingerprint(write("x.tfrecord", records), strong=strong))
        for records in (
            RECORDS,
            RECORDS[1:],
            [*RECORDS, RECORDS[0]],
            [b"Record 0", *RECORDS[1:]],
            [],
            [b""],
            [b"", b""],
            [b"ab", b"c"],
            [b"a", b"bc"],
        )
    }
    assert len(found) == 9


def test_the_words_never_change() -> None:
    write("a.tfrecord", [b"cat", b"dog"])
    assert str(fingerprint("a.tfrecord")) == "quick:2377c0b5f2d6a0cc988922442bd5f322"
    assert (
        str(fingerprint("a.tfrecord", strong=True))
        == "strong:2f9c96220f4ec5760fef6667c2dbc81113d7511d60925f606e04f9be9e7fb216"
    )


def test_a_strong_one_is_what_its_definition_says() -> None:
    total = 0
    for record in (b"cat", b"dog"):
        digest = hashlib.blake2b(record, digest_size=32).digest()
        parts = [hashlib.blake2b(digest + i.to_bytes(8, "little")).digest() for i in range(4)]
        total += int.from_bytes(b"".join(parts), "little")
    words = (total % (1 << 2048)).to_bytes(256, "little")
    counted = (2).to_bytes(8, "little") + (6).to_bytes(8, "little")
    inner = hashlib.blake2b(words, digest_size=32).digest()
    expected = hashlib.blake2b(counted + inner, digest_size=32).hexdigest()
    assert fingerprint(write("a.tfrecord", [b"dog", b"cat"]), strong=True).digest == expected


def test_digests_of_bytes_are_those_of_hashlib() -> None:
    generator = np.random.default_rng(0)
    values = [generator.bytes(n) for n in (0, 1, 127, 128, 129, 255, 256, 257, 5000)]
    found = _core.digests(values, content=False)
    expected = b"".join(hashlib.blake2b(value, digest_size=16).digest() for value in values)
    assert found.tobytes() == expected


def test_quick_and_strong_ones_are_never_equal() -> None:
    path = write("a.tfrecord", RECORDS)
    assert fingerprint(path) != fingerprint(path, strong=True)
    assert fingerprint(path) != "a word"


@pytest.mark.parametrize("strong", [False, True])
def test_the_number_of_threads_changes_nothing(strong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfreel.records.parts._SMALLEST_PART", 1 << 16)
    generator = np.random.default_rng(1)
    path = write("a.tfrecord", [generator.bytes(300) for _ in range(3000)])
    told: list[int] = []
    found = {
        fingerprint(path, strong=strong, threads=n, progress=lambda r, _: told.append(r)).digest
        for n in (1, 2, 5)
    }
    assert len(found) == 1
    assert sum(told) == 9000


def test_damage_is_an_error_unless_checksums_are_believed() -> None:
    path = write("a.tfrecord", RECORDS)
    sound = fingerprint(path)
    with open(path, "r+b") as file:
        file.seek(14)
        file.write(b"X")
    with pytest.raises(tfreel.ChecksumError, match="record 0"):
        fingerprint(path)
    assert fingerprint(path, verify=False) == sound  # what was written, not what is there


def test_an_index_is_enough_if_checksums_are_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.tfrecord", RECORDS)
    expected = fingerprint(path)
    tfreel.build_index(path)
    room = sys.modules["tfreel.profile.fingerprint"]
    with monkeypatch.context() as patched:
        patched.setattr(room, "visit_in_parts", None)
        patched.setattr(room, "read", None)
        assert fingerprint(path, verify=False) == expected
    write(path, RECORDS[1:])  # now the index is stale, and not believed
    assert fingerprint(path, verify=False) == fingerprint(path) != expected


def test_a_truncated_file_and_one_of_another_kind_are_refused() -> None:
    path = write("a.tfrecord", RECORDS)
    with open(path, "r+b") as file:
        file.truncate(100)
    with pytest.raises(tfreel.TruncatedError):
        fingerprint(path)
    Path("page.tfrecord").write_text("<html>" * 100)
    with pytest.raises(tfreel.CorruptError, match="not a TFRecord"):
        fingerprint("page.tfrecord", strong=True)


def test_a_stream_has_a_fingerprint() -> None:
    path = write("a.tfrecord", RECORDS)
    with open(path, "rb") as stream:
        assert fingerprint(stream) == fingerprint(path)


def test_the_command_prints_one_for_all_or_each() -> None:
    write("a.tfrecord", RECORDS)
    write("b.tfrecord", RECORDS[:3])
    program = [sys.executable, "-m", "tfreel", "fingerprint"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)

    found = json.loads(run("a.tfrecord", "b.tfrecord").stdout)
    assert (found["records"], found["files"], found["path"]) == (503, 2, None)
    assert found["fingerprint"] == str(fingerprint(["b.tfrecord", "a.tfrecord"]))
    each = [
        json.loads(line) for line in run("--each", "--strong", "a.tfrecord", "b.tfrecord").stdout.splitlines()
    ]
    assert [row["path"] for row in each] == ["a.tfrecord", "b.tfrecord"]
    assert each[1]["fingerprint"] == str(fingerprint("b.tfrecord", strong=True))
    table = run("--table", "a.tfrecord").stdout
    assert str(fingerprint("a.tfrecord")) in table
    assert "digest" not in table
    assert run("--no-verify", "a.tfrecord").returncode == 0
    assert run("nowhere.tfrecord").returncode == 2


def test_plain_values_hold_all_of_it() -> None:
    found = Fingerprint("quick", "ab", 1, 2, 3)
    assert found.to_dict() == {
        "fingerprint": "quick:ab",
        "kind": "quick",
        "digest": "ab",
        "records": 1,
        "bytes": 2,
        "files": 3,
    }
