"""Between records and their entries in `Groups`: there, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from tfreel import _core
from tfreel.profile.groups import ENTRY, Entries
from tfreel.records.frames import Position, ReadOptions, open_frames
from tfreel.records.report import Fault


def require_names(files: Sequence[str | BinaryIO]) -> None:
    """Refuses streams.

    Raises:
        ValueError: There is one.
    """
    if not all(isinstance(file, str) and file != "-" for file in files):
        raise ValueError("records of a set are looked at twice: save the stream to a file first")


def entries_of(
    block: _core.Block, set_number: int, file_number: int, *, content: bool, threads: int = 1
) -> Entries:
    """Entries for the records of a block, told apart by content or else by their bytes."""
    entries = np.zeros(len(block), ENTRY)
    entries["digest"] = _core.digests(block, content=content, threads=threads).reshape(-1, 2)
    entries["content"] = entries["digest"][:, 0]
    entries["set"] = set_number
    entries["file"] = file_number
    entries["record"] = np.arange(block.first_record, block.first_record + len(block), dtype=np.uint64)
    entries["offset"] = block.offsets
    return entries


def records_at(files: Sequence[str | BinaryIO], entries: Entries, options: ReadOptions) -> Iterator[bytes]:
    """The records that some entries are of, in their order; each is read from where it begins.

    Raises:
        CorruptError: A file is not any more what it was.
    """
    for entry in entries:
        start = Position(int(entry["offset"]), int(entry["record"]))
        frames = open_frames(files[int(entry["file"])], options, start, lambda _: None)
        try:
            found = frames.step()
            if isinstance(found, Fault):
                raise found.to_error()
            yield b"" if found is None else found[0]
        finally:
            frames.close()
