"""Features as people ask for them: tfreel's own, or TensorFlow's by whatever package, in; tfreel's out.

Nothing is refused here: a feature that cannot be is what a doctor is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tfreel.columns.plan import Plan
from tfreel.features.kinds import (
    DType,
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Partition,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tfreel.inference.text import call

Where: TypeAlias = Literal["example", "context", "lists"]
PARTITIONS = ("RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds", "UniformRowLength")


@dataclass(frozen=True, slots=True)
class Asked:
    """One feature that is asked for.

    Attributes:
        name: By which it is asked for.
        where: In which part of a record.
        feature: What is asked for; None if there is no such feature.
        words: The same as code.
        complaint: Why it cannot be asked for at all; empty if it can.
    """

    name: str
    where: Where
    feature: Feature | None
    words: str
    complaint: str = ""

    @property
    def key(self) -> str:
        """The name of the feature that holds its values."""
        return getattr(self.feature, "value_key", None) or self.name

    @property
    def keys(self) -> list[str]:
        """The names of all features that it is made of."""
        keys = [self.key]
        if isinstance(self.feature, SparseFeature):
            keys += self.feature.index_keys
        if isinstance(self.feature, RaggedFeature):
            keys += [part.key for part in self.feature.partitions if hasattr(part, "key")]
        return keys


def asked_features(features: Mapping[str, Any], where: Where) -> list[Asked]:
    """What is asked for, feature by feature.

    Raises:
        TypeError: This is no dict of features by name.
    """
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict of features by name, not {type(features).__name__}")
    plan = Plan(in_lists=where == "lists", in_context=where == "context")
    return [_asked(name, value, where, plan) for name, value in features.items()]


def _asked(name: str, value: Any, where: Where, plan: Plan) -> Asked:
    if not isinstance(name, str):
        raise TypeError(f"features are named by str, not {type(name).__name__}")
    try:
        feature = native(value)
    except (TypeError, ValueError) as error:
        return Asked(name, where, None, _shown(value), str(error))
    try:
        plan.add(name, feature)
    except ValueError as error:
        return Asked(name, where, feature, call(feature), str(error))
    return Asked(name, where, feature, call(feature))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"


def is_feature(value: object) -> bool:
    """Whether this looks like a feature, of tfreel or of TensorFlow."""
    return isinstance(value, Feature) or type(value).__name__ in _MAKERS


def native(value: Any) -> Feature:
    """The feature, as one of tfreel's. TensorFlow's are told by the names of their classes and fields.

    Raises:
        TypeError: It is no feature.
        ValueError: There is no such feature.
    """
    if isinstance(value, Feature):
        return value
    make = _MAKERS.get(type(value).__name__)
    if make is None:
        raise TypeError(f"{_shown(value)} is no feature: known are {', '.join(_MAKERS)}")
    try:
        return make(value)
    except AttributeError as error:
        raise TypeError(f"{_shown(value)} is no feature: {error}") from None


def _partition(value: Any) -> Partition:
    name = type(value).__name__.removeprefix("_")
    if name not in PARTITIONS:
        raise TypeError(f"{_shown(value)} is no partition of a RaggedFeature")
    make: Callable[..., Partition] = getattr(RaggedFeature, name)
    return make(value.length if name == "UniformRowLength" else value.key)


def _shape(shape: Any) -> Any:
    """TensorFlow's shapes are lists of sizes too, once they are asked for them."""
    as_list = getattr(shape, "as_list", None)
    return shape if as_list is None else as_list()


class SomeDefault:
    """A default that is there, though nobody knows what it is: in a text that is only read."""

    def __repr__(self) -> str:
        return "…"


def _fixed(one: Any) -> FixedLenFeature:
    feature = FixedLenFeature(_shape(one.shape), one.dtype)
    default = one.default_value
    if isinstance(default, SomeDefault):
        nothing: dict[DType, Any] = {"int64": 0, "float32": 0.0, "bytes": b""}
        default = [nothing[feature.dtype]] * math.prod(feature.shape)
    return FixedLenFeature(feature.shape, feature.dtype, default)


def _fixed_sequence(one: Any) -> FixedLenSequenceFeature:
    default = None if isinstance(one.default_value, SomeDefault) else one.default_value
    return FixedLenSequenceFeature(_shape(one.shape), one.dtype, one.allow_missing, default)


_MAKERS: dict[str, Callable[[Any], Feature]] = {
    "FixedLenFeature": _fixed,
    "VarLenFeature": lambda one: VarLenFeature(one.dtype),
    "FixedLenSequenceFeature": _fixed_sequence,
    "SparseFeature": lambda one: SparseFeature(
        one.index_key, one.value_key, one.dtype, one.size, one.already_sorted
    ),
    "RaggedFeature": lambda one: RaggedFeature(
        one.dtype, one.value_key, [_partition(part) for part in one.partitions], one.row_splits_dtype
    ),
}
FEATURE_NAMES = tuple(_MAKERS)
