"""Values in a few words, for a cell of a table: text as it is, anything else by what it is."""

from __future__ import annotations

from typing import Any

from tfreel.inference.content import NAMES, Content, content_of

_MOST_ITEMS = 3
_LONGEST_TEXT = 40


def cell(value: Any, *, full: bool = False) -> str:
    """The values of a feature in a few words; with `full`, all numbers and all text."""
    if value is None:
        return "[]"
    if isinstance(value, list):
        if len(value) == 1:
            return bytes_cell(value[0], full=full)
        return _listed([_quoted(item, full=full) for item in _first(value, full=full)], len(value))
    if value.ndim != 1 or value.dtype.name not in ("int64", "float32"):
        return f"{value.dtype} {_sides(value.shape)}, {short_size(value.nbytes)}"
    items = [_number(item, full=full) for item in _first(value, full=full)]
    return items[0] if len(value) == 1 else _listed(items, len(value))


def steps_cell(steps: list[Any], *, full: bool = False) -> str:
    """The values of a feature list in a few words."""
    rows = ", ".join(cell(value, full=full) for value in _first(steps, full=full))
    more = len(steps) - len(_first(steps, full=full))
    count = f"{len(steps):,} step{'' if len(steps) == 1 else 's'}"
    return f"{count}: {rows}" + (", …" if more else "") if steps else count


def bytes_cell(value: bytes, *, full: bool = False) -> str:
    """A bytes value in a few words: text as it is, anything else by what it is."""
    content = content_of(value)
    if content.kind == "empty":
        return "''"
    if content.kind == "text":
        text = value.decode()
        return text if full or len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
    return f"{_described(content)}, {short_size(len(value))}"


def short_size(value: int) -> str:
    """``53 kB``, ``3.1 kB``, ``512 B``: as short as can be, for a cell."""
    if value < 1000:
        return f"{value} B"
    amount = value / 1000
    for unit in ("kB", "MB"):
        if amount < 999.5:
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def _described(content: Content) -> str:
    if content.width and content.height:
        return f"{NAMES[content.kind]} {content.width}×{content.height}"
    if content.dtype is not None:
        return f"tensor {content.dtype} {_sides(content.shape or ())}"
    return "bytes" if content.kind == "binary" else NAMES[content.kind]


def _sides(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "scalar"


def _quoted(item: bytes, *, full: bool) -> str:
    text = bytes_cell(item, full=full)
    return repr(text) if content_of(item).kind == "text" else text


def _first(values: Any, *, full: bool) -> Any:
    # To say that there is one more takes as much room as to show it.
    return values if full or len(values) <= _MOST_ITEMS + 1 else values[:_MOST_ITEMS]


def _listed(items: list[str], count: int) -> str:
    more = f", … {count - len(items):,} more" if count > len(items) else ""
    return f"[{', '.join(items)}{more}]"


def _number(item: Any, *, full: bool) -> str:
    return str(item) if full or item.dtype.kind == "i" else f"{item:.4g}"
