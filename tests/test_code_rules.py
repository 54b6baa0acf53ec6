"""Rules of the code that no linter knows: nothing is unpickled or run, raw memory is read in known places."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("src/tfreel/**/*.py"), *ROOT.glob("src/pyspark_tfreel/**/*.py")])

PICKLES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib"}
RUNNERS = {"eval", "exec", "compile", "__import__"}
SHELLS = {"system", "popen", "getoutput", "getstatusoutput"}

# What the driver of a cluster sent to its own workers: the cluster itself does the same with all code.
MAY_UNPICKLE = {"src/tfreel/engines/ray.py": 2, "src/tfreel/adapters/ray_read.py": 1}
# `tfreel explain --run` runs the file that its user named and asked to run.
MAY_RUN = {"src/tfreel/profile/spec_file.py": 2}

# Where the core looks at memory without Cursor, WireCursor or a span that checks: each has bounds of its own.
RAW_READERS = {
    "blake2b.cpp", "content.cpp", "crc32c.cpp", "csv.cpp", "csv_columns.cpp", "cursor.hpp",
    "decoder.cpp", "digest.cpp", "encode.cpp", "encode.hpp", "example.cpp", "example.hpp",
    "feature_statistics.cpp", "frame.cpp", "hashing.hpp", "names.hpp", "numbers.hpp", "outline.cpp",
    "peek.hpp", "rows.cpp", "saved.hpp", "statistics.cpp", "string_views.cpp", "utf8.cpp", "wire.hpp",
}  # fmt: skip

# The first versions without holes that our use of a package could reach, or that scanners would name.
SOUND_SINCE = {
    "protobuf": (5, 29, 6),
    "pillow": (12, 2),
    "starlette": (0, 49, 1),
    "pyarrow": (14, 0, 1),
    "ray": (2, 52),
}


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """Every call in the code: what is called, the last name before it, and the call."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            yield node.func.id, "", node
        elif isinstance(node.func, ast.Attribute):
            owner = node.func.value
            before = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            yield node.func.attr, before, node


def unpickles(name: str, owner: str, call: ast.Call) -> bool:
    if owner in PICKLES:
        return name in {"load", "loads", "Unpickler", "open"}
    if name != "load" or owner not in {"np", "numpy"}:
        return False
    allowed = [option.value for option in call.keywords if option.arg == "allow_pickle"]
    return not (allowed and isinstance(allowed[0], ast.Constant) and allowed[0].value is False)


def runs_code(name: str, owner: str, call: ast.Call) -> bool:
    shell = any(option.arg == "shell" for option in call.keywords)
    return shell or (not owner and name in RUNNERS) or (owner in {"os", "subprocess"} and name in SHELLS)


def places(wrong: Callable[..., bool], sources: dict[str, ast.AST]) -> Counter[str]:
    """How often each source does something wrong."""
    return Counter(path for path, tree in sources.items() for call in calls(tree) if wrong(*call))


@functools.cache
def package() -> dict[str, ast.AST]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES
    }


def one(text: str) -> dict[str, ast.AST]:
    return {"a": ast.parse(text)}


def kinds(sources: dict[str, ast.AST], roots: set[str]) -> dict[str, str]:
    """The classes that derive from some, by the file that they are in."""
    classes = {
        node.name: (path, {base.id for base in node.bases if isinstance(base, ast.Name)})
        for path, tree in sources.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found: dict[str, str] = {}
    while more := {
        name: path
        for name, (path, bases) in classes.items()
        if name not in found and (name in roots or bases & {*roots, *found})
    }:
        found |= more
    return found


def asked(tree: ast.AST) -> set[str]:
    """The classes that code asks values for."""
    tests: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"isinstance", "issubclass"}:
            tests += node.args[1:]
        elif isinstance(node, ast.Compare) and any(
            (isinstance(side, ast.Call) and getattr(side.func, "id", "") == "type")
            or (isinstance(side, ast.Attribute) and side.attr == "__class__")
            for side in (node.left, *node.comparators)
        ):
            tests += [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            tests.append(node.cls)
    names = chain.from_iterable(map(ast.walk, tests))
    return {node.id for node in names if isinstance(node, ast.Name)}


def imported(tree: ast.AST, package: str) -> set[str]:
    """The names that code takes from a package."""
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package)
        for alias in node.names
    }


def test_nothing_is_unpickled() -> None:
    assert places(unpickles, package()) == MAY_UNPICKLE
    assert places(unpickles, one("pickle.loads(x)\nray.cloudpickle.load(f)\nnp.load(f)\n")) == {"a": 3}
    assert not places(unpickles, one("np.load(f, allow_pickle=False)\njson.loads(x)\n"))


def test_no_code_is_run_and_no_shell() -> None:
    assert places(runs_code, package()) == MAY_RUN
    wrong = "eval(x)\nos.system(x)\nsubprocess.run(x, shell=True)\ncompile(x, '', 'exec')\n"
    assert places(runs_code, one(wrong)) == {"a": 4}
    assert not places(runs_code, one("re.compile(x)\ntensor.eval()\nsubprocess.run(x)\n"))


def test_raw_pointers_are_read_in_known_places_only() -> None:
    raw = re.compile(r"\b(memcpy|memmove|memcmp|memchr|reinterpret_cast)\b")
    found = {
        path.name for path in (ROOT / "core").glob("*.?pp") if raw.search(path.read_text(encoding="utf-8"))
    }
    assert found == RAW_READERS


def floors() -> dict[str, tuple[int, ...]]:
    """The oldest version of each package that we allow, wherever it is named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = chain(project["dependencies"], *project["optional-dependencies"].values())
    matches = (re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement) for requirement in named)
    return {match[1]: tuple(map(int, match[2].split("."))) for match in matches if match}


def test_dependencies_are_newer_than_their_known_holes() -> None:
    allowed = floors()
    assert {name: allowed[name] for name in SOUND_SINCE if allowed[name] < SOUND_SINCE[name]} == {}


def test_few_packages_are_needed() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert len(needed) <= 6


def test_nobody_asks_of_what_class_a_stage_or_an_order_is() -> None:
    """Stages answer for themselves: whoever adds one adds a file, and changes no list in another."""
    dataset = {path: tree for path, tree in package().items() if path.startswith("src/tfreel/dataset/")}
    stages = kinds(dataset, {"Node", "Order"})
    assert len(stages) > 25
    wrong = {
        (path, name)
        for path, tree in package().items()
        for name in asked(tree) & imported(tree, "tfreel.dataset") & stages.keys()
    }
    assert wrong == set()


def test_it_would_be_seen_if_somebody_asked() -> None:
    assert kinds(one("class A(Node): ...\nclass B(A): ...\nclass C(D): ..."), {"Node"}) == {
        "A": "a",
        "B": "a",
    }
    assert asked(ast.parse("isinstance(x, (A, B)); type(x) is C; x.__class__ == D; E(x)")) >= {
        "A",
        "B",
        "C",
        "D",
    }
    assert imported(ast.parse("from a.b import C\nfrom c import D"), "a") == {"C"}
    assert asked(ast.parse("match x:\n  case A(): pass")) == {"A"}
    assert asked(ast.parse("len(A); B == C; isinstance(A, int)")) == {"int"}
