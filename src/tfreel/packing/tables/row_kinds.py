"""Rows of any values in, rows of one kind for each feature out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from tfreel.features.kinds import DType, Feature, FixedLenFeature, RaggedFeature
from tfreel.packing.source import RejectError
from tfreel.packing.tables.table import ColumnNote

_MOST_NESTED = 32
_EMPTY = {"int64": np.empty(0, np.int64), "float32": np.empty(0, np.float32), "bytes": np.empty(0, "S1")}
_NAMES = {"int64": "whole numbers", "float32": "numbers", "bytes": "text"}

# Of a feature, or of words for numbers, which are either kind; None for an empty list.
_Kind: TypeAlias = DType | Literal["word"] | None


# The kinds of plain values, which most are, found without further questions.
_PLAIN: dict[type, DType] = {bool: "int64", int: "int64", float: "float32", str: "bytes", bytes: "bytes"}

_PLAIN_TYPES = frozenset(_PLAIN)
_NAME_TYPES = frozenset({str})
_MOST_FORMS = 1 << 12


class NumberWord(float):
    """A number that its source had to spell, as JSON does with NaN: text, if that is what others are."""

    def __init__(self, text: str) -> None:
        self.text = text


def flattened(
    row: Mapping[str, Any], nulls: set[str] | None = None, *, nested: bool = True
) -> dict[str, Any]:
    """The row with the values of objects in it under names with slashes, and without those that are None.

    Their names are added to `nulls`.

    Raises:
        RejectError: It holds something that is no feature.
    """
    if _PLAIN_TYPES.issuperset(map(type, row.values())) and _NAME_TYPES.issuperset(map(type, row)):
        return dict(row)
    flat: dict[str, Any] = {}
    _flatten(row, "", flat, set() if nulls is None else nulls, _MOST_NESTED if nested else 0)
    return flat


def _flatten(row: Mapping[str, Any], prefix: str, flat: dict[str, Any], nulls: set[str], deeper: int) -> None:
    for key, value in row.items():
        if not isinstance(key, str):
            raise RejectError(f"features are named by text, not by {key!r}")
        name = prefix + key
        if isinstance(value, Mapping):
            if not deeper:
                raise RejectError(f"{name!r} holds an object in an object")
            _flatten(value, name + "/", flat, nulls, deeper - 1)
        elif name in flat:
            raise RejectError(f"two features would be called {name!r}")
        elif value is None:
            nulls.add(name)
        else:
            flat[name] = value


def _leaves(value: Any, deeper: int = _MOST_NESTED) -> Iterator[Any]:
    if not isinstance(value, (list, tuple)):
        yield value
        return
    if not deeper:
        raise RejectError(f"lists are nested more than {_MOST_NESTED} deep")
    for item in value:
        yield from _leaves(item, deeper - 1)


def _kind_of(name: str, value: Any) -> tuple[_Kind, int | None]:
    """What a value holds, and how many; None for a value that is no list."""
    if (plain := _PLAIN.get(type(value))) is not None:
        return plain, None
    if isinstance(value, np.ndarray):
        return _array_kind(name, value), value.size
    if not isinstance(value, (list, tuple)):
        return _single_kind(name, value), None
    kinds = Counter(_single_kind(name, item) for item in _leaves(value))
    if "bytes" in kinds and not kinds.keys() <= {"bytes", "word"}:
        raise RejectError(f"{name!r} holds text and numbers in one list")
    kind: _Kind = next(iter(kinds), None)
    if len(kinds) > 1:
        kind = "bytes" if "bytes" in kinds else "float32"
    return kind, kinds.total()


def _array_kind(name: str, value: Any) -> DType:
    kinds: dict[str, DType] = {"b": "int64", "i": "int64", "u": "int64", "m": "int64", "M": "int64"}
    kinds |= {"f": "float32", "S": "bytes", "U": "bytes"}
    kind = kinds.get(value.dtype.kind)
    if kind is None:
        raise RejectError(f"{name!r} holds an array of {value.dtype}")
    return kind


def _single_kind(name: str, value: Any) -> DType | Literal["word"]:
    if isinstance(value, NumberWord):
        return "word"
    if isinstance(value, (int, np.integer, np.bool_)):
        return "int64"
    if isinstance(value, (float, np.floating)):
        return "float32"
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return "bytes"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return "int64"
    if value is None:
        raise RejectError(f"{name!r} holds nothing among other values")
    what = "an object in a list" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    raise RejectError(f"{name!r} holds {what}")


class _Column:
    """What was seen of one feature."""

    def __init__(self) -> None:
        self.kinds: Counter[DType] = Counter()
        self.words = 0
        self.rows = 0
        self.lengths: set[int | None] = set()  # no more than two of them
        self.settled: DType | None = None

    def see(self, kind: _Kind, length: int | None, rows: int = 1) -> None:
        self.rows += rows
        if kind == "word":
            self.words += rows
        elif kind is not None:
            self.kinds[kind] += rows
        if len(self.lengths) < 2:
            self.lengths.add(length)

    @property
    def dtype(self) -> DType | None:
        """Whole numbers among others are numbers too; of text and numbers it is what there is more of."""
        if self.settled is not None:
            return self.settled
        numbers = self.kinds["int64"] + self.kinds["float32"]
        if not self.kinds.total():
            return "float32" if self.words else None
        if self.kinds["bytes"] > numbers:
            return "bytes"
        return "float32" if self.kinds["float32"] or self.words else "int64"


# The names of a row, and the types of its values.
_Form: TypeAlias = tuple[tuple[str, ...], tuple[type, ...]]


def _form_of(row: Mapping[str, Any]) -> _Form:
    return tuple(row), tuple(map(type, row.values()))


class RowKinds:
    """The kind of each feature in rows that were seen, and the way to give rows these kinds.

    Most rows have the form of others, the same names with the same types of plain values. They are counted by
    their form, and looked into once for each.

    Attributes:
        nulls: The names of features that are None in some row.
    """

    def __init__(self) -> None:
        self.nulls: set[str] = set()
        self._columns: dict[str, _Column] = {}
        self._rows = 0
        self._forms: Counter[_Form] = Counter()
        self._good_forms: set[_Form] = set()

    def see(self, row: Mapping[str, Any]) -> None:
        """Takes note of a row that is flat.

        Raises:
            RejectError: It holds something that is no feature. It leaves no trace then.
        """
        form = _form_of(row)
        if form in self._forms or (len(self._forms) < _MOST_FORMS and _PLAIN_TYPES.issuperset(form[1])):
            self._forms[form] += 1
            return
        found = {name: _kind_of(name, value) for name, value in row.items()}
        for name, (kind, length) in found.items():
            self._columns.setdefault(name, _Column()).see(kind, length)
        self._rows += 1

    def settle(self) -> None:
        """Lets what was seen so far decide, whatever comes."""
        for (names, types), rows in self._forms.items():
            for name, kind in zip(names, types, strict=True):
                self._columns.setdefault(name, _Column()).see(_PLAIN[kind], None, rows)
            self._rows += rows
        self._forms.clear()
        for name in sorted(self.nulls):
            self._columns.setdefault(name, _Column())
        for column in self._columns.values():
            column.settled = column.dtype

    def applied(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with every value of the kind of its feature. What was seen must be settled.

        Raises:
            RejectError: A value is of another kind.
        """
        form = _form_of(row)
        if form in self._good_forms:
            return row
        fit = {name: self._fit(name, value) for name, value in row.items()}
        same = all(fit[name] is row[name] for name in row)
        if same and _PLAIN_TYPES.issuperset(form[1]) and len(self._good_forms) < _MOST_FORMS:
            self._good_forms.add(form)
        return fit

    def _fit(self, name: str, value: Any) -> Any:
        found, length = _kind_of(name, value)
        wanted = self._columns[name].dtype if name in self._columns else None
        if found == "word":
            found = "bytes" if wanted == "bytes" else "float32"
        wanted = wanted or found
        if wanted is None:  # an empty list in every row: nobody knows of what
            return None
        if found is None:
            return _EMPTY[wanted]
        if found != wanted and (found, wanted) != ("int64", "float32"):
            raise RejectError(f"{name!r} holds {_NAMES[found]}, and {_NAMES[wanted]} in other rows")
        if wanted == "float32":
            return float(value) if length is None else _as_floats(value)
        return spelt(value) if wanted == "bytes" else value

    def names(self) -> list[str]:
        """What all features are called, also those that no row has a value of."""
        return list(self._columns)

    def features(self) -> dict[str, Feature]:
        """What to read the rows with."""
        features: dict[str, Feature] = {}
        for name, column in self._columns.items():
            dtype = column.dtype
            if dtype is None:
                continue
            (length,) = column.lengths if len(column.lengths) == 1 else (0,)
            if column.rows < self._rows or length == 0:
                features[name] = RaggedFeature(dtype)
            else:
                features[name] = FixedLenFeature([] if length is None else [length], dtype)
        return features

    def notes(self) -> list[ColumnNote]:
        """What to tell of each feature."""
        return [ColumnNote(name, column.dtype, self._told(column)) for name, column in self._columns.items()]

    def _told(self, column: _Column) -> str:
        if column.dtype is None:
            return "empty in all rows"
        told = []
        if column.rows < self._rows:
            told.append(f"absent in {self._rows - column.rows:,} rows")
        texts = column.kinds["bytes"]
        if others := texts if column.dtype != "bytes" else column.kinds.total() - texts:
            told.append(f"of another kind in {others:,} rows")
        return "; ".join(told)


def spelt(value: Any) -> Any:
    """Words for numbers as the text they are."""
    if isinstance(value, list):
        return [spelt(item) for item in value]
    return value.text if isinstance(value, NumberWord) else value


def _as_floats(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind == "f" else value.astype(np.float64)
    return [float(item) for item in _leaves(value)]
