"""What tfreel makes of records, and what TensorFlow's parsers make of them at this moment.

The cases are those of the golden file, and features and records by chance.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest

from conformance.chance import MAKERS, Chance
from conformance.parsing import Case, Verdict, all_cases, read_with_tfreel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("tensorflow")
    from conformance.tensorflow import read_with_tensorflow

logging.getLogger("tensorflow").setLevel(logging.ERROR)

CASES = [case for case in all_cases() if not case.deadly]
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_cases_are_read_as_by_tensorflow(part: int) -> None:
    for case in CASES[part::PARTS]:
        check(case)


def check(case: Case) -> dict[str, Any]:
    ours = read_with_tfreel(case, case.records)
    verdict = Verdict(case, ours, read_with_tensorflow(case, case.plain_records))
    assert verdict.good, f"{case}\ntfreel: {ours}\nTensorFlow: {verdict.wanted}"
    return ours


@pytest.mark.parametrize("make", MAKERS)
def test_features_and_records_by_chance_are_read_as_by_tensorflow(make: str) -> None:
    read = 0
    for seed in range(250):
        case = getattr(Chance(seed), make)()
        try:
            read += "columns" in check(case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
    assert read > 100  # the others are errors for both
