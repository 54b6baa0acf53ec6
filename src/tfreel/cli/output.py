"""Results on standard output: a table for people, JSON lines or CSV for programs."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, Protocol, Self, TypeAlias, TypeVar

from tfreel.storage.paths import display

Format: TypeAlias = Literal["table", "json", "csv"]


class Tellable(Protocol):
    """A result that can be had as plain values."""

    def to_dict(self) -> dict[str, Any]:
        """It, for JSON."""


Found = TypeVar("Found", bound=Tellable)

# Wide enough that a table in a pipe is never wrapped.
_PIPE_COLUMNS = 1 << 14


def is_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def chosen_format(asked: Format | None) -> Format:
    """The format that was asked for, else the one that suits whoever reads standard output."""
    return asked or ("table" if is_terminal() else "json")


def standard_output() -> BinaryIO:
    """Standard output, for bytes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    return sys.stdout.buffer


def number(value: int | None) -> str:
    """``1,234``; a question mark for what is not known."""
    return "?" if value is None else f"{value:,}"


def size(value: int) -> str:
    """``12.3 MiB``."""
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            return f"{amount:,.1f} {unit}" if unit != "B" else f"{value} B"
        amount /= 1024
    return f"{amount:,.1f} PiB"


def plural(count: int | None, noun: str) -> str:
    """``1 record``, ``2,000 records``."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key in JSON and CSV, its title in a table, and how its values look there."""

    key: str
    title: str
    show: Callable[[Any], str] = str
    numeric: bool = False
    whole: bool = False  # never over two lines, as a chart that would mean nothing there


class Rows:
    """Rows of one kind. JSON and CSV are written row by row, a table when all rows are there.

    Args:
        columns: Of every row, in order.
        asked: The format the user insisted on, if any.
    """

    def __init__(self, columns: Sequence[Column], asked: Format | None) -> None:
        self._columns = columns
        self.format = chosen_format(asked)
        self._rows: list[Mapping[str, Any]] = []
        self._total: Mapping[str, Any] | None = None
        if self.format == "csv":
            self._write_csv([column.key for column in columns])

    def add(self, row: Mapping[str, Any]) -> None:
        """Prints a row, or keeps it for the table."""
        if self.format == "json":
            print_json({column.key: row[column.key] for column in self._columns})
        elif self.format == "csv":
            self._write_csv([_csv_value(row[column.key]) for column in self._columns])
        else:
            self._rows.append(row)

    def set_total(self, row: Mapping[str, Any]) -> None:
        """Sets the last line of a table. JSON and CSV have none: who adds up their rows would count twice."""
        self._total = row

    def _write_csv(self, values: list[str]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(values)
        # Names that are not text come out as the bytes they are.
        _write(text.getvalue().encode("utf-8", "surrogateescape"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # What was found before an error is worth showing; not so to someone who pressed Ctrl-C.
        if self.format == "table" and (kind is None or issubclass(kind, Exception)):
            self._print_table()

    def _print_table(self) -> None:
        from rich.table import Table
        from rich.text import Text

        if not self._rows:
            return
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for column in self._columns:
            table.add_column(
                Text(column.title),
                justify="right" if column.numeric else "left",
                no_wrap=column.numeric or column.whole,
                overflow="fold",
            )
        for row in self._rows:
            table.add_row(*(Text(cell) for cell in self._cells(row)))
        if self._total is not None:
            table.add_row(*(Text(cell, style="bold") for cell in self._cells(self._total)))
        print_rich(table)

    def _cells(self, row: Mapping[str, Any]) -> list[str]:
        return [
            display(column.show(row[column.key])) if column.key in row else "" for column in self._columns
        ]


def print_json(value: Mapping[str, Any]) -> None:
    """Prints one line of JSON, in UTF-8."""
    # A byte of a file name that is no UTF-8 is a lone surrogate in Python: JSON can hold it, escaped.
    _write(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")


def print_found(
    found: Found,
    asked: Format | None,
    rows: Callable[[Found, Format], None],
    summary: Callable[[Found], None],
) -> None:
    """Prints a result: as one object of JSON; or its rows, and in a table what they come to."""
    shape = chosen_format(asked)
    if shape == "json":
        print_json(found.to_dict())
        return
    rows(found, shape)
    if shape == "table":
        summary(found)


def print_rich(what: Any) -> None:
    """Prints for people: text, with rich's markup, or anything rich can draw."""
    from rich.text import Text

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    _console().print(what, soft_wrap=isinstance(what, (str, Text)))


def console_width() -> int:
    """How many columns there are for a table."""
    width: int = _console().width
    return width


def _console() -> Any:
    from rich.console import Console

    return Console(file=sys.stdout, width=None if is_terminal() else _PIPE_COLUMNS, highlight=False)


def print_text(text: str) -> None:
    """Prints text as it is."""
    _write(text.encode("utf-8", "backslashreplace") + b"\n")


def print_code(code: str) -> None:
    """Prints code: on a terminal with its comments in another colour, never wrapped."""
    if not is_terminal():
        print_text(code)
        return
    from rich.text import Text

    shown = Text()
    for line in code.splitlines(keepends=True):
        before, mark, comment = line.partition("# ")
        shown.append(before)
        shown.append(mark + comment, style="yellow" if comment.startswith("Conflict: ") else "bright_black")
    print_rich(shown)


def _csv_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _write(data: bytes) -> None:
    out = standard_output()
    out.write(data)
    out.flush()  # whoever reads the pipe gets every row when it is there
