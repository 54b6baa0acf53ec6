"""`shuffle(buffer=)`, for what has no positions: each element is drawn from a buffer of those read so far.

A state does not hold the elements of the buffer. It says which they are, counted from the front, and where to
begin to read in order to meet them again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple, TypeVar

from tfreel.dataset.node import Run, Step, UnaryNode
from tfreel.dataset.order import drawn, mixed
from tfreel.dataset.plan import Stage
from tfreel.dataset.state import parts_of
from tfreel.errors import StateError

Item = TypeVar("Item")

_NEAR = 8  # elements made again for nothing, rather than to begin anew behind them
_FAR = 64  # the same as a multiple of the buffer: none is likely to stay in it for longer


class _Place(NamedTuple):
    """Where an element comes from: how many there were before it, and the state that stood before it."""

    number: int
    before: Any


@dataclass(frozen=True, slots=True)
class BufferShuffle(UnaryNode):
    """The elements of the stage below, each drawn from a buffer."""

    seed: int
    buffer: int

    keeps_elements = True
    shards_below = True
    keeps_count = True
    restarts_dearly = True
    reshuffles = True

    @property
    def unindexable_reason(self) -> str:
        return self.below.unindexable_reason or self.verb

    @property
    def verb(self) -> str:
        return "shuffle(buffer=)"

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        number, numbers, starts, below = parts_of(state, [0, [], [], None])
        key = mixed(run.epoch, self.seed)
        came = number + len(numbers)
        self._check(came, numbers)
        buffer = self._made_again(run, numbers, starts)
        past = _Past(self, key, number, [place for _, place in buffer])
        steps = iter(self.below.steps(run, below))
        while True:
            for step in islice(steps, self.buffer - len(buffer)):
                place = _Place(came, below)
                buffer.append((step, place))
                past.added.append(place)
                came, below = came + 1, step.state
            if not buffer:
                return
            step, _ = _taken(buffer, number, key)
            number += 1
            yield step._replace(state=partial(past.state, number, len(past.added), below))
            if number - past.number >= self.buffer:
                past = _Past(self, key, number, [place for _, place in buffer])

    def _check(self, came: int, numbers: list[Any]) -> None:
        """Makes sure that a buffer can hold what a state says of it."""
        known = all(type(number) is int and 0 <= number < came for number in numbers)
        if not known or len(set(numbers)) < len(numbers) or len(numbers) > self.buffer:
            raise StateError("the state names elements for the buffer that are none")

    def _made_again(self, run: Run, numbers: list[int], starts: list[Any]) -> list[tuple[Step, _Place]]:
        """The elements of a buffer, by what a state says of them."""
        made: dict[int, tuple[Step, _Place]] = {}
        for begin, before, wanted in _grouped(numbers, starts):
            if (max(wanted) - begin) > self._farthest * len(wanted):
                raise StateError("the state names elements for the buffer that are too far apart")
            steps = self.below.steps(run if len(wanted) > 1 else run.for_one(), before)
            for number, step in enumerate(islice(steps, max(wanted) + 1 - begin), begin):
                if number in wanted:
                    made[number] = step, _Place(number, before)
                before = step.state
        if len(made) < len(numbers):
            raise StateError("the state names elements for the buffer that are not there")
        return [made[number] for number in numbers]

    def starts(self, places: list[_Place]) -> list[list[Any]]:
        """Where to begin to read in order to meet all of these again, without too many others."""
        starts: list[list[Any]] = []
        near = self._farthest
        last = None
        for number, before in sorted(places, key=lambda place: place.number):
            if last is None or number - last > near:
                starts.append([number, before])
            last = number
        return starts

    @property
    def _farthest(self) -> int:
        """How far apart elements may be that are read on the way from one to the other.

        To begin a stream, or another buffer, costs more than to go on in it.
        """
        return _FAR * self.buffer if self.below.restarts_dearly else _NEAR

    def _ends_even(self, state: Any) -> bool:
        _, _, _, below = parts_of(state, [0, [], [], None])
        return self.below.ends_even(below)

    def stages(self) -> list[Stage]:
        words = f"shuffled with seed {self.seed} in a buffer of {self.buffer:,}"
        identity = ["stir", self.seed, self.buffer]
        return [*self.below.stages(), Stage(words, identity)]


def _grouped(numbers: list[int], starts: list[Any]) -> Iterator[tuple[int, Any, set[int]]]:
    """Where to begin, and the elements that are wanted from there on."""
    begins = [parts_of(start, [0, None]) for start in starts]
    wanted = sorted(numbers)
    bounds = [*(bisect_left(wanted, begin) for begin, _ in begins), len(wanted)]
    for (begin, before), (first, end) in zip(begins, pairwise(bounds), strict=True):
        if group := set(wanted[first:end]):
            yield begin, before, group


class _Past:
    """What the buffer held at one time, and what came into it since: enough to tell what it held later.

    A state is wanted for one element in thousands, but nobody knows for which: perhaps for one that was given
    long before others failed. So none is made before it is asked for, and all can be made at any time.
    """

    def __init__(self, stage: BufferShuffle, key: int, number: int, held: list[_Place]) -> None:
        self.number = number
        self.added: list[_Place] = []
        self._stage = stage
        self._key = key
        self._held = held

    def state(self, number: int, added: int, below: Any) -> list[Any]:
        """The state after so many draws, when so many had come since."""
        held = self._held.copy()
        coming = iter(self.added[:added])
        for draw in range(self.number, number):
            held.extend(islice(coming, self._stage.buffer - len(held)))
            _taken(held, draw, self._key)
        return [number, [place.number for place in held], self._stage.starts(held), below]


def _taken(buffer: list[Item], number: int, key: int) -> Item:
    """Takes out what the draw of that number falls on."""
    pick = drawn(number, key) % len(buffer)
    buffer[pick], buffer[-1] = buffer[-1], buffer[pick]
    return buffer.pop()
