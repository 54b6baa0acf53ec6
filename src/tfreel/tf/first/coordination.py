"""Coordinators and queue runners. No threads fill queues here: those that are asked for have ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfreel.tf.errors import OutOfRangeError


class Coordinator:
    """Tells threads when to stop, and keeps the error for which they did.

    Example:
        >>> coord = tf.train.Coordinator()
        >>> coord.request_stop()
        >>> coord.should_stop()
        True
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None) -> None:
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._registered: list[Any] = []

    @property
    def joined(self) -> bool:
        """Whether no registered thread is alive."""
        return not any(thread.is_alive() for thread in self._registered)

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self._stopped.is_set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks everybody to stop; with an error, `join` raises it."""
        failure = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            clean = failure is None or isinstance(failure, self._clean)
            if not clean and self._failure is None and not self._stopped.is_set():
                self._failure = failure
            self._stopped.set()

    def clear_stop(self) -> None:
        """Forgets that a stop was asked for."""
        with self._lock:
            self._stopped.clear()
            self._failure = None

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is asked for; False if that took too long."""
        return self._stopped.wait(timeout)

    def register_thread(self, thread: Any) -> None:
        """Adds a thread to those that `join` waits for."""
        self._registered.append(thread)

    def raise_requested_exception(self) -> None:
        """Raises the error with which a stop was asked for, if there is one."""
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turns an error in the block into a request to stop."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - any: `join` raises it
            self.request_stop(error)

    def join(
        self,
        threads: Iterable[Any] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for threads to end, and raises the error with which a stop was asked for.

        Raises:
            RuntimeError: Threads are still alive long after they were asked to stop.
        """
        waiting = {id(thread): thread for thread in [*self._registered, *(threads or ())]}
        while any(thread.is_alive() for thread in waiting.values()) and not self._stopped.wait(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waiting.values():
            thread.join(max(0.0, deadline - time.monotonic()))
        alive = [thread.name for thread in waiting.values() if thread.is_alive()]
        self._registered.clear()
        self.raise_requested_exception()
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(map(str, alive))}")


class EndedThread:
    """What stands for a thread that fills a queue: there is nothing for it to do."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.daemon = True

    def start(self) -> None:
        """Nothing to do."""

    def join(self, timeout: float | None = None) -> None:
        """It has ended."""

    def is_alive(self) -> bool:
        """It has ended."""
        return False


class QueueRunner:
    """Says which operations fill a queue. They are run when something is taken from it."""

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: list[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None,
        import_scope: Any = None,
    ) -> None:
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self.queue = queue
        self.enqueue_ops = list(enqueue_ops)
        queue.filled_by(self.enqueue_ops)

    @property
    def name(self) -> str:
        """The name of the queue."""
        return str(self.queue.name)

    def create_threads(
        self, sess: Any = None, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[EndedThread]:
        """Threads that have ended."""
        return [EndedThread(f"QueueRunnerThread-{self.name}") for _ in self.enqueue_ops]


def add_queue_runner(qr: QueueRunner, collection: str = "queue_runners") -> None:
    """Nothing to do: a queue knows its runners."""


def start_queue_runners(
    sess: Any = None,
    coord: Any = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = "queue_runners",
) -> list[EndedThread]:
    """Threads that have ended: queues are filled when something is taken from them."""
    return [EndedThread("QueueRunnerThread")]
