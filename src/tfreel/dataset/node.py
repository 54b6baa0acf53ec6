"""What all stages of a dataset are: nodes of a plan that can be run from the beginning, or from a state.

A run gives elements one by one, each with the state that goes on behind it. So whoever takes elements, even
if others are already being made ahead, always has the state that belongs to the last one he took.
"""

from __future__ import annotations

import copy
import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tfreel.dataset.example_source import Elements
from tfreel.dataset.order import Positions
from tfreel.dataset.plan import Stage
from tfreel.errors import StateError
from tfreel.records.report import Fault
from tfreel.storage.paths import display


class Origin(NamedTuple):
    """The records that an element was made of."""

    elements: Elements
    records: Positions | int

    def first(self) -> tuple[str, int, int]:
        """The file of the first record, its number there, and its offset."""
        first = self.records if isinstance(self.records, int) else int(self.records[0])
        return self.elements.records.place(first)

    def __str__(self) -> str:
        path, record, offset = self.first()
        more = 0 if isinstance(self.records, int) else len(self.records) - 1
        others = f", and {more:,} others" if more else ""
        return f"record {record} of {display(path)} at byte {offset}{others}"


Origins: TypeAlias = tuple[Origin, ...]


def origins_of_rows(origins: Origins, rows: Sequence[int], count: int) -> Origins:
    """The records that some of the rows of a batch were made of; all of them if a row is not one record."""
    each = [
        Origin(origin.elements, int(record))
        for origin in origins
        for record in np.atleast_1d(np.asarray(origin.records))
    ]
    return tuple(each[row] for row in rows) if len(each) == count else origins


def note_origins(error: Exception, stage: str, origins: Origins) -> None:
    """Lets what a function raised say where it was called, and on which records."""
    where = "; ".join(map(str, origins)) or "an element of unknown origin"
    error.add_note(f"in {stage}, on {where}")


class Step(NamedTuple):
    """One element of a run.

    Attributes:
        element: The element.
        state: What `Node.run` needs to go on behind it, as JSON. Parts of it may be functions that give it,
            at any time: `settled` calls them.
        origins: Where it comes from.
    """

    element: Any
    state: Any
    origins: Origins


def settled(state: Any) -> Any:
    """The state without functions."""
    if callable(state):
        return settled(state())
    if isinstance(state, list):
        return [settled(item) for item in state]
    if isinstance(state, dict):
        return {key: settled(value) for key, value in state.items()}
    return state


@dataclass(frozen=True, slots=True)
class Skipped:
    """An element that was left out because a function failed on it.

    Attributes:
        stage: The function.
        error: What it raised.
        path: The file of the record, or of the first of several; None if that is not known.
        record: The number of that record in the file.
        offset: Where it begins.
    """

    stage: str
    error: Exception
    path: str | None = None
    record: int | None = None
    offset: int | None = None


def portable(error: Exception) -> Exception:
    """The error, or its words if it cannot be sent to another process."""
    try:
        pickle.dumps(copy.copy(error))  # a copy is made of the parts that would be sent
    except Exception:  # noqa: BLE001 - whatever keeps it here
        return RuntimeError(repr(error))
    return error


_MOST_TOLD = 100
_LONGEST_PART = 100  # of a state, in a message


@dataclass(slots=True)
class DatasetReport:
    """What a run left out.

    Attributes:
        skipped: How many elements, or rows of batches, because a function failed on them.
        examples: The first hundred of them.
        faults: The damage in files that was passed over, by ``on_corrupt``. What is read by position is
            looked at when it is opened, a stream as it is read.
    """

    skipped: int = 0
    examples: list[Skipped] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    _known: set[Fault] = field(default_factory=set, repr=False, compare=False)

    def damage(self, faults: Iterable[Fault]) -> None:
        """Takes down faults; once, however often their files are read."""
        for fault in faults:
            if fault not in self._known:
                self._known.add(fault)
                self.faults.append(fault)

    def portable(self) -> DatasetReport:
        """The same with errors that can be sent to another process."""
        examples = [replace(each, error=portable(each.error)) for each in self.examples]
        return replace(self, examples=examples)

    def skip(self, stage: str, error: Exception, origins: Origins) -> None:
        """Takes down one more."""
        self.skipped += 1
        if len(self.examples) < _MOST_TOLD:
            self.examples.append(Skipped(stage, error, *(origins[0].first() if origins else ())))


@dataclass(frozen=True, slots=True)
class Run:
    """What belongs to a whole run.

    Attributes:
        epoch: How often everything has been gone through before.
        report: What was left out.
        ahead: Whether it pays to read ahead. It does not for one who wants a single element.
    """

    epoch: int
    report: DatasetReport
    ahead: bool = True

    def in_epoch(self, epoch: int) -> Run:
        """The same in another epoch."""
        return replace(self, epoch=epoch)

    def for_one(self) -> Run:
        """The same for a single element."""
        return replace(self, ahead=False)


class Node(ABC):
    """One stage, with all that lies below it."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields in some: dataclasses would take a property here for their default

        @property
        def size(self) -> int | None:
            """The number of elements; None if there is no end, or nobody can tell."""

        @property
        def lost_by(self) -> str | None:
            """The stage that took away positions; None if elements can be asked for by them."""

        @property
        def shares(self) -> tuple[int, ...]:
            """Among how many ranks the elements have been shared out, if they were."""

    @abstractmethod
    def run(self, run: Run, state: Any) -> Iterator[Step]:
        """The elements from the beginning (None) or from a state on."""

    @abstractmethod
    def stages(self) -> list[Stage]:
        """What it does: a line for each stage, the lowest first."""

    def faults(self) -> Iterable[Fault]:
        """The damage that is known before anything is read, and passed over."""
        return ()

    def get(self, positions: Positions, epoch: int) -> list[Any]:  # noqa: ARG002
        """The elements at these positions, unless they are lost."""
        raise TypeError(f"elements cannot be asked for by position after {self.lost_by}")

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        """The elements at these positions, one after the other."""
        for position in positions:
            yield self.get(np.array([position], np.uint64), epoch)[0], ()


@dataclass(frozen=True, slots=True)
class Above(Node):
    """A stage above one other, with as many elements."""

    below: Node

    @property
    def size(self) -> int | None:
        return self.below.size

    @property
    def lost_by(self) -> str | None:
        return self.below.lost_by

    @property
    def shares(self) -> tuple[int, ...]:
        return self.below.shares

    def faults(self) -> Iterable[Fault]:
        return self.below.faults()


def parts_of(state: Any, default: list[Any]) -> list[Any]:
    """A state of so many parts, or the one to begin with."""
    if state is None:
        return default
    if not isinstance(state, list) or len(state) != len(default):
        raise StateError(f"the state says {_short(state)} where {len(default)} parts belong")
    for part, first in zip(state, default, strict=True):
        if first is not None and not _goes_on_from(part, first):
            raise StateError(f"the state says {_short(part)} where something like {first!r} belongs")
    return state


def _short(part: Any) -> str:
    text = repr(part)
    return text if len(text) <= _LONGEST_PART else f"{text[:_LONGEST_PART]}…"


def _goes_on_from(part: Any, first: Any) -> bool:
    """Whether a part of a state can be what became of the one to begin with: a count, or a list."""
    if type(part) is not type(first):
        return False
    return not isinstance(part, int) or min(first, 0) <= part < 1 << 63


def first_of(steps: Iterable[Step]) -> Step:
    """The element behind a state that says there is one."""
    for step in steps:
        return step
    raise StateError("the state names an element behind the last one")
