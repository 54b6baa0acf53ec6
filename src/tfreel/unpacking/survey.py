"""All records looked at, where a sample of them did not tell the truth about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tfreel import _core
from tfreel.columns.batch import Column as Values
from tfreel.columns.flat import flat_values
from tfreel.examples.decode import decode_sequence
from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.inference.content import is_text
from tfreel.inference.features import Survey
from tfreel.inference.sample import Place
from tfreel.records.read import Reader
from tfreel.unpacking.schema import Schema, names_of, seen_column


def schema_of_all(reader: Reader, sample: Schema) -> Schema:
    """The schema that holds for every record: that of the sample, and what it missed.

    Raises:
        FeatureError: A feature is of another kind in some records than in others.
    """
    survey = _FullSurvey(sample)
    for block in reader.blocks():
        survey.see(block, reader.path)
    return survey.result()


class _FullSurvey:
    """The features met so far, and how many values they had."""

    def __init__(self, sample: Schema) -> None:
        self._sample = sample
        self._features = _ragged(sample.features)
        self._lists = _ragged(sample.sequence_features)
        self._known = set(sample.known)
        self._news = Survey()
        self._widths: dict[str, int | None] = {}  # None: not the same in all records
        self._several: set[str] = set()  # cannot be written as one value or none
        self._binary: set[str] = set()

    def see(self, block: _core.Block, path: str) -> None:
        """Takes note of a block of records."""
        for i, record in enumerate(block.to_list()):
            if not self._known.issuperset(names_of(record)):
                self._meet(record, Place(path, block.first_record + i))
        asked = replace(
            self._sample, features=self._features, sequence_features=self._lists, columns={}, certain=True
        )
        for name, values in asked.parse(block, path).items():
            self._measure(name, values)

    def _meet(self, record: bytes, place: Place) -> None:
        """Takes note of features that nobody knew of."""
        context, lists = decode_sequence(record, tensors=False)
        new = {name: value for name, value in context.items() if self._is_new(name, value)}
        new_lists = {
            name: steps
            for name, steps in lists.items()
            if self._is_new(name, next((step for step in steps if step is not None), None))
        }
        self._news.note(new, new_lists, place)
        self._features.update({name: RaggedFeature(_kind(value)) for name, value in new.items()})
        for name, steps in new_lists.items():
            self._lists[name] = RaggedFeature(_kind(next(step for step in steps if step is not None)))
        self._known.update(new, new_lists)

    def _is_new(self, name: str, value: Any) -> bool:
        # What has no kind yet may have one in a later record.
        return value is not None and name not in self._known

    def _measure(self, name: str, values: Values) -> None:
        flat = flat_values(values)
        lengths = np.diff(flat.offsets)
        present = lengths[~flat.missing]
        width = int(lengths[0]) if len(present) == len(lengths) and (lengths == lengths[0]).all() else None
        known = self._widths.get(name, width)
        self._widths[name] = width if width == known else None
        if (present != 1).any():
            self._several.add(name)
        if isinstance(flat.values, list) and not all(map(is_text, flat.values)):
            self._binary.add(name)

    def result(self) -> Schema:
        """What holds for all records."""
        seen = self._news.result([])
        columns = dict(self._sample.columns)
        for name, profile in {**seen.profiles, **seen.sequence_profiles}.items():
            columns[name] = seen_column(profile)
        columns = {
            name: replace(
                column,
                single=column.single and name not in self._several,
                is_text=column.is_text and name not in self._binary,
            )
            for name, column in columns.items()
        }
        # What the sample took for fixed stays so, if it is; what is new was absent in the sample.
        fixed = {
            name: feature
            for name, feature in self._sample.features.items()
            if self._widths.get(name) and not isinstance(feature, RaggedFeature)
        }
        return replace(
            self._sample,
            features=dict(sorted({**self._features, **fixed}.items())),
            sequence_features=self._lists,
            columns=dict(sorted(columns.items())),
            certain=True,
        )


def _ragged(features: Mapping[str, Any]) -> dict[str, Feature]:
    return {name: RaggedFeature(feature.dtype) for name, feature in features.items()}


def _kind(value: Any) -> Any:
    return "bytes" if isinstance(value, list) else value.dtype.name
