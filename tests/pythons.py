"""Every Python that tfreel is for: which of them this machine has, and whether the wheels work with them.

``make test-pythons`` builds the wheels as they are published (one for Python 3.11, one with the stable ABI
for 3.12 and all that follow), installs them into a fresh environment of every Python that it finds, and runs
the tests of `TESTS` there. The oldest Python gets the oldest of each package that tfreel needs, the others
the newest.

nox and tox do the same for interpreters on PATH, where those of pyenv are shims, most of which refuse to run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "pythons"
TESTS = ROOT / "tests" / "wheel_tests.txt"
STABLE_ABI_SINCE = (3, 12)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))

PROBE = """
import importlib.util, json, os, sys, sysconfig
print(json.dumps({
    "version": sys.version_info[:3],
    "final": sys.version_info.releaselevel == "final",
    "path": sys._base_executable,
    "cpython": sys.implementation.name == "cpython",
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "headers": os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "venv": importlib.util.find_spec("ensurepip") is not None,
}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """An installed Python."""

    version: tuple[int, int, int]
    final: bool
    path: str
    cpython: bool
    free_threaded: bool
    headers: bool
    venv: bool

    @property
    def minor(self) -> tuple[int, int]:
        return self.version[:2]

    @property
    def missing(self) -> str:
        """What tfreel needs and this Python does not have; nothing if all is there."""
        if self.free_threaded:
            return "the GIL: free-threaded builds are not supported yet"
        if not self.headers:
            return "its headers (Python.h)"
        return "" if self.venv else "the module ensurepip"

    def __str__(self) -> str:
        return ".".join(map(str, self.version)) + ("" if self.final else " (not final)")


# Which there are --------------------------------------------------------------------------------------------


def candidate_paths() -> Iterator[Path]:
    """What may be a Python: on PATH, of pyenv, and the one that runs this."""
    yield Path(sys.executable)
    for folder in os.get_exec_path():
        with suppress(OSError):  # none, or not ours to read
            names = sorted(os.listdir(folder))
            yield from (Path(folder, name) for name in names if re.fullmatch(r"python3(\.\d+t?)?", name))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python3"))


def probe(path: Path) -> Interpreter | None:
    """What a program says of itself; nothing if it is no Python that runs."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", PROBE], capture_output=True, text=True, timeout=60, check=True
        )
        facts = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Interpreter(**{**facts, "version": tuple(facts["version"])})


def find_pythons(paths: Iterable[Path]) -> list[Interpreter]:
    """Of each minor version that we support the best Python, oldest version first."""
    probes = (probe(path) for path in dict.fromkeys(paths))  # by these names: a link may go by its own
    usable = (python for python in probes if python and python.cpython and python.minor >= OLDEST)
    best: dict[tuple[int, int], Interpreter] = {}
    for python in sorted(usable, key=lambda python: (not python.missing, python.final, python.version)):
        best[python.minor] = python
    return [best[minor] for minor in sorted(best)]


def supported_versions() -> list[tuple[int, int]]:
    """The minor versions that the project says it is for."""
    matches = (
        re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line) for line in PROJECT["classifiers"]
    )
    return [(3, int(match[1])) for match in matches if match]


def describe(pythons: list[Interpreter]) -> Iterator[str]:
    """A line for each version that is claimed or there."""
    here = {python.minor: python for python in pythons}
    for minor in sorted({*supported_versions(), *here}):
        name = ".".join(map(str, minor))
        if minor not in here:
            yield f"Python {name}: missing on this machine"
        elif here[minor].missing:
            yield f"Python {name}: {here[minor].path} lacks {here[minor].missing}"
        else:
            yield f"Python {name}: {here[minor].path} is {here[minor]}"


def stable_abi_builders(pythons: list[Interpreter]) -> list[Interpreter]:
    """The Pythons that can build the wheel for 3.12 and all that follow: at least one, oldest first.

    Raises:
        SystemExit: There is none.
    """
    if able := [python for python in pythons if python.minor >= STABLE_ABI_SINCE and not python.missing]:
        return able
    raise SystemExit(
        "\n".join(describe(pythons))
        + "\nthe wheel for Python 3.12 and newer is built with one of these and its headers; none will do:"
        " pyenv install 3.12, or apt-get install python3-dev where that is 3.12 or newer"
    )


# What they do -----------------------------------------------------------------------------------------------


def run(*command: str | Path) -> None:
    """Runs a command here, shown.

    Raises:
        SystemExit: It failed.
    """
    words = [os.path.relpath(word, ROOT) if isinstance(word, Path) else word for word in command]
    print("$", shlex.join(words), flush=True)
    if code := subprocess.run(words, cwd=ROOT).returncode:
        raise SystemExit(code)


def make_environment(python: Interpreter) -> Path:
    """Makes a fresh environment. Gives its Python."""
    folder = BUILD / ".".join(map(str, python.minor))
    run(python.path, "-m", "venv", "--clear", folder)
    run(folder / "bin" / "python", "-m", "pip", "--quiet", "install", "--upgrade", "pip>=25.1")
    return folder / "bin" / "python"


def build_wheel(python: Path) -> Path:
    """The wheel that a Python builds, as it is published."""
    folder = python.parent.parent / "wheel"
    run(python, "-m", "pip", "--quiet", "wheel", ".", "--no-deps", "--wheel-dir", folder)
    (path,) = folder.glob("*.whl")
    return path


def oldest_requirements() -> list[str]:
    """The oldest of each package that tfreel needs, as requirements."""
    return [requirement.replace(">=", "==") for requirement in PROJECT["dependencies"]]


def test_wheel(python: Path, wheel: Path, pinned: list[str]) -> str:
    """Installs the wheel beside the tests' own packages, and tests it. Gives a line that says so."""
    run(python, "-m", "pip", "--quiet", "install", wheel, *pinned, "--group", "test")
    where = "import numpy, tfreel; print(tfreel.__file__, numpy.__version__)"
    done = subprocess.run([python, "-c", where], cwd=ROOT, capture_output=True, text=True, check=True)
    place, numpy = done.stdout.split()
    if not Path(place).is_relative_to(python.parent.parent):
        raise SystemExit(f"{place} is tested, not the wheel")
    start = time.monotonic()
    run(python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", f"@{TESTS.relative_to(ROOT)}")
    return f"passed in {time.monotonic() - start:.0f} s with {wheel.name} and NumPy {numpy}"


def test_all(pythons: list[Interpreter]) -> None:
    """Builds both wheels and tests each Python with its own.

    Raises:
        SystemExit: Something failed, or the wheel with the stable ABI could not be built.
    """
    builder = stable_abi_builders(pythons)[0]
    environments = {python.minor: make_environment(python) for python in pythons if not python.missing}
    stable = build_wheel(environments[builder.minor])
    run(Path(sys.executable).with_name("abi3audit"), "--strict", "--summary", stable)
    results = []
    for minor, python in environments.items():
        wheel = stable if minor >= STABLE_ABI_SINCE else build_wheel(python)
        result = test_wheel(python, wheel, oldest_requirements() if minor == OLDEST else [])
        results.append(f"Python {'.'.join(map(str, minor))}: {result}")
    print("\n".join(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument(
        "--stable-abi", action="store_true", help="only print the newest that can build that wheel"
    )
    options = parser.parse_args()
    pythons = find_pythons(candidate_paths())
    if options.stable_abi:
        print(stable_abi_builders(pythons)[-1].path)
    elif options.list:
        print("\n".join(describe(pythons)))
    else:
        print("\n".join(describe(pythons)), flush=True)
        test_all(pythons)


if __name__ == "__main__":
    main()
