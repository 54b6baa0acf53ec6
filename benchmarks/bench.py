"""What every job is given: the data, the size of the run, and a way to hold races of that size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from data import Data, Shape
from harness import Entry, Race, hold_race
from limits import Limit, measure


@cache
def opened(plan: Callable[[Shape], Any], shape: Shape) -> Any:
    """A dataset made once, for all rounds: what that takes is not part of an epoch."""
    return plan(shape)


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of the benchmarks."""

    data: Data
    scale: float
    rounds: int
    check: bool

    def amount(self, full: int, least: int) -> int:
        """How much of something to do at this scale."""
        return max(least, int(full * self.scale))

    def at_least(self, rounds: int) -> int:
        """More rounds where they are cheap; a check of the harness stays quick."""
        return self.rounds if self.check else max(self.rounds, rounds)

    def race(
        self,
        name: str,
        entries: list[Entry],
        course: Any,
        *,
        rounds: int | None = None,
        limit: tuple[str, float] | None = None,
        **options: Any,
    ) -> Race:
        """As `hold_race`, with a limit of this machine: its name, and how much of it one run has to move."""
        before = self._rate(limit)
        if self.check:
            options["heat_rounds"] = 1
        race = hold_race(name, entries, course, rounds=rounds or self.rounds, **options)
        if limit is not None:
            race.limit = Limit(limit[0], max(before, self._rate(limit)), limit[1])
        return race

    def _rate(self, limit: tuple[str, float] | None) -> float:
        return 0 if limit is None else measure(limit[0], self.data.folder, quick=self.check)
