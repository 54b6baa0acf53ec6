"""Two parts of data, feature by feature: summaries in, distances out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from tfreel.features.kinds import DType
from tfreel.profile.distances import (
    Points,
    by_chance,
    divergence_of_counts,
    divergence_of_points,
    farthest,
    greatest_difference,
)
from tfreel.profile.rules import FeatureRules
from tfreel.profile.schema import Schema
from tfreel.profile.summaries import FeatureSummary, Summary, Values, number_of
from tfreel.storage.paths import display

What: TypeAlias = Literal["presence", "kinds", "count", "steps", "values", "contents"]
Measure: TypeAlias = Literal["difference", "l_infinity", "kolmogorov_smirnov", "jensen_shannon"]


@dataclass(frozen=True, slots=True)
class Drift:
    """How far one part is from another in one respect.

    Attributes:
        feature: The feature.
        in_lists: Whether that is a feature list.
        what: In which respect: ``"presence"``, ``"kinds"``, ``"count"`` (of values in a record), ``"steps"``,
            ``"values"`` or ``"contents"`` (of bytes).
        part: The part.
        against: What it is compared with.
        measure: How it is measured: ``"l_infinity"``, the greatest difference of the share of a value;
            ``"kolmogorov_smirnov"``, that of the shares of numbers up to any; ``"jensen_shannon"``; or
            ``"difference"``, of single shares.
        distance: From 0, the same, to 1.
        threshold: The most that is allowed.
        ok: Whether it is no more than that.
        found: Where the difference is greatest, in words.
    """

    feature: str
    in_lists: bool
    what: What
    part: str
    against: str
    measure: Measure
    distance: float
    threshold: float
    ok: bool
    found: str

    def __str__(self) -> str:
        noun = "feature list" if self.in_lists else "feature"
        apart = f"{self.part} is {self.distance:.3f} away from {self.against}"
        allowed = f"({self.measure}), {self.threshold:.3f} is allowed"
        return display(f"{noun} {self.feature!r}: {self.what}: {apart} {allowed}: {self.found}")

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


class Comparison:
    """Compares parts with one that is the measure.

    Args:
        base: The measure.
        name: What it is called.
        threshold: The greatest distance that is allowed.
        schema: May say so otherwise for some features.
    """

    def __init__(self, base: Summary, name: str, threshold: float, schema: Schema | None) -> None:
        self._base = base
        self._name = name
        self._threshold = threshold
        self._schema = schema

    def __call__(self, part: str, summary: Summary) -> Iterator[Drift]:
        """All differences of a part."""
        for name, in_lists in sorted({**self._base.features, **summary.features}):
            rules = None
            if self._schema is not None:
                rules = (self._schema.sequence_rules if in_lists else self._schema.rules).get(name)
            made = _Maker((name, in_lists), part, self._name, self._threshold, rules or FeatureRules())
            yield from self._feature(made, summary)

    def _feature(self, made: _Maker, summary: Summary) -> Iterator[Drift]:
        here = summary.features.get(made.key, FeatureSummary())
        there = self._base.features.get(made.key, FeatureSummary())
        made.chance = by_chance(summary.records, self._base.records)
        shares = here.present / max(1, summary.records), there.present / max(1, self._base.records)
        words = f"in {shares[0]:.1%} of records, against {shares[1]:.1%}"
        yield made("presence", "difference", abs(shares[0] - shares[1]), words)
        if not here.present or not there.present:
            return
        same = here.kinds == there.kinds
        words = f"{_kinds(here)}, against {_kinds(there)}"
        yield made("kinds", "difference", 0.0 if same else 1.0, words, most=0.0)
        made.chance = by_chance(here.present, there.present)
        yield from made.numbers("count", here.lengths, there.lengths)
        yield from made.numbers("steps", here.steps, there.steps)
        for kind in sorted(here.kinds & there.kinds):
            if kind in here.values and kind in there.values:
                yield from _values(made, here.values[kind], there.values[kind])


def _kinds(summary: FeatureSummary) -> str:
    return " and ".join(sorted(summary.kinds)) or "no kind"


def _values(made: _Maker, here: Values, there: Values) -> Iterator[Drift]:
    if here.counts is not None and there.counts is not None:
        yield made.shares("values", here.counts, there.counts, {**there.names, **here.names})
        divergence = divergence_of_counts(here.counts, there.counts)
    else:
        yield from made.numbers("values", here.points, there.points, here.kind)
        divergence = divergence_of_points(here.points, there.points)
    if made.rules.divergence is not None:
        most = made.rules.divergence
        yield made("values", "jensen_shannon", divergence, "over all values", most=most)
    if here.contents or there.contents:
        yield made.shares("contents", here.contents, there.contents, {})


class _Maker:
    """Makes differences of one feature."""

    def __init__(
        self, key: tuple[str, bool], part: str, against: str, threshold: float, rules: FeatureRules
    ) -> None:
        self.key = key
        self.rules = rules
        self.chance = 1.0
        self._part = part
        self._against = against
        self._threshold = threshold

    def __call__(
        self, what: What, measure: Measure, distance: float, found: str, *, most: float | None = None
    ) -> Drift:
        """The difference. Allowed is `most`, or what rules say, or the threshold and what chance adds."""
        if most is None and what == "values":
            most = self.rules.drift
        threshold = max(self._threshold, min(1.0, self.chance)) if most is None else most
        names = (*self.key, what, self._part, self._against, measure)
        return Drift(*names, distance, threshold, distance <= threshold, found)

    def shares(
        self, what: What, here: Mapping[Any, int], there: Mapping[Any, int], names: Mapping[Any, str]
    ) -> Drift:
        """The difference of the shares of values."""
        distance, value = greatest_difference(here, there)
        shares = [side.get(value, 0) / max(1, sum(side.values())) for side in (here, there)]
        name = names.get(value, value if isinstance(value, str) else "a value")
        return self(what, "l_infinity", distance, f"{name}: {shares[0]:.1%} against {shares[1]:.1%}")

    def numbers(
        self, what: What, here: Points | None, there: Points | None, kind: DType = "int64"
    ) -> Iterator[Drift]:
        """The difference of distributions of numbers; of bytes, of their sizes."""
        if here is None or there is None or not here.count or not there.count:
            return
        distance, at = farthest(here, there)
        key = np.array([at], np.uint64)
        shares = float(here.up_to(key)[0]), float(there.up_to(key)[0])
        number = f"{number_of(at, 'int64')} bytes" if kind == "bytes" else number_of(at, kind)
        words = f"{shares[0]:.1%} are at most {number}, against {shares[1]:.1%}"
        yield self(what, "kolmogorov_smirnov", distance, words)
