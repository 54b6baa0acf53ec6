"""Rows and columns in memory: lists of mappings, whatever yields mappings, a mapping of lists or arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np

from tfreel.packing.source import Made, RejectError
from tfreel.packing.tables.array_table import ArrayOptions, ArrayTable
from tfreel.packing.tables.row_table import NamedRow, RowTable
from tfreel.packing.tables.table import RowName, Table, TableStream

_PART_ROWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ArrayOptions):
    """What can be said about rows or columns in memory.

    Attributes:
        flatten: Give the values of mappings in mappings names with slashes, as in ``a/b``; otherwise such
            rows are rejected.
    """

    flatten: bool = True


def recognised(source: object) -> bool:
    """Whether it can be rows or columns."""
    return isinstance(source, Iterable)


def opened(source: Any, options: Options) -> TableStream:
    """The rows of an object.

    Raises:
        TypeError: It is of no use as rows.
        ValueError: Columns differ in length.
    """
    if isinstance(source, Mapping):
        return _of_columns(dict(source), options)
    if isinstance(source, np.ndarray):
        return ArrayColumns.of_columns({"data": source}, options)
    if isinstance(source, Iterator):
        return OneTimeRows(source, options)
    if isinstance(source, Iterable):
        return Rows(source, options)
    raise TypeError(f"rows are mappings in a list, or from anything that yields them, not {source!r}")


def _of_columns(columns: dict[str, Any], options: Options) -> TableStream:
    if all(isinstance(column, np.ndarray) and column.dtype.kind != "O" for column in columns.values()):
        return ArrayColumns.of_columns(columns, options)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise ValueError(f"columns differ in length: {told}")
    return Rows(_SideBySide(columns), options)


class ArrayColumns(ArrayTable):
    """Arrays in memory, side by side."""

    kind = "rows"


@dataclass(frozen=True, slots=True)
class _SideBySide:
    """The rows of columns of the same length."""

    columns: dict[str, Any]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True))


class Rows(RowTable):
    """Rows that can be had as often as wanted."""

    kind = "rows"

    def __init__(self, rows: Iterable[Any], options: Options) -> None:
        super().__init__(options, None, flatten=options.flatten)
        self._rows = rows
        self.look_at_all()

    def identity(self) -> None:
        """Nobody can tell."""

    def parts(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        for part in _numbered(iter(self._rows)):
            yield partial(_given, part)


class OneTimeRows(RowTable):
    """Rows that come once. The first ones of each column decide what it holds."""

    kind = "rows"

    def __init__(self, rows: Iterator[Any], options: Options) -> None:
        super().__init__(options, None, flatten=options.flatten)
        self._rows = rows

    def identity(self) -> None:
        """Nobody can tell."""

    def parts(self) -> Iterator[Callable[[], Sequence[NamedRow]]]:
        for part in _numbered(self._rows):
            yield partial(_given, part)

    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        for number, part in enumerate(self.parts()):
            self.look_ahead(part(), first=number == 0)
            yield partial(self._table_of, part)


def _numbered(rows: Iterator[Any]) -> Iterator[list[NamedRow]]:
    numbers = count()
    while part := [
        (f"row {i}", _checked(row)) for row, i in zip(islice(rows, _PART_ROWS), numbers, strict=False)
    ]:
        yield part


def _checked(row: Any) -> Mapping[str, Any] | RejectError:
    return row if isinstance(row, Mapping) else RejectError(f"is no mapping, but a {type(row).__name__}")


def _given(rows: Sequence[NamedRow]) -> Sequence[NamedRow]:
    return rows
