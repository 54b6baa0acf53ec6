"""Elements out of records: what a dataset reads, and what it makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tfreel.columns.batch import Batch
from tfreel.columns.parse import Features, Picked, parsed, relocate, request
from tfreel.dataset.collate import rows_of
from tfreel.dataset.order import Positions
from tfreel.dataset.plan import Stage
from tfreel.dataset.prefetch_local import BatchesAhead
from tfreel.dataset.prefetch_remote import FetchAhead
from tfreel.errors import DecodeError, FeatureError
from tfreel.index.access import Records

_ENOUGH_BYTES = 1 << 20
_TOGETHER_BYTES = 8 << 20  # of batches that are read together, about
_AHEAD_BYTES = 32 << 20  # of all of these that are read ahead
_AHEAD_BYTES_PER_THREAD = 2 << 20  # or so much, if there are many threads
_MOST_TOGETHER = 256  # batches: each is something to keep, however small
_PLACE_BYTES = 100  # what has to be known of a record while it is read
_BATCHES_AHEAD = 2  # besides those that threads are at
_FAR_BATCHES_AHEAD = 256  # that are known of; how many are fetched depends on their size


@dataclass(frozen=True, slots=True)
class ExampleSource:
    """The records of some files, and how each becomes an element.

    Attributes:
        records: The records, by position.
        features: What to read of each; None for the bytes as they are.
        sequence_features: What to read of the feature lists, if these are SequenceExamples.
        threads: How many to read and parse with.
        inferred: Whether the features were found in a sample.
        padded: Whether steps are filled up to the most that a record of the batch has.
    """

    records: Records
    features: Features | None
    sequence_features: Features
    threads: int
    inferred: bool = False
    padded: bool = True

    def one_by_one(self) -> ExampleSource:
        """The same for rows, which must not depend on what is read with them."""
        return replace(self, padded=False)

    def rows(self, indices: Positions) -> list[Any]:
        """The elements at these positions, one by one: dicts, or bytes if there are no features."""
        return rows_of(self._read(indices, padded=False))

    @property
    def rows_at_once(self) -> int:
        """How many records are read in one go where they are wanted one by one."""
        return min(256, max(1, int(_ENOUGH_BYTES / self.record_bytes)))

    @property
    def record_bytes(self) -> float:
        """How large a record is, about."""
        return max(1.0, self.records.nbytes / max(1, len(self.records)))

    def together(self, positions: int) -> int:
        """How many records to read together, of positions in a row that have theirs at a few places."""
        ahead = max(_AHEAD_BYTES, self.threads * _AHEAD_BYTES_PER_THREAD)
        most = min(_TOGETHER_BYTES, ahead // (self.threads + _BATCHES_AHEAD))
        return min(positions, int(most / (self.record_bytes + _PLACE_BYTES)))

    def batches(self, chunks: Iterator[Positions], together: int = 1) -> BatchesAhead:
        """What `batch` gives for each chunk, read ahead where that is possible, so many of them together."""
        if self.records.in_groups:
            return BatchesAhead(
                chunks,
                start=partial(FetchAhead, self._group, self.record_bytes),
                build=_as_it_is,
                read=self.batch,
                depth=_FAR_BATCHES_AHEAD,
            )
        asked = request(self.features or {}, self.sequence_features, padded=self.padded)
        return BatchesAhead(
            chunks,
            start=partial(
                self.records.pipeline, asked.specs, sequences=asked.sequences, threads=self.threads
            ),
            build=asked.build,
            read=self.batch,
            depth=self.threads + _BATCHES_AHEAD,
            together=min(together, _MOST_TOGETHER),
        )

    def batch(self, indices: Positions) -> Any:
        """The elements at these positions, as columns; as a list of bytes if there are no features."""
        return self._read(indices, padded=self.padded)

    def _read(self, indices: Positions, *, padded: bool) -> Any:
        return self._made_of(Picked(*self.records.views(indices)), indices, padded=padded)

    def _group(self, chunks: Sequence[Positions]) -> list[Any]:
        """What `batch` gives for each chunk, fetched together; None for a chunk that has to be read alone."""
        try:
            views, order = self.records.views(np.concatenate(chunks))
        except Exception:  # noqa: BLE001 - reading them one by one tells which of them it was
            return [None] * len(chunks)
        ends = np.cumsum([len(chunk) for chunk in chunks])
        order = np.arange(ends[-1], dtype=np.uint64) if order is None else order
        batches: list[Any] = []
        for chunk, end in zip(chunks, ends.tolist(), strict=True):
            try:
                picked = Picked(views, order[end - len(chunk) : end])
                batches.append(self._made_of(picked, chunk, padded=self.padded))
            except (FeatureError, DecodeError):
                batches.append(None)
        return batches

    def _made_of(self, picked: Picked, indices: Positions, *, padded: bool) -> Any:
        if self.features is None:
            return _bytes_of(picked)
        if not (self.features or self.sequence_features):  # of files without records, which nobody told of
            return Batch({}, len(indices))
        try:
            return parsed(picked, self.features, self.sequence_features, threads=self.threads, padded=padded)
        except (FeatureError, DecodeError) as error:
            relocate(error, *self.records.place(int(indices[error.record or 0])))
            raise

    @property
    def all_features(self) -> Features | None:
        """What is read of a record and of its feature lists; None for the bytes as they are."""
        return None if self.features is None else {**self.features, **self.sequence_features}

    def alike(self, other: ExampleSource) -> bool:
        """Whether the same is made of each record, so that records of both can share a batch."""
        return repr((self.features, self.sequence_features)) == repr(
            (other.features, other.sequence_features)
        )

    def stages(self) -> list[Stage]:
        """What is read of what; not where it lies."""
        records = self.records
        files = "1 file" if len(records.files) == 1 else f"{len(records.files):,} files"
        words = f"{len(records):,} records of {files}, {self._words()}"
        features = [] if self.features is None else [*self.features.items(), *self.sequence_features.items()]
        asked = [[name, repr(feature)] for name, feature in features]
        return [Stage(words, [records.fingerprint(), self.features is None, asked])]

    def _words(self) -> str:
        if self.features is None:
            return "as bytes"
        names = [*self.features, *self.sequence_features]
        if not names:
            return "without features"
        more = "" if len(names) <= 8 else f" and {len(names) - 8} more"
        found = ", as found in a sample" if self.inferred else ""
        return f"with {', '.join(names[:8])}{more}{found}"


def _as_it_is(batch: Any, rows: int) -> Any:
    del rows
    return batch


def _bytes_of(picked: Picked) -> list[bytes]:
    flat: list[bytes] = []
    for view in picked.views:
        if isinstance(view, bytes):
            flat.append(view)
        else:
            flat += view.to_list()
    return flat if picked.order is None else [flat[i] for i in picked.order.tolist()]
