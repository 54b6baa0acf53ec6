"""`fingerprint`: one short word for all records of a set, whatever their order, shards and compression."""

from __future__ import annotations

import hashlib
import struct
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.errors import StaleIndexError
from tfreel.index.build import load_sidecar
from tfreel.index.sidecar import find_sidecars
from tfreel.profile.sets import files_of
from tfreel.records.frames import ReadOptions
from tfreel.records.parts import Progress, visit_in_parts
from tfreel.records.read import read
from tfreel.storage.names import Paths
from tfreel.threads import Turn, in_threads

U64 = npt.NDArray[np.uint64]

_WORD = (1 << 64) - 1
_STEP = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What `fingerprint` gives. Two sets with the same records, in any order, have equal ones.

    Attributes:
        kind: ``"quick"``, of lengths and stored checksums; or ``"strong"``, of every byte.
        digest: In hexadecimal digits.
        records: How many.
        bytes: Of all records, without their frames.
        files: How many they came in. It is not part of the digest, and does not count when two are compared.
    """

    kind: Literal["quick", "strong"]
    digest: str
    records: int
    bytes: int
    files: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.digest}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def to_dict(self) -> dict[str, Any]:
        """The fingerprint as plain values, for JSON."""
        return {"fingerprint": str(self), **asdict(self)}


def fingerprint(
    paths: Paths,
    *,
    strong: bool = False,
    verify: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Fingerprint:
    """A short word for the records of some files: the same in any order, sharding and compression.

    Where two fingerprints differ, so do the records. Where two quick ones are equal, a record that was
    changed without changing its length has escaped with a chance of one in four billion; somebody who wants
    to can make such a record. Nobody is known to be able to do that to strong ones.

    Args:
        paths: As in `tfreel.read`; or a folder, of which all files of records are taken.
        strong: Hash every byte, instead of the length and the stored checksum of each record.
        verify: Check every payload against its checksum. ``False`` believes the checksums, and the index
            beside a file, if there is one: then nothing else is read.
        threads: Files, and parts of large files, read at the same time; all processors by default.
        progress: Called with the number of records and bytes read since the last call.

    Raises:
        CorruptError: A file is damaged.

    Example:
        >>> with tfreel.Writer("one.tfrecord") as out:
        ...     out.write_many([b"cat", b"dog"])
        >>> with tfreel.Writer("other.tfrecord.gz") as out:
        ...     out.write_many([b"dog", b"cat"])
        >>> one = tfreel.profile.fingerprint("one.tfrecord")
        >>> str(one), one == tfreel.profile.fingerprint("other.tfrecord.gz")
        ('quick:2377c0b5f2d6a0cc988922442bd5f322', True)
    """

    def work(file: str | BinaryIO, turn: Turn) -> _Sum:
        return _sum_of_file(file, strong=strong, verify=verify, turn=turn, progress=progress)

    files = files_of(paths)
    total = _Sum(strong=strong)
    for found in in_threads(work, files, threads):
        total.merge(found)
    return total.fingerprint(len(files))


class _Sum:
    """The sum over some records."""

    def __init__(self, *, strong: bool) -> None:
        self.records = 0
        self.bytes = 0
        self._lanes = [0, 0]
        self._strong = _core.StrongSum() if strong else None

    def add(self, block: _core.Block) -> None:
        """Adds the records of a block."""
        if self._strong is not None:
            self.records += len(block)
            self.bytes += int(block.lengths.sum())
            self._strong.add(block)
        else:
            self.add_checked(block.lengths, block.checksums)

    def add_checked(self, lengths: U64, checksums: npt.NDArray[np.uint32]) -> None:
        """Adds records by what is stored of them."""
        self.records += len(lengths)
        self.bytes += int(lengths.sum())
        first = _stirred(_stirred(lengths) ^ checksums.astype(np.uint64))
        for lane, values in enumerate((first, _stirred(first))):
            self._lanes[lane] = (self._lanes[lane] + int(values.sum(dtype=np.uint64))) & _WORD

    def merge(self, other: _Sum) -> None:
        """Adds the records of another sum."""
        self.records += other.records
        self.bytes += other.bytes
        self._lanes = [(a + b) & _WORD for a, b in zip(self._lanes, other._lanes, strict=True)]
        if self._strong is not None and other._strong is not None:
            self._strong.merge(other._strong)

    def fingerprint(self, files: int) -> Fingerprint:
        """What it comes to."""
        counted = struct.pack("<QQ", self.records, self.bytes)
        if self._strong is not None:
            digest = hashlib.blake2b(counted + self._strong.digest(), digest_size=32).hexdigest()
            return Fingerprint("strong", digest, self.records, self.bytes, files)
        digest = hashlib.blake2b(counted + struct.pack("<QQ", *self._lanes), digest_size=16).hexdigest()
        return Fingerprint("quick", digest, self.records, self.bytes, files)


def _stirred(values: U64) -> U64:
    """The numbers, so changed that sums of them tell all of them apart (the last steps of SplitMix64)."""
    x = values + _STEP
    x = (x ^ (x >> np.uint64(30))) * _STIR[0]
    x = (x ^ (x >> np.uint64(27))) * _STIR[1]
    return x ^ (x >> np.uint64(31))


def _sum_of_file(
    file: str | BinaryIO, *, strong: bool, verify: bool, turn: Turn, progress: Progress | None
) -> _Sum:
    total = _Sum(strong=strong)
    path = file if isinstance(file, str) and file != "-" else None
    if path is not None and not strong and not verify and _add_from_index(total, path, turn):
        return total

    def visit(block: _core.Block) -> _Sum:
        found = _Sum(strong=strong)
        found.add(block)
        return found

    options = ReadOptions(verify=verify)
    found = None if path is None else visit_in_parts(path, visit, options, turn=turn, progress=progress)
    if found is not None:
        for part in found:
            total.merge(part)
        return total
    for block in read([file], verify=verify).blocks():
        turn()
        total.add(block)
        if progress is not None:
            progress(len(block), block.nbytes)
    return total


def _add_from_index(total: _Sum, path: str, turn: Turn) -> bool:
    """Adds what the index beside the file says, if there is one that fits."""
    for sidecar in find_sidecars(path):
        with suppress(StaleIndexError):
            index = load_sidecar(path, sidecar, turn)
            total.add_checked(index.lengths, index.checksums)
            return True
    return False
