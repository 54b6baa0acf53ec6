"""One record taken apart: bytes in, features with what each of their values is out."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tfreel.errors import DecodeError, TfreelError
from tfreel.examples.decode import decode_sequence
from tfreel.examples.tensor import restore
from tfreel.inference.content import Content, content_of
from tfreel.inference.profile import FeatureProfile

# An Example and a SequenceExample with nothing in them, as most programs write them.
_BLANK = (b"", b"\n\x00", b"\n\x00\x12\x00")
_ITEM_DTYPES = {1: "uint8", 2: "uint16", 4: "float32", 8: "float64"}
_MOST_ARRAY_BYTES = 64 << 20


@dataclass(slots=True)
class Row:
    """One record: its features, or its bytes if it is no Example.

    Attributes:
        features: By name: an array of numbers, a list of bytes, or None.
        lists: Of a SequenceExample: by name, such a value for each step.
        data: All of it, of a record that is no Example.
        why: It is no Example.
    """

    features: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    data: bytes | None = None
    why: str = ""

    @property
    def kind(self) -> str:
        """What message it is."""
        if self.data is not None:
            return "bytes"
        return "SequenceExample" if self.lists else "Example"

    def values(self, name: str, step: int | None = None) -> Any:
        """The values of a feature; of a feature list, those of a step.

        Raises:
            KeyError: There is no such feature or step.
        """
        if step is None:
            return self.features[name]
        steps = self.lists[name]
        if not 0 <= step < len(steps):
            raise KeyError(name)
        return steps[step]


def row_of(record: bytes) -> Row:
    """The record, taken apart."""
    try:
        features, lists = decode_sequence(record, tensors=False)
    except DecodeError as error:
        return Row(data=record, why=str(error).removeprefix("not a valid SequenceExample: "))
    if not features and not lists and record not in _BLANK:
        return Row(data=record, why="it has no features that an Example could have")
    return Row(dict(sorted(features.items())), dict(sorted(lists.items())))


def item_of(row: Row, name: str, value: int, step: int | None = None) -> bytes:
    """One bytes value.

    Raises:
        KeyError: There is none.
    """
    values = row.values(name, step)
    if not isinstance(values, list) or not 0 <= value < len(values):
        raise KeyError(name)
    item: bytes = values[value]
    return item


def array_of(
    row: Row, name: str, profile: FeatureProfile | None, value: int = 0, step: int | None = None
) -> npt.NDArray[Any] | None:
    """The array that a feature stores, of any of the ways there are to store one; None if it is none.

    Raises:
        KeyError: There is no such feature or step.
    """
    values = row.values(name, step)
    if not isinstance(values, list):
        return _shaped(row, name, values) if step is None else None
    if not 0 <= value < len(values):
        return None
    content = content_of(values[value])
    if content.kind in ("tensor", "npy"):
        return _of_file(values[value], content)
    if step is not None or len(values) != 1 or content.kind not in ("binary", "text"):
        return None
    return _restored(row, name) if f"{name}/dtype" in row.features else _told(row, values[0], profile)


def _of_file(item: bytes, content: Content) -> npt.NDArray[Any] | None:
    try:
        if content.kind == "npy":
            return _checked(np.load(io.BytesIO(item), allow_pickle=False))
        # A value may stand for a whole shape: a few bytes for any amount of memory.
        if content.shape is None or math.prod(content.shape) * 8 > _MOST_ARRAY_BYTES:
            return None
        from tfreel.tf.ops.tensors import parsed

        return _checked(parsed(item))
    except (ValueError, TypeError, OSError, EOFError, SyntaxError, TfreelError):
        return None


def _checked(array: Any) -> npt.NDArray[Any] | None:
    plain = isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.nbytes <= _MOST_ARRAY_BYTES
    return array if plain else None


def _restored(row: Row, name: str) -> npt.NDArray[Any] | None:
    """What `tfreel.tensor` stored."""
    parts = {key: row.features.get(key) for key in (name, f"{name}/shape", f"{name}/dtype")}
    restore(parts)
    return _checked(parts[name])


def _shaped(row: Row, name: str, values: Any) -> npt.NDArray[Any] | None:
    """Numbers that another feature gives a shape."""
    shape = row.features.get(f"{name}/shape")
    if values is None or not isinstance(shape, np.ndarray) or shape.dtype != np.int64 or len(shape) > 8:
        return None
    sides = shape.tolist()
    if min(sides, default=0) < 1 or math.prod(sides) != len(values):
        return None
    found: npt.NDArray[Any] = values.reshape(sides)
    return found


def _told(row: Row, item: bytes, profile: FeatureProfile | None) -> npt.NDArray[Any] | None:
    """Raw bytes, by the shape that other features say, or by what all records seem to have."""
    if profile is None:
        return None
    shape = _shape_in(row.features, profile) if profile.shape_from else profile.array_shape
    count = math.prod(shape) if shape else 0
    if not shape or not count or len(item) % count or min(shape) < 1:
        return None
    dtype = profile.array_dtype if profile.array_dtype in ("uint8", "int8") else None
    each = len(item) // count
    if each not in _ITEM_DTYPES and len(shape) == 2 and each == 3:
        shape, each = (*shape, 3), 1
    name = dtype if dtype and each == 1 else _ITEM_DTYPES.get(each)
    if name is None or len(item) > _MOST_ARRAY_BYTES:
        return None
    return np.frombuffer(item, np.dtype(name).newbyteorder("<")).reshape(shape)


def _shape_in(features: Mapping[str, Any], profile: FeatureProfile) -> tuple[int, ...] | None:
    sides: list[int] = []
    for key in profile.shape_from:
        part = features.get(key)
        if not isinstance(part, np.ndarray) or part.dtype != np.int64 or not 0 < len(part) <= 8:
            return None
        sides += part.tolist()
    return tuple(sides)
