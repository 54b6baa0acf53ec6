"""What is in the data: a sample at first, all of it when someone asks for that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tfreel.columns.flat import flat_values
from tfreel.errors import TfreelError
from tfreel.inference.features import Survey
from tfreel.inference.profile import FeatureProfile
from tfreel.inference.sample import Place
from tfreel.inference.text import gaps, kind_and_shape, seen
from tfreel.viewer.collection import Collection, RecordTooLargeError
from tfreel.viewer.distributions import Distributions, Rows
from tfreel.viewer.jobs import Job, state_of
from tfreel.viewer.roles import overlays_of, role_of
from tfreel.viewer.scans import columns_of, walk
from tfreel.viewer.shown import MOST_FEATURES, name_of
from tfreel.viewer.values import row_of

if TYPE_CHECKING:
    from tfreel.profile.statistics import FeatureStatistics, Statistics

_SAMPLE_RECORDS = 400
_SAMPLE_RUNS = 16  # neighbours are cheap to read, and often alike
_SAMPLE_BYTES = 48 << 20
_SAMPLE_SECONDS = 0.4


@dataclass(slots=True)
class Census:
    """What was found.

    Attributes:
        looked_at: How many records.
        unreadable: Those of them that are damaged, too large, or no Examples.
        profiles: Of each feature.
        lists: Of each feature list.
        distributions: Of each of them.
        conflicts: Where records disagree.
        complete: All records were looked at.
    """

    looked_at: int = 0
    unreadable: int = 0
    profiles: dict[str, FeatureProfile] = field(default_factory=dict)
    lists: dict[str, FeatureProfile] = field(default_factory=dict)
    distributions: dict[str, dict[str, Any]] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    complete: bool = False

    def features(self) -> list[dict[str, Any]]:
        """The features as the interface shows them."""
        both = [(False, profile) for profile in self.profiles.values()]
        both += [(True, profile) for profile in self.lists.values()]
        return [
            {
                "name": name_of(profile.name),
                "in_lists": in_lists,
                "kind": next(iter(profile.kinds), "none"),
                "shape": kind_and_shape(profile),
                "role": role_of(profile),
                "values": seen(profile),
                "gaps": gaps(profile),
                "absent": profile.absent,
                "distribution": self.distributions.get(profile.name),
            }
            for in_lists, profile in both[:MOST_FEATURES]
        ]

    def overlays(self) -> dict[str, Any]:
        """What can be drawn over what."""
        return overlays_of(self.profiles)


def sample(collection: Collection) -> Census:
    """Looks at some records from all over the data."""
    survey, rows, census = Survey(), Rows(), Census()
    deadline, nbytes = time.monotonic() + _SAMPLE_SECONDS, 0
    for position in _picks(collection):
        if census.looked_at and (time.monotonic() > deadline or nbytes > _SAMPLE_BYTES):
            break
        census.looked_at += 1
        try:
            record = collection.fetch(position)
        except (TfreelError, RecordTooLargeError, OSError):
            census.unreadable += 1
            continue
        nbytes += len(record)
        row = row_of(record)
        if row.data is not None:
            census.unreadable += 1
            continue
        place = collection.place(position)
        survey.note(row.features, row.lists, Place(collection.files[place.file].name, place.record))
        rows.keep(row.features, row.lists)
    found = survey.result([])
    census.profiles, census.lists = found.profiles, found.sequence_profiles
    census.conflicts = found.conflicts if found.records else []
    census.distributions = rows.distributions()
    census.complete = census.looked_at == len(collection)
    return census


def _picks(collection: Collection) -> Iterator[int]:
    """Runs of neighbours, spread over all; of compressed files only the beginning, which is near."""
    total = len(collection)
    if total <= _SAMPLE_RECORDS:
        yield from range(total)
        return
    if any(file.index.codec != "none" for file in collection.files):
        yield from range(_SAMPLE_RECORDS)
        return
    each = _SAMPLE_RECORDS // _SAMPLE_RUNS
    starts = np.linspace(0, total - each, _SAMPLE_RUNS).astype(np.int64).tolist()
    # A record of each run first: what the time is too short for shall be missing everywhere alike.
    yield from (start + step for step in range(each) for start in starts)


class Scan(Job):
    """Looks at all records: checks every byte, and counts every value."""

    def __init__(self, collection: Collection) -> None:
        super().__init__("scan")
        self._collection = collection
        self.statistics: Statistics | None = None

    def state(self) -> dict[str, Any]:
        """How far it is."""
        found = self.statistics
        unreadable = found.malformed if found else 0
        return {**state_of(self, len(self._collection)), "unreadable": unreadable}

    def work(self) -> None:
        """Reads everything, file by file, to know of each what is wrong with it."""
        from tfreel.profile.survey import stats  # here, for the first page is in a hurry

        total: Statistics | None = None
        for number, file in enumerate(self._collection.files):
            found = stats(file.path, on_corrupt="skip", progress=self._count)
            self._collection.learn(number, found.report)
            total = found if total is None else total.merge(found)
        self.statistics = total
        self.records = len(self._collection)

    def _count(self, records: int, nbytes: int) -> None:
        self.turn()
        self.progress(records, nbytes)

    def figures(self, name: str, *, in_lists: bool) -> FeatureStatistics | None:
        """What is known of a feature, when everything was read."""
        if self.statistics is None:
            return None
        return (self.statistics.lists if in_lists else self.statistics.features).get(name)


class Histogram(Job):
    """The distribution of one feature, over all records or those of a query."""

    def __init__(self, collection: Collection, known: Census, feature: str, chosen: Any, job_id: str) -> None:
        super().__init__(job_id)
        if feature not in known.profiles and feature not in known.lists:
            raise KeyError(feature)
        self._collection = collection
        self._columns = columns_of([feature], known.profiles, known.lists)
        self._feature = feature
        self._chosen = chosen
        self.distribution: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        """How far it is."""
        return {**state_of(self, len(self._collection)), "distribution": self.distribution}

    def work(self) -> None:
        """Looks at all records."""
        wanted = None if self._chosen is None else np.zeros(len(self._collection), np.bool_)
        if wanted is not None:
            wanted[self._chosen] = True
        distributions = Distributions()
        for part in walk(self._collection, self._columns, self, range(len(self._collection))):
            if part.batch is None:
                continue
            flat = flat_values(part.batch[self._feature])
            values: Any = flat.values
            if wanted is not None:
                marked = np.repeat(wanted[part.positions], np.diff(flat.offsets))
                values = (
                    [value for value, mark in zip(values, marked, strict=True) if mark]
                    if isinstance(values, list)
                    else values[marked]
                )
            distributions.add(self._feature, values)
        self.distribution = distributions.result().get(self._feature)
        self.records = len(self._collection)
