"""A file that a worker wrote."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from tfreel.records.write import Writer
from tfreel.storage.places import size_of


@dataclass(frozen=True, slots=True)
class Part:
    """What one attempt at a task wrote.

    Attributes:
        task: The number of the task.
        name: Of the file.
        records: How many are in it.
        bytes: How large it is.
    """

    task: int
    name: str
    records: int
    bytes: int

    @classmethod
    def of(cls, task: int, writer: Writer) -> Self:
        """What a writer that is closed has written."""
        return cls(task, os.path.basename(writer.path), writer.records_written, size_of(writer.path))
