"""Files made to hurt, and files that are something else: precise faults, bounded memory, bounded time."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import textwrap
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from tfreel import _core

from corpus import compress, frame, frames, header, masked_crc, offsets, write_file
from counting import count

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20

FORGED_LENGTHS = [2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 5, 2**64 - 1]


def read_all(
    source: Any, mode: str = "raise", **options: Any
) -> tuple[list[bytes], tfreel.TfreelError | None, tfreel.Report]:
    count("hostile files and streams read")
    reader = tfreel.read(source, on_corrupt=mode, **options)
    records: list[bytes] = []
    try:
        records.extend(reader)
    except tfreel.TfreelError as error:
        return records, error, reader.report
    finally:
        reader.close()
    return records, None, reader.report


def places(report: tfreel.Report) -> list[tuple[str, int, int, int]]:
    return [(fault.kind, fault.record, fault.offset, fault.end) for fault in report.faults]


def measured(script: str, *arguments: object, stdin: bytes = b"", timeout: float = 30) -> dict[str, Any]:
    """Runs a script in a process of its own, whose memory may grow by 256 MiB and no more.

    The script finds `tfreel`, `arguments`, and `grown_mib()`: by how much its memory has grown.
    """
    begin = """
        import json, resource, sys
        import isal.igzip_lib, isal.isal_zlib
        import tfreel
        [getattr(tfreel, name) for name in tfreel.__all__]  # opens all rooms before anything is measured
        arguments = sys.argv[1:]
        def status(key):
            with open("/proc/self/status") as lines:
                return next(int(line.split()[1]) for line in lines if line.startswith(key))
        before = status("VmHWM")
        def grown_mib():
            return (status("VmHWM") - before) / 1024
        limit = (status("VmSize") << 10) + (256 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        def outcome(source, **options):
            reader = tfreel.read(source, **options)
            count = 0
            try:
                for block in reader.blocks():
                    count += len(block)
            except tfreel.TfreelError as error:
                return [count, error.kind, error.record, error.offset]
            return [count, None, None, None]
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(begin) + textwrap.dedent(script), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


# Forged lengths ---------------------------------------------------------------------------------------------


def kind_of_forged(length: int) -> str:
    return "truncated_body" if length <= 2**32 else "record_too_large"


@pytest.mark.parametrize("codec", ["none", "gzip", "zlib"])
def test_forged_length_with_sound_checksum_is_refused_by_its_place(tmp_path: Path, codec: str) -> None:
    for length in FORGED_LENGTHS:
        data = compress(frame(b"true") + header(length) + b"some bytes", codec)
        path = tmp_path / f"{length}"
        path.write_bytes(data)
        for source in (path, io.BytesIO(data)):
            records, error, _ = read_all(source)
            where = f"length {length}, {source}"
            assert records == [b"true"], where
            assert (error.kind, error.record, error.offset) == (kind_of_forged(length), 1, 20), where
            number = length + 16 if kind_of_forged(length) == "truncated_body" else length
            assert f"{number:,}" in str(error), where


@pytest.mark.parametrize("codec", ["none", "gzip", "zlib"])
def test_forged_length_costs_a_salvaging_reader_nothing_behind_it(tmp_path: Path, codec: str) -> None:
    for length in FORGED_LENGTHS:
        data = compress(frame(b"true") + header(length) + b"junk" + frames([b"next", b"last"]), codec)
        path = tmp_path / f"{length}"
        path.write_bytes(data)
        for source in (path, io.BytesIO(data)):
            records, _, report = read_all(source, "skip")
            assert records == [b"true", b"next", b"last"], f"length {length}, {source}"
            assert places(report) == [(kind_of_forged(length), 1, 20, 36)], f"length {length}, {source}"


def test_forged_length_is_refused_even_without_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "forged"
    for length in FORGED_LENGTHS:
        path.write_bytes(frame(b"true") + header(length) + b"some bytes")
        records, error, _ = read_all(path, max_record_bytes=2**64 - 1)
        kind = "truncated_body" if length < 2**63 - 16 else "record_too_large"
        assert (records, error.kind, error.offset) == ([b"true"], kind, 20), f"length {length}"


@pytest.mark.parametrize("kind", ["file", "gzip", "pipe"])
def test_forged_length_allocates_nothing(tmp_path: Path, kind: str) -> None:
    files = []
    for length in FORGED_LENGTHS:
        data = frame(b"true") + header(length) + b"x" * 1000
        path = tmp_path / f"{length}"
        path.write_bytes(compress(data, "gzip") if kind == "gzip" else data)
        files.append(path)
    found = measured(
        """
        kind, *files = arguments
        results = []
        for file in files:
            for mode in ("raise", "skip"):
                with open(file, "rb") as stream:
                    results.append(outcome(stream if kind == "pipe" else file, on_corrupt=mode))
        print(json.dumps({"results": results, "grown_mib": grown_mib()}))
        """,
        kind,
        *files,
    )
    expected = []
    for length in FORGED_LENGTHS:
        expected += [[1, kind_of_forged(length), 1, 20], [1, None, None, None]]
    assert found["results"] == expected
    assert found["grown_mib"] < 16


def test_forged_length_on_standard_input_is_refused_while_the_pipe_stays_open(tmp_path: Path) -> None:
    script = "import tfreel\nfor record in tfreel.read('-'): print(record, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(frame(b"true") + header(2**40) + b"x" * 600)
        process.stdin.flush()
        # Both end though the pipe is open: nobody waits for 2^40 bytes.
        assert process.stdout.read() == b"b'true'\n"
        assert b"claims a record of 1,099,511,627,776 bytes" in process.stderr.read()
        assert process.wait(10) == 1


def test_max_record_bytes_is_the_longest_record_allowed(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", [b"x" * 100, b"y" * 101, b"z"])
    assert read_all(path, max_record_bytes=101)[0] == [b"x" * 100, b"y" * 101, b"z"]
    records, error, _ = read_all(path, max_record_bytes=100)
    assert (records, error.kind, error.offset) == ([b"x" * 100], "record_too_large", 116)
    assert "101 bytes, above the limit of 100; max_record_bytes= raises it" in str(error)
    records, _, report = read_all(path, "skip", max_record_bytes=100)
    assert records == [b"x" * 100, b"z"]
    assert places(report) == [("record_too_large", 1, 116, 116 + 117)]


# Zeros ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["none", "gzip", "zlib"])
def test_zero_filled_tail_is_named_with_its_start_and_length(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "zeros"
    for zeros in (12, 13, 16, 17, 4096, MIB + 5):
        path.write_bytes(compress(frames([b"one", b""]) + bytes(zeros), codec))
        start = 19 + 16
        records, error, _ = read_all(path)
        assert records == [b"one", b""], zeros
        assert isinstance(error, tfreel.TruncatedError), zeros
        assert (error.kind, error.record, error.offset) == ("zero_filled_tail", 2, start), zeros
        assert f"{zeros:,} bytes" in str(error), zeros
        for mode in ("tail", "skip"):
            records, _, report = read_all(path, mode)
            assert records == [b"one", b""], (zeros, mode)
            assert places(report) == [("zero_filled_tail", 2, start, start + zeros)], (zeros, mode)


def test_fewer_zeros_than_a_header_are_a_truncated_header(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    for zeros in range(1, 12):
        path.write_bytes(frame(b"one") + bytes(zeros))
        _, error, _ = read_all(path)
        assert (error.kind, error.offset) == ("truncated_header", 19), zeros
        assert read_all(path, "tail")[0] == [b"one"], zeros


def test_file_of_zeros_only_is_a_zero_filled_tail_from_its_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    path.write_bytes(bytes(1000))
    records, error, _ = read_all(path)
    assert (records, error.kind, error.record, error.offset) == ([], "zero_filled_tail", 0, 0)
    assert places(read_all(path, "tail")[2]) == [("zero_filled_tail", 0, 0, 1000)]


def test_true_empty_records_are_not_confused_with_a_zero_filled_tail(tmp_path: Path) -> None:
    assert frame(b"") == bytes.fromhex("0000000000000000 29039807 d8ea82a2")
    path = write_file(tmp_path / "empty", [b""] * 1000)
    assert read_all(path)[0] == [b""] * 1000
    path.write_bytes(frame(b"") * 10 + bytes(100))
    records, error, _ = read_all(path)
    assert (records, error.kind, error.record, error.offset) == ([b""] * 10, "zero_filled_tail", 10, 160)
    # Behind zeros, an empty record begins with zeros itself: where it starts is told by its checksum.
    path.write_bytes(frame(b"one") + bytes(100) + frame(b"") + frame(b"two"))
    records, _, report = read_all(path, "skip")
    assert records == [b"one", b"", b"two"]
    assert places(report) == [("length_crc", 1, 19, 119)]


def test_records_made_of_zeros_are_records(tmp_path: Path) -> None:
    records = [bytes(n) for n in range(40)] + [bytes(MIB)]
    assert read_all(write_file(tmp_path / "zeros", records))[0] == records


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_zero_run_in_the_middle_is_damage_and_no_tail(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "zeros"
    for zeros in (12, 13, 20, 23, 24, 512, 300_000):
        for following in (b"", b"next", b"x" * 256, bytes(256)):
            path.write_bytes(compress(frame(b"one") + bytes(zeros) + frame(following), codec))
            where = f"{zeros} zeros before {following[:5]!r}"
            for mode in ("raise", "tail"):
                records, error, _ = read_all(path, mode)
                assert records == [b"one"], where
                assert (error.kind, error.record, error.offset) == ("length_crc", 1, 19), where
            records, _, report = read_all(path, "skip")
            assert records == [b"one", following], where
            assert places(report) == [("length_crc", 1, 19, 19 + zeros)], where


def test_torn_record_before_a_zero_tail_is_forgiven_as_a_tail(tmp_path: Path) -> None:
    """A crash after the file was extended: the header was written, the payload in part, the footer never."""
    path = tmp_path / "torn"
    torn = header(100) + b"x" * 60 + bytes(40)
    for zeros in (4, 5, 8, 15, 16, 500, MIB):  # the footer's four among them
        path.write_bytes(frame(b"one") + torn + bytes(zeros))
        records, error, report = read_all(path, "tail")
        assert (records, error) == ([b"one"], None), zeros
        assert places(report)[0] == ("data_crc", 1, 19, 135), zeros
        assert places(report)[-1][-1] == 131 + zeros, zeros
        _, error, _ = read_all(path)
        assert (error.kind, error.offset) == ("data_crc", 19), zeros


def test_torn_record_before_a_zero_tail_is_forgiven_in_compressed_files_too(tmp_path: Path) -> None:
    path = tmp_path / "torn.gz"
    path.write_bytes(compress(frame(b"one") + header(100) + b"x" * 60 + bytes(40 + 4 + 500), "gzip"))
    records, _, report = read_all(path, "tail")
    assert records == [b"one"]
    assert places(report) == [("data_crc", 1, 19, 135), ("zero_filled_tail", 2, 135, 635)]


def test_zeroed_footer_in_the_middle_is_damage_and_no_tail(tmp_path: Path) -> None:
    path = tmp_path / "footer"
    data = frame(b"one") + frame(b"two")[:-4] + bytes(4) + frame(b"three")
    path.write_bytes(data)
    records, error, _ = read_all(path, "tail")
    assert (records, error.kind, error.offset) == ([b"one"], "data_crc", 19)
    records, error, _ = read_all(io.BytesIO(data), "tail")
    assert (records, error.kind, error.offset) == ([b"one"], "data_crc", 19)


def test_zeroed_footer_in_the_middle_of_standard_input_is_damage_and_no_tail() -> None:
    found = measured(
        "print(json.dumps(outcome('-', on_corrupt='tail')))",
        stdin=frame(b"one") + frame(b"two")[:-4] + bytes(4) + frame(b"three"),
    )
    assert found == [1, "data_crc", 1, 19]


# Garbage ----------------------------------------------------------------------------------------------------


def test_trailing_garbage_comes_after_all_records(tmp_path: Path) -> None:
    path = tmp_path / "garbage"
    for size in range(1, 40):
        path.write_bytes(frames([b"one", b"two"]) + b"\xa5" * size)
        kind = "truncated_header" if size < 12 else "length_crc"
        records, error, _ = read_all(path)
        assert (records, error.kind, error.record, error.offset) == ([b"one", b"two"], kind, 2, 38), size
        records, _, report = read_all(path, "skip")
        assert (records, places(report)) == ([b"one", b"two"], [(kind, 2, 38, 38 + size)]), size


def zip_archive() -> bytes:
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("train.txt", b"inside")
    return out.getvalue()


FOREIGN = {
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n",
    "a zip archive": zip_archive(),
    "an HTML or XML page": b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n",
    "JSON text": b'{"error": {"code": 403, "message": "denied"}}\n',
    "CSV text": b"name,label,x\ncat,1,0.5\ndog,2,0.25\n",
    "plain text": b"These are not the records you are looking for.\n",
    "a Parquet file": b"PAR1\x15\x04\x15\x10" + bytes(20) + b"PAR1",
    "a PNG image": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "zstandard data": b"(\xb5/\xfd\x04\x00" + b"\xa1" * 20,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_file_that_is_no_tfrecord_is_named_for_what_it_looks_like(tmp_path: Path, what: str) -> None:
    path = tmp_path / "foreign.tfrecord"
    path.write_bytes(FOREIGN[what])
    squeezed = tmp_path / "foreign.tfrecord.gz"
    squeezed.write_bytes(gzip.compress(FOREIGN[what]))
    for source in (path, io.BytesIO(FOREIGN[what]), squeezed):
        for mode in ("raise", "tail"):
            if isinstance(source, io.BytesIO):
                source.seek(0)
            records, error, _ = read_all(source, mode)
            assert (records, error.kind, error.record, error.offset) == ([], "not_tfrecord", 0, 0), source
            assert f"not a TFRecord file: it looks like {what}" in str(error), source
    records, _, report = read_all(path, "skip")
    assert (records, [fault.kind for fault in report.faults]) == ([], ["not_tfrecord"])


def test_short_text_is_no_tfrecord_either(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"Not Found")
    assert read_all(path)[1].kind == "not_tfrecord"


def test_noise_is_no_tfrecord(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    path.write_bytes(b"\xde\xad\xbe\xef" * 1000)
    records, error, _ = read_all(path)
    assert (records, error.kind, error.offset) == ([], "not_tfrecord", 0)


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_file_that_was_said_to_be_plain_is_named(tmp_path: Path, codec: str, stream: bool) -> None:
    path = write_file(tmp_path / "a", [b"one", b"two" * 100], codec)
    source = io.BytesIO(path.read_bytes()) if stream else path
    records, error, _ = read_all(source, compression="none")
    assert (records, error.kind) == ([], "not_tfrecord")
    assert f"it looks like {codec} data, though it was said to be uncompressed" in str(error)


@pytest.mark.parametrize("stated", ["gzip", "zlib"])
def test_file_that_was_said_to_be_compressed_and_is_not_is_named(tmp_path: Path, stated: str) -> None:
    plain = write_file(tmp_path / "plain", [b"one"])
    other = write_file(tmp_path / "other", [b"one"], "zlib" if stated == "gzip" else "gzip")
    text = tmp_path / "text"
    text.write_bytes(FOREIGN["JSON text"])
    for path, begins in (
        (plain, "a plain TFRecord"),
        (other, "zlib" if stated == "gzip" else "gzip"),
        (text, "JSON text"),
    ):
        for source in (path, io.BytesIO(path.read_bytes())):
            records, error, _ = read_all(source, compression=stated)
            assert (records, error.kind, error.offset) == ([], "compressed_corrupt", 0)
            assert f"was said to be {stated}, but begins like {begins}" in str(error)


@pytest.mark.parametrize("compression", [None, "none", "gzip", "zlib"])
def test_empty_file_holds_no_records_and_no_fault(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    for source in (path, io.BytesIO()):
        for mode in ("raise", "tail", "skip"):
            records, error, report = read_all(source, mode, compression=compression)
            assert (records, error, report.ok, report.files) == ([], None, True, 1)


# gzip and zlib ----------------------------------------------------------------------------------------------

SMALL = [b"one", b"", b"three three three", b"four"]


def gzip_member(
    data: bytes,
    *,
    extra: bytes | None = None,
    name: bytes | None = None,
    comment: bytes | None = None,
    header_crc: bool = False,
) -> bytes:
    flags = 4 * (extra is not None) + 8 * (name is not None) + 16 * (comment is not None) + 2 * header_crc
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\xff"
    head += struct.pack("<H", len(extra)) + extra if extra is not None else b""
    head += name + b"\0" if name is not None else b""
    head += comment + b"\0" if comment is not None else b""
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) if header_crc else b""
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    return (
        head
        + deflater.compress(data)
        + deflater.flush()
        + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    )


def test_all_gzip_header_fields_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    for flags in range(16):
        member = gzip_member(
            frames(SMALL),
            extra=b"extra" if flags & 1 else None,
            name=b"train.tfrecord" if flags & 2 else None,
            comment=b"a comment" if flags & 4 else None,
            header_crc=bool(flags & 8),
        )
        assert gzip.decompress(member) == frames(SMALL)
        path.write_bytes(member)
        for source in (path, io.BytesIO(member)):
            assert read_all(source)[:2] == (SMALL, None), flags


def test_largest_gzip_extra_field_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip_member(frames(SMALL), extra=b"\x1f\x8b\x08" * 21_845, header_crc=True))
    assert read_all(path)[:2] == (SMALL, None)


def test_wrong_gzip_header_checksum_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip_member(frames(SMALL), name=b"name", header_crc=True).replace(b"name", b"nome"))
    records, error, _ = read_all(path)
    assert (records, error.kind) == ([], "compressed_corrupt")
    assert "does not match its checksum" in str(error)


def test_gzip_name_without_end_is_not_searched_for_ever(tmp_path: Path) -> None:
    head = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"
    path = tmp_path / "a.gz"
    path.write_bytes(head + b"n" * 100)
    assert read_all(path)[1].kind == "compressed_truncated"
    with path.open("wb") as file:
        file.write(head)
        for _ in range(8):
            file.write(b"n" * MIB)
    found = measured("print(json.dumps([outcome(arguments[0]), grown_mib()]))", path)
    assert found[0] == [0, "compressed_corrupt", 0, 0]
    assert found[1] < 8


@pytest.mark.parametrize("flag", [0x20, 0x40, 0x80])
def test_reserved_gzip_flags_are_refused(tmp_path: Path, flag: int) -> None:
    path = tmp_path / "a.gz"
    data = bytearray(gzip_member(frames(SMALL)))
    data[3] |= flag
    path.write_bytes(data)
    assert read_all(path)[1].kind == "compressed_corrupt"


def test_gzip_members_split_anywhere_are_read_as_one_stream(tmp_path: Path) -> None:
    plain = frames(SMALL)
    path = tmp_path / "a.gz"
    for split in range(len(plain) + 1):
        data = gzip_member(plain[:split]) + gzip_member(plain[split:])
        path.write_bytes(data)
        for source in (path, io.BytesIO(data)):
            assert read_all(source)[:2] == (SMALL, None), f"split at {split}, {source}"


def test_empty_gzip_members_are_passed_over(tmp_path: Path) -> None:
    plain = frames(SMALL)
    empty = gzip_member(b"")
    path = tmp_path / "a.gz"
    path.write_bytes(empty + gzip_member(plain[:30]) + empty * 3 + gzip_member(plain[30:]) + empty)
    assert read_all(path)[:2] == (SMALL, None)
    path.write_bytes(empty)
    assert read_all(path)[:2] == ([], None)


def test_a_thousand_gzip_members_of_one_byte_each_are_read(tmp_path: Path) -> None:
    plain = frames([b"x" * 900, b"last"])
    path = tmp_path / "a.gz"
    path.write_bytes(b"".join(gzip_member(plain[i : i + 1]) for i in range(len(plain))))
    assert read_all(path)[:2] == ([b"x" * 900, b"last"], None)


def test_cut_between_gzip_members_in_the_middle_of_a_record_is_a_truncated_body(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip_member(frames(SMALL)[:50]))
    records, error, _ = read_all(path)
    assert (records, error.kind, error.record, error.offset) == ([b"one", b""], "truncated_body", 2, 35)


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
def test_zero_padding_behind_gzip_is_tolerated_with_a_warning(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "a.gz"
    for zeros in (1, 2, 3, 512, 600_000):
        path.write_bytes(gzip_member(frames(SMALL)) + bytes(zeros))
        source = io.BytesIO(path.read_bytes()) if stream else path
        with pytest.warns(tfreel.TfreelWarning, match=f"{zeros} zero bytes follow the gzip stream"):
            records, error, report = read_all(source)
        assert (records, error, report.ok) == (SMALL, None, True), zeros
        name = "<stream>" if stream else path
        assert report.notes == [f"{name}: {zeros} zero bytes follow the gzip stream"], zeros


def test_anything_else_behind_gzip_is_trailing_garbage_after_all_records(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    whole = gzip_member(frames(SMALL))
    for garbage in (b"x", b"\x1f", b"garbage" * 100, bytes(512) + b"x", bytes(300_000) + whole):
        path.write_bytes(whole + garbage)
        records, error, _ = read_all(path)
        where = garbage[:10]
        assert (records, error.kind) == (SMALL, "trailing_garbage"), where
        assert (error.record, error.offset) == (len(SMALL), offsets(SMALL)[-1]), where
        assert error.compressed_offset == len(whole), where
        records, error, _ = read_all(path, "tail")
        assert (records, error.kind) == (SMALL, "trailing_garbage"), where


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize("field", ["crc", "size"])
def test_wrong_gzip_trailer_is_an_error_after_all_records(tmp_path: Path, field: str, stream: bool) -> None:
    path = tmp_path / "a.gz"
    data = bytearray(gzip_member(frames(SMALL)))
    data[-8 if field == "crc" else -4] ^= 1
    path.write_bytes(data)
    records, error, _ = read_all(io.BytesIO(data) if stream else path)
    assert (records, error.kind, error.record) == (SMALL, "compressed_corrupt", len(SMALL))
    assert "trailer does not match" in str(error)


def test_wrong_zlib_trailer_is_an_error_after_all_records(tmp_path: Path) -> None:
    path = tmp_path / "a.zlib"
    data = bytearray(zlib.compress(frames(SMALL)))
    data[-1] ^= 1
    path.write_bytes(data)
    records, error, _ = read_all(path)
    assert (records, error.kind, error.record) == (SMALL, "compressed_corrupt", len(SMALL))


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_missing_trailer_is_an_error_after_all_records(tmp_path: Path, codec: str) -> None:
    path = write_file(tmp_path / "a", SMALL, codec)
    os.truncate(path, path.stat().st_size - {"gzip": 8, "zlib": 4}[codec])
    records, error, _ = read_all(path)
    assert (records, error.kind) == (SMALL, "compressed_truncated")
    records, _, report = read_all(path, "tail")
    assert (records, [fault.kind for fault in report.faults]) == (SMALL, ["compressed_truncated"])


@pytest.mark.parametrize("what", ["second stream", "zero", "text"])
def test_anything_behind_a_zlib_stream_is_trailing_garbage(tmp_path: Path, what: str) -> None:
    tail = {"second stream": zlib.compress(frame(b"more")), "zero": b"\0", "text": b"garbage"}[what]
    path = tmp_path / "a.zlib"
    path.write_bytes(zlib.compress(frames(SMALL)) + tail)
    for source in (path, io.BytesIO(path.read_bytes())):
        for mode in ("raise", "tail"):
            if isinstance(source, io.BytesIO):
                source.seek(0)
            records, error, _ = read_all(source, mode)
            assert (records, error.kind, error.record) == (SMALL, "trailing_garbage", len(SMALL))


def test_preset_dictionary_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.zlib"
    deflater = zlib.compressobj(9, zdict=b"the quick brown fox")
    path.write_bytes(deflater.compress(frames([b"the quick brown fox"])) + deflater.flush())
    records, error, _ = read_all(path)
    assert (records, error.kind) == ([], "compressed_corrupt")
    assert "preset dictionary" in str(error)


def test_raw_deflate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.deflate"
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    path.write_bytes(deflater.compress(frames(SMALL)) + deflater.flush())
    for stated in (None, "gzip", "zlib"):
        records, error, _ = read_all(path, compression=stated)
        assert records == [], stated
        assert error.kind == ("not_tfrecord" if stated is None else "compressed_corrupt"), stated


@pytest.mark.parametrize("bits", range(9, 16))
def test_every_window_size_is_read(tmp_path: Path, bits: int) -> None:
    records = [bytes(range(256)) * 20, b"x" * 5000, bytes(range(256)) * 200]
    deflater = zlib.compressobj(9, zlib.DEFLATED, bits)
    path = tmp_path / "a.zlib"
    path.write_bytes(deflater.compress(frames(records)) + deflater.flush())
    assert read_all(path)[:2] == (records, None)


def test_distance_past_the_beginning_is_damage(tmp_path: Path) -> None:
    # A fixed block whose first symbol copies three bytes from one byte back, where nothing is.
    bits = "110" + "0000001" + "00000" + "0000000"
    block = int(bits[::-1], 2).to_bytes(3, "little")
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block + bytes(8))
    records, error, _ = read_all(path)
    assert (records, error.kind) == ([], "compressed_corrupt")


def damaged_member(data: bytes) -> bytes:
    """A gzip member with its first half readable: the second block is of a type that does not exist."""
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    half = deflater.compress(data) + deflater.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + half + b"\x07" + b"\xff" * 20


def test_salvage_goes_on_with_the_next_sound_gzip_member(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(
        gzip_member(frames([b"a", b"b"])) + damaged_member(frames([b"c"])) + gzip_member(frames([b"d", b"e"]))
    )
    assert read_all(path)[1].kind == "compressed_corrupt"
    records, error, report = read_all(path, "skip")
    assert (records, error) == ([b"a", b"b", b"c", b"d", b"e"], None)
    assert places(report) == [("compressed_corrupt", 3, 51, 51)]
    assert report.records_lost is None


def test_salvage_goes_on_behind_a_gzip_member_that_ends_inside_a_record(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    torn = frames([b"c", b"lost" * 100])[:100]
    path.write_bytes(damaged_member(torn) + gzip_member(frames([b"d"])))
    records, _, report = read_all(path, "skip")
    assert records == [b"c", b"d"]
    assert places(report) == [("compressed_corrupt", 1, 17, 100)]


def test_salvage_goes_on_behind_several_damaged_gzip_members_and_garbage(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    wrong_trailer = bytearray(gzip_member(frame(b"c")))
    wrong_trailer[-1] ^= 1
    path.write_bytes(
        gzip_member(frame(b"a"))
        + damaged_member(frame(b"b"))
        + b"\x1f\x8b\x08 false start"
        + bytes(wrong_trailer)
        + b"garbage"
        + gzip_member(frame(b"d"))
        + damaged_member(frame(b"e"))
    )
    records, error, report = read_all(path, "skip")
    assert (records, error) == ([b"a", b"b", b"c", b"d", b"e"], None)
    assert report.fault_count >= 3
    kinds = {fault.kind for fault in report.faults}
    assert kinds <= {"compressed_corrupt", "compressed_truncated", "trailing_garbage"}


TORN_MEMBERS = (
    gzip_member(frames([b"a", b"b"]))
    + damaged_member(frames([b"c", b"lost" * 100])[:100])
    + b"garbage"
    + gzip_member(b"")
    + gzip_member(frames([b"d", b"e"]))
    + damaged_member(frames([b"f"]))
    + gzip_member(frames([b"g", b"h"]))[:-5]
)
TORN_RECORDS = [b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"]


def test_states_and_closed_readers_go_on_behind_damaged_gzip_members(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(TORN_MEMBERS)
    _, _, whole = read_all(path, "skip")
    for taken in range(len(TORN_RECORDS) + 1):
        reader = tfreel.read(path, on_corrupt="skip")
        assert [next(reader) for _ in range(taken)] == TORN_RECORDS[:taken]
        later = tfreel.read(path, on_corrupt="skip")
        later.load_state_dict(reader.state_dict())
        told = reader.report.fault_count
        reader.close()
        assert list(reader) == list(later) == TORN_RECORDS[taken:]
        assert places(reader.report) == places(whole)
        assert places(later.report) == places(whole)[told:]


def test_records_behind_damaged_gzip_members_are_had_by_position(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(TORN_MEMBERS)
    dataset = tfreel.Dataset(path, raw=True, on_corrupt="skip")
    assert [dataset[i] for i in reversed(range(len(dataset)))] == TORN_RECORDS[::-1]
    assert list(dataset.shuffle(seed=1)) != TORN_RECORDS
    assert sorted(dataset.shuffle(seed=1)) == TORN_RECORDS


@pytest.mark.parametrize("mode", ["tail", "skip"])
@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_records_before_a_cut_of_a_compressed_file_are_had_by_position(
    tmp_path: Path, codec: str, mode: Any
) -> None:
    records = [os.urandom(100) for _ in range(100)]
    path = write_file(tmp_path / "a.tfrecord", records, codec)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    dataset = tfreel.Dataset(path, raw=True, on_corrupt=mode)
    assert list(dataset) == records[: len(dataset)]
    assert len(dataset) > 40


def test_damage_inside_a_sound_gzip_stream_is_told_apart_from_damage_of_the_stream(tmp_path: Path) -> None:
    """The header of a record was damaged before the file was compressed, and the stream is cut as well."""
    path = tmp_path / "a.gz"
    wrong = bytearray(frames([b"one", b"two", b"three", b"x" * 100]))
    wrong[19] ^= 1
    path.write_bytes(gzip_member(bytes(wrong)))
    records, _, report = read_all(path, "skip")
    assert records == [b"one", b"three", b"x" * 100]
    assert places(report) == [("length_crc", 1, 19, 38)]
    wrong = bytearray(frames([b"one", b"two"]))
    wrong[19] ^= 1
    path.write_bytes(gzip_member(bytes(wrong))[:-8])
    records, _, report = read_all(path, "skip")
    assert records == [b"one"]
    assert places(report) == [("length_crc", 1, 19, 38), ("compressed_truncated", 2, 38, 38)]


def test_first_header_damaged_before_compression_is_no_foreign_file(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    wrong = bytearray(frames(SMALL))
    wrong[3] ^= 1
    path.write_bytes(gzip_member(bytes(wrong)))
    _, error, _ = read_all(path)
    assert (error.kind, error.offset) == ("length_crc", 0)
    assert read_all(path, "skip")[0] == SMALL[1:]


def test_gzip_file_of_many_false_starts_is_salvaged_in_bounded_time(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    false_start = b"\x1f\x8b\x08\x08nnnnnnnn"  # a name without end
    path.write_bytes(gzip_member(frame(b"a")) + b"?" + false_start * 200_000)
    found = measured(
        """
        reader = tfreel.read(arguments[0], on_corrupt="skip")
        print(json.dumps([len(list(reader)), reader.report.ok, reader.report.notes]))
        """,
        path,
        timeout=20,
    )
    assert found[:2] == [1, False]
    assert "too many false starts" in found[2][0]


# Bombs ------------------------------------------------------------------------------------------------------


def test_bomb_is_read_in_little_memory(tmp_path: Path) -> None:
    size = 64 * MIB
    deflater = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [deflater.compress(header(size))]
    pieces += [deflater.compress(bytes(MIB)) for _ in range(64)]
    one_record = tmp_path / "record.gz"
    one_record.write_bytes(b"".join(pieces) + deflater.flush())
    only_zeros = tmp_path / "zeros.gz"
    only_zeros.write_bytes(gzip.compress(bytes(size), 9))
    small_records = tmp_path / "small.zlib"
    small_records.write_bytes(zlib.compress(frame(b"") * (size // 16), 1))
    assert max(file.stat().st_size for file in (one_record, only_zeros, small_records)) < MIB
    found = measured(
        """
        results = [
            outcome(arguments[0], max_record_bytes=1 << 20),
            outcome(arguments[1]),
            outcome(arguments[2]),
            outcome(arguments[0], max_record_bytes=1 << 20, on_corrupt="skip"),
        ]
        print(json.dumps({"results": results, "grown_mib": grown_mib()}))
        """,
        one_record,
        only_zeros,
        small_records,
    )
    assert found["results"] == [
        [0, "record_too_large", 0, 0],
        [0, "zero_filled_tail", 0, 0],
        [size // 16, None, None, None],
        [0, None, None, None],
    ]
    assert found["grown_mib"] < 32


@pytest.mark.parametrize("codec", ["gzip", "zlib"])
def test_expansion_limit_stops_after_the_records_before_it(tmp_path: Path, codec: str) -> None:
    records = [b"x" * 84] * 1000  # frames of 100 bytes
    path = write_file(tmp_path / "a", records, codec)
    assert read_all(path, max_expanded_bytes=100_000)[:2] == (records, None)
    for limit, whole in ((99_999, 999), (50_050, 500), (50_000, 500), (10, 0)):
        for source in (path, io.BytesIO(path.read_bytes())):
            found, error, _ = read_all(source, max_expanded_bytes=limit)
            assert len(found) == whole, limit
            assert (error.kind, error.record, error.offset) == ("expansion_limit", whole, whole * 100), limit
            assert f"max_expanded_bytes={limit:,}" in str(error)
        _, error, _ = read_all(path, "tail", max_expanded_bytes=limit)
        assert error.kind == "expansion_limit"
        found, _, report = read_all(path, "skip", max_expanded_bytes=limit)
        assert len(found) == whole, limit
        assert [fault.kind for fault in report.faults] == ["expansion_limit"], limit


def test_report_tells_how_far_a_file_expanded(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.gz", [bytes(100_000)] * 10, "gzip")
    _, _, report = read_all(path)
    assert report.bytes == 10 * 100_016
    assert report.compressed_bytes == path.stat().st_size


# Resynchronising --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_any_set_of_damaged_headers_costs_exactly_those_records(tmp_path: Path, codec: str) -> None:
    records = [bytes([65 + i]) * (i * 7 % 30) for i in range(8)]
    starts = offsets(records)
    path = tmp_path / "a"
    for damaged in range(1 << len(records)):
        data = bytearray(frames(records))
        for i in range(len(records)):
            if damaged >> i & 1:
                data[starts[i] + i] ^= 0x40
        path.write_bytes(compress(bytes(data), codec))
        found, _, report = read_all(path, "skip")
        lost = [i for i in range(len(records)) if damaged >> i & 1]
        assert found == [record for i, record in enumerate(records) if i not in lost], lost
        runs = [i for i in lost if i - 1 not in lost]
        assert [fault.offset for fault in report.faults] == [starts[i] for i in runs], lost
        ends = [starts[i + 1] for i in lost if i + 1 not in lost]
        assert [fault.end for fault in report.faults] == ends, lost


def test_damaged_payload_next_to_a_damaged_header_is_one_region(tmp_path: Path) -> None:
    records = [b"first", b"second", b"third", b"fourth"]
    starts = offsets(records)
    path = tmp_path / "a"
    data = bytearray(frames(records))
    data[starts[1] + 12] ^= 1
    data[starts[2] + 2] ^= 1
    path.write_bytes(data)
    found, _, report = read_all(path, "skip")
    assert found == [b"first", b"fourth"]
    # No header follows the bad payload, so where it ends cannot be known: the search begins inside it.
    assert places(report) == [("data_crc", 1, starts[1], starts[3])]
    assert report.records_lost is None


def test_inserted_bytes_cost_only_the_record_they_hit(tmp_path: Path) -> None:
    records = [bytes([65 + i]) * 20 for i in range(5)]
    starts = offsets(records)
    whole = frames(records)
    path = tmp_path / "a"
    for place in range(starts[2] + 1, starts[3]):
        path.write_bytes(whole[:place] + b"\xee" + whole[place:])
        found, _, report = read_all(path, "skip")
        assert found == records[:2] + records[3:], place
        assert (report.faults[0].offset, report.faults[-1].end) == (starts[2], starts[3] + 1), place


def test_removed_bytes_cost_no_more_than_the_record_they_hit_and_the_next(tmp_path: Path) -> None:
    # The frame with the hole reaches into the next one, whose header is then not where it should be.
    records = [bytes([65 + i]) * 20 for i in range(5)]
    starts = offsets(records)
    whole = frames(records)
    path = tmp_path / "a"
    for place in range(starts[2], starts[3]):
        path.write_bytes(whole[:place] + whole[place + 1 :])
        found, _, report = read_all(path, "skip")
        assert found in (records[:2] + records[3:], records[:2] + records[4:]), place
        assert report.faults[0].offset == starts[2], place


def test_large_record_survives_a_damaged_header_before_it(tmp_path: Path) -> None:
    large = b"large" * (16 * MIB)  # 80 MiB
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.write(b"\xff" + frame(b"damaged")[1:])
        file.write(header(len(large)))
        file.write(large)
        file.write(struct.pack("<I", masked_crc(large)))
        file.write(frame(b"last"))
    reader = tfreel.read(path, on_corrupt="skip")
    assert [len(record) for record in reader] == [len(large), 4]
    assert places(reader.report) == [("length_crc", 0, 0, 23)]


ATTACKS = {
    "each claims half of the file": lambda count: header(count * 6) * count,
    "each claims the whole rest": lambda count: b"".join(
        header(max(1000, (count - i) * 12 - 16)) for i in range(count)
    ),
    "each claims little": lambda count: header(3000) * count,
}


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_million_sound_headers_of_unsound_records_are_searched_in_linear_time(
    tmp_path: Path, attack: str, codec: str
) -> None:
    count = 1_000_000 if attack != "each claims the whole rest" else 200_000
    path = tmp_path / "attack"
    data = b"\xff" * 12 + ATTACKS[attack](count) + frame(b"last")
    path.write_bytes(gzip.compress(data, 1) if codec == "gzip" else data)
    found = measured(
        """
        reader = tfreel.read(arguments[0], on_corrupt="skip")
        records = list(reader)
        print(json.dumps([list(map(bytes.decode, records)), reader.report.fault_count]))
        """,
        path,
        timeout=20,
    )
    assert found == [["last"], 1]


# Any chunking -----------------------------------------------------------------------------------------------


def decode(data: bytes, sizes: list[int], **options: Any) -> tuple[list[bytes], list[tuple[Any, ...]]]:
    """Records and faults of `data` when it is fed in pieces of these sizes."""
    decoder = _core.Decoder(**options)
    records: list[bytes] = []
    faults: list[tuple[Any, ...]] = []
    at = 0
    pieces = iter(sizes)
    while True:
        found = decoder.next()
        if isinstance(found, _core.Block):
            assert found.first_record + len(found) == decoder.record
            records += found.to_list()
        elif isinstance(found, _core.Fault):
            faults.append(
                (
                    *(found.kind, found.record, found.begin, found.end),
                    *(found.expected, found.actual, found.wanted, found.present),
                )
            )
            if not options.get("salvage"):
                return records, faults
        elif decoder.finished:
            return records, faults
        elif at < len(data):
            size = next(pieces, len(data))
            decoder.feed(data[at : at + size])
            at += size
        else:
            decoder.finish()


payloads = st.one_of(
    st.binary(max_size=40),
    st.just(bytes(20)),
    st.just(frame(b"inner")),  # records in records
    st.just(header(2**33)),
    st.integers(0, 700).map(lambda n: b"x" * n),
)
damage = st.one_of(
    st.just(b""),
    st.binary(max_size=20),
    st.integers(0, 40).map(bytes),
    st.sampled_from([1, 30, 500, 2**31, 2**63, 2**64 - 1]).map(header),
    st.sampled_from([frame(b"torn")[:-1], frame(b"torn")[3:], frame(b"")[:-4] + bytes(4)]),
)
hostile_files = st.lists(st.one_of(payloads.map(frame), damage), max_size=8).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(
    data=hostile_files,
    sizes=st.lists(st.integers(1, 100), max_size=60),
    window=st.sampled_from([1, 12, 13, 64, 1 << 18]),
    verify=st.booleans(),
)
@pytest.mark.parametrize("salvage", [False, True], ids=["strict", "salvage"])
def test_any_chunking_of_the_same_bytes_gives_the_same_records_and_faults(
    salvage: bool, data: bytes, sizes: list[int], window: int, verify: bool
) -> None:
    options = {"salvage": salvage, "verify": verify, "max_record_bytes": 10_000}
    assert decode(data, sizes, window_bytes=window, **options) == decode(data, [], **options)


@settings(max_examples=200, deadline=None)
@given(data=hostile_files)
def test_file_and_stream_of_the_same_bytes_give_the_same_records_and_faults(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile"
    path.write_bytes(data)
    for mode in ("raise", "tail", "skip"):
        from_file, file_error, file_report = read_all(path, mode, compression="none")
        from_stream, stream_error, stream_report = read_all(io.BytesIO(data), mode, compression="none")
        assert from_file == from_stream, mode
        assert set(from_file) <= truth(data), mode
        if mode == "skip":
            # A file can be looked at as a whole: only there `not_tfrecord` is told from a damaged header.
            assert [place[1:] for place in places(file_report)] == [
                place[1:] for place in places(stream_report)
            ]
        elif file_error or stream_error:
            # What follows a torn record can be looked at in a file only; in a stream it is an error.
            torn = mode == "tail" and stream_error.kind == "data_crc" and stream_error.expected == 0
            assert torn or file_error.offset == stream_error.offset, mode


def truth(data: bytes) -> set[bytes]:
    """Every payload that stands anywhere in `data` in a sound frame, found the slow way."""
    found = set()
    for at in range(len(data) - 15):
        length = int.from_bytes(data[at : at + 8], "little")
        if data[at : at + 12] == header(length) and at + 16 + length <= len(data):
            payload = data[at + 12 : at + 12 + length]
            if data[at + 12 + length : at + 16 + length] == struct.pack("<I", masked_crc(payload)):
                found.add(payload)
    return found


# Large files ------------------------------------------------------------------------------------------------


def test_offsets_beyond_four_gibibytes_are_read_and_named(tmp_path: Path) -> None:
    far = 5 << 30
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.seek(far)
        file.write(frames([b"far", b"away"]) + b"\xa5" * 12)
    with path.open("rb") as file:
        reader = _core.FileReader(file.fileno(), offset=far, record=1, size=path.stat().st_size)
        found: list[Any] = []
        while len(found) < 2:
            found += [step] if (step := reader.next()) is not None else []
    block, fault = found
    assert block.to_list() == [b"far", b"away"]
    assert block.offsets.tolist() == [far, far + 19]
    assert (fault.kind, fault.record, fault.begin, fault.end) == ("length_crc", 3, far + 39, far + 51)
