"""How the values of an example look: a few words in a table, all of it in JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

from tfreel.inference.content import NAMES, Content, content_of

_MOST_ITEMS = 3
_LONGEST_TEXT = 40


# In a table -------------------------------------------------------------------------------------------------


def cell(value: Any, *, full: bool = False) -> str:
    """The values of a feature in a few words; with `full`, all numbers and all text."""
    if value is None:
        return "[]"
    if isinstance(value, list):
        if len(value) == 1:
            return bytes_cell(value[0], full=full)
        return _listed([_quoted(item, full) for item in _first(value, full)], len(value))
    if value.ndim != 1 or value.dtype.name not in ("int64", "float32"):
        return f"{value.dtype} {_sides(value.shape)}, {short_size(value.nbytes)}"
    items = [_number(item, full) for item in _first(value, full)]
    return items[0] if len(value) == 1 else _listed(items, len(value))


def steps_cell(steps: list[Any], *, full: bool = False) -> str:
    """The values of a feature list in a few words."""
    rows = ", ".join(cell(value, full=full) for value in _first(steps, full))
    more = len(steps) - len(_first(steps, full))
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


def _quoted(item: bytes, full: bool) -> str:
    text = bytes_cell(item, full=full)
    return repr(text) if content_of(item).kind == "text" else text


def _first(values: Any, full: bool) -> Any:
    # To say that there is one more takes as much room as to show it.
    return values if full or len(values) <= _MOST_ITEMS + 1 else values[:_MOST_ITEMS]


def _listed(items: list[str], count: int) -> str:
    more = f", … {count - len(items):,} more" if count > len(items) else ""
    return f"[{', '.join(items)}{more}]"


def _number(item: Any, full: bool) -> str:
    return str(item) if full or item.dtype.kind == "i" else f"{item:.4g}"


# In JSON ----------------------------------------------------------------------------------------------------


def features_json(features: Mapping[str, Any], *, full: bool) -> dict[str, Any]:
    """Features as JSON has them: every feature a list, None for one without a kind."""
    return {name: values_json(value, full=full) for name, value in features.items()}


def values_json(value: Any, *, full: bool) -> list[Any] | None:
    """The values of a feature: numbers, texts, and an object for each bytes value that is no text."""
    if value is None:
        return None
    if isinstance(value, list):
        return [bytes_json(item, full=full) for item in value]
    if value.dtype.kind == "i":
        return list(value.tolist())
    return [_float_json(item) for item in value]


def _float_json(item: Any) -> float | str:
    number = float(str(item))  # the shortest decimal that means this float32: 0.1, not 0.10000000149011612
    if math.isfinite(number):
        return number
    # JSON has no such numbers. These are the words that protobuf has for them.
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def bytes_json(value: bytes, *, full: bool) -> str | dict[str, Any]:
    """Text as a string; else an object that says what it is, with `full` also its bytes."""
    content = content_of(value)
    if content.kind in ("text", "empty"):
        return value.decode()
    found: dict[str, Any] = {"content": content.kind, "bytes": len(value)}
    if content.width and content.height:
        found |= {"width": content.width, "height": content.height}
    if content.dtype is not None:
        found |= {"dtype": content.dtype, "shape": list(content.shape or ())}
    if full:
        found["base64"] = base64.b64encode(value).decode()
    return found
