"""The two-column text index of DALI and the ``tfrecord`` package: written exactly, read with suspicion."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

import tfreel

from corpus import CODECS, RECORDS, compress, frame, frames, offsets, write_file

if TYPE_CHECKING:
    from pathlib import Path

THREE = [b"first", b"", b"the third"]
GOOD = "0 21\n21 16\n37 25\n"


def text_of(path: Path) -> Path:
    return path.with_name(path.name + ".idx")


def given(path: Path, text: str | bytes, records: list[bytes] = THREE) -> Path:
    """A file of records with this text as its index."""
    write_file(path, records)
    text_of(path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def assert_refused(path: Path, kind: str) -> str:
    with pytest.raises(tfreel.StaleIndexError) as caught:
        tfreel.open(path, index="text")
    assert (caught.value.kind, caught.value.path) == (kind, f"{path}.idx")
    return str(caught.value)


# Writing ----------------------------------------------------------------------------------------------------


def test_the_written_form_is_offset_and_framed_size_a_line_each(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", THREE)
    assert tfreel.build_index(path, format="text") == [f"{path}.idx"]
    assert text_of(path).read_bytes() == GOOD.encode()


def test_the_written_form_of_many_records_agrees_with_their_places(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    tfreel.build_index(path, format="text")
    expected = [
        f"{start} {len(record) + 16}" for start, record in zip(offsets(RECORDS), RECORDS, strict=False)
    ]
    assert text_of(path).read_text().splitlines() == expected


def test_the_index_of_an_empty_file_is_an_empty_file(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [])
    tfreel.build_index(path, format="text")
    assert text_of(path).read_bytes() == b""
    assert list(tfreel.open(path, index="text")) == []


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_a_compressed_file_has_no_text_index(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "a", THREE, codec)
    with pytest.raises(ValueError, match="plain files only"):
        tfreel.build_index(path, format="text")
    assert os.listdir(tmp_path) == ["a"]


def test_a_text_index_is_written_anew_each_time(tmp_path: Path) -> None:
    path = given(tmp_path / "a", "0 99\n")
    tfreel.build_index(path, format="text")
    assert text_of(path).read_text() == GOOD


def test_a_damaged_file_gets_no_text_index(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(frames(THREE)[:-1])
    with pytest.raises(tfreel.TruncatedError):
        tfreel.build_index(path, format="text")
    assert os.listdir(tmp_path) == ["a"]


# Reading ----------------------------------------------------------------------------------------------------


def test_what_was_written_is_read(tmp_path: Path) -> None:
    rng = random.Random(0)
    records = [rng.randbytes(rng.randrange(300)) for _ in range(500)]
    path = write_file(tmp_path / "a", records)
    tfreel.build_index(path, format="text")
    found = tfreel.open(path, index="text")
    assert list(found) == records
    assert found[-1] == records[-1]


@pytest.mark.parametrize(
    "text",
    [GOOD, GOOD.rstrip("\n"), GOOD.replace("\n", "\r\n"), GOOD.replace(" ", "\t"), "00 021\n 21  16 \n37 25"],
    ids=["as written", "no last newline", "of Windows", "tabs", "odd spaces and zeros"],
)
def test_harmless_spellings_are_read(tmp_path: Path, text: str) -> None:
    assert list(tfreel.open(given(tmp_path / "a", text), index="text")) == THREE


def test_text_indexes_of_many_files_are_read(tmp_path: Path) -> None:
    files = [given(tmp_path / name, GOOD) for name in "abc"]
    assert list(tfreel.open(files, index="text")) == THREE * 3


def test_a_missing_text_index_is_a_missing_file(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", THREE)
    with pytest.raises(FileNotFoundError) as caught:
        tfreel.open(path, index="text")
    assert caught.value.filename == f"{path}.idx"


@pytest.mark.parametrize(
    "line",
    [
        "nan 16",
        "NaN NaN",
        "21 nan",
        "inf 16",
        "-21 16",
        "21 -16",
        "+21 16",
        "21.0 16",
        "2e1 16",
        "0x15 16",
        "2_1 16",
        "21,16",
        "21",
        "",
        " ",
        "21 16 0",
        "21 16 # a comment",
        "²1 16",
        "\0",
        "21 15",
        "21 0",
        f"{1 << 63} 16",
        f"21 {1 << 63}",
        f"{(1 << 63) - 16} 16",
        f"{1 << 64} 16",
        f"{(1 << 64) + 21} 16",
        f"21 {(1 << 64) + 16}",
        "9" * 10_000 + " 16",
    ],
)
def test_a_line_that_is_no_place_of_a_record_is_damage_and_is_named(tmp_path: Path, line: str) -> None:
    path = given(tmp_path / "a", f"0 21\n{line}\n37 25\n")
    assert "line 2" in assert_refused(path, "index_corrupt")


@pytest.mark.parametrize("text", ["\n" + GOOD, GOOD + "\n", GOOD.replace("\n", "\n\n")])
def test_empty_lines_are_damage(tmp_path: Path, text: str) -> None:
    assert_refused(given(tmp_path / "a", text), "index_corrupt")


@pytest.mark.parametrize(
    "content", [bytes(100), b"\xff\xfe0 21", frames(THREE), random.Random(1).randbytes(1000)]
)
def test_something_that_is_no_text_is_damage(tmp_path: Path, content: bytes) -> None:
    assert_refused(given(tmp_path / "a", content), "index_corrupt")


@pytest.mark.parametrize(
    "text",
    [
        "21 16\n0 21\n37 25\n",
        "0 21\n0 21\n37 25\n",
        "0 21\n37 25\n",
        "0 21\n20 17\n37 25\n",
        "21 16\n37 25\n",
    ],
    ids=["out of order", "the same twice", "one left out", "overlapping", "the first left out"],
)
def test_lines_that_do_not_follow_one_another_are_damage(tmp_path: Path, text: str) -> None:
    assert_refused(given(tmp_path / "a", text), "index_corrupt")


def test_every_truncation_is_seen(tmp_path: Path) -> None:
    for size in range(len(GOOD) - 1):  # the last newline is not missed
        path = given(tmp_path / "a", GOOD[:size])
        with pytest.raises(tfreel.StaleIndexError) as caught:
            tfreel.open(path, index="text")
        assert caught.value.kind in ("index_corrupt", "index_stale")


def test_an_index_cut_at_the_end_of_a_line_does_not_hide_records(tmp_path: Path) -> None:
    assert "37" in assert_refused(given(tmp_path / "a", "0 21\n21 16\n"), "index_stale")
    assert_refused(given(tmp_path / "a", ""), "index_stale")


def test_every_changed_digit_is_seen(tmp_path: Path) -> None:
    for i, old in enumerate(GOOD):
        if not old.isdigit():
            continue
        for new in "0123456789":
            if new != old:
                path = given(tmp_path / "a", GOOD[:i] + new + GOOD[i + 1 :])
                with pytest.raises(tfreel.StaleIndexError):
                    tfreel.open(path, index="text")


def test_the_index_of_a_file_of_another_size_is_stale(tmp_path: Path) -> None:
    assert_refused(given(tmp_path / "a", GOOD, RECORDS), "index_stale")


@pytest.mark.parametrize("records", [THREE[::-1], [b"f", b"", b"the third 1st"], [b"x" * 46]])
def test_the_index_of_another_file_of_the_same_size_is_stale(tmp_path: Path, records: list[bytes]) -> None:
    assert len(frames(records)) == len(frames(THREE))
    assert "record" in assert_refused(given(tmp_path / "a", GOOD, records), "index_stale")


def test_appended_data_makes_a_text_index_stale(tmp_path: Path) -> None:
    path = given(tmp_path / "a", GOOD)
    with path.open("ab") as file:
        file.write(frame(b"more"))
    assert_refused(path, "index_stale")


@pytest.mark.parametrize("end", [0, 1, 37, 61])
def test_truncated_data_makes_a_text_index_stale(tmp_path: Path, end: int) -> None:
    path = given(tmp_path / "a", GOOD)
    os.truncate(path, end)
    assert_refused(path, "index_stale")


@pytest.mark.parametrize("place", [8, 11, 21 + 3, 37 + 9])
def test_a_damaged_header_is_seen_when_the_index_is_loaded(tmp_path: Path, place: int) -> None:
    path = given(tmp_path / "a", GOOD)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert_refused(path, "index_stale")


def test_a_damaged_payload_is_seen_when_the_record_is_read(tmp_path: Path) -> None:
    path = given(tmp_path / "a", GOOD)
    content = bytearray(path.read_bytes())
    content[12] ^= 1
    path.write_bytes(content)
    records = tfreel.open(path, index="text")
    with pytest.raises(tfreel.ChecksumError) as caught:
        records[0]
    assert (caught.value.kind, caught.value.record, caught.value.offset) == ("data_crc", 0, 0)
    assert records[1:] == THREE[1:]


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "none"])
@pytest.mark.parametrize("text", [GOOD, ""])
def test_a_text_index_beside_a_compressed_file_is_refused(tmp_path: Path, codec: str, text: str) -> None:
    path = given(tmp_path / "a", text)
    path.write_bytes(compress(frames(THREE), codec))
    assert_refused(path, "index_stale")


def test_a_line_of_a_record_of_a_terabyte_allocates_nothing(tmp_path: Path) -> None:
    assert_refused(given(tmp_path / "a", f"0 21\n21 16\n37 {1 << 40}\n"), "index_stale")


def test_text_mode_does_not_look_at_sidecars_and_the_others_do_not_look_at_text(tmp_path: Path) -> None:
    path = given(tmp_path / "a", GOOD)
    path.with_name("a.tfreel-index").write_bytes(b"damaged")
    assert list(tfreel.open(path, index="text")) == THREE
    text_of(path).write_bytes(b"damaged")
    assert list(tfreel.open(path, index="rebuild")) == THREE


def test_data_that_is_missing_is_a_missing_file(tmp_path: Path) -> None:
    path = given(tmp_path / "a", GOOD)
    path.unlink()
    with pytest.raises(FileNotFoundError) as caught:
        tfreel.open(path, index="text")
    assert caught.value.filename == os.fspath(path)
