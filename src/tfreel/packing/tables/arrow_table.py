"""Tables of Arrow data: frames of pandas and polars, tables of pyarrow, whatever exports a stream of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tfreel.columns.arrow import TENSOR, Field, extension_of
from tfreel.columns.arrow_import import Array, columns_of, exports_arrow, open_arrow
from tfreel.columns.arrow_layouts import offsets_of
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.features.kinds import DType, Feature, FixedLenFeature, RaggedFeature
from tfreel.packing.source import Made, digest
from tfreel.packing.tables.array_table import DTYPES
from tfreel.packing.tables.table import (
    MOST_CLASSES,
    ColumnNote,
    RowName,
    Table,
    TableOptions,
    TableStream,
    row_count,
    values_of,
)

_PART_BYTES = 1 << 21
_TEXT = ("u", "U", "vu", "z", "Z", "vz")
_WHOLE = ("c", "C", "s", "S", "i", "I", "l", "L", "b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(TableOptions):
    """What can be said about a table of Arrow data."""


def recognised(source: object) -> bool:
    """Whether it exports Arrow data."""
    return exports_arrow(source)


def opened(source: Any, options: Options) -> ArrowTable:
    """The table that an object is."""
    # A reader can be read once, as whatever steps through something.
    once = hasattr(source, "read_next_batch") or hasattr(source, "__next__")
    return ArrowTable(lambda _: open_arrow(source), options, once=once)


class ArrowTable(TableStream):
    """A table of Arrow data, batch by batch.

    What its features are is known when all batches have been read: only then nobody can find another null.

    Args:
        open_table: Gives the type and the batches of the columns named; of all, for None.
        options: What else is to be done.
        once: The batches can be had only once.
        folder: Where files are that a column names.
        identity: What changes when the table does.
    """

    kind = "table"

    def __init__(
        self,
        open_table: Callable[[Sequence[str] | None], tuple[Field, Iterator[Array]]],
        options: TableOptions,
        *,
        once: bool = False,
        folder: str | None = None,
        identity: str | None = None,
    ) -> None:
        super().__init__(options, folder)
        self._identity = identity
        self._open = open_table
        self._first: tuple[Field, Iterator[Array]] | None = open_table(None)
        field = self._first[0]
        names = [child.name for child in field.children]
        self.check_names(names)
        for child in field.children:
            if self.wants(child.name):
                _refuse_extensions(child)
        self._wanted = [name for name in names if self.wants(name)]
        if not once:
            self._first = None
        self._find_classes(field, once=once)
        self._facts: dict[str, _Facts] = {}

    def identity(self) -> str | None:
        if self._identity is None:
            return None
        return digest(self._identity, None if self._tree is None else self._tree.identity())

    def _find_classes(self, field: Field, *, once: bool) -> None:
        label = self.options.label
        if label is None:
            return
        if once:
            column = next(child for child in field.children if child.name == label)
            stored = (column.dictionary or column).format
            self.set_classes("bytes" if stored in _TEXT else "int64" if stored in _WHOLE else None, None)
            return
        found: set[Any] = set()
        facts = _Facts()
        for table in self._batches([label]):
            facts.see(table[label])
            if len(found) <= MOST_CLASSES:
                found.update(value for value in values_of(table[label]) if isinstance(value, (int, bytes)))
        self.set_classes(facts.dtype, [_as_bytes(value) for value in found])

    def _batches(self, columns: Sequence[str]) -> Iterator[Table]:
        field, arrays = self._first or self._open(columns)
        for array in arrays:
            found = columns_of(field, array, columns.__contains__)
            yield {name: _without_nat(column) for name, column in found.items()}

    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        first = 0
        self._facts = {name: _Facts() for name in self._wanted}
        for table in self._batches(self._wanted):
            for name, column in table.items():
                self._facts[name].see(column)
            self._conclude()
            rows = row_count(table)
            step = max(1, rows * _PART_BYTES // max(1, sum(column.nbytes for column in table.values())))
            for begin in range(0, rows, step):
                part = {name: column[begin : begin + step] for name, column in table.items()}
                yield partial(_as_it_is, part, first + begin)
            first += rows

    def _conclude(self) -> None:
        features = {name: facts.feature() for name, facts in self._facts.items()}
        self.describe({name: feature for name, feature in features.items() if feature is not None})
        self.note([ColumnNote(name, facts.dtype, facts.told()) for name, facts in self._facts.items()])


@dataclass(slots=True)
class _Facts:
    """What was seen of a column."""

    dtype: DType | None = None
    shape: tuple[int, ...] | None = None
    ragged: bool = False
    wide: str = ""
    absent: int = 0

    def see(self, column: Any) -> None:
        if isinstance(column, Ragged):
            self.ragged = True
            self.absent += 0 if column.present is None else int((~column.present).sum())
            column = column.flat_values
        elif self.shape in (None, column.shape[1:]):
            self.shape = column.shape[1:]
        else:
            self.ragged = True
        if isinstance(column, BytesColumn):
            self.dtype = "bytes"
        elif column.size or self.dtype is None:
            self.dtype = DTYPES.get(column.dtype.kind)
            self.wide = str(column.dtype) if column.dtype == np.float64 else ""

    def feature(self) -> Feature | None:
        if self.dtype is None:
            return None
        if self.ragged or self.shape is None or 0 in self.shape:
            return RaggedFeature(self.dtype)
        return FixedLenFeature(self.shape, self.dtype)

    def told(self) -> str:
        told = [f"null in {self.absent:,} rows"] if self.absent else []
        return "; ".join([*told, f"{self.wide} is rounded to float32"] if self.wide else told)


def _as_it_is(table: Table, first: int) -> tuple[Table, RowName, Made]:
    return table, lambda i: f"row {first + i}", Made()


def _as_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(int(value)).encode()


def _without_nat(column: Any) -> Any:
    """The column with times that are none as absent rows."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "mM":
        return column
    there = ~np.isnat(column)
    return column if there.all() else Ragged(column[there], offsets_of(there), present=there)


def _refuse_extensions(field: Field) -> None:
    """Refuses types that only code of their own can read, some of them by unpickling."""
    name = extension_of(field.metadata)
    if name is not None and name != TENSOR.decode():
        raise ValueError(f"column {field.name!r} is of the extension type {name!r}: cast it to a plain type")
    for child in field.children:
        _refuse_extensions(child)
