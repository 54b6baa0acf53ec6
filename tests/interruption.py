"""A signal that strikes in the middle of our code, at every place where the interpreter would let it."""

from __future__ import annotations

import dis
import functools
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

import tfreel

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Interrupted(BaseException):
    """What a signal handler might raise."""


# After these the interpreter looks whether a signal came in.
LISTENING = {"RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}
CLEANING_UP = {"__del__", "close", "_go_back"}
OURS = os.path.dirname(tfreel.__file__)
NOT_YET = -1  # no instruction of the frame was seen


class Interruption:
    """Raises `Interrupted` in our code, at the n-th place where a signal could strike."""

    def __init__(self, n: int) -> None:
        self.left = n
        self.last: dict[int, int] = {}  # where each frame is that can be interrupted
        self.thread = threading.get_ident()

    def __enter__(self) -> Self:
        watch(self)
        return self

    def __exit__(self, *_: object) -> None:
        unwatch()

    def enter_frame(self, frame: FrameType) -> bool:
        """Whether what the frame does can be interrupted."""
        self.last.pop(id(frame), None)  # of another frame, gone by now
        if threading.get_ident() != self.thread or not frame.f_code.co_filename.startswith(OURS):
            return False
        caller: FrameType | None = frame
        while caller is not None:  # what cleans up is not interrupted a second time
            if caller.f_code.co_name in CLEANING_UP:
                return False
            caller = caller.f_back
        self.last[id(frame)] = NOT_YET
        return True

    def step(self, frame: FrameType, now: int) -> None:
        """Called before each instruction of a frame that was entered."""
        last = self.last.get(id(frame))
        if last is None:
            return
        self.last[id(frame)] = now
        if last == NOT_YET or may_strike(frame.f_code, last, now):
            self.left -= 1
            if self.left < 0:
                unwatch()
                raise Interrupted


@functools.cache
def may_strike(code: CodeType, last: int, now: int) -> bool:
    """Whether a signal may strike after the instruction at `last` as if it struck at `now`.

    It strikes under the handler of `last`: between the body of a `with` and its exit, say, the
    exit is still called. Raised at `now`, outside of the body, our interruption would miss it.
    """
    return dis.opname[code.co_code[last]] in LISTENING and handler(code, last) == handler(code, now)


def handler(code: CodeType, offset: int) -> int | None:
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    return next((entry.target for entry in entries if entry.start <= offset < entry.end), None)


# Since Python 3.12 a trace function that asks for instructions in the middle of a frame gets them
# from the next call on only, if at all. What the interpreter offers there instead is not for 3.11.
if sys.version_info >= (3, 12):
    monitoring = sys.monitoring
    TOOL = 4  # one of the two that have no purpose of their own
    ENTRIES = (monitoring.events.PY_START, monitoring.events.PY_RESUME)

    def watch(interruption: Interruption) -> None:
        def enter(code: CodeType, offset: int) -> None:
            interruption.enter_frame(sys._getframe(1))

        def step(code: CodeType, offset: int) -> Any:
            if not code.co_filename.startswith(OURS):
                return monitoring.DISABLE
            return interruption.step(sys._getframe(1), offset)

        monitoring.use_tool_id(TOOL, "interruption")
        for event in ENTRIES:
            monitoring.register_callback(TOOL, event, enter)
        monitoring.register_callback(TOOL, monitoring.events.INSTRUCTION, step)
        monitoring.set_events(TOOL, sum(ENTRIES) | monitoring.events.INSTRUCTION)

    def unwatch() -> None:
        if monitoring.get_tool(TOOL) is not None:
            monitoring.set_events(TOOL, monitoring.events.NO_EVENTS)
            monitoring.free_tool_id(TOOL)

else:

    def watch(interruption: Interruption) -> None:
        def enter(frame: FrameType, event: str, argument: object) -> Any:
            if not interruption.enter_frame(frame):
                return None
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return step

        def step(frame: FrameType, event: str, argument: object) -> Any:
            if event == "opcode":
                interruption.step(frame, frame.f_lasti)
            return step

        sys.settrace(enter)

    def unwatch() -> None:
        sys.settrace(None)
