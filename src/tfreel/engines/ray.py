"""Work on a Ray cluster.

What is sent is configuration, and it is looked at only where the same version of tfreel is. A worker that
dies is replaced by Ray, and its item is done again; an error in the work itself is raised here as it was
there.
"""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any, TypeVar

from tfreel.errors import TfreelError
from tfreel.threads import Turn

Item = TypeVar("Item")
Result = TypeVar("Result")

_loaded: dict[str, Any] = {}  # in a worker: the work it did last


def on_cluster(
    work: Callable[[Item, Turn], Result], items: Iterable[Item], *, most: int | None = None
) -> Generator[Result, None, None]:
    """The results of `work` for each item, in order, from the workers of a cluster.

    Args:
        work: What to do, wherever the same files are to be seen.
        items: What to do it with. One is taken when there is room for it.
        most: How many at the same time; as many as the cluster has processors by default.
    """
    ray = imported_ray()
    if not ray.is_initialized():
        handler = signal.getsignal(signal.SIGTERM)
        ray.init()  # as RAY_ADDRESS says, or a new one on this machine
        if callable(handler) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray puts its own in place of anybody's
    count = most or max(1, int(ray.cluster_resources().get("CPU", 1)))
    packed = ray.cloudpickle.dumps(work)
    sent = ray.put(packed)
    task = ray.remote(_done)
    facts = (version("tfreel"), hashlib.sha256(packed).hexdigest(), os.getcwd())
    pending: deque[Any] = deque()
    try:
        for item in items:
            pending.append(task.remote(facts, sent, ray.cloudpickle.dumps(item)))
            if len(pending) > 2 * count:
                yield _result(ray, pending.popleft())
        while pending:
            yield _result(ray, pending.popleft())
    finally:
        for reference in pending:
            with suppress(Exception):  # it may be over already, and the cluster too
                ray.cancel(reference)


def imported_ray() -> Any:
    """The module.

    Raises:
        ImportError: It is not there.
    """
    try:
        import ray
    except ImportError:
        raise ImportError("engine=\"ray\" needs Ray: pip install 'tfreel[ray]'") from None
    return ray


def refuse_other_version(sent_by: str) -> None:
    """Refuses work that was sent by another version than this worker's.

    Raises:
        TfreelError: It is another one.
    """
    here = version("tfreel")
    if here != sent_by:
        raise TfreelError(
            f"this worker has tfreel {here}, but the work comes from tfreel {sent_by}; install the same"
            " version on all nodes",
            kind="version_skew",
        )


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise as_it_was(error) from None


def as_it_was(error: Any) -> Exception:
    """The error that was raised in a worker: Ray hides it in one of its own. One of Ray's stays as it is."""
    own = imported_ray().exceptions.RayError
    return error.cause if isinstance(error.cause, Exception) and not isinstance(error.cause, own) else error


def _done(facts: tuple[str, str, str], packed: bytes, item: bytes) -> Any:
    """What a worker does."""
    sent_by, key, folder = facts
    refuse_other_version(sent_by)
    import ray

    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = ray.cloudpickle.loads(packed)
    with _in_folder(folder):
        return _loaded[key](ray.cloudpickle.loads(item), Turn())


@contextmanager
def _in_folder(path: str) -> Iterator[None]:
    """Names of files mean what they mean where the work comes from, if there is such a folder here."""
    before = os.getcwd()
    with suppress(OSError):
        os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
