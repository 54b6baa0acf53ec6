"""Walks over all records, block by block, of which only the columns that are needed are parsed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel import _core
from tfreel.columns.batch import Batch
from tfreel.columns.parse import parse, parse_sequence
from tfreel.errors import DecodeError, FeatureError
from tfreel.features.kinds import RaggedFeature
from tfreel.inference.profile import FeatureProfile
from tfreel.records.read import read
from tfreel.viewer.collection import Collection
from tfreel.viewer.jobs import Job


@dataclass(frozen=True, slots=True)
class Columns:
    """Which features to parse: by name, their kind.

    Attributes:
        context: Features of Examples, and of the context of SequenceExamples.
        lists: Feature lists.
    """

    context: Mapping[str, Any]
    lists: Mapping[str, Any]

    def parsed(self, records: Any) -> Batch:
        """The columns of some records.

        Raises:
            FeatureError: A feature of one of them is of another kind.
            DecodeError: One is no Example.
        """
        if self.lists:
            found = parse_sequence(records, self.context, self.lists)
            return Batch({**dict(found.context), **dict(found.sequences)}, found.num_rows)
        return parse(records, self.context)


def columns_of(
    names: list[str], profiles: Mapping[str, FeatureProfile], lists: Mapping[str, FeatureProfile]
) -> Columns:
    """The columns for these features, each of the kind that it mostly has; of any, if none was seen."""

    def kinds(known: Mapping[str, FeatureProfile]) -> dict[str, Any]:
        return {
            name: RaggedFeature(next(iter(known[name].kinds), "int64")) for name in names if name in known
        }

    return Columns(kinds(profiles), kinds({k: v for k, v in lists.items() if k not in profiles}))


@dataclass(frozen=True, slots=True)
class Part:
    """Some records: their numbers and their columns.

    Without columns the one record cannot be read as what the others are.
    """

    positions: npt.NDArray[np.int64]
    batch: Batch | None


def walk(collection: Collection, columns: Columns, job: Job, span: range) -> Iterator[Part]:
    """The records of all files that have a part in `span`, in order, in parts."""
    for number, file in enumerate(collection.files):
        start, stop = collection.starts[number], collection.starts[number + 1]
        if stop <= span.start or start >= span.stop:
            continue
        reader = read([file.path], on_corrupt="skip")
        lost = np.ones(stop - start, np.bool_)
        for block in reader.blocks():
            job.turn()
            # By their places: a record that was sound when the index was made may be damaged now.
            places = np.searchsorted(file.index.offsets, block.offsets)
            lost[places[places < len(lost)]] = False
            yield from _parts(columns, block, start + places.astype(np.int64))
            job.progress(len(block), block.nbytes)
        collection.learn(number, reader.report)
        for place in np.flatnonzero(lost).tolist():
            if start + place in span:
                yield Part(np.array([start + place]), None)


def _parts(columns: Columns, block: _core.Block, positions: npt.NDArray[np.int64]) -> Iterator[Part]:
    if not columns.context and not columns.lists:
        yield Part(positions, Batch({}, len(block)))
        return
    try:
        yield Part(positions, columns.parsed(block))
    except (FeatureError, DecodeError):
        yield from _divided(columns, block.to_list(), positions)


def _divided(columns: Columns, records: list[bytes], positions: npt.NDArray[np.int64]) -> Iterator[Part]:
    """Halves, and halves of halves, until the odd records stand alone."""
    if len(records) == 1:
        yield Part(positions, None)
        return
    middle = len(records) // 2
    for half in (slice(None, middle), slice(middle, None)):
        try:
            yield Part(positions[half], columns.parsed(records[half]))
        except (FeatureError, DecodeError):
            yield from _divided(columns, records[half], positions[half])
