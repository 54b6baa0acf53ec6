"""What is asked of each record: chunks of records in, batches of the columns that are wanted out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from tfreel.columns.batch import Batch
from tfreel.columns.expressions import Expression, Mask
from tfreel.columns.flat import chosen, only
from tfreel.columns.parse import Features, Records, parse_flat
from tfreel.columns.strings import I64
from tfreel.errors import DecodeError, FeatureError
from tfreel.index.sidecar import U64
from tfreel.scans.chunks import Chunk


class Condition(Protocol):
    """What decides which rows are wanted. An `Expression` is one; adapters bring those of their engines."""

    @property
    def names(self) -> list[str]:
        """The features that it asks for."""

    def mask(self, batch: Batch) -> Mask:
        """For each row, whether it is wanted."""


class Answer(NamedTuple):
    """What a chunk has of what is asked for.

    Attributes:
        batch: The rows that are wanted.
        met: How many rows met the conditions of the scan: those that `Scan.head` counts.
    """

    batch: Batch
    met: int


@dataclass(frozen=True)
class Question:
    """Columns, and the condition for a row to be wanted.

    Attributes:
        features: All that can be asked for, by name.
        sequence_features: The same, of the feature lists of SequenceExamples.
        columns: The features that are wanted, in order.
        where: The conditions that a row must meet to be wanted.
        also: What else decides on the rows that `where` leaves. It stays in its process.
    """

    features: Features
    sequence_features: Features
    columns: tuple[str, ...]
    where: tuple[str, ...] = ()
    also: Condition | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what was made of it on the way: a condition is read anew wherever it is asked.
        return Question, (self.features, self.sequence_features, self.columns, self.where)

    @cached_property
    def empty(self) -> Batch:
        """The columns without a row: what type they are of."""
        return self._parsed([], self.columns, None)

    def check(self) -> None:
        """Fails if the condition cannot be asked of these features.

        Raises:
            ValueError: It is none, names a feature that there is not, or compares numbers with text.
        """
        for condition in self._conditions:
            condition.mask(self._parsed([], condition.names, None))

    def answer(self, chunk: Chunk, threads: int, most: int | None = None) -> Answer:
        """The rows of the chunk that are wanted. Of the others, only what the conditions need is decoded.

        Args:
            chunk: The records.
            threads: How many to parse with.
            most: No more rows are looked at than so many that meet `where`.
        """
        if not self.where and self.also is None:
            return Answer(self._of(chunk, self.columns, threads), chunk.rows)
        asked = self._of(chunk, self._needed, threads)
        rows = np.flatnonzero(self._mask(asked))[:most]
        met = len(rows)
        if self.also is not None:
            rows = rows[self.also.mask(_rows_of(asked, rows))]
        known = _rows_of(asked, rows)
        others = [name for name in self.columns if name not in known]
        if not others:
            return Answer(only(known, list(self.columns)), met)
        picks = None if known is asked else rows.astype(np.uint64)
        more = self.empty if known.num_rows == 0 else self._of(chunk, others, threads, picks)
        columns = {name: known[name] if name in known else more[name] for name in self.columns}
        return Answer(Batch(columns, known.num_rows), met)

    def matches(self, chunk: Chunk, threads: int) -> int:
        """How many rows of the chunk meet `where`."""
        return int(np.count_nonzero(self._mask(self._of(chunk, self._needed, threads))))

    @cached_property
    def _conditions(self) -> list[Condition]:
        names = [*self.features, *self.sequence_features]
        return [Expression(text, names) for text in self.where]

    @cached_property
    def _needed(self) -> list[str]:
        """The features that the conditions ask for."""
        asking = self._conditions if self.also is None else [*self._conditions, self.also]
        return list(dict.fromkeys(name for condition in asking for name in condition.names))

    def _mask(self, batch: Batch) -> Mask:
        wanted = np.ones(batch.num_rows, np.bool_)
        for condition in self._conditions:
            wanted &= condition.mask(batch)
        return wanted

    def _of(self, chunk: Chunk, names: Collection[str], threads: int, rows: U64 | None = None) -> Batch:
        try:
            return self._parsed(chunk.picked(rows), names, threads)
        except (FeatureError, DecodeError) as error:
            chunk.relocate(error, rows)
            raise

    def _parsed(self, records: Records, names: Collection[str], threads: int | None) -> Batch:
        features = {name: self.features[name] for name in names if name in self.features}
        lists = {name: self.sequence_features[name] for name in names if name in self.sequence_features}
        sequences = bool(self.sequence_features)
        return only(parse_flat(records, features, lists, sequences=sequences, threads=threads), list(names))


def _rows_of(batch: Batch, rows: I64) -> Batch:
    """Some rows of a batch; the same one, if these are all."""
    return batch if len(rows) == batch.num_rows else chosen(batch, rows)
