"""What is asked of each record: chunks of records in, batches of the columns that are wanted out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tfreel.columns.batch import Batch
from tfreel.columns.expressions import Expression, Mask
from tfreel.columns.flat import chosen, only
from tfreel.columns.parse import Features, Records, parse_flat
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


@dataclass(frozen=True)
class Question:
    """Columns, and the condition for a row to be wanted.

    Attributes:
        features: All that can be asked for, by name.
        sequence_features: The same, of the feature lists of SequenceExamples.
        columns: The features that are wanted, in order.
        where: The conditions that a row must meet to be wanted.
        also: What else decides on rows, besides `where`. It stays in its process.
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

    def answer(self, chunk: Chunk, threads: int) -> Batch:
        """The rows of the chunk that are wanted. Of the others, only what the condition needs is decoded."""
        if not self._conditions:
            return self._of(chunk, self.columns, threads)
        asked = self._of(chunk, self._needed, threads)
        mask = self._mask(asked)
        rows = None if mask.all() else np.flatnonzero(mask)
        known = asked if rows is None else chosen(asked, rows)
        others = [name for name in self.columns if name not in known]
        if not others:
            return only(known, list(self.columns))
        picks = None if rows is None else rows.astype(np.uint64)
        more = self.empty if known.num_rows == 0 else self._of(chunk, others, threads, picks)
        columns = {name: known[name] if name in known else more[name] for name in self.columns}
        return Batch(columns, known.num_rows)

    def matches(self, chunk: Chunk, threads: int) -> int:
        """How many rows of the chunk are wanted."""
        return int(np.count_nonzero(self._mask(self._of(chunk, self._needed, threads))))

    @cached_property
    def _conditions(self) -> list[Condition]:
        names = [*self.features, *self.sequence_features]
        found: list[Condition] = [Expression(text, names) for text in self.where]
        return found if self.also is None else [*found, self.also]

    @cached_property
    def _needed(self) -> list[str]:
        """The features that the conditions ask for."""
        return list(dict.fromkeys(name for condition in self._conditions for name in condition.names))

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
