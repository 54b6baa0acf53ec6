"""Archives as trees: their members are read where they lie, and never extracted.

Nothing that an archive says of itself is believed: names are confined, sizes are checked against what is
there, and links, devices and the like are skipped.
"""

from __future__ import annotations

import struct
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from tfreel.compression import CodecError
from tfreel.errors import UnsafeInputError
from tfreel.index.seek import open_seekable
from tfreel.packing.chinese import is_gbk
from tfreel.packing.source import RejectError, Remark, digest
from tfreel.packing.tree import LARGEST_FILE_BYTES, Entry, Tree, confined
from tfreel.storage.files import LocalFile
from tfreel.storage.names import natural_key
from tfreel.storage.paths import display

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz")

_STANDARD = "cp437"  # of names in a zip archive that are not said to be UTF-8
_SAYS_UTF8 = 0x800
_MOST_MEMBERS = 10_000_000
_MOST_RATIO = 1000  # of a member's size to what it takes in the archive: deflate makes at most 1,032
_RATIO_BYTES = 1 << 24  # below which no ratio is suspect
_LARGEST_TOTAL_BYTES = 1 << 44
_UNPACKING_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)


class Zip(Tree):
    """A zip archive."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._local = threading.local()
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError) as error:
            raise UnsafeInputError(
                f"{display(path)}: not a sound zip archive ({error})", path=path, kind="archive_corrupt"
            ) from None
        self._encoding = _encoding_of({raw for member in members if (raw := _raw_name(member))})
        if self._encoding != "utf-8":
            self.notes.append(_of_names(self._encoding))
        self._members = dict(self._wanted(members))
        ordered = sorted(self._members, key=natural_key)
        self.entries = {
            name: Entry(name, self._members[name].file_size, self._members[name].CRC) for name in ordered
        }
        _check_overlap(path, list(self._members.values()))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _local=threading.local())

    def _wanted(self, members: list[zipfile.ZipInfo]) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        if len(members) > _MOST_MEMBERS:
            raise _bomb(self.path, f"{len(members):,} members")
        seen: set[str] = set()
        for member in members:
            if member.is_dir():
                continue
            raw = _raw_name(member)
            name = _safe_name(self, raw.decode(self._encoding) if raw else member.filename)
            if name is None:
                continue
            if member.external_attr >> 16 & 0o170000 not in (0, 0o100000):
                self.skipped.append(Remark(name, "not a regular file"))
            elif member.flag_bits & 1:
                self.skipped.append(Remark(name, "encrypted"))
            elif name in seen:
                self.skipped.append(Remark(name, "is in the archive twice: the first one is taken"))
            else:
                seen.add(name)
                yield name, member

    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        member = self._members[name]
        if member.file_size > limit:
            raise RejectError(f"has {member.file_size:,} bytes; at most {limit:,} are taken")
        if member.file_size > max(_RATIO_BYTES, _MOST_RATIO * member.compress_size):
            raise RejectError(f"unpacks {member.compress_size:,} bytes to {member.file_size:,}: a bomb")
        try:
            with self._archive().open(member) as file:
                data = file.read(member.file_size + 1)
        except _UNPACKING_ERRORS as error:
            raise RejectError(f"cannot be unpacked: {error}") from None
        if len(data) != member.file_size:
            raise RejectError(f"has {len(data):,} bytes or more, not {member.file_size:,} as it says")
        return data

    def _archive(self) -> zipfile.ZipFile:
        """The archive, open for this thread alone: a shared one would make all others wait."""
        archive: zipfile.ZipFile | None = getattr(self._local, "archive", None)
        if archive is None:
            archive = self._local.archive = zipfile.ZipFile(self.path)
        return archive


def _raw_name(member: zipfile.ZipInfo) -> bytes:
    """The name as it is written; empty if it is ASCII, or if the archive says what it is written in."""
    told = member.flag_bits & _SAYS_UTF8 or member.filename != member.orig_filename.partition("\0")[0]
    return b"" if told or member.filename.isascii() else member.filename.encode(_STANDARD)


def _encoding_of(names: Collection[bytes]) -> str:
    """What names are written in, of which the archive does not say so: Chinese Windows has GBK there."""
    with suppress(UnicodeDecodeError):
        for name in names:
            name.decode("utf-8")
        return "utf-8"
    return "gbk" if is_gbk(names) else _STANDARD


def _of_names(encoding: str) -> str:
    return f"the archive does not say what names in it are written in; they are read as {encoding.upper()}"


def _check_overlap(path: str, members: list[zipfile.ZipInfo]) -> None:
    """Refuses members that lie in each other: the one way in which a small archive can hold so much."""
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise _bomb(path, f"members that lie in each other, such as {display(member.filename)!r}")
        end = member.header_offset + member.compress_size


class Tar(Tree):
    """A tar archive, perhaps compressed with gzip."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        file = LocalFile(path)
        self._version = file.identity.mtime_ns
        compressed = file.read(2, 0) == b"\x1f\x8b"
        self._source: Any = _opened(file, compressed=compressed)
        self._limit = _LARGEST_TOTAL_BYTES if compressed else file.size
        self.in_order = compressed
        self._places: dict[str, tuple[int, int]] = {}
        try:
            found = list(self._walk())
        except (tarfile.TarError, CodecError, ValueError, OverflowError, EOFError) as error:
            raise UnsafeInputError(
                f"{display(path)}: not a sound tar archive ({error})", path=path, kind="archive_corrupt"
            ) from None
        if not compressed:
            found.sort(key=lambda entry: natural_key(entry.name))
        self.entries = {entry.name: entry for entry in found}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_source"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._source = _opened(LocalFile(self.path), compressed=self.in_order)

    def _walk(self) -> Iterator[Entry]:
        stream: Any = _Stream(self._source, self._limit)
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for count, member in enumerate(archive):
                if count >= _MOST_MEMBERS:
                    raise _bomb(self.path, f"more than {_MOST_MEMBERS:,} members")
                archive.members = []  # type: ignore[attr-defined]  # or it keeps them all
                if member.isdir():
                    continue
                name = _safe_name(self, member.name)
                if name is None:
                    continue
                if member.size < 0:
                    raise tarfile.ReadError(f"{display(name)!r} has a size below zero")
                if not member.isreg() or member.issparse():
                    self.skipped.append(Remark(name, "not a regular file"))
                elif name in self._places:
                    self.skipped.append(Remark(name, "is in the archive twice: the first one is taken"))
                else:
                    self._places[name] = member.offset_data, member.size
                    yield Entry(name, member.size, self._version)

    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        offset, size = self._places[name]
        if size > limit:
            raise RejectError(f"has {size:,} bytes; at most {limit:,} are taken")
        try:
            data: bytes = self._source.read(size, offset)
        except CodecError as error:
            raise RejectError(str(error)) from None
        if len(data) != size:
            raise RejectError(f"the archive ends before it does: {len(data):,} of {size:,} bytes are there")
        return data

    def offset(self, name: str) -> int:
        """Where a member begins: those that belong together lie together."""
        return self._places[name][0]

    def identity(self) -> str:
        return digest(super().identity(), sorted(self._places.items()))


def _opened(file: LocalFile, *, compressed: bool) -> Any:
    return open_seekable(file, "gzip") if compressed else file


class _Stream:
    """The plain bytes of an archive as a file to read from, for the walk over its headers."""

    def __init__(self, source: Any, limit: int) -> None:
        self._source = source
        self._limit = limit
        self._at = 0

    def read(self, size: int) -> bytes:
        data: bytes = self._source.read(min(size, 1 << 20), self._at)
        self._at += len(data)
        return data

    def seek(self, offset: int) -> int:
        if not 0 <= offset <= self._limit:
            raise tarfile.ReadError(f"a member says that it goes on to byte {offset:,}")
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at


def _safe_name(tree: Tree, name: str) -> str | None:
    """The name of a member, if it is one that we want."""
    try:
        clean = confined(name)
    except UnsafeInputError as error:
        tree.skipped.append(Remark(name, str(error)))
        return None
    if any(part.startswith(".") or part == "__MACOSX" for part in clean.split("/")):
        tree.skipped.append(Remark(clean, "hidden"))
        return None
    return clean


def _bomb(path: str, what: str) -> UnsafeInputError:
    return UnsafeInputError(f"{display(path)}: the archive has {what}", path=path, kind="archive_bomb")
