"""Plans in words, for people; and as short names, for telling whether a state belongs to one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy.typing as npt


class Stage(NamedTuple):
    """A stage of a plan.

    Attributes:
        words: What it does.
        identity: The same, as JSON; None if it changes nothing but the time.
        function: What it calls, if it is a function of the user. A state knows it by its name, a cache by
            what it does.
    """

    words: str
    identity: Any = None
    function: Callable[..., Any] | None = None


def digest(array: npt.NDArray[Any]) -> str:
    """A short name for what an array holds, the same on every machine."""
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()[:16]


def signature(stages: Iterable[Stage]) -> list[list[str]]:
    """A plan as a state keeps it: the words of each stage, and a short name for it."""
    return [[stage.words.strip(), _name(stage.identity)] for stage in stages if stage.identity is not None]


def _name(identity: Any) -> str:
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:12]


def difference(saved: Any, here: list[list[str]]) -> str | None:
    """What is not the same in two plans; None if they are the same."""
    if not isinstance(saved, list) or not all(isinstance(s, list) and len(s) == 2 for s in saved):
        return "the state names no plan"
    for (words, name), (here_words, here_name) in zip(saved, here, strict=False):
        if name != here_name:
            if words == here_words:
                return f"the state was saved with other data or other features in “{words}”"
            return f"the state was saved by another plan: it has “{words}” where this one has “{here_words}”"
    if len(saved) != len(here):
        extra, whose = (here, "this one") if len(here) > len(saved) else (saved, "that one")
        words = extra[min(len(saved), len(here))][0]
        return f"the state was saved by another plan: “{words}” is only in {whose}"
    return None
