"""Specs of sparse and ragged tensors, and the specs of results, found by running a kernel on zeros."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values.dtypes import DType, as_dtype, float32, int64
from tfreel.tf.values.handles import NotTracedError, RaggedValue, SparseValue, TensorList
from tfreel.tf.values.shapes import TensorShape, TensorSpec


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SparseTensorSpec:
    """The shape and dtype of a sparse tensor that is still to come."""

    shape: TensorShape
    dtype: DType

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RaggedTensorSpec:
    """The shape and dtype of a ragged tensor that is still to come."""

    shape: TensorShape
    dtype: DType
    ragged_rank: int
    row_splits_dtype: DType

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
    ) -> None:
        known = TensorShape(shape)
        if ragged_rank is None:
            ragged_rank = (known.rank or 1) - 1
        object.__setattr__(self, "shape", known)
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "ragged_rank", ragged_rank)
        object.__setattr__(self, "row_splits_dtype", as_dtype(row_splits_dtype))

    def __repr__(self) -> str:
        parts = f"{self.shape!r}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r}"
        return f"RaggedTensorSpec({parts})"


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """The specs of the elements of a dataset that is itself an element."""

    element_spec: Any


def spec_of(value: Any) -> Any:
    """The spec of a plain value."""
    if hasattr(value, "element_spec"):
        return DatasetSpec(value.element_spec)
    if isinstance(value, SparseValue):
        return SparseTensorSpec(value.dense_shape.tolist(), value.values.dtype)
    if isinstance(value, RaggedValue):
        depth, inner, shape = 1, value.values, [len(value.row_splits) - 1, None]
        while isinstance(inner, RaggedValue):
            depth, inner, shape = depth + 1, inner.values, [*shape, None]
        return RaggedTensorSpec([*shape, *inner.shape[1:]], inner.dtype, depth, value.row_splits.dtype)
    return TensorSpec(value.shape, as_dtype(value.dtype))


# Unknown sizes are tried several times: what differs in the results is unknown too. 1 fits to everything, and
# 3 and 5 to nothing by chance.
_TRIES = (3, 5, 1)
_RANKS: tuple[tuple[int | None, ...], ...] = (
    (None, None, 3),
    (),
    (None,),
    (None, None),
    (None, None, None, 3),
)


def probed(kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The specs of what a kernel gives, of arguments in which specs stand for values.

    The kernel runs on zeros of the right shape, and on ones where it refuses these. Where not even the rank
    is known, some are tried, and only the dtype is known of the results.

    Raises:
        NotTracedError: It works for none of the sizes that were tried.
    """
    given = (args, options)
    if _all_specs(given, lambda spec: spec.shape.is_fully_defined()):
        return _tried(kernel, args, options, 0, None)
    unranked = not _all_specs(given, lambda spec: spec.shape.rank is not None)
    found = []
    for size in _TRIES:
        for shape in _RANKS if unranked else (None,):
            try:
                found.append(_tried(kernel, args, options, size, shape))
            except NotTracedError:
                raise
            except Exception:  # noqa: BLE001, S112 - any: this size did not suit the kernel
                continue
            else:
                break
    if not found:
        raise NotTracedError("the shape of a result")
    if unranked:
        return _map_specs(found[0], lambda spec: TensorSpec(None, spec.dtype))
    sizes_all_fit = len(found) == len(_TRIES)
    common = functools.reduce(merged, found)
    return common if sizes_all_fit else _map_specs(common, of_unknown_sizes)


def of_unknown_sizes(spec: Any) -> Any:
    """The dtype and the rank of a spec, and none of its sizes."""
    return TensorSpec(None if spec.shape.rank is None else [None] * spec.shape.rank, spec.dtype)


def _tried(kernel: Any, args: Any, options: Any, size: int, unranked: Any) -> Any:
    def result(number: int, text: bytes) -> Any:
        def filled(spec: Any) -> Any:
            shape = unranked if spec.shape.sizes is None else spec.shape.sizes
            return _filled(spec, tuple(size if each is None else each for each in shape), number, text)

        with np.errstate(all="ignore"):
            return kernel(*_map_specs(args, filled), **_map_specs(options, filled))

    try:
        found = result(0, b"0")
    except InvalidArgumentError:
        found = result(1, _LONG_TEXT)  # nothing divides by zero, or takes the fifth letter of one
    return _map_values(found, spec_of)


_LONG_TEXT = b"1" * 1024


def _filled(spec: Any, shape: tuple[int, ...], number: int, text: bytes) -> Any:
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"no values for {spec!r}")
    if spec.dtype.name == "string":
        return np.full(shape, text, object)
    # Zeros take no memory until they are looked at.
    return (np.ones if number else np.zeros)(shape, spec.dtype.numpy)


def merged(first: Any, second: Any) -> Any:
    """What two tries agree on."""
    if isinstance(first, dict):
        return {key: merged(first[key], second[key]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)([merged(a, b) for a, b in zip(first, second, strict=True)])
    if not isinstance(first, TensorSpec):
        return first
    if first.shape.rank is None or first.shape.rank != second.shape.rank:
        return TensorSpec(None, first.dtype)
    sizes = zip(first.shape.as_list(), second.shape.as_list(), strict=True)
    return TensorSpec([a if a == b else None for a, b in sizes], first.dtype)


def stacked_spec(argument: Any) -> Any:
    """Of a list in which tensors are, the spec of the one tensor that it stands for; all else as it is."""
    if type(argument) not in (list, tuple, TensorList):
        return argument
    parts = [stacked_spec(each) for each in argument]
    dtype = next((each.dtype for each in parts if isinstance(each, TensorSpec)), None)
    if dtype is None:
        return argument
    specs = [each if isinstance(each, TensorSpec) else TensorSpec(np.shape(each), dtype) for each in parts]
    whole = functools.reduce(merged, specs)
    return TensorSpec(None if whole.shape.rank is None else [len(specs), *whole.shape.as_list()], dtype)


_SPECS = (TensorSpec, SparseTensorSpec, RaggedTensorSpec)


def _map_specs(argument: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(argument, _SPECS):
        return change(argument)
    if type(argument) in (list, tuple, TensorList):
        return type(argument)([_map_specs(each, change) for each in argument])
    if type(argument) is dict:
        return {key: _map_specs(each, change) for key, each in argument.items()}
    return argument


def _map_values(found: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(found, dict):
        return {key: _map_values(each, change) for key, each in found.items()}
    if isinstance(found, (list, tuple)) and not isinstance(found, (SparseValue, RaggedValue)):
        return type(found)([_map_values(each, change) for each in found])
    if isinstance(found, bytes):
        found = np.array(found, object)
    return change(np.asarray(found) if isinstance(found, np.generic) else found)


def _all_specs(argument: Any, test: Callable[[Any], bool]) -> bool:
    found: list[bool] = []
    _map_specs(argument, lambda spec: found.append(test(spec)))
    return all(found)
