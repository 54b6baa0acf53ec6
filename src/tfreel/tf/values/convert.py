"""Arrays out of Python values, with the dtypes that TensorFlow gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values.dtypes import DType, as_dtype
from tfreel.tf.values.handles import Array, Handle, RaggedValue, SparseValue, TensorList
from tfreel.tf.values.shapes import TensorShape

_INT32 = np.iinfo(np.int32)
_FLOAT32_MAX = float(np.finfo(np.float32).max)
_SEQUENCES = (list, tuple, range)


def array(value: Any, dtype: Any = None) -> Array:
    """The array that TensorFlow would make of a value: whole numbers are int32, others float32, text bytes.

    Args:
        value: A number, text, bytes, an array, a tensor, or lists of these.
        dtype: What the array has to be of. Arrays are cast to it; Python values must fit without that.

    Raises:
        TypeError: It cannot be had as this dtype.
        ValueError: The lists are of different lengths, or hold what no tensor can.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Handle):
        return _of_tensor(value, wanted)
    if isinstance(value, (bytes, str)):
        return _of_text(value, wanted)
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_array(np.asarray(value), wanted)
    if isinstance(value, (SparseValue, RaggedValue)):
        raise ValueError(
            "Attempt to convert a sparse or ragged tensor to a Tensor: tf.sparse.to_dense(sparse) and"
            " ragged.to_tensor() make dense ones, .values gives the values alone"
        )
    if isinstance(value, TensorShape):
        value = _known_sizes(value)
    if isinstance(value, (bytearray, memoryview)):
        value = list(value)
    if isinstance(value, _SEQUENCES) and holds_tensors(value):
        return _packed(value, wanted)
    if isinstance(value, (bool, int, float, complex, *_SEQUENCES)):
        return _of_python(value, wanted)
    if hasattr(value, "__array__"):
        return _of_array(np.asarray(value), wanted)
    raise ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor."
    )


def hinted(value: Any, dtype: Any) -> Array:
    """The array of a value, of the given dtype where the value can be had so."""
    try:
        return array(value, dtype)
    except (TypeError, ValueError):
        return array(value)


def holds_tensors(value: Any) -> bool:
    """Whether tensors are, or were, in lists."""
    if isinstance(value, (Handle, TensorList)):
        return True
    return isinstance(value, (list, tuple)) and any(map(holds_tensors, value))


def _of_tensor(value: Handle, wanted: DType | None) -> Array:
    made: Array = value.value()
    if wanted is not None and as_dtype(made.dtype) != wanted:
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype"
            f" {as_dtype(made.dtype).name}: {value!r}"
        )
    return made


def _known_sizes(shape: TensorShape) -> list[Any]:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return shape.as_list()


def _packed(value: Any, wanted: DType | None) -> Array:
    """Tensors in lists as one; what is with them takes their dtype."""
    if wanted is None:
        wanted = as_dtype(_first_tensor(value).dtype)
        _check_one_dtype(value, wanted)
    parts = [_packed(each, wanted) if holds_nested(each) else array(each, wanted) for each in _plain(value)]
    for each in parts:
        if each.shape != parts[0].shape:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: {list(parts[0].shape)} and {list(each.shape)}"
            )
    return np.stack(parts) if parts else np.zeros(0, wanted.numpy)


def holds_nested(value: Any) -> bool:
    """Whether it is a list, and not a tensor, in which tensors are."""
    return isinstance(value, (list, tuple)) and holds_tensors(value)


def _plain(value: Any) -> list[Any]:
    return [each.value() if isinstance(each, Handle) else each for each in value]


def _first_tensor(value: Any) -> Any:
    """The first tensor in lists; in a list that once held some, arrays stand for them."""
    for each in value:
        if isinstance(each, (Handle, np.ndarray)):
            return each
        found = _first_tensor(each) if holds_nested(each) else None
        if found is not None:
            return found
    return None


def _check_one_dtype(value: Any, wanted: DType) -> None:
    for each in value:
        if holds_nested(each):
            _check_one_dtype(each, wanted)
        elif isinstance(each, Handle) or (isinstance(value, TensorList) and isinstance(each, np.ndarray)):
            found = as_dtype(np.asarray(each).dtype)
            if found != wanted:
                raise InvalidArgumentError(
                    f"cannot put tensors of {wanted.name} and {found.name} together;"
                    " tf.cast makes one of the other"
                )


def _of_array(value: Array, wanted: DType | None) -> Array:
    if value.dtype.kind in "SUO":
        return _of_objects(value, wanted)
    if value.dtype.byteorder == ">":
        value = value.astype(value.dtype.newbyteorder("="))
    try:
        found = as_dtype(value.dtype)
    except TypeError:
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {value.dtype})."
        ) from None
    if wanted is None or found == wanted:
        return value
    if wanted.name == "string":
        raise ValueError("Failed to convert a NumPy array to a Tensor (Unsupported object type int).")
    with np.errstate(all="ignore"):
        return (value.real if value.dtype.kind == "c" and not wanted.is_complex else value).astype(
            wanted.numpy
        )


def _of_objects(value: Array, wanted: DType | None) -> Array:
    made = _encoded(value)
    for each in made.reshape(-1):
        if not isinstance(each, bytes):
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor"
                f" (Unsupported object type {type(each).__name__})."
            )
    if wanted is None or wanted.name == "string":
        return made
    return value.astype(wanted.numpy)  # NumPy reads numbers, as TensorFlow lets it do


def _encoded(value: Array) -> Array:
    """Text as bytes; an array of objects that is right already stays the same one."""
    if value.dtype == object and all(type(each) is bytes for each in value.reshape(-1)):
        return value
    made = np.empty(value.shape, object)
    flat = made.reshape(-1)
    for i, each in enumerate(value.reshape(-1).tolist()):
        flat[i] = each.encode() if isinstance(each, str) else each
    return made


def _of_text(value: bytes | str, wanted: DType | None) -> Array:
    if wanted is not None and wanted.name != "string":
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
    made = np.empty((), object)
    made[()] = value.encode() if isinstance(value, str) else bytes(value)
    return made


def _of_python(value: Any, wanted: DType | None) -> Array:
    try:
        made = np.array(value)
    except UnicodeDecodeError:  # bytes beside text
        made = np.array(value, object)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    except OverflowError:
        made = np.array(value, object)
    if made.dtype.kind in "SUO":
        return _of_leaves(np.array(value, object), value, wanted)
    if wanted is not None:
        return _held_by(made, value, wanted)
    return _natural(made, _first_leaf(value))


def _of_leaves(leaves: Array, value: Any, wanted: DType | None) -> Array:
    kinds = {type(each) for each in leaves.reshape(-1)}
    if all(issubclass(kind, (bytes, str)) for kind in kinds):
        if wanted is not None and wanted.name != "string":
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
        return _encoded(leaves)
    if all(issubclass(kind, int) for kind in kinds):
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if list in kinds or tuple in kinds:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    first = leaves.reshape(-1)[0]
    if not isinstance(first, (bytes, str, bool, int, float, complex, np.generic)):
        raise ValueError(
            f"Attempt to convert a value ({first!r}) with an unsupported type ({type(first)!r}) to a Tensor."
        )
    raise ValueError("Can't convert Python sequence with mixed types to Tensor.")


def _first_leaf(value: Any) -> Any:
    while isinstance(value, _SEQUENCES):
        if not value:
            return 0.0
        value = value[0]
    return value


def _natural(made: Array, first: Any) -> Array:
    """The dtype without a wish: that of the first value; for numbers of Python a small one that holds all."""
    kind = made.dtype.kind
    leads = np.asarray(first).dtype
    if ((leads.kind == "b") != (kind == "b") and leads.kind == "b") or (kind == "c" and leads.kind != "c"):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if kind == "u" and made.size and int(made.max()) > np.iinfo(np.int64).max:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if kind in "iu":
        fits = not made.size or (_INT32.min <= int(made.min()) and int(made.max()) <= _INT32.max)
        return made.astype(np.int32 if fits else np.int64)
    if kind == "c":
        return made.astype(np.complex128)
    if kind != "f":
        return made
    if leads.kind == "f" and isinstance(first, (np.ndarray, np.generic)):
        return made.astype(leads)
    if made.size and np.any(np.isfinite(made) & (np.abs(made) > _FLOAT32_MAX)):
        raise ValueError(
            "Can't convert Python sequence with a value out of range for a double-precision float."
        )
    return made.astype(np.float32)


# What of Python can be held by which dtypes, by the kinds of NumPy.
_HOLDS = {"b": "biufc", "i": "iufc", "u": "iufc", "f": "fc", "c": "c"}


def _held_by(made: Array, value: Any, wanted: DType) -> Array:
    target = wanted.numpy
    if made.size and target.kind not in _HOLDS[made.dtype.kind]:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
    if made.size and wanted.name in ("int64", "uint64") and made.dtype.kind in "iu":
        limits = np.iinfo(target)
        if int(made.min()) < limits.min or int(made.max()) > limits.max:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    with np.errstate(all="ignore"):
        return made.astype(target)


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
