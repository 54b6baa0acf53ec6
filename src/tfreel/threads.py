"""Threads: how many to use, work shared among them, and their locks when the process forks."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from tfreel.settings import number

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count(threads: int | None = None) -> int:
    """The number of threads: `threads`, else ``TFREEL_NUM_THREADS``, else the processors we may use.

    Raises:
        ValueError: Less than one was asked for.
    """
    count = threads if threads is not None else number("TFREEL_NUM_THREADS")
    if count is not None:
        if count < 1:
            raise ValueError(f"the number of threads must be at least 1, not {count}")
        return count
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Abandoned(Exception):  # noqa: N818 - not an error: nobody waits for the result
    """Raised in a thread whose result is not wanted any more."""


class Turn:
    """What a piece of work is told when its turn comes.

    Called, it raises as soon as the result is not wanted any more, because another piece failed or Ctrl-C was
    pressed: the work should call it now and then, so that nobody need wait.

    Attributes:
        threads: How many threads the work may use itself.
    """

    def __init__(self, threads: int = 1, *, within: Turn | None = None) -> None:
        self.threads = threads
        self._within = within
        self._stopped = False

    def stop(self) -> None:
        """Says that the result is not wanted any more."""
        self._stopped = True

    def __call__(self) -> None:
        if self._stopped:
            raise Abandoned
        if self._within is not None:
            self._within()


ALONE = Turn()


def in_threads(
    work: Callable[[Item, Turn], Result],
    items: Sequence[Item],
    threads: int | None = None,
    *,
    within: Turn | None = None,
) -> list[Result]:
    """The results of `work` for each item, in order, from several threads."""
    count = thread_count(threads)
    workers = min(count, len(items))
    turn = Turn(count // max(1, workers), within=within)
    if workers <= 1:
        return [work(item, turn) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # here, because it costs as much as all of tfreel

    with ThreadPoolExecutor(workers, thread_name_prefix="tfreel") as pool:
        try:
            return list(pool.map(lambda item: work(item, turn), items))
        except BaseException:
            turn.stop()
            raise


def in_order(
    pieces: Iterable[Callable[[], Result]], threads: int | None = None, *, turn: Turn | None = None
) -> Generator[Result, None, None]:
    """The results of pieces of work, in their order, from several threads.

    Args:
        pieces: The work. The calling thread takes one when there is room for it.
        threads: How many to work with. Twice as many pieces are begun, or done, before they are waited for.
        turn: Told to stop when no more results are wanted, for pieces that ask it now and then.
    """
    count = thread_count(threads)
    from concurrent.futures import ThreadPoolExecutor  # here, because it costs as much as all of tfreel

    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(count, thread_name_prefix="tfreel") as pool:
        try:
            for piece in pieces:
                pending.append(pool.submit(piece))
                if len(pending) > 2 * count:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            if turn is not None:
                turn.stop()
            for future in pending:
                future.cancel()


class AfterFork(Protocol):
    """Something that has to be put right in the child of a fork."""

    def after_fork(self) -> None:
        """Called in the child, before anything else happens there."""


_renewed: weakref.WeakSet[AfterFork] = weakref.WeakSet()


def renew_after_fork(owner: AfterFork) -> None:
    """Has `owner` renew its locks, and whatever its threads were doing, in the child of every fork.

    Only the thread that forked goes on in the child. A lock that another one held would be held for ever.
    """
    _renewed.add(owner)


def _renew_all() -> None:
    for owner in list(_renewed):
        owner.after_fork()


os.register_at_fork(after_in_child=_renew_all)
