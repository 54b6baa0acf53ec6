"""What tensors can do by themselves: arithmetic, comparison, slicing; and operations on each value alone.

TensorFlow does not mix dtypes: a tensor and a Python number have the tensor's dtype, two tensors must have
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.graphs.rows import Column, Dense, aligned, all_dense, is_column
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, Handle
from tfreel.tf.values.tensor import Tensor

_ARRAYS = (np.ndarray, np.generic)


def same_dtype(x: Any, y: Any) -> tuple[Array, Array]:
    """Two arrays of one dtype: Python values take that of the other.

    Raises:
        InvalidArgumentError: They are of two.
    """
    if not isinstance(x, _ARRAYS) and isinstance(y, _ARRAYS):
        y = array(y)
        return array(x, y.dtype), y
    x = array(x)
    y = array(y) if isinstance(y, _ARRAYS) else array(y, x.dtype)
    if x.dtype != y.dtype:
        first, second = as_dtype(x.dtype).name, as_dtype(y.dtype).name
        raise InvalidArgumentError(
            f"cannot compute as input #1(zero-based) was expected to be a {first} tensor but is a {second}"
            " tensor; tf.cast makes one of the other"
        )
    return x, y


def on_rows(kernel: Callable[..., Any]) -> Callable[..., Column | None]:
    """The form for whole columns of a kernel that treats every value alone, or broadcasts them."""

    def rows(*args: Any, **options: Any) -> Column | None:
        if not all_dense(args) or not all_dense(options.values()):
            return None
        tensors = [i for i, each in enumerate(args) if is_column(each) or isinstance(each, _ARRAYS)]
        given = list(args)
        for i, each in zip(tensors, aligned([args[i] for i in tensors]), strict=True):
            given[i] = each
        return Dense(kernel(*given, **options))

    return rows


def elementwise(kernel: Callable[..., Any]) -> Operation:
    """An operation whose kernel treats every value of its tensors alone, or broadcasts them.

    The tensors must be positional, and nothing else may be that NumPy would broadcast.
    """
    return Operation(kernel, rows=on_rows(kernel))


def _arithmetic(name: str, compute: Callable[[Any, Any], Any]) -> Operation:
    def kernel(x: Any, y: Any) -> Array:
        x, y = same_dtype(x, y)
        with np.errstate(all="ignore"):
            try:
                return np.asarray(compute(x, y))
            except ValueError as error:
                raise InvalidArgumentError(f"Incompatible shapes: {x.shape} vs. {y.shape}") from error

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"`tf.{name}`, value by value."
    return elementwise(kernel)


def _divided(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iub":
        small = x.dtype in (np.int8, np.uint8, np.int16, np.uint16)
        kind = np.float32 if small else np.float64
        x, y = x.astype(kind), y.astype(kind)
    return np.divide(x, y)


def _floor_divided(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu" and not np.all(y):
        raise InvalidArgumentError("Integer division by zero")
    return np.floor_divide(x, y)


def _added(x: Array, y: Array) -> Array:
    return np.add(x, y)


add = _arithmetic("add", _added)
subtract = _arithmetic("subtract", np.subtract)
multiply = _arithmetic("multiply", np.multiply)
divide = _arithmetic("divide", _divided)
floordiv = _arithmetic("floordiv", _floor_divided)
mod = _arithmetic("mod", np.mod)
power = _arithmetic("pow", np.power)
maximum = _arithmetic("maximum", np.maximum)
minimum = _arithmetic("minimum", np.minimum)
equal = _arithmetic("equal", np.equal)
not_equal = _arithmetic("not_equal", np.not_equal)
less = _arithmetic("less", np.less)
less_equal = _arithmetic("less_equal", np.less_equal)
greater = _arithmetic("greater", np.greater)
greater_equal = _arithmetic("greater_equal", np.greater_equal)
logical_and = _arithmetic("logical_and", np.logical_and)
logical_or = _arithmetic("logical_or", np.logical_or)
logical_xor = _arithmetic("logical_xor", np.logical_xor)


@elementwise
def negative(x: Any) -> Array:
    """The values with the other sign."""
    return np.asarray(np.negative(array(x)))


@elementwise
def logical_not(x: Any) -> Array:
    """The opposite of each value."""
    return np.asarray(np.logical_not(array(x)))


@elementwise
def absolute(x: Any) -> Array:
    """The values without their sign."""
    return np.asarray(np.abs(array(x)))


def _ends(parts: tuple[Any, ...]) -> list[Any]:
    return [
        end
        for part in parts
        for end in ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,))
    ]


def _pick(tensor: Array, parts: tuple[Any, ...]) -> Array:
    keys: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            keys.append(
                slice(*(None if end is None else int(end) for end in (part.start, part.stop, part.step)))
            )
        elif part is None or part is Ellipsis:
            keys.append(part)
        else:
            keys.append(_whole(part))
    try:
        return np.asarray(tensor[tuple(keys)])
    except IndexError as error:
        raise InvalidArgumentError(f"slice index out of bounds: {error!s}") from error


def _whole(part: Any) -> int:
    made = np.asarray(part)
    if made.ndim or made.dtype.kind not in "iu":
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64"
            f" tensors are valid indices, got {part!r}"
        )
    return int(made)


def pick(tensor: Any, key: Any) -> Any:
    """``tensor[key]``, where parts of the key may be tensors themselves."""
    return picked(tensor, *_as_arguments(key if isinstance(key, tuple) else (key,)))


def _as_arguments(key: tuple[Any, ...]) -> list[Any]:
    """Slices as lists, in which tensors are seen."""
    return [["slice", part.start, part.stop, part.step] if isinstance(part, slice) else part for part in key]


def _as_key(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(*part[1:]) if isinstance(part, list) else part for part in arguments)


def _picked_rows(tensor: Any, *arguments: Any) -> Column | None:
    key = _as_key(arguments)
    if not isinstance(tensor, Dense) or any(map(is_column, _ends(key))):
        return None
    return Dense(_pick(tensor.array, (slice(None), *key)))


@operation(rows=_picked_rows)
def picked(tensor: Any, *arguments: Any) -> Array:
    """The part of a tensor that a key means; slices in it are lists."""
    return _pick(array(tensor), _as_key(arguments))


def _reflected(compute: Operation) -> Callable[[Any, Any], Any]:
    return lambda self, other: compute(other, self)


def _plain(compute: Operation) -> Callable[..., Any]:
    return lambda self, *others: compute(self, *others)


_BINARY = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": divide,
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
    "and": logical_and,
    "or": logical_or,
    "xor": logical_xor,
}
for _name, _compute in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _plain(_compute))
    setattr(Tensor, f"__r{_name}__", _reflected(_compute))
for _name, _compute in {
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
    "neg": negative,
    "invert": logical_not,
    "abs": absolute,
}.items():
    setattr(Tensor, f"__{_name}__", _plain(_compute))


def _is_equal(self: Tensor, other: object) -> Any:
    if other is None or not _comparable(other):
        return False
    return equal(self, other)


def _is_not_equal(self: Tensor, other: object) -> Any:
    if other is None or not _comparable(other):
        return True
    return not_equal(self, other)


def _comparable(other: object) -> bool:
    return isinstance(other, (Handle, *_ARRAYS, int, float, complex, bool, str, bytes, list, tuple))


Tensor.__eq__ = _is_equal  # type: ignore[method-assign, assignment]
Tensor.__ne__ = _is_not_equal  # type: ignore[method-assign, assignment]
