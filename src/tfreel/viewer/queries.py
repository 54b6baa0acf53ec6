"""Which records, in which order: a condition, a text to search, a feature to sort by in, positions out."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.columns.expressions import Expression
from tfreel.columns.flat import FlatValues, flat_values
from tfreel.inference.profile import FeatureProfile
from tfreel.viewer.collection import Collection
from tfreel.viewer.jobs import Job, state_of
from tfreel.viewer.scans import Part, columns_of, walk

_LONGEST_QUESTION = 2000
_KEY_BYTES = 32  # of a text that is sorted by
_TEXTS = {"text", "empty"}

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for.

    Attributes:
        where: A condition, as in `tfreel.unpack`; empty for none.
        search: A text that must occur in one of the texts of a record; empty for none.
        sort: The feature to sort by; empty for the order of the files.
        descending: The greatest first.
        split: Only records of this one.
        file: Only records of this one.
    """

    where: str = ""
    search: str = ""
    sort: str = ""
    descending: bool = False
    split: str | None = None
    file: int | None = None

    @property
    def id(self) -> str:
        """The same for the same question."""
        return hashlib.sha256(repr(astuple(self)).encode("utf-8", "backslashreplace")).hexdigest()[:20]

    @property
    def needs_scan(self) -> bool:
        """Whether records must be read to answer it."""
        return bool(self.where or self.search or self.sort)


class Query(Job):
    """The answer to a question, as far as it is known.

    Raises:
        ValueError: The question makes no sense. The message says why.
    """

    def __init__(
        self,
        question: Question,
        collection: Collection,
        profiles: Mapping[str, FeatureProfile],
        lists: Mapping[str, FeatureProfile],
    ) -> None:
        super().__init__(question.id)
        if max(len(question.where), len(question.search)) > _LONGEST_QUESTION:
            raise ValueError(f"a question has at most {_LONGEST_QUESTION:,} characters")
        known = {**lists, **profiles}
        self._collection = collection
        self._question = question
        self._span = collection.span(question.split, question.file)
        self._expression = Expression(question.where, known) if question.where else None
        self._texts = [name for name, seen in known.items() if _TEXTS & seen.contents.keys()]
        if question.sort and question.sort not in known:
            raise ValueError(f"no feature is called {question.sort!r}")
        names = [
            *(self._expression.names if self._expression else []),
            *([question.sort] * bool(question.sort)),
        ]
        if question.search:
            names += self._texts
        self._columns = columns_of(list(dict.fromkeys(names)), profiles, lists)
        self._found: list[Positions] = []
        self._keys: list[Any] = []
        self._joined: Positions = np.empty(0, np.int64)
        self._guard = threading.Lock()
        self.unreadable = 0

    @property
    def total(self) -> int:
        """How many records are to be looked at."""
        return len(self._span)

    @property
    def is_sorted(self) -> bool:
        """Whether the records are in another order than that of the files."""
        return bool(self._question.sort)

    def positions(self) -> Positions:
        """The records found so far, or sorted, when they are."""
        with self._guard:
            if self._found:
                self._joined = np.concatenate([self._joined, *self._found])
                self._found = []
            return self._joined

    def state(self) -> dict[str, Any]:
        """How far it is."""
        sorting = bool(self._question.sort) and not self.done
        return {
            **state_of(self, self.total),
            "matches": 0 if sorting else len(self.positions()),
            "unreadable": self.unreadable,
        }

    def work(self) -> None:
        """Looks at all records."""
        if not self._question.needs_scan:
            self._found = [np.arange(self._span.start, self._span.stop)]
            self.records = self.total
            return
        kept: list[Positions] = []
        for part in walk(self._collection, self._columns, self, self._span):
            if part.batch is None:
                self.unreadable += 1
                continue
            rows = np.flatnonzero(self._mask(part))
            found = part.positions[rows]
            if self._question.sort:
                self._keys.append(_keys(flat_values(part.batch[self._question.sort]), rows))
                kept.append(found)
            else:
                with self._guard:
                    self._found.append(found)
        if self._question.sort:
            positions = np.concatenate([np.empty(0, np.int64), *kept])
            with self._guard:
                self._joined = positions[_order(self._keys, descending=self._question.descending)]
            self._keys = []
        self.records = self.total

    def _mask(self, part: Part) -> Mask:
        batch = part.batch
        wanted: Mask = (part.positions >= self._span.start) & (part.positions < self._span.stop)
        if batch is None:
            return wanted & False
        if self._expression is not None:
            wanted &= self._expression.mask(batch)
        if self._question.search:
            has = _finder(self._question.search)
            said = np.zeros(len(wanted), np.bool_)
            for name in self._texts:
                if name in batch:
                    flat = flat_values(batch[name])
                    said |= flat.any_row(np.array([has(value) for value in flat.values], np.bool_))
            wanted &= said
        return wanted


def _finder(text: str) -> Callable[[bytes], bool]:
    """Whether the text occurs in a value, small letters being as good as large ones."""
    if text.isascii():
        small = text.lower().encode()
        return lambda value: small in value.lower()
    folded = text.casefold()
    return lambda value: folded in value.decode(errors="replace").casefold()


def _keys(flat: FlatValues, rows: Positions) -> tuple[Any, Mask]:
    """What to sort some rows by, the first value of each; and which have none."""
    begin, end = flat.offsets[rows], flat.offsets[rows + 1]
    empty: Mask = begin == end
    first = np.where(empty, 0, begin)
    if isinstance(flat.values, list):
        texts = [b"" if gone else flat.values[i][:_KEY_BYTES] for i, gone in zip(first, empty, strict=True)]
        return np.array(texts, f"S{_KEY_BYTES}"), empty
    values = flat.values if len(flat.values) else np.zeros(1, np.int64)
    keys = values[first]
    if keys.dtype.kind == "f":
        empty = empty | np.isnan(keys)
    return keys, empty


def _order(keys: list[tuple[Any, Mask]], *, descending: bool) -> Positions:
    """The order of all rows: by their keys, those without one last, equal ones as they were."""
    if not keys:
        return np.empty(0, np.int64)
    values = np.concatenate([some for some, _ in keys])
    empty = np.concatenate([some for _, some in keys])
    there = np.flatnonzero(~empty)
    chosen = values[there]
    if descending:
        order = (len(there) - 1 - np.argsort(chosen[::-1], kind="stable"))[::-1]
    else:
        order = np.argsort(chosen, kind="stable")
    return np.concatenate([there[order], np.flatnonzero(empty)]).astype(np.int64)
