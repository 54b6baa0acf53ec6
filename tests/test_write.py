"""`tfreel.Writer`: what goes in, what lies in the file, and when the file is there."""

from __future__ import annotations

import contextlib
import gc
import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import zlib
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel

from corpus import CODECS, RECORDS, SUFFIXES, compress, frames, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPRESSED = ("gzip", "zlib")
BUFFER_BYTES = 1 << 18
LARGE_BYTES = 1 << 15
FRAME_BYTES = 16


class Message:
    """Something like a protobuf message."""

    def __init__(self, content: object) -> None:
        self.content = content

    def SerializeToString(self) -> object:
        return self.content


def inflated(data: bytes, codec: str) -> bytes:
    """Plain bytes of a whole stream, by Python's own modules."""
    if codec == "gzip":
        return gzip.decompress(data)
    return zlib.decompress(data) if codec == "zlib" else data


def inflated_so_far(data: bytes, codec: str) -> bytes:
    """Plain bytes of a stream that has not ended yet."""
    if codec == "none":
        return data
    return zlib.decompressobj(zlib.MAX_WBITS + (16 if codec == "gzip" else 0)).decompress(data)


def fail_inside(out: tfreel.Writer, error: type[BaseException] = RuntimeError, end: str = "flush") -> None:
    with out:
        out.write_many(RECORDS)
        getattr(out, end)()
        raise error


def the_temporary(directory: Path) -> Path:
    (found,) = directory.glob(".*.tmp")
    return found


def run(script: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Another process, to its end."""
    command = [sys.executable, "-W", "error", "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


HOLD = """
import sys, tfreel
writer = tfreel.Writer(sys.argv[1], mode=sys.argv[2])
writer.write(b"theirs")
writer.flush()
print("ready", flush=True)
sys.stdin.readline()
writer.close()
"""


@contextlib.contextmanager
def writer_elsewhere(path: Path, mode: str = "x") -> Iterator[subprocess.Popen[str]]:
    """Another process that has a writer open on `path`, and closes it at the end."""
    command = [sys.executable, "-W", "error", "-c", HOLD, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        if process.poll() is None:
            process.communicate("done\n", timeout=60)
            assert process.returncode == 0


# What a record is -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        b"abc",
        bytearray(b"abc"),
        memoryview(b"abc"),
        memoryview(bytearray(b"abc")),
        memoryview(b"xxabcxx")[2:5],
        np.bytes_(b"abc"),
        np.array([b"abc"])[0],
        Message(b"abc"),
        Message(bytearray(b"abc")),
    ],
    ids=lambda record: type(record).__name__,
)
def test_anything_with_bytes_is_a_record(tmp_path: Path, record: object) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(record)
        out.write_many([record, b"between", record])
        out.write_many(iter((record,)))
    expected = frames([b"abc", b"abc", b"between", b"abc", b"abc"])
    assert (tmp_path / "a.tfrecord").read_bytes() == expected


@pytest.mark.parametrize(
    "record",
    [
        "text",
        np.str_("text"),
        None,
        7,
        1.5,
        True,
        {"label": object()},
        {b"label": 1},
        [b"a"],
        (b"a",),
        np.zeros(3),
        np.arange(3, dtype=np.uint8),
        np.float32(1),
        memoryview(np.zeros(2)),
        memoryview(np.arange(4, dtype=np.int16)),
        memoryview(b"abcdef")[::2],
        memoryview(b"abcdef").cast("B", [2, 3]),
        memoryview(np.arange(6, dtype=np.uint8).reshape(2, 3).T),
        Message("text"),
        Message(None),
        object(),
    ],
    ids=lambda record: type(record).__name__,
)
def test_what_is_not_bytes_is_a_type_error_and_writes_nothing(tmp_path: Path, record: object) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"before")
        with pytest.raises(TypeError):
            out.write(record)
        with pytest.raises(TypeError):
            out.write_many([b"good", record, b"never reached"])
        with pytest.raises(TypeError):
            out.write_many(item for item in (record,))
        assert out.records_written == 2
        out.write(b"after")
    assert (tmp_path / "a.tfrecord").read_bytes() == frames([b"before", b"good", b"after"])


def test_text_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with (
        tfreel.Writer(tmp_path / "a.tfrecord") as out,
        pytest.raises(TypeError, match=r"bytes.*str.*encode\(\)"),
    ):
        out.write("text")


def test_mappings_are_written_as_examples(tmp_path: Path) -> None:
    rows = [{"label": 1, "name": "a"}, OrderedDict(label=2), MappingProxyType({"label": 3})]
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        for row in rows:
            out.write(row)
        out.write_many([b"bytes", *rows, Message(b"message"), bytearray(b"more"), {}])
        assert out.records_written == 10
    encoded = [tfreel.encode(row) for row in rows]
    expected = [*encoded, b"bytes", *encoded, b"message", b"more", b"\n\x00"]
    assert (tmp_path / "a.tfrecord").read_bytes() == frames(expected)


@pytest.mark.parametrize("codec", CODECS)
def test_rows_of_all_sizes_are_written_alike_one_by_one_and_at_once(tmp_path: Path, codec: str) -> None:
    sizes = [0, 1, 100, LARGE_BYTES - 20, LARGE_BYTES, BUFFER_BYTES, 3 * BUFFER_BYTES, 5, *range(1000, 2000)]
    rows = [{"data": bytes(size), "size": size} for size in sizes]
    for name, write in (("one", False), ("many", True)):
        with tfreel.Writer(tmp_path / name, compression=codec) as out:
            if write:
                out.write_many(rows)
            else:
                for row in rows:
                    out.write(row)
            assert out.records_written == len(rows)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert list(tfreel.read(tmp_path / "many")) == [tfreel.encode(row) for row in rows]


def test_a_row_that_cannot_be_encoded_writes_nothing_and_keeps_what_came_before(tmp_path: Path) -> None:
    rows = [{"label": i} for i in range(5)]
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        with pytest.raises(ValueError, match=r"'label'.*does not fit int64"):
            out.write_many([*rows, {"label": 2**63}, {"label": 7}])
        assert out.records_written == 5
        out.write({"label": 5})
    found = [tfreel.decode(record)["label"] for record in tfreel.read(tmp_path / "a.tfrecord")]
    assert np.concatenate(found).tolist() == [0, 1, 2, 3, 4, 5]  # type: ignore[arg-type]


def test_an_interrupt_in_the_middle_of_many_rows_leaves_the_count_right(tmp_path: Path) -> None:
    class Interrupting(bytearray):
        def __bytes__(self) -> bytes:
            raise KeyboardInterrupt

    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write({"label": 1})
        with pytest.raises(KeyboardInterrupt):
            out.write_many([{"label": 2}, {"label": [Interrupting()]}])
        out.write({"label": 3})
        assert out.records_written == 2
    assert len(list(tfreel.read(tmp_path / "a.tfrecord"))) == 2


def test_one_mapping_is_not_many_records(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out, pytest.raises(TypeError, match="use write"):
        out.write_many({"label": 1})  # type: ignore[arg-type]


def test_a_bytearray_may_change_after_it_was_written(tmp_path: Path) -> None:
    record = bytearray(b"first")
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(record)
        record[:] = b"other and longer"
        out.write(record)
    assert (tmp_path / "a.tfrecord").read_bytes() == frames([b"first", b"other and longer"])


# Bytes in the file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_files_hold_exactly_the_frames(tmp_path: Path, codec: str) -> None:
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path) as out:
        for record in RECORDS:
            out.write(record)
    assert inflated(path.read_bytes(), codec) == frames(RECORDS)
    assert list(tfreel.read(path)) == RECORDS


@pytest.mark.parametrize("codec", CODECS)
def test_write_many_and_write_make_the_same_bytes(tmp_path: Path, codec: str) -> None:
    records = RECORDS * 50
    one, many = tmp_path / ("one" + SUFFIXES[codec]), tmp_path / ("many" + SUFFIXES[codec])
    with tfreel.Writer(one) as out:
        for record in records:
            out.write(record)
    with tfreel.Writer(many) as out:
        out.write_many(records)
    assert one.read_bytes() == many.read_bytes()


@pytest.mark.parametrize("codec", CODECS)
def test_the_same_records_make_the_same_file_on_every_day(tmp_path: Path, codec: str) -> None:
    for name in ("a", "b"):
        with tfreel.Writer(tmp_path / (name + SUFFIXES[codec])) as out:
            out.write_many(RECORDS)
    contents = [(tmp_path / (name + SUFFIXES[codec])).read_bytes() for name in ("a", "b")]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("level", [None, 1, 9])
def test_a_gzip_header_names_no_time_and_no_file(tmp_path: Path, level: int | None) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord.gz", level=level) as out:
        out.write(b"abc")
    header = (tmp_path / "a.tfrecord.gz").read_bytes()[:10]
    assert header[:4] == b"\x1f\x8b\x08\x00"
    assert header[4:8] == bytes(4)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "length",
    [
        LARGE_BYTES - 1,
        LARGE_BYTES,
        LARGE_BYTES + 1,
        BUFFER_BYTES - FRAME_BYTES - 1,
        BUFFER_BYTES - FRAME_BYTES,
        BUFFER_BYTES - FRAME_BYTES + 1,
        BUFFER_BYTES,
        BUFFER_BYTES + 1,
        3 * BUFFER_BYTES + 5,
    ],
)
@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_large_records_between_small_ones_keep_their_place(
    tmp_path: Path, codec: str, length: int, kind: Callable[[bytes], bytes]
) -> None:
    large = np.random.default_rng(length).bytes(length)
    records = [b"first", large, b"", b"between", large, large, b"last"]
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path) as out:
        for record in records:
            out.write(kind(record))
        out.write_many(map(kind, records))
        assert out.records_written == 2 * len(records)
    assert inflated(path.read_bytes(), codec) == frames(records * 2)


def test_the_buffer_may_fill_to_its_last_byte(tmp_path: Path) -> None:
    exact = [b"x" * (1024 - FRAME_BYTES)] * (BUFFER_BYTES // 1024)
    for records in (exact, [*exact, b""], [*exact, b"", *exact], [*exact[:-1], b"y" * 1009, b"z"]):
        with tfreel.Writer(tmp_path / "a.tfrecord", mode="w") as out:
            for record in records:
                out.write(record)
        assert (tmp_path / "a.tfrecord").read_bytes() == frames(records)


@pytest.mark.parametrize("codec", CODECS)
def test_no_records_make_a_valid_empty_file(tmp_path: Path, codec: str) -> None:
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path) as out:
        assert out.records_written == 0
    assert inflated(path.read_bytes(), codec) == b""
    assert bool(path.stat().st_size) == (codec != "none")
    assert list(tfreel.read(path)) == []


class _Trickle(io.RawIOBase):
    """A stream that takes a few bytes at a time, as a pipe or a socket may."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: memoryview) -> int:
        self.taken += bytes(data[: self.most])
        return min(len(data), self.most)


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.lists(st.binary(max_size=300), min_size=1, max_size=1)),
        st.tuples(st.just("write"), st.integers(0, BUFFER_BYTES + 99).map(lambda length: [b"\7" * length])),
        st.tuples(st.just("write_many"), st.lists(st.binary(max_size=300), max_size=20)),
        st.tuples(st.just("flush"), st.just([])),
    ),
    max_size=12,
)


@given(steps=_STEPS, codec=st.sampled_from(CODECS), level=st.sampled_from([None, 0, 6]))
@settings(max_examples=60, deadline=None)
def test_any_calls_in_any_order_hold_what_was_written(
    steps: list[tuple[str, list[bytes]]], codec: str, level: int | None
) -> None:
    records = [record for _, taken in steps for record in taken]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "a.tfrecord")
        streams = [io.BytesIO(), _Trickle(1000)]
        for target in (path, *streams):
            with tfreel.Writer(target, compression=codec, level=level, durable=False) as out:
                for verb, taken in steps:
                    if verb == "write":
                        out.write(taken[0])
                    elif verb == "write_many":
                        out.write_many(taken)
                    else:
                        out.flush()
                assert out.records_written == len(records)
        contents = [path.read_bytes(), streams[0].getvalue(), bytes(streams[1].taken)]
    assert [inflated(content, codec) == frames(records) for content in contents] == [True] * 3


# write_many -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda records: (record for record in records),
        lambda records: dict.fromkeys(records).keys(),
        np.array,
    ],
    ids=["list", "tuple", "iterator", "generator", "keys", "array"],
)
def test_write_many_takes_any_iterable(tmp_path: Path, make: Callable[[list[bytes]], object]) -> None:
    records = [b"%d" % i for i in range(10_000)]
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write_many(make(records))
        assert out.records_written == len(records)
    assert (tmp_path / "a.tfrecord").read_bytes() == frames(records)


def test_write_many_takes_a_mixture(tmp_path: Path) -> None:
    mixed = [
        b"a",
        bytearray(b"b"),
        Message(b"c"),
        memoryview(b"d"),
        np.bytes_(b"e"),
        b"f" * BUFFER_BYTES,
        b"",
    ]
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write_many(mixed * 3)
        out.write_many([])
        assert out.records_written == len(mixed) * 3
    plain = [b"a", b"b", b"c", b"d", b"e", b"f" * BUFFER_BYTES, b""]
    assert (tmp_path / "a.tfrecord").read_bytes() == frames(plain * 3)


@pytest.mark.parametrize("record", [b"abc", bytearray(b"abc"), memoryview(b"abc"), "abc", np.bytes_(b"abc")])
def test_write_many_refuses_one_record(tmp_path: Path, record: object) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        with pytest.raises(TypeError, match="write_many takes an iterable of records, not one"):
            out.write_many(record)
        assert out.records_written == 0


@pytest.mark.parametrize("number", [0, 3, 9999])
@pytest.mark.parametrize("bad", [{"a": object()}, {"a": 2**80}, 7])
def test_the_bad_one_among_many_is_numbered(tmp_path: Path, bad: Any, number: int) -> None:
    records: list[Any] = [{"a": i} for i in range(10_000)]
    records[number] = bad
    for options in ({}, {"shards": 3}, {"max_records": 700}, {"max_bytes": 5000}):
        kind = tfreel.ShardedWriter if options else tfreel.Writer
        for some in (records, iter(records)):
            with pytest.raises((TypeError, ValueError)) as caught, kind(tmp_path / "a", **options) as out:
                out.write_many(some)
            assert caught.value.__notes__ == [f"in record {number:,} of those given, counted from 0"]


def test_write_many_of_a_list_leaves_the_list_alone(tmp_path: Path) -> None:
    records = [b"a", bytearray(b"b"), b"c"]
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write_many(records)
    assert records == [b"a", b"b", b"c"]


@pytest.mark.parametrize("codec", CODECS)
def test_write_block_keeps_its_place_among_other_records(tmp_path: Path, codec: str) -> None:
    records = [*RECORDS, b"x" * BUFFER_BYTES, *RECORDS]
    source = write_file(tmp_path / "source.tfrecord", records)
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path) as out:
        out.write(b"before")
        for block in tfreel.read(source).blocks():
            out.write_block(block)
        out.write(b"after")
        assert out.records_written == len(records) + 2
    assert inflated(path.read_bytes(), codec) == frames([b"before", *records, b"after"])
    with pytest.raises(ValueError, match="closed"):
        out.write_block(block)


# Compression ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.tfrecord", "none"),
        ("a", "none"),
        ("gz", "none"),
        ("a.tfrecord.gz", "gzip"),
        ("a.GZ", "gzip"),
        ("a.gzip", "gzip"),
        ("a.tfrecord.zlib", "zlib"),
        ("a.zz", "zlib"),
    ],
)
def test_the_suffix_chooses_the_compression(tmp_path: Path, name: str, codec: str) -> None:
    with tfreel.Writer(tmp_path / name) as out:
        out.write_many(RECORDS)
    assert inflated((tmp_path / name).read_bytes(), codec) == frames(RECORDS)


@pytest.mark.parametrize(
    ("spelling", "codec"),
    [
        ("none", "none"),
        ("NONE", "none"),
        ("", "none"),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("GZip", "gzip"),
        ("zlib", "zlib"),
        ("ZLIB", "zlib"),
        ("Zlib", "zlib"),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_argument_wins_over_the_suffix_in_any_spelling(
    tmp_path: Path, spelling: str, codec: str, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    with tfreel.Writer(path, compression=spelling) as out:
        out.write_many(RECORDS)
    assert inflated(path.read_bytes(), codec) == frames(RECORDS)


@pytest.mark.parametrize("name", ["snappy", "gz", "zip", " gzip", 5, b"gzip"])
def test_an_unknown_compression_is_refused_with_the_known_ones(tmp_path: Path, name: object) -> None:
    with pytest.raises(ValueError, match='"none", "gzip" or "zlib"'):
        tfreel.Writer(tmp_path / "a.tfrecord", compression=name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("codec", COMPRESSED)
def test_every_level_is_readable_and_more_effort_is_smaller(tmp_path: Path, codec: str) -> None:
    sizes = {}
    for level in (None, *range(10)):
        path = tmp_path / f"{level}{SUFFIXES[codec]}"
        with tfreel.Writer(path, level=level) as out:
            out.write_many(RECORDS * 20)
        assert inflated(path.read_bytes(), codec) == frames(RECORDS * 20)
        sizes[level] = path.stat().st_size
    assert sizes[9] < sizes[1] < sizes[0]
    assert sizes[None] < sizes[0]


@pytest.mark.parametrize("level", [-1, 10, 1.5, "6", True])
def test_a_level_that_is_none_is_refused(tmp_path: Path, level: object) -> None:
    with pytest.raises(ValueError, match="level must be 0 to 9"):
        tfreel.Writer(tmp_path / "a.tfrecord.gz", level=level)
    assert os.listdir(tmp_path) == []


# When the file is there -------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_the_name_appears_only_at_the_end_and_only_the_name_is_left(tmp_path: Path, codec: str) -> None:
    path = tmp_path / ("a" + SUFFIXES[codec])
    out = tfreel.Writer(path)
    out.write_many(RECORDS)
    out.flush(sync=True)
    assert not path.exists()
    assert all(name.startswith(".") for name in os.listdir(tmp_path))
    out.close()
    assert os.listdir(tmp_path) == [path.name]


def test_missing_directories_are_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "a.tfrecord"
    with tfreel.Writer(path) as out:
        out.write(b"a")
    assert path.read_bytes() == frames([b"a"])


def test_a_bare_name_is_written_here(tmp_path: Path) -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write(b"a")
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_paths_may_be_text_bytes_or_path_objects(tmp_path: Path) -> None:
    for path in (tmp_path / "a", str(tmp_path / "b"), os.fsencode(tmp_path / "c")):
        with tfreel.Writer(path) as out:
            out.write(b"a")
        assert Path(os.fsdecode(path)).read_bytes() == frames([b"a"])


def test_a_tilde_is_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with tfreel.Writer("~/a.tfrecord") as out:
        out.write(b"a")
    assert (tmp_path / "home" / "a.tfrecord").read_bytes() == frames([b"a"])


@pytest.mark.parametrize("target", [None, 5, ["a.tfrecord"], object()])
def test_what_is_neither_path_nor_file_is_a_type_error(target: object) -> None:
    with pytest.raises(TypeError, match="a path or an open binary file"):
        tfreel.Writer(target)


@pytest.mark.parametrize("mode", ["r", "wb", "", "X", None])
def test_an_unknown_mode_is_refused(tmp_path: Path, mode: object) -> None:
    with pytest.raises(ValueError, match='mode must be "x", "w" or "a"'):
        tfreel.Writer(tmp_path / "a.tfrecord", mode=mode)


def test_mode_x_refuses_an_existing_file_and_says_what_would_not(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord", [b"old"])
    with pytest.raises(FileExistsError, match=r'mode="w" replaces it, mode="a" adds') as caught:
        tfreel.Writer(path)
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    assert path.read_bytes() == frames([b"old"])


def test_mode_x_refuses_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "a.tfrecord").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        tfreel.Writer(tmp_path / "a.tfrecord")


def test_mode_x_does_not_replace_a_file_that_came_in_between(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    out = tfreel.Writer(path)
    out.write(b"ours")
    write_file(path, [b"theirs"])
    with pytest.raises(FileExistsError):
        out.close()
    assert path.read_bytes() == frames([b"theirs"])
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    with pytest.raises(FileExistsError):
        out.close()


def test_mode_w_replaces_at_the_end_and_not_before(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord", [b"old"])
    with tfreel.Writer(path, mode="w") as out:
        out.write(b"new")
        out.flush(sync=True)
        assert path.read_bytes() == frames([b"old"])
    assert path.read_bytes() == frames([b"new"])
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_mode_w_needs_no_old_file(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord", mode="w") as out:
        out.write(b"new")
    assert (tmp_path / "a.tfrecord").read_bytes() == frames([b"new"])


@pytest.mark.parametrize("mode", ["x", "w", "a"])
def test_a_directory_is_refused(tmp_path: Path, mode: str) -> None:
    (tmp_path / "a.tfrecord").mkdir()
    with pytest.raises(IsADirectoryError, match=r"name (a file in it|its TFRecord files)"):
        tfreel.Writer(tmp_path / "a.tfrecord", mode=mode)
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_a_file_as_parent_directory_is_an_os_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        tfreel.Writer(tmp_path / "file" / "a.tfrecord")


def test_the_mode_of_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"a")
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a.tfrecord").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_reader_of_the_old_file_is_not_disturbed_by_its_replacement(tmp_path: Path) -> None:
    old = [b"old %d" % i for i in range(1000)]
    path = write_file(tmp_path / "a.tfrecord", old)
    reader = tfreel.read(path)
    assert next(reader) == old[0]
    with tfreel.Writer(path, mode="w") as out:
        out.write(b"new")
    assert list(reader) == old[1:]
    assert list(tfreel.read(path)) == [b"new"]


# Flush, close, abort ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("level", [None, 6])
def test_flush_makes_everything_so_far_readable(
    tmp_path: Path, codec: str, sync: bool, level: int | None
) -> None:
    rng = np.random.default_rng(5)
    records = [*RECORDS, rng.bytes(100_000), b"z" * BUFFER_BYTES, rng.bytes(3)]
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path, level=level) as out:
        for count, record in enumerate(records, 1):
            out.write(record)
            out.flush(sync=sync)
            so_far = the_temporary(tmp_path).read_bytes()
            assert inflated_so_far(so_far, codec) == frames(records[:count])
            reader = tfreel.read(the_temporary(tmp_path), on_corrupt="tail")
            assert list(reader) == records[:count]
            out.flush(sync=sync)  # once more changes nothing that can be read
            assert inflated_so_far(the_temporary(tmp_path).read_bytes(), codec) == frames(records[:count])
    assert inflated(path.read_bytes(), codec) == frames(records)


def test_what_is_not_flushed_may_stay_in_memory(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"small")
        assert the_temporary(tmp_path).stat().st_size == 0
        out.flush()
        assert the_temporary(tmp_path).stat().st_size == FRAME_BYTES + 5


@pytest.mark.parametrize("codec", CODECS)
def test_flushing_an_empty_writer_is_harmless(tmp_path: Path, codec: str) -> None:
    path = tmp_path / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path) as out:
        out.flush()
        out.flush(sync=True)
    assert inflated(path.read_bytes(), codec) == b""


def test_closing_twice_is_fine(tmp_path: Path) -> None:
    out = tfreel.Writer(tmp_path / "a.tfrecord")
    out.write(b"a")
    out.close()
    out.close()
    out.abort()
    with out:
        pass
    assert (tmp_path / "a.tfrecord").read_bytes() == frames([b"a"])


@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_writer_that_ended_refuses_everything(tmp_path: Path, end: str) -> None:
    out = tfreel.Writer(tmp_path / "a.tfrecord")
    out.write(b"a")
    getattr(out, end)()
    for use in (
        lambda: out.write(b"b"),
        lambda: out.write(bytearray(b"b")),
        lambda: out.write(b"b" * BUFFER_BYTES),
        lambda: out.write_many([b"b"]),
        lambda: out.write_many(iter([Message(b"b")])),
        out.flush,
        lambda: out.flush(sync=True),
    ):
        with pytest.raises(ValueError, match="the writer is closed"):
            use()
    assert out.records_written == 1
    assert os.listdir(tmp_path) == (["a.tfrecord"] if end == "close" else [])


def test_abort_leaves_nothing_and_may_be_repeated(tmp_path: Path) -> None:
    out = tfreel.Writer(tmp_path / "a.tfrecord.gz")
    out.write_many(RECORDS)
    out.flush(sync=True)
    out.abort()
    out.abort()
    assert os.listdir(tmp_path) == []
    out.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", ["x", "w"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_inside_with_aborts(tmp_path: Path, mode: str, error: type[BaseException]) -> None:
    path = tmp_path / "a.tfrecord"
    if mode == "w":
        write_file(path, [b"old"])
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(error):
        fail_inside(tfreel.Writer(path, mode=mode), error)
    assert sorted(os.listdir(tmp_path)) == before
    if mode == "w":
        assert path.read_bytes() == frames([b"old"])


@pytest.mark.parametrize("mode", ["x", "w", "a"])
def test_a_dropped_writer_warns_and_publishes_nothing(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.tfrecord"
    if mode != "x":
        write_file(path, [b"old"])
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    held = [tfreel.Writer(path, mode=mode)]
    held[0].write(b"a")
    held[0].flush()
    with pytest.warns(ResourceWarning, match=r"a\.tfrecord' was never closed"):
        held.clear()
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_writer_dropped_in_a_cycle_warns_and_publishes_nothing(tmp_path: Path) -> None:
    def drop_a_cycle() -> None:
        cycle: list[object] = [tfreel.Writer(tmp_path / "a.tfrecord")]
        cycle.append(cycle)
        del cycle
        gc.collect()

    with pytest.warns(ResourceWarning, match="never closed"):
        drop_a_cycle()
    assert os.listdir(tmp_path) == []


def test_a_writer_that_failed_to_open_does_not_warn(tmp_path: Path) -> None:
    write_file(tmp_path / "a.tfrecord", [b"old"])
    with pytest.raises(FileExistsError):
        tfreel.Writer(tmp_path / "a.tfrecord")
    gc.collect()


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "1 / 0", "import os; os._exit(4)"])
def test_a_process_that_ends_with_an_open_writer_publishes_nothing(tmp_path: Path, ending: str) -> None:
    script = f"import tfreel\nout = tfreel.Writer('a.tfrecord')\nout.write(b'a')\nout.flush()\n{ending}\n"
    run(script, cwd=tmp_path)
    assert not (tmp_path / "a.tfrecord").exists()
    if "_exit" not in ending:
        assert os.listdir(tmp_path) == []


def test_a_signal_that_ends_the_process_publishes_nothing(tmp_path: Path) -> None:
    with writer_elsewhere(tmp_path / "a.tfrecord") as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM
    assert not (tmp_path / "a.tfrecord").exists()
    assert list(tfreel.read(the_temporary(tmp_path))) == [b"theirs"]


# Somebody else's file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_an_open_file_is_written_to_and_left_open(tmp_path: Path, codec: str) -> None:
    with open(tmp_path / "a", "wb") as file:
        file.write(b"head")
        with tfreel.Writer(file, compression=codec) as out:
            out.write_many(RECORDS)
            out.write(b"x" * BUFFER_BYTES)
        assert not file.closed
        file.write(b"tail")
    content = (tmp_path / "a").read_bytes()
    assert content.startswith(b"head")
    assert content.endswith(b"tail")
    assert inflated(content[4:-4], codec) == frames([*RECORDS, b"x" * BUFFER_BYTES])
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("codec", CODECS)
def test_a_buffer_in_memory_is_a_file_too(codec: str) -> None:
    stream = io.BytesIO()
    with tfreel.Writer(stream, compression=codec) as out:
        out.write_many(RECORDS)
    assert inflated(stream.getvalue(), codec) == frames(RECORDS)
    stream.seek(0)
    assert list(tfreel.read(stream)) == RECORDS


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("buffering", [0, 1 << 20])
def test_flush_hands_an_open_file_everything(tmp_path: Path, sync: bool, buffering: int) -> None:
    with open(tmp_path / "a", "wb", buffering=buffering) as file, tfreel.Writer(file) as out:
        out.write_many(RECORDS)
        out.flush(sync=sync)
        assert (tmp_path / "a").read_bytes() == frames(RECORDS)


def test_a_pipe_can_be_written_to_and_flushed() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb") as sink, tfreel.Writer(sink) as out:
        out.write(b"a")
        out.flush(sync=True)
        assert os.read(source.fileno(), 100) == frames([b"a"])


@pytest.mark.parametrize("most", [1, 5, 4096])
def test_a_stream_that_takes_little_at_a_time_gets_everything(most: int) -> None:
    stream = _Trickle(most)
    with tfreel.Writer(stream) as out:
        out.write_many(RECORDS)
    assert bytes(stream.taken) == frames(RECORDS)


def test_a_closed_stream_fails_at_the_latest_on_flush(tmp_path: Path) -> None:
    file = open(tmp_path / "a", "wb")  # noqa: SIM115
    file.close()
    out = tfreel.Writer(file)
    out.write(b"a")
    with pytest.raises(ValueError, match="closed file"):
        out.flush()
    with pytest.raises(ValueError, match="closed file"):
        out.close()


def test_an_abort_leaves_an_open_file_open(tmp_path: Path) -> None:
    with open(tmp_path / "a", "wb") as file:
        with pytest.raises(RuntimeError):
            fail_inside(tfreel.Writer(file), end="abort")
        assert not file.closed
        file.write(b"theirs")
    assert (tmp_path / "a").read_bytes() == b"theirs"


# Append -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [[], [b"one"], RECORDS], ids=["empty", "one", "many"])
def test_append_adds_behind_a_sound_file(tmp_path: Path, old: list[bytes]) -> None:
    path = write_file(tmp_path / "a.tfrecord", old)
    with tfreel.Writer(path, mode="a") as out:
        out.write_many(RECORDS)
        out.write(b"x" * BUFFER_BYTES)
        assert out.records_written == len(RECORDS) + 1
    assert path.read_bytes() == frames([*old, *RECORDS, b"x" * BUFFER_BYTES])
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize("old", [[], RECORDS], ids=["empty", "many"])
def test_append_to_gzip_adds_a_member(tmp_path: Path, old: list[bytes]) -> None:
    path = write_file(tmp_path / "a.tfrecord.gz", old, "gzip")
    before = path.read_bytes()
    with tfreel.Writer(path, mode="a") as out:
        out.write_many(RECORDS)
    after = path.read_bytes()
    assert after.startswith(before)
    assert gzip.decompress(after[len(before) :]) == frames(RECORDS)
    assert list(tfreel.read(path)) == [*old, *RECORDS]


@pytest.mark.parametrize("codec", CODECS)
def test_append_creates_a_missing_file(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "new" / ("a" + SUFFIXES[codec])
    with tfreel.Writer(path, mode="a") as out:
        out.write_many(RECORDS)
        assert not path.exists()
    assert inflated(path.read_bytes(), codec) == frames(RECORDS)


def test_append_to_an_empty_file_starts_its_stream(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(b"")
    with tfreel.Writer(path, mode="a") as out:
        out.write_many(RECORDS)
    assert gzip.decompress(path.read_bytes()) == frames(RECORDS)


def test_append_of_nothing_changes_nothing_that_is_read(tmp_path: Path) -> None:
    for codec in ("none", "gzip"):
        path = write_file(tmp_path / ("a" + SUFFIXES[codec]), RECORDS, codec)
        with tfreel.Writer(path, mode="a"):
            pass
        assert list(tfreel.read(path)) == RECORDS


def test_appends_add_up(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord.gz"
    for i in range(5):
        with tfreel.Writer(path, mode="a") as out:
            out.write(b"%d" % i)
    assert list(tfreel.read(path)) == [b"0", b"1", b"2", b"3", b"4"]


def test_append_refuses_zlib_which_has_one_stream(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord.zlib", RECORDS, "zlib")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"zlib.*cannot be added to"):
        tfreel.Writer(path, mode="a")
    assert path.read_bytes() == before


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("cut", [1, 5, 17])
def test_append_refuses_a_torn_tail_and_names_repair(tmp_path: Path, codec: str, cut: int) -> None:
    path = tmp_path / ("a" + SUFFIXES[codec])
    path.write_bytes(compress(frames(RECORDS), codec)[:-cut])
    before = path.read_bytes()
    with pytest.raises(tfreel.CorruptError, match=r"nothing was added.*tfreel\.repair") as caught:
        tfreel.Writer(path, mode="a")
    assert caught.value.path == str(path)
    assert caught.value.kind in ("truncated_body", "truncated_header", "compressed_truncated")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_append_refuses_damage_in_the_middle(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord", RECORDS)
    content = bytearray(path.read_bytes())
    content[28] ^= 1  # the payload of the second record
    path.write_bytes(content)
    with pytest.raises(tfreel.CorruptError, match=r"record 1 at byte 16: checksum mismatch") as caught:
        tfreel.Writer(path, mode="a")
    assert (caught.value.kind, caught.value.record, caught.value.offset) == ("data_crc", 1, 16)
    assert path.read_bytes() == content


def test_append_refuses_a_zero_filled_tail(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS) + bytes(4096))
    with pytest.raises(tfreel.CorruptError, match="zeros") as caught:
        tfreel.Writer(path, mode="a")
    assert caught.value.kind == "zero_filled_tail"


def test_append_refuses_gzip_behind_which_a_member_could_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(compress(frames(RECORDS), "gzip") + bytes(512))
    with pytest.raises(tfreel.CorruptError, match="zero bytes follow the gzip stream"):
        tfreel.Writer(path, mode="a")
    assert path.read_bytes() == compress(frames(RECORDS), "gzip") + bytes(512)


def test_append_after_repair_works(tmp_path: Path) -> None:
    (tmp_path / "torn.tfrecord").write_bytes(frames(RECORDS)[:-3])
    tfreel.repair(tmp_path / "torn.tfrecord", tmp_path / "sound.tfrecord")
    with tfreel.Writer(tmp_path / "sound.tfrecord", mode="a") as out:
        out.write(b"more")
    assert list(tfreel.read(tmp_path / "sound.tfrecord")) == [*RECORDS[:-1], b"more"]


@pytest.mark.parametrize(
    ("name", "content", "compression", "said"),
    [
        ("a.tfrecord", "gzip", None, "gzip"),
        ("a.tfrecord.gz", "none", None, "plain TFRecord"),
        ("a.tfrecord", "none", "gzip", "plain TFRecord"),
        ("a.tfrecord.gz", "zlib", None, "zlib"),
    ],
)
def test_append_says_which_codec_the_file_has(
    tmp_path: Path, name: str, content: str, compression: str | None, said: str
) -> None:
    path = write_file(tmp_path / name, RECORDS, content)
    before = path.read_bytes()
    with pytest.raises(tfreel.CorruptError, match=said):
        tfreel.Writer(path, mode="a", compression=compression)
    assert path.read_bytes() == before


def test_append_follows_the_codec_it_is_told(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.tfrecord", RECORDS, "gzip")
    with tfreel.Writer(path, mode="a", compression="GZIP") as out:
        out.write(b"more")
    assert list(tfreel.read(path)) == [*RECORDS, b"more"]


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize("flushed", [False, True])
def test_an_aborted_append_restores_the_old_bytes(tmp_path: Path, codec: str, flushed: bool) -> None:
    path = write_file(tmp_path / ("a" + SUFFIXES[codec]), RECORDS, codec)
    before = path.read_bytes()
    out = tfreel.Writer(path, mode="a")
    out.write(np.random.default_rng(1).bytes(2 * BUFFER_BYTES))
    if flushed:
        out.flush(sync=True)
        assert path.stat().st_size > len(before)
    with pytest.raises(RuntimeError):
        fail_inside(out)
    assert path.read_bytes() == before
    with tfreel.Writer(path, mode="a") as out:  # nor is it locked any more
        out.write(b"more")
    assert list(tfreel.read(path)) == [*RECORDS, b"more"]


def test_append_refuses_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tfrecord")
    with pytest.raises(OSError, match="FIFO"):
        tfreel.Writer(tmp_path / "a.tfrecord", mode="a")


# Two writers ------------------------------------------------------------------------------------------------

MODES = [("x", "x"), ("x", "w"), ("w", "x"), ("w", "w"), ("w", "a"), ("a", "w"), ("a", "a"), ("x", "a")]


def _existing(path: Path, first: str, second: str) -> bytes | None:
    """Makes the old file where both modes can have one."""
    if "x" in (first, second):
        return None
    return write_file(path, [b"old"]).read_bytes()


@pytest.mark.parametrize(("first", "second"), MODES)
def test_a_second_writer_in_this_process_fails(tmp_path: Path, first: str, second: str) -> None:
    path = tmp_path / "a.tfrecord"
    old = _existing(path, first, second)
    with tfreel.Writer(path, mode=first) as out:
        out.write(b"first")
        with pytest.raises(FileExistsError, match="another writer is writing this file") as caught:
            tfreel.Writer(path, mode=second)
        assert caught.value.filename == str(path)
    kept = old if old is not None and first == "a" else b""
    assert path.read_bytes() == kept + frames([b"first"])
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize(("first", "second"), [("x", "x"), ("w", "w"), ("a", "a"), ("w", "a"), ("a", "w")])
def test_a_second_writer_in_another_process_fails(tmp_path: Path, first: str, second: str) -> None:
    path = tmp_path / "a.tfrecord"
    old = _existing(path, first, second)
    with (
        writer_elsewhere(path, first),
        pytest.raises(FileExistsError, match="another writer is writing this file"),
    ):
        tfreel.Writer(path, mode=second)
    kept = old if old is not None and first == "a" else b""
    assert path.read_bytes() == kept + frames([b"theirs"])
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize("end", ["close", "abort"])
def test_a_writer_that_ended_stands_in_nobodys_way(tmp_path: Path, end: str) -> None:
    for i in range(3):
        out = tfreel.Writer(tmp_path / "a.tfrecord", mode="w")
        out.write(b"%d" % i)
        getattr(out, end)()
    assert (tmp_path / "a.tfrecord").exists() == (end == "close")


def test_the_leftover_of_a_dead_process_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with writer_elsewhere(path) as process:
        process.kill()
        process.wait(timeout=60)
    leftover = the_temporary(tmp_path)
    with tfreel.Writer(path) as out:
        out.write(b"ours")
    assert path.read_bytes() == frames([b"ours"])
    assert list(tfreel.read(leftover)) == [b"theirs"]  # and is kept for whoever wants to repair it


def test_a_leftover_second_name_of_the_file_does_not_block_an_append(tmp_path: Path) -> None:
    """A process may die between giving the file its name and taking the temporary one away."""
    path = write_file(tmp_path / "a.tfrecord", [b"old"])
    os.link(path, tmp_path / ".a.tfrecord.4242-0123abcd.tmp")
    with tfreel.Writer(path, mode="a") as out:
        out.write(b"new")
    assert path.read_bytes() == frames([b"old", b"new"])


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a.tfrecord"), ("a.tfrecord", "a"), ("a.tfrecord", "a.tfrecord.gz"), ("a.b", "a.b.1-0123abcd")],
)
def test_a_name_that_begins_like_another_does_not_block(tmp_path: Path, first: str, second: str) -> None:
    with tfreel.Writer(tmp_path / first) as one, tfreel.Writer(tmp_path / second) as two:
        one.write(b"one")
        two.write(b"two")
    assert list(tfreel.read(tmp_path / first)) == [b"one"]
    assert list(tfreel.read(tmp_path / second)) == [b"two"]


def test_long_names_that_begin_alike_do_not_block(tmp_path: Path) -> None:
    first, second = tmp_path / ("n" * 254 + "1"), tmp_path / ("n" * 254 + "2")
    with tfreel.Writer(first) as one, tfreel.Writer(second) as two:
        one.write(b"one")
        two.write(b"two")
        with pytest.raises(FileExistsError, match="another writer"):
            tfreel.Writer(first)
    assert list(tfreel.read(first)) == [b"one"]
    assert list(tfreel.read(second)) == [b"two"]


# Odd names --------------------------------------------------------------------------------------------------

ODD_NAMES = [b"\xff\xfe.tfrecord", b"new\nline.tfrecord", b"n" * 246 + b".tfrecord", "größe ☃".encode(), b" "]


@pytest.mark.parametrize("name", ODD_NAMES, ids=lambda name: ascii(name[:12]))
@pytest.mark.parametrize("mode", ["x", "w", "a"])
def test_odd_file_names_work(tmp_path: Path, name: bytes, mode: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)
    if mode != "x":
        write_file(Path(os.fsdecode(path)), [b"old"])
    with tfreel.Writer(path, mode=mode) as out:
        out.write(b"a")
        assert "\n" not in repr(out)
    with open(path, "rb") as file:
        assert file.read() == frames([b"old", b"a"] if mode == "a" else [b"a"])
    assert os.listdir(os.fsencode(tmp_path)) == [name]
    with pytest.raises(FileExistsError) as caught:
        tfreel.Writer(path)
    assert "\n" not in str(caught.value)
    str(caught.value).encode()  # printable anywhere


def test_a_name_that_is_too_long_for_the_system_is_its_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too long"), tfreel.Writer(tmp_path / ("n" * 256)) as out:
        out.write(b"a")
    assert os.listdir(tmp_path) == []


# The rest ---------------------------------------------------------------------------------------------------


def test_records_written_counts_as_it_goes(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"a")
        assert out.records_written == 1
        out.write_many([b"b", b"x" * BUFFER_BYTES, bytearray(b"c")])
        assert out.records_written == 4
    assert out.records_written == 4


def test_repr_names_the_file_and_counts(tmp_path: Path) -> None:
    with tfreel.Writer("a.tfrecord") as out:
        out.write(b"a")
        assert repr(out) == "<tfreel.Writer of 'a.tfrecord', 1 records written>"
    assert out.path == "a.tfrecord"


def test_a_writer_does_not_pickle(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out, pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(out)


def test_a_writer_is_not_passed_on_to_programs_it_starts(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a.tfrecord") as out:
        out.write(b"a")
        done = run("import os; print([os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') "
                   "if os.path.exists(f'/proc/self/fd/{n}')])", close_fds=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ".tmp" not in done.stdout


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    for mode in ("x", "w", "a"):
        with tfreel.Writer(tmp_path / "a.tfrecord", mode=mode) as out:
            out.write(b"a")
        with pytest.raises(RuntimeError), tfreel.Writer(tmp_path / "b.tfrecord", mode=mode) as out:
            raise RuntimeError
        with pytest.raises(FileExistsError):
            tfreel.Writer(tmp_path / "a.tfrecord")
    assert os.listdir("/proc/self/fd") == before


def test_write_many_holds_few_of_many_large_records(tmp_path: Path) -> None:
    alive = most = 0

    class Large(bytearray):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    class Message:
        """As those of protobuf are."""

        def __init__(self, record: Large) -> None:
            self.record = record

        def ByteSize(self) -> int:
            return len(self.record)

        def SerializeToString(self) -> bytes:
            return bytes(self.record)

    def records(count: int, size: int) -> Iterator[Large]:
        nonlocal alive, most
        for _ in range(count):
            alive += 1
            most = max(most, alive)
            yield Large(size)

    with tfreel.Writer(tmp_path / "a") as out:
        out.write_many(records(300, 300_000))
        assert most <= 20
        out.write_many({"x": record} for record in records(300, 300_000))
        assert most <= 40
        out.write_many(map(Message, records(300, 300_000)))
        assert most <= 40
        out.write_many(records(9_000, 10))
    assert out.records_written == 9_900
    assert most > 1_000


def test_what_an_iterable_gave_before_it_failed_is_written(tmp_path: Path) -> None:
    def records() -> Iterator[bytes]:
        yield from (b"%d" % i for i in range(5_000))
        raise KeyError("no more")

    with tfreel.Writer(tmp_path / "a") as out:
        with pytest.raises(KeyError, match="no more"):
            out.write_many(records())
        assert out.records_written == 5_000
    assert list(tfreel.read(tmp_path / "a"))[-1] == b"4999"


def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for mode in ("x", "w"):
        with pytest.raises(OSError, match=r"exists already|is no regular file, and is not replaced"):
            tfreel.Writer(tmp_path / "pipe", mode=mode)  # type: ignore[arg-type]
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".xz", ".LZ4", ".zip"])
def test_a_suffix_of_another_compression_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match=f"compressed by gzip or zlib, not as {suffix.lower()}"):
        tfreel.Writer(tmp_path / f"a.tfrecord{suffix}")
    with pytest.raises(ValueError, match="compressed by gzip or zlib"):
        tfreel.ShardedWriter(tmp_path / f"a.tfrecord{suffix}", shards=2)
    assert os.listdir(tmp_path) == []
    tfreel.Writer(tmp_path / f"a.tfrecord{suffix}", compression="none").close()
