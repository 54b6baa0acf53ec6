"""A file may end anywhere: every cut point of a small corpus, all codecs, all modes."""

from __future__ import annotations

import io
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES, compress, frames, offsets, write_file
from counting import count

if TYPE_CHECKING:
    from pathlib import Path

MODES = ("raise", "tail", "skip")
WINDOW_BITS = {"gzip": 31, "zlib": 15}
STARTS = offsets(RECORDS)
PLAIN = frames(RECORDS)


@dataclass
class Outcome:
    records: list[bytes]
    error: tfreel.TfreelError | None
    report: tfreel.Report

    @property
    def faults(self) -> list[tuple[str, int, int]]:
        """Kind, record and offset of what was wrong, whether it was raised or only noted."""
        found = [*self.report.faults] if self.error is None else [self.error]
        return [(fault.kind, fault.record, fault.offset) for fault in found]


def read_all(source: Any, mode: str, **options: Any) -> Outcome:
    count("files and streams cut, and read")
    reader = tfreel.read(source, on_corrupt=mode, **options)
    records = []
    try:
        records.extend(reader)  # keeps what came before the error
    except tfreel.TfreelError as error:
        return Outcome(records, error, reader.report)
    finally:
        reader.close()
    return Outcome(records, None, reader.report)


def complete_before(plain_bytes: int) -> int:
    """How many records lie whole in the first bytes of the plain stream."""
    return sum(end <= plain_bytes for end in STARTS[1:])


def plain_fault(cut: int) -> list[tuple[str, int, int]]:
    n = complete_before(cut)
    left = cut - STARTS[n]
    if not left:
        return []
    return [("truncated_header" if left < 12 else "truncated_body", n, STARTS[n])]


@pytest.mark.parametrize("mode", MODES)
def test_plain_file_cut_anywhere_gives_all_whole_records_and_then_names_the_place(
    tmp_path: Path, mode: str
) -> None:
    path = write_file(tmp_path / "cut.tfrecord", RECORDS)
    for cut in reversed(range(len(PLAIN) + 1)):
        os.truncate(path, cut)
        outcome = read_all(path, mode)
        n = complete_before(cut)
        assert outcome.records == RECORDS[:n], f"cut at {cut}"
        assert outcome.faults == plain_fault(cut), f"cut at {cut}"
        assert (outcome.error is not None) == (mode == "raise" and bool(plain_fault(cut))), f"cut at {cut}"
        assert outcome.report.records == n, f"cut at {cut}"


@pytest.mark.parametrize("mode", MODES)
def test_plain_stream_cut_anywhere_behaves_like_the_file(mode: str) -> None:
    for cut in range(len(PLAIN) + 1):
        outcome = read_all(io.BytesIO(PLAIN[:cut]), mode)
        assert outcome.records == RECORDS[: complete_before(cut)], f"cut at {cut}"
        assert outcome.faults == plain_fault(cut), f"cut at {cut}"


def expected_of_compressed(
    data: bytes, codec: str, *, stated: bool
) -> tuple[int, list[tuple[str, int, int]]]:
    """Whole records and the fault of a compressed file that was cut, by Python's zlib."""
    if not data:
        return 0, []
    if len(data) == 1 and not stated:
        return 0, [("truncated_header", 0, 0)]  # one byte does not tell that it was compressed
    n = complete_before(len(zlib.decompressobj(WINDOW_BITS[codec]).decompress(data)))
    return n, [("compressed_truncated", n, STARTS[n])]


@pytest.mark.parametrize("stated", [False, True], ids=["detected", "stated"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_file_cut_anywhere_is_truncated_even_where_all_records_can_be_read(
    tmp_path: Path, codec: str, mode: str, stated: bool
) -> None:
    whole = compress(PLAIN, codec)
    path = write_file(tmp_path / f"cut{SUFFIXES[codec]}", RECORDS, codec)
    options = {"compression": codec} if stated else {}
    assert read_all(path, mode, **options).faults == []
    all_came_early = False
    for cut in reversed(range(len(whole))):
        os.truncate(path, cut)
        outcome = read_all(path, mode, **options)
        n, faults = expected_of_compressed(whole[:cut], codec, stated=stated)
        assert outcome.records == RECORDS[:n], f"cut at {cut} of {len(whole)}"
        assert outcome.faults == faults, f"cut at {cut} of {len(whole)}"
        assert (outcome.error is not None) == (mode == "raise" and bool(faults)), f"cut at {cut}"
        all_came_early |= n == len(RECORDS)
    assert all_came_early  # the trailer alone missing is among the cuts


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_stream_cut_anywhere_behaves_like_the_file(codec: str) -> None:
    whole = compress(PLAIN, codec)
    for stated in (False, True):
        options = {"compression": codec} if stated else {}
        for cut in range(len(whole)):
            outcome = read_all(io.BytesIO(whole[:cut]), "raise", **options)
            n, faults = expected_of_compressed(whole[:cut], codec, stated=stated)
            assert outcome.records == RECORDS[:n], f"cut at {cut} of {len(whole)}, stated: {stated}"
            assert outcome.faults == faults, f"cut at {cut} of {len(whole)}, stated: {stated}"


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_offset_is_where_the_file_ends(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "cut", RECORDS, codec)
    path.write_bytes(path.read_bytes()[:-3])
    error = read_all(path, "raise").error
    assert isinstance(error, tfreel.TruncatedError)
    assert error.compressed_offset == path.stat().st_size


def test_truncation_says_how_many_bytes_are_wanted_and_present(tmp_path: Path) -> None:
    path = tmp_path / "cut.tfrecord"
    path.write_bytes(PLAIN[: STARTS[2] + 100])
    error = read_all(path, "raise").error
    assert isinstance(error, tfreel.TruncatedError)
    assert error.path == str(path)
    assert str(error).startswith(
        f"{path}: record 2 at byte {STARTS[2]}: the file ends inside the record (100 of 272 bytes)"
    )
    path.write_bytes(PLAIN[: STARTS[1] + 5])
    error = read_all(path, "raise").error
    assert "(5 of 12 bytes)" in str(error)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("mode", ["tail", "skip"])
def test_a_forgiven_cut_does_not_touch_the_next_file(tmp_path: Path, codec: str, mode: str) -> None:
    cut = write_file(tmp_path / "a", RECORDS, codec)
    cut.write_bytes(cut.read_bytes()[:-1])
    sound = write_file(tmp_path / "b", [b"next"], codec)
    outcome = read_all([cut, sound], mode)
    assert outcome.records[-1] == b"next"
    assert outcome.report.files == 2
    assert [fault.path for fault in outcome.report.faults] == [str(cut)]


def test_a_raised_cut_is_raised_again_by_the_next_call_instead_of_ending_the_file(tmp_path: Path) -> None:
    cut = tmp_path / "a.tfrecord"
    cut.write_bytes(PLAIN[:-1])
    sound = write_file(tmp_path / "b.tfrecord", [b"next"])
    reader = tfreel.read([cut, sound])
    records = []
    for _ in range(3):
        with pytest.raises(tfreel.TruncatedError):
            records.extend(reader)
    assert records == RECORDS[:-1]
