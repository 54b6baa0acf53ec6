"""CSV and TSV files. A first look decides what each column holds, the second makes records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tfreel import _core
from tfreel.columns.arrow_layouts import offsets_of
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn
from tfreel.features.kinds import Feature, FixedLenFeature, RaggedFeature, dtype_named
from tfreel.packing.chinese import is_gbk
from tfreel.packing.source import Made, Remark, digest
from tfreel.packing.tables.table import (
    MOST_CLASSES,
    ColumnNote,
    RowName,
    Table,
    TableOptions,
    TableStream,
    require_column,
)
from tfreel.packing.tables.text_file import TextFile, delimiter_of, not_utf8

_SUFFIXES = (".csv", ".tsv", ".tab")
_MOST_COLUMNS = 1 << 16
_EXACT_IN_FLOAT = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(TableOptions):
    """What can be said about a CSV file.

    Attributes:
        header: Whether the first row holds the names of the columns; or their names, where it does not.
        delimiter: What stands between cells; by default told from the first line.
        types: What some columns hold, where that is not to be found out: ``"int64"``, ``"float32"`` or
            ``"bytes"``.
        missing: Words that stand for nothing, such as ``NA``; an empty cell always does.
        max_cell_bytes: A longer cell is an error, such as one whose quote is never closed.
        max_row_bytes: A longer row is an error.
    """

    header: bool | Sequence[str] = True
    delimiter: str | None = None
    types: Mapping[str, Any] | None = None
    missing: Sequence[str] = ()
    max_cell_bytes: int = 1 << 24
    max_row_bytes: int = 1 << 26


def recognised(path: str) -> bool:
    """Whether it is called like one."""
    return path.lower().removesuffix(".gz").endswith(_SUFFIXES)


def opened(path: str, options: Options) -> CsvTable:
    """The table in a file."""
    return CsvTable(path, options)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some whole rows."""

    bytes: int
    row: int
    line: int
    next_row: int


class CsvTable(TableStream):
    """The rows of a CSV file."""

    kind = "csv"

    def __init__(self, path: str, options: Options) -> None:
        super().__init__(options, os.path.dirname(os.path.abspath(path)))
        self._options = options
        self._file = TextFile(path)
        self._dialect = _core.CsvDialect(
            options.delimiter or delimiter_of(path, self._file.head),
            list(options.missing),
            longest_cell=options.max_cell_bytes,
            longest_row=options.max_row_bytes,
        )
        self._head_bytes, first_line = 0, 1
        if options.header is True:
            names, self._head_bytes, first_line = self._read_header()
        else:
            names = self._given_names()
        self._names = self._checked_names(names)
        self.check_names(self._names)
        for name in options.types or ():
            require_column(name, self._names)
        survey = self._survey(first_line)
        self._decide(survey)

    def identity(self) -> str:
        tree = None if self._tree is None else self._tree.identity()
        return digest(self._file.identity(), tree)

    def _first_row(self) -> tuple[list[bytes], int, int]:
        data = b""
        pieces = self._file.pieces()
        last = False
        while not last:
            piece = next(pieces, b"")
            last = not piece
            data += piece
            found = _core.first_csv_row(data, self._dialect, last=last, most_cells=_MOST_COLUMNS)
            if isinstance(found, _core.CsvFault):
                raise self._refused(found, ())
            if found is not None:
                return found
        return [], 0, 1

    def _read_header(self) -> tuple[list[str], int, int]:
        cells, size, line = self._first_row()
        if not cells:
            raise ValueError(f"{self._file.name}: is empty: there is not even a header")
        try:
            return [cell.decode().strip() for cell in cells], size, line
        except UnicodeDecodeError:
            raise ValueError(self._not_utf8(cells)) from None

    def _not_utf8(self, cells: Sequence[bytes]) -> str:
        if is_gbk(cells):
            return not_utf8(self._file.name, "GB18030")
        return f"{self._file.name}: the header is not UTF-8; find out what it is in, and save it as UTF-8"

    def _given_names(self) -> list[str]:
        cells = self._first_row()[0]
        if self._options.header is False:
            return [f"column_{i}" for i in range(len(cells))]
        names = list(self._options.header)  # type: ignore[arg-type]
        if cells and len(cells) != len(names):
            raise ValueError(f"{self._file.name}: header= names {len(names)} columns; there are {len(cells)}")
        return names

    def _checked_names(self, names: list[str]) -> list[str]:
        for i, name in enumerate(names):
            if not name:
                raise ValueError(
                    f"{self._file.name}: column {i + 1} has no name; header= gives names to all columns"
                    " (pandas writes its index like this, unless it is told index=False)"
                )
            if names.index(name) < i:
                both = f"columns {names.index(name) + 1} and {i + 1} are both called {name!r}"
                raise ValueError(f"{self._file.name}: {both}; header= gives names to all columns")
        return names

    def _survey(self, first_line: int) -> _core.CsvSurvey:
        label = self.options.label
        survey = _core.CsvSurvey(
            len(self._names),
            self._dialect,
            line=first_line,
            names_column=-1 if label is None else self._names.index(label),
            most_names=MOST_CLASSES,
        )
        self._pieces: list[_Piece] = []
        pieces = self._file.pieces(skip=self._head_bytes)
        rest = b""
        last = False
        while not last:
            piece = next(pieces, b"")
            last = not piece
            rest = self._look_at(survey, rest + piece, last=last)
        return survey

    def _look_at(self, survey: _core.CsvSurvey, data: bytes, *, last: bool) -> bytes:
        row, line = survey.next_row, survey.next_line
        used = survey.feed(data, last)
        if isinstance(used, _core.CsvFault):
            raise self._refused(used, self._names)
        if used:
            self._pieces.append(_Piece(used, row, line, survey.next_row))
        return data[used:]

    def _refused(self, fault: _core.CsvFault, names: Sequence[str]) -> ValueError:
        column = names[fault.column] if fault.column < len(names) else f"number {fault.column + 1}"
        where = f"{self._file.name}: row {fault.row}, line {fault.line}, column {column!r}"
        if not names:
            where = f"{self._file.name}: the header, line {fault.line}"
        return ValueError(f"{where}: " + _FAULTS[fault.kind].format(options=self._options))

    def _decide(self, survey: _core.CsvSurvey) -> None:
        self._kinds: list[str] = []
        features: dict[str, Feature] = {}
        notes: list[ColumnNote] = []
        for name, seen in zip(self._names, survey.columns, strict=True):
            kind, why = self._kind_of(name, seen)
            needed = self.wants(name)
            self._kinds.append(kind if needed else "")
            dtype = _DTYPES.get(kind)
            notes.append(ColumnNote(name, dtype, why) if needed else ColumnNote(name, None, "not asked for"))
            if dtype is not None and needed:
                lacks = seen.empty + (0 if kind == "text" else seen.quoted_empty)
                features[name] = RaggedFeature(dtype) if lacks else FixedLenFeature([], dtype)
        self.note(notes)
        label = self.options.label
        if label is not None:
            self._set_classes(features.get(label), survey)
        self.describe(features)

    def _set_classes(self, feature: Feature | None, survey: _core.CsvSurvey) -> None:
        if feature is None and survey.next_row > 1:
            raise ValueError(f"{self._file.name}: the label {self.options.label!r} is empty in all rows")
        found = survey.names
        dtype: str | None = getattr(feature, "dtype", None)
        if dtype == "int64" and not survey.too_many_names:
            words = {b"true": b"1", b"false": b"0"}
            found = [words.get(text.strip().lower(), text) for text in found if text.strip()]
        self.set_classes(dtype, found)

    def _kind_of(self, name: str, seen: _core.CsvColumnSurvey) -> tuple[str, str]:
        """What a column holds, and what to say of it."""
        kind, why = _found_kind(seen)
        forced = (self._options.types or {}).get(name)
        if forced is not None:
            dtype = dtype_named(forced)
            if dtype != _DTYPES.get(kind):
                kind, why = {"int64": "int", "float32": "float", "bytes": "text"}[dtype], "as told"
        lacking = seen.empty + (0 if kind == "text" else seen.quoted_empty)
        if lacking and kind:
            why = "; ".join(filter(None, (why, f"empty in {lacking:,} rows")))
        return kind, why

    def tables(self) -> Iterator[Callable[[], tuple[Table, RowName, Made]]]:
        cut = self._file.cut([piece.bytes for piece in self._pieces], skip=self._head_bytes)
        for piece, data in zip(self._pieces, cut, strict=True):
            yield partial(self._read, piece, data)

    def _read(self, piece: _Piece, data: bytes) -> tuple[Table, RowName, Made]:
        found = _core.read_csv(data, self._kinds, self._dialect, row=piece.row, line=piece.line)
        if isinstance(found, _core.CsvFault):
            raise self._file.changed()
        raw, numbers, rejects, next_row = found
        if next_row != piece.next_row:
            raise self._file.changed()
        made = Made(rejects=[self._rejected(reject) for reject in rejects])
        table = {
            name: _column(*column)
            for name, column in zip(self._names, raw, strict=True)
            if column is not None
        }
        return table, lambda i: f"row {numbers[i]}", made

    def _rejected(self, reject: _core.CsvReject) -> Remark:
        name = f"row {reject.row}, line {reject.line}"
        if reject.kind == "cells":
            return Remark(name, f"has {reject.found} cells; the header has {len(self._names)}")
        shown = reject.text.decode(errors="backslashreplace")
        why = _REJECTS[reject.kind].format(shown, _DTYPES[self._kinds[reject.column]])
        if reject.kind == "not_utf8" and is_gbk([reject.text]):
            why += ", but may be GBK: iconv -f GB18030 -t UTF-8 makes it so"
        return Remark(name, f"column {self._names[reject.column]!r}: {why}")


# What the core calls kinds, and the features that they become.
_DTYPES = {"int": "int64", "bool": "int64", "float": "float32", "text": "bytes"}

_FAULTS = {
    "open_quote": "a quote opens and does not close within {options.max_cell_bytes:,} bytes or the file",
    "text_after_quote": "text behind a closing quote; a quote inside of quotes is written twice",
    "long_cell": "a cell of more than {options.max_cell_bytes:,} bytes; max_cell_bytes= allows more",
    "long_row": "a row of more than {options.max_row_bytes:,} bytes; max_row_bytes= allows more",
}
_REJECTS = {
    "no_number": "{0!r} is no {1}",
    "too_large": "{0} does not fit float32",
    "not_utf8": "{0!r} is not UTF-8",
    "nul": "{0!r} holds a zero byte",
}


def _found_kind(seen: _core.CsvColumnSurvey) -> tuple[str, str]:
    sample = seen.text.decode(errors="backslashreplace")
    if seen.text_row:
        return "text", f"{sample!r} in row {seen.text_row} is no number" if _numbers(seen) else ""
    if seen.too_long_row:
        return "text", f"{sample} in row {seen.too_long_row} does not fit int64"
    if not seen.cells:
        return ("text", "") if seen.quoted_empty else ("", "empty in all rows")
    if seen.truths == seen.cells:
        return "bool", "true is 1, false is 0"
    if seen.truths:
        return "text", "true and false among numbers"
    if not seen.reals:
        return "int", ""
    return "float", _rounding(seen)


def _numbers(seen: _core.CsvColumnSurvey) -> bool:
    return seen.truths + seen.wholes + seen.reals > 0


def _rounding(seen: _core.CsvColumnSurvey) -> str:
    largest = max(abs(seen.least), abs(seen.most)) if seen.wholes else 0
    if largest <= _EXACT_IN_FLOAT:
        return ""
    return f"whole numbers up to {largest:,} are rounded to 24 bits"


def _column(values: Any, text_offsets: Any, present: Any) -> Any:
    column = values if text_offsets is None else BytesColumn(values, text_offsets)
    if present is None:
        return column
    return Ragged(column, offsets_of(present), present=present.view(np.bool_))
