"""Telling and checking: tf.print, and the assertions of `tf.debugging`.

What is told or checked of promises happens when they are run: in functions for datasets, which are then
called for every element, and in sessions, where the operation that they give has to be run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.deeds import Action
from tfreel.tf.graphs.operations import is_tracing, operation
from tfreel.tf.ops import operators
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.ops.numerals import printed
from tfreel.tf.ops.operators import Binary, of_kinds
from tfreel.tf.ops.static import one_number, spec
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, Handle, NotTracedError, is_promised
from tfreel.tf.values.tensor import Tensor


def _done(act: Callable[..., None], *args: Any) -> Any:
    """Does it at once, or for every element, or when a session runs it."""
    if is_tracing():
        raise NotTracedError("something to be told or checked of every element")
    if is_promised(list(args)):
        return Action.to(act, *args)
    act(*args)
    return None


def _text(value: Any, summarize: int) -> str:
    if isinstance(value, (Handle, np.ndarray)):
        return printed(value, summarize)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_text(each, summarize)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_text(each, summarize) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value)


def _line(inputs: Any, summarize: int, sep: str) -> str:
    if len(inputs) == 1 and isinstance(inputs[0], (Handle, np.ndarray)):
        made = array(inputs[0])
        if made.dtype == object and not made.ndim:
            return bytes(made.item()).decode("utf-8", "replace")
    return sep.join(each if isinstance(each, str) else _text(each, summarize) for each in inputs)


def print_(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> Any:
    """Writes values to the standard error stream, or to another one or a file (``"file://…"``)."""

    def write(values: Any) -> None:
        line = _line(values, summarize, sep) + end
        if isinstance(output_stream, str):
            with open(output_stream.removeprefix("file://"), "a", encoding="utf-8") as file:
                file.write(line)
        else:
            (output_stream or sys.stderr).write(line)

    return _done(write, list(inputs))


@operation(infer=lambda input_, *args: spec(input_))
def print_v1(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
) -> Any:
    """The first value, after the others were written to the standard error stream."""
    few = 3 if summarize is None else summarize
    texts = "".join(f"[{printed(each, few).strip('[]')}]" for each in data)
    sys.stderr.write(f"{message or ''}{texts}\n")
    return array(input_)


def _refuse(message: Any, why: str) -> None:
    raise InvalidArgumentError(f"{message}\n{why}" if message else why)


def Assert(condition: Any, data: Any = None, summarize: Any = None, name: Any = None) -> Any:  # noqa: N802
    """Nothing, if a condition holds.

    Raises:
        InvalidArgumentError: It does not.
    """

    def check(holds: Any, shown: Any) -> None:
        if not np.all(array(holds)):
            told = " ".join(printed(each) for each in shown or ())
            _refuse(None, f"Expected '{holds}' to be true. Summarized data: {told}")

    return _done(check, condition, data)


def _comparison(name: str, sign: str, compare: Binary) -> Callable[..., Any]:
    def check(x: Any, y: Any, message: Any) -> None:
        first, second = array(x), array(y)
        if not np.all(compare.kernel(first, second)):
            few = [made.reshape(-1)[:3].tolist() for made in (first, second)]
            _refuse(
                message, f"Condition x {sign} y did not hold. First elements of x: {few[0]}, of y: {few[1]}"
            )

    def asserted(
        x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None, data: Any = None
    ) -> Any:
        if not isinstance(message, (str, bytes)):
            message = None  # first-generation code gives data here
        return _done(check, *compare.converted(x, y), message)

    asserted.__name__ = asserted.__qualname__ = name
    asserted.__doc__ = f"`tf.debugging.{name}`: raises InvalidArgumentError unless x {sign} y everywhere."
    return asserted


assert_equal = _comparison("assert_equal", "==", operators.equal)
assert_none_equal = _comparison("assert_none_equal", "!=", operators.not_equal)
assert_less = _comparison("assert_less", "<", operators.less)
assert_less_equal = _comparison("assert_less_equal", "<=", operators.less_equal)
assert_greater = _comparison("assert_greater", ">", operators.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", operators.greater_equal)


def _sign_check(name: str, sign: str, holds: Callable[[Array], Any]) -> Callable[..., Any]:
    def check(x: Any, message: Any) -> None:
        made = array(x)
        if not np.all(holds(made)):
            _refuse(
                message, f"Condition x {sign} 0 did not hold element-wise: {made.reshape(-1)[:3].tolist()}"
            )

    def asserted(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        return _done(check, convert_to_tensor(x), message)

    asserted.__name__ = asserted.__qualname__ = name
    asserted.__doc__ = f"`tf.debugging.{name}`: raises InvalidArgumentError unless x {sign} 0 everywhere."
    return asserted


assert_positive = _sign_check("assert_positive", ">", lambda x: x > 0)
assert_negative = _sign_check("assert_negative", "<", lambda x: x < 0)
assert_non_negative = _sign_check("assert_non_negative", ">=", lambda x: x >= 0)
assert_non_positive = _sign_check("assert_non_positive", "<=", lambda x: x <= 0)


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> Any:
    """Nothing, if a tensor has so many dimensions.

    Raises:
        ValueError: It has another number of them.
    """
    made, wanted = convert_to_tensor(x), one_number(rank, "rank")
    if made.shape.rank is None:
        raise NotTracedError("the rank of a tensor")
    if made.shape.rank != wanted:
        raise ValueError(f"{message or ''} Tensor must have rank {wanted}. Received shape {made.shape}")


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> Any:
    """Nothing, if a tensor has so many dimensions or more.

    Raises:
        ValueError: It has fewer.
    """
    made, wanted = convert_to_tensor(x), one_number(rank, "rank")
    if made.shape.rank is None:
        raise NotTracedError("the rank of a tensor")
    if made.shape.rank < wanted:
        raise ValueError(
            f"{message or ''} Tensor must have rank at least {wanted}. Received shape {made.shape}"
        )


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Nothing, if a tensor is of a dtype.

    Raises:
        TypeError: It is of another.
    """
    found = convert_to_tensor(tensor).dtype
    if found != as_dtype(tf_type):
        raise TypeError(f"{message or ''} tensor must be of type {as_dtype(tf_type)!r}; got {found!r}")


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,
    name: Any = None,
) -> Any:
    """Nothing, if two tensors are almost equal; by default they may differ by ten of the smallest steps.

    Raises:
        InvalidArgumentError: They are further apart.
    """

    def check(first: Any, second: Any) -> None:
        made, other = array(first), array(second)
        step = 10 * np.finfo(made.dtype).eps
        allowed = (step if atol is None else atol) + (step if rtol is None else rtol) * np.abs(other)
        if not np.all(np.abs(made - other) < allowed):
            _refuse(message, f"x and y not equal to tolerance: {made} and {other}")

    return _done(check, *operators.subtract.converted(x, y))


@operation(infer=lambda tensor, message: spec(tensor))
def check_numerics(tensor: Any, message: Any) -> Array:
    """The tensor, if all of its values are finite.

    Raises:
        InvalidArgumentError: There is a NaN or an infinity in it.
    """
    made = of_kinds(array(tensor), "f", "debugging.check_numerics")
    kinds = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(made))]
    if kinds:
        _refuse(None, f"{message} : Tensor had {' and '.join(kinds)} values")
    return made


def assert_all_finite(x: Any, message: Any, name: Any = None) -> Any:
    """The tensor, if all of its values are finite.

    Raises:
        InvalidArgumentError: There is a NaN or an infinity in it.
    """
    return check_numerics(x, message)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.name not in ("bool", "string")
