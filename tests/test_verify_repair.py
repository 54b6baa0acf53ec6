"""`verify` lists every fault; `repair` saves every record that is not damaged, and touches nothing else."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES, compress, frame, frames, header, offsets, write_file

if TYPE_CHECKING:
    from pathlib import Path

MANY = RECORDS * 3
STARTS = offsets(MANY)


def damage(data: bytes, *places: int) -> bytes:
    wrong = bytearray(data)
    for place in places:
        wrong[place] ^= 0x10
    return bytes(wrong)


def payload(i: int) -> int:
    """A byte of the payload of record `i`, or of its footer if it has none."""
    return STARTS[i] + 12


def places(report: tfreel.Report) -> list[tuple[str, str, int, int, int]]:
    return [
        (os.path.basename(fault.path), fault.kind, fault.record, fault.offset, fault.end)
        for fault in report.faults
    ]


def without(*lost: int) -> list[bytes]:
    return [record for i, record in enumerate(MANY) if i not in lost]


# verify -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_sound_files_are_found_sound(tmp_path: Path, codec: str) -> None:
    files = [write_file(tmp_path / f"{i}{SUFFIXES[codec]}", MANY, codec) for i in range(5)]
    report = tfreel.verify(files)
    assert report.ok
    assert (report.files, report.records, report.records_lost) == (5, 5 * len(MANY), 0)
    assert report.bytes == 5 * STARTS[-1]
    assert report.compressed_bytes == (0 if codec == "none" else sum(f.stat().st_size for f in files))
    assert (report.faults, report.notes) == ([], [])


@pytest.mark.parametrize("codec", CODECS)
def test_every_fault_is_listed_with_its_file_record_range_and_kind(tmp_path: Path, codec: str) -> None:
    a = tmp_path / "a"
    a.write_bytes(compress(damage(frames(MANY), payload(1), payload(2), payload(13)), codec))
    b = write_file(tmp_path / "b", MANY, codec)
    c = tmp_path / "c"
    c.write_bytes(compress(damage(frames(MANY), STARTS[5] + 2, STARTS[20] + 9) + b"torn", codec))
    report = tfreel.verify([a, b, c])
    assert places(report) == [
        ("a", "data_crc", 1, STARTS[1], STARTS[2]),
        ("a", "data_crc", 2, STARTS[2], STARTS[3]),
        ("a", "data_crc", 13, STARTS[13], STARTS[14]),
        ("c", "length_crc", 5, STARTS[5], STARTS[6]),
        ("c", "length_crc", 20, STARTS[20], STARTS[21] + 4),
    ]
    assert not report.ok
    assert report.fault_count == 5
    assert report.records == 3 * len(MANY) - 5
    assert report.records_lost is None  # behind a damaged header nobody can tell
    assert tfreel.verify(a).records_lost == 3


@pytest.mark.parametrize("codec", CODECS)
def test_damage_to_any_one_record_costs_exactly_that_record(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a"
    for i in range(len(MANY)):
        for place in {STARTS[i], STARTS[i] + 11, payload(i), STARTS[i + 1] - 1}:
            path.write_bytes(compress(damage(frames(MANY), place), codec))
            report = tfreel.verify(path, threads=1)
            assert report.records == len(MANY) - 1, place
            kind = "length_crc" if place - STARTS[i] < 12 else "data_crc"
            assert places(report) == [("a", kind, i, STARTS[i], STARTS[i + 1])], place


def test_faults_of_many_files_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i}").write_bytes(damage(frames(MANY * (20 - i)), payload(2)))
    report = tfreel.verify("*", threads=4)
    assert [os.path.basename(fault.path) for fault in report.faults] == [str(i) for i in range(20)]
    assert report.files == 20


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same_report(tmp_path: Path, threads: int) -> None:
    for i, codec in enumerate(CODECS * 2):
        (tmp_path / f"{i}").write_bytes(compress(damage(frames(MANY), payload(i), STARTS[8] + i), codec))
    assert tfreel.verify("*", threads=threads).to_dict() == tfreel.verify("*", threads=1).to_dict()


def test_verify_takes_streams_and_stated_compression(tmp_path: Path) -> None:
    assert tfreel.verify(io.BytesIO(frames(MANY))).records == len(MANY)
    path = write_file(tmp_path / "a", MANY, "zlib")
    assert tfreel.verify(path, compression="zlib").ok
    assert tfreel.verify(path, compression="gzip").faults[0].kind == "compressed_corrupt"
    assert tfreel.verify(path, max_record_bytes=300).faults[0].kind == "record_too_large"


def test_verify_of_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        tfreel.verify("nothing")


def test_verify_tells_of_its_progress(tmp_path: Path) -> None:
    for i in range(6):
        write_file(tmp_path / f"{i}", [b"x" * 1000] * 500)
    told: list[tuple[int, int]] = []
    lock = threading.Lock()

    def progress(records: int, size: int) -> None:
        with lock:
            told.append((records, size))

    report = tfreel.verify("*", progress=progress)
    assert sum(records for records, _ in told) == report.records == 3000
    assert sum(size for _, size in told) == report.bytes


def test_report_lists_ten_thousand_faults_and_counts_all(tmp_path: Path) -> None:
    wrong = bytearray(frame(b"x"))
    wrong[12] ^= 1
    (tmp_path / "a").write_bytes(bytes(wrong) * 10_007 + frame(b"last"))
    report = tfreel.verify("a")
    assert (report.records, report.fault_count, len(report.faults)) == (1, 10_007, 10_000)
    assert report.records_lost == 10_007
    (tmp_path / "b").write_bytes(bytes(wrong) * 3)
    both = tfreel.verify(["a", "b"])
    assert (both.fault_count, len(both.faults)) == (10_010, 10_000)


def test_report_is_json(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(damage(frames(MANY), payload(2)))
    as_json = json.loads(json.dumps(tfreel.verify("a").to_dict()))
    assert as_json["ok"] is False
    assert as_json["records"] == len(MANY) - 1
    assert as_json["records_lost"] == 1
    fault = as_json["faults"][0]
    assert (fault["path"], fault["kind"], fault["record"], fault["offset"]) == ("a", "data_crc", 2, STARTS[2])
    assert fault["expected"] != fault["actual"]
    assert "compressed_offset" not in fault


# repair -----------------------------------------------------------------------------------------------------


def fingerprint(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


@pytest.mark.parametrize("to", CODECS)
@pytest.mark.parametrize("codec", CODECS)
def test_repair_saves_every_sound_record_in_order(tmp_path: Path, codec: str, to: str) -> None:
    source = tmp_path / "damaged"
    source.write_bytes(compress(damage(frames(MANY), payload(2), STARTS[9] + 1) + b"torn", codec))
    before = fingerprint(source)
    sound = tmp_path / f"sound{SUFFIXES[to]}"
    report = tfreel.repair(source, sound)
    assert list(tfreel.read(sound)) == without(2, 9)
    assert tfreel.verify(sound).ok
    assert (
        sound.read_bytes()[:2] == {"none": b"\0\0", "gzip": b"\x1f\x8b", "zlib": b"\x78\x01"}.get(to)
        or to == "zlib"
    )
    assert report.records == len(MANY) - 2
    assert fingerprint(source) == before


def test_repair_writes_a_ledger_of_what_was_lost(tmp_path: Path) -> None:
    source = tmp_path / "damaged"
    source.write_bytes(damage(frames(MANY), payload(2), STARTS[9] + 1))
    report = tfreel.repair(source, tmp_path / "sound")
    lines = (tmp_path / "sound.lost.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert found == [fault.to_dict() for fault in report.faults]
    assert [
        (fault["path"], fault["kind"], fault["record"], fault["offset"], fault["end"]) for fault in found
    ] == [
        (str(source), "data_crc", 2, STARTS[2], STARTS[3]),
        (str(source), "length_crc", 9, STARTS[9], STARTS[10]),
    ]


def test_repair_of_a_sound_file_writes_no_ledger_and_removes_an_old_one(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(damage(frames(MANY), payload(2)))
    tfreel.repair(source, tmp_path / "sound")
    assert (tmp_path / "sound.lost.jsonl").exists()
    write_file(source, MANY)
    assert tfreel.repair(source, tmp_path / "sound", mode="w").ok
    assert sorted(os.listdir(tmp_path)) == ["sound", "source"]
    assert list(tfreel.read(tmp_path / "sound")) == MANY


def test_ledger_of_a_hard_name_is_json(tmp_path: Path) -> None:
    source = os.path.join(os.fsencode(tmp_path), b"caf\xe9\n")
    with open(source, "wb") as file:
        file.write(frames(MANY)[:-1])
    tfreel.repair(source, tmp_path / "sound")
    lines = (tmp_path / "sound.lost.jsonl").read_text().splitlines()
    assert [json.loads(line)["path"] for line in lines] == [os.fsdecode(source)]


def test_repair_joins_many_files_into_one(tmp_path: Path) -> None:
    for i, codec in enumerate(CODECS):
        (tmp_path / f"part-{i}").write_bytes(compress(damage(frames(MANY), payload(i)), codec))
    report = tfreel.repair("part-*", "whole")
    assert list(tfreel.read("whole")) == without(0) + without(1) + without(2)
    assert [os.path.basename(fault.path) for fault in report.faults] == ["part-0", "part-1", "part-2"]
    assert report.records_lost == 3


def test_repair_saves_what_a_crash_left(tmp_path: Path) -> None:
    for name, tail in (
        ("torn", frame(b"x" * 100)[:50]),
        ("zeros", bytes(5000)),
        ("torn-zeros", header(100) + bytes(5000)),
    ):
        (tmp_path / name).write_bytes(frames(MANY) + tail)
        tfreel.repair(name, f"{name}.sound")
        assert list(tfreel.read(f"{name}.sound")) == MANY, name


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_repair_saves_what_lies_before_a_cut_in_a_compressed_file(tmp_path: Path, codec: str) -> None:
    source = write_file(tmp_path / "cut", [os.urandom(100) for _ in range(100)], codec)
    os.truncate(source, source.stat().st_size // 2)
    report = tfreel.repair(source, tmp_path / "sound")
    saved = list(tfreel.read(tmp_path / "sound"))
    assert 40 <= len(saved) == report.records < 60
    assert [fault.kind for fault in report.faults] == ["compressed_truncated"]


def test_repair_does_not_overwrite_unless_told(tmp_path: Path) -> None:
    write_file(tmp_path / "source", MANY)
    (tmp_path / "there").write_bytes(b"old")
    with pytest.raises(FileExistsError, match="there"):
        tfreel.repair("source", "there")
    assert (tmp_path / "there").read_bytes() == b"old"
    tfreel.repair("source", "there", mode="w")
    assert list(tfreel.read("there")) == MANY


@pytest.mark.parametrize("mode", ["a", "r", "", None])
def test_repair_knows_no_other_mode(tmp_path: Path, mode: Any) -> None:
    write_file(tmp_path / "source", MANY)
    with pytest.raises(ValueError, match='"x" or "w"'):
        tfreel.repair("source", "sound", mode=mode)
    assert os.listdir(tmp_path) == ["source"]


@pytest.mark.parametrize("alias", ["source", "./source", "link", "hard", "sub/../source"])
def test_repair_refuses_to_overwrite_its_own_source(tmp_path: Path, alias: str) -> None:
    source = tmp_path / "source"
    source.write_bytes(damage(frames(MANY), payload(2)))
    (tmp_path / "link").symlink_to("source")
    (tmp_path / "hard").hardlink_to(source)
    (tmp_path / "sub").mkdir()
    before = fingerprint(source)
    names = sorted(os.listdir(tmp_path))
    for sources in ("source", ["source"], "s*e", ["link"]):
        with pytest.raises(ValueError, match="does not overwrite its source"):
            tfreel.repair(sources, alias, mode="w")
        with pytest.raises((ValueError, FileExistsError)):
            tfreel.repair(sources, alias)
    assert fingerprint(source) == before
    assert sorted(os.listdir(tmp_path)) == names


def test_repair_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    write_file(tmp_path / "a", MANY)
    with pytest.raises(IsADirectoryError):
        tfreel.repair(["a", "directory"], "sound")
    assert sorted(os.listdir(tmp_path)) == ["a", "directory"]

    def fail(records: int, size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tfreel.repair("a", "sound", progress=fail)
    assert sorted(os.listdir(tmp_path)) == ["a", "directory"]


def test_repair_of_files_that_never_were_tfrecords_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<html><body>Not Found</body></html>")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(tfreel.CorruptError, match="it looks like an HTML or XML page") as caught:
        tfreel.repair("page", "sound")
    assert caught.value.kind == "not_tfrecord"
    assert sorted(os.listdir(tmp_path)) == before


def test_repair_saves_what_there_is_beside_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<html><body>Not Found</body></html>")
    with tfreel.Writer("some") as out:
        out.write(b"record")
    report = tfreel.repair(["page", "some"], "sound")
    assert (report.records, [fault.kind for fault in report.faults]) == (1, ["not_tfrecord"])
    assert "HTML" in (tmp_path / "sound.lost.jsonl").read_text()


def test_a_file_of_another_kind_is_not_said_to_be_worth_a_repair(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id,name,age\n1,cat,3\n2,dog,4\n")
    for call in (tfreel.open, tfreel.build_index, lambda path: list(tfreel.read(path))):
        with pytest.raises(tfreel.CorruptError, match=r"it looks like CSV text$"):
            call("table.csv")


def test_repair_takes_compression_and_level(tmp_path: Path) -> None:
    write_file(tmp_path / "a", [b"x" * 10_000] * 20)
    tfreel.repair("a", "stored.bin", compression="GZIP", level=0)
    tfreel.repair("a", "best.bin", compression="zlib", level=9, durable=False)
    assert (tmp_path / "stored.bin").stat().st_size > 200_000
    assert (tmp_path / "best.bin").stat().st_size < 2_000
    assert list(tfreel.read("stored.bin")) == list(tfreel.read("best.bin")) == [b"x" * 10_000] * 20


def test_repair_tells_of_its_progress(tmp_path: Path) -> None:
    write_file(tmp_path / "a", MANY)
    told: list[tuple[int, int]] = []
    tfreel.repair("a", "sound", progress=lambda records, size: told.append((records, size)))
    assert sum(records for records, _ in told) == len(MANY)
    assert sum(size for _, size in told) == STARTS[-1]


def test_repair_is_idempotent(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(damage(frames(MANY), payload(4)))
    tfreel.repair("a", "b")
    tfreel.repair("b", "c")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes() == frames(without(4))
