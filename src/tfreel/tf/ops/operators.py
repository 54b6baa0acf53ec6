"""What tensors can do by themselves: arithmetic and comparison; and operations that work on each value alone.

TensorFlow does not mix dtypes: a tensor and a Python number have the tensor's dtype, two tensors must have
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation
from tfreel.tf.graphs.rows import Column, Dense, aligned, all_dense, is_column
from tfreel.tf.ops.conversion import convert_to_tensor, of_one_dtype
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, Handle, is_ragged
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


def of_kinds(x: Array, kinds: str, name: str) -> Array:
    """The array, if its kind is among those, as NumPy writes them, that an operation takes.

    Raises:
        InvalidArgumentError: It is not.
    """
    if x.dtype.kind not in kinds:
        raise InvalidArgumentError(f"tf.{name} does not take tensors of dtype {as_dtype(x.dtype).name}")
    return x


def on_rows(kernel: Callable[..., Any]) -> Callable[..., Column | None]:
    """The form for whole columns of a kernel that treats every value alone, or broadcasts them."""

    def rows(*args: Any, **options: Any) -> Column | None:
        if not all_dense(args) or any(map(is_column, options.values())):
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
    return Operation(kernel, rows=on_rows(kernel), of_ragged=in_rows)


def in_rows(compute: Operation, *args: Any, **options: Any) -> Any:
    """An operation on each value alone, of ragged tensors: the rows stay as they are."""
    from tfreel.tf.ops.ragged_math import mapped

    return mapped(compute)(*args, **options)


class Binary(Operation):
    """An operation on two tensors, of which a Python value takes the dtype of the other."""

    def __call__(self, x: Any, y: Any, name: Any = None) -> Any:
        if is_ragged(x) or is_ragged(y):
            return in_rows(self, x, y)
        return super().__call__(*self.converted(x, y))

    def converted(self, x: Any, y: Any) -> list[Any]:
        """The two as tensors."""
        return of_one_dtype([x, y])


class Addition(Binary):
    """An operation that leaves another dtype to its kernel to refuse, as TensorFlow does here."""

    def converted(self, x: Any, y: Any) -> list[Any]:
        x = convert_to_tensor(x)
        return [x, convert_to_tensor(y, dtype_hint=x.dtype)]


class Boolean(Binary):
    """An operation on two tensors that must be bool."""

    def converted(self, x: Any, y: Any) -> list[Any]:
        return [each if isinstance(each, Handle) else convert_to_tensor(each, bool) for each in (x, y)]


class Division(Binary):
    """An operation on two tensors that reports another dtype as a TypeError, as TensorFlow does here."""

    def converted(self, x: Any, y: Any) -> list[Any]:
        x = convert_to_tensor(x, dtype_hint=y.dtype if isinstance(y, Tensor) else None)
        y = convert_to_tensor(y, dtype_hint=x.dtype)
        if x.dtype != y.dtype:
            raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
        if x.dtype.is_bool or x.dtype.name == "string":
            raise TypeError(f"Invalid dtype {x.dtype!r} in a division")
        return [x, y]


def binary(
    name: str, compute: Callable[[Any, Any], Any], kinds: str, kind_of_operation: type[Binary] = Binary
) -> Binary:
    """An operation on two tensors that broadcast, of the kinds of dtypes that it takes."""

    def kernel(x: Any, y: Any) -> Array:
        x, y = same_dtype(x, y)
        of_kinds(x, kinds, name)
        with np.errstate(all="ignore"):
            try:
                return np.asarray(compute(x, y))
            except ValueError as error:
                raise InvalidArgumentError(f"Incompatible shapes: {x.shape} vs. {y.shape}") from error

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"`tf.{name}`, value by value."
    return kind_of_operation(kernel, rows=on_rows(kernel))


def _added(x: Array, y: Array) -> Array:
    if x.dtype != object:
        return np.add(x, y)
    return np.asarray(np.add(x, y), object)


def as_floats(x: Array) -> Array:
    """Whole numbers as the floats that a division makes of them."""
    if x.dtype.kind not in "iu":
        return x
    return x.astype(np.float32 if x.dtype.itemsize < 4 else np.float64)


def _divided(x: Array, y: Array) -> Array:
    return np.divide(as_floats(x), as_floats(y))


def _whole_divisor(x: Array, y: Array) -> None:
    if x.dtype.kind in "iu" and not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def _floor_divided(x: Array, y: Array) -> Array:
    _whole_divisor(x, y)
    if x.dtype.kind == "f":
        return np.floor(np.divide(x, y))
    return np.floor_divide(x, y)


def _modulo(x: Array, y: Array) -> Array:
    _whole_divisor(x, y)
    return np.mod(x, y)


def _powered(x: Array, y: Array) -> Array:
    if x.dtype.kind == "i" and np.any(y < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.power(x, y)


def _compared(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Array]:
    return lambda x, y: np.asarray(compute(x, y), bool)


def _bitwise(name: str, on_bools: Any, on_numbers: Any) -> Binary:
    return binary(name, lambda x, y: (on_bools if x.dtype.kind == "b" else on_numbers)(x, y), "biu")


_NUMBERS, _ORDERED, _ANY = "iufc", "iuf", "biufcO"

add = binary("add", _added, _NUMBERS + "O", Addition)
subtract = binary("subtract", np.subtract, _NUMBERS)
multiply = binary("multiply", np.multiply, "b" + _NUMBERS)
divide = binary("divide", _divided, _NUMBERS, Division)
floordiv = binary("floordiv", _floor_divided, _ORDERED)
mod = binary("mod", _modulo, _ORDERED)
power = binary("pow", _powered, "ifc")
maximum = binary("maximum", np.maximum, _ORDERED)
minimum = binary("minimum", np.minimum, _ORDERED)
equal = binary("equal", _compared(np.equal), _ANY)
not_equal = binary("not_equal", _compared(np.not_equal), _ANY)
less = binary("less", np.less, _ORDERED)
less_equal = binary("less_equal", np.less_equal, _ORDERED)
greater = binary("greater", np.greater, _ORDERED)
greater_equal = binary("greater_equal", np.greater_equal, _ORDERED)
logical_and = binary("logical_and", np.logical_and, "b", Boolean)
logical_or = binary("logical_or", np.logical_or, "b", Boolean)
logical_xor = binary("logical_xor", np.logical_xor, "b", Boolean)
bitwise_and = _bitwise("bitwise_and", np.logical_and, np.bitwise_and)
bitwise_or = _bitwise("bitwise_or", np.logical_or, np.bitwise_or)
bitwise_xor = _bitwise("bitwise_xor", np.logical_xor, np.bitwise_xor)


@elementwise
def negative(x: Any) -> Array:
    """The values with the other sign."""
    return np.asarray(np.negative(of_kinds(array(x), "ifc", "negative")))


@elementwise
def logical_not(x: Any) -> Array:
    """The opposite of each value."""
    made = array(x) if isinstance(x, _ARRAYS) else array(x, bool)
    return np.asarray(np.logical_not(of_kinds(made, "b", "logical_not")))


@elementwise
def invert(x: Any) -> Array:
    """The opposite of bools, and of the bits of whole numbers."""
    return np.asarray(np.invert(of_kinds(array(x), "biu", "invert")))


@elementwise
def absolute(x: Any) -> Array:
    """The values without their sign."""
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(of_kinds(array(x), "ifc", "abs")))


def _reflected(compute: Operation) -> Callable[[Any, Any], Any]:
    return lambda self, other: compute(convert_to_tensor(other, self.dtype), self)


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
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
}
for _name, _compute in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _plain(_compute))
    setattr(Tensor, f"__r{_name}__", _reflected(_compute))
_OTHERS: dict[str, Operation] = {
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
    "neg": negative,
    "invert": invert,
    "abs": absolute,
}
for _name, _operation in _OTHERS.items():
    setattr(Tensor, f"__{_name}__", _plain(_operation))


def _is_equal(self: Tensor, other: object) -> Any:
    if other is None or not _comparable(other):
        return False
    other = convert_to_tensor(other, self.dtype) if not isinstance(other, Handle) else other
    return equal(self, other) if _broadcast(self, other) else Tensor.of(np.array(False))


def _is_not_equal(self: Tensor, other: object) -> Any:
    if other is None or not _comparable(other):
        return True
    other = convert_to_tensor(other, self.dtype) if not isinstance(other, Handle) else other
    return not_equal(self, other) if _broadcast(self, other) else Tensor.of(np.array(True))


def _broadcast(x: Any, y: Any) -> bool:
    """Whether two shapes may fit to each other."""
    if x.shape.rank is None or y.shape.rank is None:
        return True
    pairs = zip(reversed(x.shape.as_list()), reversed(y.shape.as_list()), strict=False)
    return all(a is None or b is None or a == b or 1 in (a, b) for a, b in pairs)


def _comparable(other: object) -> bool:
    return isinstance(other, (Handle, *_ARRAYS, int, float, complex, bool, str, bytes, list, tuple))


Tensor.__eq__ = _is_equal  # type: ignore[method-assign, assignment]
Tensor.__ne__ = _is_not_equal  # type: ignore[method-assign, assignment]
