"""What SIGINT and SIGTERM do to the program ``tfreel``, at each moment of its life.

While a command runs they raise an exception, so that it cleans up. One signal often comes as several:
``timeout`` sends two, people press Ctrl-C twice. So what follows the first within two seconds is ignored, and
nothing strikes while the command cleans up. Before a command runs there is nothing to clean up, and the
process exits at once; after it, the process is about to exit by itself, with the code of the command.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sys import UnraisableHookArgs
    from types import FrameType


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. Of a class of its own: at a plain one, Python may end by the signal although we caught it."""

    exit_code: ClassVar[int] = 130
    message: ClassVar[str] = "interrupted"


class Terminated(KeyboardInterrupt):
    """What ``timeout``, ``docker stop`` and the like send: to end as at Ctrl-C, and leave nothing behind."""

    exit_code: ClassVar[int] = 143
    message: ClassVar[str] = "terminated"


_EXCEPTIONS: dict[int, type[Interrupted | Terminated]] = {
    signal.SIGINT: Interrupted,
    signal.SIGTERM: Terminated,
}
_CLEANUP_SECONDS = 2
_RETRY_SECONDS = 0.01


class _State:
    """Where this process is in its life."""

    def __init__(self) -> None:
        self.process = os.getpid()  # a fork knows by it that it is another one
        self.running = False
        self.exit_code: int | None = None  # when nothing is left to do
        self.ignore_until = 0.0
        self.retry: int | None = None  # the number of a signal that is to strike again
        self.raised: type[Interrupted | Terminated] = Interrupted  # the last one

    def ignore(self) -> None:
        """Until the command has cleaned up; but one that hangs can be killed."""
        self.ignore_until = time.monotonic() + _CLEANUP_SECONDS


_state = _State()


def install() -> None:
    """Makes this process answer SIGINT and SIGTERM, unless it was started with them ignored.

    Where an exception would be lost or turned into another one (while an extension module is loaded, in a
    ``__del__``), it is raised a moment later, by a timer.
    """
    global _state
    _state = _State()  # anew: a fork of a process that ran commands is another program
    sys.unraisablehook = _handle_unraisable
    # Called last. Python itself would then restore the default: to be killed.
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)
    for number in _EXCEPTIONS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as in the background of a script
            atexit.register(signal.signal, number, signal.SIG_IGN)
            signal.signal(number, _handle)


@contextmanager
def interruptible() -> Iterator[None]:
    """Lets signals raise `Interrupted` and `Terminated` in the block, after which the process is to end."""
    _state.running = True
    try:
        yield
    finally:
        try:
            _state.ignore()
        finally:
            _state.running = False


def finish(exit_code: int) -> None:
    """Nothing is left to do but to exit: should that take long, a signal ends the process with this code."""
    _state.ignore()
    _state.exit_code = exit_code


def find_interrupt(error: BaseException) -> Interrupted | Terminated | None:
    """The interrupt that an error comes from, if any.

    Python 3.11 makes another error of it while it makes a class, and Ray a plain KeyboardInterrupt.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    if cause is None or isinstance(cause, (Interrupted, Terminated)):
        return cause
    return _state.raised()


def _handle(number: int, frame: FrameType | None) -> None:
    if os.getpid() != _state.process and number == signal.SIGTERM:  # a fork, which has nothing to clean up
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    elif time.monotonic() < _state.ignore_until:
        pass
    elif not _state.running:
        _exit(number)
    elif _is_loading_extension(frame):
        _raise_later(number)
    else:
        _state.ignore()
        _state.retry, _state.raised = None, _EXCEPTIONS[number]
        raise _state.raised


def _exit(number: int) -> None:
    """Ends the process at once."""
    code = _state.exit_code
    if code is None:
        code = _EXCEPTIONS[number].exit_code
        finish(code)  # so that the next one need not wait for whoever reads this line
        with suppress(OSError):  # nobody does
            os.write(2, f"tfreel: {_EXCEPTIONS[number].message}\n".encode())
    os._exit(code)


def _raise_later(number: int) -> None:
    _state.retry = number
    signal.signal(signal.SIGALRM, _retry)
    signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)


def _retry(_: int, frame: FrameType | None) -> None:
    if _state.running and _state.retry is not None:
        _state.ignore_until = 0
        _handle(_state.retry, frame)


def _handle_unraisable(unraisable: UnraisableHookArgs) -> None:
    for number, exception in _EXCEPTIONS.items():
        if isinstance(unraisable.exc_value, exception):
            _raise_later(number)
            return
    sys.__unraisablehook__(unraisable)


def _is_loading_extension(frame: FrameType | None) -> bool:
    """Whether an extension module is being loaded, which may turn any exception into an error of its own."""
    while frame is not None:
        if frame.f_code.co_qualname.startswith("ExtensionFileLoader."):
            return True
        frame = frame.f_back
    return False
