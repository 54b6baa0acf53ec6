"""`tfreel.unpack`: what goes into ordinary files is what was in the records."""

from __future__ import annotations

import base64
import csv
import datetime as dt
import json
import os
import sys
import tarfile
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfreel
from tfreel.storage import folders
from tfreel.unpacking.texts import shortest

from unpack_rows import LEAST, MOST, ROWS, image, write_pets


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows.tfrecord"
    tfreel.save(path, ROWS)
    return path


def entries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# CSV and JSON -----------------------------------------------------------------------------------------------


def test_csv_has_every_value_exactly(source: Path, tmp_path: Path) -> None:
    report = tfreel.unpack(source, tmp_path / "out.csv")
    assert (report.records_read, report.records_written, report.files, report.to) == (3, 3, 1, "csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["i"]) for row in rows] == [LEAST, MOST, 0]
    assert [row["f"] for row in rows] == ["0.1", "1e-45", "-Infinity"]
    assert [np.float32(row["f"]) for row in rows] == [np.float32(row["f"]) for row in ROWS]
    assert [row["text"] for row in rows] == ['a,"b"\nc', "", " é"]
    assert [row["many"] for row in rows] == ["[1, 2]", "[]", ""]
    assert [row["some"] for row in rows] == ["5", "", ""]
    assert [json.loads(row["words"]) for row in rows] == [["x", "y"], ["z"], ["w"]]
    assert [base64.b64decode(json.loads(row["raw"])["base64"]) for row in rows] == [b"\xff\0", b"", b"ok"]


def test_csv_tells_empty_text_from_none(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a.tfrecord", [{"t": ""}, {"t": "x"}, {"u": 1}])
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.csv", columns=["t"])
    # A line with nothing in it would be no line to most readers.
    assert (tmp_path / "a.csv").read_text() == 't\n""\nx\n""\n'
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "b.csv", columns=["u", "t"])
    assert (tmp_path / "b.csv").read_text() == 'u,t\n,""\n,x\n1,\n'


def test_formulas_are_left_alone_and_the_mark_of_base64_is_not_faked(tmp_path: Path) -> None:
    texts = ["=1+1", '{"base64": "eA=="}']
    tfreel.save(tmp_path / "a.tfrecord", {"t": texts, "i": [1, 2]})
    tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a.tsv", columns=["t"])
    lines = list(csv.reader((tmp_path / "a.tsv").read_text().splitlines(), delimiter="\t"))
    assert lines[1] == ["=1+1"]
    assert base64.b64decode(json.loads(lines[2][0])["base64"]).decode() == texts[1]


def test_json_lines_leave_out_what_is_absent(source: Path, tmp_path: Path) -> None:
    tfreel.unpack(source, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["i"] for row in rows] == [LEAST, MOST, 0]
    assert [row.get("many") for row in rows] == [[1, 2], [], None]
    assert "some" not in rows[1]
    assert rows[2]["f"] == "-Infinity"
    assert rows[0]["raw"] == {"base64": "/wA="}
    assert rows[0]["text"] == 'a,"b"\nc'


def test_bytes_can_be_dropped_and_a_note_says_so(source: Path, tmp_path: Path) -> None:
    report = tfreel.unpack(source, tmp_path / "out.jsonl", binary="drop")
    assert "raw" not in report.columns
    assert report.notes == ["left out, as it is no text: raw"]


def test_floats_are_written_as_numpy_writes_them() -> None:
    bits = np.random.default_rng(7).integers(0, 2**32, 50_000, np.uint64).astype(np.uint32)
    special = np.array([0.0, -0.0, 1e-45, 1.1754942e-38, 3.4028235e38, 16777216, 0.1, 1e10], np.float32)
    values = np.concatenate([bits.view(np.float32), special])
    values = values[np.isfinite(values)]
    found = shortest(values)
    assert (found.astype(np.float32).view(np.uint32) == values.view(np.uint32)).all()
    assert [float(str(value)) for value in values] == found.tolist()


def test_sequences_are_lists_of_lists(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "s.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"steps": [[1, 2], [3]]}))
        out.write(tfreel.encode_sequence({"id": 8}, {"steps": []}))
    tfreel.unpack(tmp_path / "s.tfrecord", tmp_path / "s.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert rows == [{"id": 7, "steps": [[1, 2], [3]]}, {"id": 8, "steps": []}]
    tfreel.unpack(tmp_path / "s.tfrecord", tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as arrays:
        assert arrays["steps/values"].tolist() == [1, 2, 3]
        assert arrays["steps/row_splits"].tolist() == [0, 2, 2]
        assert arrays["steps/inner_row_splits"].tolist() == [0, 2, 3]


def test_no_steps_are_written_that_a_record_has_not(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "s.tfrecord") as out:
        for i in range(5):
            steps = {"tok": [[j, 1] for j in range(i + 1)], "word": [[f"w{j}"] for j in range(i + 1)]}
            out.write(tfreel.encode_sequence({"id": i}, steps))
    path = tmp_path / "s.tfrecord"
    expected = [
        {"id": i, "tok": [[j, 1] for j in range(i + 1)], "word": [f"w{j}" for j in range(i + 1)]}
        for i in range(5)
    ]
    sources = [path, tfreel.Dataset(path), tfreel.Dataset(path, stream=True), tfreel.Dataset(path).map(dict)]
    for number, source in enumerate(sources):
        tfreel.unpack(source, tmp_path / f"{number}.jsonl")
        lines = (tmp_path / f"{number}.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == expected
    report = tfreel.unpack(path, tmp_path / "where.jsonl", where='"w4" in word')
    assert report.records_written == 1
    with pytest.raises(ValueError, match="none of 5 records"):
        tfreel.unpack(path, tmp_path / "none.jsonl", where='"" in word')
    tfreel.save(tmp_path / "saved.tfrecord", tfreel.Dataset(path))
    saved = [tfreel.decode(record) for record in tfreel.read(tmp_path / "saved.tfrecord")]
    assert [row["tok"].tolist() for row in saved] == [
        list(chain.from_iterable(row["tok"])) for row in expected
    ]


# What a sample did not show ---------------------------------------------------------------------------------


def test_what_comes_late_is_not_lost(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": 1, "t": "x"}] * 3000
    tfreel.save(tmp_path / "late.tfrecord", [*rows, {"a": [1, 2], "t": b"\xff", "new": 2.5}])
    told = [0, 0]

    def progress(records: int, nbytes: int) -> None:
        told[0] += records
        told[1] += nbytes

    report = tfreel.unpack(tmp_path / "late.tfrecord", tmp_path / "late.jsonl", progress=progress)
    assert report.records_written == told[0] == 3001
    assert report.columns == ("a", "new", "t")
    *_, before, last = map(json.loads, (tmp_path / "late.jsonl").read_text().splitlines())
    assert before == {"a": [1], "t": {"base64": "eA=="}}
    assert last == {"a": [1, 2], "new": 2.5, "t": {"base64": "/w=="}}


def test_kinds_that_disagree_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": 1}] * 1500
    tfreel.save(tmp_path / "mixed.tfrecord", [*rows, {"a": "text"}])
    with pytest.raises(tfreel.FeatureMismatchError, match="record 1500 of"):
        tfreel.unpack(tmp_path / "mixed.tfrecord", tmp_path / "mixed.csv")
    assert os.listdir(tmp_path) == ["mixed.tfrecord"]


# Parquet, Arrow, NumPy --------------------------------------------------------------------------------------


def test_without_pyarrow_parquet_says_what_to_install(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'tfreel\[arrow\]'"):
        tfreel.unpack(source, tmp_path / "out.parquet")
    assert os.listdir(tmp_path) == ["rows.tfrecord"]


def test_numpy_archives_need_no_pickles(source: Path, tmp_path: Path) -> None:
    tfreel.unpack(source, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz", allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays}
    assert found["i"].tolist() == [LEAST, MOST, 0]
    assert found["f"].tobytes() == np.array([row["f"] for row in ROWS], np.float32).tobytes()
    assert found["text"].tolist() == ['a,"b"\nc', "", " é"]
    assert found["many/values"].tolist() == [1, 2]
    assert found["many/row_splits"].tolist() == [0, 2, 2, 2]
    assert found["many/present"].tolist() == [True, True, False]
    assert found["raw/bytes"].tobytes() == b"\xff\0ok"
    assert found["raw/offsets"].tolist() == [0, 2, 2, 4]
    assert found["words/values"].tolist() == ["x", "y", "z", "w"]


def test_a_single_column_is_a_npy_file(source: Path, tmp_path: Path) -> None:
    tfreel.unpack(source, tmp_path / "i.npy", columns=["i"])
    assert np.load(tmp_path / "i.npy").tolist() == [LEAST, MOST, 0]
    with pytest.raises(ValueError, match="one column, not 2"):
        tfreel.unpack(source, tmp_path / "two.npy", columns=["i", "f"])
    with pytest.raises(ValueError, match="more than one array"):
        tfreel.unpack(source, tmp_path / "many.npy", columns=["many"])
    assert entries(tmp_path) == ["i.npy", "rows.tfrecord"]


# Folders ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    return write_pets(tmp_path / "pets.tfrecord")


def test_a_folder_has_a_file_for_each_record_in_its_class(pets: Path, tmp_path: Path) -> None:
    report = tfreel.unpack(pets, tmp_path / "pets", limit=4)
    assert entries(tmp_path / "pets") == [
        ".tfreel-unpacked.json",
        "cat/cat-2.mask.png",
        "cat/cat-2.png",
        "cat/cat.mask.png",
        "cat/cat.png",
        "dog_.._x/a_b_.jpeg",
        "dog_.._x/a_b_.mask.png",
        "dog_.._x/passwd.jpg",
        "dog_.._x/passwd.mask.png",
        "metadata.jsonl",
    ]
    assert report.files == 9
    lines = [json.loads(line) for line in (tmp_path / "pets/metadata.jsonl").read_text().splitlines()]
    assert lines[1] == {
        "file_name": "dog_.._x/passwd.jpg",
        "mask_file_name": "dog_.._x/passwd.mask.png",
        "box": [0.1, 0.2],
        "image/class/label": 1,
        "image/class/text": "dog/../x",
        "image/filename": "../../etc/passwd",
    }
    originals = [tfreel.decode(record) for record in tfreel.read(pets)]
    for line, row in zip(lines, originals, strict=False):
        assert [(tmp_path / "pets" / line["file_name"]).read_bytes()] == row["image/encoded"]
    assert any("names made safe" in note for note in report.notes)
    assert any("came twice" in note for note in report.notes)


def test_only_names_that_changed_are_counted(tmp_path: Path) -> None:
    for name in ("cat/0.png", "cat/1.png", "dog/0.png"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(image("PNG"))
    tfreel.pack(tmp_path / "in", tmp_path / "packed")
    assert tfreel.unpack(tmp_path / "packed", tmp_path / "out").notes == []
    assert [name for name in entries(tmp_path / "out") if name.endswith(".png")] == entries(tmp_path / "in")
    report = tfreel.unpack(tmp_path / "packed", tmp_path / "other", by="image/height")
    assert report.notes == ["names that came twice, and had a number added: 1"]  # but for their folders
    tfreel.save(tmp_path / "odd", {"image": [image("PNG")] * 2, "filename": [b"a/b.png", b"a/b?.png"]})
    report = tfreel.unpack(tmp_path / "odd", tmp_path / "third")
    assert report.notes == ["names made safe for a file (metadata.jsonl has them as they were): 1"]


def test_no_name_leaves_the_folder(pets: Path, tmp_path: Path) -> None:
    with tfreel.Writer(pets, mode="a") as more:
        more.write({"image/encoded": image("JPEG"), "image/filename": b"\xff.jpg"})
    tfreel.unpack(pets, tmp_path / "in" / "pets", by="image/filename")
    assert entries(tmp_path) == sorted(
        ["pets.tfrecord", *(f"in/pets/{entry}" for entry in entries(tmp_path / "in" / "pets"))]
    )
    lines = (tmp_path / "in/pets/metadata.jsonl").read_text().splitlines()
    names = [json.loads(line)["file_name"] for line in lines]
    assert len(set(names)) == 9
    assert all(max(map(len, name.encode().split(b"/"))) < 255 for name in names)
    assert names[4] == "_CON/_CON.png"
    assert names[6:] == ["00000006.png", "00000007.jpg", "%FF.jpg/%FF.jpg"]


def test_raw_pixels_become_png_and_other_arrays_npy(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    depth = np.random.default_rng(1).normal(size=(3, 4))
    rows = [{"x": tfreel.tensor(pixels), "depth": tfreel.tensor(depth), "label": i} for i in range(2)]
    tfreel.save(tmp_path / "raw.tfrecord", rows)
    tfreel.unpack(tmp_path / "raw.tfrecord", tmp_path / "raw")
    with Image.open(tmp_path / "raw/1/00000001.png") as found:
        assert (np.asarray(found) == pixels).all()
    assert (np.load(tmp_path / "raw/1/00000001.depth.npy") == depth).all()


def test_pixels_of_guessed_shape_are_noted(tmp_path: Path) -> None:
    digits = np.random.default_rng(1).integers(0, 256, (3, 784)).astype(np.uint8)
    rows = [{"image_raw": digit.tobytes(), "label": i} for i, digit in enumerate(digits)]
    tfreel.save(tmp_path / "mnist.tfrecord", rows)
    report = tfreel.unpack(tmp_path / "mnist.tfrecord", tmp_path / "mnist/")
    with Image.open(tmp_path / "mnist/2/00000002.png") as found:
        assert (np.asarray(found).ravel() == digits[2]).all()
    assert report.notes == ["image_raw is written as an image of 28×28×1, which is guessed from its size"]


def test_what_was_replaced_and_cannot_be_removed_is_a_warning(
    pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    tfreel.unpack(pets, out)

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(folders.shutil, "rmtree", refuse)
    with pytest.warns(tfreel.TfreelWarning, match="what was replaced could not be removed"):
        tfreel.unpack(pets, out, force=True, limit=1)
    assert len((out / "metadata.jsonl").read_text().splitlines()) == 1


def test_force_replaces_only_what_unpack_made(pets: Path, tmp_path: Path) -> None:
    out = tmp_path / "pets"
    tfreel.unpack(pets, out)
    with pytest.raises(FileExistsError, match="force=True"):
        tfreel.unpack(pets, out)
    tfreel.unpack(pets, out, force=True, limit=1)
    assert len(entries(out)) == 4
    (out / "cat" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"cat/mine\.txt"):
        tfreel.unpack(pets, out, force=True)
    assert (out / "cat" / "mine.txt").read_text() == "mine"
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "metadata.jsonl").write_text('{"file_name": "thesis.tex"}\n')
    (tmp_path / "work" / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="not unpacked there"):
        tfreel.unpack(pets, tmp_path / "work", force=True)
    assert entries(tmp_path / "work") == ["metadata.jsonl", "thesis.tex"]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_feature_that_looks_like_a_file_name_protects_the_file(tmp_path: Path) -> None:
    rows = [{"image": image("PNG"), "file_name": "mine.txt", "other_file_name": "mine.txt"}]
    tfreel.save(tmp_path / "a.tfrecord", rows)
    report = tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a")
    line = json.loads((tmp_path / "a/metadata.jsonl").read_text())
    assert line == {"file_name": "mine.png", "feature file_name": "mine.txt", "other_file_name": "mine.txt"}
    assert any("'feature file_name'" in note for note in report.notes)
    (tmp_path / "a/mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"mine\.txt"):
        tfreel.unpack(tmp_path / "a.tfrecord", tmp_path / "a", force=True)


def test_a_folder_without_files_to_make_is_refused(source: Path, tmp_path: Path) -> None:
    tfreel.save(tmp_path / "n.tfrecord", {"x": [1, 2]})
    with pytest.raises(ValueError, match="no feature holds an image"):
        tfreel.unpack(tmp_path / "n.tfrecord", tmp_path / "n")
    with pytest.raises(ValueError, match="holds numbers"):
        tfreel.unpack(source, tmp_path / "n", column="i")
    with pytest.raises(ValueError, match="did you mean 'text'"):
        tfreel.unpack(source, tmp_path / "n", column="tex")


# WebDataset -------------------------------------------------------------------------------------------------


def test_a_tar_has_samples_and_is_the_same_every_time(pets: Path, tmp_path: Path) -> None:
    tfreel.unpack(pets, tmp_path / "a.tar", limit=3)
    tfreel.unpack(pets, tmp_path / "b.tar", limit=3)
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    with tarfile.open(tmp_path / "a.tar") as tar:
        members = {member.name: member for member in tar}
        assert list(members)[:4] == ["cat.png", "cat.mask.png", "cat.cls", "cat.json"]
        assert {(member.mtime, member.uid, member.uname) for member in members.values()} == {(0, 0, "")}
        label = tar.extractfile("passwd.cls")
        assert label is not None
        assert label.read() == b"1"


# Which records ----------------------------------------------------------------------------------------------


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.tfrecord"
    rows = [{"n": i, "score": i / 10, "a/b": f"word {i}", "tags": [f"t{i % 3}", "all"]} for i in range(10)]
    tfreel.save(path, [*rows, {"n": 10}])
    return path


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("n == 3", [3]),
        ("score == 0.1", [1]),
        ("score <= 0.1 or n in [7, 8.0, 99]", [0, 1, 7, 8]),
        ("not (n > 2 and n < 9)", [0, 1, 2, 9, 10]),
        ('a/b == "word 4"', [4]),
        ("`a/b` > 'word 7'", [8, 9]),
        ('a/b != "word 4" and n >= 3 and n <= 5', [3, 5]),
        ("score is missing", [10]),
        ("score is not missing and n not in (0, 1, 2, 3, 4, 5, 6, 7)", [8, 9]),
        ('tags == "t1"', [1, 4, 7]),
        ('"t2" in tags', [2, 5, 8]),
        ('tags not in ["t1", "t2"]', [0, 3, 6, 9]),
        ("n > -1e3 and n < .5", [0]),
        (lambda row: row["n"] % 4 == 0, [0, 4, 8]),
    ],
)
def test_where_picks_records(numbers: Path, tmp_path: Path, where: Any, expected: list[int]) -> None:
    report = tfreel.unpack(numbers, tmp_path / "out.npy", columns=["n"], where=where)
    assert np.load(tmp_path / "out.npy").tolist() == expected
    assert (report.records_read, report.records_written) == (11, len(expected))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("m == 3", "no feature is called 'm'.* at column 1: ‸m == 3"),
        ("scor == 3", "did you mean 'score'"),
        ("n => 3", "expected a number, or text in quotes, at column 4: n =‸> 3"),
        ('n == "x"', "'n' holds numbers, not text, at column 6"),
        ("a/b == 3", "'a/b' holds text, not a number"),
        ("a/b == word", 'did you mean "word"'),
        ("n", "expected a comparison, as in == 3, at column 2: n‸"),
        ("(n == 3", r"expected '\)'"),
        ("n == 3 n", "expected 'and', 'or' or the end, at column 8"),
        ("3 == n", "begins with a feature"),
        ("n in 3", "expected a list"),
        ("n is 3", "expected 'missing'"),
        ("", "expected the name of a feature"),
        ("__import__('os')", "no feature is called '__import__'"),
        ("(" * 60 + "n == 3" + ")" * 60, "more than 50 levels"),
        ("n == 3; n", "';' means nothing here"),
    ],
)
def test_mistakes_in_where_are_shown(numbers: Path, tmp_path: Path, where: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tfreel.unpack(numbers, tmp_path / "out.csv", where=where)
    assert entries(tmp_path) == ["numbers.tfrecord"]


def test_no_wanted_record_is_an_error_but_no_record_at_all_is_a_note(numbers: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of 11 records is wanted: n == 99"):
        tfreel.unpack(numbers, tmp_path / "out.csv", where="n == 99")
    tfreel.save(tmp_path / "empty.tfrecord", [])
    for suffix in ("csv", "jsonl", "npz"):
        report = tfreel.unpack(tmp_path / "empty.tfrecord", tmp_path / f"empty.{suffix}")
        assert report.notes == ["the source has no records"]


def test_limit_and_columns(numbers: Path, tmp_path: Path) -> None:
    report = tfreel.unpack(numbers, tmp_path / "a.csv", columns=["tags", "n"], limit=2, where="n > 3")
    assert report.columns == ("tags", "n")
    assert (tmp_path / "a.csv").read_text() == 'tags,n\n"[""t1"", ""all""]",4\n"[""t2"", ""all""]",5\n'
    with pytest.raises(ValueError, match="no feature is called 'x'"):
        tfreel.unpack(numbers, tmp_path / "b.csv", columns=["x"])
    with pytest.raises(ValueError, match="limit must be"):
        tfreel.unpack(numbers, tmp_path / "b.csv", limit=0)


def test_a_dataset_is_written_in_its_order(numbers: Path, tmp_path: Path) -> None:
    part, _ = tfreel.Dataset(numbers, columns=["n"]).shuffle(seed=3).split(0.5, 0.5)
    tfreel.unpack(part, tmp_path / "part.npy")
    assert np.load(tmp_path / "part.npy").tolist() == [row["n"] for row in part]
    batches = part.batch(4).map(lambda batch: {"twice": batch["n"] * 2})
    tfreel.unpack(batches, tmp_path / "twice.csv", where="twice > 4")
    twice = [2 * int(row["n"]) for row in part if row["n"] > 2]
    assert (tmp_path / "twice.csv").read_text().split()[1:] == list(map(str, twice))
    with pytest.raises(TypeError, match="not list"):
        tfreel.unpack(tfreel.Dataset(numbers, raw=True), tmp_path / "raw.csv")


MADE = {
    "text": ("é", '"é"'),
    "flag": (True, "true"),
    "int32": (np.int32(3), "3"),
    "float": (0.1, "0.1"),
    "day": (np.datetime64("2020-01-02"), '"2020-01-02"'),
    "date": (dt.date(2020, 1, 2), '"2020-01-02"'),
    "texts": (["a", "b"], '["a", "b"]'),
    "pixels": (np.ones((2, 2), np.uint8), "[[1, 1], [1, 1]]"),
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_function_makes_is_written_as_what_it_is(numbers: Path, tmp_path: Path, name: str) -> None:
    value, text = MADE[name]
    made = tfreel.Dataset(numbers).map(lambda row: {"n": row["n"], name: value})
    tfreel.unpack(made, tmp_path / "out.jsonl", limit=1)
    assert (tmp_path / "out.jsonl").read_text() == f'{{"n": 0, "{name}": {text}}}\n'


def test_what_a_function_leaves_out_is_absent(numbers: Path, tmp_path: Path) -> None:
    def made(row: dict[str, Any]) -> dict[str, Any]:
        odd = bool(row["n"] % 2)
        time = np.datetime64("NaT" if odd else "2020-01-02", "D")
        return {"n": row["n"], "name": None if odd else f"n{row['n']}", "time": time, "none": None}

    tfreel.unpack(tfreel.Dataset(numbers).map(made), tmp_path / "out.csv", limit=3)
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "n,name,time,none",
        "0,n0,2020-01-02,",
        "1,,,",
        "2,n2,2020-01-02,",
    ]
    tfreel.unpack(tfreel.Dataset(numbers).map(made), tmp_path / "out.jsonl", limit=2)
    assert (tmp_path / "out.jsonl").read_text().splitlines() == [
        '{"n": 0, "name": "n0", "time": "2020-01-02"}',
        '{"n": 1}',
    ]


@pytest.mark.parametrize("value", [1j, object(), {"a": 1}, (1, 2)])
def test_what_has_no_form_is_refused_by_name(numbers: Path, tmp_path: Path, value: Any) -> None:
    made = tfreel.Dataset(numbers).map(lambda row: {"n": row["n"], "odd": value})
    with pytest.raises(TypeError, match="column 'odd'"):
        tfreel.unpack(made, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("out", "options", "message"),
    [
        ("out.csv", {"by": "n"}, "by is for folders and WebDataset, where records are files; not for csv"),
        ("out.parquet", {"name": "n"}, "name is for folders and WebDataset"),
        ("out.npz", {"column": "n"}, "column is for folders and WebDataset"),
        (
            "out.parquet",
            {"binary": "drop"},
            "binary is for CSV and JSON, which know no bytes; parquet keeps them",
        ),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    numbers: Path, tmp_path: Path, out: str, options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tfreel.unpack(numbers, tmp_path / out, **options)
    assert not (tmp_path / out).exists()


@pytest.mark.parametrize("out", ["folder/", "a.tar", "a.csv", "a.jsonl", "a.npz"])
def test_a_source_without_records_makes_an_empty_output_and_a_note(tmp_path: Path, out: str) -> None:
    (tmp_path / "empty.tfrecord").touch()
    report = tfreel.unpack(tmp_path / "empty.tfrecord", f"{tmp_path}/{out}")
    assert (report.records_written, report.notes) == (0, ["the source has no records"])
    assert (tmp_path / out).exists()


def test_given_features_decide_what_is_read(numbers: Path, tmp_path: Path) -> None:
    features = {"score": tfreel.FixedLenFeature([], "float32", default_value=-1)}
    tfreel.unpack(numbers, tmp_path / "a.npy", features=features)
    assert np.load(tmp_path / "a.npy")[-1] == -1


# Damage and interruption ------------------------------------------------------------------------------------


def test_damage_leaves_no_output_unless_it_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "damaged.tfrecord"
    tfreel.save(path, {"n": range(100)})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(tfreel.CorruptError):
        tfreel.unpack(path, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["damaged.tfrecord"]
    report = tfreel.unpack(path, tmp_path / "out.csv", on_corrupt="skip")
    assert not report.ok
    assert report.records_written == 99


@pytest.mark.parametrize("out", ["out.csv", "out.jsonl", "out.npz", "out.tar", "out/"])
def test_an_interruption_leaves_nothing(pets: Path, tmp_path: Path, out: str) -> None:
    def stop(records: int, nbytes: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tfreel.unpack(pets, tmp_path / out if out != "out/" else f"{tmp_path}/out/", progress=stop)
    assert os.listdir(tmp_path) == ["pets.tfrecord"]


def test_existing_files_are_replaced_by_force_only(numbers: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(FileExistsError, match="force=True"):
        tfreel.unpack(numbers, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "mine"
    tfreel.unpack(numbers, tmp_path / "a.csv", force=True)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        tfreel.unpack(numbers, tmp_path / "folder", to="csv", force=True)


def test_the_suffix_tells_what_to_write(numbers: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"suffix '\.xyz' does not tell"):
        tfreel.unpack(numbers, tmp_path / "a.xyz")
    with pytest.raises(ValueError, match="to must be one of"):
        tfreel.unpack(numbers, tmp_path / "a.xyz", to="xyz")  # type: ignore[arg-type]
    assert tfreel.unpack(numbers, tmp_path / "a.xyz", to="tsv").to == "tsv"
