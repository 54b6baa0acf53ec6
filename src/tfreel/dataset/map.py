"""Stages that call a function on each element, here or in workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

from tfreel.columns.batch import Batch
from tfreel.dataset.collate import gather, rows_of
from tfreel.dataset.functions import name_of
from tfreel.dataset.node import (
    Origins,
    Run,
    Step,
    UnaryNode,
    first_of,
    note_origins,
    origins_of_rows,
    portable,
)
from tfreel.dataset.order import other_ranks_error
from tfreel.dataset.plan import Stage
from tfreel.dataset.state import Move, parts_of
from tfreel.dataset.workers import Pool, Task, pool
from tfreel.errors import blame_row, blamed_row

OnError: TypeAlias = Literal["raise", "skip"]


@dataclass(frozen=True, slots=True)
class RowByRow:
    """A function of rows as a function of batches.

    Attributes:
        func: The function, called as in a `partial`.
        on_error: Whether a row on which it fails is left out: then it gives `Survivors`.
    """

    func: Callable[[Any], Any]
    on_error: OnError = "raise"
    keeps_rows: ClassVar[bool] = True

    def __call__(self, batch: Any) -> Any:
        rows = rows_of(batch)
        if self.on_error == "raise":
            return gather([self._row(i, row) for i, row in enumerate(rows)])
        made: dict[int, Any] = {}
        failures: dict[int, Exception] = {}
        for i, row in enumerate(rows):
            try:
                made[i] = self.func(row)
            except Exception as error:  # noqa: BLE001 - told in the report of the run
                failures[i] = error
        return Survivors(gather([*made.values()]) if made else None, [*made], failures)

    def _row(self, number: int, row: Any) -> Any:
        try:
            return self.func(row)
        except Exception as error:
            blame_row(error, number)
            raise


@dataclass(frozen=True, slots=True)
class Survivors:
    """What is left of a batch, of which a function failed on some rows.

    Attributes:
        batch: The others; None if there are none.
        rows: Which rows of the batch these are.
        failures: What the function raised, by rows.
    """

    batch: Any
    rows: Sequence[int]
    failures: Mapping[int, Exception]

    def __reduce__(self) -> tuple[Any, ...]:
        failures = {row: portable(error) for row, error in self.failures.items()}
        return Survivors, (self.batch, self.rows, failures)


@dataclass(frozen=True, slots=True)
class Map(UnaryNode):
    """What a function makes of each element."""

    function: Callable[[Any], Any]
    workers: int = 0
    processes: bool = False
    ordered: bool = True
    on_error: OnError = "raise"

    passes_order = True
    shards_below = True

    @property
    def size(self) -> int | None:
        return None if self.drops_elements else self.below.size

    @property
    def drops_elements(self) -> bool:
        return self.on_error == "skip"

    @property
    def keeps_count(self) -> bool:
        return not self.drops_elements

    @property
    def unindexable_reason(self) -> str | None:
        mine = f"map({name_of(self.function)}, ordered=False)" if self._unordered else None
        if self.drops_elements:
            mine = f"map({name_of(self.function)}, on_error='skip')"
        return self.below.unindexable_reason or mine

    @property
    def _unordered(self) -> bool:
        return bool(self.workers) and not self.ordered

    @property
    def keeps_rows(self) -> bool:
        return self.below.keeps_rows and bool(getattr(self.function, "keeps_rows", False))

    @property
    def verb(self) -> str:
        return self._name

    def visit(self, positions: Iterator[int], epoch: int) -> Iterator[tuple[Any, Origins]]:
        for element, origins in self.below.visit(positions, epoch):
            try:
                made = self.function(element)
            except Exception as error:
                note_origins(error, self._name, self._culprits(blamed_row(error), element, origins))
                raise
            yield made, origins

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        if self._unordered:
            return self._as_they_come(run, state)
        return self._in_order(run, state)

    def _in_order(self, run: Run, state: Any) -> Iterator[Step]:
        steps = self.below.steps(run, state)
        if not self.workers or not run.ahead:
            for step in steps:
                yield from self._finish(run, Task(step, partial(self.function, step.element)))
            return
        with self._pool() as workers:
            calls = ((step, step.element) for step in steps)
            for task in workers.in_order(calls):
                yield from self._finish(run, task)

    def _as_they_come(self, run: Run, state: Any) -> Iterator[Step]:
        """Its state has the one below, and those that stood before the elements still on their way."""
        waiting, last = parts_of(state, [[], None])

        def calls() -> Iterator[tuple[tuple[Step, Any], Any]]:
            nonlocal last
            for before in waiting:
                step = first_of(self.below.steps(run.for_one(), before))
                yield (step, before), step.element
            for step in self.below.steps(run, last):
                before, last = last, step.state
                yield (step, before), step.element

        with self._pool() as workers:
            for task, others in workers.as_they_come(calls()):
                step, _ = task.tag
                for done in self._finish(run, Task(step, task.result)):
                    yield done._replace(state=[[before for _, before in others], last])

    def _pool(self) -> AbstractContextManager[Pool]:
        return pool(self.function, self.workers, processes=self.processes)

    def _finish(self, run: Run, task: Task) -> Iterator[Step]:
        """The step that a task leads to, or none if it failed and that is all right."""
        step: Step = task.tag
        try:
            element = task.result()
        except Exception as error:
            origins = self._culprits(blamed_row(error), step.element, step.origins)
            if self.on_error == "raise":
                note_origins(error, self._name, origins)
                raise
            run.report.skip(name_of(self.function), error, origins)
        else:
            if isinstance(element, Survivors):
                yield from self._left(run, step, element)
            else:
                yield step._replace(element=element)

    def _left(self, run: Run, step: Step, survivors: Survivors) -> Iterator[Step]:
        """The step to what is left of a batch, if there is anything."""
        for row, error in survivors.failures.items():
            origins = self._culprits(row, step.element, step.origins)
            run.report.skip(name_of(self.function), error, origins)
        if survivors.rows:
            origins = origins_of_rows(
                step.origins, survivors.rows, len(survivors.rows) + len(survivors.failures)
            )
            yield step._replace(element=survivors.batch, origins=origins)

    def _ends_even(self, state: Any) -> bool:
        return not self._unordered and super(Map, self)._ends_even(state)

    def _move(self, state: Any, move: Move) -> Any:
        if self.drops_elements or self._unordered:
            raise other_ranks_error(self.unindexable_reason or self.verb)
        return self.below.moved(state, move)

    def _culprits(self, row: int | None, element: Any, origins: Origins) -> Origins:
        """The records that made an error: one of them, if it came from one row of a batch."""
        if row is None or not isinstance(element, Batch) or not self.below.keeps_rows:
            return origins
        return origins_of_rows(origins, [row], element.num_rows)

    @property
    def _name(self) -> str:
        return f"map({name_of(self.function)})"

    def stages(self) -> list[Stage]:
        name = name_of(self.function)
        return [*self.below.stages(), Stage(f"each through {name}", ["map", name], self.function)]
