"""Operations, which run at once on values and become nodes of a graph on promises; and how a graph is run.

An operation is made of a *kernel*: a function of plain values (arrays, lists of them, Python values). Called
with handles that have values, it runs. Called with one that is a promise, it becomes a node, and gives
promises of its results.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfreel.tf.values import nest
from tfreel.tf.values.handles import (
    Handle,
    NotTracedError,
    RaggedValue,
    Source,
    SparseValue,
    handle_class,
    is_promised,
    is_ragged,
    replaced,
    unwrap,
    wrap,
)
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import RaggedTensorSpec, SparseTensorSpec, probed, stacked_spec

Kernel = Callable[..., Any]


class Operation:
    """A function of tensors.

    Attributes:
        kernel: The function of plain values.
        infer: The specs of the results, of arguments in which specs stand for tensors. Without it the kernel
            itself is asked, with zeros.
        rows: The same as the kernel for many rows at once, of arguments in which columns stand for tensors.
            Without it the kernel is run row by row.
        heavy: Whether a row is enough work for a thread of its own.
        draws: Whether it draws random numbers, and so has to be run for one row behind the other. Such an
            operation takes no tensors.
        of_ragged: What is called instead, with the operation, its arguments and its options, where one of
            these is a ragged tensor.
    """

    def __init__(
        self,
        kernel: Kernel,
        infer: Kernel | None = None,
        rows: Kernel | None = None,
        *,
        heavy: bool = False,
        draws: bool = False,
        of_ragged: Kernel | None = None,
    ) -> None:
        self.kernel = kernel
        self.heavy = heavy
        self.draws = draws
        self.of_ragged = of_ragged
        self.infer = infer or functools.partial(probed, kernel)
        self.rows = rows
        functools.update_wrapper(self, kernel)

    def __call__(self, *args: Any, **options: Any) -> Any:
        options.pop("name", None)
        if self.of_ragged is not None and any(map(is_ragged, args)):
            return self.of_ragged(self, *args, **options)
        if is_promised(args) or is_promised(options):
            return Node(self, args, options).results()
        return wrap(self.kernel(*unwrap(args), **unwrap(options)))

    def __repr__(self) -> str:
        return f"<tf operation {self.kernel.__name__}>"


def operation(
    *,
    infer: Kernel | None = None,
    rows: Kernel | None = None,
    heavy: bool = False,
    of_ragged: Kernel | None = None,
) -> Callable[[Kernel], Operation]:
    """Makes an operation of a kernel. The options are told in `Operation`."""
    return lambda kernel: Operation(kernel, infer, rows, heavy=heavy, of_ragged=of_ragged)


class Node:
    """An operation with its arguments, to be run when its results are wanted."""

    def __init__(self, operation: Operation, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.operation = operation
        self.args = args
        self.options = options

    def results(self) -> Any:
        """Promises of the results."""
        args = replaced(self.args, _spec_of)
        options = {key: replaced(each, _spec_of) for key, each in self.options.items()}
        try:
            specs = self.operation.infer(*args, **options)
        except AttributeError:
            if not any(isinstance(each, (list, tuple)) for each in args):
                raise
            # It knows tensors, and was given a list of them: that is one too, as it is to the kernel.
            specs = self.operation.infer(*map(stacked_spec, args), **options)
        return promises(self, specs)

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        """The results, as a flat list, with values for the promises in the arguments."""
        args = replaced(self.args, value_of)
        options = {key: replaced(each, value_of) for key, each in self.options.items()}
        return flat_values(self.operation.kernel(*args, **options))

    def value_now(self, position: int) -> Any:
        """The value of a result outside of any run."""
        return Outside().result(self, position)


def promises(node: Any, specs: Any) -> Any:
    """Handles for the results of a node, in the structure in which their specs are."""
    count = iter(range(len(nest.flatten(specs))))
    return nest.mapped(lambda spec: promised(Source(node, next(count), spec)), specs)


def promised(source: Source) -> Any:
    """The handle for one result of a node."""
    spec = source.spec
    if isinstance(spec, RaggedTensorSpec) and not spec.ragged_rank:  # a row of a ragged tensor
        source = source._replace(spec=TensorSpec(spec.shape, spec.dtype))
    return handle_class(_VALUE_CLASSES[type(source.spec)]).promised(source)


_VALUE_CLASSES: dict[type, type] = {
    TensorSpec: np.ndarray,
    SparseTensorSpec: SparseValue,
    RaggedTensorSpec: RaggedValue,
}


def _spec_of(handle: Handle) -> Any:
    return handle.promise.spec


def flat_values(results: Any) -> list[Any]:
    """What a kernel gave, as a flat list of values."""
    if isinstance(results, (SparseValue, RaggedValue)):
        return [results]
    if isinstance(results, dict):
        return [value for key in sorted(results) for value in flat_values(results[key])]
    if isinstance(results, (list, tuple)):
        return [value for each in results for value in flat_values(each)]
    return [results]


class _Tracing(threading.local):
    depth = 0


_tracing = _Tracing()


@contextmanager
def tracing() -> Iterator[None]:
    """While a function is called for the graph that it leaves behind, not for what it does."""
    _tracing.depth += 1
    try:
        yield
    finally:
        _tracing.depth -= 1


def is_tracing() -> bool:
    """Whether a function is being called for its graph: what it draws or prints now counts for no element."""
    return _tracing.depth > 0


def is_drawn(node: Any) -> bool:
    """Whether it gives random numbers, which must not depend on which thread comes first."""
    return getattr(getattr(node, "operation", None), "draws", False)


class Input:
    """A node whose value is given from outside: an element of a dataset, or what is fed."""

    def __init__(self, what: str) -> None:
        self.what = what

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        raise NotTracedError(self.what)

    def value_now(self, position: int) -> Any:
        raise NotTracedError(self.what)


class Run:
    """One run of a graph: every node in it runs once at most."""

    def __init__(self, given: dict[Any, list[Any]] | None = None) -> None:
        self._done: dict[Any, list[Any]] = dict(given or {})

    def give(self, results: dict[Any, Any]) -> None:
        """Results of nodes that need not run, by position."""
        self._done.update(results)

    def value_of(self, handle: Handle) -> Any:
        """The value of a handle in this run."""
        source = handle.source
        return handle.value() if source is None else self.result(source.node, source.position)

    def result(self, node: Any, position: int) -> Any:
        """One result of a node in this run."""
        if node not in self._done:
            for earlier in _needed(node, self._done):
                self._done[earlier] = self._results(earlier)
        return self._done[node][position]

    def _results(self, node: Any) -> list[Any]:
        results: list[Any] = node.run(self.value_of)
        return results


class Outside(Run):
    """What holds outside of any run: a node that draws keeps what it drew first.

    Raises:
        NotTracedError: A function is being traced, and a random number is wanted: each element has its own.
    """

    def _results(self, node: Any) -> list[Any]:
        if is_tracing() and is_drawn(node):
            raise NotTracedError("a random number")
        keeps = getattr(node, "kept", None)
        results: list[Any] = node.run(self.value_of) if keeps is None else keeps(self.value_of)
        return results


def _needed(node: Any, done: Iterable[Any]) -> list[Any]:
    """The nodes that have to run for one, itself the last; without recursion: graphs may be deep."""
    seen, order, stack = set(done), [], [(node, False)]
    while stack:
        current, entered = stack.pop()
        if entered:
            order.append(current)
        elif current not in seen:
            seen.add(current)
            stack.append((current, True))
            stack.extend((each, False) for each in sources_of(current))
    return order


def sources_of(node: Any) -> list[Any]:
    """The nodes whose results a node wants."""
    found: list[Any] = []

    def take(handle: Handle) -> None:
        found.append(handle.promise.node)

    replaced(getattr(node, "args", ()), take)
    replaced(getattr(node, "options", {}), take)
    return found


def needed(nodes: Iterable[Any]) -> list[Any]:
    """All nodes that have to run for some, each behind those that it wants."""
    order: dict[Any, None] = {}
    for node in nodes:
        order.update(dict.fromkeys(_needed(node, order)))
    return list(order)
