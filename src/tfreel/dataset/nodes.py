"""The stages of a dataset whose elements can be asked for by position, and the runs through them.

The state of such a run is a position: to go on from it costs the same wherever it is. Stages that lose
positions on the way (`filter`, for one) are in `sequential`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from tfreel.dataset.elements import Elements
from tfreel.dataset.order import Order, Positions, fingerprint
from tfreel.errors import StateError

_ROWS_AT_ONCE = 256


class Steps(ABC):
    """A run through a stage."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> Any: ...

    @abstractmethod
    def state(self) -> Any:
        """Where it stands, as JSON: what `iterate` needs to go on from there."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of what it holds; nothing is taken from it any more."""


@dataclass(slots=True)
class StepsAbove(Steps):
    """A run that goes on by one through the stage below, and has no state of its own."""

    below: Steps

    def state(self) -> Any:
        return self.below.state()

    def close(self) -> None:
        self.below.close()


class Node(Protocol):
    """One stage, with all that lies below it."""

    @property
    def size(self) -> int | None:
        """The number of elements; None if there is no end, or nobody can tell."""

    @property
    def lost_by(self) -> str | None:
        """The stage that took away positions; None if elements can be asked for by them."""

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        """The elements at these positions, unless they are lost."""

    def iterate(self, epoch: int, state: Any) -> Steps:
        """A run from the beginning, or from a state."""

    def describe(self) -> list[Any]:
        """What it does, as JSON: equal for stages that do the same."""

    def lines(self) -> list[str]:
        """What it does, in words: a line for each stage, the lowest first."""


@dataclass(slots=True)
class PositionSteps(Steps):
    """A run through a stage that is asked by position, some at a time."""

    node: Node
    epoch: int
    position: int
    at_once: int = 1
    _ready: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, node: Node, epoch: int, state: Any, at_once: int = 1) -> Self:
        """From the beginning, or from a state.

        Raises:
            StateError: The state is none of this stage.
        """
        position = 0 if state is None else state
        past_end = isinstance(position, int) and node.size is not None and position > node.size
        if type(position) is not int or position < 0 or past_end:
            raise StateError(f"the state stands at {position!r}, and there are {node.size} elements")
        return cls(node, epoch, position, at_once)

    def __next__(self) -> Any:
        if not self._ready:
            size = self.node.size
            stop = self.position + self.at_once
            stop = stop if size is None else min(stop, size)
            if stop <= self.position:
                raise StopIteration
            wanted = np.arange(self.position, stop, dtype=np.uint64)
            self._ready = self.node.get(wanted, self.epoch)[::-1]
        self.position += 1
        return self._ready.pop()

    def state(self) -> int:
        return self.position

    def close(self) -> None:
        self._ready = []


@dataclass(frozen=True, slots=True)
class Rows:
    """The records of some files in some order, one by one. What shuffles, splits and slices work on."""

    elements: Elements
    order: Order
    stages: tuple[str, ...] = ()  # what made the order, in words
    lost_by: str | None = None

    @property
    def size(self) -> int | None:
        return self.order.size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.elements.rows(self.order.at(positions, epoch))

    def batch(self, start: int, stop: int, epoch: int) -> Any:
        """A run of elements, as columns."""
        return self.elements.batch(self.order.at(np.arange(start, stop, dtype=np.uint64), epoch))

    def iterate(self, epoch: int, state: Any) -> Steps:
        return PositionSteps.of(self, epoch, state, _ROWS_AT_ONCE)

    def describe(self) -> list[Any]:
        return ["rows", self.elements.describe(), fingerprint(self.order)]

    def lines(self) -> list[str]:
        return [self.elements.line(), *self.stages]


@dataclass(frozen=True, slots=True)
class View:
    """The elements of any stage in another order."""

    below: Node
    order: Order
    stages: tuple[str, ...] = ()
    lost_by: str | None = None

    @property
    def size(self) -> int | None:
        return self.order.size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.below.get(self.order.at(positions, epoch), epoch)

    def iterate(self, epoch: int, state: Any) -> Steps:
        return PositionSteps.of(self, epoch, state)

    def describe(self) -> list[Any]:
        return ["view", fingerprint(self.order), self.below.describe()]

    def lines(self) -> list[str]:
        return [*self.below.lines(), *self.stages]


@dataclass(frozen=True, slots=True)
class Batches:
    """Rows in batches: each is read, checked and parsed in one go."""

    below: Rows
    batch_size: int
    drop_remainder: bool
    lost_by: str | None = None

    @property
    def size(self) -> int | None:
        if self.below.size is None:
            return None
        whole, rest = divmod(self.below.size, self.batch_size)
        return whole if self.drop_remainder or not rest else whole + 1

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return [self._one(int(position), epoch) for position in positions]

    def _one(self, position: int, epoch: int) -> Any:
        start = position * self.batch_size
        stop = start + self.batch_size
        return self.below.batch(start, stop if self.below.size is None else min(stop, self.below.size), epoch)

    def iterate(self, epoch: int, state: Any) -> Steps:
        return PositionSteps.of(self, epoch, state)

    def describe(self) -> list[Any]:
        return ["batches", self.batch_size, self.drop_remainder, self.below.describe()]

    def lines(self) -> list[str]:
        dropped = ", the last one only if it is whole" if self.drop_remainder else ""
        return [*self.below.lines(), f"in batches of {self.batch_size:,}{dropped}"]


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a function makes of each element."""

    below: Node
    function: Callable[[Any], Any]

    @property
    def size(self) -> int | None:
        return self.below.size

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return [self.function(element) for element in self.below.get(positions, epoch)]

    def iterate(self, epoch: int, state: Any) -> Steps:
        return _MappedSteps(self.below.iterate(epoch, state), self.function)

    def describe(self) -> list[Any]:
        return ["mapped", name_of(self.function), self.below.describe()]

    def lines(self) -> list[str]:
        return [*self.below.lines(), f"each through {name_of(self.function)}"]


@dataclass(slots=True)
class _MappedSteps(StepsAbove):
    function: Callable[[Any], Any]

    def __next__(self) -> Any:
        return self.function(next(self.below))


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called, for people and for telling plans apart."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))
