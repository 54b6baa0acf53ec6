"""Every fuzz target is built, run and seeded: a new one is not forgotten in one of the places."""

from __future__ import annotations

import re
from pathlib import Path

import counting

ROOT = Path(__file__).parent.parent


def named(file: str, pattern: str) -> set[str]:
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))
    assert found
    return set(found[1].split())


def test_every_target_is_built_run_and_seeded() -> None:
    targets = {path.name.removesuffix("_fuzz.cpp") for path in ROOT.glob("core/fuzz/*_fuzz.cpp")}
    assert named("CMakeLists.txt", r"set\(fuzz_targets ([^)]+)\)") == targets
    assert named("Makefile", r"FUZZ_TARGETS := (.+)") == targets
    assert {path.name for path in (ROOT / "core/fuzz/seeds").iterdir() if any(path.iterdir())} == targets
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [target for target in sorted(targets) if f"`{target}`" not in page] == []


def test_what_is_counted_is_said() -> None:
    counting.count("things that nobody else counts", 1234)
    counting.count("things that nobody else counts")
    try:
        assert "       1,235  things that nobody else counts" in counting.summary()
    finally:
        counting.forget("things that nobody else counts")
