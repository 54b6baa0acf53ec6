"""Telling a serialized ``TensorProto``, the result of ``tf.io.serialize_tensor``, from other bytes.

The message has no magic number, so all of it must fit: known fields in order, a known dtype, a shape, and as
many bytes of content as the two say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# DataType of types.proto, with the bytes of one value; 0 where they vary or are packed.
_DTYPES = {
    1: ("float32", 4),
    2: ("float64", 8),
    3: ("int32", 4),
    4: ("uint8", 1),
    5: ("int16", 2),
    6: ("int8", 1),
    7: ("string", 0),
    8: ("complex64", 8),
    9: ("int64", 8),
    10: ("bool", 1),
    14: ("bfloat16", 2),
    17: ("uint16", 2),
    18: ("complex128", 16),
    19: ("float16", 2),
    22: ("uint32", 4),
    23: ("uint64", 8),
}
_MOST_DIMENSIONS = 254  # TensorFlow's own limit
_MOST_FIELDS = 1 << 12  # a string tensor has a field for each value
_CONTENT = 4
_VALUES = frozenset(
    {5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17}
)  # float_val, …, as tf.make_tensor_proto writes them


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """What a serialized tensor says about itself."""

    dtype: str
    shape: tuple[int, ...]


def serialized_tensor(value: bytes) -> TensorHeader | None:
    """The dtype and shape of a serialized tensor; None if these bytes are none."""
    if value[:1] != b"\x08" or value[2:3] != b"\x12":  # every dtype fits one byte; then comes the shape
        return None
    dtype = _DTYPES.get(value[1])
    length, start = _varint(value, 3)
    if dtype is None or start is None or start + length > len(value):
        return None
    shape = _shape(value, start, start + length)
    if shape is None or not _content_fits(value, start + length, math.prod(shape) * dtype[1]):
        return None
    return TensorHeader(dtype[0], shape)


def _varint(value: bytes, offset: int) -> tuple[int, int | None]:
    """A number of protobuf and where it ends; no end if there is no such number."""
    number = 0
    for i, byte in enumerate(value[offset : offset + 10]):
        number |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return number, offset + i + 1
    return 0, None


def _shape(value: bytes, offset: int, end: int) -> tuple[int, ...] | None:
    shape: list[int] = []
    while offset < end:
        if value[offset] != 0x12 or len(shape) == _MOST_DIMENSIONS:
            return None
        length, start = _varint(value, offset + 1)
        if start is None or start + length > end:
            return None
        size = _dimension(value, start, start + length)
        if size is None:
            return None
        shape.append(size)
        offset = start + length
    return tuple(shape)


def _dimension(value: bytes, offset: int, end: int) -> int | None:
    if offset == end:  # zero is what is not written
        return 0
    if value[offset] != 0x08:
        return None
    size, stop = _varint(value, offset + 1)
    return size if stop == end and size < 1 << 40 else None


def _content_fits(value: bytes, offset: int, expected: int) -> bool:
    """Whether the rest is the content of a tensor of so many bytes, or a list of its values."""
    fields = 0
    while offset < len(value) and fields < _MOST_FIELDS:
        tag, start = _varint(value, offset)
        field, wire = tag >> 3, tag & 7
        if start is None or wire != 2 or not (field == _CONTENT or field in _VALUES):
            return False
        length, start = _varint(value, start)
        if start is None or start + length > len(value) or (field == _CONTENT and length != expected):
            return False
        offset = start + length
        fields += 1
    return fields > 0 or expected == 0
