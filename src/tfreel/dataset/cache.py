"""Elements that are made once and kept, in memory or in a directory."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tfreel.dataset.cache_format import pack, unpack
from tfreel.dataset.collate import copy_of
from tfreel.dataset.functions import fingerprint_of
from tfreel.dataset.node import Node, Origins, Run, Step, UnaryNode
from tfreel.dataset.order import Positions, other_ranks_error
from tfreel.dataset.plan import Stage, signature
from tfreel.dataset.state import Move, resolve_state
from tfreel.index.access import Records
from tfreel.records.write import Writer
from tfreel.storage.names import PathLike
from tfreel.storage.paths import display
from tfreel.threads import renew_after_fork


class Store(ABC):
    """Where elements are kept."""

    @abstractmethod
    def steps(self, below: Node, run: Run, position: int) -> Iterator[tuple[Any, Origins]]:
        """The elements from a position on, out of the store or from below."""

    @abstractmethod
    def get(self, below: Node, run: Run, positions: list[int]) -> list[Any]:
        """The elements at these positions, out of the store or from below."""

    @abstractmethod
    def words(self) -> str:
        """Where it is."""


class _Memory(Store):
    """Elements by position. All runs share them, and the run below that makes them from the front."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Any, Origins]] = {}
        self._made = 0  # how many from the front
        self._state: Any = None  # of the run below, behind them
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        self._steps: Iterator[Step] | None = None
        self._complete = False

    def steps(self, below: Node, run: Run, position: int) -> Iterator[tuple[Any, Origins]]:
        while position in self._kept or self._make(below, run, position):
            element, origins = self._kept[position]
            yield copy_of(element), origins
            position += 1

    def get(self, below: Node, run: Run, positions: list[int]) -> list[Any]:
        missing = sorted({position for position in positions if position not in self._kept})
        made = below.visit(iter(missing), run) if missing else ()
        self._kept.update(zip(missing, made, strict=True))
        return [copy_of(self._kept[position][0]) for position in positions]

    def _make(self, below: Node, run: Run, position: int) -> bool:
        """Makes the element at a position, and all before it, if there is one."""
        if position == below.size:  # all may be there, made in another order
            return False
        with self._lock:
            while position not in self._kept and not self._complete:
                if self._steps is None:
                    self._steps = iter(below.steps(run, resolve_state(self._state)))
                try:
                    step = next(self._steps, None)
                except BaseException:
                    self._steps = None  # the next one goes on behind the last good element
                    raise
                if step is None:
                    self._complete = True
                else:
                    self._kept.setdefault(self._made, (step.element, step.origins))
                    self._made += 1
                    self._state = step.state
            return position in self._kept

    def words(self) -> str:
        return "in memory"

    def __reduce__(self) -> tuple[Any, ...]:
        return _Memory, ()  # what it keeps does not travel: it is made again


@dataclass(slots=True)
class _Directory(Store):
    """Elements in a file, which is there as soon as it is whole."""

    path: str
    _records: Records | None = field(default=None, repr=False)

    def steps(self, below: Node, run: Run, position: int) -> Iterator[tuple[Any, Origins]]:
        records = self._whole()
        if records is None:
            yield from self._make(below, run, position)
            return
        for number in range(position, len(records)):
            yield unpack(records[number]), ()

    def get(self, below: Node, run: Run, positions: list[int]) -> list[Any]:
        if self._whole() is None:  # whoever asks here and there would never fill it
            deque(self._make(below, run, 0, alone=True), maxlen=0)
        records = self._whole()
        if records is None:
            return [element for element, _ in below.visit(iter(positions), run)]
        return [unpack(record) for record in records[positions]]

    def _whole(self) -> Records | None:
        """What is kept, if it is there."""
        if self._records is None and os.path.exists(self.path):
            self._records = Records(self.path)
        return self._records

    def _make(
        self, below: Node, run: Run, position: int, *, alone: bool = False
    ) -> Iterator[tuple[Any, Origins]]:
        """The elements from below, kept on the way, unless another worker, thread or run is at that.

        Args:
            below: What makes them.
            run: The run through it.
            position: Where to begin to give them.
            alone: Make none if they are not kept.
        """
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        try:
            out = Writer(self.path, mode="w", compression="none")
        except FileExistsError:
            if not alone:
                steps = islice(below.steps(run, None), position, None)
                yield from ((step.element, step.origins) for step in steps)
            return
        with out:
            for number, step in enumerate(below.steps(run, None)):
                out.write(pack(step.element))
                if number >= position:
                    yield step.element, step.origins

    def words(self) -> str:
        return f"in {display(os.path.dirname(self.path))}"


def store_for(below: Node, directory: PathLike | None) -> Store:
    """A store for what a plan makes; the same file in a directory for the same plan."""
    if directory is None:
        return _Memory()
    stages = below.stages()
    functions = [fingerprint_of(stage.function) for stage in stages if stage.function is not None]
    plan = [signature(stages), functions, *below.data_versions()]
    name = hashlib.sha256(json.dumps(plan).encode()).hexdigest()[:16]
    return _Directory(os.path.join(os.fsdecode(directory), f"{name}.tfrecord"))


@dataclass(frozen=True, slots=True)
class Cache(UnaryNode):
    """The same elements in every epoch, made once."""

    store: Store = field(compare=False)
    keeps_elements = True
    verb = "cache()"
    reshuffles = False

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        below = run.in_epoch(0)
        return ((self.store.get(self.below, below, [position])[0], ()) for position in positions)

    def get(self, positions: Positions, epoch: int) -> list[Any]:  # noqa: ARG002
        return self.store.get(self.below, Run.alone(0), positions.tolist())

    def origins_at(self, position: int, epoch: int) -> Origins:  # noqa: ARG002
        return self.below.origins_at(position, 0)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        count = self.count_in(state)
        for element, origins in self.store.steps(self.below, run.in_epoch(0), count):
            count += 1
            yield Step(element, count, origins)

    def _move(self, state: Any, move: Move) -> Any:
        if not move.same_world:
            raise other_ranks_error(self.verb)
        return state

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), Stage(f"kept {self.store.words()}", ["cache"])]
