"""Numbers out of raw bytes: decode_raw."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.graphs.rows import Column, Dense, Strings
from tfreel.tf.ops.static import one_number, spec
from tfreel.tf.ops.text import texts
from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

# uint32 and uint64 are not among them in TensorFlow either; with a fixed length, fewer are.
_TYPES = frozenset(
    ["float16", "float32", "float64", "bfloat16", "uint8", "int8", "uint16", "int16", "int32", "int64"]
)
_MORE_TYPES = _TYPES | {"complex64", "complex128", "bool"}


def _type(out_type: Any, fixed_length: Any) -> DType:
    wanted = as_dtype(out_type)
    allowed = _MORE_TYPES if fixed_length is None else _TYPES
    if wanted.name not in allowed:
        hint = f"; decode as int{wanted.size * 8} and tf.bitcast it" if wanted.is_unsigned else ""
        raise InvalidArgumentError(
            f"decode_raw does not give {wanted.name}, only {', '.join(sorted(allowed))}{hint}"
        )
    return wanted


def _numbers(data: bytes | Array, wanted: DType, *, little_endian: bool) -> Array:
    """Bytes one behind the other as numbers, which do not share them."""
    if wanted.is_bool:
        return np.not_equal(np.frombuffer(data, np.uint8), 0)
    kind = wanted.numpy
    if little_endian or kind.itemsize == 1:
        return np.frombuffer(data, kind).copy()
    part = np.dtype(f"u{kind.itemsize // 2 if wanted.is_complex else kind.itemsize}")
    return np.frombuffer(data, part).byteswap().view(kind)


def _check_length(length: int, wanted: DType) -> None:
    if length % wanted.size:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {wanted.size}, the size of"
            f" {wanted.name}"
        )


def _fixed(fixed_length: Any, wanted: DType) -> int:
    length = one_number(fixed_length, "fixed_length")
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    if length % wanted.size:
        raise InvalidArgumentError(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({wanted.size})"
        )
    return length


def _raw_spec(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None
) -> TensorSpec:
    wanted, count = _type(out_type, fixed_length), None
    if fixed_length is not None and not isinstance(fixed_length, TensorSpec):
        count = _fixed(fixed_length, wanted) // wanted.size
    return TensorSpec(spec(input_bytes).shape.concatenate([count]), wanted)


def _raw_rows(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None
) -> Column | None:
    """Many strings of one length at once, as they lie one behind the other."""
    if not isinstance(input_bytes, Strings) or fixed_length is not None or not len(input_bytes):
        return None
    column, wanted = input_bytes.column, _type(out_type, None)
    lengths = np.diff(column.offsets)
    if np.any(lengths != lengths[0]):
        return None
    _check_length(int(lengths[0]), wanted)
    data = column.data[int(column.offsets[0]) : int(column.offsets[-1])]
    numbers = _numbers(data, wanted, little_endian=little_endian)
    return Dense(numbers.reshape(len(input_bytes), -1) if len(numbers) else numbers.reshape(len(lengths), 0))


def _operation_kernel(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None
) -> Array:
    """The numbers whose bytes a string is; strings of one length in a tensor give one row each."""
    made, wanted = texts(input_bytes), _type(out_type, fixed_length)
    strings = list(made.reshape(-1))
    if fixed_length is not None:
        length = _fixed(fixed_length, wanted)
        strings = [each[:length].ljust(length, b"\0") for each in strings]
    else:
        length = len(strings[0]) if strings else 0
        for i, each in enumerate(strings):
            if len(each) != length:
                raise InvalidArgumentError(
                    f"DecodeRaw requires input strings to all be the same size, but element {i} has size"
                    f" {len(each)} != {length}"
                )
        _check_length(length, wanted)
    data = strings[0] if len(strings) == 1 else b"".join(strings)
    numbers = _numbers(data, wanted, little_endian=little_endian)
    return numbers.reshape(*made.shape, length // wanted.size)


decode_raw = operation(infer=_raw_spec, rows=_raw_rows)(_operation_kernel)


def decode_raw_v1(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: Any = None,
    bytes: Any = None,
) -> Any:
    """`decode_raw` as first-generation code calls it."""
    return decode_raw(bytes if input_bytes is None else input_bytes, out_type, little_endian)
