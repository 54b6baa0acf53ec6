"""The reference says what the code is, and leaves nothing public out."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tfreel
from tfreel import errors, images, profile
from tfreel.cli.program import COMMANDS, program

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
WORD = re.compile(r"[a-z]+(_[a-z]+)*")
RAISES = re.compile(r"\w*Error|_\w*error|Fault|replace|_refuse")


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def check(pages: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "docs/site/reference.py", "--check", pages]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)


def fault_kinds() -> set[str]:
    """Every word that the code gives an error or a fault as its kind."""
    found = set(re.findall(r'return "(\w+)"', (ROOT / "core/fault.hpp").read_text(encoding="utf-8")))
    for path in (ROOT / "src/tfreel").rglob("*.py"):
        if path.is_relative_to(ROOT / "src/tfreel/tf"):
            continue  # errors of TensorFlow have no kinds
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and RAISES.fullmatch(ast.unparse(call.func).rpartition(".")[2]):
                said = [*call.args, *(word.value for word in call.keywords if word.arg == "kind")]
                found |= {word.value for word in said if isinstance(word, ast.Constant) and is_word(word)}
    return found - {"unknown"}  # what the core says of a number that is no kind


def is_word(constant: ast.Constant) -> bool:
    return isinstance(constant.value, str) and WORD.fullmatch(constant.value) is not None


def environment_variables() -> set[str]:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    return set(re.findall(r"(?<!_)\bTFREEL_[A-Z_]+\b", source))


def test_the_reference_is_up_to_date() -> None:
    done = check(REFERENCE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_that_is_not_up_to_date_is_found(tmp_path: Path) -> None:
    pages = tmp_path / "reference"
    shutil.copytree(REFERENCE, pages)
    records = pages / "records.md"
    records.write_text(records.read_text(encoding="utf-8").replace("verify: bool", "verify: int"), "utf-8")
    (pages / "gone.md").write_text("# Gone\n", encoding="utf-8")
    (pages / "cli.md").unlink()
    done = check(pages)
    assert done.returncode == 1
    assert re.findall(r"^(\w+)\.md is not", done.stdout, re.MULTILINE) == ["cli", "gone", "records"]


@pytest.mark.parametrize("room", [tfreel, images, profile], ids=lambda room: room.__name__)
def test_every_public_name_has_its_section(room: object) -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    headings = set(re.findall(r"^## `([\w.]+)`$", pages, re.MULTILINE))
    assert [name for name in room.__all__ if f"{room.__name__}.{name}" not in headings] == []


def test_every_adapter_has_its_page() -> None:
    adapters = ROOT / "src/tfreel/adapters"
    public = [
        path.parent.name if path.stem == "__init__" else path.stem
        for path in [*adapters.glob("*.py"), *adapters.glob("*/__init__.py")]
        if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(public) >= 9
    assert [name for name in public if not (REFERENCE / f"{name}.md").exists()] == []


def test_every_public_function_and_method_is_described() -> None:
    silent = re.compile(
        r"^#{2,3} `([\w.]+)`\n\n(?:```python signature\n[^`]*```\n\n)?(?=##|\Z)", re.MULTILINE
    )
    pages = [path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md")]
    assert [name for page in pages for name in silent.findall(page)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_in_the_reference(name: str) -> None:
    page = text_of("reference/cli.md")
    section = re.search(rf"^## `tfreel {name}`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    command = program.get_command(click.Context(program), name)
    assert section
    assert command
    options = [
        word for param in command.params for word in param.opts + param.secondary_opts if word[0] == "-"
    ]
    assert [option for option in options if not re.search(rf"[`\s]{option}\b", section[1])] == []


def test_every_error_is_on_the_page_of_errors() -> None:
    classes = [
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    ]
    assert len(classes) >= 12
    page = text_of("errors.md")
    assert [
        name for name in classes if f"| [`{name}`](reference/errors.md#tfreel{name.lower()})" not in page
    ] == []


def test_every_kind_of_fault_is_on_the_page_of_errors() -> None:
    kinds = fault_kinds()
    listed = text_of("errors.md").partition("## Kinds")[2]
    documented = {
        word
        for row in listed.splitlines()
        for word in re.findall(r"`(\w+)`", row.split("|")[1:2][0] if "|" in row else "")
    }
    assert len(kinds) >= 30
    assert kinds - documented == set()
    assert documented - kinds == set()


def test_every_environment_variable_is_documented() -> None:
    variables = environment_variables()
    assert len(variables) >= 6
    assert [name for name in variables if f"| `{name}` |" not in text_of("cli.md")] == []


def test_the_table_of_what_passes_through_what_is_what_stages_say() -> None:
    command = [sys.executable, ROOT / "docs/site/stages.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout
