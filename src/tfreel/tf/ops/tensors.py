"""Tensors as bytes, as TensorFlow writes them: serialize_tensor, parse_tensor, and the message in between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import operation
from tfreel.tf.ops.static import whole_numbers
from tfreel.tf.ops.tensor_messages import TensorProto
from tfreel.tf.ops.text import texts
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import DType, as_dtype, string
from tfreel.tf.values.handles import Array
from tfreel.tf.values.shapes import TensorSpec

# The field that holds values of a dtype one by one.
_FIELDS = {
    "float16": "half_val",
    "float32": "float_val",
    "float64": "double_val",
    "int8": "int_val",
    "int16": "int_val",
    "int32": "int_val",
    "uint8": "int_val",
    "uint16": "int_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
}
# A few bytes may claim a tensor of any size, since missing values are filled in; this much is believed.
_MOST_BYTES = 2**30


def _begun(made: Array) -> Any:
    message = TensorProto(dtype=as_dtype(made.dtype).as_datatype_enum)
    message.tensor_shape.SetInParent()
    for size in made.shape:
        message.tensor_shape.dim.add(size=size)
    return message


def serialized(value: Array) -> bytes:
    """The bytes that TensorFlow writes for a tensor."""
    message = _begun(value)
    if value.dtype == object:
        message.string_val.extend(value.reshape(-1).tolist())
    else:
        message.tensor_content = value.tobytes()
    made: bytes = message.SerializeToString()
    return made


def parsed(record: bytes) -> Array:
    """The tensor that bytes of TensorFlow tell.

    Raises:
        InvalidArgumentError: They tell none.
    """
    try:
        return _value_of(TensorProto.FromString(record))
    except DecodeError as error:
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {error}") from error


def _value_of(message: Any) -> Array:
    try:
        dtype = as_dtype(message.dtype)
    except TypeError:
        raise InvalidArgumentError(
            f"Cannot parse tensor from proto: there is no dtype {message.dtype}"
        ) from None
    shape = [dim.size for dim in message.tensor_shape.dim]
    if message.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise InvalidArgumentError(f"Cannot parse tensor from proto: its shape is {shape}")
    count = math.prod(shape)
    if not message.tensor_content and count * dtype.numpy.itemsize > _MOST_BYTES:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: the shape {shape} is too large")
    if message.tensor_content and count:
        return _of_content(message.tensor_content, dtype, count).reshape(shape)
    return _filled_up(_listed(message, dtype, count), dtype, count).reshape(shape)


def _strings(content: bytes, count: int) -> Array:
    """Strings in one run: first all of their lengths, as varints, then their bytes."""
    lengths, at = [], 0
    for _ in range(count):
        length, shift = 0, 0
        while True:
            if at >= len(content) or shift > 28:
                raise InvalidArgumentError("Cannot parse tensor from proto: lengths of strings are broken")
            length |= (content[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if content[at - 1] < 128:
                break
        lengths.append(length & 0xFFFFFFFF)
    if sum(lengths) != len(content) - at:
        raise InvalidArgumentError("Cannot parse tensor from proto: the lengths of strings do not add up")
    made = np.empty(count, object)
    for i, length in enumerate(lengths):
        made[i] = content[at : at + length]
        at += length
    return made


def _of_content(content: bytes, dtype: DType, count: int) -> Array:
    if dtype == string:
        return _strings(content, count)
    if len(content) != count * dtype.size:
        raise InvalidArgumentError(
            f"Cannot parse tensor from proto: {len(content)} bytes for {count} values of {dtype.name}"
        )
    if dtype.is_bool and not set(content) <= {0, 1}:
        raise InvalidArgumentError("Cannot parse tensor from proto: a bool is neither 0 nor 1")
    return np.frombuffer(content, dtype.numpy).copy()


def _listed(message: Any, dtype: DType, count: int) -> Array:
    """The values that are there one by one, as many as are needed."""
    values = getattr(message, _FIELDS[dtype.name])
    if dtype == string:
        made = np.empty(min(len(values), count), object)
        made[:] = values[:count]
        return made
    if dtype.is_complex:
        pairs = np.array(values[: len(values) // 2 * 2], dtype.numpy.type(0).real.dtype)
        return pairs.view(dtype.numpy)[:count]
    if dtype.name == "float16":
        return np.array(values[:count], np.int64).astype(np.uint16).view(np.float16)
    wide = np.array(values[:count], dtype.numpy if dtype.size == 8 or dtype.is_floating else np.int64)
    return wide.astype(dtype.numpy)


def _filled_up(values: Array, dtype: DType, count: int) -> Array:
    """All values: the last one again and again where some are missing, zeros where there are none."""
    if len(values) >= count:
        return values[:count]
    if not len(values):
        return np.full(count, b"", object) if dtype == string else np.zeros(count, dtype.numpy)
    made = np.empty(count, values.dtype)
    made[: len(values)] = values
    made[len(values) :] = values[-1]
    return made


@operation(infer=lambda tensor: TensorSpec([], string))
def serialize_tensor(tensor: Any) -> bytes:
    """A tensor as bytes, which `parse_tensor` reads again."""
    return serialized(array(tensor))


@operation(infer=lambda serialized, out_type: TensorSpec(None, out_type))
def parse_tensor(serialized: Any, out_type: Any) -> Array:
    """The tensor that `serialize_tensor` wrote.

    Raises:
        InvalidArgumentError: The bytes tell no tensor, or one of another dtype.
    """
    made = texts(serialized)
    if made.ndim:
        raise InvalidArgumentError(f"Expected `serialized` to be a scalar, got shape: {list(made.shape)}")
    found, wanted = parsed(made.item()), as_dtype(out_type)
    if as_dtype(found.dtype) != wanted:
        raise InvalidArgumentError(
            f"Type mismatch between parsed tensor ({as_dtype(found.dtype).name}) and dtype ({wanted.name})"
        )
    return found


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """The message for a value; one value may stand for a whole shape."""
    made = array(values, dtype)
    if shape is None or made.size == math.prod(whole_numbers(shape)):
        made = made if shape is None else made.reshape(whole_numbers(shape))
        message = _begun(made)
    else:
        message = _begun(np.broadcast_to(made.reshape(-1)[:1], whole_numbers(shape)))
    if made.size > 1 and made.dtype != object:
        message.tensor_content = made.tobytes()
    else:
        _extend(message, made.reshape(-1))
    return message


def _extend(message: Any, values: Array) -> None:
    name = as_dtype(values.dtype).name
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    elif name == "float16":
        values = values.view(np.uint16)
    getattr(message, _FIELDS[name]).extend(values.tolist())


def make_ndarray(tensor: Any) -> Array:
    """The array that a message tells."""
    return _value_of(tensor)
