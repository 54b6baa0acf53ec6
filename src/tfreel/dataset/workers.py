"""Functions called in several threads or processes, a few elements ahead of whoever takes the results."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing import connection, parent_process
from typing import Any, NamedTuple

from tfreel.dataset.report import portable

# So many elements of each worker are on their way: one is worked on, the next one is ready for it.
_AHEAD = 2


class Task(NamedTuple):
    """A call on its way.

    Attributes:
        tag: What the caller wants to know it by.
        result: Waits, and gives what the function returned or raises what it raised.
    """

    tag: Any
    result: Callable[[], Any]


@contextmanager
def pool(function: Callable[[Any], Any], workers: int, *, processes: bool) -> Iterator[Pool]:
    """Workers that call a function; they end with the block."""
    executor: Executor
    if processes:
        executor = ProcessPoolExecutor(
            workers, _start_context(), initializer=_begin_process, initargs=(function, gc.isenabled())
        )
        # A fork now, before anything below has threads, is a safe one; but for executors of before that are
        # still ending. To collect one of them in the child would be to wait for a lock that nobody lets go.
        with _nothing_collected():
            executor.submit(os.getpid).result()
        opened = Pool(executor, _call_in_process, workers * _AHEAD)
    else:
        executor = ThreadPoolExecutor(workers, thread_name_prefix="tfreel-map")
        opened = Pool(executor, function, workers * _AHEAD)
    try:
        yield opened
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Keeps garbage, here and in a process that begins by a fork, until it says otherwise."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _start_context() -> multiprocessing.context.BaseContext:
    """How processes start: as the program says, or else by a fork on Linux.

    Since Python 3.14 the default there is a server, to which no lambda can be sent. The same program is to
    run with all versions. Whoever makes a lock or a queue settles on the default without a word, so the
    default says nothing, even if it is set.
    """
    method = multiprocessing.get_start_method(allow_none=True)
    default = multiprocessing.get_all_start_methods()[0]
    if sys.platform == "linux" and method in (None, default):
        method = "fork"
    return multiprocessing.get_context(method)


class Pool:
    """Some workers, and the calls that they have been given."""

    def __init__(self, executor: Executor, function: Callable[[Any], Any], ahead: int) -> None:
        self._executor = executor
        self._function = function
        self._ahead = ahead

    def in_order(self, calls: Iterable[tuple[Any, Any]]) -> Iterator[Task]:
        """The results for these tags and arguments, in their order."""
        waiting: deque[tuple[Any, Future[Any]]] = deque()
        for tag, argument in calls:
            waiting.append((tag, self._executor.submit(self._function, argument)))
            while waiting and (len(waiting) >= self._ahead or waiting[0][1].done()):
                yield _task(*waiting.popleft())
        while waiting:
            yield _task(*waiting.popleft())

    def as_they_come(self, calls: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Task, list[Any]]]:
        """The results as soon as they are there, each with the tags of the calls still on their way."""
        waiting: dict[Future[Any], Any] = {}
        for tag, argument in calls:
            waiting[self._executor.submit(self._function, argument)] = tag
            while len(waiting) >= self._ahead:
                yield _first_of(waiting)
        while waiting:
            yield _first_of(waiting)


def _task(tag: Any, future: Future[Any]) -> Task:
    return Task(tag, future.result)


def _first_of(waiting: dict[Future[Any], Any]) -> tuple[Task, list[Any]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    first = next(future for future in waiting if future in done)
    task = _task(waiting.pop(first), first)
    return task, list(waiting.values())


_function: Callable[[Any], Any] | None = None  # of this process, if it is a worker


def _begin_process(function: Callable[[Any], Any], collects: bool) -> None:  # noqa: FBT001
    global _function
    _function = function
    gc.freeze()  # what came along with the fork is never garbage here
    if collects:
        gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who waits for us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot tell its workers; they would wait for ever."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _call_in_process(argument: Any) -> Any:
    if _function is None:
        raise RuntimeError("the worker has no function to call")
    try:
        return _function(argument)
    except Exception as error:
        sendable = portable(error)
        if sendable is error:
            raise
        raise sendable from None
