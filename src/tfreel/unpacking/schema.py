"""What the columns of the output are: decided before the first record is written, and for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tfreel import _core
from tfreel.columns.batch import Batch
from tfreel.columns.batch import Column as Values
from tfreel.columns.flat import FlatValues, flat_values
from tfreel.columns.objects import holds_rows
from tfreel.columns.parse import Features, parse_flat, relocate
from tfreel.columns.plan import no_such_feature
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import as_rows
from tfreel.dataset.to_arrow import as_features
from tfreel.errors import DecodeError, FeatureError
from tfreel.features.kinds import FixedLenFeature
from tfreel.inference.features import InferredFeatures, Survey
from tfreel.inference.profile import FeatureProfile
from tfreel.inference.sample import Place

_TEXTS = frozenset({"text", "empty"})


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the output.

    Attributes:
        name: Of the feature.
        single: It holds one value in each record, or none at all: it is written as that, and not as a list.
        is_bytes: The values are bytes.
        is_text: They are bytes that were text wherever one looked.
        profile: What was seen of it.
    """

    name: str
    single: bool
    is_bytes: bool
    is_text: bool
    profile: FeatureProfile

    @property
    def binary(self) -> bool:
        """Whether the values are bytes that are no text."""
        return self.is_bytes and not self.is_text


@dataclass(frozen=True, slots=True)
class Schema:
    """What is read of each record, and what is made of it.

    Attributes:
        features: What to read.
        sequence_features: What to read of feature lists.
        columns: By name.
        known: The names that a record may have. Empty where it may have others, which nobody asked for.
        certain: All records were looked at, or the caller said what to read: what does not fit is an error.
    """

    features: Features
    sequence_features: Features
    columns: dict[str, Column]
    known: frozenset[str] = frozenset()
    certain: bool = False
    notes: list[str] = field(default_factory=list)

    def only(self, names: Sequence[str]) -> Schema:
        """The same for some features, in this order.

        Raises:
            ValueError: There is no such feature.
        """
        for name in names:
            if name not in self.columns:
                raise ValueError(no_such_feature(name, self.columns))
        return replace(
            self,
            features={name: self.features[name] for name in names if name in self.features},
            sequence_features={
                name: self.sequence_features[name] for name in names if name in self.sequence_features
            },
            columns={name: self.columns[name] for name in names},
            known=frozenset(),
        )

    def parse(self, block: _core.Block, path: str) -> Batch:
        """The columns of a block of records.

        Raises:
            FeatureError: They do not fit.
        """
        if not self.certain and self.known:
            self._refuse_strangers(block, path)
        try:
            batch = self._parsed(block)
        except (FeatureError, DecodeError) as error:
            row = error.record or 0
            relocate(error, path, block.first_record + row, int(block.offsets[row]))
            raise
        self._refuse_lists(batch)
        return batch

    def _parsed(self, block: _core.Block) -> Batch:
        # Not filled up to the longest: what a record does not hold is not written of it.
        return parse_flat(
            block, self.features, self.sequence_features, sequences=bool(self.sequence_features)
        )

    def _refuse_lists(self, batch: Batch) -> None:
        """Fails if a feature has several values, or an empty list, where it is written as one value."""
        for name, values in batch.items():
            column = self.columns.get(name)
            if isinstance(values, Ragged) and column is not None and column.single:
                lengths = values.lengths if values.present is None else values.lengths[values.present]
                if (lengths != 1).any():
                    raise FeatureError(f"feature {name!r} has not one value in all records")

    def _refuse_strangers(self, block: _core.Block, path: str) -> None:
        """Fails if a record has a feature that the sample did not have: it would be lost."""
        known = self.known
        for i, record in enumerate(block.to_list()):
            names = names_of(record)
            if not known.issuperset(names):
                new = min(set(names) - known)
                raise FeatureError(
                    f"feature {new!r} is new in record {block.first_record + i} of {path}", path=path
                )


def names_of(record: bytes) -> list[str]:
    """The names of all features of a record, and of its feature lists."""
    return _core.feature_names(record, 1) + _core.feature_names(record, 2)


def schema_of_sample(inferred: InferredFeatures) -> Schema:
    """What a sample of the records lets one expect of all of them."""
    profiles = {**inferred.profiles, **inferred.sequence_profiles}
    columns = {name: seen_column(profile) for name, profile in profiles.items() if profile.kinds}
    notes = [
        f"{name} has no values in any record, and is left out" for name in profiles if name not in columns
    ]
    return Schema(
        dict(inferred), dict(inferred.sequence_features), columns, known=frozenset(profiles), notes=notes
    )


def schema_of_features(features: Features, inferred: InferredFeatures) -> Schema:
    """What the caller said; the sample only tells text from other bytes."""
    columns = {}
    for name, feature in features.items():
        profile = inferred.profiles.get(name) or FeatureProfile(name, 0, 0, 0, {})
        single = isinstance(feature, FixedLenFeature) and not feature.shape
        columns[name] = replace(
            seen_column(profile), single=single, is_bytes=getattr(feature, "dtype", "bytes") == "bytes"
        )
    return Schema(features, {}, columns, certain=True)


def schema_of_batches(batches: Iterable[Batch]) -> Schema:
    """What the first batches of a dataset look like."""
    survey, single = Survey(), dict[str, bool]()
    for batch in batches:
        flat = {name: _seen_values(column) for name, column in as_features(batch).items()}
        for name, column in batch.items():
            flat_rows = not isinstance(column, Ragged) and len(getattr(column, "shape", (0, 0))) == 1
            single[name] = flat_rows and not holds_rows(as_rows(column))
        for i in range(batch.num_rows):
            row = {
                name: found.values[found.offsets[i] : found.offsets[i + 1]]
                for name, found in flat.items()
                if not found.missing[i]
            }
            survey.note(row, {}, Place("the dataset", i))
    profiles = survey.result([]).profiles
    columns = {
        name: replace(
            seen_column(profiles.get(name) or FeatureProfile(name, 0, 0, 0, {})), single=single[name]
        )
        for name in single
    }
    return Schema({}, {}, columns, certain=True)


def _seen_values(column: Values) -> FlatValues:
    """The values, numbers as those of the two kinds that features have: it is what they are that counts."""
    flat = flat_values(column)
    if isinstance(flat.values, list):
        return flat
    kind = np.float32 if flat.values.dtype.kind == "f" else np.int64
    with np.errstate(over="ignore"):
        return replace(flat, values=flat.values.astype(kind, copy=False))


def seen_column(profile: FeatureProfile) -> Column:
    """The column for a feature of which this was seen."""
    return Column(
        profile.name,
        single=profile.lengths == (1, 1) and not profile.empty and profile.steps is None,
        is_bytes=next(iter(profile.kinds), "") == "bytes",
        is_text=_TEXTS.issuperset(profile.contents),
        profile=profile,
    )
