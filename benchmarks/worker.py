"""A process in the environment of a peer: makes entries, runs and times them when it is told to.

Started by `away.py` with the number of an open socket. It gets pairs of a verb and what belongs to it, and
answers each with a pair: whether it went well, and the answer or what went wrong.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from harness import Entry, proved, settled_garbage, timed


class Worker:
    """The entries that were made here, and what they run on."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._course: Any = None

    def make(
        self, make: Callable[..., list[Entry]], arguments: tuple[Any, ...]
    ) -> list[tuple[int, str, str]]:
        """Makes entries. Gives number, name and team of each."""
        first = len(self._entries)
        self._entries += make(*arguments)
        return [(i, self._entries[i].name, self._entries[i].team) for i in range(first, len(self._entries))]

    def course(self, course: Any) -> None:
        """What the entries run on from now on. It comes once, for it may be large."""
        self._course = course

    def prove(self, number: int) -> Any:
        """The proof of an entry."""
        return proved(self._entries[number], self._course)

    def run(self, number: int) -> tuple[float, Any]:
        """One run: seconds, and the answer."""
        with settled_garbage():
            return timed(self._entries[number], self._course)

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Whatever else is to be found out in this environment."""
        return function(*arguments)

    def facts(self) -> dict[str, Any]:
        """What is installed here."""
        found = {
            d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]
        }
        return {"python": platform.python_version(), "versions": dict(sorted(found.items(), key=_lower))}


def _lower(item: tuple[str, str]) -> str:
    return item[0].lower()


def main() -> None:
    """Answers until nobody asks any more."""
    line = Connection(int(sys.argv[1]))
    worker = Worker()
    while True:
        try:
            verb, arguments = line.recv()
        except EOFError:
            return
        try:
            line.send((True, getattr(worker, verb)(*arguments)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the one who asked is told
            line.send((False, (type(error).__name__, str(error))))


if __name__ == "__main__":
    main()
