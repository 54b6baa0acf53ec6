"""The names of features: which keys they read, and in which order their results come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfreel.tf.ops import features as asked
from tfreel.tf.values.dtypes import as_dtype


def text_of(key: Any) -> str:
    """A name as text.

    Raises:
        TypeError: It is neither text nor bytes.
    """
    if isinstance(key, bytes):
        return key.decode()
    if not isinstance(key, str):
        raise TypeError(f"features are named by strings, not {key!r}")
    return key


def place_in_results(features: Mapping[Any, Any]) -> Any:
    """Where TensorFlow has a feature in its results: first sparse ones, then dense ones, then ragged ones."""

    def place(key: Any) -> tuple[int, str]:
        feature = features[key]
        if isinstance(feature, asked.VarLenFeature):
            group = 0
        elif isinstance(feature, (asked.FixedLenFeature, asked.FixedLenSequenceFeature)):
            group = 1
        else:
            own = isinstance(feature, asked.RaggedFeature) and feature.value_key in (None, key)
            group = 2 if own else 3
        return group, text_of(key)

    return place


def refuse_conflicts(features: Mapping[str, Any]) -> None:
    """A key can be read in one of three ways, and as one dtype.

    Raises:
        ValueError: Two features ask for one in different ways.
    """
    ways: dict[str, Any] = {}
    for name, feature in features.items():
        for key, way in _keys_of(name, feature):
            if ways.setdefault(key, way) != way:
                raise ValueError(
                    f"Conflicting features for key {key!r}: it is asked for as {ways[key]} and as {way}"
                )


def _keys_of(name: str, feature: Any) -> list[tuple[str, tuple[Any, ...]]]:
    dtype = as_dtype(feature.dtype)
    if isinstance(feature, asked.VarLenFeature):
        return [(name, ("sparse", dtype))]
    if isinstance(feature, asked.SparseFeature):
        keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
        return [
            (feature.value_key, ("sparse", dtype)),
            *((key, ("sparse", as_dtype("int64"))) for key in keys),
        ]
    if isinstance(feature, asked.RaggedFeature):
        splits = feature.row_splits_dtype
        keys = [each.key for each in feature.partitions if hasattr(each, "key")]
        value_key = name if feature.value_key is None else feature.value_key
        return [
            (value_key, ("ragged", dtype, splits)),
            *((key, ("ragged", as_dtype("int64"), splits)) for key in keys),
        ]
    return [(name, ("dense", dtype))]
