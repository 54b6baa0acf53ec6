"""A signal that strikes in the middle of our code, at every place where the interpreter would let it."""

from __future__ import annotations

import dis
import functools
import os
import sys
from typing import TYPE_CHECKING, Any, Self

import tfreel

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Interrupted(BaseException):
    """What a signal handler might raise."""


# After these the interpreter looks whether a signal came in.
LISTENING = {"RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD"}
OURS = os.path.dirname(tfreel.__file__)


class Interruption:
    """Raises `Interrupted` in our code, at the n-th place where a signal could strike."""

    def __init__(self, n: int) -> None:
        self.left = n
        self.last: dict[int, int] = {}

    def __enter__(self) -> Self:
        sys.settrace(self._enter_frame)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter_frame(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        caller: FrameType | None = frame
        while caller is not None:  # what cleans up is not interrupted a second time
            if caller.f_code.co_name in ("__del__", "close", "_go_back"):
                return None
            caller = caller.f_back
        self.last.pop(id(frame), None)  # of another frame, gone by now
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode":
            last, now = self.last.get(id(frame)), frame.f_lasti
            self.last[id(frame)] = now
            if last is None or may_strike(frame.f_code, last, now):
                self.left -= 1
                if self.left < 0:
                    raise Interrupted
        return self._step


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
