"""`tfreel.profile.drift`: parts of data in, where they differ more than they should out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfreel.profile.comparing import Comparison, Drift
from tfreel.profile.schema import Schema
from tfreel.profile.summaries import Summary, summary_of
from tfreel.profile.survey import stats
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.storage.names import Paths

ALL_TOGETHER = "all together"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What `drift` finds.

    Attributes:
        parts: How many records each part has.
        differences: All that was compared, the greatest distance first.
    """

    parts: Mapping[str, int]
    differences: tuple[Drift, ...]

    @property
    def problems(self) -> tuple[Drift, ...]:
        """The differences that are too great."""
        return tuple(one for one in self.differences if not one.ok)

    @property
    def ok(self) -> bool:
        """Whether there are none of these."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "ok": self.ok,
            "parts": dict(self.parts),
            "differences": [one.to_dict() for one in self.differences],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems)) or "no drift"


def drift(
    parts: Mapping[str, Paths],
    *,
    against: str | None = None,
    threshold: float = 0.1,
    schema: Schema | None = None,
    on_corrupt: OnCorrupt = "raise",
    threads: int | None = None,
    progress: Progress | None = None,
) -> DriftReport:
    """Whether parts of data are alike: the splits of a data set, its shards, an older version of it.

    Of every feature are compared: the share of records that have it, its kinds, how many values it has, and
    how these are distributed. All records are read, once; memory does not grow with their number.

    Args:
        parts: Files as in `tfreel.read`, by a name for each part.
        against: The part that all others are compared with. Without one, each is compared with all parts
            together.
        threshold: The greatest distance that is allowed, from 0 to 1. A distance that chance alone can
            explain, because there are few records, is allowed too.
        schema: Its rules ``drift`` and ``divergence`` say for a feature what is allowed, chance or no chance.
        on_corrupt: As in `tfreel.read`.
        threads: How many to use; all processors by default.
        progress: As in `tfreel.profile.stats`.

    Example:
        >>> tfreel.save("train.tfrecord", [{"label": i % 2} for i in range(1000)])
        >>> tfreel.save("test.tfrecord", [{"label": int(i % 10 == 0)} for i in range(1000)])
        >>> parts = {"train": "train.tfrecord", "test": "test.tfrecord"}
        >>> (problem,) = tfreel.profile.drift(parts, against="train").problems
        >>> problem.feature, problem.what, problem.distance, problem.found
        ('label', 'values', 0.4, '0: 90.0% against 50.0%')
    """
    if not isinstance(parts, Mapping):
        raise TypeError(
            f'parts must be paths by name, such as {{"train": …, "test": …}}, not {type(parts).__name__}'
        )
    if against is not None and against not in parts:
        raise ValueError(f"there is no part {against!r}; there are {', '.join(map(repr, parts))}")
    if len(parts) < 2:
        raise ValueError("to compare parts, there must be two of them")
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be from 0 to 1, not {threshold}")
    summaries: dict[str, Summary] = {}
    total = None
    for name, paths in parts.items():
        found = stats(paths, on_corrupt=on_corrupt, threads=threads, progress=progress)
        summaries[name] = summary_of(found)
        if against is None:
            total = found if total is None else total.merge(found)
    base = summary_of(total) if total is not None else summaries[against or ""]
    compare = Comparison(base, against or ALL_TOGETHER, threshold, schema)
    differences = [
        difference
        for name, summary in summaries.items()
        if name != against
        for difference in compare(name, summary)
    ]
    differences.sort(key=lambda one: (one.ok, -one.distance))
    return DriftReport({name: one.records for name, one in summaries.items()}, tuple(differences))
