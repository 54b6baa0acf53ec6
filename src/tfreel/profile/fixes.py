"""Features that do fit: what was asked for and what was seen in, what to ask for instead out."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tfreel.features.kinds import (
    DType,
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tfreel.inference.profile import FeatureProfile
from tfreel.inference.text import gaps
from tfreel.profile.asked import Asked

_LONGEST_NAME = 200  # of those that are compared: hostile names are not worth the time
_NEAR = 0.6
_NOTHING: dict[DType, Any] = {"int64": 0, "float32": 0.0, "bytes": b""}


@dataclass(frozen=True, slots=True)
class Fix:
    """What to ask for instead.

    Attributes:
        name: The name to ask by.
        feature: The feature; None if nothing that fits can be asked for.
        note: What is different, in a few words.
    """

    name: str
    feature: Feature | None
    note: str


def nearest(name: str, others: Collection[str]) -> str | None:
    """The name that may be meant: nearly the same letters, or the same last part."""
    known = {other.casefold(): other for other in others if len(other) <= _LONGEST_NAME}
    folded = name.casefold()[:_LONGEST_NAME]
    near = difflib.get_close_matches(folded, known, n=1, cutoff=_NEAR)
    if near:
        return known[near[0]]
    parts = set(folded.replace("_", "/").split("/"))
    shared = [other for key, other in known.items() if parts & set(key.replace("_", "/").split("/"))]
    return min(shared, key=len) if len(shared) == 1 else None


def fixed(asked: Asked, profiles: Mapping[str, FeatureProfile], meant: str | None) -> Fix:
    """What to ask for, so that all records that were seen can be parsed.

    Args:
        asked: What was asked for, and does not fit.
        profiles: What was seen of each feature.
        meant: The name that may be meant, if no record has the one that was asked for.
    """
    name = meant or asked.key
    profile = profiles.get(name)
    if profile is None or not profile.kinds:
        return Fix(asked.name, None, "no record has it" if profile is None else "no record has values of it")
    if len(profile.kinds) > 1:
        return Fix(asked.name, None, f"of several kinds: {', '.join(profile.kinds)}; write the records anew")
    feature = _fitting(asked, profile)
    note = [f"was {asked.name!r}"] if name != asked.name else []
    if feature is None:
        return Fix(name, None, "its values do not go together; write the records anew")
    return Fix(name, feature, ", ".join([*note, *gaps(profile)]))


def _fitting(asked: Asked, profile: FeatureProfile) -> Feature | None:
    """As near to what was asked for as the data allows."""
    feature = asked.feature
    dtype = next(iter(profile.kinds))
    if isinstance(feature, SparseFeature):
        return VarLenFeature(dtype)
    if isinstance(feature, VarLenFeature):
        return VarLenFeature(dtype)
    if isinstance(feature, RaggedFeature):
        return RaggedFeature(dtype)
    least, most = profile.lengths or (0, 0)
    if asked.where == "lists":
        if profile.empty or least != most or not most:
            return RaggedFeature(dtype)
        return FixedLenSequenceFeature(
            _shape(feature, most), dtype, allow_missing=_may_lack(feature) or profile.absent > 0
        )
    if isinstance(feature, FixedLenSequenceFeature) and asked.where == "example":
        return _fitting_sequence(feature, dtype, least, most)
    if least != most or (asked.where == "context" and profile.absent):
        return RaggedFeature(dtype)
    return _fitting_fixed(feature, dtype, most, lacking=profile.absent > 0)


def _fitting_sequence(feature: FixedLenSequenceFeature, dtype: DType, least: int, most: int) -> Feature:
    stride = math.prod(feature.shape)
    if least == most and not most % stride:
        return FixedLenSequenceFeature(feature.shape, dtype, allow_missing=True)
    return RaggedFeature(dtype) if stride != 1 else FixedLenSequenceFeature([], dtype, allow_missing=True)


def _fitting_fixed(feature: Feature | None, dtype: DType, count: int, *, lacking: bool) -> Feature:
    shape = _shape(feature, count)
    default = getattr(feature, "default_value", None)
    same = isinstance(feature, FixedLenFeature) and (feature.dtype, list(feature.shape)) == (dtype, shape)
    if default is not None and same:
        return FixedLenFeature(shape, dtype, default)
    if not lacking:
        return FixedLenFeature(shape, dtype)
    if not count:  # a default without values is none
        return RaggedFeature(dtype)
    return FixedLenFeature(shape, dtype, [_NOTHING[dtype]] * count if shape else _NOTHING[dtype])


def _shape(feature: Feature | None, count: int) -> list[int]:
    """The shape that was asked for, if it holds so many values."""
    asked = list(getattr(feature, "shape", ()))
    if feature is not None and hasattr(feature, "shape") and math.prod(asked) == count:
        return asked
    return [] if count == 1 else [count]


def _may_lack(feature: Feature | None) -> bool:
    return isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing
