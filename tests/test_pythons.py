"""Which Pythons are found on a machine, and that all places agree on which there are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pythons

ROOT = Path(__file__).parent.parent
FACTS: dict[str, Any] = {
    "final": True,
    "cpython": True,
    "free_threaded": False,
    "headers": True,
    "venv": True,
}


def install(folder: Path, version: str, **facts: Any) -> Path:
    """A program that says of itself that it is a Python of this version."""
    path = folder / "versions" / version / "bin" / "python3"
    path.parent.mkdir(parents=True)
    said = {"version": [int(part) for part in version.split(".")], "path": str(path), **FACTS, **facts}
    path.write_text(f"#!/bin/sh\necho '{json.dumps(said)}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pyenv has its Pythons; there is no other."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    return tmp_path


def versions() -> list[str]:
    return [str(python) for python in pythons.find_pythons(pythons.candidate_paths())]


def test_the_newest_of_each_version_is_found_where_pyenv_has_it(folder: Path) -> None:
    for version in ("3.10.2", "3.11.9", "3.13.10", "3.13.9", "4.0.0"):
        install(folder, version)
    assert versions() == ["3.11.9", "3.13.10", "4.0.0"]


def test_a_python_that_can_build_is_better_than_a_newer_one(folder: Path) -> None:
    install(folder, "3.12.1")
    for version, facts in {
        "3.12.2": {"final": False},
        "3.12.3": {"headers": False},
        "3.12.4": {"venv": False},
        "3.12.5": {"free_threaded": True},
        "3.12.6": {"cpython": False},
    }.items():
        install(folder, version, **facts)
    assert versions() == ["3.12.1"]


def test_what_does_not_run_is_no_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = folder / "shims" / "python3.13"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.13: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    (folder / "shims" / "python3.14").write_bytes(b"\x7fELF")
    install(folder, "3.12.0")
    monkeypatch.setenv("PATH", str(shim.parent))
    assert versions() == ["3.12.0"]


@pytest.mark.parametrize(("python", "chosen"), [("python3.99", "versions/3.99.10/bin/python3.99"), ("", "")])
def test_make_takes_what_is_behind_a_shim_of_pyenv_that_refuses(
    python: str, chosen: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = folder / "shims" / "python3.99"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    for version in ("3.99.9", "3.99.10", "3.99.11t", "3.99t-dev", "pypy3.99-7.3"):
        path = folder / "versions" / version / "bin" / "python3.99"
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\necho cpython-399\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(shim.parent), os.defpath]))
    monkeypatch.delenv("MAKEFLAGS", raising=False)  # of the `make test` that runs this
    command = ["make", "--dry-run", "--always-make", "-C", str(ROOT), ".venv/created", f"PYTHON={python}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path = str(folder / chosen) if chosen else "python3"
    assert f"\n{path} -m venv --clear .venv\n" in done.stdout


def test_a_link_goes_by_its_own_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = install(folder, "3.13.4")
    dispatcher = folder / "bin" / "dispatcher"
    dispatcher.parent.mkdir()
    dispatcher.write_text(f'#!/bin/sh\ncase "$0" in *python3.13) exec {path};; esac\nexit 1\n')
    dispatcher.chmod(0o755)
    (folder / "bin" / "python3.13").symlink_to(dispatcher)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(folder / "none"))
    assert versions() == ["3.13.4"]


def test_each_version_is_said_to_be_there_or_missing(folder: Path) -> None:
    path = install(folder, "3.12.1")
    install(folder, "3.13.0", free_threaded=True)
    said = list(pythons.describe(pythons.find_pythons(pythons.candidate_paths())))
    assert said[:2] == ["Python 3.11: missing on this machine", f"Python 3.12: {path} is 3.12.1"]
    assert re.fullmatch(r"Python 3\.13: .*/python3 lacks the GIL: free-threaded builds are not .*", said[2])
    assert len(said) == len(pythons.supported_versions())


def test_without_a_python_for_the_stable_abi_the_error_says_what_there_is(folder: Path) -> None:
    install(folder, "3.11.7")
    install(folder, "3.12.1", headers=False)
    with pytest.raises(SystemExit) as raised:
        pythons.stable_abi_builders(pythons.find_pythons(pythons.candidate_paths()))
    assert "3.12.1/bin/python3 lacks its headers (Python.h)\n" in str(raised.value)
    assert "pyenv install 3.12" in str(raised.value)


def test_all_places_claim_the_same_versions() -> None:
    claimed = [f"3.{minor}" for _, minor in pythons.supported_versions()]
    assert claimed[0] == ".".join(map(str, pythons.OLDEST))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert set(re.findall(r'python: "(3\.\d+)"', workflow)) == set(claimed[1:])
    assert "\\n".join(reversed(claimed)) in workflow
    for page, words in {
        "README.md": "Python {} to {}",
        "README.zh-CN.md": "Python {} 到 {}",
        "CHANGELOG.md": "Python {} to {}",
        "docs/start.md": "Python {} to {}",
        "docs/zh/start.md": "Python {} 到 {}",
    }.items():
        assert words.format(claimed[0], claimed[-1]) in (ROOT / page).read_text(encoding="utf-8"), page


def test_the_tests_of_wheels_are_there() -> None:
    lines = pythons.TESTS.read_text(encoding="utf-8").split()
    for line in lines:
        name, _, function = line.removeprefix("--deselect=").partition("::")
        assert f"def {function}" in (ROOT / name).read_text(encoding="utf-8"), line
    for subject in ("read", "write", "columns", "dataset", "fork", "threads", "signals", "docs"):
        assert any(subject in line for line in lines), subject
