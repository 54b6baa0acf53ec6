"""Handles: what users hold in their hands, with a value behind it or with a promise of one.

A handle is a `Tensor`, a `SparseTensor` or a `RaggedTensor`. It has either a *value* (a plain array, or named
arrays) or a *source*: the output of a node of a graph, which has a value only when that graph is run. Graphs
come into being where functions of users are traced, and around the readers and iterators of first-generation
code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tfreel.tf.values.shapes import TensorSpec

Array: TypeAlias = npt.NDArray[Any]


class SparseValue(NamedTuple):
    """What is behind a SparseTensor."""

    indices: Array
    values: Array
    dense_shape: Array


class RaggedValue(NamedTuple):
    """What is behind a RaggedTensor: the values of all rows, and where the rows begin and end."""

    values: Any  # an array, or the rows within the rows
    row_splits: Array


class Source(NamedTuple):
    """Where a promised value comes from."""

    node: Any  # a Node, or what draws, is fed or does something
    position: int
    spec: TensorSpec | Any


class NotTracedError(Exception):
    """A function asked for the value of a tensor that has none yet; it has to be called with real ones."""


class Handle:
    """Base of the things that stand for values."""

    __slots__ = ("_held", "_source")

    is_ragged: ClassVar[bool] = False

    _held: Any
    _source: Source | None

    @classmethod
    def of(cls, held: Any) -> Any:
        """A handle with a value behind it."""
        made = cls.__new__(cls)
        made._held = held
        made._source = None
        return made

    @classmethod
    def promised(cls, source: Source) -> Any:
        """A handle without a value yet."""
        made = cls.__new__(cls)
        made._held = None
        made._source = source
        return made

    @property
    def source(self) -> Source | None:
        """Where the value will come from, if it is not there yet."""
        return self._source

    @property
    def promise(self) -> Source:
        """Where the value will come from.

        Raises:
            TypeError: It is there already.
        """
        if self._source is None:
            raise TypeError("this tensor has a value")
        return self._source

    def value(self) -> Any:
        """The value behind it; of a promise, the one that it has by now.

        Raises:
            NotTracedError: There is none, because a function is being traced.
        """
        if self._source is not None:
            return self._source.node.value_now(self._source.position)
        return self._held

    def known_spec(self) -> Any:
        """All that is known of a promise."""
        return self.promise.spec


# Which class of handle stands for which class of value; arrays are the rest.
_CLASSES: dict[type, type[Handle]] = {}


def stands_for(value_class: type) -> Callable[[type[Handle]], type[Handle]]:
    """Says of a class of handles which values are behind it."""

    def known(handle_class: type[Handle]) -> type[Handle]:
        _CLASSES[value_class] = handle_class
        return handle_class

    return known


def handle_class(value_class: type) -> type[Handle]:
    """The class of handles for a class of values."""
    return _CLASSES[value_class]


def wrap(value: Any) -> Any:
    """Handles for values, also in lists, tuples and dicts; what is a handle already stays one."""
    kind = type(value)
    if kind is np.ndarray or kind in (SparseValue, RaggedValue):
        return handle_class(kind).of(value)
    if isinstance(value, np.generic):
        return handle_class(np.ndarray).of(np.asarray(value))
    if isinstance(value, bytes):
        return handle_class(np.ndarray).of(np.array(value, object))
    if isinstance(value, dict):
        return {key: wrap(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [wrap(each) for each in value]
        return kind(*parts) if hasattr(value, "_fields") else kind(parts)
    return value


class TensorList(list[Any]):
    """Values of a list in which tensors were: these keep their dtype, where arrays in a plain list do not."""


def _listed(argument: Any, values: list[Any]) -> Any:
    if any(isinstance(each, Handle) for each in argument):
        return TensorList(values)
    return type(argument)(values)


def unwrap(argument: Any) -> Any:
    """Values for handles, also in lists, tuples and dicts."""
    if isinstance(argument, Handle):
        return argument.value()
    kind = type(argument)
    if kind is list or kind is tuple:
        return _listed(argument, [unwrap(each) for each in argument])
    if kind is dict:
        return {key: unwrap(each) for key, each in argument.items()}
    return argument


def is_ragged(argument: object) -> bool:
    """Whether it is a ragged tensor."""
    return isinstance(argument, Handle) and argument.is_ragged


def is_promised(argument: Any) -> bool:
    """Whether a handle in an argument has no value yet."""
    if isinstance(argument, Handle):
        return argument._source is not None
    kind = type(argument)
    if kind is list or kind is tuple:
        return any(map(is_promised, argument))
    return kind is dict and any(map(is_promised, argument.values()))


def replaced(argument: Any, replace: Callable[[Handle], Any]) -> Any:
    """The argument with something else for every handle in it that has no value yet."""
    if isinstance(argument, Handle):
        return argument.value() if argument._source is None else replace(argument)
    kind = type(argument)
    if kind is list or kind is tuple:
        return _listed(argument, [replaced(each, replace) for each in argument])
    if kind is dict:
        return {key: replaced(each, replace) for key, each in argument.items()}
    return argument
