"""Digests of any number of records, brought together by content: in memory, or else on the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

# One record, or one value in it: its digest, which set and file it is of, the number of the record in that
# file, where that begins, and a word of the digest of all of the record.
ENTRY = np.dtype(
    [
        ("digest", "<u8", 2),
        ("set", "<u4"),
        ("file", "<u4"),
        ("record", "<u8"),
        ("offset", "<u8"),
        ("content", "<u8"),
    ]
)
Entries = npt.NDArray[Any]

_MOST_IN_MEMORY = 2_000_000  # entries, some 100 MB
_PARTS = 256


class Groups:
    """Entries in any order in; those with the same digest, side by side, out.

    Args:
        most_in_memory: More entries than that, two million by default, are kept in files of a temporary
            folder, by the first bits of their digests, and come back one file after the other.
    """

    def __init__(self, most_in_memory: int | None = None) -> None:
        self._most = _MOST_IN_MEMORY if most_in_memory is None else most_in_memory
        self._held: list[Entries] = []
        self._count = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add(self, entries: Entries) -> None:
        """Adds some records."""
        self._held.append(entries)
        self._count += len(entries)
        if self._count > self._most:
            self._spill()

    def sorted_parts(self) -> Iterator[Entries]:
        """All entries, sorted by digest; those with the same one stay in the order in which they came.

        No digest is in two parts.
        """
        if self._folder is None:
            yield _sorted(np.concatenate([np.empty(0, ENTRY), *self._held]))
            return
        self._spill()
        for name in sorted(os.listdir(self._folder.name)):
            yield _sorted(np.fromfile(os.path.join(self._folder.name, name), ENTRY))

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tfreel-")
        entries = np.concatenate([np.empty(0, ENTRY), *self._held])
        self._held, self._count = [], 0
        parts = (entries["digest"][:, 0] >> np.uint64(56)).astype(np.int64)
        order = np.argsort(parts, kind="stable")
        borders = np.searchsorted(parts[order], np.arange(_PARTS + 1))
        for part in range(_PARTS):
            some = entries[order[borders[part] : borders[part + 1]]]
            if len(some):
                with open(os.path.join(self._folder.name, f"{part:03d}"), "ab") as file:
                    some.tofile(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _sorted(entries: Entries) -> Entries:
    first, second = entries["digest"][:, 0], entries["digest"][:, 1]
    order = np.argsort(first, kind="stable")
    found: Entries = entries[order]
    half_equal = (found["digest"][1:, 0] == found["digest"][:-1, 0]) & (
        found["digest"][1:, 1] != found["digest"][:-1, 1]
    )
    # By chance that never happens; somebody may have searched for two such records.
    return entries[np.lexsort((second, first))] if half_equal.any() else found


def runs_of(entries: Entries) -> npt.NDArray[np.int64]:
    """Where each group of sorted entries begins, and at last where the last one ends."""
    digests = entries["digest"]
    new = (digests[1:] != digests[:-1]).any(axis=1)
    inner = np.flatnonzero(new) + 1
    return np.concatenate([[0], inner, [len(entries)]]) if len(entries) else np.zeros(1, np.int64)
