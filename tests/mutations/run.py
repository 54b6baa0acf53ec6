"""Takes the guards of the core out, one by one, and counts how many tests notice: `make mutants`.

All guards are woven into one build of the core's tests and seeds, with sanitizers, and into one of the
extension. A number in the environment says which is out. What the core's tests do not notice, pytest has to.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guards import CORE, HEADER, LIST, Guard, read_guards, woven

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = CORE.parent
BUILD = ROOT / "build/mutants"
SOURCES = BUILD / "source"
PACKAGE = BUILD / "package"
FUZZERS = sorted(path.name.removesuffix("_fuzz.cpp") for path in (CORE / "fuzz").glob("*_fuzz.cpp"))
MEMORY = 12 << 30  # of pytest; the sanitizers have a limit of their own
SANITIZERS = "detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=6000"
LONGEST_TEST = "stretches_of_records"  # takes as long as all others: it comes last
# An editable install would be found first.
CUSTOMIZE = """\
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__.lower()]
"""


@dataclass(frozen=True)
class Outcome:
    """What came of one mutant: what noticed it, if anything did."""

    guard: Guard
    noticed_by: str | None
    seconds: float


def weave(guards: list[Guard]) -> None:
    """The sources with all guards woven in. Those that did not change stay as old as they are."""
    for path in [*ROOT.glob("core/**/*"), *ROOT.glob("bindings/*"), *ROOT.glob("src/tfreel/**/*")]:
        if path.is_file() and path.suffix not in {".so", ".pyc"}:
            of_file = [guard for guard in guards if path == CORE / guard.file]
            content = (
                woven(path.read_text(encoding="utf-8"), of_file).encode() if of_file else path.read_bytes()
            )
            put(SOURCES / path.relative_to(ROOT), content)
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        put(SOURCES / name, (ROOT / name).read_bytes())
    shutil.copytree(ROOT / "src/pyspark_tfreel", SOURCES / "src/pyspark_tfreel", dirs_exist_ok=True)
    put(SOURCES / "core/mutant.hpp", HEADER.encode())


def put(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def tool(name: str) -> str:
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def build_core() -> None:
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -w", "-DTFREEL_CORE_TESTS=ON"]
    ninja = f"-DCMAKE_MAKE_PROGRAM={shutil.which(tool('ninja'))}"
    configure = [
        tool("cmake"),
        "-S",
        SOURCES,
        "-B",
        BUILD / "core",
        "-G",
        "Ninja",
        ninja,
        "-DTFREEL_SANITIZE=address,undefined",
    ]
    subprocess.run([*configure, *flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tool("cmake"), "--build", BUILD / "core"], check=True)


def build_package() -> None:
    """The package with the woven extension, where pytest finds it before the installed one."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    if (
        subprocess.run([sys.executable, "-c", "import nanobind, scikit_build_core"], check=False).returncode
        == 0
    ):
        command.append("--no-build-isolation")
    options = ["--config-settings=cmake.build-type=Release", f"--config-settings=build-dir={BUILD}/extension"]
    environment = {**os.environ, "CXXFLAGS": "-O1 -w"}
    subprocess.run([*command, *options, "--target", PACKAGE, SOURCES], check=True, env=environment)
    (PACKAGE / "sitecustomize.py").write_text(CUSTOMIZE)


def limited(seconds: float, memory: int) -> Callable[[], None]:
    """Lets a process that runs for ever end. Its own time is what counts: the machine may be busy."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return limit


def passes(command: list[str | Path], number: int, seconds: float, *, python: bool = False) -> bool:
    """Whether a program still ends well without this guard: soon, and with code 0."""
    environment = {**os.environ, "TFREEL_MUTANT": str(number), "ASAN_OPTIONS": SANITIZERS}
    if python:
        environment |= {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited(seconds, MEMORY if python else 0),
        start_new_session=True,
    ) as process:
        try:
            return process.wait(timeout=20 * seconds) == 0
        except subprocess.TimeoutExpired:  # it waits for something that never comes
            os.killpg(process.pid, signal.SIGKILL)
            return False


def core_programs() -> list[list[str | Path]]:
    replays = [
        [BUILD / f"core/{name}_replay", *sorted((CORE / f"fuzz/seeds/{name}").iterdir())] for name in FUZZERS
    ]
    tests = BUILD / "core/core_tests"
    return [[tests, f"-{LONGEST_TEST}", "first"], *replays, [tests, LONGEST_TEST, "first"]]


def pytest_for(guard: Guard) -> list[str | Path]:
    return [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *guard.tests]


def attempt(guard: Guard, seconds: float, usable: set[tuple[str, ...]]) -> Outcome:
    begin = time.monotonic()
    for program in core_programs():
        if not passes(program, guard.number, seconds):
            return Outcome(guard, Path(program[0]).name, time.monotonic() - begin)
    if guard.tests in usable and not passes(pytest_for(guard), guard.number, 600, python=True):
        return Outcome(guard, "pytest", time.monotonic() - begin)
    return Outcome(guard, None, time.monotonic() - begin)


def check_core() -> float:
    """How long a mutant may take: some times what it takes with all guards. They must all pass then."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not all(passes(program, 0, 900) for program in core_programs()):
        sys.exit("the core's tests fail with all guards in their places")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 20 + 4 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def usable_suites(guards: list[Guard]) -> set[tuple[str, ...]]:
    """The suites of pytest that pass with all guards in their places. Others can tell nothing."""
    suites = {guard.tests: guard for guard in guards}
    usable = {tests for tests, guard in suites.items() if passes(pytest_for(guard), 0, 900, python=True)}
    for tests in sorted(set(suites) - usable):
        print(f"with all guards in their places this fails, and is left out: {' '.join(tests)}")
    return usable


def chosen(guards: list[Guard], options: argparse.Namespace) -> list[Guard]:
    picked = [guard for guard in guards if options.only in str(guard)]
    if options.numbers:
        picked = [guard for guard in picked if guard.number in options.numbers]
    if options.sample:
        picked = random.Random(options.seed).sample(picked, min(options.sample, len(picked)))
    return picked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="guards in whose description this occurs")
    parser.add_argument("--numbers", type=int, nargs="*", help="guards of these numbers")
    parser.add_argument("--sample", type=int, help="so many of them, by chance")
    parser.add_argument(
        "--seed", default=time.strftime("%Y-%m-%d"), help="of the sample; the date by default"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--core-only", action="store_true", help="without the extension and pytest")
    options = parser.parse_args()
    guards = list(read_guards(LIST.read_text(encoding="utf-8")))
    weave(guards)
    build_core()
    picked = chosen(guards, options)
    seconds, usable = check_core(), set()
    if not options.core_only:
        build_package()
        usable = usable_suites(picked)
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = []
        for outcome in pool.map(lambda guard: attempt(guard, seconds, usable), picked):
            outcomes.append(outcome)
            print(
                f"{outcome.noticed_by or 'SURVIVED':14} {outcome.seconds:5.0f} s {outcome.guard}", flush=True
            )
    survived = [outcome for outcome in outcomes if outcome.noticed_by is None]
    by_pytest = sum(outcome.noticed_by == "pytest" for outcome in outcomes)
    by_core = len(outcomes) - len(survived) - by_pytest
    print(f"{len(outcomes)} guards were taken out. Who noticed: ", end="")
    print(f"the core's tests and seeds {by_core}, pytest {by_pytest}, nobody {len(survived)}")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
