"""Rules for records: a chunk of them in, what breaks the rules of a schema out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfreel.columns.parse import parse, parse_sequence
from tfreel.features.kinds import DTYPES, DType, Feature, FixedLenFeature, RaggedFeature
from tfreel.profile.chunks import Chunk
from tfreel.profile.outlines import CODES, KINDS, NO_KIND, Outline, Outlines, outlines_of
from tfreel.profile.rules import FeatureRules
from tfreel.profile.schema import Schema
from tfreel.profile.tallies import CounterExample, Key, Tallies
from tfreel.profile.value_checks import broken_rules, looks_at_values, rows_of_values

_RAGGED: dict[DType, Feature] = {kind: RaggedFeature(kind) for kind in DTYPES}


class RecordChecks:
    """Holds records against a schema. Any thread may call it.

    Args:
        schema: The rules.
        masks: Also decode the masks that there are rules for.
        most_examples: How many counter-examples to keep for each rule.
    """

    def __init__(self, schema: Schema, *, masks: bool, most_examples: int) -> None:
        self._schema = schema
        self._masks = masks
        self._most_examples = most_examples

    def __call__(self, chunk: Chunk) -> Tallies:
        """What breaks rules in these records."""
        return _ChunkChecks(self._schema, chunk, masks=self._masks, most=self._most_examples).run()


class _ChunkChecks:
    def __init__(self, schema: Schema, chunk: Chunk, *, masks: bool, most: int) -> None:
        self._schema = schema
        self._chunk = chunk
        self._masks = masks
        self._tallies = Tallies(most)
        self._outlines: Outlines = outlines_of(
            chunk, list(schema.rules), list(schema.sequence_rules), sequences=True
        )

    def run(self) -> Tallies:
        self._tallies.records = int(np.count_nonzero(self._outlines.good))
        self._whole_records()
        for in_lists in (False, True):
            found = self._outlines.lists if in_lists else self._outlines.features
            rules = self._schema.sequence_rules if in_lists else self._schema.rules
            usable: dict[str, _Usable] = {}
            for name, outline in found.items():
                if name in rules:
                    rows = self._structure(name, rules[name], outline, in_lists=in_lists)
                    if len(rows) and looks_at_values(rules[name], masks=self._masks):
                        usable[name] = _Usable(rows, _feature(rules[name], outline, in_lists=in_lists))
                elif len(outline.rows) and self._schema.other_features == "refuse":
                    self._break(name, "unexpected", outline.rows, lambda _: "is there", in_lists=in_lists)
            self._values(usable, in_lists=in_lists)
        if self._schema.other_features == "refuse":
            self._tallies.unlisted += self._outlines.unlisted
        return self._tallies

    def _whole_records(self) -> None:
        bad = self._outlines.bad
        rows = np.array([row for row, _ in bad], np.intp)
        self._break("", "example", rows, lambda i: bad[i][1], in_lists=False)

    def _break(
        self, feature: str, rule: str, rows: Any, found: Callable[[int], str], *, in_lists: bool
    ) -> None:
        """Takes note of rows that break a rule, perhaps one several times.

        What is there instead is asked by their positions among these rows, and only of the first ones.
        """
        if not len(rows):
            return
        each, first = np.unique(rows, return_index=True)
        examples = []
        for row, i in zip(each[: self._tallies.most_examples].tolist(), first.tolist(), strict=False):
            place = self._chunk.place(row)
            examples.append(CounterExample(place.path, place.record, found(i)))
        self._tallies.add(Key(feature, in_lists, rule), len(each), len(rows), examples)

    def _structure(
        self, name: str, rules: FeatureRules, outline: Outline, *, in_lists: bool
    ) -> npt.NDArray[np.uint32]:
        """Checks presence, kind and numbers of values. Gives the rows whose values can be looked at."""
        present = outline.present_rows
        self._tallies.present[name, in_lists] = len(present)
        if (rules.presence or rules.min_present) and len(present) < self._tallies.records:
            absent = self._outlines.absent(outline)
            self._break(name, "presence", absent, lambda _: "is missing", in_lists=in_lists)
        if rules.kind is None:
            return present[:0]
        told = outline.kinds != NO_KIND
        wrong = told & (outline.kinds != CODES[rules.kind])
        rows = outline.unit_rows
        kinds = outline.kinds[wrong]
        self._break(name, "kind", rows[wrong], lambda i: KINDS[int(kinds[i])], in_lists=in_lists)
        self._counts(name, rules, outline, ~wrong & (told | in_lists), in_lists=in_lists)
        # As they are read a record at a time, one bad step spoils it.
        return np.setdiff1d(present, rows[wrong]) if wrong.any() else present

    def _counts(
        self,
        name: str,
        rules: FeatureRules,
        outline: Outline,
        right: npt.NDArray[np.bool_],
        *,
        in_lists: bool,
    ) -> None:
        for rule, bounds, numbers, rows in (
            ("steps", rules.steps, outline.steps, outline.rows),
            (
                "count" if rules.shape is None else "shape",
                rules.counts,
                outline.counts[right],
                outline.unit_rows[right],
            ),
        ):
            if bounds is None or numbers is None:
                continue
            least, most = bounds
            outside = numbers < (least or 0)
            if most is not None:
                outside |= numbers > most
            words = _amounts(numbers[outside], "step" if rule == "steps" else "value")
            self._break(name, rule, rows[outside], words, in_lists=in_lists)

    def _values(self, usable: dict[str, _Usable], *, in_lists: bool) -> None:
        for features, rows in _grouped(usable):
            picked = self._chunk.picked(rows)
            if in_lists:
                columns = parse_sequence(picked, None, features, threads=1).sequences
            else:
                columns = parse(picked, features, threads=1)
            for name, column in columns.items():
                self._check(name, column, rows, in_lists=in_lists)

    def _check(self, name: str, column: Any, rows: npt.NDArray[np.uint32], *, in_lists: bool) -> None:
        rules = (self._schema.sequence_rules if in_lists else self._schema.rules)[name]
        values, offsets = rows_of_values(column)
        if rules.allowed is not None:
            self._tallies.values[name, in_lists] = int(offsets[-1])
        for rule, places, found in broken_rules(values, rules, masks=self._masks):
            rows_here = rows[np.searchsorted(offsets, places, "right") - 1]
            self._break(name, rule, rows_here, _found(found, places), in_lists=in_lists)


def _amounts(numbers: npt.NDArray[np.uint32], noun: str) -> Callable[[int], str]:
    return lambda i: f"{numbers[i]:,} {noun}{'' if numbers[i] == 1 else 's'}"


def _found(found: Callable[[int], str], places: npt.NDArray[np.intp]) -> Callable[[int], str]:
    return lambda i: found(int(places[i]))


class _Usable(NamedTuple):
    """The rows of a feature whose values can be looked at, and what to parse them with."""

    rows: npt.NDArray[np.uint32]
    feature: Feature


@lru_cache(maxsize=256)
def _fixed(count: int, kind: DType) -> FixedLenFeature:
    """The same object every time, so that plans for parsing are made once."""
    return FixedLenFeature([count], kind)


def _feature(rules: FeatureRules, outline: Outline, *, in_lists: bool) -> Feature:
    """What parses these values soonest: they are known to be of the right kind."""
    kind = rules.kind or "bytes"
    if in_lists:
        return _RAGGED[kind]
    counts = outline.counts[outline.kinds == CODES[kind]]
    count = int(counts[0])
    return _fixed(count, kind) if count and (counts == count).all() else _RAGGED[kind]


def _grouped(usable: dict[str, _Usable]) -> Iterator[tuple[dict[str, Feature], npt.NDArray[np.uint32]]]:
    """Features with the same rows together: these are parsed at once, and mostly that is all of them."""
    groups: dict[bytes, tuple[dict[str, Feature], npt.NDArray[np.uint32]]] = {}
    for name, (rows, feature) in usable.items():
        groups.setdefault(rows.tobytes(), ({}, rows))[0][name] = feature
    yield from groups.values()
