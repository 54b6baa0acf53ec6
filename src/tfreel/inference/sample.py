"""Which records to look at: paths in, records with their places out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from tfreel.records.read import OnCorrupt, read
from tfreel.storage.paths import display

_MOST_FILES = 200  # to open one may take a round trip to the other end of the world


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is: its file, and its ordinal in it."""

    path: str
    record: int

    def __str__(self) -> str:
        return f"{display(self.path)}: record {self.record}"


def path_of(file: str | BinaryIO) -> str:
    """The name of a file in a message, also of one that has none."""
    return file if isinstance(file, str) else "<stream>"


def files_to_sample(files: Sequence[str | BinaryIO], sample: int | None) -> list[str | BinaryIO]:
    """The files to look into: all of them, or some evenly spread from the first to the last."""
    most = len(files) if sample is None else min(len(files), sample, _MOST_FILES)
    if most == len(files):
        return list(files)
    if most == 1:
        return [files[0]]
    return [files[i * (len(files) - 1) // (most - 1)] for i in range(most)]


def sampled(
    files: Sequence[str | BinaryIO], sample: int | None, on_corrupt: OnCorrupt
) -> Iterator[tuple[Place, bytes]]:
    """The first records of each file, `sample` in all; what a short file lacks, later ones make up for."""
    left = sample
    for i, file in enumerate(files):
        share = None if left is None else -(-left // (len(files) - i))
        seen = 0
        for place, record in islice(_records(file, on_corrupt), share):
            yield place, record
            seen += 1
        if left is not None:
            left -= seen


def _records(file: str | BinaryIO, on_corrupt: OnCorrupt) -> Iterator[tuple[Place, bytes]]:
    # By blocks, which know the ordinals of their records also behind damage that was passed over.
    for block in read([file], on_corrupt=on_corrupt).blocks():
        for i in range(len(block)):
            yield Place(path_of(file), block.first_record + i), block[i]
