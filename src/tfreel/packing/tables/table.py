"""What all tables have in common: the class of a row, files that a column names, and how rows become records.

Columns go to the core as they are, many rows at a time. Only where a row is in the way they are looked at one
by one.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.columns.table import encode_block
from tfreel.errors import TfreelError
from tfreel.examples.tensor import Tensor
from tfreel.features.kinds import Feature, FixedLenFeature
from tfreel.inference.content import IMAGES, NAMES, content_of
from tfreel.packing.labels import class_ids
from tfreel.packing.making import reason_of
from tfreel.packing.pictures.picture import SUFFIXES
from tfreel.packing.source import Made, RejectError, Remark, Stream
from tfreel.packing.tree import Directory, Tree

MOST_CLASSES = 1 << 16
_ROWS_WITH_FILES = 16  # each may be of megabytes

Table: TypeAlias = dict[str, Any]
RowName: TypeAlias = Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What can be said about any table.

    Attributes:
        columns: The columns to take; all by default.
        label: The column with the class of each row. Text becomes the number of the class, and is kept as
            ``<label>/text``; numbers stay. Rows without a label are rejected.
        classes: The names of the classes, in the order of their ids; by default those found, sorted.
        embed: Features made of files: from the name of a feature to the column that names the file of each
            row. A feature with the name of that column takes its place.
        root: The folder that these names start from; by default that of the table. No file outside of it is
            read.
    """

    columns: Sequence[str] | None = None
    label: str | None = None
    classes: Sequence[str] | None = None
    embed: Mapping[str, str] | None = None
    root: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.classes is not None and self.label is None:
            raise ValueError("classes are those of a label: say which column is the label")
        if self.root is not None and self.embed is None:
            raise ValueError("root is for files that columns name: say which ones to embed")


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """What a column was found to hold, and what became of it; `str` says it in a line.

    Attributes:
        name: Of the column.
        dtype: Of the feature: ``"int64"``, ``"float32"`` or ``"bytes"``; None where there is none.
        text: What else there is to say.
    """

    name: str
    dtype: str | None
    text: str = ""

    def __str__(self) -> str:
        kind = self.dtype or "left out"
        return f"{self.name}: {kind}" + (f"; {self.text}" if self.text else "")


class TableStream(Stream):
    """A table that is read from its first row to its last.

    Attributes:
        columns: What each column holds.
    """

    def __init__(self, options: TableOptions, folder: str | None) -> None:
        super().__init__()
        self.options = options
        self.columns: list[ColumnNote] = []
        self._told: list[str] = []
        self._known: Sequence[str] | None = None
        self.label = options.label
        self._ids: dict[bytes, int] = {}
        self._embed = dict(options.embed or {})
        self._tree = _tree_of(options, folder) if self._embed else None

    @abstractmethod
    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        """The rows, piece by piece: columns, what each row is called, and the rows that are none."""

    def chunks(self) -> Iterator[Callable[[], Made]]:
        for piece in self.tables():
            if not self._embed:
                yield partial(self._made_of, piece)
                continue
            table, row_name, made = piece()
            yield lambda made=made: made  # type: ignore[misc]
            for begin in range(0, row_count(table), _ROWS_WITH_FILES):
                part = {name: column[begin : begin + _ROWS_WITH_FILES] for name, column in table.items()}
                yield partial(self._finish, part, partial(_shifted, row_name, begin), Made())

    def _made_of(self, piece: Callable[[], tuple[Table, RowName, Made]]) -> Made:
        return self._finish(*piece())

    def _finish(self, table: Table, row_name: RowName, made: Made) -> Made:
        """Adds the records of a table, with classes and files, to what was made."""
        table = dict(table)  # the same work may be done again
        rejected: dict[int, str] = {}
        self._take_label(table, rejected)
        files = {
            feature: self._files(values_of(table[column]), rejected)
            for feature, column in self._embed.items()
        }
        table = {name: column for name, column in table.items() if self.keeps(name)} | files
        if rejected:
            made.rejects += [Remark(row_name(i), why) for i, why in sorted(rejected.items())]
            kept = [i for i in range(row_count(table)) if i not in rejected]
            table = {name: taken(column, kept) for name, column in table.items()}
            row_name = partial(_picked, row_name, kept)
        _add_records(self.naming.applied(self.shaped(table)), row_name, made)
        return made

    def shaped(self, table: Table) -> Table:
        """The columns as they are to be encoded, when all rows are known to stay."""
        return table

    def set_classes(self, dtype: str | None, found: Sequence[bytes] | None) -> None:
        """Says what classes there are.

        Args:
            dtype: Of the column with the label.
            found: The different labels; None if nobody knows all of them.

        Raises:
            ValueError: They cannot be classes.
        """
        label, classes = self.options.label, self.options.classes
        if label is None or dtype not in ("int64", "bytes"):
            return
        if found is None and classes is None:
            if dtype == "bytes":
                raise ValueError(f"the classes in {label!r} are not known beforehand: classes= names them")
            return
        if found is not None and len(found) > MOST_CLASSES and classes is None:
            if dtype == "bytes":
                raise ValueError(f"{label!r} holds more than {MOST_CLASSES:,} different labels: no classes")
            return
        if classes is not None or dtype == "bytes":
            self.classes = class_ids((text.decode(errors="replace") for text in found or ()), classes)
        else:
            self.classes = {number: str(number) for number in sorted(map(int, found or ()))}
        self._ids = {name.encode(): number for number, name in self.classes.items()}

    def _take_label(self, table: Table, rejected: dict[int, str]) -> None:
        """Puts the ids of classes in the place of their names."""
        label = self.options.label
        if label is None or label not in table:
            return
        values = values_of(table[label])
        different = set(values)
        text = any(isinstance(value, bytes) for value in different)
        known: Mapping[Any, Any] = self._ids if text else self.classes
        unknown = {value for value in different if value is None or ((text or known) and value not in known)}
        if unknown:
            rejected.update({i: self._no_class(value) for i, value in enumerate(values) if value in unknown})
        if text:
            table[f"{label}/text"] = table[label]
            ids = {**self._ids, **dict.fromkeys(unknown, -1)}
            table[label] = np.fromiter(map(ids.__getitem__, values), np.int64, len(values))

    def _no_class(self, value: Any) -> str:
        if value is None:
            return f"its label {self.options.label!r} is empty"
        told = value.decode(errors="replace") if isinstance(value, bytes) else value
        return f"its label {told!r} is not among the classes"

    def _files(self, names: list[Any], rejected: dict[int, str]) -> list[bytes]:
        contents = [b""] * len(names)
        for i, name in enumerate(names):
            try:
                contents[i] = self._content(name)
            except (RejectError, OSError, TfreelError) as error:
                rejected.setdefault(i, f"{_shown(name)}: {reason_of(error)}")
        return contents

    def _content(self, name: Any) -> bytes:
        if not isinstance(name, bytes) or not name or self._tree is None:
            raise RejectError("names no file")
        found = self._tree.find(os.fsdecode(name))
        data = self._tree.read(found)
        kind = content_of(data).kind
        if found.lower().endswith(SUFFIXES) and kind not in IMAGES:
            raise RejectError(f"not a picture: {NAMES[kind]}")
        return data

    def describe(self, features: dict[str, Feature]) -> None:
        """Says what to read the records with, the columns being known."""
        self.features = {name: feature for name, feature in features.items() if self.keeps(name)}
        if self.label in features and self._ids and features[self.label].dtype == "bytes":
            self.features[self.label] = FixedLenFeature([], "int64")
            self.features[f"{self.label}/text"] = FixedLenFeature([], "bytes")
        elif self.label in features:
            self.features[self.label] = FixedLenFeature([], features[self.label].dtype)
        for feature in self._embed:
            self.features[feature] = FixedLenFeature([], "bytes")

    def note(self, columns: Sequence[ColumnNote]) -> None:
        """Says what the columns hold, to whoever asks and to the user. What was said before is forgotten."""
        self.columns = list(columns)
        told = "columns: " + ", ".join(f"{column.name} {column.dtype or 'left out'}" for column in columns)
        others = [note for note in self.notes if note not in self._told]
        self._told = [told, *(f"column {column}" for column in columns if column.text)]
        self.notes = others + self._told

    def feature_names(self) -> Collection[str] | None:
        if self._known is None:
            return None
        texts = [] if self.label is None else [f"{self.label}/text"]
        return [*filter(self.keeps, self._known), *self._embed, *texts]

    def check_names(self, names: Sequence[str]) -> None:
        """Takes note of what columns there are. Refuses options about others.

        Raises:
            ValueError: There is no such column, or a new feature has the name of one.
        """
        self._known = names
        options = self.options
        wanted = [*(options.columns or ()), *self._embed.values()]
        for name in [*wanted, options.label] if options.label is not None else wanted:
            require_column(name, names)
        if options.columns is not None and options.label not in (None, *options.columns):
            raise ValueError(f"the label {options.label!r} is not among the columns to take")
        for feature in self._embed:
            if feature in names and self._embed[feature] != feature:
                raise ValueError(f"embed: there is a column {feature!r} already")

    def keeps(self, name: str) -> bool:
        """Whether a column is to be in the records."""
        chosen = self.options.columns
        return chosen is None or name in chosen or name == f"{self.options.label}/text"

    def wants(self, name: str) -> bool:
        """Whether a column is needed at all."""
        return self.keeps(name) or name in self._embed.values()


def require_column(name: str, names: Sequence[str]) -> None:
    """Refuses the name of a column that is not there.

    Raises:
        ValueError: It is not.
    """
    if name in names:
        return
    close = get_close_matches(name, names, 1)
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"there are {shown}"
    raise ValueError(f"there is no column {name!r}: {hint}")


def row_count(table: Table) -> int:
    """How many rows a table has."""
    first = next(iter(table.values()), ())
    return len(first.array if isinstance(first, Tensor) else first)


def values_of(column: Any) -> list[Any]:
    """One value for each row; None where there is none."""
    if isinstance(column, Ragged):
        return [row[0] if len(row) else None for row in column.to_list()]
    if isinstance(column, BytesColumn):
        return column.to_list()
    values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [value.encode() if isinstance(value, str) else value for value in values]


def taken(column: Any, rows: Sequence[int]) -> Any:
    """Some rows of a column."""
    if isinstance(column, (Ragged, BytesColumn)):
        return column.take(np.array(rows, np.int64))
    if isinstance(column, np.ndarray):
        return column[np.array(rows, np.int64)]
    if isinstance(column, Tensor):
        return Tensor(column.array[np.array(rows, np.int64)])
    return [column[i] for i in rows]


def _add_records(table: Table, row_name: RowName, made: Made) -> None:
    if not row_count(table):
        return
    try:
        made.records = encode_block(table)
    except (ValueError, TypeError):  # the values of some row are in the way
        _add_one_by_one(table, row_name, made)


def _add_one_by_one(table: Table, row_name: RowName, made: Made) -> None:
    records: list[bytes] = []
    for i in range(row_count(table)):
        try:
            records += encode_block({name: taken(column, [i]) for name, column in table.items()}).to_list()
        except (ValueError, TypeError) as error:
            made.rejects.append(Remark(row_name(i), reason_of(error)))
    made.records = records


def _tree_of(options: TableOptions, folder: str | None) -> Tree:
    root = options.root if options.root is not None else folder
    if root is None:
        raise ValueError("embed= needs root=, the folder that holds the files")
    return Directory(os.path.expanduser(os.fspath(root)))


def _shown(name: Any) -> str:
    return repr(os.fsdecode(name)) if isinstance(name, bytes) else repr(name)


def _shifted(row_name: RowName, begin: int, i: int) -> str:
    return row_name(begin + i)


def _picked(row_name: RowName, kept: Sequence[int], i: int) -> str:
    return row_name(kept[i])
