"""Numbers out of numbers, value by value; and products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation, operation
from tfreel.tf.ops import operators
from tfreel.tf.ops.conversion import convert_to_tensor, of_one_dtype
from tfreel.tf.ops.operators import Division, as_floats, binary, elementwise, of_kinds, same_dtype
from tfreel.tf.ops.shaping import tensors, unstack
from tfreel.tf.ops.static import invalid_argument, one_number
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype, int32
from tfreel.tf.values.handles import Array, Handle, is_ragged
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.tensor import Tensor


def unary(name: str, compute: Callable[[Any], Any], kinds: str = "fc") -> Operation:
    """An operation on each value alone, of the kinds of dtypes that it takes."""

    def kernel(x: Any) -> Array:
        made = of_kinds(array(x), kinds, name)
        with np.errstate(all="ignore"):
            return np.asarray(compute(made))

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = f"`tf.{name}`, value by value."
    return elementwise(kernel)


def _sigmoid(x: Array) -> Array:
    one = x.dtype.type(1)  # with Python's, NumPy 1 reckons a scalar in float64
    return np.asarray(one / (one + np.exp(-x)))


def _rounded(x: Array) -> Array:
    return np.rint(x) if x.dtype.kind == "f" else x


def _reciprocal_root(x: Array) -> Array:
    return np.asarray(x.dtype.type(1) / np.sqrt(x))


def _sign(x: Array) -> Array:
    if x.dtype.kind == "c":  # NumPy 1 has another definition
        made, size = np.zeros_like(x), np.abs(x)
        np.divide(x.real, size, out=made.real, where=size != 0)
        np.divide(x.imag, size, out=made.imag, where=size != 0)
        return made
    if x.dtype.kind == "f":
        return np.where(np.isnan(x), x, np.sign(x)).astype(x.dtype)
    return np.asarray(np.sign(x))


sign = unary("sign", _sign, "ifc")
floor = unary("floor", np.floor, "f")
ceil = unary("math.ceil", np.ceil, "f")
round = unary("round", _rounded, "iufc")
rint = unary("math.rint", np.rint, "f")
sqrt = unary("sqrt", np.sqrt)
rsqrt = unary("math.rsqrt", _reciprocal_root)
square = unary("square", np.square, "iufc")
exp = unary("exp", np.exp)
expm1 = unary("math.expm1", np.expm1)
log = unary("math.log", np.log)
log1p = unary("math.log1p", np.log1p)
sin = unary("sin", np.sin)
cos = unary("cos", np.cos)
tan = unary("tan", np.tan)
asin = unary("asin", np.arcsin)
acos = unary("acos", np.arccos)
atan = unary("atan", np.arctan)
sinh = unary("sinh", np.sinh)
cosh = unary("cosh", np.cosh)
tanh = unary("tanh", np.tanh)
sigmoid = unary("sigmoid", _sigmoid)
reciprocal = unary("math.reciprocal", np.reciprocal)
relu = unary("nn.relu", lambda x: np.maximum(x, np.zeros((), x.dtype)), "iuf")
is_nan = unary("math.is_nan", np.isnan, "f")
is_inf = unary("math.is_inf", np.isinf, "f")
is_finite = unary("math.is_finite", np.isfinite, "f")

atan2 = binary("math.atan2", np.arctan2, "f")
squared_difference = binary("math.squared_difference", lambda x, y: np.square(x - y), "iufc")


def _divided_or_zero(x: Array, y: Array) -> Array:
    x, y = as_floats(x), as_floats(y)
    return np.where(y == 0, np.zeros((), x.dtype), np.divide(x, y)).astype(x.dtype)


divide_no_nan = binary("math.divide_no_nan", _divided_or_zero, "iufc", Division)


def _truncated_quotient(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        if not np.all(y):
            raise InvalidArgumentError("Integer division by zero")
        quotient = np.abs(x) // np.abs(y)
        return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype)
    return np.trunc(np.divide(x, y))


truncatediv = binary("truncatediv", _truncated_quotient, "iuf")
truncatemod = binary("truncatemod", np.fmod, "iuf")


@elementwise
def _clipped(value: Any, least: Any, most: Any) -> Any:
    made, least = same_dtype(value, least)
    made, most = same_dtype(made, most)
    of_kinds(made, "iuf", "clip_by_value")
    with invalid_argument():
        found = np.maximum(np.minimum(made, most), least)
    if found.shape != made.shape:
        raise ValueError(f"the limits make another shape of {list(made.shape)}: {list(found.shape)}")
    return found


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: Any = None) -> Any:
    """The values, at the least or the greatest allowed where they are beyond."""
    value = convert_to_tensor(t)
    if is_ragged(value):
        return _clipped(value, clip_value_min, clip_value_max)
    if not isinstance(value, Tensor):
        raise TypeError("clip_by_value takes dense tensors")
    return _clipped(*of_one_dtype([value, clip_value_min, clip_value_max]))


@operation()
def _added_up(inputs: Any) -> Array:
    parts = tensors(inputs)
    total = of_kinds(parts[0], "iufc", "add_n")
    for each in parts[1:]:
        if each.shape != total.shape:
            raise InvalidArgumentError(f"Dimension mismatch: {list(total.shape)} and {list(each.shape)}")
        total = total + each
    return np.asarray(total)


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of some tensors of one shape.

    Raises:
        ValueError: There are none.
    """
    if isinstance(inputs, Handle):
        inputs = unstack(inputs)
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("Inputs must be an iterable of at least one Tensor with the same dtype and shape.")
    return _added_up(list(inputs))


@operation()
def _multiplied(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    first, second = same_dtype(a, b)
    of_kinds(first, "iufc", "matmul")
    if first.ndim < 2 or second.ndim < 2:
        raise InvalidArgumentError("matrices have at least two dimensions")
    first = np.swapaxes(first, -1, -2) if transpose_a else first
    second = np.swapaxes(second, -1, -2) if transpose_b else second
    with invalid_argument():
        return np.matmul(first, second)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    name: Any = None,
) -> Any:
    """The product of matrices."""
    if adjoint_a or adjoint_b:
        raise ValueError("adjoint_a and adjoint_b are not supported: use transpose_a and transpose_b")
    return _multiplied(*of_one_dtype([a, b]), transpose_a, transpose_b)


def _from_the_right(self: Any, other: Any) -> Any:
    return matmul(other, self)


setattr(Tensor, "__matmul__", matmul)  # noqa: B010 - a type checker would look for the method in the class
setattr(Tensor, "__rmatmul__", _from_the_right)  # noqa: B010


def _cumulated(name: str, compute: np.ufunc) -> Operation:
    def kernel(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Array:
        made, along = of_kinds(array(x), "iufc", name), one_number(axis, "axis")
        if not made.ndim:
            raise InvalidArgumentError(f"tf.{name} wants a tensor with a dimension")
        with invalid_argument():
            made = np.flip(made, along) if reverse else made
            if exclusive:
                first = np.full_like(made.take([0] if made.shape[along] else [], along), compute.identity)
                made = np.concatenate([first, made], along).take(range(made.shape[along]), along)
            found = compute.accumulate(made, along, dtype=made.dtype)
            return np.ascontiguousarray(np.flip(found, along) if reverse else found)

    kernel.__name__ = kernel.__qualname__ = name
    return Operation(kernel)


cumsum = _cumulated("cumsum", np.add)
cumsum.__doc__ = "The sums of all values up to each, along an axis."
cumprod = _cumulated("cumprod", np.multiply)
cumprod.__doc__ = "The products of all values up to each, along an axis."


def _softmax_kernel(logits: Any, axis: int = -1) -> Array:
    """Positive values that add up to one along an axis, in the order of the exponentials."""
    made = of_kinds(array(logits), "f", "nn.softmax")
    with invalid_argument():
        raised = np.exp(made - np.max(made, axis, keepdims=True, initial=-np.inf))
        return np.asarray(raised / np.sum(raised, axis, keepdims=True), made.dtype)


softmax = Operation(_softmax_kernel)


def _counted_spec(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    axis: Any = None,
    binary_output: bool = False,
) -> TensorSpec:
    return TensorSpec([None], dtype if weights is None else weights.dtype)


@operation(infer=_counted_spec)
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    axis: Any = None,
    binary_output: bool = False,
) -> Array:
    """How often each whole number is there, or the sums of weights."""
    if axis is not None:
        raise ValueError("bincount along an axis is not supported")
    made = array(arr).reshape(-1)
    if made.size and made.min() < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    heavy = None if weights is None else array(weights).reshape(-1)
    length = max(
        int(made.max()) + 1 if made.size else 0, 0 if minlength is None else one_number(minlength, "m")
    )
    length = length if maxlength is None else min(length, one_number(maxlength, "maxlength"))
    kept = made < length
    kind = as_dtype(dtype).numpy if heavy is None else heavy.dtype
    found = np.zeros(length, kind)
    np.add.at(found, made[kept], 1 if heavy is None else heavy[kept])
    return np.minimum(found, 1).astype(kind) if binary_output else found


def _divided_as_once(x: Array, y: Array) -> Any:
    return np.divide(x, y) if x.dtype.kind in "fc" else operators.floordiv.kernel(x, y)


div = binary("div", _divided_as_once, "iufc")  # as Python 2 divided
floormod = operators.mod
truediv = operators.divide
