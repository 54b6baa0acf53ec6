"""Tables of labels: files that have a row for each picture, with its name and its class."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from tfreel.packing.tables.text_file import delimiter_of
from tfreel.storage.paths import display

_FILE_COLUMNS = ("file", "filename", "file_name", "path", "image", "image_path", "name", "id", "image_id")
_LABEL_COLUMNS = ("label", "class", "category", "target", "class_name", "label_name", "y")
_WHOLE_FLOAT = re.compile(r"-?\d+\.0", re.ASCII)
_LARGEST_BYTES = 1 << 30
_HEAD_BYTES = 1 << 12
_MOST_NAMED = 20


def read_table(path: str) -> dict[str, str]:
    """The labels in a table, by the names of files: of CSV, TSV, or lines of a file and its label.

    Raises:
        ValueError: It is no such table, or says two different things of a file.
    """
    rows = _rows(path)
    if not rows or len(rows[0]) < 2:
        raise ValueError(f"{display(path)}: a table of labels has a column of files and one of labels")
    file_column, label_column, body = _columns(path, rows)
    table: dict[str, str] = {}
    for number, row in enumerate(body, 1):
        if len(row) <= max(file_column, label_column):
            raise ValueError(f"{display(path)}: row {number} has {len(row)} columns")
        key, label = row[file_column].strip().replace("\\", "/").removeprefix("./"), row[label_column].strip()
        if table.setdefault(key, label) != label:
            raise ValueError(f"{display(path)}: two labels for {key!r}: {table[key]!r} and {label!r}")
    # So pandas writes whole numbers where one is missing.
    if all(not label or _WHOLE_FLOAT.fullmatch(label) for label in table.values()):
        return {key: label.removesuffix(".0") for key, label in table.items()}
    return table


def _rows(path: str) -> list[list[str]]:
    with open(path, "rb") as file:
        data = file.read(_LARGEST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{display(path)}: line {line} is not UTF-8") from None
    delimiter = delimiter_of(path, data[:_HEAD_BYTES])
    if delimiter not in text.lstrip().partition("\n")[0]:  # the name of a file may have blanks in it
        return [line.rsplit(maxsplit=1) for line in text.splitlines() if line.strip()]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [row for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        raise ValueError(f"{display(path)}: line {lines.line_num} is no row of a table: {error}") from None


def _columns(path: str, rows: list[list[str]]) -> tuple[int, int, list[list[str]]]:
    """Where files and labels are, and the rows without the head, if there is one."""
    head = [cell.strip().lower() for cell in rows[0]]
    file = _place(head, _FILE_COLUMNS)
    # Beside an x it is where something is in a picture.
    label = _place(head, [name for name in _LABEL_COLUMNS if name != "y" or "x" not in head])
    if file is not None and label is not None:
        return file, label, rows[1:]
    if len(head) > 2:
        raise _unnamed(path, rows[0], _FILE_COLUMNS if file is None else _LABEL_COLUMNS)
    if not _is_head(rows, known=file is not None or label is not None):
        return 0, 1, rows
    first = file == 1 or label == 0
    return int(first), int(not first), rows[1:]


def _place(head: list[str], names: Sequence[str]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)


def _is_head(rows: list[list[str]], *, known: bool) -> bool:
    """Whether the first of rows of two cells has their names. Files have suffixes, names of columns none."""
    if any("." in cell for cell in rows[0]):
        return False
    return known or (len(rows) > 1 and all("." in row[0] for row in rows[1:]))


def _unnamed(path: str, head: Sequence[str], names: Sequence[str]) -> ValueError:
    shown = ", ".join(map(repr, head[:_MOST_NAMED])) + (", …" if len(head) > _MOST_NAMED else "")
    return ValueError(
        f"{display(path)}: a column must be called {', '.join(names[:-1])} or {names[-1]}, or the table have"
        f" two columns, of files and labels; there are {shown}"
    )
