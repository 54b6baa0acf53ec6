"""Nodes that do something: run for what they do, or because they give something else in every run.

A run is one `Session.run`. Code without sessions has tensors whose values are asked for one by one, and
expects them to belong together: there a node that draws keeps what it drew first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfreel.tf.graphs.operations import Outside
from tfreel.tf.values.handles import Handle, Source, is_promised, replaced, unwrap


class Drawing:
    """Base of nodes that give something else in every run: the next record, the next element.

    Attributes:
        args: Arguments in which promises may be.
    """

    args: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self._kept: list[Any] | None = None

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        """What comes next."""
        raise NotImplementedError

    def kept(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        """What was drawn outside of any run."""
        if self._kept is None:
            self._kept = self.run(value_of)
        return self._kept

    def value_now(self, position: int) -> Any:
        return self.kept(Outside().value_of)[position]


class Telling:
    """A node that tells how something is now: a counter, a size, a state."""

    def __init__(self, tell: Callable[[], Any]) -> None:
        self._tell = tell

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        return [self._tell()]

    def value_now(self, position: int) -> Any:
        return self._tell()


class Deed:
    """A node that is run for what it does."""

    def __init__(self, act: Callable[..., Any], args: tuple[Any, ...] = ()) -> None:
        self._act = act
        self.args = args

    def run(self, value_of: Callable[[Handle], Any]) -> list[Any]:
        self._act(*replaced(self.args, value_of))
        return [None]

    def value_now(self, position: int) -> Any:
        return Outside().result(self, position)


class Action(Handle):
    """What stands for a deed in `Session.run`, which gives None for it."""

    __slots__ = ()

    @classmethod
    def to(cls, act: Callable[..., Any], *args: Any) -> Any:
        """The action that calls a function when it is run."""
        return cls.promised(Source(Deed(act, args), 0, None))

    @classmethod
    def now(cls, act: Callable[..., Any], *args: Any) -> Any:
        """Calls a function at once if its arguments have values, else when the action is run."""
        if is_promised(args):
            return cls.to(act, *args)
        act(*unwrap(args))
        return cls.of(None)

    @property
    def name(self) -> str:
        """Actions have no names here; for code that prints one."""
        return "Action"

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it, in the given session or the default one."""
        from tfreel.tf.first.session import session_for

        session_for(session).run(self, feed_dict)

    def __repr__(self) -> str:
        return "<tf.Operation>"
