"""What users give to the methods of a dataset: numbers, tensors, lists of tensors, types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfreel.tf.data.fed import is_fed
from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Handle, wrap
from tfreel.tf.values.shapes import TensorShape, TensorSpec


def whole(value: Any, what: str) -> int:
    """A whole number out of a Python value or a tensor.

    Raises:
        TypeError: It is none.
    """
    made = array(value)
    if made.ndim or made.dtype.kind not in "iu":
        raise TypeError(f"{what} must be a whole number, not {value!r}")
    return int(made)


def tensor_of(value: Any) -> Any:
    """A tensor, of whatever was given."""
    return value if isinstance(value, Handle) else wrap(array(value))


def range_of(args: tuple[Any, ...]) -> tuple[int, int, int]:
    """Where a range starts and stops, and its step.

    Raises:
        ValueError: These are too many numbers, or too few.
        InvalidArgumentError: It has no step.
    """
    numbers = [whole(each, "range") for each in args]
    if len(numbers) not in (1, 2, 3):
        raise ValueError(f"range takes one to three numbers, not {len(numbers)}")
    if len(numbers) == 1:
        return 0, numbers[0], 1
    start, stop, step = (*numbers, 1)[:3]
    if step == 0:
        raise InvalidArgumentError("step cannot be zero.")
    return start, stop, step


def batch_size_of(value: Any) -> int:
    """How many elements a batch has.

    Raises:
        InvalidArgumentError: Not one.
    """
    size = whole(value, "batch_size")
    if size < 1:
        raise InvalidArgumentError(f"Batch size must be greater than zero, not {size}")
    return size


def tensors_of(tensors: Any) -> tuple[Any, list[Any]]:
    """The structure of what a user gave, and plain values, or what is fed. Lists are tensors here."""
    structure = _listed(tensors)
    leaves = nest.flatten(structure)
    values = [leaf.tensor if isinstance(leaf, _Leaf) else leaf for leaf in leaves]
    return structure, [_known(each) for each in values]


def _known(tensor: Any) -> Any:
    if is_fed(tensor):
        return tensor
    return tensor.value() if isinstance(tensor, Handle) else array(tensor)


class _Leaf:
    """A list that is one tensor."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _listed(tensors: Any) -> Any:
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return {key: _listed(each) for key, each in tensors.items()}
    if isinstance(tensors, tuple) and hasattr(tensors, "_fields"):
        return type(tensors)(*map(_listed, tensors))
    if isinstance(tensors, tuple):
        return tuple(map(_listed, tensors))
    if hasattr(tensors, "to_dict") and hasattr(tensors, "columns"):  # a table of pandas is one array
        return _Leaf(np.asarray(tensors))
    return _Leaf(tensors)


def signature_of(types: Any, shapes: Any) -> Any:
    """The specs of elements of these types, and of these shapes if they are known."""
    types = nest.tuples(types)
    if shapes is None:
        return nest.mapped(lambda dtype: TensorSpec(None, dtype), types)
    if not nest.is_nested(types):
        return TensorSpec(TensorShape(shapes), types)
    found = [TensorShape(each) for each in nest.flatten_as(types, shapes)]
    return nest.pack(types, [TensorSpec(s, t) for s, t in zip(found, nest.flatten(types), strict=True)])
