"""The comparison itself: what protobuf reads from a message, and what tfreel reads from it.

As a script it compares many messages from a fresh seed: ``python -m conformance.wire --count 5000000``.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google import protobuf
from google.protobuf.message import DecodeError as ProtobufError
from google.protobuf.unknown_fields import UnknownFieldSet

from tfreel import _core
from tfreel.columns import Batch, BytesColumn, Ragged, parse, parse_sequence
from tfreel.errors import TfreelError
from tfreel.examples.messages import Example, SequenceExample
from tfreel.features import FixedLenFeature, RaggedFeature

from conformance.messages import (
    FEATURES,
    KEYS,
    LENGTH,
    LISTS,
    Builder,
    bend,
    has_field_0_in_a_group,
    without_unknown_in_entries,
)

_DTYPES = {None: "int64", "bytes_list": "bytes", "float_list": "float32", "int64_list": "int64"}
# Before version 7 a length could take ten bytes, as other numbers can, and not five.
TAKES_LONG_LENGTHS = int(protobuf.__version__.partition(".")[0]) < 7

# What a feature holds: its kind, and its values as bytes objects (of floats, their bits) or ints.
Values = tuple[str | None, tuple[Any, ...]]


def read_feature(feature: Any) -> Values:
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None, ()
    if kind == "float_list":
        # Through Python floats, signalling NaNs would lose their bits.
        count = len(feature.float_list.value)
        packed = feature.float_list.SerializeToString()[-4 * count :] if count else b""
        return kind, tuple(np.frombuffer(packed, np.uint32).tolist())
    return kind, tuple(getattr(feature, kind).value)


def read_map(features: Any) -> dict[str, Values]:
    return {key: read_feature(feature) for key, feature in features.items()}


def sets_entries_aside(features: Any) -> bool:
    return any(f.field_number == 1 and f.wire_type == LENGTH for f in UnknownFieldSet(features))


def stricter_on_purpose(message: bytes, why: str) -> bool:
    """Whether tfreel refuses what protobuf for Python accepts, but protobuf elsewhere, or later, does not."""
    if "field number 0" in why:
        return has_field_0_in_a_group(message)
    return "a number that is too long" in why and TAKES_LONG_LENGTHS


@dataclass
class Comparison:
    """Compares messages in bulk, and keeps what differed."""

    sequences: bool
    compared: int = 0
    accepted: int = 0
    left_out: int = 0
    differences: list[tuple[bytes, str]] = field(default_factory=list)

    def compare(self, messages: list[bytes]) -> None:
        groups: dict[Any, list[tuple[bytes, Any]]] = defaultdict(list)
        for message in messages:
            self.compared += 1
            expected = self.read_with_protobuf(message)
            if expected is None:
                self.expect_refusal(message)
                continue
            self.accepted += 1
            kinds = self.kinds_of(expected)
            if kinds is None:
                self.expect_mismatch(message)
            else:
                groups[kinds].append((message, expected))
        for kinds, group in groups.items():
            self.compare_group(kinds, group)

    def read_with_protobuf(self, message: bytes) -> Any:
        made = SequenceExample if self.sequences else Example
        try:
            found = made.FromString(message)
            maps = [found.context, found.feature_lists] if self.sequences else [found.features]
            if any(map(sets_entries_aside, maps)):
                found = made.FromString(
                    without_unknown_in_entries(message, (FEATURES, LISTS) if self.sequences else (FEATURES,))
                )
        except ProtobufError:
            return None
        if not self.sequences:
            found.features.DiscardUnknownFields()
            return (read_map(found.features.feature),)
        found.DiscardUnknownFields()
        lists = found.feature_lists.feature_list
        return (
            read_map(found.context.feature),
            {key: [read_feature(feature) for feature in steps.feature] for key, steps in lists.items()},
        )

    def kinds_of(self, expected: Any) -> Any:
        """The kind of each key, or None where the steps of a feature list have several."""
        kinds = [tuple(expected[0].get(key, (None, ()))[0] for key in KEYS)]
        if self.sequences:
            of_steps = [{kind for kind, _ in expected[1].get(key, ())} - {None} for key in KEYS]
            if any(len(several) > 1 for several in of_steps):
                return None
            kinds.append(tuple(next(iter(one), None) for one in of_steps))
        return tuple(kinds)

    def compare_group(self, kinds: Any, group: list[tuple[bytes, Any]]) -> None:
        try:
            for found, (message, expected) in zip(
                self.read_with_tfreel(kinds, [m for m, _ in group]), group, strict=True
            ):
                wanted = wanted_rows(expected)
                if found != wanted:
                    self.differences.append((message, f"tfreel reads {found}, protobuf {wanted}"))
            if not self.sequences:
                self.compare_fixed(kinds[0], group)
        except TfreelError as error:
            if len(group) == 1:
                if stricter_on_purpose(group[0][0], str(error)):
                    return
                self.differences.append((group[0][0], f"tfreel refuses: {error}"))
            else:
                for one in group:
                    self.compare_group(kinds, [one])

    def read_with_tfreel(self, kinds: Any, messages: list[bytes]) -> list[Any]:
        specs = [
            {key: RaggedFeature(_DTYPES[kind]) for key, kind in zip(KEYS, some, strict=True)}
            for some in kinds
        ]
        if not self.sequences:
            return list(zip(rows_of(parse(messages, specs[0])), strict=True))
        batch = parse_sequence(messages, specs[0], specs[1])
        return list(zip(rows_of(batch.context), rows_of(batch.sequences), strict=True))

    def compare_fixed(self, kinds: Any, group: list[tuple[bytes, Any]]) -> None:
        """The same messages once more, read as features of the number of values that they have."""
        by_count = defaultdict(list)
        for message, (expected,) in group:
            by_count[tuple(len(expected.get(key, (None, ()))[1]) for key in KEYS)].append((message, expected))
        for counts, some in by_count.items():
            specs = {}
            for key, kind, count in zip(KEYS, kinds, counts, strict=True):
                if kind is not None:
                    specs[key] = FixedLenFeature([count], _DTYPES[kind])
            if not specs:
                continue
            rows = rows_of(parse([m for m, _ in some], specs))
            for row, (message, expected) in zip(rows, some, strict=True):
                wanted = {key: expected[key][1] for key in specs}
                if row != wanted:
                    self.differences.append((message, f"as fixed, tfreel reads {row}, protobuf {wanted}"))

    def faults(self, message: bytes) -> Any:
        """What tfreel says of a message, asked for the kinds that it says are there: a fault, or none."""
        places = [(key, False) for key in KEYS] + [(key, True) for key in KEYS] * self.sequences
        kinds = ["int64"] * len(places)
        for _ in range(3 * len(places)):
            specs = [_spec(*place, kind) for place, kind in zip(places, kinds, strict=True)]
            fault = _core.parse((message,), specs, sequences=self.sequences)
            if not isinstance(fault, _core.ParseFault):
                return None
            if fault.kind != "feature_kind":
                return fault
            if kinds[fault.feature] != "int64":
                return fault
            kinds[fault.feature] = fault.found_kind
        return fault

    def expect_refusal(self, message: bytes) -> None:
        fault = self.faults(message)
        if fault is not None:
            return
        names = {*_core.feature_names(message, 1), *(_core.feature_names(message, 2) * self.sequences)}
        if names <= set(KEYS):
            self.differences.append((message, "protobuf refuses, tfreel does not"))
        else:
            self.left_out += 1  # the fault may lie in a feature that was not asked for

    def expect_mismatch(self, message: bytes) -> None:
        fault = self.faults(message)
        if fault is not None and stricter_on_purpose(message, fault.why):
            return
        if fault is None or fault.kind != "feature_kind":
            self.differences.append((message, "steps of several kinds in one list are not refused"))


_specs: dict[Any, _core.FeatureSpec] = {}


def _spec(key: str, in_lists: bool, kind: str) -> _core.FeatureSpec:
    made = _specs.get((key, in_lists, kind))
    if made is None:
        made = _specs[key, in_lists, kind] = _core.FeatureSpec(key, kind, in_lists=in_lists)
    return made


def wanted_rows(expected: Any) -> tuple[Any, ...]:
    rows: list[Any] = [{key: expected[0].get(key, (None, ()))[1] for key in KEYS}]
    if len(expected) == 2:
        rows.append({key: tuple(values for _, values in expected[1].get(key, ())) for key in KEYS})
    return tuple(rows)


def rows_of(batch: Batch) -> list[dict[str, Any]]:
    columns = {name: as_tuples(column) for name, column in batch.items()}
    return [{name: column[i] for name, column in columns.items()} for i in range(batch.num_rows)]


def as_tuples(column: Any) -> list[Any]:
    """The rows of a column as tuples; floats as their bits."""
    if isinstance(column, Ragged):
        flat = as_tuples(column.values)
        bounds = column.offsets.tolist()
        return [tuple(flat[bounds[i] : bounds[i + 1]]) for i in range(len(column))]
    if isinstance(column, BytesColumn):
        return [tuple(row) if isinstance(row, list) else row for row in column.to_list()]
    bits = column.view(np.uint32) if column.dtype == np.float32 else column
    return [tuple(row) if isinstance(row, list) else row for row in bits.tolist()]


def compare_many(seed: int, count: int, *, sequences: bool, batch: int = 5000) -> Comparison:
    """Compares `count` messages that depend on the seed only."""
    chosen = random.Random(seed)
    builder = Builder(chosen)
    build = builder.sequence_example if sequences else builder.example
    comparison = Comparison(sequences)
    while comparison.compared < count:
        sound = [build() for _ in range(batch // 5)]
        bent = [
            bend(sound[i % len(sound)], sound[(i * 7 + 1) % len(sound)], chosen)
            for i in range(batch - len(sound))
        ]
        comparison.compare(sound + bent)
        if len(comparison.differences) > 20:
            break
    return comparison


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    options = parser.parse_args()
    failed = False
    for sequences in (False, True):
        what = "SequenceExamples" if sequences else "Examples"
        print(f"comparing {options.count // 2:,} {what} with protobuf, seed {options.seed}", flush=True)
        begin = time.monotonic()
        done = compare_many(options.seed, options.count // 2, sequences=sequences)
        seconds = time.monotonic() - begin
        print(f"  {done.compared:,} compared, {done.accepted:,} of them sound, in {seconds:.0f} s")
        for message, difference in done.differences:
            failed = True
            print(f"  {message.hex()}\n    {difference}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
