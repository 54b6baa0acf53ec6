"""``tfreel stats``: the same figures as a table, JSON, CSV and a page."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import tfreel
from test_cli import in_shell, on_terminal, run

from drawn import jpeg


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    path = tmp_path / "cats.tfrecord"
    rows = [{"image": jpeg(20 + i, 10), "label": i % 4, "weights": [i / 10] * (i % 3 + 1)} for i in range(40)]
    tfreel.save(path, [*rows, {"label": 9, "odd\x1b[31m name": "x"}])
    return path


def test_json_is_what_python_gives(cats: Path) -> None:
    result = run("stats", cats)
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == json.loads(tfreel.profile.stats(cats).to_json())


def test_csv_has_a_line_for_each_feature(cats: Path) -> None:
    found = list(csv.DictReader(io.StringIO(run("stats", "--csv", cats).stdout)))
    assert [row["feature"] for row in found] == ["image", "label", "odd\x1b[31m name", "weights"]
    label = found[1]
    assert (label["group"], label["present"], label["absent"], label["kinds"]) == ("", "41", "0", "int64")
    assert (label["min"], label["max"], label["median"], label["distinct"]) == ("0", "9", "2", "5")
    assert (found[0]["absent"], found[0]["mean"], found[3]["length_max"]) == ("1", "", "3")


def test_csv_of_groups_names_them(cats: Path) -> None:
    result = run("stats", "--csv", "--by", "label", "--columns", "weights", cats)
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["group"], row["records"], row["present"]) for row in found] == [
        *((str(i), "10", "10") for i in range(4)),
        ("9", "1", "0"),
    ]


def test_a_terminal_gets_a_table_with_bars(cats: Path) -> None:
    code, shown = on_terminal("stats", cats, COLUMNS="160", TFREEL_NO_PROGRESS="1")
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown)
    assert code == 0
    lines = re.split(r"[\r\n]+", text.strip())
    assert ["feature", "kind", "values", "distribution", "distinct", "of", "bytes"] in map(str.split, lines)
    (label,) = (line for line in lines if line.startswith("label"))
    assert "0…9, mean 1.683 ±" in label
    assert "████" in label
    (image,) = (line for line in lines if line.startswith("image"))
    assert "JPEG, 20×10…59×10" in image
    assert "absent in 2.4 %" in image
    assert lines[-1].startswith("41 records of 1 file, ")
    assert "\x1b[31m" not in shown


def test_a_terminal_gets_the_largest_groups(tmp_path: Path) -> None:
    path = tmp_path / "many.tfrecord"
    tfreel.save(path, [{"g": i if i < 25 else 7, "x": i} for i in range(60)])
    result = run("stats", "--table", "--by", "g", "--columns", "x", path)
    lines = result.stdout.splitlines()
    assert lines[1].split()[:2] == ["7", "x"]
    assert len(lines) == 22
    assert lines[-1].endswith("25 groups, of which the 20 largest are shown")


def test_the_page_is_written_and_not_replaced(cats: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("stats", cats, "--html", page, "--quiet")
    assert result.exit_code == 0
    written = page.read_text(encoding="utf-8")
    assert written == tfreel.profile.stats(cats).to_html()
    again = run("stats", cats, "--html", page)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "--force replaces it" in again.stderr
    assert run("stats", cats, "--html", page, "--force", "--columns", "label").exit_code == 0
    assert page.read_text(encoding="utf-8") != written


def test_a_failure_leaves_no_page(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tfrecord"
    with tfreel.Writer(bad) as out:
        out.write(b"\xff")
    result = run("stats", bad, "--html", tmp_path / "report.html")
    assert result.exit_code == 1
    assert "record 0: neither an Example" in result.stderr
    assert "; --on-corrupt skip passes over it" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tfrecord"]


def test_damage_exits_with_1_and_can_be_passed_over(cats: Path) -> None:
    data = bytearray(cats.read_bytes())
    data[-20] ^= 1
    cats.write_bytes(data)
    result = run("stats", cats)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "record 40 at byte" in result.stderr
    skipped = run("stats", cats, "--on-corrupt", "skip")
    assert skipped.exit_code == 1
    assert json.loads(skipped.stdout)["records"] == 40
    assert "1 fault passed over" in skipped.stderr


def test_records_that_are_no_examples_are_told(tmp_path: Path) -> None:
    path = tmp_path / "odd.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many([b"\xff", tfreel.encode({"a": 1})])
    result = run("stats", path, "--on-corrupt", "skip")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["malformed"] == 1
    assert "1 record passed over: no Examples" in result.stderr


def test_standard_input_and_globs_are_data_too(cats: Path) -> None:
    done = in_shell(
        "cat cats.tfrecord | tfreel stats - | head -c 16; tfreel stats '*.tfrecord' | wc -l", cwd=cats.parent
    )
    assert done.stdout.decode().split("\n")[0].startswith('{"records": 41, ')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "lable"], "did you mean 'label'"),
        (["--by", "weights"], "holds floats"),
    ],
)
def test_groups_that_cannot_be_are_explained(cats: Path, options: list[str], message: str) -> None:
    result = run("stats", cats, *options)
    assert result.exit_code == 1
    assert message in result.stderr
