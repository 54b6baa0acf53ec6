"""Tracing: a function of the user is called once, with promises, and becomes a program for whole chunks.

If the function only uses operations that are known here, the graph it leaves behind is all there is to it. If
it asks a promise for its value (an ``if``, a NumPy function, ``.numpy()``), that cannot be known yet: it has
to be called for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfreel.tf.errors import InvalidArgumentError
from tfreel.tf.graphs.operations import Input, promises, tracing
from tfreel.tf.graphs.programs import Program
from tfreel.tf.ops.conversion import convert_to_tensor
from tfreel.tf.values import nest
from tfreel.tf.values.convert import array
from tfreel.tf.values.handles import Handle, NotTracedError


def called(function: Callable[..., Any], element: Any) -> Any:
    """What a function of the user gives for an element: a tuple is given as several arguments."""
    if isinstance(element, tuple) and not hasattr(element, "_fields"):
        return function(*element)
    return function(element)


def trace(function: Callable[..., Any], specs: Any) -> Program | None:
    """The program that a function is, for elements of these specs; None if it has to be called for each."""
    source = Input("an element of a dataset")
    try:
        with tracing():
            results = structured(called(function, promises(source, specs)))
    except (NotTracedError, InvalidArgumentError):
        # What is refused may be a value that stood in for those to come: the elements themselves will tell.
        return None
    except Exception as error:
        if _is_untraced(error):
            return None
        raise
    leaves = nest.flatten(results)
    if results is None or any(not _is_tensor(leaf) for leaf in leaves):
        return None
    return Program(source, results, [_output(leaf) for leaf in leaves])


def structured(results: Any) -> Any:
    """What a function of the user gave, as a structure: a list is a tuple, and one within it is a tensor."""
    return nest.with_lists(tuple(results) if isinstance(results, list) else results, convert_to_tensor)


def _is_untraced(error: BaseException | None) -> bool:
    """Whether an error came of asking for a value: libraries may have wrapped it."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, NotTracedError):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _is_tensor(leaf: Any) -> bool:
    return not hasattr(leaf, "element_spec") and not isinstance(leaf, Mapping)


def _output(leaf: Any) -> Any:
    """A promise, or the value that is the same for all elements."""
    if isinstance(leaf, Handle):
        return leaf if leaf.source is not None else leaf.value()
    return array(leaf)
