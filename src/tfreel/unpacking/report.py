"""What was unpacked, and what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfreel.records.report import Fault


@dataclass(slots=True)
class UnpackReport:
    """What `tfreel.unpack` did.

    Attributes:
        path: The file or folder that was written.
        to: What it is: ``"csv"``, ``"folder"`` and so on.
        records_read: Records that were looked at.
        records_written: Those of them that are in the output.
        files: How many files were written.
        columns: The features that are in the output.
        notes: What the reader of the output should know, each as a sentence: names that were changed, columns
            that were left out.
        faults: Damage that was passed over.
    """

    path: str
    to: str
    records_read: int = 0
    records_written: int = 0
    files: int = 0
    columns: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no damage was passed over."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict for JSON."""
        return {
            "path": self.path,
            "to": self.to,
            "records_read": self.records_read,
            "records_written": self.records_written,
            "files": self.files,
            "columns": list(self.columns),
            "notes": list(self.notes),
            "faults": [fault.to_dict() for fault in self.faults],
        }
