"""Writes docs/benchmarks.md and its charts from the receipts: `make bench-page`.

Of each job the newest receipt counts, whatever it says. A test compares page and charts with what this gives.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import charts

_ROOT = Path(__file__).parent.parent
_RUNS = Path(__file__).parent / "runs"
_PAGE = "docs/benchmarks.md"
_PICTURES = "docs/pictures"
_RATIOS = "benchmarks-ratios.svg"

_HEAD = """# Benchmarks

<!-- Written by benchmarks/report.py from the receipts; a test keeps it in step. -->

Every number here comes from a receipt under `benchmarks/runs/`, with every time of every round, the versions
of all libraries and the machine. `make bench` measures anew, `make bench-page` writes this page.
[How it is measured](../benchmarks/README.md): peers in environments of their own take turns with tfreel in
one run, equal results are asserted before anything is timed, and a ratio is the median of the ratios of the
rounds. Machines are noisy; take a third more or less for the same.

Above 1× tfreel is the faster one, below 1× it loses."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a job found, and the receipt that says so."""

    found: dict[str, Any]
    run: str
    facts: dict[str, Any]

    @property
    def title(self) -> str:
        """The title, without its number."""
        return str(self.found["title"]).partition(". ")[2]

    @property
    def comparisons(self) -> list[dict[str, Any]]:
        """The findings that say how many times as fast tfreel is as somebody else."""
        return [
            line
            for line in self.found["lines"]
            if line["unit"] == "×" and not line["at_most"] and line["value"] is not None
        ]


def newest_jobs() -> list[Job]:
    """Each job as its newest receipt has it, in the order of the jobs."""
    newest: dict[str, Job] = {}
    for path in sorted(_RUNS.glob("*/results.json"), key=_age):
        facts = _read(path)
        if not facts["check"]:
            newest |= {job["name"]: Job(job, path.parent.name, facts) for job in facts["jobs"]}
    return sorted(newest.values(), key=lambda job: float(job.found["title"].partition(".")[0]))


def _read(path: Path) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        facts: dict[str, Any] = json.load(file)
    return facts


def _age(path: Path) -> tuple[str, str, str]:
    facts = _read(path)
    return facts["date"], facts.get("time", ""), path.parent.name


# The page ---------------------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """All that is written: texts by path."""
    jobs = newest_jobs()
    pictures = {_RATIOS: charts.bars("How many times as fast tfreel is", _bars(jobs)), **_curves(jobs)}
    parts = [_HEAD, _overview(jobs), _growth(jobs), *map(_section, jobs), _machines(jobs)]
    page = "\n\n".join(part for part in parts if part) + "\n"
    return {_PAGE: page} | {f"{_PICTURES}/{name}": svg for name, svg in pictures.items()}


def _bars(jobs: list[Job]) -> list[tuple[str, str, float]]:
    """The first comparison of every job, and each that is lost; the lowest first."""
    rows = []
    for job in jobs:
        for i, line in enumerate(job.comparisons):
            if i == 0 or line["value"] < 1:
                rows.append((job.title, line["text"], line["value"]))
    return sorted(rows, key=lambda row: row[2])


def _overview(jobs: list[Job]) -> str:
    lines = [line for job in jobs for line in job.comparisons]
    lost = sum(line["value"] < 1 for line in lines)
    missed = [(job, line) for job in jobs for line in job.found["lines"] if line["verdict"] == "missed"]
    barred = sum(line["limit"] is not None for job in jobs for line in job.found["lines"])
    words = [
        f"![How many times as fast tfreel is, job by job](pictures/{_RATIOS})",
        f"The first comparison of each job, and every one that is lost. In all there are {len(lines)}"
        f" comparisons; tfreel loses {lost} of them.",
    ]
    if missed:
        listed = [f"- {job.title}: {line['text']}: {_value(line)}, aim {_aim(line)}" for job, line in missed]
        words.append(f"{len(missed)} of {barred} aims set beforehand are missed:\n\n" + "\n".join(listed))
    return "\n\n".join(words)


def _curves(jobs: list[Job]) -> dict[str, str]:
    return {
        f"benchmarks-growth-{i}.svg": charts.curves(
            curve["name"], curve["along"], curve["places"], curve["unit"], curve["rates"]
        )
        for i, curve in enumerate(_all_curves(jobs), 1)
    }


def _all_curves(jobs: list[Job]) -> list[dict[str, Any]]:
    return [curve for job in jobs for curve in job.found.get("curves", [])]


def _growth(jobs: list[Job]) -> str:
    found = _all_curves(jobs)
    if not found:
        return ""
    pictures = [
        f"![{curve['name']}: rate over {curve['along']}](pictures/benchmarks-growth-{i}.svg)"
        for i, curve in enumerate(found, 1)
    ]
    return "\n\n".join(["## Growth", "Medians, with bands between the quartiles.", *pictures])


def _section(job: Job) -> str:
    rows = [["finding", "value", "quartiles", "aim"]]
    rows += [[line["text"], _value(line), _spread(line), _aim_words(line)] for line in _sorted(job)]
    parts = [f"## {job.title}"]
    if len(rows) > 1:
        parts.append(_table(rows))
    limits = [words for race in job.found["races"] if (words := _limit(race))]
    if limits:
        parts.append("Of what the machine can do at most:\n\n" + "\n".join(limits))
    parts += job.found["notes"]
    receipt = f"../benchmarks/runs/{job.run}/results.md"
    parts.append(f"[Receipt]({receipt}), scale {job.facts['scale']:g}, {job.facts['rounds']} rounds.")
    return "\n\n".join(parts)


def _sorted(job: Job) -> list[dict[str, Any]]:
    """Comparisons first, the lowest on top; then the rest as it was found."""
    compared = sorted(job.comparisons, key=lambda line: line["value"])
    return compared + [line for line in job.found["lines"] if line not in compared]


def _limit(race: dict[str, Any]) -> str:
    """Which limit applies to a race, and how much of it the quickest of ours and of theirs reach."""
    limit = race.get("limit")
    if limit is None:
        return ""
    shares = {
        name: 100 * limit["moved"] / statistics.median(times) / limit["rate"]
        for name, times in race["times"].items()
    }
    listed = ", ".join(
        f"{name} {_percent(share)}" for name, share in sorted(shares.items(), key=lambda item: -item[1])
    )
    return f"- {race['name']}, {limit['name']}: {listed}"


def _percent(share: float) -> str:
    return f"{share:.0f}%" if share >= 10 else f"{share:.2g}%"


def _machines(jobs: list[Job]) -> str:
    found: dict[str, None] = {}
    for job in jobs:
        machine = job.facts["machine"]
        found[
            f"- {machine['cpu']}, {machine['usable_cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB,"
            f" {machine['kernel']}, {machine['python']}"
        ] = None
    missing = sorted({words for job in jobs for words in _missing(job.facts["missing"])})
    parts = ["## Machines", "\n".join(found)]
    if missing:
        parts.append("Peers that could not be measured in one of the runs:\n\n" + "\n".join(missing))
    return "\n\n".join(parts)


def _missing(found: Any) -> list[str]:
    if isinstance(found, dict):
        return [f"- {name}: {reason}" for name, reason in found.items()]
    return [f"- {name}" for name in found]


# Cells ------------------------------------------------------------------------------------------------------


def _value(line: dict[str, Any]) -> str:
    return "not measured" if line["value"] is None else f"{_number(line['value'])}{_glued(line['unit'])}"


def _spread(line: dict[str, Any]) -> str:
    low, high = line["low"], line["high"]
    return "" if low is None or high is None else f"{_number(low)} – {_number(high)}"


def _aim(line: dict[str, Any]) -> str:
    return f"{'≤' if line['at_most'] else '≥'} {line['limit']:g}{_glued(line['unit'])}"


def _aim_words(line: dict[str, Any]) -> str:
    if line["limit"] is None:
        return ""
    verdict = line["verdict"]
    return f"{_aim(line)}, {verdict if verdict == 'reached' else f'**{verdict}**'}"


def _glued(unit: str) -> str:
    return unit if unit in ("×", "%", "") else f" {unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---|" + "--:|" * (len(rows[0]) - 2) + "---|")
    return "\n".join(lines)


def main() -> int:
    """Writes what has changed, and takes away charts that nothing shows any more."""
    wanted = pages()
    for path, text in wanted.items():
        target = _ROOT / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
            print(path)
    for old in (_ROOT / _PICTURES).glob("benchmarks-*.svg"):
        if f"{_PICTURES}/{old.name}" not in wanted:
            os.unlink(old)
    return 0


if __name__ == "__main__":
    sys.exit(main())
