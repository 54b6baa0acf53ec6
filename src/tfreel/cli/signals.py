"""SIGINT and SIGTERM as exceptions, so that a command cleans up and ends with 130 or 143 at any moment."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sys import UnraisableHookArgs
    from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. Of a class of its own: at a plain one, Python may end by the signal although we caught it."""


class Terminated(KeyboardInterrupt):
    """What ``timeout``, ``docker stop`` and the like send: to end as at Ctrl-C, and leave nothing behind."""


_EXCEPTIONS: dict[int, type[KeyboardInterrupt]] = {signal.SIGINT: Interrupted, signal.SIGTERM: Terminated}
_RETRY_SECONDS = 0.01


@contextmanager
def handle_signals() -> Iterator[None]:
    """While this lasts, SIGINT and SIGTERM raise `Interrupted` and `Terminated`.

    Where an exception would be lost or turned into another one (while an extension module is loaded, in a
    ``__del__``), they are raised a moment later, by a timer.
    """
    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        yield
        return
    parent = os.getpid()
    before = {number: signal.getsignal(number) for number in _EXCEPTIONS}

    def raise_later(number: int) -> None:
        before.setdefault(signal.SIGALRM, signal.getsignal(signal.SIGALRM))
        signal.signal(signal.SIGALRM, lambda _, frame: handle(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)

    def handle(number: int, frame: FrameType | None) -> None:
        if os.getpid() != parent and number == signal.SIGTERM:  # a fork, which has nothing to clean up
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif _is_loading_extension(frame):
            raise_later(number)
        else:
            raise _EXCEPTIONS[number]

    def handle_unraisable(unraisable: UnraisableHookArgs) -> None:
        for number, exception in _EXCEPTIONS.items():
            if isinstance(unraisable.exc_value, exception):
                raise_later(number)
                return
        hook(unraisable)

    hook, sys.unraisablehook = sys.unraisablehook, handle_unraisable
    for number, handler in before.items():
        if handler != signal.SIG_IGN:  # what is ignored, as in the background of a script, stays so
            signal.signal(number, handle)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if signal.SIGALRM in before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: not of Python


def _is_loading_extension(frame: FrameType | None) -> bool:
    """Whether an extension module is being loaded, which may turn any exception into an error of its own."""
    while frame is not None:
        if frame.f_code.co_qualname.startswith("ExtensionFileLoader."):
            return True
        frame = frame.f_back
    return False


def find_interrupt(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that an error was made of, if any: Python 3.11 does that while it makes a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause
