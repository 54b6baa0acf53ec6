"""Arrays stored as bytes: what their dtype and shape are, by what other features of the same records say.

A shape is believed when its values make exactly as many bytes as there are, in every record that was kept.
Without such a feature, equal lengths that are those of a square image are worth a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MOST_ROWS = 1000
_MOST_DIMENSIONS = 8
_LONGEST_DTYPE = 16
_CHANNELS = (3, 1, 4)  # in the order in which a guess tries them
_SMALLEST_SQUARE = 8
_ITEM_BYTES = (1, 2, 4, 8)
_HEIGHTS, _WIDTHS = ("height", "rows", "h"), ("width", "cols", "columns", "w")
_DEPTHS = ("depth", "channels", "channel", "c")


@dataclass(frozen=True, slots=True)
class StoredArray:
    """What is known of the arrays in a bytes feature: None is not known, or not the same in all records."""

    dtype: str | None
    shape: tuple[int, ...] | None
    shape_from: tuple[str, ...] = ()


@dataclass(slots=True)
class _Row:
    """What of one record may say something about arrays."""

    sizes: dict[str, int] = field(default_factory=dict)  # of single bytes values
    words: dict[str, bytes] = field(default_factory=dict)  # the short ones of them
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)


class Rows:
    """The small facts of the first records, kept until all features have been seen."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []

    def keep(self, features: Mapping[str, Any]) -> None:
        """Takes the facts of one record."""
        if len(self._rows) == _MOST_ROWS:
            return
        row = _Row()
        for name, value in features.items():
            if isinstance(value, list):
                if len(value) == 1:
                    row.sizes[name] = len(value[0])
                    if len(value[0]) <= _LONGEST_DTYPE:
                        row.words[name] = value[0]
            elif value is not None and value.dtype == np.int64 and 0 < len(value) <= _MOST_DIMENSIONS:
                row.numbers[name] = tuple(value.tolist())
        self._rows.append(row)

    def arrays_in(self, name: str) -> StoredArray | None:
        """What the features of the records say about the arrays in this one."""
        rows = [row for row in self._rows if row.sizes.get(name)]
        if not rows:
            return None
        return _tensor(name, rows) or _said(name, rows) or _square({row.sizes[name] for row in rows})


def _tensor(name: str, rows: Sequence[_Row]) -> StoredArray | None:
    """The three features that `tfreel.tensor` makes."""
    helper = f"{name}/shape"
    dtypes: set[str] = set()
    for row in rows:
        dtype = _dtype_named(row.words.get(f"{name}/dtype", b""))
        shape = row.numbers.get(helper)
        # A scalar has an empty shape, and so no fact: it is told by its name and size.
        if dtype is None or math.prod(shape or ()) * dtype.itemsize != row.sizes[name]:
            return None
        dtypes.add(dtype.name)
    shapes = {row.numbers.get(helper, ()) for row in rows}
    return StoredArray(_only(dtypes), _only(shapes), (helper,))


def _dtype_named(word: bytes) -> np.dtype[Any] | None:
    if word == b"bfloat16":  # which NumPy alone does not know, but its size
        return np.dtype(np.uint16)
    try:
        dtype = np.dtype(word.decode("ascii"))
    except (TypeError, ValueError, UnicodeDecodeError, SyntaxError):
        return None
    return dtype if word and dtype.kind in "biufc" and dtype.name == word.decode() else None


def _said(name: str, rows: Sequence[_Row]) -> StoredArray | None:
    """A shape that one feature says, or one for each dimension."""
    for keys in _shape_features(name, rows[0].numbers):
        shapes = [_joined(row, keys) for row in rows]
        for extra in ((), *((channels,) for channels in _CHANNELS)):
            for item_bytes in _ITEM_BYTES:
                if all(
                    shape and math.prod((*shape, *extra)) * item_bytes == row.sizes[name]
                    for shape, row in zip(shapes, rows, strict=True)
                ):
                    found = {(*shape, *extra) for shape in shapes if shape}
                    return StoredArray("uint8" if item_bytes == 1 else None, _only(found), keys)
            if len(keys) != 2:  # only height and width leave something to be guessed
                break
    return None


def _joined(row: _Row, keys: Sequence[str]) -> tuple[int, ...] | None:
    parts = [row.numbers.get(key) for key in keys]
    if any(part is None or min(part) < 1 for part in parts):
        return None
    return tuple(size for part in parts for size in part or ())


def _shape_features(name: str, numbers: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """The features that may say the shape, those with the longest common prefix first."""
    known = {key.lower(): key for key in numbers}
    for prefix in dict.fromkeys(_prefixes(name.lower())):
        if prefix + "shape" in known:
            yield (known[prefix + "shape"],)
        sides = [_first(known, prefix, names) for names in (_HEIGHTS, _WIDTHS, _DEPTHS)]
        height, width, depth = sides
        if height and width:
            if depth:
                yield height, width, depth
            yield height, width


def _prefixes(name: str) -> Iterator[str]:
    yield from (name + "/", name + "_")
    for mark in "/_":
        head, found, _ = name.rpartition(mark)
        if found:
            yield from (head + "/", head + "_")
    yield ""


def _first(known: Mapping[str, str], prefix: str, names: Sequence[str]) -> str | None:
    return next((known[prefix + name] for name in names if prefix + name in known), None)


def _square(sizes: set[int]) -> StoredArray | None:
    size = _only(sizes)
    for channels in _CHANNELS if size else ():
        side = math.isqrt(size // channels) if size else 0
        if side >= _SMALLEST_SQUARE and side * side * channels == size:
            return StoredArray("uint8", (side, side, channels))
    return None


def _only(things: set[Any]) -> Any:
    return next(iter(things)) if len(things) == 1 else None
