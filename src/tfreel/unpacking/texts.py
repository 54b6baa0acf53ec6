"""Values as text: columns in, for each record a piece of JSON or a cell of CSV out.

Nothing is lost on the way. Integers are written in full, float32 as the shortest decimal that means the same
float32, text as it is, and other bytes as an object: ``{"base64": "…"}``. What JSON has no numbers for is the
text that protobuf has for it: ``"NaN"``, ``"Infinity"``, ``"-Infinity"``.
"""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from json.encoder import encode_basestring as _json_string
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.batch import Column as Values
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import as_rows
from tfreel.columns.strings import BytesColumn
from tfreel.inference.content import is_text
from tfreel.unpacking.schema import Column

_MARK = '{"base64":'
_SMALL, _LARGE = 1e-13, 1e22
_DIGITS = range(6, 10)  # every float32 of up to 6 digits comes back, and 9 digits always do


def json_texts(column: Column, values: Values) -> list[str | None]:
    """The values of each record as JSON; None where the record lacks the feature."""
    return _by_record(column, values, quoted=True)


def csv_texts(column: Column, values: Values, delimiter: str) -> list[str]:
    """The values of each record as a cell of CSV: nothing for an absent feature, ``""`` for an empty text."""
    cells = _by_record(column, values, quoted=not column.single)
    if column.single and not column.is_bytes:
        return [cell or "" for cell in cells]
    special = re.compile(f'["\r\n{delimiter}]')
    if not special.search("".join(filter(None, cells))):  # one look at them all, most often
        return ["" if cell is None else cell or '""' for cell in cells]
    return ["" if cell is None else _csv_quoted(cell, special) for cell in cells]


def csv_title(name: str, delimiter: str) -> str:
    """The name of a column as a cell of CSV."""
    return _csv_quoted(name, re.compile(f'["\r\n{delimiter}]'))


def _csv_quoted(cell: str, special: re.Pattern[str]) -> str:
    if cell and not special.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _by_record(column: Column, values: Values, *, quoted: bool) -> list[str | None]:
    rows = as_rows(values)
    if not isinstance(rows, Ragged):
        return _without_times(rows, [*_nested(column, rows, quoted=quoted)])
    if column.single:
        return _none_or_one(column, rows, quoted=quoted)
    texts: list[str | None] = [*_nested(column, rows, quoted=quoted)]
    if rows.present is not None:
        for i in np.flatnonzero(~rows.present).tolist():
            texts[i] = None
    return texts


def _without_times(rows: Any, texts: list[str | None]) -> list[str | None]:
    """The texts, with None where a row says that it has no time."""
    if not isinstance(rows, BytesColumn) and rows.dtype.kind in "mM" and rows.ndim == 1:
        for i in np.flatnonzero(np.isnat(rows)).tolist():
            texts[i] = None
    return texts


def _none_or_one(column: Column, rows: Ragged, *, quoted: bool) -> list[str | None]:
    rows = rows.trimmed()
    flat = _nested(column, rows.values, quoted=quoted)
    return [flat[a] if b > a else None for a, b in pairwise(rows.offsets.tolist())]


def _nested(column: Column, values: Any, *, quoted: bool) -> list[str]:
    """A text for each row, with a list around what has more than one value."""
    if isinstance(values, Ragged):
        values = values.trimmed()
        return _lists(_nested(column, values.values, quoted=quoted), values.offsets.tolist())
    shape = values.shape
    if isinstance(values, BytesColumn):
        texts = _bytes_texts(values, text=column.is_text, quoted=quoted)
    else:
        texts = number_texts(values.reshape(-1), quoted=quoted)
    for i in range(len(shape) - 1, 0, -1):
        count = int(np.prod(shape[:i]))
        texts = _lists(texts, range(0, (count + 1) * shape[i], shape[i]) if shape[i] else [0] * (count + 1))
    return texts


def _lists(texts: list[str], offsets: Any) -> list[str]:
    return [f"[{', '.join(texts[a:b])}]" for a, b in pairwise(offsets)]


def _bytes_texts(values: BytesColumn, *, text: bool, quoted: bool) -> list[str]:
    """Text as such, everything else in base64; all of it, unless the column is one of text."""
    offsets = values.offsets - values.offsets[0]
    data = values.data[int(values.offsets[0]) : int(values.offsets[-1])].tobytes()
    if text and data.isascii() and is_text(data) and _MARK not in (whole := data.decode()):
        # Nothing odd in any of them, and every character one byte: the offsets are good for the text too.
        plain = [whole[a:b] for a, b in pairwise(offsets.tolist())]
        return list(map(_json_string, plain)) if quoted else plain
    return [
        _bytes_text(value, text=text, quoted=quoted)
        for value in BytesColumn(values.data, values.offsets).to_list()
    ]


def _bytes_text(value: bytes, *, text: bool, quoted: bool) -> str:
    if text and is_text(value):
        plain = value.decode()
        if quoted:
            return _json_string(plain)
        # In a cell, text that looks like the mark of base64 must not be taken for it.
        if not plain.startswith(_MARK):
            return plain
    return f'{_MARK} "{base64.b64encode(value).decode()}"}}'


def number_texts(values: npt.NDArray[Any], *, quoted: bool) -> list[str]:
    """Numbers as the shortest text that means them."""
    kind = values.dtype.kind
    if kind in "iu":
        return list(map(str, values.tolist()))
    if kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if kind == "f":
        return _float_texts(values, quoted=quoted)
    if kind in "mM":
        return [f'"{value}"' if quoted else str(value) for value in values]
    raise TypeError(f"values of dtype {values.dtype} have no form as text")


def _float_texts(values: npt.NDArray[Any], *, quoted: bool) -> list[str]:
    texts = list(map(repr, shortest(values).tolist()))
    for i in np.flatnonzero(~np.isfinite(values)).tolist():
        word = "NaN" if np.isnan(values[i]) else "Infinity" if values[i] > 0 else "-Infinity"
        texts[i] = f'"{word}"' if quoted else word
    return texts


def shortest(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """For each number the float64 with the fewest digits that is rounded to it: 0.1, not 0.10000000149011612.

    What Python writes of these is what NumPy writes of a float32, but at the speed of whole arrays.
    """
    wide: npt.NDArray[np.float64] = values.astype(np.float64)
    if values.dtype != np.float32:
        return wide
    # Between these, powers of ten are exact where they are needed.
    usual = (np.abs(wide) >= _SMALL) & (np.abs(wide) < _LARGE)
    odd = np.flatnonzero(np.isfinite(wide) & (wide != 0) & ~usual)
    wide[odd] = [float(str(value)) for value in values[odd]]
    left = np.flatnonzero(usual)
    with np.errstate(all="ignore"):
        for digits in _DIGITS:
            exact = wide[left]
            places = digits - 1 - np.floor(np.log10(np.abs(exact)))
            scale = 10.0 ** np.abs(places)
            rounded = np.where(places >= 0, np.rint(exact * scale) / scale, np.rint(exact / scale) * scale)
            same = rounded.astype(values.dtype) == values[left]
            wide[left[same]] = rounded[same]
            left = left[~same]
    return wide
