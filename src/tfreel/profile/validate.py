"""`tfreel.profile.validate`: records and a schema in, what breaks its rules out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfreel.profile.chunks import Chunks
from tfreel.profile.record_checks import RecordChecks
from tfreel.profile.rules import FeatureRules, between, listed
from tfreel.profile.schema import Schema
from tfreel.profile.tallies import CounterExample, Key, Tallies, Tally
from tfreel.records.parts import Progress
from tfreel.storage.names import PathLike, Paths
from tfreel.storage.paths import display
from tfreel.threads import in_order


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken.

    Attributes:
        feature: The feature; empty for a rule of whole records.
        in_lists: Whether that is a feature list.
        rule: Which rule: a field of `FeatureRules`, or ``"sound"``, ``"example"``, ``"records"``,
            ``"unexpected"``.
        allowed: What it asks for, in words.
        records: How many records break it.
        values: How many values do.
        examples: The first of these records.
    """

    feature: str
    in_lists: bool
    rule: str
    allowed: str
    records: int
    values: int
    examples: tuple[CounterExample, ...]

    def __str__(self) -> str:
        name = f"{'feature list' if self.in_lists else 'feature'} {self.feature!r}: " if self.feature else ""
        noun = "record" if self.records == 1 else "records"
        first = f"; the first is {self.examples[0]}" if self.examples else ""
        return display(f"{name}{self.rule}: {self.records:,} {noun}; allowed: {self.allowed}") + first

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return {
            "feature": self.feature,
            "in_lists": self.in_lists,
            "rule": self.rule,
            "allowed": self.allowed,
            "records": self.records,
            "values": self.values,
            "examples": [example.to_dict() for example in self.examples],
        }


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What `validate` finds.

    Attributes:
        records: How many records were looked at.
        files: How many files they are from.
        problems: The rules that are broken, in the order of the schema.
        notes: What was not checked, and other things worth knowing.
    """

    records: int
    files: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no rule is broken."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {
            "ok": self.ok,
            "records": self.records,
            "files": self.files,
            "problems": [problem.to_dict() for problem in self.problems],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        count = len(self.problems)
        verdict = "ok" if self.ok else f"{count:,} rule{' is' if count == 1 else 's are'} broken"
        return "\n".join([*map(str, self.problems), f"{self.records:,} records: {verdict}"])


def validate(
    paths: Paths,
    schema: Schema | PathLike,
    *,
    masks: bool = True,
    examples: int = 5,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ValidationReport:
    """Whether records keep the rules of a schema, with counter-examples where they do not.

    All records are looked at, in one pass; memory does not grow with their number, nor with that of
    counter-examples. Damage is a problem like any other: what can be read behind it is checked too.

    Args:
        paths: As in `tfreel.read`.
        schema: The rules; or the file that they are in, as in `Schema.load`.
        masks: Decode the masks that have a rule for class ids. Everything else about images is told by their
            headers.
        examples: How many counter-examples to keep for each rule.
        threads: How many to use; all processors by default.
        progress: Called with the number of records and bytes looked at since the last call.

    Example:
        >>> from tfreel.profile import FeatureRules, Schema
        >>> tfreel.save("cats.tfrecord", [{"label": i} for i in range(12)])
        >>> schema = Schema({"label": FeatureRules(kind="int64", presence=1.0, range=(0, 9))})
        >>> report = tfreel.profile.validate("cats.tfrecord", schema)
        >>> print(report)
        feature 'label': range: 2 records; allowed: 0…9; the first is cats.tfrecord: record 10: 10
        12 records: 1 rule is broken
    """
    if examples < 0:
        raise ValueError(f"examples must not be negative, not {examples}")
    if not isinstance(schema, Schema):
        schema = Schema.load(schema)
    chunks = Chunks(paths, on_corrupt="skip", progress=progress)
    check = RecordChecks(schema, masks=masks, most_examples=examples)
    total = Tallies(examples)
    for found in in_order((partial(check, chunk) for chunk in chunks), threads):
        total.merge(found)
    problems = [*_of_data(schema, chunks, total, examples), *_of_features(schema, total)]
    notes = list(schema.notes)
    if total.unlisted:
        notes.append(f"{total.unlisted:,} more features are not in the schema: too many to list")
    return ValidationReport(chunks.records, len(chunks.files), tuple(problems), tuple(notes))


_EXAMPLE = Key("", in_lists=False, rule="example")


def _of_data(schema: Schema, chunks: Chunks, total: Tallies, examples: int) -> Iterator[Problem]:
    """What is wrong with the data as a whole."""
    report, records = chunks.report, chunks.records
    if report.fault_count:
        faults = [CounterExample(one.path, one.record, one.message) for one in report.faults[:examples]]
        tally = Tally(report.fault_count, report.fault_count, faults)
        yield _problem(_EXAMPLE._replace(rule="sound"), tally, "no damage")
    least, most = schema.min_records, schema.max_records
    if records < least or (most is not None and records > most):
        tally = Tally(records, records)
        yield _problem(_EXAMPLE._replace(rule="records"), tally, f"{between((least, most))} in all")
    if _EXAMPLE in total.broken:
        yield _problem(_EXAMPLE, total.broken[_EXAMPLE], "Examples and SequenceExamples")


def _of_features(schema: Schema, total: Tallies) -> Iterator[Problem]:
    broken: dict[tuple[str, bool], dict[str, Tally]] = {}
    for key, tally in total.broken.items():
        broken.setdefault((key.feature, key.in_lists), {})[key.rule] = tally
    for in_lists, all_rules in ((False, schema.rules), (True, schema.sequence_rules)):
        for name, rules in all_rules.items():
            found = broken.get((name, in_lists), {})
            if rules.min_present:
                found.setdefault("presence", Tally())  # in no records nobody lacks it
            for rule, tally in found.items():
                key = Key(name, in_lists, rule)
                if rule != "example" and _counts(rules, key, tally, total):
                    yield _problem(key, tally, _allowed(rules, rule))
    for key, tally in total.broken.items():
        if key.rule == "unexpected":
            yield _problem(key, tally, "only features of the schema")


def _problem(key: Key, tally: Tally, allowed: str) -> Problem:
    return Problem(*key, allowed, tally.records, tally.values, tuple(tally.examples))


def _counts(rules: FeatureRules, key: Key, tally: Tally, total: Tallies) -> bool:
    """Whether it is too much: some rules let some records, or some values, break them."""
    name = key.feature, key.in_lists
    if key.rule == "presence":
        present = total.present.get(name, 0)
        return present < (rules.min_present or 0) or present < (rules.presence or 0) * total.records
    if key.rule == "allowed" and rules.allowed_share is not None:
        values = total.values.get(name, 0)
        return values - tally.values < rules.allowed_share * values
    return True


def _allowed(rules: FeatureRules, rule: str) -> str:
    if rule == "presence":
        words = []
        if rules.presence is not None:
            words.append("in all records" if rules.presence == 1 else f"in {rules.presence:.4%} of records")
        if rules.min_present:
            words.append(f"in {rules.min_present:,} records at least")
        return " and ".join(words)
    if rule in ("nan", "inf"):
        return f"without {'NaN' if rule == 'nan' else 'infinities'}"
    value = getattr(rules, rule)
    if rule == "shape":
        return str(list(value))
    if rule in ("allowed", "contents", "mask_ids"):
        return listed(value)
    return between(value) if isinstance(value, tuple) else str(value)
