"""Names and files: which files a name means, how it is shown, and what is refused."""

from __future__ import annotations

import errno
import glob
import json
import os
import pickle
import re
import socket
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

import tfreel
from tfreel.storage.files import LocalFile, looks_like
from tfreel.storage.names import glob_to_regex, natural_key, resolve
from tfreel.storage.paths import display, shard_name, split_suffix

from corpus import RECORDS, frames, offsets, write_file

if TYPE_CHECKING:
    from pathlib import Path

HARD_NAMES = {
    "not UTF-8": b"caf\xe9-\xff\xfe.tfrecord",
    "newline": b"two\nlines.tfrecord",
    "control": b"bell\x07 tab\t escape\x1b[31m.tfrecord",
    "longest": b"n" * 246 + b".tfrecord",
    "longest of many bytes": "é".encode() * 123 + b".tfrecord",
    "space and quotes": b" a 'b' \"c\" .tfrecord",
    "dash": b"-x.tfrecord",
    "unicode": "日本語 ☃ \U0001f409.tfrecord".encode(),
    "bidirectional": "a\u202etfr.tfrecord".encode(),
    "percent and braces": b"100% {x} %s.tfrecord",
}


# How a path is shown ----------------------------------------------------------------------------------------


def test_ordinary_paths_are_shown_as_they_are() -> None:
    for path in ("/data/train-00000-of-00010.tfrecord", "with space", "日本語/é", "back\\slash", ""):
        assert display(path) == path


def test_control_characters_and_undecodable_bytes_are_shown_escaped() -> None:
    assert display("a\nb") == r"a\nb"
    assert display("a\x1b[31m\0\x7f") == r"a\x1b[31m\x00\x7f"
    assert display(b"caf\xe9") == r"caf\xe9"
    assert display("caf\udce9") == r"caf\xe9"
    assert display("a\u202eb") == r"a\xe2\x80\xaeb"
    assert display("line\u2028separator") == r"line\xe2\x80\xa8separator"


def test_any_text_is_shown_on_one_line() -> None:
    for code in (*range(0x300), *range(0xD7F0, 0xE010), 0x2028, 0x2029, 0xFEFF, 0x10FFFF):
        shown = display(f"a{chr(code)}b")
        assert len(shown.splitlines()) == 1, hex(code)
        assert shown.isprintable(), hex(code)


@pytest.mark.parametrize("kind", HARD_NAMES)
def test_errors_about_hard_names_stay_on_one_line(tmp_path: Path, kind: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), HARD_NAMES[kind])
    with open(path, "wb") as file:
        file.write(frames(RECORDS)[:-1])
    with pytest.raises(tfreel.TruncatedError) as caught:
        list(tfreel.read(path))
    assert str(caught.value).isprintable()
    assert caught.value.path == os.fsdecode(path)  # the attribute is the name itself
    assert display(path) in str(caught.value)
    reader = tfreel.read(path, on_corrupt="skip")
    list(reader)
    assert str(reader.report.faults[0]).isprintable()
    with pytest.raises(FileNotFoundError) as missing:
        tfreel.read(path + b"?")
    assert str(missing.value).isprintable()


# Hard names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HARD_NAMES)
def test_files_of_hard_names_are_read_by_name_and_by_glob(tmp_path: Path, kind: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), HARD_NAMES[kind])
    with open(path, "wb") as file:
        file.write(frames(RECORDS))
    for source in (path, os.fsdecode(path), HARD_NAMES[kind], [path], os.fsencode(tmp_path) + b"/*.tfrecord"):
        assert list(tfreel.read(source)) == RECORDS, source
    assert tfreel.verify(path).ok


@pytest.mark.parametrize("kind", HARD_NAMES)
def test_states_and_readers_of_hard_names_travel(tmp_path: Path, kind: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), HARD_NAMES[kind])
    with open(path, "wb") as file:
        file.write(frames(RECORDS))
    reader = tfreel.read(path)
    next(reader)
    state = json.loads(json.dumps(reader.state_dict()))
    again = tfreel.read(path)
    again.load_state_dict(state)
    assert list(again) == RECORDS[1:]
    assert list(pickle.loads(pickle.dumps(reader))) == RECORDS[1:]
    os.truncate(path, 5)
    with pytest.raises(tfreel.StateError) as caught:
        tfreel.read(path).load_state_dict(state)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", HARD_NAMES)
def test_reports_of_hard_names_are_json(tmp_path: Path, kind: str) -> None:
    path = os.path.join(os.fsencode(tmp_path), HARD_NAMES[kind])
    with open(path, "wb") as file:
        file.write(frames(RECORDS)[:-1])
    report = tfreel.verify(path)
    assert json.loads(json.dumps(report.to_dict()))["faults"][0]["path"] == os.fsdecode(path)


def test_shards_of_hard_names_are_a_set(tmp_path: Path) -> None:
    for prefix in (b"caf\xe9", b"two\nlines", b"a-00000-of-00009-b"):
        for i in range(3):
            path = os.path.join(os.fsencode(tmp_path), prefix + f"-{i:05d}-of-00003".encode())
            with open(path, "wb") as file:
                file.write(frames([str(i).encode()]))
        assert list(tfreel.read(prefix + b"-*")) == [b"0", b"1", b"2"]
        assert list(tfreel.read(prefix + b"@3")) == [b"0", b"1", b"2"]
        os.unlink(os.path.join(os.fsencode(tmp_path), prefix + b"-00001-of-00003"))
        with pytest.raises(FileNotFoundError, match="-00001-of-00003"):
            tfreel.read(prefix + b"-*")


def test_names_that_cannot_be_are_not_found(tmp_path: Path) -> None:
    for name in ("a\0b", "\ud800", "n" * 256, "d/" * 3000):
        with pytest.raises(FileNotFoundError) as caught:
            tfreel.read(name)
        assert str(caught.value).isprintable()


# Order and patterns -----------------------------------------------------------------------------------------


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    names = ["a", "a1", "a2", "a2b1", "a2b10", "a10", "a10.x", "b", "b-000000000000000000000001", "b-2"]
    assert sorted(set(names), key=natural_key) == names


def test_names_that_differ_only_in_zeros_have_an_order_of_their_own() -> None:
    names = ["x-1", "x-01", "x-001", "x-1y", "x-01y"]
    assert len({str(natural_key(name)) for name in names}) == len(names)
    assert sorted(["a-1", "a-01-b"], key=natural_key) == ["a-1", "a-01-b"]


def test_digits_that_are_no_numbers_do_not_break_sorting() -> None:
    names = ["x1²3", "²", "x①", "x٣", "½"]
    assert len(sorted(names, key=natural_key)) == len(names)


PATTERNS = (
    "*", "a*", "*b", "a?", "[ab]*", "[!a]*", "[a-c]1", "a[0-9]", "a-b", "a.b", "d/*", "**/x", "**", "d/**/x",
    "[[]x", "[]]x", "[!]]x", "a+b", "(a)", "[^a]x", "[a", "a\\b", "[\\]x",
)  # fmt: skip


def test_patterns_mean_the_same_to_us_as_to_glob(tmp_path: Path) -> None:
    names = [
        "a",
        "ab",
        "b",
        "c1",
        "a1",
        "a-b",
        "a.b",
        "x",
        "d/x",
        "d/e/x",
        "[x",
        "]x",
        "a+b",
        "(a)",
        "bx",
        "ax",
    ]
    names += ["^x", "[a", "a\\b", "\\x"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    everything = {*names, "d", "d/e"}
    for pattern in PATTERNS:
        meant = {path.rstrip("/") for path in glob.glob(pattern, recursive=True)} - {""}
        matches = {name for name in everything if re.match(glob_to_regex(pattern), name)}
        assert matches == meant, pattern


def test_path_suffixes_and_shard_numbers_find_each_other() -> None:
    assert split_suffix("out/train.tfrecord.gz") == ("out/train", ".tfrecord.gz")
    assert split_suffix("out.d/.hidden.tfrecord") == ("out.d/.hidden", ".tfrecord")
    assert split_suffix("train") == ("train", "")
    assert shard_name("out/train", 3, 10, ".tfrecord") == "out/train-00003-of-00010.tfrecord"
    assert shard_name("t", 123456, 200000, "") == "t-123456-of-200000"


def test_sets_of_more_than_99999_shards_are_sets(tmp_path: Path) -> None:
    write_file(tmp_path / "t-123456-of-200000", [b"x"])
    with pytest.raises(FileNotFoundError, match="t-00000-of-200000"):
        resolve("t-*")
    assert resolve("t-123456-*") == ["t-123456-of-200000"]
    with pytest.raises(FileNotFoundError, match="t-12345-of-200000"):
        resolve("t-12345*")


def test_shard_count_in_a_directory_name_is_no_shard_count(tmp_path: Path) -> None:
    (tmp_path / "run@3").mkdir()
    write_file(tmp_path / "run@3" / "a.tfrecord", [b"a"])
    assert resolve("run@3/a.tfrecord") == ["run@3/a.tfrecord"]
    assert resolve("run@3/*.tfrecord") == ["run@3/a.tfrecord"]


# What is no regular file ------------------------------------------------------------------------------------


def make_special(path: Path, kind: str) -> Path:
    if kind == "a directory":
        path.mkdir()
    elif kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)  # the full path may be too long for a socket
    else:
        path.symlink_to("/dev/zero")
    return path


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["a directory", "a FIFO", "a socket", "a character device"])
def test_what_is_no_regular_file_is_refused_by_what_it_is(tmp_path: Path, kind: str) -> None:
    path = make_special(tmp_path / "special", kind)
    for use in (
        lambda: list(tfreel.read(path)),
        lambda: list(tfreel.read(path, on_corrupt="skip")),
        lambda: tfreel.verify(path),
        lambda: tfreel.repair(path, tmp_path / "repaired"),
    ):
        with pytest.raises(OSError, match=f"is {kind}") as caught:
            use()
        assert caught.value.filename == str(path)
        assert caught.value.errno in (errno.EISDIR, errno.EINVAL)
    assert not (tmp_path / "repaired").exists()


@pytest.mark.timeout(20)
def test_block_device_is_refused_by_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "device"
    try:
        os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 250))
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        pytest.skip("no block device can be made and opened here")
    with pytest.raises(OSError, match="is a block device"):
        list(tfreel.read(path))


def test_directory_is_answered_with_the_pattern_for_its_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(IsADirectoryError, match=re.escape("data/*.tfrecord")):
        list(tfreel.read("data"))


@pytest.mark.timeout(20)
def test_fifo_that_is_opened_by_the_caller_is_read(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as sink:
            sink.write(frames(RECORDS))

    writer = threading.Thread(target=write)
    writer.start()
    with path.open("rb") as source:
        assert list(tfreel.read(source)) == RECORDS
    writer.join()


def test_links_are_followed_and_broken_ones_are_not_found(tmp_path: Path) -> None:
    write_file(tmp_path / "a", RECORDS)
    (tmp_path / "link").symlink_to("a")
    assert list(tfreel.read("link")) == RECORDS
    (tmp_path / "broken").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("broken", "loop"):
        with pytest.raises(FileNotFoundError, match=name):
            tfreel.read(name)


def test_file_that_vanishes_between_naming_and_reading_is_named(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    reader = tfreel.read(path)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=str(path)):
        next(reader)


def test_refused_files_leave_no_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for kind in ("a directory", "a FIFO", "a socket", "a character device"):
        path = make_special(tmp_path / kind.replace(" ", "-"), kind)
        with pytest.raises(OSError, match=kind):
            LocalFile(str(path))
    assert len(os.listdir("/proc/self/fd")) == before


def test_files_that_live_until_the_program_ends_say_nothing_then(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a", RECORDS)
    script = "import builtins, sys, tfreel; builtins.kept = tfreel.open(sys.argv[1]); builtins.kept[0]"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stderr == ""


# What a file looks like -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"\x93NUMPY\x01\0", "NumPy"),
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"  <html>", "HTML"),
        (b"<?xml version='1.0'?>", "HTML or XML"),
        (b'[{"a": 1}]', "JSON"),
        (b'{"a": 1}', "JSON"),
        (b"a,b,c\n1,2,3\n", "CSV"),
        (b"hello world", "plain text"),
        ("grüße".encode(), "plain text"),
        (bytes(257) + b"ustar\0", "tar"),
    ],
)
def test_foreign_files_are_recognised(head: bytes, what: str) -> None:
    assert what in (looks_like(head) or "")


def test_tfrecords_and_noise_look_like_nothing() -> None:
    assert looks_like(b"") is None
    assert looks_like(bytes(100)) is None
    assert looks_like(frames(RECORDS)) is None
    assert looks_like(bytes(range(256))) is None
    for length in range(2000):
        assert looks_like(frames([b"a" * length])[:512]) is None, length
    assert offsets([b""]) == [0, 16]
