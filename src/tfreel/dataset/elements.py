"""Elements out of records: what a dataset reads, and what it makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfreel.columns.batch import Batch, SequenceBatch
from tfreel.columns.parse import Features, Picked, parse, parse_sequence, relocate
from tfreel.dataset.order import Positions
from tfreel.errors import DecodeError, FeatureError
from tfreel.index.access import Records


@dataclass(frozen=True, slots=True)
class Elements:
    """The records of some files, and how each becomes an element.

    Attributes:
        records: The records, by position.
        features: What to read of each; None for the bytes as they are.
        sequence_features: What to read of the feature lists, if these are SequenceExamples.
        threads: How many to parse with.
    """

    records: Records
    features: Features | None
    sequence_features: Features
    threads: int

    def picked(self, indices: Positions) -> Picked:
        """The serialized records at these positions."""
        return Picked(*self.records.views(indices))

    def rows(self, indices: Positions) -> list[Any]:
        """The elements at these positions, one by one: dicts, or bytes if there are no features."""
        if self.features is None:
            return _bytes_of(self.picked(indices))
        batch = self.batch(indices)
        return list(batch.rows()) if isinstance(batch, Batch) else _sequence_rows(batch)

    def batch(self, indices: Positions) -> Batch | SequenceBatch | Any:
        """The elements at these positions, as columns; as a list of bytes if there are no features."""
        picked = self.picked(indices)
        if self.features is None:
            return _bytes_of(picked)
        try:
            if self.sequence_features:
                return parse_sequence(picked, self.features, self.sequence_features, threads=self.threads)
            return parse(picked, self.features, threads=self.threads)
        except (FeatureError, DecodeError) as error:
            relocate(error, *self.records.place(int(indices[error.record or 0])))
            raise

    def line(self) -> str:
        """What it is, in words."""
        records = self.records
        files = "1 file" if len(records.files) == 1 else f"{len(records.files):,} files"
        what = "as bytes" if self.features is None else f"with {', '.join(self.features)}"
        return f"{len(records):,} records of {files}, {what}"

    def describe(self) -> list[Any]:
        """What is read of what, as JSON; not where it lies."""
        features: Mapping[str, Any] = {} if self.features is None else self.features
        return [
            self.records.fingerprint(),
            self.features is None,
            {name: repr(feature) for name, feature in features.items()},
            {name: repr(feature) for name, feature in self.sequence_features.items()},
        ]


def _bytes_of(picked: Picked) -> list[bytes]:
    flat: list[bytes] = []
    for view in picked.views:
        if isinstance(view, bytes):
            flat.append(view)
        else:
            flat += view.to_list()
    return flat if picked.order is None else [flat[i] for i in picked.order.tolist()]


def _sequence_rows(batch: SequenceBatch) -> list[Any]:
    return [
        {**context, **lists}
        for context, lists in zip(batch.context.rows(), batch.sequences.rows(), strict=True)
    ]
