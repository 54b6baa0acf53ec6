"""For information, without bars: how fast a shuffled order is made, and what reading costs in memory."""

from __future__ import annotations

import statistics
import subprocess
import sys

import numpy as np
from bench import Bench
from data import Shape
from harness import Entry, Line, Outcome

from tfreel import _core

NAME = "information"
TITLE = "13. For information: permutation and memory"

_AT_ONCE = 65536
# getrusage tells a child the peak of its parent, which here is large, and the counters in /proc/self/status
# lag by much of what there is to measure; the rollup is exact, so it is looked at again and again.
_SCRIPT = """
import sys, tfreel
def resident():
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Rss:"))
peak = before = resident()
for n, record in enumerate(tfreel.read(sys.argv[1])):
    if n % 1000 == 0:
        peak = max(peak, resident())
print(max(peak, resident()) - before)
"""


def run(bench: Bench) -> Outcome:
    """The permutation beside NumPy's, which holds all of it in memory; memory in fresh processes."""
    size = bench.amount(10_000_000, 100_000)
    entries = [Entry("tfreel permutation", _permute), Entry("numpy permutation", _permute_numpy)]
    race = bench.race("indices in random order", entries, size, work=size, unit="indices")
    shape = bench.data.shape("small")
    lines = [Line("indices in random order", race.rate("tfreel permutation") / 1e6, "M/s")]
    if sys.platform == "linux":
        growth = [_memory_growth(shape) for _ in range(3)]
        text = f"peak memory added by iterating {shape.file_bytes / 2**20:,.0f} MiB"
        lines.append(Line(text, statistics.median(growth) / 2**20, "MiB"))
    return Outcome(NAME, TITLE, [race], lines)


def _permute(size: int) -> int:
    """The sum of all indices: the same for every true permutation."""
    order = _core.Permutation(size, 17)
    blocks = (order.indices(i, min(i + _AT_ONCE, size)) for i in range(0, size, _AT_ONCE))
    return sum(int(block.sum()) for block in blocks)


def _permute_numpy(size: int) -> int:
    return int(np.random.default_rng(17).permutation(size).sum())


def _memory_growth(shape: Shape) -> int:
    command = [sys.executable, "-I", "-c", _SCRIPT, shape.path]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
