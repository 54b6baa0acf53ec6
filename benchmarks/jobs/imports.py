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
TITLE = "9. Start-up"

_ROUNDS = 15
_IMPORT_MILLISECONDS = 20
_READ_MILLISECONDS = 60
_HELP_MILLISECONDS = 200
_OURS = ("import tfreel", "from tfreel import read", "from tfreel import *", "import numpy")
_PEERS = {
    "tensorflow": "import tensorflow",
    "tfrecord": "import tfrecord",
    "grain": "import grain",
    "tfx-bsl": "import tfx_bsl.public.tfxio",
    "ray": "import ray.data",
    "webdataset": "import webdataset",
}
_SCRIPT = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def run(bench: Bench) -> Outcome:
    """What tfreel adds to NumPy, round by round; the peers for comparison, in fewer rounds."""
    often = bench.at_least(_ROUNDS)
    race = Race("in a fresh process", 1, "imports", {}, {}, {})
    race.times |= _take_turns(dict.fromkeys(_OURS, sys.executable), often)
    pythons = {words: away.interpreter(name) for name, words in _PEERS.items()}
    theirs = {words: python for words, python in pythons.items() if python is not None}
    race.times |= _take_turns(theirs, bench.rounds, warm_up=not bench.check)
    race.times["tfreel --help"] = [_help() for _ in range(often + 1)][1:]
    race.teams |= dict.fromkeys(race.times, "")
    used, numpy = race.times["from tfreel import read"], race.times["import numpy"]
    added = [a - b for a, b in zip(used, numpy, strict=True)]
    lines = [
        _line(
            "import tfreel, which opens its rooms later", race.times["import tfreel"], _IMPORT_MILLISECONDS
        ),
        _line("from tfreel import read, less import numpy", added, _READ_MILLISECONDS),
        _line("tfreel --help, the whole process", race.times["tfreel --help"], _HELP_MILLISECONDS),
    ]
    return Outcome(NAME, TITLE, [race], lines)


def _line(text: str, seconds: list[float], limit: float) -> Line:
    low, median, high = quartiles([1e3 * each for each in seconds])
    return Line(text, median, "ms", limit, at_most=True, low=low, high=high)


def _take_turns(pythons: dict[str, str], rounds: int, *, warm_up: bool = True) -> dict[str, list[float]]:
    """Times of statements in their interpreters, after a warm-up that writes bytecode."""
    for words, python in pythons.items() if warm_up else ():
        _import(python, words)
    times: dict[str, list[float]] = {words: [] for words in pythons}
    for turn in range(rounds):
        for words in pythons if turn % 2 else reversed(pythons):
            times[words].append(_import(pythons[words], words))
    return times


def _import(python: str, words: str) -> float:
    # Timed inside: starting and ending an interpreter is not what is asked about.
    command = [python, "-I", "-c", _SCRIPT.format(words)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout.split()[-1])


def _help() -> float:
    """The whole process, as somebody waits for it."""
    command = [os.path.join(sysconfig.get_path("scripts"), "tfreel"), "--help"]
    begin = perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return perf_counter() - begin
