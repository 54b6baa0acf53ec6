"""What breaks rules: counted, with a few counter-examples of each kind, however much there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tfreel.inference.sample import Place
from tfreel.storage.paths import display

MOST_KEYS = 10_000


class Key(NamedTuple):
    """A rule of a feature. The feature is empty for rules of whole records."""

    feature: str
    in_lists: bool
    rule: str


@dataclass(frozen=True, slots=True)
class CounterExample:
    """A record that breaks a rule.

    Attributes:
        path: The file.
        record: Its ordinal there.
        found: What it holds, in a few words.
    """

    path: str
    record: int
    found: str

    def __str__(self) -> str:
        return display(f"{Place(self.path, self.record)}: {self.found}")

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return {"path": self.path, "record": self.record, "found": self.found}


@dataclass(slots=True)
class Tally:
    """How often one rule was broken.

    Attributes:
        records: In how many records.
        values: By how many values; of rules for whole features, as many as records.
        examples: The first few.
    """

    records: int = 0
    values: int = 0
    examples: list[CounterExample] = field(default_factory=list)


class Tallies:
    """How often each rule was broken, and what has to be added up to know.

    Args:
        most_examples: How many counter-examples to keep for each rule.
    """

    def __init__(self, most_examples: int) -> None:
        self.most_examples = most_examples
        self.records = 0
        self.broken: dict[Key, Tally] = {}
        self.present: dict[tuple[str, bool], int] = {}  # records that have a feature
        self.values: dict[tuple[str, bool], int] = {}  # values that were compared with those allowed
        self.unlisted = 0  # features that there was no room for

    def add(self, key: Key, records: int, values: int, examples: Sequence[CounterExample]) -> None:
        """Takes note of a rule that was broken."""
        known = self.broken.get(key)
        if known is None:
            if len(self.broken) >= MOST_KEYS:
                self.unlisted += records
                return
            known = self.broken[key] = Tally()
        known.records += records
        known.values += values
        known.examples += examples[: self.most_examples - len(known.examples)]

    def merge(self, later: Tallies) -> None:
        """Adds what was found in later records."""
        self.records += later.records
        self.unlisted += later.unlisted
        for key, tally in later.broken.items():
            self.add(key, tally.records, tally.values, tally.examples)
        for mine, theirs in ((self.present, later.present), (self.values, later.values)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
