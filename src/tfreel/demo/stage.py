"""What the story needs to be told: someone who shows lines and runs commands."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Stage(Protocol):
    """Where the story is shown. The command line has one."""

    def step(self, title: str) -> AbstractContextManager[None]:
        """A numbered step; how long it took is shown at its end."""

    def title(self, text: str) -> None:
        """Shows what the next lines are about."""

    def say(self, text: str) -> None:
        """Shows a line."""

    def proved(self, text: str) -> None:
        """Shows a line that was checked before it was said."""

    def python(self, *lines: str) -> None:
        """Shows lines of Python, which the story runs itself or leaves to the user."""

    def shell(self, *words: str) -> None:
        """Shows a command of tfreel, for the user to run."""

    def run(self, *words: str) -> int:
        """Shows a command of tfreel and runs it; gives its exit code."""
