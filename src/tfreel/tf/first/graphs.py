"""Graphs and settings of the first generation: here they are names, and change nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from tfreel.tf.graphs.deeds import Action


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
    return _eager and len(_STATE.graphs) == 1


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


class Settings:
    """Options for devices, of which there are none here: anything can be set, and nothing comes of it."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Settings()
        self.__dict__[name] = made
        return made


class ConfigProto(Settings):
    """Settings of a session; taken and not looked at."""


class GPUOptions(Settings):
    """Settings of a device; taken and not looked at."""


class RunOptions(Settings):
    """Settings of a run; taken and not looked at."""


class RunMetadata(Settings):
    """What a run would tell about itself; nothing."""


def _nothing(*_: Any) -> None:
    pass


def no_op(name: str | None = None) -> Action:
    """An operation that does nothing."""
    action: Action = Action.to(_nothing)
    return action


def group(*inputs: Any, name: str | None = None) -> Action:
    """An operation that runs others."""
    action: Action = Action.to(_nothing, list(inputs))
    return action


def global_variables_initializer() -> Action:
    """An operation that does nothing: there are no variables."""
    return no_op()


def local_variables_initializer() -> Action:
    """An operation that does nothing: what counts epochs begins by itself."""
    return no_op()


def tables_initializer(name: str | None = None) -> Action:
    """An operation that does nothing: there are no tables."""
    return no_op()
