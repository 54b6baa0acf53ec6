"""Arrays that keep their shape and dtype.

A feature is a flat list. An array of any shape is stored as three of them: under its own name the bytes of
its values (C order, little endian) as one bytes value, under ``name/shape`` its shape, under ``name/dtype``
the name of its dtype. A marked array comes in, three features go out, and back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from sys import intern
from typing import Any

import numpy as np
import numpy.typing as npt

_PLAIN = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
# TensorFlow and JAX have it, NumPy only through the package ml_dtypes.
_FOREIGN = "bfloat16"
_MOST_DIMENSIONS = 32  # of NumPy before 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """An array to be stored with its shape and dtype; `tensor` makes one."""

    array: npt.NDArray[Any]


def tensor(array: npt.ArrayLike) -> Tensor:
    """Marks an array, so that `encode` stores it with its shape and dtype.

    `decode` gives the same array back. Plain TensorFlow code reads it too: ``tf.io.decode_raw`` of the
    feature, then ``tf.reshape`` to the feature ``name/shape``.

    Args:
        array: Booleans or numbers of any dtype and shape.

    Raises:
        TypeError: The array holds something else.

    Example:
        >>> import numpy as np
        >>> record = tfreel.encode({"image": tfreel.tensor(np.zeros((2, 3, 3), np.uint8))})
        >>> tfreel.decode(record)["image"].shape
        (2, 3, 3)
        >>> sorted(tfreel.decode(record, tensors=False))
        ['image', 'image/dtype', 'image/shape']
    """
    values = np.asarray(array)
    if values.dtype.name not in (*_PLAIN, _FOREIGN):
        raise TypeError(f"a tensor holds booleans or numbers, not {values.dtype}")
    return Tensor(values)


def expand(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with three features in place of each tensor.

    Raises:
        ValueError: A name that a tensor needs is taken.
    """
    expanded: dict[str, Any] = dict(row)
    for name, value in row.items():
        if type(value) is Tensor and isinstance(name, str):
            for helper, content in _helpers(name, value.array).items():
                if helper in row:
                    raise ValueError(f"feature {helper!r}: the name is needed for the tensor {name!r}")
                expanded[helper] = content
            expanded[name] = _little_endian_bytes(value.array)
    return expanded


def restore(features: dict[str, Any]) -> None:
    """Puts arrays in place of the features that were made of tensors."""
    for name in [name.removesuffix("/shape") for name in features if name.endswith("/shape")]:
        shape, dtype = (features.get(helper) for helper in (f"{name}/shape", f"{name}/dtype"))
        array = _array_of(features.get(name), dtype, shape)
        if array is not None:
            features[name] = array
            del features[f"{name}/shape"], features[f"{name}/dtype"]


def _helpers(name: str, array: npt.NDArray[Any]) -> dict[str, Any]:
    # Interned, so that the encoder knows the names of the last row again.
    return {
        intern(f"{name}/shape"): np.array(array.shape, np.int64),
        intern(f"{name}/dtype"): array.dtype.name.encode(),
    }


def _little_endian_bytes(array: npt.NDArray[Any]) -> memoryview:
    swapped = array.dtype if array.dtype.name == _FOREIGN else array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array, swapped).reshape(-1).view(np.uint8).data


def _array_of(values: object, dtype: object, shape: object) -> npt.NDArray[Any] | None:
    """The array, or None if these three features are not one: they may have come from anywhere."""
    if not (isinstance(values, list) and isinstance(dtype, list) and isinstance(shape, np.ndarray)):
        return None
    if len(values) != 1 or len(dtype) != 1 or shape.dtype != np.int64 or len(shape) > _MOST_DIMENSIONS:
        return None
    lengths, found = shape.tolist(), _dtype_named(dtype[0])
    if found is None or min(lengths, default=0) < 0:
        return None
    if math.prod(lengths) * found.itemsize != len(values[0]):  # Python's own integers: nothing overflows
        return None
    if found == np.bool_ and values[0].translate(None, b"\0\1"):
        return None
    try:
        flat = np.frombuffer(bytearray(values[0]), found.newbyteorder("<") if found.isbuiltin == 1 else found)
        return flat.astype(found, copy=False).reshape(lengths)
    except ValueError:  # no values, and lengths beyond what NumPy can count
        return None


def _dtype_named(name: bytes) -> np.dtype[Any] | None:
    text = name.decode("latin-1")
    if text in _PLAIN:
        return np.dtype(text)
    if text == _FOREIGN and find_spec("ml_dtypes") is not None:
        found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
        return found
    return None
