"""Columns in, CSV or TSV out.

The first line has the names. A feature of one value is written as it is, lists as JSON. What a record lacks
is an empty cell; an empty text is ``""``. Cells are quoted where they must be, and never changed: what looks
like a formula to a spreadsheet is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfreel.columns.batch import Batch
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import TargetFile, Wishes, without_binary
from tfreel.unpacking.texts import csv_texts, csv_title


class Delimited(TargetFile):
    """A file of lines and cells."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column], delimiter: str) -> None:
        kept, notes = without_binary(columns, wishes.binary)
        super().__init__(wishes, kept)
        self.notes += notes
        self._kept = kept
        self._delimiter = delimiter
        if kept:
            self._write([delimiter.join(csv_title(column.name, delimiter) for column in kept)])

    def write(self, batch: Batch) -> None:
        """Adds a line for each record."""
        cells = [csv_texts(column, batch[column.name], self._delimiter) for column in self._kept]
        lines = list(map(self._delimiter.join, zip(*cells, strict=True)))
        if len(cells) == 1:  # a line of one empty cell would be an empty line, which readers pass over
            lines = [line or '""' for line in lines]
        self._write(lines)

    def _write(self, lines: list[str]) -> None:
        if lines:
            self.file.write("\n".join([*lines, ""]).encode())
