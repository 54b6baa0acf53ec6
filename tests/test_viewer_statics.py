"""The page of the viewer, as files: complete, in two languages, and running nothing that records say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

STATIC = Path(str(files("tfreel.viewer") / "static"))
SCRIPTS = sorted(STATIC.glob("*.js"))
ALL = sorted(path for path in STATIC.iterdir() if path.is_file())
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

# What turns text into markup or code.
DANGEROUS = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "createContextualFragment",
    "DOMParser",
    "srcdoc",
    "eval(",
    "new Function",
    'setTimeout("',
    "setTimeout('",
    "javascript:",
    "importScripts",
    "new Worker",
    "postMessage",
)


def test_the_page_is_there() -> None:
    assert {"index.html", "main.js", "style.css", "strings.js", "icon.svg"} <= {path.name for path in ALL}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_no_file_names_an_outside_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text, re.IGNORECASE) == []
    assert re.findall(r"@import|url\((?!['\"]?#)", text) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [word for word in DANGEROUS if word in text] == []
    assert not re.search(r"\.on[a-z]+ *= ", text)


def test_the_page_has_no_inline_scripts_and_styles() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []


def test_every_module_that_is_imported_is_there_and_loaded_early() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    early = set(re.findall(r'rel="modulepreload" href="static/([\w.]+)"', page))
    imported = {
        name
        for path in SCRIPTS
        for name in re.findall(r'from "\./([\w.]+)"', path.read_text(encoding="utf-8"))
    }
    assert imported == early == {path.name for path in SCRIPTS} - {"main.js"}


def test_addresses_are_relative_so_that_frames_work() -> None:
    for path in SCRIPTS:
        assert re.findall(r"[\"'`]/(?:api|static)", path.read_text(encoding="utf-8")) == [], path.name
    assert not re.search(r'(?:src|href)="/', (STATIC / "index.html").read_text(encoding="utf-8"))


@needs_node
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_javascript(path: Path, tmp_path: Path) -> None:
    module = tmp_path / path.with_suffix(".mjs").name
    module.write_bytes(path.read_bytes())
    done = subprocess.run([NODE or "node", "--check", module], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_module(tmp_path: Path, name: str, code: str) -> str:
    """Runs some lines that use a module of the page, which must not need one."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / name).write_bytes((STATIC / name).read_bytes())
    (tmp_path / "program.js").write_text(f'import * as page from "./{name}";\n{code}')
    done = subprocess.run(
        [NODE or "node", tmp_path / "program.js"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_node
def test_both_languages_have_all_words_with_the_same_gaps(tmp_path: Path) -> None:
    words = json.loads(run_module(tmp_path, "strings.js", "console.log(JSON.stringify(page.allWords));"))
    english, chinese = words["en"], words["zh"]
    assert english.keys() == chinese.keys()
    for key in english:
        gaps = [sorted(re.findall(r"\{(\w+)", text)) for text in (english[key], chinese[key])]
        assert gaps[0] == gaps[1], key
    same = {key for key in english if english[key] == chinese[key]}
    assert same <= {"filterHint"}


def test_every_word_that_is_asked_for_is_there() -> None:
    asked = set()
    for path in SCRIPTS:
        asked |= set(re.findall(r'\bt\("(\w+)"', path.read_text(encoding="utf-8")))
    words = (STATIC / "strings.js").read_text(encoding="utf-8").partition("zh: {")[0]
    known = set(re.findall(r"(\w+): \"", words))
    assert asked - known == set()


@needs_node
def test_words_agree_with_their_numbers(tmp_path: Path) -> None:
    code = """
    globalThis.document = {documentElement: {}};
    console.log(page.t("recordsCount", {count: 1}), "|", page.t("recordsCount", {count: 2000}));
    """
    assert run_module(tmp_path, "strings.js", code).strip() == "1 record | 2,000 records"


@needs_node
@pytest.mark.parametrize(
    ("name", "bar", "kind", "expected"),
    [
        ("label", {"value": 3}, "numbers", "label == 3"),
        ("image/height", {"from": 1.5, "to": 2}, "numbers", "image/height >= 1.5 and image/height < 2"),
        ("odd name", {"value": 3}, "numbers", "`odd name` == 3"),
        ("in", {"value": 3}, "numbers", "`in` == 3"),
        ("text", {"value": 'a "b" \\ c\n'}, "bytes", 'text == "a \\"b\\" \\\\ c\\n"'),
    ],
)
def test_bars_become_conditions_that_the_filter_takes(
    tmp_path: Path, name: str, bar: dict[str, object], kind: str, expected: str
) -> None:
    from tfreel.columns.expressions import Expression

    given = ", ".join(map(json.dumps, (name, bar, kind)))
    said = run_module(tmp_path, "conditions.js", f"process.stdout.write(page.ofBar({given}, false));")
    assert said == expected
    assert Expression(said, [name]).names == [name]


def test_the_style_knows_light_and_dark_and_small_screens() -> None:
    style = (STATIC / "style.css").read_text(encoding="utf-8")
    assert "light-dark(" in style
    assert '[data-theme="dark"]' in style
    assert re.search(r"@media \(max-width", style)
    assert ":focus-visible" in style
