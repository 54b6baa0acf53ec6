"""Where records come from: files or a dataset in, batches of columns out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Protocol

import numpy as np

from tfreel.columns.batch import Batch
from tfreel.columns.expressions import Expression
from tfreel.columns.flat import chosen, only
from tfreel.columns.parse import Features
from tfreel.dataset import Dataset
from tfreel.dataset.to_arrow import as_features, batches_of
from tfreel.inference import infer_features
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt, read
from tfreel.records.report import Fault
from tfreel.storage.names import Paths
from tfreel.unpacking.schema import (
    Schema,
    schema_of_batches,
    schema_of_features,
    schema_of_sample,
)
from tfreel.unpacking.survey import schema_of_all

_PEEK_ROWS = 1000

Keep = str | Callable[[dict[str, Any]], Any]


class Source(Protocol):
    """Batches, and what is known of their columns before the first one is read."""

    schema: Schema
    faults: list[Fault]

    def batches(self, names: list[str]) -> Iterator[Batch]:
        """All records, of which these features are needed."""
        ...

    def look_again(self) -> bool:
        """Looks at all records, after one of them was a surprise. False if that would tell nothing new."""
        ...


class FileSource:
    """The records of some files."""

    def __init__(
        self, paths: Paths, features: Features | None, on_corrupt: OnCorrupt, progress: Progress | None
    ) -> None:
        self._paths = paths
        self._on_corrupt = on_corrupt
        self._progress: Progress = progress or (lambda *_: None)
        self.faults: list[Fault] = []
        inferred = infer_features(paths, on_corrupt=on_corrupt)
        self.schema = (
            schema_of_sample(inferred) if features is None else schema_of_features(features, inferred)
        )
        self._told = (0, 0)

    def batches(self, names: list[str]) -> Iterator[Batch]:
        """All records, block by block."""
        asked = self.schema if len(names) == len(self.schema.columns) else self.schema.only(names)
        reader = read(self._paths, on_corrupt=self._on_corrupt)
        self.faults = reader.report.faults
        for block in reader.blocks():
            yield asked.parse(block, reader.path)
            self._progress(len(block), block.nbytes)
            self._told = self._told[0] + len(block), self._told[1] + block.nbytes

    def look_again(self) -> bool:
        """Looks at all records, if only a sample was seen so far."""
        if self.schema.certain:
            return False
        self._progress(-self._told[0], -self._told[1])
        self._told = (0, 0)
        self.schema = schema_of_all(read(self._paths, on_corrupt=self._on_corrupt), self.schema)
        return True


class DatasetSource:
    """The elements of a dataset, whatever was done to it."""

    def __init__(self, dataset: Dataset, progress: Progress | None) -> None:
        self._progress: Progress = progress or (lambda *_: None)
        self.faults: list[Fault] = []
        self._batches = batches_of(dataset)
        self._peeked: list[Batch] = []
        while sum(batch.num_rows for batch in self._peeked) < _PEEK_ROWS:
            batch = next(self._batches, None)
            if batch is None:
                break
            self._peeked.append(batch)
        self.schema = schema_of_batches(self._peeked)

    def batches(self, names: list[str]) -> Iterator[Batch]:
        """All elements, in batches."""
        for batch in chain(self._peeked, self._batches):
            yield as_features(only(batch, names))
            self._progress(batch.num_rows, batch.nbytes)

    def look_again(self) -> bool:
        """A dataset gives what it was told to: there is nothing more to see."""
        return False


def wanted(
    source: Source, names: list[str], where: Keep | None, limit: int | None
) -> Iterator[tuple[int, Batch]]:
    """How many records were read, and those of them that are wanted, with these columns."""
    expression = Expression(where, source.schema.columns) if isinstance(where, str) else None
    if where is None:
        needed = names
    elif expression is None:
        needed = list(source.schema.columns)
    else:
        needed = [*names, *(name for name in expression.names if name not in names)]
    left = limit
    for batch in source.batches(needed):
        read_here = batch.num_rows
        if where is not None:
            mask = expression.mask(batch) if expression else _asked(where, batch)
            batch = batch if mask.all() else chosen(batch, np.flatnonzero(mask))
        if left is not None:
            batch = batch.slice(0, left)
            left -= batch.num_rows
        yield read_here, only(batch, names)
        if left == 0:
            return


def _asked(keep: Any, batch: Batch) -> Any:
    return np.array([bool(keep(row)) for row in batch.rows()], np.bool_)
