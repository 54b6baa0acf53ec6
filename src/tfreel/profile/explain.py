"""`tfreel.profile.explain`: records and the features they are to be parsed with in, what is wrong out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from tfreel import _core
from tfreel.columns.plan import Plan
from tfreel.features.described import to_json
from tfreel.features.kinds import Feature, RaggedFeature
from tfreel.inference.profile import FeatureProfile
from tfreel.inference.text import gaps, kind_and_shape
from tfreel.profile.asked import Asked, Where, asked_features
from tfreel.profile.chunks import Chunks
from tfreel.profile.explain_text import fixed_code, plain_text, sentence
from tfreel.profile.fixes import Fix, fixed, nearest
from tfreel.profile.misfits import Check
from tfreel.profile.outlines import Survey, outlines_of
from tfreel.records.parts import Progress
from tfreel.records.read import OnCorrupt
from tfreel.records.report import Fault
from tfreel.storage.names import Paths


@dataclass(frozen=True, slots=True)
class FeatureExplanation:
    """Whether one feature can be parsed.

    Attributes:
        name: By which it is asked for.
        where: ``"example"``, or for SequenceExamples ``"context"`` or ``"lists"``.
        asked: What is asked for, as code.
        ok: Whether every record that was looked at can be parsed with it.
        problems: What is wrong, each as a sentence with a record to look at.
        found: What the records hold under that name, in a few words.
        meant: The name that may be meant instead, if no record has this one.
        fixed_name: The name to ask by.
        fixed: What to ask for; None if nothing would do.
        note: What is different about that.
    """

    name: str
    where: Where
    asked: str
    ok: bool
    problems: tuple[str, ...]
    found: str
    meant: str | None
    fixed_name: str
    fixed: Feature | None
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return {
            "name": self.name,
            "where": self.where,
            "asked": self.asked,
            "ok": self.ok,
            "problems": list(self.problems),
            "found": self.found,
            "meant": self.meant,
            "fixed_name": self.fixed_name,
            "fixed": None if self.fixed is None else to_json(self.fixed),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `explain` finds.

    Attributes:
        ok: Whether every record that was looked at can be parsed.
        records: How many were looked at.
        files: The files they are from.
        everything: Whether that were all records of all files.
        features: Each feature that is asked for.
        unused: What else the records hold: names and a few words about each.
        problems: What is wrong with records as a whole.
        faults: Damage that was passed over.

    Example:
        >>> tfreel.save("cats.tfrecord", [{"label": 7, "name": "cat"}, {"label": 3, "name": "kitten"}])
        >>> features = {"label": tfreel.FixedLenFeature([], "float32")}
        >>> print(tfreel.profile.explain("cats.tfrecord", features))
        label: FixedLenFeature([], "float32") will not parse
            is int64 in all records, not float32; the first is cats.tfrecord: record 0
        not asked for: 'name' (bytes)
        looked at 2 records of 1 file, all there are
    """

    ok: bool
    records: int
    files: list[str]
    everything: bool
    features: list[FeatureExplanation]
    unused: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def fixed(self) -> dict[str, Feature]:
        """Features that every record that was looked at can be parsed with; those of the context."""
        return self._fixed(("example", "context"))

    @property
    def fixed_sequence_features(self) -> dict[str, Feature]:
        """The same for feature lists."""
        return self._fixed(("lists",))

    def _fixed(self, where: tuple[Where, ...]) -> dict[str, Feature]:
        return {
            each.fixed_name: each.fixed
            for each in self.features
            if each.where in where and each.fixed is not None
        }

    def to_python(self) -> str:
        """The features that do parse, as code for tfreel."""
        return fixed_code(self, tensorflow=False)

    def to_tensorflow(self) -> str:
        """The features that do parse, as code for TensorFlow."""
        return fixed_code(self, tensorflow=True)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "ok": self.ok,
            "records": self.records,
            "files": self.files,
            "everything": self.everything,
            "problems": list(self.problems),
            "features": [feature.to_dict() for feature in self.features],
            "unused": self.unused,
            "python": self.to_python(),
            "tensorflow": self.to_tensorflow(),
            "faults": [fault.to_dict() for fault in self.faults],
        }

    def __str__(self) -> str:
        return plain_text(self)


def explain(
    paths: Paths,
    features: Mapping[str, Any],
    sequence_features: Mapping[str, Any] | None = None,
    *,
    sample: int | None = 1000,
    on_corrupt: OnCorrupt = "raise",
    progress: Progress | None = None,
) -> Explanation:
    """Whether records can be parsed with these features; if not, why not, and what to ask for instead.

    Values are looked at only where they decide: those of partitions and sparse features.

    Args:
        paths: As in `tfreel.read`.
        features: What is to be parsed, by name: features of tfreel, of `tfreel.tf` or of TensorFlow itself.
        sequence_features: Those of feature lists; if given, the records are SequenceExamples, and `features`
            are those of their context.
        sample: How many records to look at, as in `tfreel.infer_features`. ``None``: all of them.
        on_corrupt: As in `tfreel.read`.
        progress: Called with the number of records and bytes looked at since the last call.

    Example:
        >>> rows = [{"image/label": 7, "box": [0.1, 0.2]}, {"image/label": 3, "box": [0.3]}]
        >>> tfreel.save("cats.tfrecord", rows)
        >>> features = {
        ...     "label": tfreel.FixedLenFeature([], "int64"),
        ...     "box": tfreel.FixedLenFeature([2], "float32"),
        ... }
        >>> found = tfreel.profile.explain("cats.tfrecord", features)
        >>> found.ok, found.features[0].meant
        (False, 'image/label')
        >>> found.features[1].problems[0]
        'has 1 value in 1 of 2 records, not 2; the first is cats.tfrecord: record 1'
        >>> print(found.to_python())
        features = {
            "image/label": tfreel.FixedLenFeature([], "int64"),  # was 'label'
            "box": tfreel.RaggedFeature("float32"),  # was FixedLenFeature([2], "float32")
        }
    """
    sequences = sequence_features is not None
    asked = asked_features(features, "context" if sequences else "example")
    asked += asked_features(sequence_features or {}, "lists")
    names = _keys(one for one in asked if one.where != "lists")
    lists = _keys(one for one in asked if one.where == "lists")
    chunks = Chunks(paths, sample=sample, on_corrupt=on_corrupt, progress=progress)
    survey, checks = Survey(names, lists), [Check(one) for one in asked]
    hidden: list[str] = []
    for chunk in chunks:
        outlines = outlines_of(chunk, names, lists, sequences=sequences)
        survey.add(outlines)
        for check in checks:
            check.add(outlines)
        if not sequences and not hidden:
            hidden = _core.feature_names(chunk.record(0), 2)[:1000]
    return _Explainer(survey, names, lists, hidden).explanation(chunks, checks)


def _keys(asked: Iterable[Asked]) -> list[str]:
    return list(dict.fromkeys(key for one in asked for key in one.keys))


class _Explainer:
    """Makes sentences of what was seen."""

    def __init__(self, survey: Survey, names: list[str], lists: list[str], hidden: list[str]) -> None:
        self._survey = survey
        self._hidden = hidden
        self._asked = {False: set(names), True: set(lists)}
        self._profiles = {
            in_lists: {
                name: profile
                for name, profile in survey.profiles(in_lists=in_lists).items()
                if profile.absent < profile.records
            }
            for in_lists in (False, True)
        }

    def explanation(self, chunks: Chunks, checks: list[Check]) -> Explanation:
        features = _going_together([self._feature(check) for check in checks])
        problems = []
        if self._survey.first_bad is not None:
            place, why = self._survey.first_bad
            share = f"{self._survey.bad:,} of {chunks.records:,} records"
            problems.append(f"{share} are no Examples; the first is {place}: {why}")
        return Explanation(
            ok=not problems and all(feature.ok for feature in features),
            records=chunks.records,
            files=chunks.files,
            everything=chunks.whole,
            features=features,
            unused=self._unused(),
            problems=tuple(problems),
            faults=tuple(chunks.report.faults),
        )

    def _unused(self) -> dict[str, str]:
        return {
            name: self._words(profile)
            for in_lists, profiles in self._profiles.items()
            for name, profile in profiles.items()
            if name not in self._asked[in_lists]
        }

    def _feature(self, check: Check) -> FeatureExplanation:
        asked, records = check.asked, self._survey.records
        in_lists = asked.where == "lists"
        profiles = self._profiles[in_lists]
        problems = [asked.complaint] if asked.complaint else []
        problems += [sentence(misfit, asked, records) for misfit in check.misfits.values()]
        known = asked.key in profiles or not records
        others = [name for name in profiles if name not in self._asked[in_lists]]
        meant = None if known else nearest(asked.name, others)
        if not known and asked.name in self._hidden:
            problems.append("it is a feature list: these are SequenceExamples, for parse_sequence")
        ok = not problems
        fix = Fix(asked.name, asked.feature, "") if ok else fixed(asked, profiles, meant)
        if not ok and fix.feature is not None and fix.name == asked.name and asked.feature != fix.feature:
            fix = Fix(fix.name, fix.feature, ", ".join(filter(None, [f"was {asked.words}", fix.note])))
        profile = profiles.get(asked.key)
        return FeatureExplanation(
            name=asked.name,
            where=asked.where,
            asked=asked.words,
            ok=ok,
            problems=tuple(problems),
            found="nothing" if profile is None else self._words(profile),
            meant=meant,
            fixed_name=fix.name,
            fixed=fix.feature,
            note=fix.note,
        )

    @staticmethod
    def _words(profile: FeatureProfile) -> str:
        return ", ".join([kind_and_shape(profile), *gaps(profile)])


def _going_together(features: list[FeatureExplanation]) -> list[FeatureExplanation]:
    """The same, with fixes that can be asked for at once: what parses stays, the others go around it."""
    plans = {
        where: Plan(in_lists=where == "lists", in_context=where == "context") for where in get_args(Where)
    }
    settled = list(features)
    for i in sorted(range(len(features)), key=lambda i: not features[i].ok):
        settled[i] = _beside(plans[features[i].where], features[i])
    return settled


def _beside(plan: Plan, one: FeatureExplanation) -> FeatureExplanation:
    if one.fixed is None:
        return one
    if one.fixed_name in plan.builders:
        return replace(one, fixed=None, note=f"{one.fixed_name!r} is asked for already")
    # Rows of any length are what several features can be made of.
    for feature in (one.fixed, RaggedFeature(one.fixed.dtype)):
        try:
            plan.add(one.fixed_name, feature)
        except ValueError:
            continue
        return replace(one, fixed=feature)
    return replace(one, fixed=None, note="another feature is made of its values, in another way")
