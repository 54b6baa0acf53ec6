"""Sources that mean harm, or came to harm: refused or reported by name, and nothing is written outside."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

import tfreel
from tfreel import _core
from tfreel.packing import archives
from tfreel.packing.tree import Directory, confined

from photos import photo_folder, picture


def skipped(report: tfreel.PackReport) -> dict[str, str]:
    return {remark.name: remark.text for remark in report.skipped}


def rejected(report: tfreel.PackReport) -> dict[str, str]:
    return {remark.name: remark.text for remark in report.rejected}


def tar_of(path: Path, *members: tuple[str, Any]) -> Path:
    """A tar of files (bytes), or whatever else a TarInfo can be made to say."""
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                tar.addfile(info)
    return path


# Names ------------------------------------------------------------------------------------------------------

ESCAPES = (
    "../evil.png",
    "/etc/evil.png",
    "a/../../evil.png",
    "C:\\evil.png",
    "..\\evil.png",
    "a\0b.png",
    "..",
)


@pytest.mark.parametrize("name", ESCAPES)
def test_names_that_lead_out_of_a_tree_are_refused(name: str) -> None:
    with pytest.raises(tfreel.UnsafeInputError):
        confined(name)
    with pytest.raises(tfreel.UnsafeInputError):
        confined("annotations", "../../" + name)


def test_names_that_stay_inside_are_taken(tmp_path: Path) -> None:
    assert confined("a", "../b/./c.png") == "b/c.png"
    assert confined("a b/ü.png") == "a b/ü.png"
    del tmp_path


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_members_that_lead_out_are_skipped_by_name_and_write_nothing(tmp_path: Path, suffix: str) -> None:
    names = [name for name in ESCAPES if "\0" not in name and name != ".."]
    good = ("good/1.png", picture())
    path = tmp_path / f"in{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as out:
            for name in names:
                out.writestr(name, picture())
            out.writestr(*good)
    else:
        tar_of(path, *((name, picture()) for name in names), good)
    before = set(tmp_path.rglob("*"))
    report = tfreel.pack(path, tmp_path / "out" / "set")
    assert report.written == 1
    assert len(report.skipped) == len(names)
    assert all("leads out" in text or "absolute" in text for text in skipped(report).values())
    assert {new.relative_to(tmp_path).parts[0] for new in set(tmp_path.rglob("*")) - before} == {"out"}


def test_links_devices_and_fifos_of_a_tar_are_skipped(tmp_path: Path) -> None:
    path = tar_of(
        tmp_path / "in.tar",
        ("a/1.png", picture()),
        ("a/soft.png", (tarfile.SYMTYPE, "/etc/passwd")),
        ("a/hard.png", (tarfile.LNKTYPE, "a/1.png")),
        ("a/fifo.png", (tarfile.FIFOTYPE, "")),
        ("a/null.png", (tarfile.CHRTYPE, "")),
    )
    report = tfreel.pack(path, tmp_path / "out")
    assert report.written == 1
    assert set(skipped(report)) == {"a/soft.png", "a/hard.png", "a/fifo.png", "a/null.png"}
    assert set(skipped(report).values()) == {"not a regular file"}


def test_links_and_encrypted_members_of_a_zip_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a/1.png", picture())
        link = zipfile.ZipInfo("a/link.png")
        link.external_attr = 0o120777 << 16
        out.writestr(link, "/etc/passwd")
        out.writestr("a/secret.png", picture(1))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")  # the entry of the last member
    data[place + 8] |= 1
    path.write_bytes(data)
    report = tfreel.pack(path, tmp_path / "out")
    assert skipped(report) == {"a/link.png": "not a regular file", "a/secret.png": "encrypted"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_of_members_with_the_same_name_the_first_is_taken_and_that_is_said(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"in{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as out:
            out.writestr("a/1.png", picture(1))
            out.writestr("a/./1.png", picture(2))
    else:
        tar_of(path, ("a/1.png", picture(1)), ("a/1.png", picture(2)))
    report = tfreel.pack(path, tmp_path / "out")
    assert skipped(report) == {"a/1.png": "is in the archive twice: the first one is taken"}
    (record,) = tfreel.read(tmp_path / "out")
    assert tfreel.decode(record)["image/encoded"] == [picture(1)]


def test_names_that_are_no_text_or_hold_control_characters_come_through(tmp_path: Path) -> None:
    root = os.fsencode(photo_folder(tmp_path / "photos", {"a": 1}))
    for name in (b"\xff\xfe.png", b"new\nline.png", b"tab\t\x1b[31m.png", "日本.png".encode()):
        with open(os.path.join(root, b"a", name), "wb") as file:
            file.write(picture())
    report = tfreel.pack(tmp_path / "photos", tmp_path / "out")
    assert report.written == 5
    names = {tfreel.decode(record)["image/filename"][0] for record in tfreel.read(tmp_path / "out")}
    assert b"a/\xff\xfe.png" in names
    assert "a/日本.png".encode() in names


def zip_of(path: Path, encoding: str, names: list[str]) -> Path:
    """A zip archive whose names are written in some encoding, without a word about it."""

    class Silent(zipfile.ZipInfo):
        def _encodeFilenameFlags(self) -> tuple[bytes, int]:
            return self.filename.encode(encoding), self.flag_bits

    with zipfile.ZipFile(path, "w") as out:
        for number, name in enumerate(names):
            out.writestr(Silent(name), picture(number))
    return path


@pytest.mark.parametrize(
    ("encoding", "names", "told"),
    [
        ("gbk", ["苹果/一.png", "苹果/二（1）.png", "香蕉/朱镕基.png", "香蕉/b.png"], "GBK"),
        ("gbk", ["猫/图（1）.png", "猫/图（2）.png"], "GBK"),
        ("utf-8", ["苹果/一.png", "äpfel/ü.png", "りんご/é.png"], None),
        ("cp437", ["Äpfel/grün.png", "señor/niño.png", "Küche/Mülltonne.png"], "CP437"),
        ("ascii", ["apples/a.png"], None),
    ],
)
def test_names_of_a_zip_that_does_not_say_how_they_are_written_are_read(
    tmp_path: Path, encoding: str, names: list[str], told: str | None
) -> None:
    path = zip_of(tmp_path / "in.zip", encoding, names)
    report = tfreel.pack(path, tmp_path / "out", workers=2)
    rows = [tfreel.decode(record) for record in tfreel.read(tmp_path / "out")]
    assert {row["image/filename"][0].decode(): row["image/encoded"][0] for row in rows} == {
        name: picture(number) for number, name in enumerate(names)
    }
    assert {*report.classes.values()} == {name.partition("/")[0] for name in names}
    what = f"the archive does not say what names in it are written in; they are read as {told}"
    assert report.notes == ([what] if told else [])


def test_names_in_gbk_are_confined_as_they_are_read(tmp_path: Path) -> None:
    # The second byte of 乗 is a backslash, which is no step into a folder; the dots are one out of it.
    path = zip_of(tmp_path / "in.zip", "gbk", ["苹果/乗.png", "../苹果.png", "苹果/../../二.png"])
    assert b"\\" in "乗".encode("gbk")
    report = tfreel.pack(path, tmp_path / "out")
    assert {*skipped(report)} == {"../苹果.png", "苹果/../../二.png"}
    (record,) = tfreel.read(tmp_path / "out")
    assert tfreel.decode(record)["image/filename"] == ["苹果/乗.png".encode()]


# Bombs ------------------------------------------------------------------------------------------------------


def test_a_member_that_unpacks_to_far_more_than_it_takes_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/1.png", picture())
        out.writestr("a/bomb.png", picture() + bytes(1 << 26))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 20 : place + 24] = struct.pack("<I", 1000)  # as if it took a thousand bytes
    path.write_bytes(data)
    report = tfreel.pack(path, tmp_path / "out", on_error="skip")
    assert report.written == 1
    assert "a bomb" in rejected(report)["a/bomb.png"]


def test_members_that_lie_in_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "overlap.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a/1.png", picture(1))
        out.writestr("a/2.png", picture(2))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 42 : place + 46] = struct.pack("<I", 10)  # the second begins inside the first
    path.write_bytes(data)
    with pytest.raises(tfreel.UnsafeInputError, match="lie in each other"):
        tfreel.pack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("claimed", [1, 10_000_000])
def test_a_member_whose_size_is_not_what_the_directory_says_is_rejected(tmp_path: Path, claimed: int) -> None:
    path = tmp_path / "lies.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/1.png", picture(1))
        out.writestr("a/2.png", picture(2))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<I", claimed)
    path.write_bytes(data)
    report = tfreel.pack(path, tmp_path / "out", on_error="skip")
    assert report.written == 1
    assert list(rejected(report)) == ["a/2.png"]


def test_a_tar_of_endless_zeros_or_with_a_huge_name_takes_no_memory(tmp_path: Path) -> None:
    header = bytearray(tarfile.TarInfo("././@LongLink").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = b"L"
    header[124:136] = b"%011o\0" % (1 << 30)
    header[148:156] = b"%06o\0 " % sum(b" " * 8 + bytes(header[:148]) + bytes(header[156:]))
    path = tmp_path / "long.tar.gz"
    path.write_bytes(gzip.compress(bytes(header) + bytes(1 << 22)))
    with pytest.raises((tfreel.UnsafeInputError, ValueError)):
        tfreel.pack(path, tmp_path / "out")


@pytest.mark.parametrize("size", [b"77777777777\0", b"\xff" * 12, b"\x80" + b"\x7f" * 11, b"-0000000001\0"])
def test_a_tar_whose_member_claims_more_than_there_is_is_refused(tmp_path: Path, size: bytes) -> None:
    header = bytearray(tarfile.TarInfo("a/1.png").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = size
    header[148:156] = b"%06o\0 " % sum(b" " * 8 + bytes(header[:148]) + bytes(header[156:]))
    for name, content in (("x.tar", bytes(header) + picture()), ("x.tar.gz", None)):
        path = tmp_path / name
        path.write_bytes(content or gzip.compress(bytes(header) + picture()))
        with pytest.raises((tfreel.TfreelError, ValueError)):
            tfreel.pack(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()


# Damage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
def test_an_archive_cut_off_anywhere_is_an_error_or_a_reject_and_never_a_traceback(
    tmp_path: Path, suffix: str
) -> None:
    photos = photo_folder(tmp_path / "photos", {"a": 3})
    path = tmp_path / f"in{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for file in sorted(photos.rglob("*.png")):
                out.write(file, file.relative_to(photos))
    else:
        tar_of(path, *((f"a/{i}.png", picture(i)) for i in range(3)))
    content = path.read_bytes()
    for number, keep in enumerate(range(0, len(content), max(1, len(content) // 23))):
        path.write_bytes(content[:keep])
        try:
            report = tfreel.pack(path, tmp_path / f"out{number}", on_error="skip")
        except (tfreel.TfreelError, ValueError):
            assert not list(tmp_path.glob(f"out{number}/*.tfrecord"))
        else:
            assert report.written <= 3


@pytest.mark.parametrize("seed", range(40))
def test_an_archive_with_a_flipped_bit_gives_true_pictures_or_says_why_not(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for i in range(3):
            out.writestr(f"a/{i}.png", picture(i))
    data = bytearray(path.read_bytes())
    place = (seed * 7919) % (8 * len(data))
    data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)
    true = {picture(i) for i in range(3)}
    try:
        tfreel.pack(path, tmp_path / "out", on_error="skip")
    except (tfreel.TfreelError, ValueError):
        return
    found = [tfreel.decode(record)["image/encoded"][0] for record in tfreel.read(tmp_path / "out")]
    assert set(found) <= true


def test_archives_of_the_wrong_name_are_told(tmp_path: Path) -> None:
    for name in ("x.zip", "x.tar", "x.tar.gz"):
        (tmp_path / name).write_bytes(b"<html>not found</html>" * 100)
        with pytest.raises(tfreel.UnsafeInputError, match="not a sound"):
            tfreel.pack(tmp_path / name, tmp_path / "out")


# Files that change under us ---------------------------------------------------------------------------------


def test_a_file_that_became_something_else_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    photos = photo_folder(tmp_path / "photos", {"a": 3})
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture(9))
    tree = Directory(str(photos))
    for name, replace in (("0.png", lambda path: os.symlink(secret, path)), ("1.png", os.mkfifo)):
        (photos / "a" / name).unlink()
        replace(photos / "a" / name)
    tree.read_ahead(["a/0.png", "a/1.png", "a/2.png", "../secret.png", "/etc/passwd", "a/gone.png"])
    with pytest.raises(Exception, match="became a link"):
        tree.read("a/0.png")
    with pytest.raises(Exception, match="not a regular file"):
        tree.read("a/1.png")
    assert tree.read("a/2.png") == picture(2)
    (photos / "a" / "2.png").write_bytes(b"grown" * 1000)
    assert tree.read("a/2.png") == b"grown" * 1000
    with pytest.raises(Exception, match="at most 100 are taken"):
        tree.read("a/2.png", limit=100)


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photos = photo_folder(tmp_path / "photos", {"a": 2, "b": 2})
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(tfreel.TfreelError, match=r"b/: Permission denied; on_error=.skip. leaves out"):
        tfreel.pack(photos, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    report = tfreel.pack(photos, tmp_path / "out", on_error="skip")
    assert skipped(report) == {"b/": "Permission denied"}


def test_zip_archives_are_read_by_many_threads_at_once(tmp_path: Path) -> None:
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for i in range(200):
            out.writestr(f"a/{i}.png", picture(i))
    tfreel.pack(path, tmp_path / "out", workers=8, shuffle=False)
    found = [tfreel.decode(record)["image/encoded"][0] for record in tfreel.read(tmp_path / "out")]
    assert found == [picture(i) for i in range(200)]
    assert archives.Zip(str(path)).entries["a/1.png"].version == zlib.crc32(picture(1))


def test_files_read_together_are_the_same_as_one_by_one(tmp_path: Path) -> None:
    contents = {f"{i}.bin": os.urandom(i * 37) for i in range(300)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    tree = Directory(str(tmp_path))
    tree.read_ahead(list(contents))
    for name, content in contents.items():
        (tmp_path / name).unlink()
        assert tree.read(name) == content
    with pytest.raises(FileNotFoundError):
        tree.read("5.bin")  # once is all
    os.symlink("/etc/passwd", tmp_path / "link")
    os.mkfifo(tmp_path / "fifo")
    paths = [os.fsencode(tmp_path / name) for name in ("link", "fifo", "gone", "")]
    assert _core.read_whole_files([*paths, b"/dev/zero"], follow_links=False, largest=1 << 20) == [None] * 5
    (found,) = _core.read_whole_files([paths[0]], follow_links=True, largest=1 << 20)
    assert found == Path("/etc/passwd").read_bytes()
    assert _core.read_whole_files([b"/etc/passwd"], follow_links=True, largest=3) == [None]
