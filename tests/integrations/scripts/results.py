"""What scripts answer, as plain values; and where two answers differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

OP_ERRORS = (
    *("InvalidArgumentError", "DataLossError", "OutOfRangeError", "NotFoundError", "FailedPreconditionError"),
    *("UnimplementedError", "AlreadyExistsError", "PermissionDeniedError", "InternalError", "UnknownError"),
)
PYTHON_ERRORS = {
    "TypeError",
    "ValueError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "StopIteration",
    "DecodeError",
}
TOLERANCE = 2e-5


def approximately(script: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a script whose floats need only be near those of TensorFlow."""
    script.approximately = True  # type: ignore[attr-defined]
    return script


def raised(tf: Any, call: Callable[[], object]) -> str:
    """The name of the class of error that a call ends with, as far as users can tell."""
    try:
        call()
    except tf.errors.OpError as error:
        return next((name for name in OP_ERRORS if isinstance(error, getattr(tf.errors, name))), "OpError")
    except Exception as error:  # noqa: BLE001 - the class is the answer
        names = [kind.__name__ for kind in type(error).__mro__]
        return next((name for name in names if name in PYTHON_ERRORS), names[0])
    return "no error"


def plain(tf: Any, value: Any) -> Any:
    """A value as nested tuples, lists and dicts of arrays and scalars; datasets become lists."""
    if isinstance(value, tf.data.Dataset):
        return [plain(tf, element) for element in value]
    if isinstance(value, tf.RaggedTensor):
        splits = [plain(tf, each) for each in value.nested_row_splits]
        return ("ragged", plain(tf, value.flat_values), splits)
    if isinstance(value, tf.SparseTensor | tf.compat.v1.SparseTensorValue):
        return ("sparse", *(plain(tf, each) for each in (value.indices, value.values, value.dense_shape)))
    if isinstance(value, tf.Tensor):
        return ("tensor", value.dtype.name, tuple(value.shape), value.numpy())
    if isinstance(value, tf.DType):
        return ("dtype", value.name)
    if isinstance(value, tf.TensorShape):
        return ("shape", None if value.rank is None else tuple(value))
    if isinstance(value, tf.TensorSpec | tf.SparseTensorSpec | tf.RaggedTensorSpec):
        return (type(value).__name__, plain(tf, value.shape), value.dtype.name)
    if hasattr(value, "SerializeToString"):
        return (type(value).__name__, value.SerializeToString(deterministic=True))
    return _plain_container(tf, value)


def _plain_container(tf: Any, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: plain(tf, each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(tf, each) for each in value)
    if isinstance(value, list):
        return [plain(tf, each) for each in value]
    if value is None or isinstance(value, bytes | str | int | float | np.ndarray | np.generic):
        return value
    raise TypeError(f"a script may not answer a {type(value)}")


def differences(expected: Any, found: Any, *, near: bool, where: str = "result") -> Iterator[str]:
    """Says where two plain values differ."""
    if type(expected) is not type(found):
        yield f"{where}: {expected!r} of {type(expected).__name__} is {found!r} of {type(found).__name__}"
    elif isinstance(expected, dict):
        if expected.keys() != found.keys():
            yield f"{where}: keys {list(expected)} are {list(found)}"
        for key in expected.keys() & found.keys():
            yield from differences(expected[key], found[key], near=near, where=f"{where}[{key!r}]")
    elif isinstance(expected, list | tuple):
        if len(expected) != len(found):
            yield f"{where}: {len(expected)} values are {len(found)}: {expected!r} {found!r}"
        for i, pair in enumerate(zip(expected, found, strict=False)):
            yield from differences(*pair, near=near, where=f"{where}[{i}]")
    elif isinstance(expected, bytes | str) or expected is None:
        if expected != found:
            yield f"{where}: {expected!r} is {found!r}"
    elif not _equal(np.asarray(expected), np.asarray(found), near=near):
        yield f"{where}: {expected!r} is {found!r}"


def _equal(expected: np.ndarray, found: np.ndarray, *, near: bool) -> bool:
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(expected, found))
    if near:
        return bool(np.allclose(expected, found, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))
    zeros = np.signbit(expected.real) == np.signbit(found.real)
    return bool(np.array_equal(expected, found, equal_nan=True)) and bool(np.all(zeros | np.isnan(expected)))
