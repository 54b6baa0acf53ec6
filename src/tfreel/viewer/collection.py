"""The data that is looked at: files in, records by their number and facts about the files out."""

from __future__ import annotations

import bisect
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tfreel import _core
from tfreel.errors import CorruptError, StaleIndexError
from tfreel.index.access import Records, indexed
from tfreel.index.build import load_sidecar, salvaged, scan
from tfreel.index.sidecar import FileIndex, find_sidecars
from tfreel.records.parts import Progress
from tfreel.records.report import Report
from tfreel.storage.dataset_folder import Folder
from tfreel.threads import Turn, in_threads
from tfreel.viewer.names import short_names

MOST_RECORD_BYTES = 64 << 20  # of a record that is shown; what is larger has only its facts
_FRAME_BYTES = 16


class RecordTooLargeError(ValueError):
    """A record is larger than what is shown."""


@dataclass(slots=True)
class File:
    """One file, and what is known of it.

    Attributes:
        path: Where it is. It stays here: the browser sees the name.
        name: Below the folder that all files have in common.
        index: Where its records are.
        split: That it belongs to, if its folder says so.
        verified: Every byte was read and checked since we began.
        has_sidecar: The index came from its sidecar.
        report: What was wrong, of a file that was read as a whole.
        note: What else there is to say.
    """

    path: str
    name: str
    index: FileIndex
    split: str | None = None
    verified: bool = False
    has_sidecar: bool = False
    report: Report | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record lies.

    Attributes:
        file: The number of its file.
        record: Its number among the sound records of that file.
        offset: Of its first byte, in the uncompressed stream.
        length: Of what it holds.
        checksum: Of what it holds, masked, as stored.
    """

    file: int
    record: int
    offset: int
    length: int
    checksum: int

    @property
    def length_checksum(self) -> int:
        """Of the length, masked, as it must be stored."""
        return _core.mask_crc(_core.crc32c(self.length.to_bytes(8, "little")))

    @property
    def end(self) -> int:
        """One past the last byte of its frame."""
        return self.offset + self.length + _FRAME_BYTES


@dataclass(slots=True)
class Collection:
    """Files with their records in one row.

    Attributes:
        files: In order.
        records: Of all of them: whatever is sound.
        folder: What the folder says of itself that they are from.
    """

    files: list[File]
    records: Records
    folder: Folder | None = None
    starts: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.starts = [0]
        for file in self.files:
            self.starts.append(self.starts[-1] + len(file.index))

    def __len__(self) -> int:
        return len(self.records)

    def place(self, position: int) -> Place:
        """Where a record is.

        Raises:
            IndexError: There is no such record.
        """
        if not 0 <= position < len(self):
            raise IndexError(f"record {position:,} of {len(self):,}")
        number = bisect.bisect_right(self.starts, position) - 1
        record = position - self.starts[number]
        index = self.files[number].index
        facts = (int(column[record]) for column in (index.offsets, index.lengths, index.checksums))
        return Place(number, record, *facts)

    def fetch(self, position: int) -> bytes:
        """A record, checked.

        Raises:
            RecordTooLargeError: It is larger than what is shown.
            TfreelError: It is damaged, or its file changed.
        """
        place = self.place(position)
        if not self.shows(place):
            raise RecordTooLargeError(
                f"a record of {place.length:,} bytes: at most {MOST_RECORD_BYTES:,} are shown"
            )
        return self.records[position]

    @staticmethod
    def shows(place: Place) -> bool:
        """Whether a record is small enough to be shown."""
        return place.length <= MOST_RECORD_BYTES

    def span(self, split: str | None, file: int | None) -> range:
        """The records of a split, of a file, or all.

        Raises:
            ValueError: There is no such split or file.
        """
        if file is not None:
            if not 0 <= file < len(self.files):
                raise ValueError(f"there is no file {file}")
            return range(self.starts[file], self.starts[file + 1])
        if split is None:
            return range(len(self))
        numbers = [number for number, known in enumerate(self.files) if known.split == split]
        if not numbers:
            raise ValueError(f"there is no split {split!r}")
        return range(self.starts[numbers[0]], self.starts[numbers[-1] + 1])

    def learn(self, number: int, report: Report) -> None:
        """Takes note of what was found by reading all of a file."""
        with self._lock:
            self.files[number].report = report
            self.files[number].verified = True

    @property
    def names(self) -> list[str]:
        """Of the files, as the browser sees them."""
        return [file.name for file in self.files]

    @property
    def paths(self) -> list[str]:
        """Of the files, as they are."""
        return [file.path for file in self.files]


def open_collection(
    files: Sequence[str], folder: Folder | None, *, progress: Progress, within: Turn
) -> Collection:
    """Opens files, damaged ones too: by their sidecars, or by reading them.

    Args:
        files: Their paths.
        folder: What the folder says of itself that they are from.
        progress: Called with the number of records and bytes that were read since the last call.
        within: Stops when this does.
    """
    names = short_names(files)
    splits = _splits(folder)

    def open_one(number: int, turn: Turn) -> File:
        path = files[number]
        found = _opened(path, names[number], progress, turn)
        found.split = splits.get(os.path.basename(path))
        return found

    opened = in_threads(open_one, range(len(files)), within=within)
    return Collection(opened, indexed(list(files), [file.index for file in opened]), folder)


def _splits(folder: Folder | None) -> dict[str, str]:
    if folder is None:
        return {}
    return {shard.name: name for name, split in folder.splits.items() for shard in split.shards}


def _opened(path: str, name: str, progress: Progress, turn: Turn) -> File:
    note = ""
    for sidecar in find_sidecars(path):
        try:
            return File(path, name, load_sidecar(path, sidecar, turn), has_sidecar=True)
        except StaleIndexError:
            note = "its index belongs to another state of the file, and is not used"
    try:
        index = scan(path, progress=progress, turn=turn)
        return File(path, name, index, verified=True, note=note)
    except CorruptError:
        index, report = salvaged(path, "skip", progress=progress, turn=turn)
        return File(path, name, index, verified=True, report=report, note=note)
