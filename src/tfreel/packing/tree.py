"""Files by their names under one root, a directory or an archive. Nothing outside of it is ever read."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfreel import _core
from tfreel.errors import UnsafeInputError
from tfreel.packing.source import RejectError, Remark, digest
from tfreel.storage.names import natural_key
from tfreel.storage.paths import display

LARGEST_FILE_BYTES = 1 << 31  # what one record can hold


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a tree.

    Attributes:
        name: From the root, with slashes.
        bytes: How long it is said to be.
        version: Changes when its content does, as far as that is known.
    """

    name: str
    bytes: int
    version: int = 0


class Tree(ABC):
    """All regular files under a root.

    Attributes:
        path: Where the root is: a directory or an archive.
        entries: The files by their names, in natural order.
        skipped: What was found that is no regular file, or hidden.
        notes: What else the user should know of it, each a sentence.
        in_order: Reading in another order than that of the archive would be slow.
    """

    in_order = False

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: Mapping[str, Entry] = {}
        self.skipped: list[Remark] = []
        self.notes: list[str] = []

    @abstractmethod
    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        """The content of a file of the tree. Several threads call this at the same time.

        Raises:
            RejectError: It is larger than `limit`, or not what it was.
            OSError: It cannot be read.
        """

    def read_ahead(self, names: Sequence[str]) -> None:  # noqa: B027 - most trees have no use for it
        """Says which files this thread reads next: some trees read many faster than one by one."""

    def find(self, *parts: str) -> str:
        """The name of a file that another file of the tree speaks of.

        Raises:
            UnsafeInputError: It leads out of the tree.
            RejectError: There is no such file.
        """
        name = confined(*parts)
        if name not in self.entries:
            raise RejectError(f"{display(name)!r} is not there")
        return name

    def names(self, under: str = "", suffix: str | tuple[str, ...] = "") -> list[str]:
        """The files in a folder of the tree, and in those below it."""
        prefix = under.rstrip("/") + "/" if under else ""
        return [name for name in self.entries if name.startswith(prefix) and name.lower().endswith(suffix)]

    def folders(self, under: str = "") -> list[str]:
        """The names of the folders right in a folder of the tree that have files somewhere below."""
        prefix = under.rstrip("/") + "/" if under else ""
        heads = (name[len(prefix) :].partition("/") for name in self.entries if name.startswith(prefix))
        return sorted({head for head, slash, _ in heads if slash}, key=natural_key)

    def identity(self) -> str:
        """What changes when a file comes, goes or changes."""
        return digest(*((entry.name, entry.bytes, entry.version) for entry in self.entries.values()))

    def __contains__(self, name: str) -> bool:
        return name in self.entries


def confined(*parts: str) -> str:
    """A name in a tree, made of parts that somebody else wrote.

    Raises:
        UnsafeInputError: It is absolute, or leads out of the tree.
    """
    joined = "/".join(parts).replace("\\", "/")
    clean = posixpath.normpath(joined)
    last = parts[-1].replace("\\", "/")
    if last.startswith("/") or "\0" in joined or clean.startswith(("../", "/")) or clean in (".", ".."):
        raise UnsafeInputError(f"{display(last)!r} leads out of the data set", kind="path_escapes")
    if len(last) > 1 and last[1] == ":" and last[0].isalpha():
        raise UnsafeInputError(f"{display(last)!r} is an absolute path", kind="path_escapes")
    return clean


class Directory(Tree):
    """A directory on disk. Links are not followed unless asked for."""

    def __init__(self, path: str, *, follow_links: bool = False) -> None:
        super().__init__(path)
        self._follow = follow_links
        self._ahead = threading.local()
        found = sorted(self._walk(), key=lambda entry: natural_key(entry.name))
        self.entries = {entry.name: entry for entry in found}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_ahead"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _ahead=threading.local())

    def _walk(self) -> Iterator[Entry]:
        pending = [""]
        seen: set[tuple[int, int]] = set()  # the way of links may lead in a circle
        while pending:
            folder = pending.pop()
            try:
                here = os.stat(self._full(folder))
                entries = list(os.scandir(self._full(folder)))
            except OSError as error:
                if not folder:
                    raise
                self._skip(folder + "/", error.strerror or "cannot be read", lost=True)
                continue
            if (here.st_dev, here.st_ino) in seen:
                self._skip(folder + "/", "was met before, by way of a link")
                continue
            seen.add((here.st_dev, here.st_ino))
            for found in entries:
                name = f"{folder}/{found.name}" if folder else found.name
                entry = self._look(found, name, pending)
                if entry is not None:
                    yield entry

    def _look(self, found: os.DirEntry[str], name: str, pending: list[str]) -> Entry | None:
        if found.name.startswith(".") or found.name in _LITTER:
            self._skip(name, "hidden")
            return None
        if found.is_symlink() and not self._follow:
            self._skip(name, "a link; follow_links=True follows it")
            return None
        try:
            info = found.stat()
        except OSError as error:
            self._skip(name, error.strerror or "cannot be read", lost=True)
            return None
        if stat.S_ISDIR(info.st_mode):
            pending.append(name)
            return None
        if not stat.S_ISREG(info.st_mode):
            self._skip(name, "not a regular file")
            return None
        return Entry(name, info.st_size, info.st_mtime_ns)

    def _skip(self, name: str, reason: str, *, lost: bool = False) -> None:
        self.skipped.append(Remark(name, reason, lost=lost))

    def _full(self, name: str) -> str:
        return f"{self.path}/{name}" if name else self.path

    def read_ahead(self, names: Sequence[str]) -> None:
        names = [name for name in names if name in self.entries]
        paths = [os.fsencode(self._full(name)) for name in names]
        contents = _core.read_whole_files(paths, follow_links=self._follow, largest=LARGEST_FILE_BYTES)
        self._ahead.contents = dict(zip(names, contents, strict=True))

    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        ahead: dict[str, bytes | None] = getattr(self._ahead, "contents", {})
        data = ahead.pop(name, None)
        if data is not None and len(data) <= limit:
            return data
        return _read_regular(self._full(name), limit, follow_link=self._follow)


class Below(Tree):
    """A folder of a tree, as a tree of its own."""

    def __init__(self, tree: Tree, folder: str) -> None:
        super().__init__(tree.path)
        self.in_order = tree.in_order
        self._tree = tree
        self._prefix = f"{folder}/"
        entries = {}
        for name, entry in tree.entries.items():
            if name.startswith(self._prefix):
                own = name.removeprefix(self._prefix)
                entries[own] = replace(entry, name=own)
            else:
                self.skipped.append(Remark(name, f"not in {display(folder)}/, where all pictures are"))
        self.entries = entries
        self.skipped += tree.skipped
        self.notes += tree.notes

    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        return self._tree.read(self._prefix + name, limit)

    def read_ahead(self, names: Sequence[str]) -> None:
        self._tree.read_ahead([self._prefix + name for name in names])


class FileList(Tree):
    """Files that were named one by one, wherever they are: in the order in which they were named."""

    def __init__(self, paths: Sequence[str]) -> None:
        folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
        root = os.path.commonpath(folders) if folders else "."
        super().__init__(root)
        self._paths = {os.path.relpath(path, root): path for path in paths}
        if len(self._paths) < len(paths):
            twice = next(path for path in paths if list(paths).count(path) > 1)
            raise ValueError(f"{display(twice)} is named twice")
        self.entries = {name: self._entry(name, path) for name, path in self._paths.items()}

    def _entry(self, name: str, path: str) -> Entry:
        info = os.stat(path)
        return Entry(name, info.st_size, info.st_mtime_ns)

    def read(self, name: str, limit: int = LARGEST_FILE_BYTES) -> bytes:
        return _read_regular(self._paths[name], limit, follow_link=True)


def _read_regular(path: str, limit: int, *, follow_link: bool) -> bytes:
    # It was a regular file when we looked. What is there now must not make us wait, or lead elsewhere.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow_link else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RejectError("became a link") from None
        raise
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise RejectError("not a regular file")
        if info.st_size > limit:
            raise RejectError(f"has {info.st_size:,} bytes; at most {limit:,} are taken")
        return _read_whole(descriptor, info.st_size, limit)
    finally:
        os.close(descriptor)


_LITTER = frozenset({"Thumbs.db", "desktop.ini", "__MACOSX"})


def _read_whole(descriptor: int, size: int, limit: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:  # as almost always
        return data
    parts = [data]
    while data and sum(map(len, parts)) <= limit:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
    return b"".join(parts)
