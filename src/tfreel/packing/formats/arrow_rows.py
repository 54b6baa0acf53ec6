"""Rows of Arrow tables become records: column by column where it goes, row by row where there are files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tfreel.columns.batch import Batch
from tfreel.columns.table import encode_columns
from tfreel.errors import TfreelError
from tfreel.examples.encode import encode
from tfreel.packing.making import reason_of
from tfreel.packing.naming import Naming
from tfreel.packing.pictures.picture import Pictures
from tfreel.packing.source import Made, RejectError, Remark
from tfreel.packing.tree import LARGEST_FILE_BYTES
from tfreel.storage.paths import display

Table: TypeAlias = Any  # pyarrow's, which has no types


@dataclass(frozen=True, slots=True)
class Rows:
    """How rows become records.

    Attributes:
        pictures: Columns of pictures. The first one is *the* picture.
        files: Columns of other files, such as sound.
        label: The column that holds the class.
        classes: The names of the classes, by their ids.
        reader: What to do with pictures.
    """

    pictures: Sequence[str]
    files: Sequence[str]
    label: str | None
    classes: Mapping[int, str]
    reader: Pictures

    @property
    def label_feature(self) -> str | None:
        """The feature that holds the class."""
        return "image/class/label" if self.label is not None and self.pictures else self.label

    def made(self, table: Table, naming: Naming, name: str, begin: int) -> Made:
        """The records of a table; `name` is how to speak of a row."""
        if not self.pictures and not self.files:
            try:
                return self._by_columns(table, naming)
            except ValueError:
                pass  # a value does not fit: row by row it is known whose it is
        return self._by_rows(table, naming, name, begin)

    def _by_columns(self, table: Table, naming: Naming) -> Made:
        simple = [field.name for field in table.schema if _is_simple(field.type)]
        columns: dict[str, Any] = dict(Batch.from_arrow(table.select(simple)))
        for column in table.schema.names:
            if column not in simple:
                columns.update(_spread(column, table[column].to_pylist()))
        labels = table[self.label].to_pylist() if self.label in table.schema.names else []
        records = [record for block in encode_columns(naming.applied(columns)) for record in block.to_list()]
        return Made(records, names=[self._names(label) for label in labels])

    def _by_rows(self, table: Table, naming: Naming, name: str, begin: int) -> Made:
        made, records = Made(), []
        for number, values in enumerate(table.to_pylist(), begin):
            try:
                row = self._row(values)
                records.append(encode(naming.applied(row)))
            except (RejectError, OSError, TfreelError, ValueError, TypeError) as error:
                made.rejects.append(Remark(name.format(number), reason_of(error)))
                continue
            made.names.append(self._names(values.get(self.label)))
        made.records = records
        return made

    def _names(self, label: Any) -> Sequence[str]:
        return (self.classes[label],) if label in self.classes else ()

    def _row(self, values: Mapping[str, Any]) -> dict[str, object]:
        row: dict[str, object] = {}
        for column, value in values.items():
            if value is None:
                continue
            if column in self.pictures:
                row.update(self._picture(column, value))
            elif column in self.files:
                data, path = _content(value)
                row.update({column: data, f"{column}/path": path or None})
            elif column == self.label and self.pictures:
                row["image/class/label"] = value
                row["image/class/text"] = self.classes.get(value)
            else:
                row.update(_flattened(column, value))
        return row

    def _picture(self, column: str, value: Any) -> dict[str, object]:
        data, path = _content(value)
        try:
            features = self.reader.features(data, path)
        except RejectError as error:
            raise RejectError(f"{column}: {error}") from None
        if not path:
            del features["image/filename"]
        if column == self.pictures[0]:
            return features
        return {column: features["image/encoded"]} if features["image/encoded"] is not None else {}


def _content(value: Mapping[str, Any]) -> tuple[bytes, str]:
    """The bytes of a file that is in a row, or beside it, and its name."""
    path = value.get("path") or ""
    if value.get("bytes") is not None:
        return value["bytes"], path
    if not path:
        raise RejectError("has neither bytes nor a path")
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RejectError(f"{display(path)!r} is not a regular file")
        return file.read(LARGEST_FILE_BYTES), path


def _is_simple(kind: Any) -> bool:
    """Whether a column of this type is one feature: numbers, strings, or lists of them."""
    from pyarrow import types

    inner = kind.value_type if _is_list(kind) else kind
    nested = types.is_struct(inner) or _is_list(inner) or types.is_map(inner) or types.is_union(inner)
    return not nested and not hasattr(kind, "storage_type")


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return any(is_one(kind) for is_one in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _spread(column: str, values: Sequence[Any]) -> dict[str, list[Any]]:
    """A nested column as several, with None where a row has nothing."""
    rows = [dict(_flattened(column, value)) for value in values]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _flattened(name: str, value: Any, level: int = 0) -> Iterator[tuple[str, object]]:
    """Values by the names of their features: of objects ``a/b``, of lists of objects a list for each member.

    Lists of lists become one, with how long each was as ``name/lengths``, or ``name/lengths_1`` further in.
    """
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _flattened(f"{name}/{key}", member)
    elif isinstance(value, list) and value and any(isinstance(item, Mapping) for item in value):
        for key in value[0]:
            yield from _flattened(f"{name}/{key}", [item[key] for item in value])
    elif isinstance(value, list) and value and any(isinstance(item, list) for item in value):
        inner = [item or [] for item in value]
        yield f"{name}/lengths{f'_{level}' if level else ''}", [len(item) for item in inner]
        yield from _flattened(name, [leaf for item in inner for leaf in item], level + 1)
    elif value is not None and value != []:
        yield name, value
