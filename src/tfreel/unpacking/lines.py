"""Columns in, JSON Lines out: an object for each record.

A feature of one value is that value, any other a list. A feature that a record lacks is not in its object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring as _json_string

from tfreel.columns.batch import Batch
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import TargetFile, Wishes, without_binary
from tfreel.unpacking.texts import json_texts


class Lines(TargetFile):
    """A file with an object in each line."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column]) -> None:
        kept, notes = without_binary(columns, wishes.binary)
        super().__init__(wishes, kept)
        self.notes += notes
        self._kept = kept

    def write(self, batch: Batch) -> None:
        """Adds a line for each record."""
        objects = json_objects(self._kept, batch)
        self.file.write("".join(f"{line}\n" for line in objects).encode())


def json_objects(columns: Sequence[Column], batch: Batch) -> list[str]:
    """Each record as a JSON object."""
    if not columns:
        return ["{}"] * batch.num_rows
    texts = [json_texts(column, batch[column.name]) for column in columns]
    keys = [_json_string(column.name) + ": " for column in columns]
    if any(None in column for column in texts):
        return [f"{{{', '.join(_present(keys, row))}}}" for row in zip(*texts, strict=True)]
    members = ", ".join(key.replace("%", "%%") + "%s" for key in keys)
    line = f"{{{members}}}"  # filled in by %, which is quicker than to join
    return [line % row for row in zip(*texts, strict=True)]


def _present(keys: Sequence[str], row: Sequence[str | None]) -> Iterator[str]:
    return (key + text for key, text in zip(keys, row, strict=True) if text is not None)


def members_of(column: Column, batch: Batch) -> list[str | None]:
    """For each record, this feature as a member of its object; None where it has none."""
    key = _json_string(column.name) + ": "
    return [None if text is None else key + text for text in json_texts(column, batch[column.name])]
