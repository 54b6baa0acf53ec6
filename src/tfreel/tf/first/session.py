"""`tf.Session`: runs promises. One call of `run` is one run of the graph, in which every node runs once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from tfreel.tf.first.feeding import fed_run, feeding
from tfreel.tf.first.results import given
from tfreel.tf.values.handles import Handle


class _Defaults(threading.local):
    """The sessions that are the default one now, the innermost last."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []


_DEFAULTS = _Defaults()


class Session:
    """Runs what was promised: the tensors of readers, queues and iterators, and what was computed of them.

    There is no graph to place on devices: `target`, `graph` and `config` are taken and not looked at. Tensors
    that have values already just give them.

    Example:
        >>> with tf.compat.v1.Session() as sess:
        ...     sess.run(tf.constant(1) + 2)
        np.int32(3)
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        from tfreel.tf.graphs.modes import get_default_graph

        self.graph = graph if graph is not None else get_default_graph()
        self._closed = False

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """The values of tensors, in the structure in which they are given; None for operations.

        Args:
            fetches: A tensor or an operation, or lists, tuples and dicts of them.
            feed_dict: Values that stand for promised tensors in this run.
            options: Taken and not looked at.
            run_metadata: Taken and not looked at.

        Raises:
            OutOfRangeError: The data ended.
            RuntimeError: The session is closed.
            TypeError: Something else than tensors and operations is asked for.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        _check(fetches)
        run, feeds = fed_run(feed_dict)
        with feeding(feeds):
            return _fetched(fetches, lambda handle: given(run.value_of(handle), copy=handle.source is None))

    def close(self) -> None:
        """Ends the session."""
        self._closed = True

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """Makes this the session that `Tensor.eval` and `Operation.run` use."""
        _DEFAULTS.sessions.append(self)
        try:
            yield self
        finally:
            _DEFAULTS.sessions.remove(self)

    def __enter__(self) -> Self:
        _DEFAULTS.sessions.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _DEFAULTS.sessions.remove(self)
        self.close()


class InteractiveSession(Session):
    """A session that is the default one from its beginning to its close."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _DEFAULTS.sessions.append(self)

    def close(self) -> None:
        """Ends the session."""
        super().close()
        if self in _DEFAULTS.sessions:
            _DEFAULTS.sessions.remove(self)


def get_default_session() -> Session | None:
    """The session of the innermost ``with``; None if there is none."""
    return _DEFAULTS.sessions[-1] if _DEFAULTS.sessions else None


def session_for(session: Session | None) -> Session:
    """The given session, or else the default one, or else a new one."""
    return session or get_default_session() or Session()


def _check(fetches: Any) -> None:
    """Refuses what cannot be run, before anything is."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        for each in fetches:
            _check(each)
    elif isinstance(fetches, str):
        raise ValueError(
            f"Fetch argument {fetches!r} is a name: tensors have none here; pass the tensor itself"
        )
    elif not isinstance(fetches, Handle):
        raise TypeError(
            f"Fetch argument {fetches!r} has invalid type {type(fetches)}, must be a Tensor or an Operation"
        )


def _fetched(fetches: Any, value_of: Any) -> Any:
    if isinstance(fetches, Handle):
        return value_of(fetches)
    if isinstance(fetches, Mapping):
        return type(fetches)((key, _fetched(each, value_of)) for key, each in fetches.items())  # type: ignore[call-arg]
    parts = [_fetched(each, value_of) for each in fetches]
    return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
