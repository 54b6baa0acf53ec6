"""Stages that are gone through from the front: what they give at a position depends on all before it.

Their state holds that of the stage below, so to go on from it costs no more than there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tfreel.ahead import ReadAhead
from tfreel.dataset.nodes import Node, PositionSteps, Steps, StepsAbove, name_of
from tfreel.dataset.order import Positions
from tfreel.errors import StateError


class _Sequential:
    """What stages without positions have in common."""

    __slots__ = ()

    def get(self, positions: Positions, epoch: int) -> NoReturn:  # noqa: ARG002
        raise TypeError("elements of this stage cannot be asked for by position")


def _part(state: Any, name: str, default: Any = None) -> Any:
    if state is None:
        return default
    if not isinstance(state, dict) or name not in state:
        raise StateError(f"the state lacks {name!r}: it was saved by another plan")
    return state[name]


@dataclass(frozen=True, slots=True)
class Filtered(_Sequential):
    """The elements of which a function says that they may stay."""

    below: Node
    keep: Callable[[Any], Any]
    size: int | None = None

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by or f"filter({name_of(self.keep)})"

    def iterate(self, epoch: int, state: Any) -> Steps:
        return _FilteredSteps(self.below.iterate(epoch, state), self.keep)

    def describe(self) -> list[Any]:
        return ["filtered", name_of(self.keep), self.below.describe()]

    def lines(self) -> list[str]:
        return [*self.below.lines(), f"those that {name_of(self.keep)} keeps"]


@dataclass(slots=True)
class _FilteredSteps(StepsAbove):
    keep: Callable[[Any], Any]

    def __next__(self) -> Any:
        while not self.keep(element := next(self.below)):
            pass
        return element


@dataclass(frozen=True, slots=True)
class Limited(_Sequential):
    """Some of the elements, counted from the front."""

    below: Node
    skip: int
    take: int | None
    size: int | None = None

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    def iterate(self, epoch: int, state: Any) -> Steps:
        below = self.below.iterate(epoch, _part(state, "below"))
        return _LimitedSteps(below, self.skip, self.take, _part(state, "passed", 0))

    def describe(self) -> list[Any]:
        return ["limited", self.skip, self.take, self.below.describe()]

    def lines(self) -> list[str]:
        parts = [f"without the first {self.skip:,}"] if self.skip else []
        parts += [] if self.take is None else [f"the first {self.take:,}"]
        return [*self.below.lines(), ", ".join(parts)]


@dataclass(slots=True)
class _LimitedSteps(StepsAbove):
    skip: int
    take: int | None
    passed: int

    def __next__(self) -> Any:
        if self.take is not None and self.passed >= self.skip + self.take:
            raise StopIteration
        while self.passed < self.skip:
            next(self.below)
            self.passed += 1
        element = next(self.below)
        self.passed += 1
        return element

    def state(self) -> Any:
        return {"passed": self.passed, "below": self.below.state()}


@dataclass(frozen=True, slots=True)
class Again:
    """Everything below, again and again; each time is an epoch of its own."""

    below: Node
    times: int | None

    @property
    def size(self) -> int | None:
        if self.below.size is None or (self.times is None and self.below.size):
            return None
        return self.below.size * (self.times or 0)

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        rounds = positions // np.uint64(self.below.size or 1)
        found: list[Any] = [None] * len(positions)
        for number in np.unique(rounds).tolist():
            places = np.flatnonzero(rounds == number)
            inner = positions[places] - np.uint64(number * (self.below.size or 1))
            elements = self.below.get(inner, self.epoch_of(number, epoch))
            for place, element in zip(places.tolist(), elements, strict=True):
                found[place] = element
        return found

    def epoch_of(self, number: int, epoch: int) -> int:
        """The epoch of a round, in an epoch of the whole."""
        return epoch * (self.times or 0) + number

    def iterate(self, epoch: int, state: Any) -> Steps:
        if self.lost_by is None and self.below.size is not None:
            return PositionSteps.of(self, epoch, state)
        return _AgainSteps(self, epoch, _part(state, "round", 0), _part(state, "below"))

    def describe(self) -> list[Any]:
        return ["again", self.times, self.below.describe()]

    def lines(self) -> list[str]:
        times = "without end" if self.times is None else f"{self.times:,} times"
        return [*self.below.lines(), f"repeated {times}"]


class _AgainSteps(Steps):
    def __init__(self, node: Again, epoch: int, number: int, below: Any) -> None:
        self._node = node
        self._epoch = epoch
        self._round = number
        self._any = below is not None
        self._steps = self._begin(below)

    def _begin(self, below: Any) -> Steps:
        return self._node.below.iterate(self._node.epoch_of(self._round, self._epoch), below)

    def __next__(self) -> Any:
        while self._node.times is None or self._round < self._node.times:
            try:
                element = next(self._steps)
            except StopIteration:
                if not self._any:  # or nothing would be repeated for ever
                    raise
                self._round += 1
                self._any = False
                self._steps = self._begin(None)
            else:
                self._any = True
                return element
        raise StopIteration

    def state(self) -> Any:
        return {"round": self._round, "below": self._steps.state()}

    def close(self) -> None:
        self._steps.close()


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Each element with its number."""

    below: Node
    start: int

    @property
    def size(self) -> int | None:
        return self.below.size

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        numbers = (position + self.start for position in positions.tolist())
        return list(zip(numbers, self.below.get(positions, epoch), strict=True))

    def iterate(self, epoch: int, state: Any) -> Steps:
        below = self.below.iterate(epoch, _part(state, "below"))
        return _EnumeratedSteps(below, _part(state, "number", self.start))

    def describe(self) -> list[Any]:
        return ["enumerated", self.start, self.below.describe()]

    def lines(self) -> list[str]:
        return [*self.below.lines(), f"numbered from {self.start:,}"]


@dataclass(slots=True)
class _EnumeratedSteps(StepsAbove):
    number: int

    def __next__(self) -> Any:
        element = next(self.below)
        self.number += 1
        return self.number - 1, element

    def state(self) -> Any:
        return {"number": self.number, "below": self.below.state()}


@dataclass(frozen=True, slots=True)
class Joined:
    """The elements of several stages, one stage after the other."""

    parts: tuple[Node, ...]

    @property
    def size(self) -> int | None:
        sizes = [part.size for part in self.parts]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def lost_by(self) -> str | None:
        return next((part.lost_by for part in self.parts if part.lost_by), None)

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        ends = np.cumsum([part.size or 0 for part in self.parts]).astype(np.uint64)
        owners = np.searchsorted(ends, positions, "right")
        found: list[Any] = [None] * len(positions)
        for owner in np.unique(owners).tolist():
            places = np.flatnonzero(owners == owner)
            begin = ends[owner - 1] if owner else np.uint64(0)
            elements = self.parts[owner].get(positions[places] - begin, epoch)
            for place, element in zip(places.tolist(), elements, strict=True):
                found[place] = element
        return found

    def iterate(self, epoch: int, state: Any) -> Steps:
        if self.lost_by is None and self.size is not None:
            return PositionSteps.of(self, epoch, state)
        return _JoinedSteps(self, epoch, _part(state, "part", 0), _part(state, "below"))

    def describe(self) -> list[Any]:
        return ["joined", *(part.describe() for part in self.parts)]

    def lines(self) -> list[str]:
        inner = [f"  {line}" for part in self.parts for line in part.lines()]
        return [*inner, f"{len(self.parts)} datasets, one after the other"]


class _JoinedSteps(Steps):
    def __init__(self, node: Joined, epoch: int, part: int, below: Any) -> None:
        self._node = node
        self._epoch = epoch
        self._part = part
        self._steps = node.parts[part].iterate(epoch, below)

    def __next__(self) -> Any:
        while True:
            try:
                return next(self._steps)
            except StopIteration:
                if self._part + 1 == len(self._node.parts):
                    raise
                self._part += 1
                self._steps = self._node.parts[self._part].iterate(self._epoch, None)

    def state(self) -> Any:
        return {"part": self._part, "below": self._steps.state()}

    def close(self) -> None:
        self._steps.close()


@dataclass(frozen=True, slots=True)
class Prefetched:
    """The same elements, made in a thread of their own a few ahead of whoever takes them."""

    below: Node
    depth: int

    @property
    def size(self) -> int | None:
        return self.below.size

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return self.below.get(positions, epoch)

    def iterate(self, epoch: int, state: Any) -> Steps:
        return _PrefetchedSteps(self.below.iterate(epoch, state), self.depth)

    def describe(self) -> list[Any]:
        return self.below.describe()  # it changes nothing but the time

    def lines(self) -> list[str]:
        return [*self.below.lines(), f"{self.depth} of them ahead"]


class _PrefetchedSteps(Steps):
    """Each element comes with the state behind it, for the steps below have gone on meanwhile."""

    def __init__(self, below: Steps, depth: int) -> None:
        self._state = below.state()
        self._ahead = ReadAhead(((element, below.state()) for element in below), depth)

    def __next__(self) -> Any:
        element, self._state = next(self._ahead)
        return element

    def state(self) -> Any:
        return self._state

    def close(self) -> None:
        self._ahead.close()
