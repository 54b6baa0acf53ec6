"""What was wrong, and what was read in spite of it: faults as values, and the report that collects them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from tfreel import _core, markup
from tfreel.errors import (
    ChecksumError,
    CorruptError,
    StaleIndexError,
    TfreelError,
    TfreelWarning,
    TruncatedError,
)
from tfreel.storage.paths import display

_MOST_FAULTS = 10_000
_MOST_SHOWN = 20  # in a notebook

_CLASSES: dict[str, type[TfreelError]] = {
    "truncated_header": TruncatedError,
    "truncated_body": TruncatedError,
    "zero_filled_tail": TruncatedError,
    "compressed_truncated": TruncatedError,
    "length_crc": ChecksumError,
    "data_crc": ChecksumError,
    "index_stale": StaleIndexError,
}

# Faults of a file that was cut off or is still being written: what `on_corrupt="tail"` forgives.
TAIL_KINDS = frozenset({"truncated_header", "truncated_body", "zero_filled_tail", "compressed_truncated"})

_FOREIGN = "not a TFRecord file: it looks like "


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one file.

    Attributes:
        path: The file, as the caller named it.
        kind: One word from a closed set (see the documentation of bad data).
        record: Ordinal of the damaged record.
        offset: Byte offset of its first header byte, in the uncompressed stream.
        end: One past the last byte that was given up because of it.
        message: What is wrong, in words, without the place.
        expected: The stored checksum, for checksum faults.
        actual: The computed checksum, for checksum faults.
        compressed_offset: About where in the compressed file, for compressed files.
        lost: How many records it cost; None where that cannot be known.
    """

    path: str
    kind: str
    record: int
    offset: int
    end: int
    message: str
    expected: int | None = None
    actual: int | None = None
    compressed_offset: int | None = None
    lost: int | None = None

    def __str__(self) -> str:
        return f"{display(self.path)}: record {self.record} at byte {self.offset}: {self.message}"

    @property
    def is_foreign(self) -> bool:
        """Whether the file is of another kind: it never had any records."""
        return self.message.startswith(_FOREIGN)

    def to_error(self, advice: str = "") -> TfreelError:
        """The exception that this fault is when nobody forgives it. Foreign files need other advice."""
        error = _CLASSES.get(self.kind, CorruptError)(
            f"{self}{'' if self.is_foreign else advice}",
            path=self.path,
            record=self.record,
            offset=self.offset,
            kind=self.kind,
        )
        if isinstance(error, ChecksumError):
            error.expected, error.actual = self.expected, self.actual
        if isinstance(error, CorruptError):
            error.compressed_offset = self.compressed_offset
        return error

    def to_dict(self) -> dict[str, Any]:
        """The fault as plain values, for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def foreign(path: str, end: int, looks: str) -> Fault:
    """The fault of a file that looks like something else."""
    return Fault(path, "not_tfrecord", 0, 0, end, f"{_FOREIGN}{looks}")


def describe(path: str, fault: _core.Fault) -> Fault:
    """A fault found by the core, with its file and in words."""
    checked = fault.kind in ("length_crc", "data_crc")
    # A bad payload between sound headers is one record; other damage may hide any number of them.
    alone = fault.kind == "data_crc" and fault.end - fault.begin == fault.wanted
    return Fault(
        path=path,
        kind=fault.kind,
        record=fault.record,
        offset=fault.begin,
        end=fault.end,
        message=_WORDS[fault.kind].format(f=fault, size=fault.end - fault.begin),
        expected=fault.expected if checked else None,
        actual=fault.actual if checked else None,
        lost=1 if alone else None,
    )


_WORDS = {
    "truncated_header": "the file ends inside a record header ({f.present} of {f.wanted} bytes)",
    "truncated_body": "the file ends inside the record ({f.present:,} of {f.wanted:,} bytes)",
    "length_crc": "header checksum mismatch (stored {f.expected:08x}, computed {f.actual:08x})",
    "data_crc": "checksum mismatch (stored {f.expected:08x}, computed {f.actual:08x})",
    "record_too_large": "the header claims a record of {f.wanted:,} bytes, above the limit of {f.present:,};"
    " max_record_bytes= raises it",
    "zero_filled_tail": "the rest of the file, {size:,} bytes, is zeros: it was extended but never written",
    "index_stale": "the index promises another record here (checksum {f.expected:08x}, found {f.actual:08x});"
    " the file changed since it was indexed",
}


@dataclass(slots=True)
class Report:
    """What a pass over some files found.

    Attributes:
        files: Files read to their end.
        records: Sound records.
        bytes: Bytes read, uncompressed.
        compressed_bytes: Bytes of the compressed files among them, as they lie on disk.
        faults: What was wrong, the first ten thousand of it.
        fault_count: How much was wrong.
        notes: What is odd but harmless.
    """

    files: int = 0
    records: int = 0
    bytes: int = 0
    compressed_bytes: int = 0
    faults: list[Fault] = field(default_factory=list)
    fault_count: int = 0
    notes: list[str] = field(default_factory=list)
    _expanded: int = 0
    _lost: int = 0
    _lost_unknown: bool = False
    _listener: Callable[[Fault], None] | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong."""
        return self.fault_count == 0

    @property
    def records_lost(self) -> int | None:
        """How many records the faults cost; None where that cannot be known."""
        return None if self._lost_unknown else self._lost

    @property
    def compression_ratio(self) -> float | None:
        """How many bytes one byte of the compressed files holds; None where none was compressed."""
        return self._expanded / self.compressed_bytes if self.compressed_bytes else None

    def add(self, fault: Fault) -> None:
        """Takes note of a fault."""
        self.fault_count += 1
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(fault)
        if fault.lost is None:
            self._lost_unknown = True
        else:
            self._lost += fault.lost
        if self._listener is not None:
            self._listener(fault)

    def listen(self, listener: Callable[[Fault], None]) -> None:
        """Has `listener` called with every fault, also with those past the number that is kept."""
        self._listener = listener

    def note(self, text: str) -> None:
        """Takes note of something odd but harmless."""
        if len(self.notes) < _MOST_FAULTS:
            self.notes.append(text)
        warnings.warn(text, TfreelWarning, stacklevel=3)

    def mark(self) -> dict[str, Any]:
        """What it says now, for `return_to`."""
        return {field.name: copy(getattr(self, field.name)) for field in fields(self)}

    def return_to(self, mark: dict[str, Any]) -> None:
        """Forgets what was added since."""
        for name, value in mark.items():
            setattr(self, name, value)

    def merge(self, other: Report) -> None:
        """Adds what another pass found."""
        self.files += other.files
        self.records += other.records
        self.bytes += other.bytes
        self.compressed_bytes += other.compressed_bytes
        self.fault_count += other.fault_count
        self.faults += other.faults[: _MOST_FAULTS - len(self.faults)]
        self.notes += other.notes[: _MOST_FAULTS - len(self.notes)]
        self._expanded += other._expanded
        self._lost += other._lost
        self._lost_unknown |= other._lost_unknown

    def _repr_html_(self) -> str:
        verdict = "sound" if self.ok else f"damaged: {markup.count(self.fault_count, 'fault')}"
        counts = ((self.files, "file"), (self.records, "sound record"), (self.bytes, "byte"))
        facts = ", ".join(markup.count(*each) for each in counts)
        shown = self.faults[:_MOST_SHOWN]
        parts = [markup.note(facts)]
        if shown:
            titles = ("file", "record", "from byte", "to byte", "what is wrong")
            rows = [(f.path, f"{f.record:,}", f"{f.offset:,}", f"{f.end:,}", f.message) for f in shown]
            parts.append(markup.table(titles, [[markup.safe(cell) for cell in row] for row in rows]))
        if self.fault_count > len(shown):
            parts.append(markup.note(f"… and {self.fault_count - len(shown):,} more"))
        parts += [markup.note(text) for text in self.notes[:_MOST_SHOWN]]
        return markup.block(f"tfreel.Report: {verdict}", *parts)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "ok": self.ok,
            "files": self.files,
            "records": self.records,
            "records_lost": self.records_lost,
            "bytes": self.bytes,
            "compressed_bytes": self.compressed_bytes,
            "fault_count": self.fault_count,
            "faults": [fault.to_dict() for fault in self.faults],
            "notes": list(self.notes),
        }
