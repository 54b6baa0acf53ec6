"""The door of the benchmarks: `python benchmarks/run.py [--scale 0.1] [--only JOB,JOB] [--save NAME]`."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import tempfile
import time
from typing import Any

import away
from bench import Bench
from data import Data
from harness import LEAST_ROUNDS, Outcome
from jobs import JOBS
from receipts import machine_facts, package_facts, render, render_summary, save

_RUNS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs")
_CHECK_SCALE, _CHECK_ROUNDS, _CHECK_LEAST = 0.0005, 1, 1100


def _parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures tfreel against its peers, side by side.")
    parser.add_argument("--scale", type=float, default=1.0, help="share of a million small records")
    parser.add_argument("--rounds", type=int, default=LEAST_ROUNDS, help=f"{LEAST_ROUNDS} or more")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(JOBS), metavar="JOB,JOB")
    parser.add_argument("--save", metavar="NAME", help="keep a receipt as runs/<date>-NAME")
    parser.add_argument("--data", metavar="DIR", help="keep the data here, for the next run")
    parser.add_argument(
        "--check", action="store_true", help="seconds, to test the harness; numbers mean nothing"
    )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.only if name not in JOBS]:
        parser.error(f"no job {', '.join(unknown)}; there are {', '.join(JOBS)}")
    if options.save and not re.fullmatch(r"[\w.-]+", options.save):
        parser.error("--save takes a plain name: letters, digits, dots and dashes")
    if options.check:
        options.scale, options.rounds = _CHECK_SCALE, _CHECK_ROUNDS
    elif options.rounds < LEAST_ROUNDS or options.scale <= 0:
        parser.error(f"{LEAST_ROUNDS} rounds is the least that says something, and the scale is above 0")
    return options


def _command(options: argparse.Namespace) -> str:
    """The command line, rebuilt from what it meant: as typed it may hold paths of this machine."""
    size = [f"--scale {options.scale:g}", f"--rounds {options.rounds}"]
    parts = ["--check"] if options.check else size
    if options.only != list(JOBS):
        parts.append(f"--only {','.join(options.only)}")
    if options.data:
        parts.append("--data DIR")
    return f"python benchmarks/run.py {' '.join(parts)} --save {options.save}"


def _facts(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "name": options.save,
        "date": time.strftime("%Y-%m-%d"),
        "time": time.strftime("%H:%M"),
        "command": _command(options),
        "check": options.check,
        "scale": options.scale,
        "rounds": options.rounds,
        "machine": machine_facts(),
        "packages": package_facts(),
    }


def main() -> int:
    """Runs the jobs in their order, prints each as it ends, and keeps a receipt if asked to."""
    options = _parse()
    facts = _facts(options)
    receipt = os.path.join(_RUNS, f"{facts['date']}-{options.save}")
    if options.save and os.path.exists(receipt):  # said now, and not when all is measured
        sys.exit(f"{os.path.relpath(receipt)} is there already: a receipt is never written over")
    outcomes: list[Outcome] = []
    with contextlib.ExitStack() as stack:
        folder = options.data or stack.enter_context(tempfile.TemporaryDirectory(prefix="tfreel-bench-"))
        os.makedirs(folder, exist_ok=True)
        data = Data(folder, options.scale, _CHECK_LEAST) if options.check else Data(folder, options.scale)
        bench = Bench(data, options.scale, options.rounds, options.check)
        for name, job in JOBS.items():
            if name in options.only:
                begin = time.perf_counter()
                outcomes.append(job.run(bench))
                print(render(outcomes[-1]), flush=True)
                print(f"{name} took {time.perf_counter() - begin:.0f} seconds", file=sys.stderr)
    print(render_summary(outcomes))
    if options.check:
        print("This was a check of the harness: the numbers mean nothing.")
    if options.save:
        facts["missing"], facts["peers"] = away.missing, away.facts()
        for path in save(receipt, facts, outcomes, [folder]):
            print(os.path.relpath(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
