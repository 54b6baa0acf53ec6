"""The indexes of the files of a set: all in memory, or of a very large set each when its records are wanted.

Of such a set the headers of the sidecars are read when it is opened: how many records each file has is all
that orders, shares and states are made of. It costs an array for all files, and no object for any of them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, Self, overload

import numpy as np
import numpy.typing as npt

from tfreel.compression import Codec
from tfreel.errors import StaleIndexError
from tfreel.index.build import changed_since, load_promised
from tfreel.index.rows import ARE_POSSIBLE, Rows, stamp_of
from tfreel.index.sidecar import (
    HEADER_BYTES,
    ROW_BYTES,
    FileIndex,
    Header,
    cached_path,
    parse_header,
    stream_fits,
)
from tfreel.storage.paths import INDEX_SUFFIX
from tfreel.storage.remote.stores import store_of
from tfreel.storage.url import Url
from tfreel.threads import ALONE, Turn, in_threads, thread_count

LARGEST_BYTES = 256 << 20  # of all indexes together, if they are loaded when their files are opened
_FILE_BYTES = 1024  # what an index in memory costs besides its rows
_FILES_PER_TURN = 64
_REQUESTS_AT_ONCE = 64  # of a store: they are waited for, and not worked at
_FRAME_BYTES = 16
_MOST_BYTES, _MOST_RECORDS = 1 << 62, 1 << 40  # that a file is believed to have: sums cannot overflow
_CODECS: tuple[Codec, ...] = ("none", "gzip", "zlib")
_NOWHERE, _BESIDE, _CACHED = range(3)
_FACTS = np.dtype(
    [
        ("count", np.int64),
        ("size", np.int64),
        ("mtime_ns", np.int64),
        ("stream_bytes", np.int64),
        ("fingerprint", np.void, 32),
        ("codec", np.uint8),
        ("sidecar", np.uint8),
        ("checked", np.bool_),
        ("stamp", np.int64, 2),  # of the sidecar, when it was checked
    ]
)


class Find(Protocol):
    """Gives the index of a file, or says what is wrong with it."""

    def __call__(self, path: str, turn: Turn, *, seen: bool) -> FileIndex:
        """Told whether the sidecar beside the file was seen already."""


class Indexes(Sequence[FileIndex]):
    """The index of each file. Threads may share it, a fork may inherit it, and it can be pickled."""

    def __init__(
        self,
        files: list[str],
        facts: npt.NDArray[Any],
        held: dict[int, FileIndex],
        find: Find | None = None,
    ) -> None:
        """Indexes that are there, and those that `find` can find.

        Args:
            files: The files.
            facts: What is known of each.
            held: The indexes that no sidecar could give again; or all, if they are small.
            find: Finds the others, should their sidecars not be what they promised to be.
        """
        self._files = files
        self._facts = facts
        self._held = held
        self._find = find

    @classmethod
    def of(cls, files: list[str], indexes: Sequence[FileIndex]) -> Self:
        """Indexes that are there already."""
        if isinstance(indexes, cls):
            return indexes
        facts = np.zeros(len(files), _FACTS)
        facts["count"] = [len(index) for index in indexes]
        facts["codec"] = [_CODECS.index(index.codec) for index in indexes]
        return cls(files, facts, dict(enumerate(indexes)))

    @classmethod
    def joined(cls, parts: Sequence[Indexes]) -> Self:
        """Those of all files of all parts."""
        held = {}
        start = 0
        for part in parts:
            held.update({start + file: index for file, index in part._held.items()})
            start += len(part)
        files = [file for part in parts for file in part._files]
        finds = [part._find for part in parts if part._find is not None]
        return cls(files, np.concatenate([part._facts for part in parts]), held, finds[0] if finds else None)

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, file: int) -> FileIndex: ...
    @overload
    def __getitem__(self, file: slice) -> list[FileIndex]: ...

    def __getitem__(self, file: int | slice) -> FileIndex | list[FileIndex]:
        if isinstance(file, slice):
            return [self[i] for i in range(*file.indices(len(self)))]
        held = self._held.get(file)
        if held is not None:
            return held
        return self._load(file)

    def rows(self, file: int) -> Rows | None:
        """The index of a file without its rows, to be asked for those that are wanted.

        Returns:
            None if it is in memory already, or has to be loaded as a whole: to be checked at first, and
            from a store always.
        """
        path, row = self._files[file], self._facts[file]
        if file in self._held or not row["checked"] or isinstance(path, Url) or not ARE_POSSIBLE:
            return None
        sidecar = _sidecar(path, int(row["sidecar"]))
        return Rows(sidecar, tuple(row["stamp"].tolist()), _promise(row), partial(self._load, file))

    def _load(self, file: int) -> FileIndex:
        path, row = self._files[file], self._facts[file]
        promise = _promise(row)
        sidecar = _sidecar(path, int(row["sidecar"]))
        try:
            stamp = None if isinstance(path, Url) else stamp_of(os.stat(sidecar))
            same = row["checked"] and (stamp is None or stamp == tuple(row["stamp"].tolist()))
            index = load_promised(path, sidecar, promise, checked=bool(same))
        except StaleIndexError as error:
            if error.kind == "file_changed" or self._find is None:
                raise
        else:
            if stamp is not None:
                row["stamp"] = stamp
            row["checked"] = True
            return index
        index = self._find(path, ALONE, seen=False)  # from elsewhere, or anew; or it says what to do
        if index.fingerprint != promise.fingerprint:
            raise changed_since(path)
        return index

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many records each file has."""
        counts: npt.NDArray[np.int64] = self._facts["count"]
        return counts

    @property
    def are_plain(self) -> bool:
        """Whether no file is compressed."""
        return not self._facts["codec"].any()

    @property
    def are_held(self) -> bool:
        """Whether all of them are in memory, and cost no more to get."""
        return len(self._held) == len(self)

    @property
    def are_promised(self) -> bool:
        """Whether none of them is in memory: each is loaded when it is wanted."""
        return len(self) > 0 and not self._held

    @property
    def stream_bytes(self) -> int:
        """The bytes of all records, with their frames."""
        ends = (int(i.offsets[-1] + i.lengths[-1]) for i in self._held.values() if len(i))
        return sum(end + _FRAME_BYTES for end in ends) + int(self._facts["stream_bytes"].sum())

    @property
    def fingerprints(self) -> bytes:
        """What each file holds, as a hash, one behind the other."""
        found = self._facts["fingerprint"].copy()
        for file, index in self._held.items():
            found[file] = np.void(index.fingerprint)
        content: bytes = found.tobytes()
        return content


def find_indexes(files: list[str], find: Find, threads: int | None, *, by_sidecars: bool) -> Indexes:
    """The indexes of all files: loaded, or promised if they are many.

    Args:
        files: The files.
        find: Gives the index of a file.
        threads: For how many files at a time; all processors by default.
        by_sidecars: Whether `find` takes them from sidecars where it can.
    """
    facts = np.zeros(len(files), _FACTS)

    def look(file: int, turn: Turn) -> None:
        turn()
        _look(files[file], facts, file)

    if by_sidecars:
        _in_turns(look, files, threads)
        if int(facts["count"].sum()) * ROW_BYTES + len(files) * _FILE_BYTES > LARGEST_BYTES:
            return _promised(files, facts, find, threads)

    def found(file: int, turn: Turn) -> FileIndex:
        return find(files[file], turn, seen=facts[file]["sidecar"] == _BESIDE)

    return Indexes.of(files, in_threads(found, range(len(files)), threads))


def _promised(files: list[str], facts: npt.NDArray[Any], find: Find, threads: int | None) -> Indexes:
    held: dict[int, FileIndex] = {}

    def settle(file: int, turn: Turn) -> None:
        turn()
        if _is_as_promised(files[file], facts[file]):
            return
        index = find(files[file], turn, seen=facts[file]["sidecar"] == _BESIDE)
        _look(files[file], facts, file)
        row = facts[file]
        if row["sidecar"] and row["fingerprint"].tobytes() == index.fingerprint:
            row["mtime_ns"] = index.mtime_ns  # of the file, which was looked at as a whole
        else:
            held[file] = index
            row["count"], row["codec"], row["stream_bytes"] = len(index), _CODECS.index(index.codec), 0

    _in_turns(settle, files, threads)
    return Indexes(files, facts, held, find)


def _in_turns(work: Callable[[int, Turn], None], files: list[str], threads: int | None) -> None:
    """Has threads see to each file, by its number: some at a time, for millions would be too many tasks."""
    count = thread_count(threads)
    if any(isinstance(file, Url) for file in files):
        count = max(count, _REQUESTS_AT_ONCE)
    size = max(1, min(_FILES_PER_TURN, len(files) // count))

    def see_to(some: range, turn: Turn) -> None:
        for file in some:
            work(file, turn)

    in_threads(see_to, [range(i, min(i + size, len(files))) for i in range(0, len(files), size)], count)


def _look(path: str, facts: npt.NDArray[Any], file: int) -> None:
    """Notes what the header of a sidecar says; nothing if there is none that can be."""
    facts[file] = np.zeros((), _FACTS)
    for where in (_BESIDE, _CACHED):
        found = _read_header(_sidecar(path, where))
        if found is not None:
            facts[file] = (
                found.records,
                found.size,
                found.mtime_ns,
                found.stream_bytes,
                np.void(found.fingerprint),
                _CODECS.index(found.codec),
                where,
                False,
                (0, 0),
            )
            return


def _read_header(sidecar: str) -> Header | None:
    try:
        content, size = _beginning(sidecar)
        header = parse_header(content, sidecar)
    except (OSError, StaleIndexError):  # if it is there, whoever reads all of it says what is wrong
        return None
    possible = stream_fits(header) and header.records * _FRAME_BYTES <= header.stream_bytes
    possible = possible and header.size < _MOST_BYTES and header.records < _MOST_RECORDS
    return header if possible and size in (None, header.sidecar_bytes) else None


def _beginning(path: str) -> tuple[bytes, int | None]:
    """The first bytes of a sidecar, and its size where that costs nothing."""
    if isinstance(path, Url):
        return bytes(store_of(path).read_ranges(path, [0], [HEADER_BYTES])[0]), None
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.pread(descriptor, HEADER_BYTES, 0), os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _is_as_promised(path: str, row: Any) -> bool:
    """Whether the file has the size and time of which its sidecar is; of an object that is seen later."""
    if not row["sidecar"] or isinstance(path, Url):
        return bool(row["sidecar"])
    try:
        now = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(now.st_mode) and (now.st_size, now.st_mtime_ns) == (row["size"], row["mtime_ns"])


def _promise(row: Any) -> Header:
    return Header(
        _CODECS[row["codec"]],
        int(row["size"]),
        int(row["mtime_ns"]),
        int(row["stream_bytes"]),
        int(row["count"]),
        row["fingerprint"].tobytes(),
    )


def _sidecar(path: str, where: int) -> str:
    return cached_path(path) if where == _CACHED else path + INDEX_SUFFIX
