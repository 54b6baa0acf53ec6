"""What the leaf makes of records, one by one and in batches, against TensorFlow."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest

from tfreel import tf as ours

from conformance.chance import MAKERS, Chance
from conformance.parsing import Case, Verdict, all_cases
from conformance.shaped import features_of, read_one_with, read_with

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    theirs: Any = pytest.importorskip("tensorflow")

logging.getLogger("tensorflow").setLevel(logging.ERROR)

CASES = [case for case in all_cases() if not case.deadly]
PARTS = 8


def check_each(case: Case) -> int:
    """How many of the records both read; of the others, both say what sort of error it is."""
    read = 0
    for i, record in enumerate(case.records):
        # A record in an odd form is compared with the plain form, as far as there is one.
        plain = record if case.plain is None else case.plain[min(i, len(case.plain) - 1)]
        found = read_one_with(ours, case, record)
        verdict = Verdict(case, found, mended(read_one_with(theirs, case, plain)))
        assert verdict.good, f"{case}\nrecord {i}\ntfreel: {verdict.ours}\nTensorFlow: {verdict.wanted}"
        read += "columns" in found
    return read


def mended(read: dict[str, Any]) -> dict[str, Any]:
    """Row splits always begin with 0. TensorFlow copies those of a missing feature, and has none at all."""
    for column in read.get("columns", {}).values():
        for splits in column.get("splits", ()):
            if splits["shape"] == [0]:
                splits |= {"shape": [1], "values": [0]}
    return read


@pytest.mark.parametrize("part", range(PARTS))
def test_single_records_are_read_as_by_tensorflow(part: int) -> None:
    for case in CASES[part::PARTS]:
        check_each(case)


@pytest.mark.parametrize("make", MAKERS)
def test_single_records_by_chance_are_read_as_by_tensorflow(make: str) -> None:
    read = 0
    for seed in range(60):
        case = getattr(Chance(seed), make)()
        try:
            read += check_each(case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
    assert read > 50


@pytest.mark.parametrize("make", MAKERS)
def test_batches_by_chance_are_read_as_by_tensorflow(make: str) -> None:
    for seed in range(60):
        case = getattr(Chance(seed), make)()
        verdict = Verdict(case, read_with(ours, case, case.records), read_with(theirs, case, case.records))
        assert verdict.good, f"seed {seed}: {case}\ntfreel: {verdict.ours}\nTensorFlow: {verdict.wanted}"


def specs_of(tf: Any, case: Case, *, batch: int | None) -> Any:
    """What a dataset is said to give after parsing."""
    source = tf.data.Dataset.from_tensor_slices(tf.constant([b""], tf.string))
    source = source if batch is None else source.batch(batch)
    features = features_of(tf, case.features)
    if case.sequence_features is None:
        parse = tf.io.parse_single_example if batch is None else tf.io.parse_example
        return source.map(lambda record: parse(record, features)).element_spec
    lists = features_of(tf, case.sequence_features)
    parse = tf.io.parse_single_sequence_example if batch is None else tf.io.parse_sequence_example
    return source.map(lambda record: parse(record, features or None, lists or None)).element_spec


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("batch", [None, 3])
def test_specs_are_those_of_tensorflow(make: str, batch: int | None) -> None:
    for seed in range(12):
        case = getattr(Chance(seed), make)()
        assert repr(specs_of(ours, case, batch=batch)) == repr(specs_of(theirs, case, batch=batch)), seed
