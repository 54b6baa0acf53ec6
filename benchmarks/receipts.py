"""What a run leaves behind: tables to read, numbers to check, and the machine and versions they belong to."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from harness import Line, Outcome, Race, quartiles

_NAMED = ("tfreel", "numpy", "isal", "pyarrow", "pandas", "polars", "pyspark")
_NAMED_PEERS = (
    "tensorflow-cpu",
    "tensorflow",
    "tfrecord",
    "torch",
    "array-record",
    "grain",
    "tfx-bsl",
    "ray",
    "webdataset",
    "google-crc32c",
    "numpy",
)
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (0, ""))


# Facts ------------------------------------------------------------------------------------------------------


def machine_facts() -> dict[str, Any]:
    """What the numbers depend on. No names of machines or people."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load_average": [round(load, 2) for load in os.getloadavg()],
    }


def package_facts() -> dict[str, Any]:
    """Versions of everything installed, and which build of tfreel this is."""
    import tfreel

    found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
    url = importlib.metadata.distribution("tfreel").read_text("direct_url.json") or "{}"
    editable = bool(json.loads(url).get("dir_info", {}).get("editable"))
    return {
        "versions": dict(sorted(found.items(), key=lambda item: item[0].lower())),
        "tfreel_editable": editable,
        # A version says little about a tree that is being worked on; this tells two builds apart.
        "tfreel_sha256": _digest_of_package(os.path.dirname(tfreel.__file__)),
        "crc32c": list(tfreel._core.crc32c_implementations()),
    }


def _digest_of_package(folder: str) -> str:
    from tfreel import _core

    paths = [_core.__file__]  # of an editable install it lies elsewhere
    for parent, _, names in os.walk(folder):
        paths += [os.path.join(parent, name) for name in names if name.endswith(".py")]
    digests = []
    for path in paths:
        with open(path, "rb") as file:
            digests.append(hashlib.sha256(file.read()).hexdigest())
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def _cpu_model() -> str:
    if sys.platform == "darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    try:
        with open("/proc/cpuinfo") as file:
            found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


# Tables -----------------------------------------------------------------------------------------------------


def render(outcome: Outcome) -> str:
    """One job as Markdown, aligned so that it reads well on a terminal too."""
    parts = [f"## {outcome.title}"]
    parts += [_race_table(race) for race in outcome.races]
    if outcome.lines:
        parts.append(_line_table(outcome.lines))
    parts += outcome.notes
    return "\n\n".join(parts) + "\n"


def _race_table(race: Race) -> str:
    rows = [[race.name, "median", "min", "quartiles", "rate", *_limit_words(race)]]
    for name, times in race.times.items():
        low, median, high = quartiles(times)
        spread = f"{_seconds(low)} – {_seconds(high)}"
        share = race.share(name)
        shares = [] if share is None else [f"{share:.3g}%"]
        speed = _rate(race.rate(name), race.unit)
        rows.append([name, _seconds(median), _seconds(min(times)), spread, speed, *shares])
    table = _table(rows)
    tried = _dropped(race)
    return f"{table}\n\nTried in a heat, too slow to race: {tried}." if tried else table


def _limit_words(race: Race) -> list[str]:
    if race.limit is None:
        return []
    unit = race.unit if race.limit.name == "JPEG" else "B"
    return [f"of {race.limit.name}, {_rate(race.limit.rate, unit)}"]


def _dropped(race: Race) -> str:
    """The routes that lost their heat, and how clearly: nobody need take our word for which is fastest."""
    best: dict[str, float] = {}
    for name, times in race.heat.items():
        team = race.teams[name]
        best[team] = min(best.get(team, times[0]), *times)
    dropped = [name for name in race.heat if name not in race.times]
    return ", ".join(f"{n} ({min(race.heat[n]) / best[race.teams[n]]:.1f}× as long)" for n in dropped)


def _line_table(lines: list[Line]) -> str:
    rows = [["finding", "value", "quartiles", "bar", "verdict"]]
    for line in lines:
        verdict = line.verdict.upper() if line.verdict == "missed" else line.verdict
        rows.append([line.text, _value(line), _spread(line), _bar(line), verdict])
    return _table(rows)


def _value(line: Line) -> str:
    return "–" if line.value is None else f"{_number(line.value)}{_glued(line.unit)}"


def _spread(line: Line) -> str:
    return "" if line.low is None or line.high is None else f"{_number(line.low)} – {_number(line.high)}"


def _bar(line: Line) -> str:
    return "" if line.limit is None else f"{'≤' if line.at_most else '≥'} {line.limit:g}{_glued(line.unit)}"


def render_summary(outcomes: list[Outcome]) -> str:
    """How many bars were reached, and which were not."""
    barred = [(o, line) for o in outcomes for line in o.lines if line.limit is not None]
    counts = {v: [p for p in barred if p[1].verdict == v] for v in ("reached", "missed", "not measured")}
    text = f"{len(barred)} bars: " + ", ".join(f"{len(found)} {verdict}" for verdict, found in counts.items())
    losses = [
        f"- {line.verdict}: {o.name}: {line.text}: {_value(line)}, bar {_bar(line)}"
        for o, line in counts["missed"] + counts["not measured"]
    ]
    return "\n".join([text + ".", *losses])


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _glued(unit: str) -> str:
    return unit if unit in ("×", "%") else f" {unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _seconds(value: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _rate(value: float, unit: str) -> str:
    factor, prefix = next((factor, prefix) for factor, prefix in _PREFIXES if value >= factor)
    space = "" if unit == "B" or not prefix else " "
    return f"{value / (factor or 1):.3g} {prefix}{space}{unit}/s"


# Receipts ---------------------------------------------------------------------------------------------------


def save(folder: str, facts: dict[str, Any], outcomes: list[Outcome], private: list[str]) -> list[str]:
    """Writes results.json and results.md, with all paths of this machine taken out. Gives their paths."""
    results = {**facts, "jobs": [_plain(outcome) for outcome in outcomes]}
    os.makedirs(folder, exist_ok=False)  # a receipt is never written over
    texts = {
        "results.json": json.dumps(results, indent=1, ensure_ascii=False) + "\n",
        "results.md": _page(facts, outcomes),
    }
    paths = []
    for name, text in texts.items():
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "x", encoding="utf-8") as file:
            file.write(scrub(text, private))
    return paths


def _plain(outcome: Outcome) -> dict[str, Any]:
    plain = asdict(outcome)
    for line, found in zip(plain["lines"], outcome.lines, strict=True):
        line["verdict"] = found.verdict
    return plain


def _page(facts: dict[str, Any], outcomes: list[Outcome]) -> str:
    head = [
        f"# {facts['date']} {facts['name']}",
        "**A check of the harness: the numbers mean nothing.**" if facts["check"] else "",
        f"`{facts['command']}`",
        _machine_words(facts["machine"]),
        _package_words(facts["packages"]),
        _peer_words(facts["peers"]),
        _missing_words(facts["missing"]),
        render_summary(outcomes),
    ]
    return "\n\n".join([part for part in head if part] + [render(outcome) for outcome in outcomes])


def _machine_words(machine: dict[str, Any]) -> str:
    return (
        f"{machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores,"
        f" {machine['memory_bytes'] / 2**30:.0f} GiB, {machine['kernel']}, {machine['python']},"
        f" load {machine['load_average'][0]} at the start."
    )


def _package_words(packages: dict[str, Any]) -> str:
    versions = _named(packages["versions"], (*_NAMED, *_NAMED_PEERS[:-1]))
    kind = "editable" if packages["tfreel_editable"] else "installed"
    crc = ", ".join(packages["crc32c"])
    return f"{versions}; tfreel {kind}, build {packages['tfreel_sha256'][:12]}, crc32c of {crc}."


def _peer_words(peers: dict[str, Any]) -> str:
    """Each environment with the versions that matter in it."""
    found = [f"{name} ({_named(facts['versions'], _NAMED_PEERS)})" for name, facts in peers.items()]
    return f"Peers, each in its own environment: {'; '.join(found)}." if found else ""


def _named(versions: dict[str, str], names: Iterable[str]) -> str:
    """The versions of these, as far as they are there, however their names are spelt."""
    known = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in versions.items()}
    return ", ".join(f"{name} {known[name]}" for name in names if name in known)


def _missing_words(missing: dict[str, str]) -> str:
    listed = "\n".join(f"- {name}: {reason}" for name, reason in missing.items())
    return f"Missing, so not measured:\n\n{listed}" if missing else ""


def scrub(text: str, private: list[str]) -> str:
    """The text without this machine's paths: home, temporary and working directories, interpreter, data."""
    places = {
        *private,
        os.path.expanduser("~"),
        tempfile.gettempdir(),
        os.getcwd(),
        sys.prefix,
        sys.base_prefix,
    }
    places |= {os.path.realpath(place) for place in places}
    for place in sorted(places, key=len, reverse=True):  # the longest first: one may lie inside another
        if len(place) > 1:
            text = text.replace(place, "…")
    return text
