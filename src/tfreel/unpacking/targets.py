"""What all kinds of output have in common: begun, filled batch by batch, and then whole or not there."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from tfreel.columns.batch import Batch
from tfreel.storage.paths import display
from tfreel.storage.places import exists
from tfreel.storage.publish import OutputFile, new_file
from tfreel.storage.url import Url
from tfreel.unpacking.schema import Column

Binary: TypeAlias = Literal["base64", "drop"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller said about the output.

    Attributes:
        path: Where it goes.
        force: Replace what is there.
        binary: What becomes of bytes where there can only be text.
        column: The feature that becomes a file.
        by: The feature that names the folder of it.
        name: The feature that names the file.
    """

    path: str
    force: bool
    binary: Binary
    column: str | None = None
    by: str | None = None
    name: str | None = None


class Target(Protocol):
    """An output that is being written.

    Attributes:
        files: How many files there are so far.
        columns: The names of the columns that are in it.
        notes: What is to be said about it.
    """

    files: int
    columns: tuple[str, ...]
    notes: list[str]

    def write(self, batch: Batch) -> None:
        """Adds records."""
        ...

    def publish(self) -> None:
        """Makes it appear under its name."""
        ...

    def abort(self) -> None:
        """Leaves nothing of it."""
        ...


def refuse_existing(path: str, *, force: bool) -> None:
    """Fails if there is something of that name already.

    Raises:
        FileExistsError: There is.
        IsADirectoryError: It is a folder, which no file can replace.
    """
    if not isinstance(path, Url) and os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file", display(path))
    if not force and (exists(path) or os.path.islink(path)):
        raise FileExistsError(errno.EEXIST, "exists already; force=True replaces it", display(path))


class TargetFile:
    """A target that is one file. Those who inherit it write to `file`."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column]) -> None:
        refuse_existing(wishes.path, force=wishes.force)
        self.files = 1
        self.columns = tuple(column.name for column in columns)
        self.notes: list[str] = []
        self.file = new_file(wishes.path, replace=wishes.force, durable=True)

    def publish(self) -> None:
        """Makes the file appear."""
        self.file.publish()

    def abort(self) -> None:
        """Removes what was written."""
        self.file.abort()


class Sink(io.RawIOBase):
    """A file that is being written, as libraries want one: not to be read, nor to be closed by them."""

    def __init__(self, file: OutputFile) -> None:
        super().__init__()
        self._file = file
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._file.write(view)  # type: ignore[arg-type]
        self._written += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        return self._written


def without_binary(columns: Sequence[Column], binary: Binary) -> tuple[list[Column], list[str]]:
    """The columns that can be written as text, and a note on the others."""
    if binary == "base64":
        return list(columns), []
    dropped = [column.name for column in columns if column.binary]
    kept = [column for column in columns if not column.binary]
    if not kept:
        raise ValueError('all columns hold bytes that are no text, and binary="drop" leaves nothing of them')
    return kept, [f"left out, as it is no text: {', '.join(dropped)}"] if dropped else []
