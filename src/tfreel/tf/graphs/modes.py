"""Whether a program says that it works with graphs: first-generation names, which change little here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


class Graph:
    """Something to write ``with tf.Graph().as_default():`` with. Promises belong to no graph."""

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """Makes this the default graph."""
        _STATE.graphs.append(self)
        try:
            yield self
        finally:
            _STATE.graphs.remove(self)

    def finalize(self) -> None:
        """Nothing is added to graphs, so there is nothing to end."""


class _State(threading.local):
    def __init__(self) -> None:
        self.graphs = [Graph()]
        self.calls = 0


_STATE = _State()
_eager = True


def get_default_graph() -> Graph:
    """The graph of the innermost ``with``, or the one for all."""
    return _STATE.graphs[-1]


def reset_default_graph() -> None:
    """Begins a new default graph."""
    _STATE.graphs[0] = Graph()


def executing_eagerly() -> bool:
    """False within a graph, and after `disable_eager_execution`."""
    return _STATE.calls > 0 or (_eager and len(_STATE.graphs) == 1)


@contextmanager
def with_values() -> Iterator[None]:
    """While a function is called for one element: what it draws then is drawn at once, also in a graph."""
    _STATE.calls += 1
    try:
        yield
    finally:
        _STATE.calls -= 1


def _set_eager(wanted: bool) -> None:
    global _eager
    _eager = wanted


def disable_eager_execution() -> None:
    """For first-generation code. Sessions work also without it."""
    _set_eager(False)


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """For code of the time between the generations."""
    _set_eager(True)


def disable_v2_behavior() -> None:
    """For first-generation code. Sessions work also without it."""
    _set_eager(False)


def enable_v2_behavior() -> None:
    """Undoes `disable_v2_behavior`."""
    _set_eager(True)
