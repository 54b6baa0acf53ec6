"""What `import tfreel` adds to `import numpy`, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys

from bench import Bench
from harness import Line, Outcome, Race, quartiles

NAME = "import"
TITLE = "9. Import"

_MODULES = ("tfreel", "numpy")
_LIMIT_MILLISECONDS = 60
_SCRIPT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def run(bench: Bench) -> Outcome:
    """The median of the per-round differences."""
    for module in _MODULES:
        _import(module)  # the warm-up: files in the page cache, bytecode written
    times: dict[str, list[float]] = {module: [] for module in _MODULES}
    for turn in range(bench.at_least(15)):
        for module in _MODULES if turn % 2 else _MODULES[::-1]:
            times[module].append(_import(module))
    race = Race("import in a fresh process", 1, "imports", times, {}, dict.fromkeys(_MODULES, ""))
    added = [(a - b) * 1e3 for a, b in zip(times["tfreel"], times["numpy"], strict=True)]
    low, median, high = quartiles(added)
    text = "import tfreel, less import numpy"
    line = Line(text, median, "ms", _LIMIT_MILLISECONDS, at_most=True, low=low, high=high)
    return Outcome(NAME, TITLE, [race], [line])


def _import(module: str) -> float:
    # Timed inside: starting and ending an interpreter is not what is asked about.
    command = [sys.executable, "-I", "-c", _SCRIPT.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
