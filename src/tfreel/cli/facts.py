"""What can be said about files without looking into their records: sizes, counts, what lies beside them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfreel.cli.output import number, plural, size

if TYPE_CHECKING:
    from tfreel.cli.progress import Progress

_HEAD_BYTES = 1 << 12
_NOT_COUNTED = "not counted"


@dataclass(frozen=True, slots=True)
class _File:
    """One file. None is not counted."""

    path: str
    size: int
    codec: str
    records: int | None = None
    bytes: int | None = None
    indexed: bool = False
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of all files together."""

    files: Sequence[_File]
    manifests: list[str]

    @property
    def ok(self) -> bool:
        """Whether no file turned out to be damaged."""
        return all(file.ok for file in self.files)

    @property
    def records(self) -> int | None:
        """Of all files."""
        return _sum([file.records for file in self.files])

    @property
    def bytes(self) -> int | None:
        """Of all records with their frames, uncompressed."""
        return _sum([file.bytes for file in self.files])

    @property
    def size(self) -> int:
        """Of all files, in bytes."""
        return sum(file.size for file in self.files)

    @property
    def ratio(self) -> float | None:
        """How much smaller compression made the files; None without any, or if it is not known."""
        plain = all(file.codec == "none" for file in self.files)
        return None if plain or not self.bytes or not self.ok else self.bytes / self.size

    @property
    def codecs(self) -> Counter[str]:
        """How many files are compressed how."""
        return Counter(file.codec for file in self.files)

    @property
    def indexed(self) -> int:
        """How many files have an index that fits."""
        return sum(file.indexed for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """The facts for a program."""
        return {
            "files": len(self.files),
            "records": self.records,
            "bytes": self.bytes,
            "bytes_on_disk": self.size,
            "compression_ratio": self.ratio,
            "codecs": dict(self.codecs),
            "indexed": self.indexed,
            "manifests": self.manifests,
            "ok": self.ok,
        }

    def lines(self) -> list[tuple[str, str]]:
        """The facts for a person."""
        return [
            ("files", self._files()),
            ("records", self._records()),
            ("size", self._size()),
            ("index", self._index()),
            *(("manifest", path) for path in self.manifests),
        ]

    def _files(self) -> str:
        if not self.files:
            return "none"
        first, last = self.files[0].path, self.files[-1].path
        return (
            first
            if len(self.files) == 1
            else f"{number(len(self.files))}: {first} … {os.path.basename(last)}"
        )

    def _records(self) -> str:
        if self.records is None:
            return _NOT_COUNTED
        text = number(self.records) + ("" if self.ok else ", up to the first fault of each damaged file")
        counts = [file.records or 0 for file in self.files]
        return f"{text}; {_between(counts)} in a file" if len(counts) > 1 else text

    def _size(self) -> str:
        codecs = " and ".join(codec for codec in self.codecs if codec != "none")
        if not codecs:
            return f"{size(self.size)}, not compressed"
        mixed = "none" in self.codecs
        ratio = f"{self.ratio:.2f} : 1{' in all' if mixed else ''}" if self.ratio is not None else ""
        inflated = f"; {size(self.bytes or 0)} inflated, {ratio}" if ratio else ""
        return f"{size(self.size)}{', partly' if mixed else ' of'} {codecs}{inflated}"

    def _index(self) -> str:
        if 0 < self.indexed == len(self.files):
            return "beside the file" if self.indexed == 1 else "beside every file"
        if self.indexed:
            some = f"beside {number(self.indexed)} of {plural(len(self.files), 'file')}"
            return f"{some}; tfreel index makes the others"
        none = "stale" if any(map(_is_stale, self.files)) else "none"
        return f"{none}; tfreel index makes one" if self.ok else none


def gather(files: list[str], counted: bool, progress: Progress) -> Facts:
    """The facts about these files; without an index they are read from end to end, if `counted`."""
    from tfreel.storage.names import manifest_beside

    found = [_indexed(path) or _read(path, counted, progress) for path in files]
    manifests = dict.fromkeys(manifest_beside(path) for path in files)
    return Facts(found, [path for path in manifests if path is not None])


def _indexed(path: str) -> _File | None:
    from tfreel.errors import StaleIndexError
    from tfreel.index.build import load_sidecar
    from tfreel.index.sidecar import find_sidecars

    for sidecar in find_sidecars(path):
        with suppress(StaleIndexError):
            index = load_sidecar(path, sidecar)
            return _File(path, index.size, index.codec, len(index), index.stream_bytes, indexed=True)
    return None


def _is_stale(file: _File) -> bool:
    """Whether there is an index beside a file, and it is of another state of it."""
    from tfreel.index.sidecar import find_sidecars

    return not file.indexed and bool(find_sidecars(file.path))


def _read(path: str, counted: bool, progress: Progress) -> _File:
    from tfreel.cli.count import count_file
    from tfreel.compression import detect
    from tfreel.storage.places import open_file

    file = open_file(path)
    if not counted:
        return _File(path, file.size, detect(file.read(_HEAD_BYTES, 0)))
    row = count_file(path, True, progress)
    return _File(path, file.size, row["codec"], row["records"], row["bytes"], ok=row["ok"])


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _between(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return number(least) if least == most else f"{number(least)} to {number(most)}"
