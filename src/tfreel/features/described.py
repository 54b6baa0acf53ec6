"""Features as plain JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfreel.features.kinds import (
    Feature,
    FixedLenFeature,
    FixedLenSequenceFeature,
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
    return found


def from_json(found: Mapping[str, Any]) -> Feature:
    """The feature that was described so.

    Raises:
        ValueError: No feature is described like that.
    """
    kind, dtype = found.get("type"), found.get("dtype")
    if kind == "FixedLenFeature":
        return FixedLenFeature(found.get("shape"), dtype)
    if kind == "FixedLenSequenceFeature":
        return FixedLenSequenceFeature(
            found.get("shape"), dtype, allow_missing=bool(found.get("allow_missing"))
        )
    if kind == "RaggedFeature":
        return RaggedFeature(dtype)
    if kind == "VarLenFeature":
        return VarLenFeature(dtype)
    raise ValueError(f"no feature is of the type {kind!r}")
