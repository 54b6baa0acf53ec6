"""Arithmetic with ragged tensors: value by value, in the rows as they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Operation
from tfreel.tf.ops import operators
from tfreel.tf.ops.ragged_parts import flat_of, nested_splits, with_flat
from tfreel.tf.values.handles import RaggedValue, is_ragged
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec


@functools.cache
def mapped(compute: Operation) -> Operation:
    """The operation for ragged tensors that does the same with each of their values."""

    def kernel(*args: Any, **options: Any) -> RaggedValue:
        like = next(each for each in args if isinstance(each, RaggedValue))
        return with_flat(like, compute.kernel(*(_flat_like(like, each) for each in args), **options))

    def infer(*args: Any, **options: Any) -> RaggedTensorSpec:
        like = next(each for each in args if isinstance(each, RaggedTensorSpec))
        flat = compute.infer(*(_flat_spec(each) for each in args), **options)
        return RaggedTensorSpec(like.shape, flat.dtype, like.ragged_rank, like.row_splits_dtype)

    kernel.__name__ = compute.kernel.__name__
    return Operation(kernel, infer)


def _flat_spec(given: Any) -> Any:
    if isinstance(given, RaggedTensorSpec):
        return TensorSpec([None, *given.shape.as_list()[given.ragged_rank + 1 :]], given.dtype)
    return given


def _flat_like(like: RaggedValue, other: Any) -> Any:
    """What stands for each value of `like` in another operand.

    Raises:
        InvalidArgumentError: Their rows are not the same.
    """
    if isinstance(other, RaggedValue):
        ours, theirs = nested_splits(like), nested_splits(other)
        if len(ours) != len(theirs) or not all(map(np.array_equal, ours, theirs)):
            raise InvalidArgumentError("ragged tensors of different rows")
        return flat_of(other)
    shape = np.shape(other)
    if not shape or shape == (1,):
        return other
    if len(shape) == 2 and shape[1] == 1 and not isinstance(like.values, RaggedValue):
        rows = np.broadcast_to(np.asarray(other), (len(like.row_splits) - 1, 1))[:, 0]
        flat = np.repeat(rows, np.diff(like.row_splits))
        return flat if isinstance(other, np.ndarray) else flat.astype(flat_of(like).dtype)
    raise InvalidArgumentError(f"a ragged tensor does not go with one of shape {shape}")


def _plain(compute: Operation) -> Callable[..., Any]:
    return lambda self, *others: compute(self, *others)


def _reflected(compute: Operation) -> Callable[[Any, Any], Any]:
    return lambda self, other: compute(other, self)


_BINARY: dict[str, Operation] = {
    "add": operators.add,
    "sub": operators.subtract,
    "mul": operators.multiply,
    "truediv": operators.divide,
    "floordiv": operators.floordiv,
    "mod": operators.mod,
    "pow": operators.power,
    "and": operators.bitwise_and,
    "or": operators.bitwise_or,
    "xor": operators.bitwise_xor,
}
_OTHERS: dict[str, Operation] = {
    "eq": operators.equal,
    "ne": operators.not_equal,
    "lt": operators.less,
    "le": operators.less_equal,
    "gt": operators.greater,
    "ge": operators.greater_equal,
    "neg": operators.negative,
    "invert": operators.invert,
    "abs": operators.absolute,
}


def arithmetic() -> dict[str, Callable[..., Any]]:
    """The methods of a class of ragged tensors that compute."""
    methods = {f"__{name}__": _plain(compute) for name, compute in (_BINARY | _OTHERS).items()}
    return methods | {f"__r{name}__": _reflected(compute) for name, compute in _BINARY.items()}


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`tf.ragged.map_flat_values`: what an operation makes of the values, in the same rows.

    Raises:
        InvalidArgumentError: There are several ragged tensors, of different rows.
    """
    ragged = [each for each in (*args, *kwargs.values()) if is_ragged(each)]
    if not ragged:
        return op(*args, **kwargs)
    for each in ragged[1:]:
        if each.source is None and ragged[0].source is None:
            _flat_like(ragged[0].value(), each.value())
    flat = op(*map(_values_of, args), **{key: _values_of(each) for key, each in kwargs.items()})
    return ragged[0].with_flat_values(flat)


def _values_of(given: Any) -> Any:
    return given.flat_values if is_ragged(given) else given
