"""Arrays out of Python values, with the dtypes that TensorFlow gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Array, Handle, NotTracedError

_INT32 = np.iinfo(np.int32)


def array(value: Any, dtype: Any = None) -> Array:
    """The array that TensorFlow would make of a value: whole numbers are int32, others float32, text bytes.

    Args:
        value: A number, text, bytes, an array, a tensor, or lists of these.
        dtype: What the array has to be of. A value that it cannot hold is an error; an array of another dtype
        too.

    Raises:
        TypeError: It cannot be had as this dtype.
        ValueError: The lists are of different lengths, or hold what no tensor can.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Handle):
        value = value.value()
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_array(np.asarray(value), wanted)
    if isinstance(value, (bytes, str)):
        return _of_text(value, wanted)
    if value is None:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        )
    return _of_python(value, wanted)


def _of_array(value: Array, wanted: DType | None) -> Array:
    if value.dtype.kind in "SU":
        value = _bytes_array(value)
    elif value.dtype.kind == "O" and wanted is None and not _is_text(value):
        value = _of_python(value.tolist(), None)
    found = as_dtype(value.dtype)
    if wanted is None or found == wanted:
        return value
    if wanted.name == "string" or found.name == "string":
        raise TypeError(f"Cannot convert {found.name} values to a tensor of dtype {wanted.name}")
    if value.ndim == 0 or _fits(value, wanted):
        return _checked_cast(value, wanted)
    raise TypeError(f"Cannot convert an array of {found.name} to a tensor of dtype {wanted.name}")


def _fits(value: Array, wanted: DType) -> bool:
    return bool(np.can_cast(value.dtype, wanted.numpy, "same_kind")) or value.dtype.kind in "iub"


def _of_text(value: bytes | str, wanted: DType | None) -> Array:
    if wanted is not None and wanted.name != "string":
        raise TypeError(f"Cannot convert {value!r} to a tensor of dtype {wanted.name}")
    return np.array(value.encode() if isinstance(value, str) else value, object)


def _of_python(value: Any, wanted: DType | None) -> Array:
    if isinstance(value, (list, tuple, range)):
        value = _plain(value)
    if isinstance(value, (list, tuple)) and _holds_arrays(value):
        return np.stack([array(each, wanted) for each in value]) if value else np.zeros(0, np.float32)
    try:
        made = np.array(value)
    except NotTracedError:
        raise
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if made.dtype.kind in "SUO":
        made = _bytes_array(np.array(value, object))
        if not _is_text(made):
            kind = type(value).__name__
            raise ValueError(
                f"Attempt to convert a value ({value!r}) with an unsupported type ({kind}) to a Tensor."
            )
        return _of_array(made, wanted)
    if wanted is not None:
        return _checked_cast(made, wanted)
    if made.dtype == np.int64 and not made.size:
        return made.astype(np.int32)
    if made.dtype == np.int64 and _INT32.min <= made.min() and made.max() <= _INT32.max:
        return made.astype(np.int32)
    return made.astype(np.float32) if made.dtype == np.float64 else made


def _plain(value: Any) -> Any:
    return [_plain(each) if isinstance(each, (list, tuple, range)) else each for each in value]


def _holds_arrays(value: Any) -> bool:
    for each in value:
        if isinstance(each, (np.ndarray, np.generic, Handle)):
            return True
        if isinstance(each, (list, tuple)) and _holds_arrays(each):
            return True
    return False


def _checked_cast(made: Array, wanted: DType) -> Array:
    target = wanted.numpy
    if made.dtype.kind in "fc" and (wanted.is_integer or wanted.is_bool) and made.size:
        raise TypeError(f"Cannot convert {made.ravel()[0]!r} to EagerTensor of dtype {wanted.name}")
    if made.dtype.kind in "iub" and wanted.is_integer and made.size:
        limits = np.iinfo(target)
        if int(made.min()) < limits.min or int(made.max()) > limits.max:
            raise ValueError(
                f"Can't convert Python sequence with out-of-range integer to Tensor of {wanted.name}"
            )
    with np.errstate(over="ignore"):
        return made.astype(target)


def _bytes_array(value: Array) -> Array:
    """Text as bytes, whatever it was."""
    found = np.empty(value.shape, object)
    flat = found.reshape(-1)
    for i, each in enumerate(value.reshape(-1).tolist() if value.dtype.kind in "SU" else value.reshape(-1)):
        if isinstance(each, Handle):
            each = each.value()
        if isinstance(each, np.ndarray) and each.ndim == 0:
            each = each.item()
        flat[i] = each.encode() if isinstance(each, str) else each
    return found


def _is_text(value: Array) -> bool:
    return all(isinstance(each, (bytes, str)) for each in value.reshape(-1))


def scalar_bytes(value: Any) -> bytes:
    """The bytes of a tensor that is one string.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, bytes):
        return value
    made = array(value)
    item = made.item() if made.ndim == 0 else None
    if not isinstance(item, (bytes, str)):
        raise TypeError(
            f"expected one string, not a tensor of shape {made.shape} and dtype {as_dtype(made.dtype).name}"
        )
    return item.encode() if isinstance(item, str) else item
