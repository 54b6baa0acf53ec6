"""The benchmarks: how they measure, what they say of it, and that their page says what the receipts say."""

from __future__ import annotations

import json
import os
import shutil
import sys
import venv
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the benchmarks by name, imported as their programs do, and forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def module(name: str) -> ModuleType:
        return __import__(name)

    yield module
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


# The page ---------------------------------------------------------------------------------------------------


def test_page_and_charts_are_in_step_with_the_receipts(modules: Any) -> None:
    wanted = modules("report").pages()
    for path, text in wanted.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make bench-page"
    there = {f"docs/pictures/{path.name}" for path in (ROOT / "docs/pictures").glob("benchmarks-*.svg")}
    assert there == {path for path in wanted if path.endswith(".svg")}


def test_the_page_shows_all_its_charts(modules: Any) -> None:
    wanted = modules("report").pages()
    page = wanted.pop("docs/benchmarks.md")
    assert all(f"](pictures/{Path(path).name})" in page for path in wanted)


def receipt(folder: Path, name: str, value: float, *, time: str = "10:00", check: bool = False) -> None:
    line = {
        "text": "tfreel against them",
        "value": value,
        "unit": "×",
        "limit": 2,
        "at_most": False,
        "low": value,
        "high": value,
        "verdict": "reached" if value >= 2 else "missed",
    }
    limit = {"name": "page cache", "rate": 100.0, "moved": 50.0}
    race = {"name": "a race", "times": {"tfreel": [1.0, 2.0, 3.0]}, "limit": limit}
    curve = {
        "name": "A curve",
        "along": "records",
        "places": [1, 10],
        "unit": "B",
        "rates": {"tfreel": [(1e6, 2e6, 3e6), (1e7, 2e7, 3e7)]},
    }
    job = {
        "name": "job",
        "title": "3. A <job>",
        "races": [race],
        "lines": [line],
        "notes": [],
        "curves": [curve],
    }
    machine = {"cpu": "A", "usable_cores": 2, "memory_bytes": 1 << 30, "kernel": "K", "python": "P"}
    facts = {"date": "2026-01-02", "time": time, "check": check, "scale": 1, "rounds": 7, "machine": machine}
    target = folder / name
    target.mkdir()
    (target / "results.json").write_text(
        json.dumps({**facts, "missing": {"them": "no wheel"}, "jobs": [job]}), encoding="utf-8"
    )


def test_the_newest_receipt_counts_also_when_it_is_a_loss(
    modules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = modules("report")
    monkeypatch.setattr(report, "_RUNS", tmp_path)
    receipt(tmp_path, "b", 3.5)
    receipt(tmp_path, "a", 0.5, time="11:00")
    receipt(tmp_path, "c", 9, time="12:00", check=True)  # which means nothing
    written = report.pages()
    page = written["docs/benchmarks.md"]
    assert "| tfreel against them | 0.5× | 0.5 – 0.5 | ≥ 2×, **missed** |" in page
    assert "tfreel loses 1 of them" in page
    assert "1 of 1 aims set beforehand are missed" in page
    assert "- a race, page cache: tfreel 25%" in page
    assert "- them: no wheel" in page
    assert "3.5×" not in page
    assert 'class="loss"' in written["docs/pictures/benchmarks-ratios.svg"]
    assert "A curve" in written["docs/pictures/benchmarks-growth-1.svg"]


def test_charts_are_sound_svg_for_light_and_dark_pages(modules: Any) -> None:
    charts = modules("charts")
    bars = charts.bars("a < b", [("lost & found", "ours against theirs", 0.25), ("won", "long " * 30, 12.0)])
    curves = charts.curves("c", "bytes", [1, 2], "B", {"x": [(1, 2, 3), (1, 2, 3)]})
    for picture in (bars, curves):
        ET.fromstring(picture)
        assert "prefers-color-scheme: dark" in picture
    assert "lost &amp; found" in bars
    assert bars.count('class="loss"') == 1
    assert bars.count('class="win"') == 1


# The harness ------------------------------------------------------------------------------------------------


def test_unequal_results_are_never_timed(modules: Any) -> None:
    harness = modules("harness")
    timed: list[str] = []

    def entry(name: str, answer: int) -> Any:
        return harness.Entry(name, lambda _: timed.append(name), proof=lambda _: answer)

    with pytest.raises(harness.UnequalError, match="b gives 2, not 1"):
        harness.hold_race("r", [entry("a", 1), entry("b", 2)], None, rounds=1, work=1, unit="B")
    assert timed == []


def test_entries_are_prepared_and_cleaned_up_after_in_every_run(modules: Any) -> None:
    harness = modules("harness")
    seen: list[str] = []
    entry = harness.Entry(
        "a",
        lambda _: seen.append("run"),
        prepare=lambda _: seen.append("prepare"),
        clean=lambda _: seen.append("clean"),
    )
    harness.hold_race("r", [entry], None, rounds=2, work=1, unit="B")
    assert seen == ["prepare", "run", "clean"] * 4  # a proof, a warm-up, two rounds


def test_a_share_of_the_limit_is_that_of_the_median(modules: Any) -> None:
    harness = modules("harness")
    race = harness.Race("r", 1, "B", {"a": [1.0, 2.0, 9.0]}, {}, {"a": ""}, harness.Limit("memory", 100, 50))
    assert race.share("a") == 25.0


@pytest.mark.parametrize("name", ["page cache", "page cache, writing", "memory", "checksum", "inflate"])
def test_a_limit_of_the_machine_is_some_rate(modules: Any, tmp_path: Path, name: str) -> None:
    assert modules("limits").measure(name, str(tmp_path), quick=True) > 1e6


# Peers ------------------------------------------------------------------------------------------------------


def test_a_peer_runs_and_proves_in_a_process_of_its_own(modules: Any) -> None:
    away = modules("away")
    peers = modules("peers")
    process = away.Away(sys.executable)
    try:
        assert process.ask("call", os.getpid, ()) != os.getpid()
        with pytest.raises(ImportError, match="webdataset_that_is_not_there"):
            process.ask("call", __import__, ("webdataset_that_is_not_there",))
        with pytest.raises(away.PeerError, match="ZeroDivisionError"):
            process.ask("call", divmod, (1, 0))
        assert process.ask("call", peers.count, ([1, 2, 3],)) == 3  # the line still works
    finally:
        process.close()


def test_a_worker_that_dies_is_said_with_its_exit_code(modules: Any) -> None:
    away = modules("away")
    process = away.Away(sys.executable)
    with pytest.raises(away.PeerError, match="the worker died, exit code 3"):
        process.ask("call", os._exit, (3,))
    process.close()


def test_a_peer_that_did_not_install_is_missing_with_its_reason(
    modules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, environments = modules("away"), modules("environments")
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "failed.txt").write_text("no wheel for this machine", encoding="utf-8")
    monkeypatch.setattr(environments, "place", tmp_path.joinpath)
    assert away.entries("tensorflow", list) == []
    assert away.missing == {"tensorflow": "no wheel for this machine"}


def test_a_peer_whose_worker_does_not_start_is_missing_too(
    modules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away, environments = modules("away"), modules("environments")
    python = tmp_path / "grain" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(str(shutil.which("false")))
    (tmp_path / "grain" / "made.txt").write_text("")
    monkeypatch.setattr(environments, "place", tmp_path.joinpath)
    assert away.entries("grain", list) == []
    assert away.missing == {"grain": "its environment is broken: the worker died, exit code 1"}
    assert away.facts() == {}


def test_an_environment_that_cannot_be_made_keeps_what_pip_said(
    modules: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environments = modules("environments")
    wanted = tmp_path / "wanted"
    wanted.mkdir()
    (wanted / "them.txt").write_text("them\n")
    wheel = tmp_path / "tfreel.whl"
    wheel.write_bytes(b"")
    monkeypatch.setattr(environments, "FOLDER", wanted)
    monkeypatch.setattr(environments, "place", (tmp_path / "made").joinpath)
    # A fresh environment with pip takes ten seconds; one without it fails as well.
    create = venv.create
    monkeypatch.setattr(venv, "create", lambda folder, *, with_pip: create(folder))
    assert environments.make("them", wheel) == f"them: does not install: {environments.failure('them')}"
    assert "No module named pip" in environments.failure("them")
    assert environments.python("them") is None
    assert environments.names() == ["them"]
