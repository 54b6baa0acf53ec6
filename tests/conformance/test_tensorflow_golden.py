"""What tfreel makes of records, against what TensorFlow made of them, kept in `golden/tensorflow.json`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conformance.parsing import ERRORS, Case, Verdict, all_cases, read_with_tfreel

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden" / "tensorflow.json").read_text(encoding="utf-8")
)
DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"
CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_records_are_read_as_by_tensorflow(case: Case) -> None:
    golden = GOLDEN[case.name]
    assert golden["digest"] == case.digest, "the case has changed: run golden/make.py again"
    verdict = Verdict(case, read_with_tfreel(case, case.records), golden.get("wanted", {}))
    assert verdict.good, f"tfreel: {verdict.ours}\nTensorFlow: {verdict.wanted}"
    if case.plain is not None:
        assert read_with_tfreel(case, case.plain) == verdict.ours


def test_every_case_has_a_name_of_its_own_and_an_answer() -> None:
    assert max(Counter(case.name for case in CASES).values()) == 1
    assert {case.name for case in CASES} == set(GOLDEN) - {""}


def test_only_named_differences_differ() -> None:
    for case in CASES:
        read = GOLDEN[case.name].get("read", {})
        if read and read.get("error") != "data":
            assert case.difference, case.name


def test_every_difference_is_explained_to_users() -> None:
    page = DIFFERENCES.read_text(encoding="utf-8")
    for difference in {case.difference for case in CASES if case.difference} | {ERRORS}:
        assert f"\n### {difference}\n" in page


def test_every_difference_makes_one_somewhere() -> None:
    differ = {case.difference for case in CASES if "read" in GOLDEN[case.name]}
    assert {case.difference for case in CASES if case.difference} - {ERRORS} <= differ
