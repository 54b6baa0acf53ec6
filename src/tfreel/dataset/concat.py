"""Stages above several others: one after the other, mixed, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfreel.dataset.mix import Deal, InTurn, Mixture
from tfreel.dataset.node import Node, Run, Step, parts_of
from tfreel.dataset.order import Positions
from tfreel.dataset.plan import Stage
from tfreel.records.report import Fault


@dataclass(frozen=True, slots=True)
class _Combined(Node):
    """What all of them have in common."""

    parts: tuple[Node, ...]

    @property
    def lost_by(self) -> str | None:
        return next((part.lost_by for part in self.parts if part.lost_by), None)

    @property
    def shares(self) -> tuple[int, ...]:
        return tuple(count for part in self.parts for count in part.shares)

    def faults(self) -> Iterable[Fault]:
        return (fault for part in self.parts for fault in part.faults())

    def _inner(self) -> list[Stage]:
        """The stages of the parts, as those of each."""
        return [
            stage._replace(
                words=f"  {stage.words}",
                identity=None if stage.identity is None else [number, stage.identity],
            )
            for number, part in enumerate(self.parts)
            for stage in part.stages()
        ]


@dataclass(frozen=True, slots=True)
class Joined(_Combined):
    """One after the other."""

    @property
    def size(self) -> int | None:
        return InTurn(tuple(part.size for part in self.parts)).size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return _dealt(InTurn(tuple(part.size for part in self.parts)), self.parts, positions, epoch)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        first, below = parts_of(state, [0, None])
        for number, part in enumerate(self.parts[first:], first):
            for step in part.run(run, below):
                yield step._replace(state=[number, step.state])
            below = None

    def stages(self) -> list[Stage]:
        return [*self._inner(), join_stage(len(self.parts))]


def join_stage(count: int) -> Stage:
    """Concatenation, in words."""
    return Stage(f"{count} datasets, one after the other", ["concat", count])


@dataclass(frozen=True, slots=True)
class Mixed(_Combined):
    """Mixed in fixed shares, until the first one has nothing left."""

    deal: Mixture
    stage: Stage

    @property
    def size(self) -> int | None:
        return None if self.lost_by else self.deal.size

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return _dealt(self.deal, self.parts, positions, epoch)

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        position, states = parts_of(state, [0, [None] * len(self.parts)])
        states = list(parts_of(states, [None] * len(self.parts)))
        runs = [iter(part.run(run, below)) for part, below in zip(self.parts, states, strict=True)]
        for owner in self._owners(position, run.epoch):
            step = next(runs[owner], None)
            if step is None:
                return
            position += 1
            states[owner] = step.state
            yield step._replace(state=[position, states.copy()])

    def _owners(self, position: int, epoch: int) -> Iterator[int]:
        size = self.size
        while size is None or position < size:
            stop = position + 1024 if size is None else min(position + 1024, size)
            owners, _ = self.deal.at(np.arange(position, stop, dtype=np.uint64), epoch)
            yield from owners.tolist()
            position = stop

    def stages(self) -> list[Stage]:
        return [*self._inner(), self.stage]


@dataclass(frozen=True, slots=True)
class Zipped(_Combined):
    """Side by side, as tuples; as long as the shortest."""

    @property
    def size(self) -> int | None:
        sizes = [part.size for part in self.parts if part.size is not None]
        return min(sizes) if sizes and not self.lost_by else None

    def get(self, positions: Positions, epoch: int) -> list[Any]:
        return list(zip(*(part.get(positions, epoch) for part in self.parts), strict=True))

    def run(self, run: Run, state: Any) -> Iterator[Step]:
        states = parts_of(state, [None] * len(self.parts))
        runs = [part.run(run, below) for part, below in zip(self.parts, states, strict=True)]
        for steps in zip(*runs, strict=False):
            origins = tuple(origin for step in steps for origin in step.origins)
            yield Step(tuple(step.element for step in steps), [step.state for step in steps], origins)

    def stages(self) -> list[Stage]:
        return [*self._inner(), Stage(f"{len(self.parts)} datasets, side by side", ["zip", len(self.parts)])]


def _dealt(deal: Deal, parts: tuple[Node, ...], positions: Positions, epoch: int) -> list[Any]:
    owners, inner = deal.at(positions, epoch)
    nexts = {
        owner: iter(parts[owner].get(inner[owners == owner], epoch)) for owner in np.unique(owners).tolist()
    }
    return [next(nexts[owner]) for owner in owners.tolist()]
