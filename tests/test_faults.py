"""The table of faults: every row names its tests, and every test that is named is there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/faults.md"


@dataclass(frozen=True)
class Row:
    """A row of the table: what goes wrong, what happens, and the tests."""

    fault: str
    answer: str
    tests: list[str]


def rows(page: str) -> Iterator[Row]:
    for line in page.splitlines():
        if not line.startswith("| ") or line.startswith("| what goes wrong |"):
            continue
        fault, answer, proof = (cell.strip() for cell in line.strip("|").split(" | "))
        yield Row(fault, answer, re.findall(r"`([^`]+)`", proof))


def is_skipped(mark: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "skip" for node in ast.walk(mark))


def is_test(node: ast.stmt) -> bool:
    """Whether pytest would run it, as far as can be seen without running anything."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not any(map(is_skipped, node.decorator_list))
    )


@cache
def names_in(file: str) -> frozenset[str]:
    path = ROOT / file
    if not (file.startswith("tests/") and path.is_file()):
        return frozenset()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    methods = {f"{node.name}::{test.name}" for node in classes for test in node.body if is_test(test)}  # type: ignore[attr-defined]
    return frozenset({node.name for node in body if is_test(node)} | methods)  # type: ignore[attr-defined]


def wrong_with(row: Row) -> list[str]:
    if not row.tests:
        return [f"{row.fault}: no test"]
    named = [(test, *test.partition("::")[::2]) for test in row.tests]
    return [f"{row.fault}: there is no {test}" for test, file, name in named if name not in names_in(file)]


def test_every_row_names_tests_that_are_there() -> None:
    found = list(rows(PAGE.read_text(encoding="utf-8")))
    assert len(found) > 100
    assert [problem for row in found for problem in wrong_with(row)] == []


def test_no_fault_comes_twice() -> None:
    faults = [row.fault for row in rows(PAGE.read_text(encoding="utf-8"))]
    assert sorted(set(faults)) == sorted(faults)


def test_the_check_finds_rows_without_tests_and_tests_that_are_gone() -> None:
    here = "tests/test_faults.py::test_no_fault_comes_twice"
    page = (
        f"| a | b | `{here}` |\n| c | d | soon |\n| e | f | `tests/test_faults.py::test_gone` |\n"
        "| g | h | `tests/test_gone.py::test_gone` |\n| i | j | `tests/test_faults.py::rows` |\n"
    )
    wrong = [bool(wrong_with(row)) for row in rows(page)]
    assert wrong == [False, True, True, True, True]


def test_every_kind_of_fault_is_asserted_somewhere() -> None:
    page = (ROOT / "docs/bad-data.md").read_text(encoding="utf-8")
    kinds = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert len(kinds) >= 10
    files = [path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__)]
    texts = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert [kind for kind in kinds if f'"{kind}"' not in texts] == []
