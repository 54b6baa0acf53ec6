"""``tfreel head``, ``info`` and ``schema``: what is in these files?"""

from __future__ import annotations

import ast
import base64
import csv
import io
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tfreel
from test_cli import PROGRAM, damage, in_shell, on_terminal, rows, run
from tfreel.inference.words import cell, short_size

from headers import jpeg

JPEG = jpeg() + bytes(52_000)


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    path = tmp_path / "cats.tfrecord"
    tfreel.save(
        path,
        [
            {"image": JPEG, "label": i, "name": f"cat {i}", "weights": [0.1] * (i + 1), "id": bytes([i, 255])}
            for i in range(10)
        ],
    )
    return path


@pytest.fixture
def others(tmp_path: Path) -> Path:
    path = tmp_path / "others.tfrecord"
    with tfreel.Writer(path) as out:
        out.write_many([b"record %d" % i for i in range(10)])
    return path


def plain(shown: str) -> list[str]:
    """What a terminal showed, without colours and blanks at the ends."""
    return [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in shown.splitlines()]


# head -------------------------------------------------------------------------------------------------------


def test_head_gives_a_line_of_json_for_each_record(cats: Path) -> None:
    result = run("head", "-n", "2", cats)
    assert (result.exit_code, result.stderr) == (0, "")
    assert rows(result)[1] == {
        "path": str(cats),
        "record": 1,
        "features": {
            "id": [{"content": "binary", "bytes": 2}],
            "image": [{"content": "jpeg", "bytes": len(JPEG), "width": 640, "height": 480}],
            "label": [1],
            "name": ["cat 1"],
            "weights": [0.1, 0.1],
        },
    }
    assert len(rows(run("head", cats))) == 5


def test_head_in_full_has_all_bytes(cats: Path) -> None:
    image = rows(run("head", "-n", "1", "--full", cats))[0]["features"]["image"][0]
    assert base64.b64decode(image["base64"]) == JPEG


def test_head_shows_a_table_on_a_terminal(cats: Path) -> None:
    code, shown = on_terminal("head", "-n", "2", cats)
    assert code == 0
    assert plain(shown) == [
        "record  id          image                label  name   weights",
        "0       bytes, 2 B  JPEG 640×480, 52 kB      0  cat 0  0.1",
        "1       bytes, 2 B  JPEG 640×480, 52 kB      1  cat 1  [0.1, 0.1]",
    ]


def test_head_turns_a_table_that_is_too_wide(cats: Path) -> None:
    lines = plain(on_terminal("head", cats, COLUMNS="56")[1])
    assert lines[0] == "         record 0             record 1"
    assert lines[2] == "image    JPEG 640×480, 52 kB  JPEG 640×480, 52 kB"
    assert [line for line in lines if line.startswith("name")] == [
        "name     cat 0                cat 1",
        "name     cat 2                cat 3",
        "name     cat 4",
    ]
    assert max(map(len, lines)) <= 56


def test_head_in_full_cuts_nothing_on_a_terminal(tmp_path: Path) -> None:
    text = "word " * 40
    tfreel.save(tmp_path / "x.tfrecord", [{"text": text, "numbers": list(range(100))}])
    short = " ".join(plain(on_terminal("head", tmp_path / "x.tfrecord", COLUMNS="60")[1]))
    assert "word…" in short or "wor…" in short
    assert "[0, 1, 2, … 97 more]" in short
    full = plain(on_terminal("head", "--full", tmp_path / "x.tfrecord", COLUMNS="60")[1])
    assert "".join(full).count("word") == 40
    assert max(map(len, full)) <= 60
    assert "99]" in "".join(full)


def test_a_file_alone_is_head(cats: Path, tmp_path: Path) -> None:
    assert run(cats, "-n", "3").stdout == run("head", cats, "-n", "3").stdout
    assert (
        run("-n", "3", "--columns", "label", cats).stdout
        == run("head", "-n3", "--columns", "label", cats).stdout
    )
    assert "No such option" in run("-q", "count", cats).stderr
    assert run(tmp_path / "cat*.tfrecord").exit_code == 0
    done = in_shell(f"cp '{cats}' ./bare; tfreel bare | wc -l; tfreel - < bare | wc -l", cwd=tmp_path)
    assert done.stdout.split() == [b"5", b"5"]
    missing = run("none.tfrecord")
    assert (missing.exit_code, missing.stderr) == (2, "tfreel: none.tfrecord: no such file\n")


def test_head_takes_the_first_records_of_all_files_together(cats: Path, tmp_path: Path) -> None:
    tfreel.save(tmp_path / "two.tfrecord", [{"label": 7}] * 2)
    found = rows(run("head", tmp_path / "two.tfrecord", cats, "-n", "4"))
    assert [(Path(row["path"]).name, row["record"]) for row in found] == [
        ("two.tfrecord", 0),
        ("two.tfrecord", 1),
        ("cats.tfrecord", 0),
        ("cats.tfrecord", 1),
    ]
    table = run("head", "--table", "--columns", "label", tmp_path / "two.tfrecord", cats, "-n", "3").stdout
    assert re.search(r"^record +file +label\s*\n0 .*two\.tfrecord +7", table)


def test_head_shows_the_columns_that_are_asked_for_in_their_order(cats: Path) -> None:
    assert list(rows(run("head", "--columns", "name,label", cats))[0]["features"]) == ["name", "label"]
    table = run("head", "--table", "-n", "1", "--columns", "name,label", cats).stdout
    assert [line.split() for line in table.splitlines()] == [
        ["record", "name", "label"],
        ["0", "cat", "0", "0"],
    ]


def test_head_says_which_column_is_missing_and_what_was_meant(cats: Path) -> None:
    result = run("head", "--table", "--columns", "labels", cats)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("tfreel: no feature 'labels' in these records; they have")
    assert result.stderr.endswith("did you mean 'label'?\n")


def test_head_gives_csv_with_all_numbers_and_text(tmp_path: Path) -> None:
    row = {"text": "word " * 40, "numbers": list(range(100)), "record": 7, "image": JPEG}
    tfreel.save(tmp_path / "x.tfrecord", [row])
    (found,) = csv.DictReader(io.StringIO(run("head", "--csv", tmp_path / "x.tfrecord").stdout))
    assert (found["text"], found["record"], found["feature record"]) == (row["text"], "0", "7")
    assert json.loads(found["numbers"]) == row["numbers"]
    assert found["image"] == "JPEG 640×480, 52 kB"


def test_head_shows_records_that_are_no_examples_as_bytes(others: Path, tmp_path: Path) -> None:
    assert rows(run("head", "-n", "1", others)) == [{"path": str(others), "record": 0, "data": "record 0"}]
    with tfreel.Writer(tmp_path / "mixed.tfrecord") as out:
        # The second is a message with a field that an Example does not have.
        out.write_many([tfreel.encode({"x": 1}), b"\x18\x07", bytes(5000), tfreel.encode({})])
    table = run("head", "--table", tmp_path / "mixed.tfrecord").stdout.splitlines()
    assert [line.split() for line in table] == [
        ["record", "data", "x"],
        ["0", "1"],
        ["1", "bytes,", "2", "B"],
        ["2", "bytes,", "5.0", "kB"],
        ["3"],
    ]


def test_head_shows_sequence_examples(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "seq.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]], "none": []}))
    (row,) = rows(run("head", tmp_path / "seq.tfrecord"))
    assert (row["features"], row["feature_lists"]) == ({"id": [7]}, {"none": [], "tokens": [[1, 2], [3]]})
    table = run("head", "--table", tmp_path / "seq.tfrecord").stdout
    assert "2 steps: [1, 2], 3" in table
    assert "0 steps" in table


def test_head_shows_tensors_as_arrays_in_a_table_and_as_they_are_in_json(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"x": tfreel.tensor(np.zeros((28, 28), np.uint8))}])
    assert "uint8 28×28, 784 B" in run("head", "--table", tmp_path / "x.tfrecord").stdout
    assert list(rows(run("head", tmp_path / "x.tfrecord"))[0]["features"]) == ["x", "x/dtype", "x/shape"]
    asked = run("head", "--table", "--columns", "x/shape", tmp_path / "x.tfrecord")
    assert "[28, 28]" in asked.stdout


def test_numbers_that_json_has_not_are_words(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"x": [float("nan"), float("inf"), -float("inf"), 0.5]}])
    assert rows(run("head", tmp_path / "x.tfrecord"))[0]["features"]["x"] == [
        "NaN",
        "Infinity",
        "-Infinity",
        0.5,
    ]


def test_hostile_names_and_texts_stay_in_their_cells(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"a\nb[bold]": "\u202eright\nto left [red]"}])
    shown = plain(on_terminal("head", tmp_path / "x.tfrecord")[1])
    assert shown == [r"record  a\nb[bold]", r"0       \xe2\x80\xaeright\nto left [red]"]


def test_head_of_a_damaged_file_shows_what_comes_before(others: Path) -> None:
    damage(others)
    for option in ("--json", "--table", "--csv"):
        result = run("head", option, others)
        assert result.exit_code == 1
        assert "record 2" in result.stdout
        assert "record 3 at byte 72: checksum mismatch" in result.stderr


def test_head_of_nothing_is_nothing(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "empty.tfrecord", [])
    result = run("head", tmp_path / "empty.tfrecord")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert run("head", "--table", tmp_path / "empty.tfrecord").stderr == "tfreel: no records\n"


def test_head_ends_in_silence_when_its_reader_does(cats: Path) -> None:
    done = in_shell(f"(sleep 0.3; tfreel head '{cats}') | true")
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "[]"),
        ([], "[]"),
        ([b""], "''"),
        ([b"a", b"b'c", bytes(4)], "['a', \"b'c\", bytes, 4 B]"),
        ([b"x" * 41], "x" * 39 + "…"),
        (np.arange(4), "[0, 1, 2, 3]"),
        (np.arange(5), "[0, 1, 2, … 2 more]"),
        (np.float32([1 / 3]), "0.3333"),
        (np.zeros((2, 0), np.float64), "float64 2×0, 0 B"),
        ([b"\x08\x09\x12\x00\x22\x08" + bytes(8)], "tensor int64 scalar, 14 B"),
    ],
)
def test_a_cell_says_much_in_few_words(value: object, words: str) -> None:
    assert cell(value) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9960, "10 kB"),
        (53_211, "53 kB"),
        (999_600, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes_in_cells_are_short(count: int, words: str) -> None:
    assert short_size(count) == words


# schema -----------------------------------------------------------------------------------------------------


def test_schema_prints_code_on_a_terminal_and_json_in_a_pipe(cats: Path) -> None:
    code, shown = on_terminal("schema", cats)
    assert (code, "\n".join(plain(shown))) == (0, str(tfreel.infer_features(cats)))
    result = run("schema", cats)
    (found,) = rows(result)
    assert found == json.loads(tfreel.profile.infer_schema(cats).to_json())
    assert found.items() >= json.loads(tfreel.infer_features(cats).to_json()).items()
    assert json.loads("\n".join(plain(on_terminal("schema", "--json", cats)[1]))) == rows(result)[0]


def test_schema_prints_the_language_that_is_asked_for(cats: Path) -> None:
    found = tfreel.infer_features(cats)
    assert run("schema", "--python", cats).stdout == found.to_python() + "\n"
    text = run("schema", "--tf", cats).stdout
    assert text == found.to_tensorflow() + "\n"
    ast.parse(text)


def test_schema_looks_at_as_many_records_as_it_is_told(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "many.tfrecord", {"x": range(2000)})
    looked = [rows(run("schema", tmp_path / "many.tfrecord", *args))[0]["records"] for args in OPTIONS]
    assert looked == [1000, 7, 2000]
    result = run("schema", "--all", "--sample", "3", tmp_path / "many.tfrecord")
    assert (result.exit_code, result.stderr) == (
        2,
        "tfreel: --sample and --all exclude each other. Try 'tfreel schema --help'.\n",
    )


OPTIONS = ([], ["--sample", "7"], ["--all"])


def test_conflicts_are_told_on_standard_error_and_are_no_failure(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"x": 1}, {"x": 1}, {"x": "one"}])
    for option in ("--python", "--json"):
        result = run("schema", option, tmp_path / "x.tfrecord")
        assert result.exit_code == 0
        assert re.fullmatch(r"tfreel: conflict: feature 'x' is of several kinds: .*\n", result.stderr)
    assert run("schema", "-q", tmp_path / "x.tfrecord").stderr == ""


def test_schema_of_other_records_is_one_line_with_advice(others: Path) -> None:
    result = run("schema", others)
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(
        r"tfreel: .*others\.tfrecord: record 0: neither an Example nor a SequenceExample: .*; the file may"
        r" hold other messages: tfreel head, count and cat take records of any kind\n",
        result.stderr,
    )


def test_schema_reads_standard_input(cats: Path) -> None:
    with open(cats, "rb") as file:
        done = subprocess.run([*PROGRAM, "schema", "-"], stdin=file, capture_output=True, check=True)
    assert json.loads(done.stdout)["records"] == 10


# info -------------------------------------------------------------------------------------------------------


def test_info_says_all_in_one_object(cats: Path) -> None:
    result = run("info", cats)
    assert (result.exit_code, result.stderr) == (0, "")
    (found,) = rows(result)
    size = cats.stat().st_size
    assert {key: value for key, value in found.items() if key not in ("features", "sequence_features")} == {
        "files": 1,
        "records": 10,
        "bytes": size,
        "bytes_on_disk": size,
        "compression_ratio": None,
        "codecs": {"none": 1},
        "indexed": 0,
        "manifests": [],
        "splits": None,
        "classes": None,
        "ok": True,
        "records_looked_at": 10,
        "conflicts": [],
    }
    assert found["features"] == json.loads(tfreel.infer_features(cats).to_json())["features"]


def test_info_is_a_page_on_a_terminal(cats: Path) -> None:
    code, shown = on_terminal("info", cats)
    assert code == 0
    lines = plain(shown)
    assert lines[:5] == [
        f"files    {cats}",
        "records  10",
        f"size     {cats.stat().st_size / 1024:.1f} KiB, not compressed",
        "index    none; tfreel index makes one",
        "holds    Examples; looked at 10 records",
    ]
    assert lines[5:] == [
        "",
        "feature  kind            values",
        "id       bytes           binary, 2 bytes each",
        "image    bytes           JPEG, 640×480",
        "label    int64           0…9",
        "name     bytes           text, 5 bytes each",
        "weights  float32 [1…10]  always 0.1",
    ]


def test_info_knows_sets_codecs_and_manifests(tmp_path: Path) -> None:
    with tfreel.ShardedWriter(tmp_path / "set.tfrecord.gz", shards=3) as out:
        out.write_many({"x": i, "pad": bytes(1000)} for i in range(10))
    (found,) = rows(run("info", tmp_path / "set.tfrecord.gz"))
    assert (found["files"], found["records"], found["codecs"]) == (3, 10, {"gzip": 3})
    assert found["compression_ratio"] == pytest.approx(found["bytes"] / found["bytes_on_disk"])
    assert found["manifests"] == [str(tmp_path / "set.tfrecord.gz.manifest.json")]
    page = run("info", "--table", tmp_path / "set-*.tfrecord.gz").stdout
    assert "10; 3 to 4 in a file" in page
    assert re.search(r"size .* of gzip; .* inflated, \d+\.\d\d : 1 *$", page, re.MULTILINE)
    tfreel.save(tmp_path / "plain.tfrecord", [{"x": 1}])
    page = run("info", "--table", tmp_path / "set-*.tfrecord.gz", tmp_path / "plain.tfrecord").stdout
    assert re.search(r"size .*B, partly gzip; .* inflated, \d+\.\d\d : 1 in all", page)


def test_info_of_a_file_of_another_kind_promises_nothing(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id,name,age\n1,cat,3\n2,dog,4\n")
    found = run("info", "--table", tmp_path / "table.csv")
    assert found.exit_code == 1
    assert "it looks like CSV text" in found.stderr
    assert "repair" not in found.stderr
    assert "makes one" not in found.stdout


def test_info_counts_from_indexes_where_there_are_some(cats: Path, others: Path) -> None:
    tfreel.build_index(cats)
    (found,) = rows(run("info", "--no-count", cats))
    assert (found["records"], found["indexed"]) == (10, 1)
    assert "beside the file" in run("info", "--table", cats).stdout
    assert "beside 1 of 2 files; tfreel index makes the others" in run("info", "--table", cats, others).stdout


def test_info_does_not_count_when_told_so(cats: Path) -> None:
    (found,) = rows(run("info", "--no-count", cats))
    assert (found["records"], found["bytes"], found["codecs"]) == (None, None, {"none": 1})
    assert re.search(
        r"^records +not counted", run("info", "--no-count", "--table", cats).stdout, re.MULTILINE
    )


def test_info_of_other_records_says_so_and_is_no_failure(others: Path) -> None:
    result = run("info", others)
    assert (result.exit_code, rows(result)[0]["features"], rows(result)[0]["records"]) == (0, None, 10)
    page = run("info", "--table", others).stdout
    assert "other records than Examples; the first is record 0 of others.tfrecord" in page


def test_info_of_nothing_says_no_records(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "empty.tfrecord", [])
    assert re.search(r"holds +no records", run("info", "--table", tmp_path / "empty.tfrecord").stdout)


def test_info_of_a_damaged_file_is_exit_code_1(others: Path) -> None:
    damage(others)
    result = run("info", others)
    assert (result.exit_code, rows(result)[0]["records"], rows(result)[0]["ok"]) == (1, 3, False)
    assert "record 3 at byte 72: checksum mismatch" in result.stderr
    assert "3, up to the first fault" in run("info", "--table", others).stdout


def test_info_that_meets_damage_without_counting_says_so(cats: Path) -> None:
    data = bytearray(cats.read_bytes())
    data[20] ^= 1
    cats.write_bytes(data)
    result = run("info", "--no-count", cats)
    assert (result.exit_code, rows(result)[0]["records_looked_at"]) == (1, 9)
    assert "image" in rows(result)[0]["features"]
    assert result.stderr == "tfreel: the files are damaged; tfreel verify says where\n"


def test_info_of_sequence_examples_and_conflicts(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "seq.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]]}))
        out.write(tfreel.encode_sequence({"id": "x"}, {"tokens": [[1, 2]]}))
    page = run("info", "--table", tmp_path / "seq.tfrecord").stdout
    assert "SequenceExamples; looked at 2 records" in page
    assert re.search(r"^conflict +feature 'id' is of several kinds", page, re.MULTILINE)
    assert re.search(r"^tokens +int64 \[1…2 steps, 1…2\] +1…3", page, re.MULTILINE)


def test_info_of_standard_input_is_a_usage_error() -> None:
    result = run("info", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "save it to a file first" in result.stderr


@pytest.mark.parametrize("command", ["head", "info", "schema"])
def test_a_missing_file_is_one_line_and_exit_code_2(command: str, tmp_path: Path) -> None:
    result = run(command, tmp_path / "none.tfrecord")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"tfreel: {tmp_path}/none.tfrecord: no such file\n"


def test_damage_that_is_passed_over_is_told_and_counts(tmp_path: Path) -> None:
    sound, damaged, features = (tmp_path / name for name in ("sound.tfrecord", "damaged.tfrecord", "f.py"))
    tfreel.save(sound, {"n": range(100)})
    tfreel.save(damaged, {"n": range(100, 200)})
    data = bytearray(damaged.read_bytes())
    data[2000] ^= 1
    damaged.write_bytes(data)
    features.write_text('import tfreel\nfeatures = {"n": tfreel.FixedLenFeature([], "int64")}\n')
    for words in (
        ["leaks", damaged, sound],
        ["explain", damaged, "--features", features],
        ["diff", damaged, damaged],
    ):
        for form in ("--table", "--json"):
            result = run(*words, "--on-corrupt", "skip", form)
            assert result.exit_code == 1, words
            assert re.search(r"[12] faults? passed over; tfreel verify says where", result.stderr), words
            assert form == "--table" or json.loads(result.stdout)["faults"]


def test_info_tells_a_stale_index_from_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    tfreel.save(path, {"n": range(3)})
    assert "none; tfreel index makes one" in run("info", path, "--table").stdout
    tfreel.build_index(path)
    assert "beside the file" in run("info", path, "--table").stdout
    with tfreel.Writer(tmp_path / "b.tfrecord") as out:
        out.write(b"other")
    (tmp_path / "b.tfrecord").replace(path)
    assert "stale; tfreel index makes one" in run("info", path, "--table").stdout
