"""What ``features.json`` of TensorFlow Datasets says of records, told as `tfreel.features.described` does.

Only what is certain is told: how TensorFlow Datasets stores an image, a label, a tensor or a sequence of
them. What is of another kind has to be found out from the records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Shape: TypeAlias = tuple[int | None, ...]

_DEEPEST = 64  # nothing that somebody wrote by hand is nested like that


@dataclass(slots=True)
class TfdsFeatures:
    """What is known of the features.

    Attributes:
        described: The features by name, as in JSON.
        labels: The features that are classes, and the file with the names of each.
        whole: There are no others.
    """

    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    whole: bool = True


def features_of(content: Any) -> TfdsFeatures:
    """What the content of a ``features.json`` says."""
    found = TfdsFeatures()
    for keys, node, outer in _leaves((), _normal(content), ()):
        name = "/".join(keys)
        feature = _feature(name, node, outer)
        if feature is None:
            found.whole = False
            continue
        found.described[name] = feature
        if "classLabel" in node:
            # As TensorFlow Datasets names them.
            found.labels[name] = "-".join(key.replace("/", ".") for key in keys) + ".labels.txt"
    return found


def _normal(content: Any) -> Any:
    """The features as later versions write them: for some years they were JSON in JSON."""
    if isinstance(content, Mapping) and "content" in content and "featuresDict" not in content:
        inner = content["content"]
        return {"featuresDict": json.loads(inner) if isinstance(inner, str) else inner}
    return content


def _leaves(
    keys: tuple[str, ...], node: Any, outer: Shape
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], Shape]]:
    """The features that hold no others: their names, and the lengths of the sequences they are in."""
    if not isinstance(node, Mapping) or len(keys) + len(outer) > _DEEPEST:
        node = {}
    if isinstance(inner := node.get("featuresDict"), Mapping) and isinstance(inner.get("features"), Mapping):
        for key, child in inner["features"].items():
            yield from _leaves((*keys, str(key)), child, outer)
    elif isinstance(sequence := node.get("sequence"), Mapping):
        yield from _leaves(keys, sequence.get("feature"), (*outer, _length(sequence.get("length", -1))))
    else:
        yield keys, node, outer


def _feature(name: str, node: Mapping[str, Any], outer: Shape) -> dict[str, Any] | None:
    kind = _kind(node)
    if kind is None:
        return None
    dtype, shape = kind
    if len(outer) > 1:
        return _nested(name, dtype, shape, outer)
    return _flat(dtype, (*outer, *shape))


def _flat(dtype: str, shape: Shape) -> dict[str, Any] | None:
    if None not in shape:
        return {"type": "FixedLenFeature", "dtype": dtype, "shape": list(shape)}
    if shape[0] is not None or not all(shape[1:]):
        return None
    return _ragged(dtype, [], shape[1:])


def _nested(name: str, dtype: str, shape: Shape, outer: Shape) -> dict[str, Any] | None:
    """Sequences of sequences: all values in one feature, and the lengths of the inner ones in others."""
    if not all(shape) or None not in outer:
        return None
    lengths = [{"type": "RowLengths", "key": f"{name}/ragged_row_lengths_{i}"} for i in range(len(outer) - 1)]
    return {**_ragged(dtype, lengths, shape), "value_key": f"{name}/ragged_flat_values"}


def _ragged(dtype: str, partitions: list[dict[str, Any]], shape: Shape) -> dict[str, Any]:
    uniform = [{"type": "UniformRowLength", "length": length} for length in shape]
    found: dict[str, Any] = {"type": "RaggedFeature", "dtype": dtype}
    return {**found, "partitions": partitions + uniform} if partitions or uniform else found


def _kind(node: Mapping[str, Any]) -> tuple[str, Shape] | None:
    """The dtype and shape of a feature in a record; None if it may be anything."""
    if "classLabel" in node:
        return "int64", ()
    if "text" in node or "image" in node:
        return "bytes", ()
    box = node.get("boundingBox")
    if isinstance(box, Mapping):
        return "float32", (4,)
    tensor = node.get("tensor")
    if not isinstance(tensor, Mapping):
        return None
    dtype = _dtype(str(tensor.get("dtype")))
    if dtype is None:
        return None
    sizes = tensor.get("shape")
    shape = tuple(map(_length, sizes.get("dimensions", ()))) if isinstance(sizes, Mapping) else ()
    if shape.count(None) > 1:
        return None  # in two features, one of which is its shape
    if dtype != "bytes" and tensor.get("encoding", "none") not in ("", "none"):
        return "bytes", ()  # all of it as one string
    return dtype, shape


def _length(value: Any) -> int | None:
    return None if int(value) < 0 else int(value)


def _dtype(name: str) -> str | None:
    if name.startswith(("int", "uint", "bool")):
        return "int64"
    if name.startswith(("float", "bfloat")):
        return "float32"
    return "bytes" if name in ("string", "str", "object", "bytes") else None
