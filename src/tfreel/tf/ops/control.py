"""Branches and loops, and the words around code that mean nothing here.

With values a branch or a loop is Python's. In a graph both branches of `cond` are built, and the one that is
meant is run; loops cannot be built, so that the function around them is called for every element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Input, Node, Operation, Outside, Run, is_drawn, promises, tracing
from tfreel.tf.graphs.rows import stacked
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.values import nest
from tfreel.tf.values.dtypes import as_dtype
from tfreel.tf.values.handles import Handle, NotTracedError, is_promised, replaced, wrap
from tfreel.tf.values.shapes import TensorSpec
from tfreel.tf.values.specs import merged, spec_of


class _Choice:
    """A node that runs one of two branches: it wants what both begin with, and runs the rest itself."""

    def __init__(self, pred: Any, branches: tuple[list[Any], list[Any]]) -> None:
        self._pred = pred
        self._branches = branches
        self.args = tuple(_beginnings([pred, *branches[0], *branches[1]]))

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        given: dict[Any, dict[int, Any]] = {}
        for each in self.args:
            given.setdefault(each.promise.node, {})[each.promise.position] = value_of(each)
        run = Run()
        run.give(given)
        return [run.value_of(each) for each in self._branches[0 if run.value_of(self._pred) else 1]]

    def value_now(self, position: int) -> Any:
        return Outside().result(self, position)


def _beginnings(handles: list[Any]) -> list[Any]:
    """The promises from outside on which some depend: what is fed, read or drawn."""
    found: dict[tuple[int, int], Any] = {}
    seen: set[int] = set()

    def take(handle: Handle) -> None:
        node = handle.promise.node
        if not isinstance(node, (Node, _Choice)) or is_drawn(node):
            found[id(node), handle.promise.position] = handle
        elif id(node) not in seen:
            seen.add(id(node))
            replaced(node.args, take)
            replaced(getattr(node, "options", {}), take)

    replaced(list(handles), take)
    return list(found.values())


def _spec(leaf: Any) -> Any:
    return leaf.known_spec() if is_promised(leaf) else spec_of(leaf.value())


def _tensors(structure: Any) -> list[Any]:
    return [convert_to_tensor(leaf) for leaf in nest.flatten(structure)]


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Any = None) -> Any:
    """What one of two functions gives, by a condition.

    Raises:
        TypeError: In a graph: the two do not give the same kinds of tensors.
    """
    if not is_promised(pred):
        return (true_fn if pred else false_fn)()
    results = true_fn(), false_fn()
    branches = _tensors(results[0]), _tensors(results[1])
    specs = [[_spec(leaf) for leaf in branch] for branch in branches]
    alike = len(specs[0]) == len(specs[1]) and all(
        type(a) is type(b) and a.dtype == b.dtype for a, b in zip(*specs, strict=True)
    )
    if not alike:
        raise TypeError(
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure"
            f" of return values, not {specs[0]} and {specs[1]}"
        )
    together = nest.pack(results[0], [merged(a, b) for a, b in zip(*specs, strict=True)])
    return promises(_Choice(pred, branches), together)


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: Any = None
) -> Any:
    """What the function of the first condition that holds gives.

    Raises:
        InvalidArgumentError: None holds, and there is no default.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        if default is None:
            raise InvalidArgumentError("None of conditions evaluated as True")
        return default()
    pred, function = pairs[0]
    if is_promised(pred) and len(pairs) == 1 and default is None:
        raise NotTracedError("tf.case without a default")
    return cond(pred, function, lambda: case(pairs[1:], default))


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: Any = None) -> Any:
    """What the function of a number gives; the last one, or the default, for a number that has none."""
    functions = dict(branch_fns if isinstance(branch_fns, dict) else enumerate(branch_fns))
    number = int(branch_index)
    otherwise = functions[max(functions)] if default is None else default
    return functions.get(number, otherwise)()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """What is left of some values after a body changed them as long as a condition held."""
    if is_promised(loop_vars):
        raise NotTracedError("tf.while_loop")
    values = nest.mapped(convert_to_tensor, tuple(loop_vars))
    most = None if maximum_iterations is None else int(maximum_iterations)
    rounds = 0
    while (most is None or rounds < most) and cond(*values):
        found = body(*values)
        values = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        values, rounds = nest.mapped(convert_to_tensor, values), rounds + 1
    return values if len(values) > 1 or not isinstance(loop_vars, list) else type(loop_vars)(values)


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Any = None,
    fn_output_signature: Any = None,
) -> Any:
    """What a function gives for each part of tensors along their first dimension, put together again.

    Raises:
        ValueError: A tensor has no dimensions.
        InvalidArgumentError: The function gives another dtype than was said.
    """
    parts = nest.mapped(convert_to_tensor, elems)
    if any(leaf.shape.rank == 0 for leaf in nest.flatten(parts)):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    said = dtype if fn_output_signature is None else fn_output_signature
    wanted = nest.mapped(lambda leaf: leaf.dtype, parts) if said is None else said

    def mapped(leaves: list[Any]) -> list[Any]:
        return _mapped(lambda row: fn(nest.pack(parts, row)), leaves, nest.flatten(wanted))

    leaves = nest.flatten(parts)
    infer = _mapped_specs(fn, parts) if is_promised(leaves) else None
    return nest.pack(wanted, Operation(mapped, infer)(leaves))


def _mapped(fn: Callable[[Any], Any], leaves: list[Any], wanted: list[Any]) -> list[Any]:
    kinds = [as_dtype(getattr(each, "dtype", each)) for each in wanted]
    rows = [
        [convert_to_tensor(leaf).value() for leaf in nest.flatten(fn(wrap(list(row))))]
        for row in zip(*([np.asarray(part, leaf.dtype) for part in leaf] for leaf in leaves), strict=True)
    ]
    for row in rows:
        for kind, value in zip(kinds, row, strict=True):
            if as_dtype(value.dtype) != kind:
                raise InvalidArgumentError(
                    f"map_fn expects {kind.name}, but the function gives {as_dtype(value.dtype).name}:"
                    " fn_output_signature says what it gives"
                )
    if not rows:
        return [np.zeros(0, kind.numpy) for kind in kinds]
    return [stacked(list(same)) for same in zip(*rows, strict=True)]


def _mapped_specs(fn: Callable[..., Any], parts: Any) -> Callable[..., Any]:
    """The specs of what a function gives for all parts of tensors.

    Raises:
        NotTracedError: It needs more than the part that it is given.
    """
    known = [_spec(leaf) for leaf in nest.flatten(parts)]
    if any(each.shape.rank is None for each in known):
        raise NotTracedError("the rank of a tensor")
    source = Input("a part of a tensor")
    with tracing():
        given = promises(source, [TensorSpec(each.shape[1:], each.dtype) for each in known])
        found = _tensors(fn(nest.pack(parts, given)))
    if any(each.promise.node is not source for each in _beginnings(found)):
        raise NotTracedError("something else than the parts of a tensor in tf.map_fn")
    specs = [_spec(leaf) for leaf in found]
    made = [TensorSpec(known[0].shape[:1].concatenate(each.shape), each.dtype) for each in specs]
    empty = known[0].shape[0] in (None, 0)  # of no parts the shape of the results is not known
    return lambda leaves: [TensorSpec(None, each.dtype) for each in made] if empty else made


def function(func: Any = None, *args: Any, **options: Any) -> Any:
    """`tf.function`: the function as it is, since Python runs it."""
    return func if callable(func) else lambda decorated: decorated


@contextmanager
def name_scope(name: Any = None, *args: Any, **options: Any) -> Iterator[Any]:
    """A name for what is within; nothing is named here."""
    yield name


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Where to run what is within; there are no devices here."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """What is to be run first: what has values has been, and promises are run when they are asked for."""
    yield
