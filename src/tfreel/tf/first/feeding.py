"""Values that are given from outside: placeholders, and the `feed_dict` of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Run, promised
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Handle, Source, SparseValue
from tfreel.tf.values.shapes import TensorShape, TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec

_FEEDS: ContextVar[Mapping[Any, Any]] = ContextVar("feeds", default=MappingProxyType({}))


def feeds_now() -> Mapping[Any, Any]:
    """What is fed to placeholders in the run that is going on."""
    return _FEEDS.get()


@contextmanager
def feeding(feeds: Mapping[Any, Any]) -> Iterator[None]:
    """Lets placeholders have some values, also where no run asks for them."""
    token = _FEEDS.set(feeds)
    try:
        yield
    finally:
        _FEEDS.reset(token)


class UnfedError(InvalidArgumentError):
    """A placeholder without a value was asked for it."""


class Placeholder:
    """A node whose value is fed.

    Datasets made of it take what was fed when their iterator began, or else what was fed last.
    """

    def __init__(self, name: str | None, spec: Any, default: Any = None) -> None:
        self._name = name or "Placeholder"
        self._spec = spec
        self.args = (default,)
        self._last: list[Any] | None = None

    def fed(self, value: Any) -> None:
        """Keeps what was fed, for those who ask outside of a run."""
        self._last = [value]

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        default = self.args[0]
        if default is None:
            raise UnfedError(
                f"You must feed a value for placeholder tensor '{self._name}'"
                f" with dtype {self._spec.dtype.name} and shape {self._spec.shape}:"
                f" Session.run(…, feed_dict={{{self._name}: value}})"
            )
        return [value_of(default) if isinstance(default, Handle) else default]

    def kept(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        feeds = _FEEDS.get()
        return [feeds[self]] if self in feeds else self._last or self.run(value_of)

    def value_now(self, position: int) -> Any:
        return self.kept(lambda handle: handle.value())[position]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor whose value is fed: ``sess.run(y, feed_dict={x: value})``."""
    spec = TensorSpec(shape, dtype)
    return promised(Source(Placeholder(name, spec), 0, spec))


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor that has a value, unless another is fed."""
    default: Any = input if isinstance(input, Handle) else array(input)
    spec = TensorSpec(shape, default.dtype)
    return promised(Source(Placeholder(name, spec, default), 0, spec))


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A sparse tensor whose value is fed."""
    spec = SparseTensorSpec(shape, dtype)
    return promised(Source(Placeholder(name, spec), 0, spec))


def fed_run(feed_dict: Any) -> tuple[Run, Mapping[Any, Any]]:
    """A run in which some promised tensors have the values that are fed, and what placeholders have."""
    if not feed_dict:
        return Run(), {}
    if not isinstance(feed_dict, Mapping):
        raise TypeError("The value of `feed_dict` must be a dictionary")
    by_node: dict[Any, dict[int, Any]] = {}
    for key, value in feed_dict.items():
        source = _source_of(key)
        made = _converted(value, source.spec, key)
        by_node.setdefault(source.node, {})[source.position] = made
    run = Run()
    run.give({node: _PartlyFed(node, fed, run) for node, fed in by_node.items()})
    feeds = {node: fed[0] for node, fed in by_node.items() if isinstance(node, Placeholder)}
    for node, value in feeds.items():
        node.fed(value)
    return run, feeds


class _PartlyFed:
    """The results of a node of which some are fed; it runs only if another is wanted."""

    def __init__(self, node: Any, fed: dict[int, Any], run: Run) -> None:
        self._node = node
        self._fed = fed
        self._run = run
        self._own: list[Any] | None = None

    def __getitem__(self, position: int) -> Any:
        if position in self._fed:
            return self._fed[position]
        if self._own is None:
            self._own = self._node.run(self._run.value_of)
        return self._own[position]


def _source_of(key: Any) -> Source:
    if not isinstance(key, Handle):
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {key!r}")
    if key.source is None:
        raise ValueError(f"{key!r} has a value of its own; only placeholders and promised tensors are fed")
    return key.source


def _converted(value: Any, spec: Any, key: Any) -> Any:
    if isinstance(value, Handle):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object: Python values and arrays can be fed;"
            " sess.run(tensor) gives the array"
        )
    if isinstance(spec, SparseTensorSpec):
        indices, values, shape = value
        return SparseValue(
            np.asarray(indices, np.int64), _array(values, spec.dtype), np.asarray(shape, np.int64)
        )
    if isinstance(spec, RaggedTensorSpec):
        raise TypeError("ragged tensors cannot be fed")
    made = _array(value, spec.dtype)
    if not TensorShape(spec.shape).is_compatible_with(made.shape):
        raise ValueError(f"Cannot feed value of shape {made.shape} for {key}, which has shape {spec.shape}")
    return made


def _array(value: Any, dtype: Any) -> Any:
    if dtype.name == "string":
        return array(value, dtype)
    made = np.asarray(value, dtype.numpy)
    if isinstance(value, int) and made != value:
        raise TypeError(f"Type of feed value {value} is not compatible with Tensor type {dtype.name}")
    return made
