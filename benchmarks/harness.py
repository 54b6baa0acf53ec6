"""Rounds and statistics. Contestants come in; times, ratios and bars reached or missed go out.

Machines are noisy, so a time means little by itself. What counts is the ratio of two contestants that took
turns in one run: each round times all of them, the order rotates, and the ratio is the median of the
per-round ratios.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal

from limits import Limit

LEAST_ROUNDS = 7
_HEAT_ROUNDS = 3
_HEAT_MARGIN = 1.25


class UnequalError(Exception):
    """Two contestants did not get the same result, so their times cannot be compared."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One way to do a job.

    Attributes:
        name: As it stands in the tables.
        run: What is timed. It takes the course and returns an answer that must be the same for all entries.
        team: Entries of one team are routes of the same library to the same end; only its fastest count.
        proof: A stricter answer, too slow to be timed, such as a digest of everything read.
        prepare: Called before each run, untimed.
        clean: Called after each run, untimed.
        away: Where it runs if that is not here: seconds and answer of one run, timed there.
    """

    name: str
    run: Callable[[Any], Any]
    team: str = ""
    proof: Callable[[Any], Any] | None = None
    prepare: Callable[[Any], None] | None = None
    clean: Callable[[Any], None] | None = None
    away: Callable[[Any], tuple[float, Any]] | None = None


@dataclass(slots=True)
class Race:
    """The times of one interleaved run, in seconds, by entry and round."""

    name: str
    work: float
    unit: str
    times: dict[str, list[float]]
    heat: dict[str, list[float]]
    teams: dict[str, str]
    limit: Limit | None = None

    def share(self, name: str) -> float | None:
        """Which part of the machine's limit an entry reaches, at the median, in percent."""
        if self.limit is None:
            return None
        return 100 * self.limit.moved / statistics.median(self.times[name]) / self.limit.rate

    def best(self, team: str) -> str | None:
        """The entry of this name, or the fastest of the team; None if nobody of it ran."""
        if team in self.times:
            return team
        members = [name for name in self.times if self.teams[name] == team]
        return min(members, key=lambda name: statistics.median(self.times[name]), default=None)

    def ratios(self, slow: str, fast: str) -> list[float] | None:
        """How much longer `slow` took than `fast`, round by round."""
        upper, lower = self.best(slow), self.best(fast)
        if upper is None or lower is None:
            return None
        return [a / b for a, b in zip(self.times[upper], self.times[lower], strict=True)]

    def rate(self, name: str) -> float:
        """Work done in a second, at the median."""
        return self.work / statistics.median(self.times[name])


@dataclass(frozen=True, slots=True)
class Line:
    """One finding, with the bar it was to clear if there is one. A value of None was not measured."""

    text: str
    value: float | None
    unit: str = "×"
    limit: float | None = None
    at_most: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def verdict(self) -> str:
        """``reached``, ``missed``, ``not measured``, or nothing where there is no bar."""
        if self.value is None:
            return "not measured"
        if self.limit is None:
            return ""
        reached = self.value <= self.limit if self.at_most else self.value >= self.limit
        return "reached" if reached else "missed"


@dataclass(frozen=True, slots=True)
class Curve:
    """How a rate goes with something.

    Attributes:
        name: What is done.
        along: What grows.
        places: How large it is, point by point.
        unit: Of the rates.
        rates: By entry, the quartiles at each point, the slowest first.
    """

    name: str
    along: str
    places: list[int]
    unit: str
    rates: dict[str, list[tuple[float, float, float]]]


@dataclass(slots=True)
class Outcome:
    """All that a job found."""

    name: str
    title: str
    races: list[Race] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)


def hold_race(
    name: str,
    entries: list[Entry],
    course: Any,
    *,
    rounds: int,
    work: float,
    unit: str,
    sample: Any = None,
    truth: Any = None,
    heat_rounds: int = _HEAT_ROUNDS,
) -> Race:
    """Times all entries on a course, after they have proved that they get the same result.

    Args:
        name: Of the race.
        entries: The contestants. Teams of several first hold a heat.
        course: What each run is given.
        rounds: How often each is timed.
        work: How much one run does, for rates, in `unit`.
        unit: What `work` counts.
        sample: A shorter course for the heats, where slow routes would take minutes.
        truth: What every proof must give; by default what the first entry gives.
        heat_rounds: How often each is timed in a heat.
    """
    heat: dict[str, list[float]] = {}
    with settled_garbage():
        starters = _hold_heats(entries, course if sample is None else sample, heat, heat_rounds)
        _prove(starters, course, truth)
        times = _take_turns(starters, course, rounds)
    return Race(name, work, unit, times, heat, {entry.name: entry.team for entry in entries})


@contextmanager
def settled_garbage() -> Iterator[None]:
    """Keeps what is already alive, all of TensorFlow's modules included, out of every collection in a race.

    Else each collection walks a large heap, for a quarter of a second, and whoever triggers one pays for it.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _hold_heats(entries: list[Entry], course: Any, heat: dict[str, list[float]], rounds: int) -> list[Entry]:
    """Who goes on to the race: whoever is alone in its team, or comes close to the fastest of it."""
    starters = []
    for team in dict.fromkeys(entry.team or entry.name for entry in entries):
        members = [entry for entry in entries if (entry.team or entry.name) == team]
        if len(members) > 1:
            _prove(members, course, None)
            times = _take_turns(members, course, rounds)
            heat.update(times)
            fastest = min(map(min, times.values()))
            members = [entry for entry in members if min(times[entry.name]) <= _HEAT_MARGIN * fastest]
        starters += members
    return starters


def proved(entry: Entry, course: Any) -> Any:
    """The stricter answer of an entry, or the answer of a run if it has no other."""
    if entry.prepare is not None:
        entry.prepare(course)
    found = (entry.proof or entry.run)(course)
    if entry.clean is not None:
        entry.clean(course)
    return found


def _prove(entries: list[Entry], course: Any, truth: Any) -> None:
    for entry in entries:
        found = proved(entry, course)
        if truth is None:
            truth = found
        if found != truth:
            raise UnequalError(f"{entry.name} gives {found!r}, not {truth!r}")


def _take_turns(entries: list[Entry], course: Any, rounds: int) -> dict[str, list[float]]:
    answers = {entry.name: timed(entry, course)[1] for entry in entries}  # the warm-up
    if len(set(answers.values())) > 1:
        raise UnequalError(f"the answers differ: {answers}")
    times: dict[str, list[float]] = {entry.name: [] for entry in entries}
    for turn in range(rounds):
        first = turn % len(entries)
        for entry in entries[first:] + entries[:first]:
            seconds, answer = timed(entry, course)
            if answer != answers[entry.name]:
                raise UnequalError(f"{entry.name} gave {answers[entry.name]!r} first and {answer!r} later")
            times[entry.name].append(seconds)
    return times


def timed(entry: Entry, course: Any) -> tuple[float, Any]:
    """Seconds and answer of one run, by the clock of the process that it runs in."""
    if entry.away is not None:
        return entry.away(course)
    if entry.prepare is not None:
        entry.prepare(course)
    gc.collect()  # the garbage of the one before is not this one's to clear
    start = perf_counter()
    answer = entry.run(course)
    seconds = perf_counter() - start
    if entry.clean is not None:
        entry.clean(course)
    return seconds, answer


def compare(
    race: Race,
    slow: str,
    fast: str,
    text: str,
    *,
    limit: float | None = None,
    at_most: bool = False,
    unit: Literal["×", "%"] = "×",
) -> Line:
    """How many times as long `slow` took as `fast`.

    In the text, {slow} and {fast} become the names of the routes that ran. In percent it is the speed of
    `fast` as a share of that of `slow`, which then is the one that no reader or writer can beat.
    """
    text = text.format(slow=race.best(slow) or slow, fast=race.best(fast) or fast)
    ratios = race.ratios(slow, fast)
    if ratios is None:
        return Line(text, None, unit, limit, at_most)
    factor = 100 if unit == "%" else 1
    low, median, high = quartiles([factor * ratio for ratio in ratios])
    return Line(text, median, unit, limit, at_most, low, high)


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """The quartiles, the median in the middle."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high
