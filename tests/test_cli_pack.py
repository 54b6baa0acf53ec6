"""``tfreel pack``: one command from a folder to a data set."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.cli.failures import tell
from tfreel.cli.packing_bar import PackingBar
from tfreel.cli.program import program
from tfreel.packing.report import Progress

from drawn import jpeg, put
from photos import photo_folder, picture

# Of what the shell has no option for, what it never says, and what is said of pandas.
ONLY_PYTHON = ("annotations= names", "config= names", "header= names", "embed= needs root=", "index=False")


def run(*args: object) -> Result:
    result = CliRunner().invoke(program, ["pack", *(str(arg) for arg in args)])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return photo_folder(tmp_path / "photos", {"apple": 12, "orange": 8})


def test_it_prints_a_line_for_each_split_and_says_what_is_next(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(photos, out, "--split", "train=0.75,test=0.25", "--stratify", "label", "--shards", 2)
    assert result.exit_code == 0
    train, test = [json.loads(line) for line in result.stdout.splitlines()]
    assert train == {
        "split": "train",
        "records": 15,
        "bytes": sum(file.stat().st_size for file in out.glob("train-*")),
        "files": 2,
        "classes": {"apple": 9, "orange": 6},
    }
    assert test["records"] == 5
    assert result.stderr.splitlines() == [
        "tfreel: packed 20 records of 20 items (images)",
        f'tfreel: next: tfreel info {out}, or tfreel.Dataset("{out}", split="train")',
    ]
    table = run(photos, tmp_path / "b", "--table", "--quiet")
    assert table.stdout.split()[:5] == ["split", "records", "size", "files", "classes"]
    assert table.stderr == ""


def test_what_is_left_out_is_told_and_not_too_much_of_it(photos: Path, tmp_path: Path) -> None:
    for i in range(8):
        (photos / f"note{i}.txt").write_text("x")
    (photos / "apple" / "odd.jpg").write_bytes(picture(5))
    (photos / "apple" / "bad.png").write_bytes(b"no picture")
    result = run(photos, tmp_path / "out", "--on-error", "skip")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0] == "tfreel: packed 21 records of 22 items (images)"
    assert "tfreel: rejected apple/bad.png: not a picture: text" in lines
    assert "tfreel: left out note0.txt: not a picture" in lines
    assert "tfreel: left out 3 more" in lines
    assert "tfreel: note: apple/odd.jpg: is a PNG file, whatever its name says" in lines
    assert "tfreel: rejects.jsonl lists all that is not in the data set" in lines


def test_bad_data_is_exit_code_1_and_names_the_way_out(photos: Path, tmp_path: Path) -> None:
    (photos / "apple" / "bad.png").write_bytes(b"no picture")
    result = run(photos, tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr == (
        "tfreel: apple/bad.png: not a picture: text; --on-error skip leaves out what cannot be packed\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing", "out"], "missing: no such file"),
        (["photos", "out", "--split", "train=0.5"], "must add up to 1"),
        (["photos", "out", "--split", "half"], "not of the form NAME=FRACTION"),
        (["photos", "out", "--split", "a=b"], "not a list like train=0.8"),
        (["photos", "out", "--resize", "big"], "not a size like 96x96"),
        (["photos", "out", "--rename", "a"], "not of the form OLD=NEW"),
        (["photos", "photos"], "holds other files"),
        (["photos", "out", "--kind", "csv2"], "is not known"),
        (["empty", "out"], "there are no files in it; --kind says what it is"),
        (["photos", "out", "--labels", "nowhere.csv"], "--labels 'nowhere.csv' is neither"),
        (["photos", "out", "--labels", "regex:("], "'regex:(' holds no pattern: missing )"),
        (["photos", "out", "--group", "regex:(", "--split", "a=1"], "'regex:(' holds no pattern: missing )"),
        (
            ["photos", "out", "--group", "regex:(x)", "--split", "a=1"],
            "apple/0.png: the pattern '(x)' finds nothing",
        ),
        (
            ["people.csv", "out", "--group", "regex:(.*)", "--split", "a=1"],
            "--group regex:… goes by the names of items",
        ),
        (
            ["people.csv", "out", "--group", "nope", "--split", "a=1"],
            "no feature is called 'nope'; there are 'age', 'name'",
        ),
        (
            ["people.csv", "out", "--stratify", "nope", "--split", "a=1"],
            "no feature is called 'nope'; there are 'age', 'name'",
        ),
        (["people.csv", "out", "--rename", "nope=x"], "no feature is called 'nope'; there are 'age', 'name'"),
        (["people.csv", "out", "--group", "name"], "group decides what goes into which split: say split too"),
        (["people.csv", "out", "--split", "a=0.5,a=0.5"], "'a' is there twice"),
        (["people.csv", "out", "--classes", "a,b"], "classes are those of a label"),
        (["people.csv", "out", "--root", "empty"], "root is for files that columns name"),
        (["a.tfrecord", "out", "--label", "nope"], "no feature is called 'nope'; there are 'x'"),
        (
            ["photos", "out", "--label", "x"],
            "'--label' is not an option for the kind 'images': did you mean '--l",
        ),
        (["photos", "out", "--task", "detection"], "there are --store, --resize, --to, --quality, --mode"),
        (
            ["people.csv", "out", "--resize", "8x8"],
            "'--resize' is not an option for the kind 'csv': there are --",
        ),
        (["photos", "out", "--kind", "csv"], "is a folder or an archive, and a source of the kind 'csv' is"),
        (["people.csv", "out", "--kind", "table"], "a source of the kind 'table' is an object in Python"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(
    photos: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(photos.parent)
    os.mkdir("empty")
    Path("people.csv").write_text("name,age\nAnn,31\nBob,44\n")
    tfreel.save("a.tfrecord", [{"x": 1}])
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "internal error" not in result.stderr
    assert result.stderr.count("\n") == 1
    assert not os.path.exists("out")


def test_options_for_pictures_reach_them(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--resize", "8x10", "--to", "jpeg", "--quality", 80, "--mode", "gray", "--features", "simple")
    assert run(photos, out, *options, "--rename", "name=file", "--classes", "orange,apple").exit_code == 0
    row = tfreel.decode(tfreel.open(out)[0])
    assert tfreel.images.decode(row["image"][0], "keep").shape == (8, 10, 1)
    assert "file" in row
    folder = json.loads((out / "dataset.json").read_text())
    assert folder["classes"] == [{"id": 0, "name": "orange"}, {"id": 1, "name": "apple"}]


def test_advice_is_spelled_as_in_the_shell(tmp_path: Path) -> None:
    root = put(tmp_path / "yolo", {"images/a.jpg": jpeg(), "labels/a.txt": "0 0.9 0.5 0.5 0.1\n"})
    refused = run(root, tmp_path / "out")
    assert refused.exit_code == 1
    assert "outside of its picture of 20 × 10; --clip cuts it off there; --on-error skip" in refused.stderr
    assert run(root, tmp_path / "out", "--clip").exit_code == 0
    alpha = put(tmp_path / "alpha", {"a.png": tfreel.images.encode(np.zeros((4, 4, 4), np.uint8))})
    refused = run(alpha, tmp_path / "jpeg", "--to", "jpeg")
    assert "jpeg cannot hold 4 channels of uint8; --mode rgb takes 3 of uint8" in refused.stderr


def test_no_advice_is_left_as_python_spells_it(capsys: pytest.CaptureFixture[str]) -> None:
    rooms = [Path(str(tfreel.__file__)).parent / room for room in ("packing", "unpacking")]
    programs = [path.read_text() for room in rooms for path in sorted(room.rglob("*.py"))]
    spelled = re.compile(r"\b[a-z_]+=(True|False|[\"'\[ ;,]|$)")
    advice = [text for program in programs for text in texts_in(ast.parse(program)) if spelled.search(text)]
    assert len(advice) > 20
    for text in advice:
        tell(text)
    told = capsys.readouterr().err
    for known in ONLY_PYTHON:
        told = told.replace(known, "")
    assert [line for line in told.splitlines() if spelled.search(line)] == []


def texts_in(node: ast.AST) -> Iterator[str]:
    """All texts of a program but docstrings, with 'x' in the place of what is filled in."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "'x'" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


def test_nothing_is_replaced_without_force(photos: Path, tmp_path: Path) -> None:
    assert run(photos, tmp_path / "out").exit_code == 0
    refused = run(photos, tmp_path / "out")
    assert refused.exit_code == 2
    assert "already holds a data set; --force replaces it" in refused.stderr
    assert run(photos, tmp_path / "out", "--force").exit_code == 0


def test_info_and_head_take_the_folder(photos: Path, tmp_path: Path) -> None:
    run(photos, tmp_path / "out", "--split", "train=0.8,test=0.2")
    info = CliRunner().invoke(program, ["info", str(tmp_path / "out"), "--json"])
    facts = json.loads(info.stdout)
    assert (facts["records"], facts["classes"]) == (20, {"0": "apple", "1": "orange"})
    assert {name: split["records"] for name, split in facts["splits"].items()} == {"train": 16, "test": 4}
    page = CliRunner().invoke(program, ["info", str(tmp_path / "out"), "--table"]).stdout
    assert "classes  0 apple, 1 orange" in page
    assert (
        len(CliRunner().invoke(program, ["head", "-n", "3", str(tmp_path / "out")]).stdout.splitlines()) == 3
    )


def test_the_bar_shows_phase_items_bytes_and_rejects(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tfreel.cli.packing_bar.someone_watches", lambda: True)
    monkeypatch.setattr("tfreel.cli.packing_bar.PATIENCE_SECONDS", 0)
    monkeypatch.setattr("tfreel.cli.packing_bar.REDRAW_SECONDS", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with PackingBar() as bar:
        bar(Progress("reading", 10, None, 1 << 20, 0))
        bar(Progress("writing", 50, 100, 1 << 21, 3))
        bar._bar.refresh()
    shown = capsys.readouterr().err
    assert "writing" in shown
    assert "50 items, 2.0 MiB, 3 rejected" in shown
