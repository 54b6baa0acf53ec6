"""Features as plain JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfreel.features.kinds import (
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Partition,
    RaggedFeature,
    VarLenFeature,
)


def to_json(feature: Feature) -> dict[str, Any]:
    """What a feature is. The keys are a promise: never rename one."""
    found: dict[str, Any] = {"type": type(feature).__name__, "dtype": feature.dtype}
    if isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
        found["shape"] = list(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        found["allow_missing"] = feature.allow_missing
    if isinstance(feature, RaggedFeature) and feature.value_key is not None:
        found["value_key"] = feature.value_key
    if isinstance(feature, RaggedFeature) and feature.partitions:
        found["partitions"] = [_partition_to_json(partition) for partition in feature.partitions]
    return found


def _partition_to_json(partition: Partition) -> dict[str, Any]:
    name = type(partition).__name__.removeprefix("_")
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return {"type": name, "length": partition.length}
    return {"type": name, "key": partition.key}


def _partition_from_json(found: Any) -> Partition:
    if not isinstance(found, Mapping):
        raise TypeError(f"no partition is described by {found!r}")
    if found.get("type") == "UniformRowLength":
        return RaggedFeature.UniformRowLength(int(found.get("length", 0)))
    kinds = (
        *(RaggedFeature.RowSplits, RaggedFeature.RowLengths, RaggedFeature.RowStarts),
        *(RaggedFeature.RowLimits, RaggedFeature.ValueRowIds),
    )
    for kind in kinds:
        if kind.__name__ == f"_{found.get('type')}":
            return kind(str(found.get("key")))
    raise ValueError(f"no partition is of the type {found.get('type')!r}")


def from_json(found: Any) -> Feature:
    """The feature that was described so.

    Raises:
        TypeError, ValueError: No feature is described like that.
    """
    if not isinstance(found, Mapping):
        raise TypeError(f"no feature is described by {found!r}")
    kind, dtype = found.get("type"), found.get("dtype")
    if kind == "FixedLenFeature":
        return FixedLenFeature(found.get("shape"), dtype)
    if kind == "FixedLenSequenceFeature":
        return FixedLenSequenceFeature(
            found.get("shape"), dtype, allow_missing=bool(found.get("allow_missing"))
        )
    if kind == "RaggedFeature":
        partitions = [_partition_from_json(partition) for partition in found.get("partitions") or ()]
        return RaggedFeature(dtype, found.get("value_key"), partitions)
    if kind == "VarLenFeature":
        return VarLenFeature(dtype)
    raise ValueError(f"no feature is of the type {kind!r}")


def parts_of(feature: Feature) -> set[str]:
    """The names of other features that this one is made of."""
    if not isinstance(feature, RaggedFeature):
        return set()
    keys = {partition.key for partition in feature.partitions if hasattr(partition, "key")}
    return keys if feature.value_key is None else {*keys, feature.value_key}
