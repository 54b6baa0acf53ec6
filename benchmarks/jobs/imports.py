"""How long it takes to start: `import` of each library, and of the command line, in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from time import perf_counter

import away
from bench import Bench
from harness import Line, Outcome, Race, quartiles

NAME = "import"
TITLE = "9. Import"

_ROUNDS = 15
_LIMIT_MILLISECONDS = 60
_HELP_MILLISECONDS = 200
_PEERS = {
    "tensorflow": "tensorflow",
    "tfrecord": "tfrecord",
    "grain": "grain",
    "tfx-bsl": "tfx_bsl.public.tfxio",
    "ray": "ray.data",
    "webdataset": "webdataset",
}
_SCRIPT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def run(bench: Bench) -> Outcome:
    """The median of the per-round differences; the peers for comparison, in fewer rounds."""
    often = bench.at_least(_ROUNDS)
    race = Race("import in a fresh process", 1, "imports", {}, {}, {})
    race.times |= _take_turns({name: (sys.executable, name) for name in ("tfreel", "numpy")}, often)
    pythons = {module: away.interpreter(name) for name, module in _PEERS.items()}
    theirs = {module: (python, module) for module, python in pythons.items() if python is not None}
    race.times |= _take_turns(theirs, bench.rounds)
    race.times["tfreel --help"] = help_times = [_help() for _ in range(often + 1)][1:]
    race.teams |= dict.fromkeys(race.times, "")
    added = [(a - b) * 1e3 for a, b in zip(race.times["tfreel"], race.times["numpy"], strict=True)]
    lines = [
        _line("import tfreel, less import numpy", added, _LIMIT_MILLISECONDS),
        _line("tfreel --help", [seconds * 1e3 for seconds in help_times], _HELP_MILLISECONDS),
    ]
    return Outcome(NAME, TITLE, [race], lines)


def _line(text: str, milliseconds: list[float], limit: float) -> Line:
    low, median, high = quartiles(milliseconds)
    return Line(text, median, "ms", limit, at_most=True, low=low, high=high)


def _take_turns(modules: dict[str, tuple[str, str]], rounds: int) -> dict[str, list[float]]:
    """Times by name, of modules in their interpreters, after a warm-up that writes bytecode."""
    for python, module in modules.values():
        _import(python, module)
    times: dict[str, list[float]] = {name: [] for name in modules}
    for turn in range(rounds):
        for name in modules if turn % 2 else reversed(modules):
            times[name].append(_import(*modules[name]))
    return times


def _import(python: str, module: str) -> float:
    # Timed inside: starting and ending an interpreter is not what is asked about.
    command = [python, "-I", "-c", _SCRIPT.format(module)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout.split()[-1])


def _help() -> float:
    """The whole process, as somebody waits for it."""
    command = [os.path.join(sysconfig.get_path("scripts"), "tfreel"), "--help"]
    begin = perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return perf_counter() - begin
