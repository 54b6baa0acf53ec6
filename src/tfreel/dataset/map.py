"""`map`: what a function makes of each element, here or in workers; and what comes where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, tee
from typing import Any

from tfreel.dataset.collate import row_count
from tfreel.dataset.functions import name_of
from tfreel.dataset.node import (
    Node,
    Origins,
    Reorder,
    Run,
    Step,
    UnaryNode,
    first_of,
    note_origins,
    origins_of_rows,
    reordered,
)
from tfreel.dataset.on_error import (
    ATTEMPTS,
    FailedRows,
    OnError,
    Survivors,
    places_of_rows,
    random_numbers,
    whole_failure,
)
from tfreel.dataset.order import other_ranks_error
from tfreel.dataset.plan import Stage
from tfreel.dataset.report import Skipped
from tfreel.dataset.state import Move, parts_of
from tfreel.dataset.workers import Pool, Task, pool
from tfreel.errors import blamed_row

_FATES = {"skip": "left out", "replace": "replaced"}


@dataclass(frozen=True, slots=True)
class Map(UnaryNode):
    """What a function makes of each element."""

    function: Callable[[Any], Any]
    workers: int = 0
    processes: bool = False
    ordered: bool = True
    on_error: OnError = "raise"
    pool: Node | None = field(default=None, compare=False)  # of what others are drawn for those that fail

    shards_below = True

    @property
    def passes_order(self) -> bool:
        return self.on_error != "replace"  # of which each round of a repetition is to be an epoch

    def push_order(self, reorder: Reorder, stage: Stage, *, still: bool) -> Node | None:
        if self.passes_order:
            return None
        # What takes the place of an element goes by its records: it comes with them into any order.
        return replace(self, below=reordered(self.below, reorder, stage, still=still))

    def at_rank(self, index: int, count: int) -> Node:
        pool = self.pool and self.pool.at_rank(index, count)
        return replace(self, below=self.below.at_rank(index, count), pool=pool)

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

    def visit(self, positions: Iterator[int], run: Run) -> Iterator[tuple[Any, Origins]]:
        places, positions = tee(positions)
        elements = self.below.visit(positions, run)
        for place, (element, origins) in zip(places, elements, strict=True):
            step = Step(element, place + 1, origins)
            for made in self._finish(run, Task(step, partial(self.function, element))):
                yield made.element, made.origins

    def row_sources(self, position: int, run: Run) -> list[Any]:
        if self._is_row_wise:
            return self.below.row_sources(position, run)
        return super(Map, self).row_sources(position, run)

    def batch_of(self, sources: Sequence[Any]) -> Any:
        batch = self.below.batch_of(sources) if self._is_row_wise else super(Map, self).batch_of(sources)
        return self.function(batch) if self._is_row_wise else batch

    @property
    def _is_row_wise(self) -> bool:
        """Whether a row of a batch that it gives is made of that row of the batch below, and no other."""
        return self.on_error == "raise" and bool(getattr(self.function, "keeps_rows", False))

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
        """The step that a task leads to, or none if it failed and nothing is left."""
        step: Step = task.tag
        try:
            outcome = task.result()
        except Exception as error:
            if self.on_error == "raise" or isinstance(error, BrokenExecutor):
                step = self._with_origins(run, step)
                note_origins(error, self._name, self._culprits(blamed_row(error), step))
                raise
            outcome = whole_failure(self.on_error, step.element, error, batched=self.batched)
        if isinstance(outcome, Survivors):
            yield from self._left(run, self._with_origins(run, step), outcome)
        elif isinstance(outcome, FailedRows):
            yield self._replaced(run, self._with_origins(run, step), outcome)
        else:
            yield step._replace(element=outcome)

    def _left(self, run: Run, step: Step, survivors: Survivors) -> Iterator[Step]:
        """The step to what is left of a batch, if there is anything."""
        for row, error in survivors.failures.items():
            self._report(run, step, row, error)
        if survivors.rows:
            origins = origins_of_rows(
                step.origins, survivors.rows, len(survivors.rows) + len(survivors.failures)
            )
            yield step._replace(element=survivors.batch, origins=origins)

    def _replaced(self, run: Run, step: Step, failed: FailedRows) -> Step:
        """The step to an element of which some rows are others, or all of it, if it is no batch."""
        if failed.error is not None:
            failed.error.add_note(
                "it fails on the batch, but on none of its rows alone: none can be replaced"
            )
            note_origins(failed.error, self._name, step.origins)
            raise failed.error
        position, alone = _position(step), Run.alone(run.epoch)
        sources = self.below.row_sources(position, alone) if self.batched else [step.element]
        rows = [origins_of_rows(step.origins, [row], len(sources)) for row in range(len(sources))]
        places = places_of_rows(self.below.origins_at(position, run.epoch), len(sources))
        are_known = not any(each is step.origins for each in rows)
        made = None
        for row, error in failed.failures.items():
            sources[row], rows[row], made = self._substitute(alone, step, row, error, places[row])
        origins = tuple(chain.from_iterable(rows)) if are_known or not self.batched else step.origins
        if self.batched:
            made = self._repaired(sources, step.element, origins)
        for row, error in failed.failures.items():
            self._report(run, step, row, error)
        return step._replace(element=made, origins=origins)

    def _repaired(self, sources: Sequence[Any], like: Any, origins: Origins) -> Any:
        try:
            return self._made_of(sources, like)
        except Exception as error:
            error.add_note("the batch has other rows in place of those that failed")
            note_origins(error, self._name, origins)
            raise

    def _substitute(
        self, run: Run, step: Step, row: int, error: Exception, place: Any
    ) -> tuple[Any, Origins, Any]:
        """What takes the place of a row, or of an element: its source, its records, and what it becomes."""
        pool = self.pool or self.below
        for number in random_numbers([*pool.stages(), self._stage], run.epoch, place):
            source, origins = pool.draw_source(number, run)
            with suppress(Exception):
                return source, origins, self._made_of([source], step.element)
        error.add_note(f"{ATTEMPTS} others were drawn in its place, and the function failed on all of them")
        note_origins(error, self._name, self._culprits(row, step))
        raise error

    def _made_of(self, sources: Sequence[Any], like: Any) -> Any:
        """What the function makes of such rows; a batch of them is as that one, a dict or a `Batch`."""
        if not self.batched:
            return self.function(sources[0])
        batch = self.below.batch_of(sources)
        outcome = self.function(dict(batch.items()) if type(like) is dict else batch)
        if not isinstance(outcome, FailedRows):
            return outcome
        raise outcome.error or next(iter(outcome.failures.values()))

    def _with_origins(self, run: Run, step: Step) -> Step:
        """The step with the records of its element: a cache knows where it stood, and not what it was."""
        if step.origins or self.below.unindexable_reason is not None:
            return step
        return step._replace(origins=self.below.origins_at(_position(step), run.epoch))

    def _report(self, run: Run, step: Step, row: int, error: Exception) -> None:
        origins = self._culprits(row, step)
        example = Skipped(name_of(self.function), error, *(origins[0].first() if origins else ()))
        run.report.failed(example, replaced=self.on_error == "replace")

    def _ends_even(self, state: Any) -> bool:
        return not self._unordered and super(Map, self)._ends_even(state)

    def _move(self, state: Any, move: Move) -> Any:
        if self.drops_elements or self._unordered:
            raise other_ranks_error(self.unindexable_reason or self.verb)
        return self.below.moved(state, move)

    def _culprits(self, row: int | None, step: Step) -> Origins:
        """The records that made an error: one of them, if it came from one row of a batch."""
        if row is None or not self.batched or not self.below.keeps_rows:
            return step.origins
        return origins_of_rows(step.origins, [row], row_count(step.element))

    @property
    def _name(self) -> str:
        return f"map({name_of(self.function)})"

    @property
    def _stage(self) -> Stage:
        name = name_of(self.function)
        if self.on_error == "raise":
            return Stage(f"each through {name}", ["map", name], self.function)
        words = f"each through {name}, those that fail {_FATES[self.on_error]}"
        return Stage(words, ["map", name, self.on_error], self.function)

    def stages(self) -> list[Stage]:
        return [*self.below.stages(), self._stage]


def _position(step: Step) -> int:
    """Where the element of a step stands in a stage with positions, whose states are counts."""
    return int(step.state) - 1
