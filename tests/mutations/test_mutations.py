"""The list of guards does not rot: each is in the sources, once. `make mutants` takes them out."""

from __future__ import annotations

import pytest

from mutations.guards import CORE, LIST, Guard, read_guards, woven

GUARDS = list(read_guards(LIST.read_text(encoding="utf-8")))


def test_every_guard_is_in_the_sources_once() -> None:
    sources = {guard.file: (CORE / guard.file).read_text(encoding="utf-8") for guard in GUARDS}
    wrong = []
    for guard in GUARDS:
        try:
            guard.span_in(sources[guard.file])
        except ValueError as error:
            wrong.append(str(error))
    assert wrong == []


def test_no_two_mutants_are_the_same() -> None:
    assert len({(guard.file, guard.line, guard.instead) for guard in GUARDS}) == len(GUARDS) >= 60


def test_every_test_that_a_guard_names_is_there() -> None:
    files = {test for guard in GUARDS for test in guard.tests if test.endswith(".py")}
    assert [file for file in sorted(files) if not (CORE.parent / file).is_file()] == []


def test_guards_are_woven_in_side_by_side() -> None:
    listed = (
        '== a.cpp\n: tests/a.py -k "b or c"\nif («x > 1» || y) {\n=> false\n'
        "if («x > 1» || y) {\n=> true\nif (x > 1 || «y») {\n=> z\n"
    )
    guards = list(read_guards(listed))
    assert guards[0].tests == ("tests/a.py", "-k", "b or c")
    assert woven("if (x > 1 || y) {\n", guards) == (
        '#include "mutant.hpp"\n'
        "if ((::tfreel::mutant(1) ? (false) : ::tfreel::mutant(2) ? (true) : (x > 1)) || "
        "(::tfreel::mutant(3) ? (z) : (y))) {\n"
    )


def test_a_guard_that_is_gone_or_there_twice_is_told() -> None:
    guard = Guard(1, "a.cpp", "if («x») y", "false", ())
    assert guard.span_in("  if (x) y;") == (6, 7)
    for source in ("if (z) y;", "if (x) y; if (x) y;"):
        with pytest.raises(ValueError, match=r"core/a\.cpp has this [02] times"):
            guard.span_in(source)
