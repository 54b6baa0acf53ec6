"""HTML for notebooks: small tables of values, with small pictures.

All text that comes from files is escaped. There is no script, and no address of anything outside: pictures
are decoded, made small and encoded anew before they stand in a page. That takes a room far above this one,
which the front door knows.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tfreel.storage.paths import display

MOST_ROWS = 3
_MOST_COLUMNS = 30
_MOST_ITEMS = 4
_MOST_PICTURES = 12
_LONGEST_TEXT = 60
_NO_LETTER = "\ufffd"  # what stands for bytes that are none
_STYLE = (
    "<style>.tfreel-table{border-collapse:collapse}.tfreel-table td,.tfreel-table th{text-align:left;"
    "vertical-align:top;padding:.2em .8em .2em 0;max-width:24em;overflow-wrap:anywhere}"
    ".tfreel-table img{display:block;image-rendering:auto}</style>"
)


def safe(text: object) -> str:
    """Text that may stand anywhere in a page, also between quotes."""
    return html.escape(display(str(text)), quote=True)


def count(number: int, noun: str) -> str:
    """``1 record``, ``2,000 records``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def block(title: str, *parts: str) -> str:
    """A piece of a page: a title, which is text, and what stands below it, which is HTML."""
    return f"<div>{_STYLE}<b>{safe(title)}</b>{''.join(parts)}</div>"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Titles are text; cells are HTML."""
    head = "".join(f"<th>{safe(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table class="tfreel-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def note(text: str) -> str:
    """A line of text below a table."""
    return f"<div>{safe(text)}</div>"


class Cells:
    """Makes values into cells: numbers and texts cut short, and pictures, unless there are too many."""

    def __init__(self) -> None:
        self._pictures = 0

    def row_table(self, rows: Sequence[Any], names: Sequence[str] | None = None) -> str:
        """Rows, which are dicts or single values, as a table with a line for each of them."""
        dicts = [row if isinstance(row, dict) else {"": row} for row in rows]
        found = list(dict.fromkeys(name for row in dicts for name in row)) if names is None else list(names)
        shown = found[:_MOST_COLUMNS]
        lines = [[self.cell(row.get(name)) for name in shown] for row in dicts]
        more = f"… and {len(found) - len(shown):,} more columns"
        return table(shown, lines) + (note(more) if len(found) > len(shown) else "")

    def cell(self, value: Any) -> str:
        """One value."""
        if value is None:
            return ""
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._painted(bytes(value)) or safe(_bytes_words(bytes(value)))
        if isinstance(value, str):
            return safe(_cut(value))
        if isinstance(value, np.ndarray) and value.ndim:
            return self._array(value)
        if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
            return self._listed([value[i] for i in range(min(len(value), _MOST_ITEMS))], len(value))
        return safe(_cut(str(value)))

    def _array(self, value: Any) -> str:
        if value.ndim > 1:
            shape = "×".join(map(str, value.shape))
            return self._painted(value) or safe(f"{value.dtype} {shape}")
        return self._listed(list(value[:_MOST_ITEMS]), len(value))

    def _listed(self, items: Sequence[Any], count: int) -> str:
        more = f", … {count - len(items):,} more" if count > len(items) else ""
        return f"[{', '.join(self.cell(item) for item in items)}{more}]"

    def _painted(self, value: Any) -> str | None:
        from tfreel import _painter  # the front door knows the rooms above this one

        if self._pictures >= _MOST_PICTURES:
            return None
        made: str | None = _painter()(value)
        self._pictures += made is not None
        return made


def _bytes_words(value: bytes) -> str:
    """Text as it is; of anything else, how much of it there is."""
    head = value[: 4 * _LONGEST_TEXT]
    text = head.decode("utf-8", "replace")
    if len(head) < len(value):
        text = text.rstrip(_NO_LETTER) + "…"  # the last one may have been cut in two
    is_text = _NO_LETTER not in text and all(c.isprintable() or c.isspace() for c in text)
    return _cut(text) if is_text else count(len(value), "byte")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def attempt(make: Callable[[], str], failures: tuple[type[Exception], ...]) -> str:
    """What `make` makes; if it fails like this, the reason: to look at something must not raise."""
    try:
        return make()
    except failures as error:
        return note(str(error))


def listed(names: Iterable[str], most: int = 10) -> Iterator[str]:
    """The first of some names, and how many more there are."""
    names = list(names)
    yield from names[:most]
    if len(names) > most:
        yield f"… and {len(names) - most:,} more"
