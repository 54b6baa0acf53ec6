"""Python functions as operations: py_function with tensors, numpy_function with arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError, OpError, OutOfRangeError, UnimplementedError, UnknownError
from tfreel.tf.graphs.operations import Node, Operation, is_tracing
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.values.convert import array
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Array, NotTracedError, is_promised, wrap
from tfreel.tf.values.shapes import TensorSpec

_CLASSES: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (StopIteration, OutOfRangeError),
    (NotImplementedError, UnimplementedError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
)


def _as_tensorflow(error: Exception) -> Exception:
    """The class by which TensorFlow tells that a function of the user failed."""
    for python, tensorflow in _CLASSES:
        if isinstance(error, python):
            return tensorflow(f"{type(error).__name__}: {error}")
    return UnknownError(f"{type(error).__name__}: {error}")


def _specs(function: Any, inputs: Any, wanted: list[Any], convert: Any) -> list[TensorSpec]:
    return [
        TensorSpec(getattr(each, "shape", None), as_dtype(getattr(each, "dtype", each))) for each in wanted
    ]


def _called(function: Callable[..., Any], inputs: Any, wanted: list[Any], convert: Any) -> list[Array]:
    """What a function gives for values, as the dtypes that were promised."""
    given, result = convert
    try:
        found = function(*[given(each) for each in inputs])
        if found is None:
            found = []
        parts = list(found) if isinstance(found, (list, tuple)) else [found]
        made = [result(part, kind) for part, kind in zip(parts, wanted, strict=False)]
    except (NotTracedError, OpError):
        raise
    except Exception as error:
        raise _as_tensorflow(error) from error
    if len(parts) < len(wanted):
        name = getattr(function, "__name__", "the function")
        raise InvalidArgumentError(
            f"{name} returns {len(parts)} values, but expects to see {len(wanted)} values"
        )
    return made


_of_tensors = Operation(_called, infer=_specs)
_of_values = Operation(_called, infer=_specs, draws=True)


def _call(*args: Any) -> list[Any]:
    """The results; while a function is traced, promises of them: each element may have others."""
    if is_tracing() and not is_promised(args):
        return list(Node(_of_values, args, {}).results())
    return list(_of_tensors(*args))


def _of_dtype(part: Any, wanted: Any) -> Array:
    made = convert_to_tensor(part, as_dtype(getattr(wanted, "dtype", wanted)))
    value: Array = made.value()
    return value


def _as_numpy(value: Any) -> Any:
    made = array(value)
    return made[()] if not made.ndim else made


def _numpy_result(part: Any, wanted: Any) -> Array:
    made = array(np.asarray(part))
    if as_dtype(made.dtype) != as_dtype(getattr(wanted, "dtype", wanted)):
        raise InvalidArgumentError(
            f"the function returns {as_dtype(made.dtype).name}, but was to return {as_dtype(wanted).name}"
        )
    return made


def _outcome(results: list[Any], several: bool) -> Any:
    return results if several else results[0]


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:  # noqa: N803
    """What a Python function of tensors gives; it may do anything with them.

    Raises:
        InvalidArgumentError: It gives something else than was promised, or raised a ValueError or TypeError.
        UnknownError: It raised another error.
    """
    several = isinstance(Tout, (list, tuple))
    wanted = list(Tout) if several else [Tout]
    inputs = [convert_to_tensor(each) for each in inp]
    return _outcome(_call(func, inputs, wanted, (wrap, _of_dtype)), several)


def numpy_function(
    func: Any = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: Any = None,
) -> Any:
    """What a Python function of arrays gives; scalars come to it as NumPy's scalars, text as bytes."""
    if not is_tracing() and not is_promised(list(inp)):
        found = func(*[np.array(each) for each in inp])
        if isinstance(found, (list, tuple)):
            return [convert_to_tensor(each) for each in found]
        return None if found is None else convert_to_tensor(found)
    several = isinstance(Tout, (list, tuple))
    wanted = list(Tout) if several else [Tout]
    inputs = [convert_to_tensor(each) for each in inp]
    return _outcome(_call(func, inputs, wanted, (_as_numpy, _numpy_result)), several)
