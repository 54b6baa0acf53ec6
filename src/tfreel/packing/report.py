"""What packing did, for people and for programs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfreel.packing.source import Made, Remark

FRAME_BYTES = 16  # of a record, beside its payload


@dataclass(slots=True)
class Tally:
    """What became of some items: adds up.

    Attributes:
        records: How many records were written.
        rejects: The items that did not become one.
        remarks: What else is to be known of items.
        counts: How often each class is among the records.
        fingerprint: A hash of the lengths and checksums of the records, in order.
    """

    records: int = 0
    rejects: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    fingerprint: str = ""
    _lengths: list[npt.NDArray[np.uint64]] = field(default_factory=list)
    _checksums: list[npt.NDArray[np.uint32]] = field(default_factory=list)

    def include(self, other: Tally) -> None:
        """Counts what another one has counted."""
        self.records += other.records
        self.rejects += other.rejects
        self.remarks += other.remarks
        self.counts += other.counts

    def seal(self) -> None:
        """Sets the fingerprint: nothing is added any more."""
        digest = hashlib.sha256()
        for parts, form in ((self._lengths, "<u8"), (self._checksums, "<u4")):
            for part in parts:
                digest.update(part.astype(form).data)
        self.fingerprint = digest.hexdigest()

    def add(self, made: Made) -> None:
        """Counts what was made."""
        block = made.block()
        self.records += len(block)
        self._lengths.append(block.lengths)
        self._checksums.append(block.checksums)
        self.rejects += made.rejects
        self.remarks += made.remarks
        self.counts += made.counts

    def places(self) -> npt.NDArray[np.uint64] | None:
        """Where each record begins in its file, and where the last one ends; None of an earlier run."""
        if not self._lengths:
            return None
        ends = np.cumsum(np.concatenate(self._lengths) + np.uint64(FRAME_BYTES), dtype=np.uint64)
        return np.concatenate([np.zeros(1, np.uint64), ends])

    def to_note(self) -> dict[str, Any]:
        """The same as plain values, for a note beside the work."""
        return {
            "records": self.records,
            "rejects": [[remark.name, remark.text] for remark in self.rejects],
            "remarks": [[remark.name, remark.text] for remark in self.remarks],
            "counts": dict(self.counts),
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def of_note(cls, note: Mapping[str, Any]) -> Tally:
        """What a note says."""
        return cls(
            note["records"],
            [Remark(*pair) for pair in note["rejects"]],
            [Remark(*pair) for pair in note["remarks"]],
            Counter(note["counts"]),
            note["fingerprint"],
        )


@dataclass(frozen=True, slots=True)
class SplitReport:
    """What is in one split.

    Attributes:
        records: How many records.
        bytes: How large its files are, together.
        files: Their names.
        classes: How often each class is in it.
    """

    records: int
    bytes: int
    files: list[str]
    classes: dict[str, int]


@dataclass(frozen=True, slots=True)
class PackReport:
    """What `tfreel.pack` did.

    Attributes:
        path: The folder of the data set.
        kind: What the source was taken for.
        read: How many items there were; as many as `written` and `rejected` together.
        written: How many became records.
        rejected: The items that did not, each with the reason.
        skipped: What lay there and is no item: hidden files and the like.
        remarks: What else is to be known of items.
        notes: What else is to be known of the source.
        splits: What is in each split.
        classes: The names of the classes, by their ids.
        reused: How many records an earlier run had written already.
    """

    path: str
    kind: str
    read: int
    written: int
    rejected: list[Remark]
    skipped: list[Remark]
    remarks: list[Remark]
    notes: list[str]
    splits: dict[str, SplitReport]
    classes: dict[int, str]
    reused: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far packing is.

    Attributes:
        phase: ``"reading"`` a stream, ``"writing"`` files, or ``"checking"`` them.
        done: Items done in this phase.
        total: Items there are; None if nobody knows.
        bytes: Bytes of records so far.
        rejected: Items rejected so far.
    """

    phase: str = ""
    done: int = 0
    total: int | None = None
    bytes: int = 0
    rejected: int = 0


OnProgress: TypeAlias = Callable[[Progress], object]


def reject_lines(rejected: Iterable[Remark], skipped: Iterable[Remark]) -> bytes:
    """The list of what is not in the data set, as JSON lines."""
    rows = [
        *({"item": remark.name, "why": remark.text, "rejected": True} for remark in rejected),
        *({"item": remark.name, "why": remark.text, "rejected": False} for remark in skipped),
    ]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")
