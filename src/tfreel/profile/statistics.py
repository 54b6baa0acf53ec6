"""What `tfreel.profile.stats` returns: statistics of some files, which merge, and become JSON and pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tfreel.features.kinds import DType
from tfreel.profile.figures import Bytes, Histogram, Numbers, bytes_of, floats_of, ints_of
from tfreel.profile.plain import as_plain
from tfreel.profile.scan import Scan
from tfreel.records.report import Report

# What the records of a group share; None where they have no value, or several.
GroupValue: TypeAlias = int | bytes | None

_FRAME_BYTES = 16  # of each record: a length, and two checksums
_KINDS: tuple[DType | None, ...] = (None, "bytes", "float32", "int64")  # as the core counts them


@dataclass(frozen=True, slots=True)
class FeatureStatistics:
    """What is known of one feature.

    Attributes:
        name: Of the feature.
        records: How many records were looked at.
        present: Those of them that have it.
        empty: Lists without a value. In the feature lists of a SequenceExample every step has a list, in all
            other features every record.
        kinds: How many lists are of each kind, the most frequent first. An empty one may be of none.
        bytes: What it takes in the records, its name included.
        share: Of the bytes of all records.
        lengths: How many values lists have.
        steps: How many steps a record has; None but for feature lists.
        int64: Whole numbers; None if there are none.
        float32: Floats.
        strings: Bytes values.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"age": 7}, {"age": 3}, {}])
        >>> age = tfreel.profile.stats("cats.tfrecord").features["age"]
        >>> age.present, age.absent, age.min, age.max, age.mean
        (2, 1, 3, 7, 5.0)
    """

    name: str
    records: int
    present: int
    empty: int
    kinds: Mapping[DType, int]
    bytes: int
    share: float
    lengths: Numbers
    steps: Numbers | None
    int64: Numbers | None
    float32: Numbers | None
    strings: Bytes | None

    @property
    def absent(self) -> int:
        """Records without it."""
        return self.records - self.present

    @property
    def numbers(self) -> Numbers | None:
        """Its numbers; of two kinds, those of which there are more."""
        both = [numbers for numbers in (self.int64, self.float32) if numbers is not None]
        return max(both, key=lambda numbers: numbers.count, default=None)

    @property
    def min(self) -> float | None:
        """The least of its numbers."""
        return None if self.numbers is None else self.numbers.min

    @property
    def max(self) -> float | None:
        """The greatest of its numbers."""
        return None if self.numbers is None else self.numbers.max

    @property
    def mean(self) -> float | None:
        """The mean of its numbers."""
        return None if self.numbers is None else self.numbers.mean

    @property
    def std(self) -> float | None:
        """The standard deviation of its numbers."""
        return None if self.numbers is None else self.numbers.std

    @property
    def distinct(self) -> int:
        """How many different values it has, of all kinds."""
        parts = (self.int64, self.float32, self.strings)
        return sum(part.distinct for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of some records: of all, or of a group.

    The counts fit together. Of every feature, the records that have it and those that lack it are all
    records; the bytes of all features and ``other_bytes`` are all bytes; the records of all groups are all
    records.

    Attributes:
        records: How many records were looked at.
        bytes: Of these records with their frames, uncompressed.
        features: By name.
        lists: The feature lists of SequenceExamples, by name.
        by: The feature whose values make the groups; None without groups.
        groups: The same for each group, by that value; None is the one of records without a value, or with
            several.
        malformed: Sound records that are no Examples, passed over with ``on_corrupt="skip"``.
        report: Files and faults: what was skipped, and why.

    Example:
        >>> tfreel.save("a.tfrecord", [{"label": 0}, {"label": 1}])
        >>> tfreel.save("b.tfrecord", [{"label": 5}])
        >>> a, b = (tfreel.profile.stats(name) for name in ("a.tfrecord", "b.tfrecord"))
        >>> both = a.merge(b)
        >>> both.records, both.features["label"].mean
        (3, 2.0)
    """

    records: int
    bytes: int
    features: Mapping[str, FeatureStatistics]
    lists: Mapping[str, FeatureStatistics]
    by: str | None = None
    groups: Mapping[GroupValue, Statistics] = field(default_factory=dict)
    malformed: int = 0
    report: Report = field(default_factory=Report)
    _scan: Scan | None = field(default=None, repr=False, compare=False)

    @property
    def other_bytes(self) -> int:
        """What no feature takes: frames, unknown fields, and features that were not looked at."""
        return self.bytes - sum(feature.bytes for feature in self.all_features())

    def all_features(self) -> Iterable[FeatureStatistics]:
        """Features and feature lists."""
        return [*self.features.values(), *self.lists.values()]

    def merge(self, *others: Statistics) -> Statistics:
        """The statistics of these and other records together, as if they had been read one after the other.

        Raises:
            ValueError: They were not made with the same columns and groups, or are those of a group.
            FeatureError: Together there are too many features or groups.
        """
        parts = [part._scan for part in (self, *others)]
        scans = [scan for scan in parts if scan is not None]
        if len(scans) != len(parts) or len({(scan.by, scan.columns) for scan in scans}) > 1:
            raise ValueError("to merge statistics, make them of all records, with the same columns and by")
        total = Scan(columns=scans[0].columns, by=scans[0].by)
        for scan in scans:
            total.merge(scan)
        return statistics_of(total)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; its keys are in docs/stats.md."""
        return as_plain(self)

    def to_json(self) -> str:
        """All of it as a JSON object."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        return text.encode("utf-8", "backslashreplace").decode()

    def to_html(self) -> str:
        """All of it as one page of HTML that needs nothing else: no script, no address outside."""
        from tfreel.profile.page import page

        return page(self)

    def _repr_html_(self) -> str:
        from tfreel.profile.page import fragment

        return fragment(self)


def statistics_of(scan: Scan) -> Statistics:
    """What a scan found."""
    groups = {}
    if scan.by is not None:
        groups = {value: _made(scan, *found) for value, found in scan.sketches.groups() if found[0]}
    return _made(
        scan,
        *scan.sketches.total(),
        by=scan.by,
        groups=groups,
        malformed=scan.malformed,
        report=scan.report,
        _scan=scan,
    )


def _made(scan: Scan, records: int, payload: int, found: list[dict[str, Any]], **more: Any) -> Statistics:
    size = payload + _FRAME_BYTES * records
    features: dict[str, FeatureStatistics] = {}
    lists: dict[str, FeatureStatistics] = {}
    for each in sorted(found, key=lambda each: str(each["name"])):
        if scan.columns is None or each["name"] in scan.columns:
            (lists if each["in_lists"] else features)[each["name"]] = _feature(each, records, size)
    for name in scan.columns or ():
        if name not in features and name not in lists:
            features[name] = _nowhere(name, records)
    return Statistics(records, size, features, lists, **more)


def _feature(found: dict[str, Any], records: int, size: int) -> FeatureStatistics:
    counted = zip(_KINDS, found["kinds"], strict=True)
    kinds = sorted(((kind, n) for kind, n in counted if kind and n), key=lambda pair: -pair[1])
    ints, floats, strings = found["ints"], found["floats"], found["strings"]
    return FeatureStatistics(
        name=found["name"],
        records=records,
        present=found["present"],
        empty=found["empty"],
        kinds=dict(kinds),
        bytes=found["bytes"],
        share=found["bytes"] / size,
        lengths=ints_of(found["lengths"]),
        steps=ints_of(found["steps"]) if found["in_lists"] else None,
        int64=ints_of(ints) if ints else None,
        float32=floats_of(floats) if floats else None,
        strings=bytes_of(strings) if strings else None,
    )


def _nowhere(name: str, records: int) -> FeatureStatistics:
    """A feature that was asked for, and that no record has."""
    nothing = Numbers(
        0, None, None, None, None, 0, 0, 0, 0, {}, 0.0, Histogram((), ()), 0, distinct_exact=True
    )
    return FeatureStatistics(name, records, 0, 0, {}, 0, 0.0, nothing, None, None, None, None)
