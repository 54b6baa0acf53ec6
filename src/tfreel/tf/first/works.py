"""The files that readers read: records, lines, or the whole."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tfreel import _core
from tfreel.columns.parse import Picked
from tfreel.compression import codec_named
from tfreel.records.frames import Position, ReadOptions, open_frames
from tfreel.records.report import Fault
from tfreel.tf.files.paths import local, telling
from tfreel.tf.graphs import rows as columns
from tfreel.tf.values.handles import Array

Found = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Rows:
    """Records as columns.

    Attributes:
        keys: Makes the keys, which are seldom wanted.
        values: The records themselves.
    """

    keys: Callable[[], columns.Column]
    values: columns.Column

    def __len__(self) -> int:
        return len(self.values)


class Work(Protocol):
    """A file that is being read."""

    def take(self, count: int) -> Found:
        """Up to so many keys and values, none only at the end."""

    def rows(self, count: int) -> Rows:
        """The same as columns."""

    def place(self) -> list[int]:
        """Where it stands, to open it there again."""


def _rows(found: Found) -> Rows:
    return Rows(
        lambda: columns.Dense(strings([key for key, _ in found])),
        columns.Dense(strings([value for _, value in found])),
    )


def strings(values: list[bytes]) -> Array:
    """An array of strings."""
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _ignore(note: str) -> None:
    """Remarks about a file that is sound have no place to go."""


class Records:
    """A TFRecord file. A fault in it is told again and again."""

    def __init__(self, name: bytes, compression: str, place: list[int] | None) -> None:
        self._name = name
        path = local(name)
        start = Position(*(place or (0, 0)))
        # Without a name the file itself tells, as in `TFRecordDataset`.
        options = ReadOptions(compression=codec_named(compression) if compression else None)
        with telling(path):
            # A name is never standard input here.
            self._frames = open_frames(path if path != "-" else "./-", options, start, _ignore)
        self._block: _core.Block | None = None
        self._taken = 0
        self._fault: Fault | None = None
        self._over = False

    def _current(self) -> _core.Block | None:
        """A block of which something is left; None at the end."""
        if self._block is not None and self._taken < len(self._block):
            return self._block
        if self._over:
            return None
        if self._fault is None:
            found = self._frames.step()
            if found is None:
                self._over = True
                self._frames.close()
                return None
            if isinstance(found, _core.Block):
                self._block, self._taken = found, 0
                return found
            self._fault = found
        raise self._fault.to_error("")

    def rows(self, count: int) -> Rows:
        """Up to so many records of one block, none only at the end."""
        block = self._current()
        if block is None:
            return _rows([])
        begin, end = self._taken, min(self._taken + count, len(block))
        self._taken = end
        return Rows(
            lambda: columns.Dense(strings(self._keys(block, begin, end))),
            columns.Records(Picked((block,), np.arange(begin, end, dtype=np.uint64))),
        )

    def _keys(self, block: _core.Block, begin: int, end: int) -> list[bytes]:
        return [b"%b:%d" % (self._name, offset) for offset in block.offsets[begin:end].tolist()]

    def take(self, count: int) -> Found:
        """Up to so many keys and values, none only at the end."""
        found: Found = []
        while len(found) < count:
            try:
                block = self._current()
            except Exception:
                if not found:
                    raise
                break
            if block is None:
                break
            begin, end = self._taken, min(self._taken + count - len(found), len(block))
            self._taken = end
            values = [block[i] for i in range(begin, end)]
            found += zip(self._keys(block, begin, end), values, strict=True)
        return found

    def ended(self) -> bool:
        """Whether nothing is left, and no fault either."""
        try:
            return self._current() is None
        except Exception:  # noqa: BLE001 - any: the next reading will tell it
            return False

    def place(self) -> list[int]:
        """Where it stands."""
        block = self._block
        if block is not None and self._taken < len(block):
            return [int(block.offsets[self._taken]), int(block.first_record) + self._taken]
        return list(self._frames.position)


class Lines:
    """A text file. Lines end with a line feed, before which a carriage return is no part of them."""

    def __init__(self, name: bytes, skip: int, place: list[int] | None) -> None:
        self._name = name
        self._path = local(name)
        with telling(self._path):
            self._file = open(self._path, "rb")  # noqa: SIM115 - read on in later runs
            weakref.finalize(self, self._file.close)
            if place is None:
                for _ in range(skip):
                    self._file.readline()
                place = [self._file.tell(), skip]
            self._file.seek(place[0])
        self._number = place[1]

    def take(self, count: int) -> Found:
        """Up to so many keys and values, none only at the end."""
        found: Found = []
        with telling(self._path):
            while len(found) < count and (line := self._file.readline()):
                self._number += 1
                found.append((b"%b:%d" % (self._name, self._number), line.rstrip(b"\n").replace(b"\r", b"")))
        if not found:
            self._file.close()
        return found

    def rows(self, count: int) -> Rows:
        """The same as columns."""
        return _rows(self.take(count))

    def place(self) -> list[int]:
        """Where it stands."""
        return [self._file.tell(), self._number]


class Whole:
    """A file as one value, or its name alone."""

    def __init__(self, name: bytes, *, contents: bool) -> None:
        self._name = name
        self._contents = contents

    def take(self, count: int) -> Found:
        """The one key and value."""
        if not self._contents:
            return [(self._name, self._name)]
        path = local(self._name)
        with telling(path), open(path, "rb") as file:
            return [(self._name, file.read())]

    def rows(self, count: int) -> Rows:
        """The same as columns."""
        return _rows(self.take(count))

    def place(self) -> list[int]:
        """Always the beginning."""
        return [0]
