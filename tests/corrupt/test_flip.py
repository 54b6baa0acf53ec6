"""One bit wrong: every bit of a small corpus, all codecs. Never a wrong record, never a silent loss."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest

import tfreel

from corpus import frame, frames, header, masked_crc, offsets, write_file
from counting import count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Short, unlike one another, with an empty one at the start, in the middle and at the end.
RECORDS = [b"", b"a", b"\0" * 16, b"", bytes(range(33, 73)), b"the quick brown fox", b""]
STARTS = offsets(RECORDS)
PLAIN = frames(RECORDS)


def flips(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Every byte position and bit, and the data with that bit flipped."""
    for position, byte in enumerate(data):
        for bit in range(8):
            count("bits flipped")
            yield position, bit, data[:position] + bytes([byte ^ 1 << bit]) + data[position + 1 :]


def flipped(path: Path, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """As `flips`, with the file holding the flipped data at every step."""
    path.write_bytes(data)
    with path.open("r+b", buffering=0) as file:
        for position, bit, wrong in flips(data):
            os.pwrite(file.fileno(), wrong[position : position + 1], position)
            yield position, bit, wrong
            os.pwrite(file.fileno(), data[position : position + 1], position)


def read_all(
    source: Any, mode: str, **options: Any
) -> tuple[list[bytes], tfreel.TfreelError | None, tfreel.Report]:
    reader = tfreel.read(source, on_corrupt=mode, **options)
    records: list[bytes] = []
    try:
        records.extend(reader)
    except tfreel.TfreelError as error:
        return records, error, reader.report
    finally:
        reader.close()
    return records, None, reader.report


def damaged_record(position: int) -> int:
    return sum(start <= position for start in STARTS[1:])


def in_header(position: int) -> bool:
    return position - STARTS[damaged_record(position)] < 12


# Plain files ------------------------------------------------------------------------------------------------


def test_flip_in_a_plain_file_stops_strict_reading_at_exactly_that_record(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    for position, bit, _ in flipped(path, PLAIN):
        records, error, _ = read_all(path, "raise")
        k = damaged_record(position)
        where = f"bit {bit} of byte {position}"
        assert records == RECORDS[:k], where
        assert isinstance(error, tfreel.ChecksumError), where
        kind = "length_crc" if in_header(position) else "data_crc"
        assert (error.kind, error.record, error.offset) == (kind, k, STARTS[k]), where
        assert error.path == str(path), where


def test_flip_in_a_plain_file_costs_a_salvaging_reader_exactly_that_record(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    for position, bit, _ in flipped(path, PLAIN):
        records, error, report = read_all(path, "skip")
        k = damaged_record(position)
        where = f"bit {bit} of byte {position}"
        assert error is None, where
        assert records == RECORDS[:k] + RECORDS[k + 1 :], where
        kind = "length_crc" if in_header(position) else "data_crc"
        found = [(fault.kind, fault.record, fault.offset, fault.end) for fault in report.faults]
        assert found == [(kind, k, STARTS[k], STARTS[k + 1])], where
        assert report.records_lost == (None if in_header(position) else 1), where


def test_flip_in_a_plain_stream_costs_the_same_as_in_a_file() -> None:
    for position, bit, data in flips(PLAIN):
        k = damaged_record(position)
        where = f"bit {bit} of byte {position}"
        records, error, _ = read_all(io.BytesIO(data), "raise")
        assert (records, error is not None) == (RECORDS[:k], True), where
        assert (error.kind, error.offset) == (
            "length_crc" if in_header(position) else "data_crc",
            STARTS[k],
        ), where
        records, _, report = read_all(io.BytesIO(data), "skip")
        assert records == RECORDS[:k] + RECORDS[k + 1 :], where
        assert [(fault.offset, fault.end) for fault in report.faults] == [(STARTS[k], STARTS[k + 1])], where


def test_flip_is_no_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    for position, bit, _ in flipped(path, PLAIN):
        records, error, _ = read_all(path, "tail")
        where = f"bit {bit} of byte {position}"
        assert records == RECORDS[: damaged_record(position)], where
        assert isinstance(error, tfreel.ChecksumError), where


def test_checksum_errors_carry_the_stored_and_the_computed_checksum(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    stored = masked_crc(b"the quick brown fox")
    path.write_bytes(frames([b"the quick brown fox"]).replace(b"quick", b"quack"))
    _, error, _ = read_all(path, "raise")
    assert isinstance(error, tfreel.ChecksumError)
    assert (error.expected, error.actual) == (stored, masked_crc(b"the quack brown fox"))
    assert f"{error.expected:08x}" in str(error)
    assert f"{error.actual:08x}" in str(error)

    path.write_bytes(frame(b"sound") + struct.pack("<Q", 5) + header(4)[8:] + frame(b"sound")[12:])
    _, error, _ = read_all(path, "raise")
    assert isinstance(error, tfreel.ChecksumError)
    assert error.kind == "length_crc"
    assert error.expected.to_bytes(4, "little") == header(4)[8:]
    assert error.actual.to_bytes(4, "little") == header(5)[8:]


def test_flip_in_the_header_of_the_only_record_means_that_this_may_be_no_tfrecord(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    whole = frame(b"alone")
    for position, bit, _ in flipped(path, whole):
        for mode in ("raise", "skip"):
            records, error, report = read_all(path, mode)
            fault = error or report.faults[0]
            kind = "not_tfrecord" if position < 12 else "data_crc"
            where = f"bit {bit} of byte {position}, {mode}"
            assert (records, fault.kind, fault.record, fault.offset) == ([], kind, 0, 0), where


def test_without_verification_headers_are_checked_and_payloads_are_not(tmp_path: Path) -> None:
    path = tmp_path / "flipped.tfrecord"
    for position, bit, _ in flipped(path, PLAIN):
        records, error, _ = read_all(path, "raise", verify=False)
        k = damaged_record(position)
        where = f"bit {bit} of byte {position}"
        if in_header(position):
            assert records == RECORDS[:k], where
            assert error is not None, where
            assert error.kind == "length_crc", where
        else:
            assert error is None, where
            assert list(map(len, records)) == list(map(len, RECORDS)), where


# Compressed files -------------------------------------------------------------------------------------------

WINDOW_BITS = {"gzip": 31, "zlib": 15}
HEADER_BYTES = {"gzip": 10, "zlib": 2}
TRAILER_BYTES = {"gzip": 8, "zlib": 4}


def packed(codec: str) -> bytes:
    deflater = zlib.compressobj(9, zlib.DEFLATED, WINDOW_BITS[codec], 9)
    return deflater.compress(PLAIN) + deflater.flush()


def stored(codec: str, data: bytes) -> bytes:
    """One stored block, made by hand: what every bit of it means is known."""
    block = b"\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
    if codec == "zlib":
        return b"\x78\x01" + block + struct.pack(">I", zlib.adler32(data))
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block + struct.pack("<II", zlib.crc32(data), len(data))


def means_the_same(data: bytes, codec: str) -> bool:
    """Whether Python's own decompressor sees no difference, and no reserved flag of gzip is set."""
    if codec == "gzip" and data[3] & 0xE0:
        return False
    try:
        return (gzip.decompress if codec == "gzip" else zlib.decompress)(data) == PLAIN
    except (OSError, EOFError, zlib.error):
        return False


def sound_prefix(deflated: bytes) -> list[bytes]:
    """The records at the start of what Python's zlib gets out of damaged deflate data, byte by byte."""
    inflater = zlib.decompressobj(-15)
    plain = b""
    try:
        for i in range(len(deflated)):
            plain += inflater.decompress(deflated[i : i + 1])
    except zlib.error:
        pass
    n = 0
    while n < len(RECORDS) and plain[STARTS[n] : STARTS[n + 1]] == frame(RECORDS[n]):
        n += 1
    return RECORDS[:n]


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_flip_in_a_compressed_file_gives_all_records_before_it_and_is_never_hidden(
    tmp_path: Path, codec: str
) -> None:
    whole = packed(codec)
    path = tmp_path / "flipped"
    for position, bit, data in flipped(path, whole):
        records, error, _ = read_all(path, "raise")
        salvaged, no_error, report = read_all(path, "skip")
        where = f"bit {bit} of byte {position} of {len(whole)}"
        assert no_error is None, where
        assert report.ok == (error is None) == means_the_same(data, codec), where
        if error is None:
            assert records == salvaged == RECORDS, where
            continue
        assert isinstance(error, tfreel.CorruptError), where
        if position < HEADER_BYTES[codec]:
            assert records == RECORDS[: len(records)], where
        else:
            assert records == sound_prefix(data[HEADER_BYTES[codec] :]), where
        assert (error.record, error.offset) == (len(records), STARTS[len(records)]), where
        if position >= len(whole) - TRAILER_BYTES[codec]:
            assert (records, error.kind) == (RECORDS, "compressed_corrupt"), where
        # Behind the fault a wrong distance may copy a whole earlier frame, so that a true record comes twice;
        # bytes that nobody wrote never come.
        assert salvaged[: len(records)] == records, where
        assert set(salvaged) <= set(RECORDS), where


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_only_flips_in_bytes_that_mean_nothing_go_unnoticed(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "flipped"
    unnoticed = set()
    for position, bit, _ in flipped(path, stored(codec, frame(b"data"))):
        records, error, _ = read_all(path, "raise")
        if error is None:
            assert records == [b"data"], f"bit {bit} of byte {position}"
            unnoticed.add((position, bit))
    block_type = HEADER_BYTES[codec]
    up_to_the_next_byte = {(block_type, bit) for bit in range(3, 8)}
    text_flag = {(3, 0)}
    time_extra_flags_and_system = {(position, bit) for position in range(4, 10) for bit in range(8)}
    if codec == "gzip":
        assert unnoticed == up_to_the_next_byte | text_flag | time_extra_flags_and_system
    else:
        assert unnoticed == up_to_the_next_byte


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_flip_that_leaves_the_compressed_structure_alone_costs_exactly_the_record_it_hits(
    tmp_path: Path, codec: str
) -> None:
    path = tmp_path / "flipped"
    begin = HEADER_BYTES[codec] + 5
    for position, bit, _ in flipped(path, stored(codec, PLAIN)):
        if bit or not begin <= position < begin + len(PLAIN):
            continue
        k = damaged_record(position - begin)
        records, _, report = read_all(path, "skip")
        where = f"plain byte {position - begin}"
        assert records == RECORDS[:k] + RECORDS[k + 1 :], where
        kind = "length_crc" if in_header(position - begin) else "data_crc"
        found = [(fault.kind, fault.record, fault.offset, fault.end) for fault in report.faults]
        assert found == [
            (kind, k, STARTS[k], STARTS[k + 1]),
            ("compressed_corrupt", len(RECORDS), len(PLAIN), len(PLAIN)),
        ], where


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_flip_in_a_compressed_stream_gives_the_same_records_as_in_a_file(codec: str) -> None:
    whole = packed(codec)
    for position, bit, data in flips(whole):
        if position < HEADER_BYTES[codec]:
            continue
        records, error, _ = read_all(io.BytesIO(data), "raise")
        where = f"bit {bit} of byte {position} of {len(whole)}"
        assert records == sound_prefix(data[HEADER_BYTES[codec] :]), where
        assert (error is None) == means_the_same(data, codec), where


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_damage_in_one_compressed_file_of_many_stays_there(tmp_path: Path, codec: str) -> None:
    damaged = write_file(tmp_path / "b", RECORDS, codec)
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    files = [write_file(tmp_path / "a", [b"before"], codec), damaged, write_file(tmp_path / "c", [b"after"])]
    records, _, report = read_all(files, "skip")
    assert records == [b"before", *RECORDS, b"after"]
    assert [(fault.path, fault.kind, fault.record) for fault in report.faults] == [
        (str(damaged), "compressed_corrupt", len(RECORDS))
    ]
