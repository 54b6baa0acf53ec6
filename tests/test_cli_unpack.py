"""``tfreel unpack``: records as ordinary files."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner, Result

import tfreel
from tfreel.cli import unpack
from tfreel.cli.program import program
from tfreel.unpacking.run import KINDS, Kind


def run(*args: object) -> Result:
    result = CliRunner().invoke(program, ["unpack", *(str(arg) for arg in args)])
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    path = tmp_path / "cats.tfrecord"
    tfreel.save(path, [{"label": i, "name": f"cat {i}", "raw": bytes([i, 255])} for i in range(10)])
    return path


def test_it_writes_csv_and_prints_nothing(cats: Path, tmp_path: Path) -> None:
    result = run(cats, tmp_path / "cats.csv", "--columns", "name,label", "--where", "label > 7")
    assert (result.exit_code, result.output) == (0, "")
    with open(tmp_path / "cats.csv", newline="") as file:
        assert list(csv.reader(file)) == [["name", "label"], ["cat 8", "8"], ["cat 9", "9"]]


def test_several_sources_become_one_output(cats: Path, tmp_path: Path) -> None:
    assert run(cats, cats, tmp_path / "twice.jsonl", "--limit", 12).exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "twice.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == [*range(10), 0, 1]


def test_notes_are_told_unless_quiet(cats: Path, tmp_path: Path) -> None:
    result = run(cats, tmp_path / "a.csv", "--binary", "drop")
    assert result.stderr == "tfreel: note: left out, as it is no text: raw\n"
    assert run(cats, tmp_path / "b.csv", "--binary", "drop", "-q").output == ""


def test_nothing_is_overwritten_without_force(cats: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    assert run(cats, out).exit_code == 0
    result = run(cats, out)
    assert result.exit_code == 2
    assert "exists already; --force replaces it" in result.stderr
    assert run(cats, out, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.xyz"], "or say it with --to"),
        (["a.csv", "--where", "labl == 3"], "did you mean 'label'"),
        (["a.csv", "--where", "label == 99"], "none of 10 records is wanted"),
        (["a.csv", "--columns", "nam"], "did you mean 'name'"),
        (["out/", "--column", "label"], "only bytes can be a file"),
        (["-"], "unpack writes a file or folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(
    cats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(cats, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["cats.tfrecord"]


def test_damage_exits_1(cats: Path, tmp_path: Path) -> None:
    data = bytearray(cats.read_bytes())
    data[-8] ^= 1
    cats.write_bytes(data)
    assert run(cats, tmp_path / "a.csv").exit_code == 1
    assert not (tmp_path / "a.csv").exists()
    result = run(cats, tmp_path / "a.csv", "--on-corrupt", "skip")
    assert result.exit_code == 1
    assert "passed over: " in result.stderr
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 10


def test_the_command_knows_all_kinds_of_output() -> None:
    assert get_args(Kind) == KINDS == unpack._KINDS
