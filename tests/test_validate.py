"""`tfreel.profile.validate` and ``tfreel validate --schema``: every rule, with counter-examples."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from test_cli import on_terminal, rows, run
from test_cli_look import plain
from tfreel import images
from tfreel.profile import FeatureRules, Schema, ValidationReport, infer_schema, validate


def saved(path: Path, examples: list[Any]) -> Path:
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(examples)
    return path


def checked(tmp_path: Path, values: list[Any], **rules: Any) -> ValidationReport:
    """Each value in a record of its own, under these rules; None is a record without one."""
    path = saved(tmp_path / "x", [{} if value is None else {"x": value} for value in values])
    return validate(path, Schema({"x": FeatureRules(**rules)}))


def broken(report: ValidationReport) -> list[tuple[str, str, int, list[tuple[int, str]]]]:
    """Of each problem: rule, what is allowed, how many records; and the counter-examples."""
    return [
        (one.rule, one.allowed, one.records, [(example.record, example.found) for example in one.examples])
        for one in report.problems
    ]


# Every rule -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "values", "problem"),
    [
        (
            {"kind": "int64"},
            [1, 0.5, "x", None],
            ("kind", "int64", 2, [(1, "float32"), (2, "bytes")]),
        ),
        (
            {"presence": 1.0},
            [1, None, 2, None],
            ("presence", "in all records", 2, [(1, "is missing"), (3, "is missing")]),
        ),
        (
            {"kind": "int64", "shape": (2,)},
            [[1, 2], [1], [1, 2, 3]],
            ("shape", "[2]", 2, [(1, "1 value"), (2, "3 values")]),
        ),
        (
            {"kind": "int64", "count": (1, 2)},
            [[1, 2], np.array([], np.int64), [1, 2, 3], None],
            ("count", "1…2", 2, [(1, "0 values"), (2, "3 values")]),
        ),
        (
            {"kind": "int64", "count": (2, None)},
            [[1, 2], [1]],
            ("count", "at least 2", 1, [(1, "1 value")]),
        ),
        (
            {"kind": "int64", "range": (0, 9)},
            [[1, 2], [3, 10, 11], -1],
            ("range", "0…9", 2, [(1, "10"), (2, "-1")]),
        ),
        (
            {"kind": "float32", "range": (None, 0.1)},
            [0.1, 0.2, float("nan"), float("inf")],
            ("range", "at most 0.1", 2, [(1, "0.2"), (3, "inf")]),
        ),
        (
            {"kind": "float32", "nan": False, "inf": True},
            [0.1, [1.0, float("nan")], float("inf")],
            ("nan", "without NaN", 1, [(1, "nan")]),
        ),
        (
            {"kind": "float32", "inf": False},
            [0.1, float("nan"), -float("inf")],
            ("inf", "without infinities", 1, [(2, "-inf")]),
        ),
        (
            {"allowed": (1, 5, 1 << 62)},
            [1, [5, 6], 1 << 62],
            ("allowed", f"1, 5, {1 << 62}", 1, [(1, "6")]),
        ),
        (
            {"kind": "float32", "allowed": (0, 1)},
            [0.0, 1.0, 0.5],
            ("allowed", "0, 1", 1, [(2, "0.5")]),
        ),
        (
            {"allowed": ("cat", "dog")},
            ["cat", ["dog", "cow"], b"\xff\0", "x" * 99],
            (
                "allowed",
                "cat, dog",
                3,
                [(1, "'cow'"), (2, "binary, 2 bytes"), (3, "'" + "x" * 57 + "…'")],
            ),
        ),
        (
            {"contents": ("text",)},
            ["cat", b"\0\1", ""],
            ("contents", "text", 2, [(1, "binary, 2 bytes"), (2, "empty, 0 bytes")]),
        ),
        (
            {"value_bytes": (1, 3)},
            ["cat", ["a", "long"], ""],
            ("value_bytes", "1…3", 2, [(1, "4 bytes"), (2, "0 bytes")]),
        ),
    ],
    ids=lambda case: str(case)[:50],
)
def test_a_broken_rule_has_counter_examples(
    tmp_path: Path, rules: dict[str, Any], values: list[Any], problem: Any
) -> None:
    report = checked(tmp_path, values, **rules)
    assert broken(report) == [problem]
    assert not report.ok
    assert report.records == len(values)
    assert report.problems[0].feature == "x"
    assert report.problems[0].examples[0].path == str(tmp_path / "x")


def test_presence_may_be_a_share_or_a_number(tmp_path: Path) -> None:
    values = [1, None, 1, 1]
    assert checked(tmp_path, values, presence=0.75).ok
    assert broken(checked(tmp_path, values, presence=0.8))[0][1] == "in 80.0000% of records"
    assert checked(tmp_path, values, min_present=3).ok
    assert broken(checked(tmp_path, values, min_present=4))[0][1:3] == ("in 4 records at least", 1)
    assert not validate(
        saved(tmp_path / "e", []), Schema({"x": FeatureRules(min_present=1)}, min_records=0)
    ).ok


def test_a_feature_without_a_kind_is_missing(tmp_path: Path) -> None:
    record = tfreel.Example()
    record.features.feature["x"].SetInParent()
    path = saved(tmp_path / "x", [record])
    assert broken(validate(path, Schema({"x": FeatureRules(presence=1.0)})))[0][0] == "presence"
    assert validate(path, Schema({"x": FeatureRules(kind="int64", count=(1, 1))})).ok


def test_a_share_of_values_may_be_others(tmp_path: Path) -> None:
    values = ["cat"] * 9 + ["dog"]
    assert checked(tmp_path, values, allowed=("cat",), allowed_share=0.9).ok
    report = checked(tmp_path, values, allowed=("cat",), allowed_share=0.91)
    assert (report.problems[0].rule, report.problems[0].values) == ("allowed", 1)


def test_formats_and_sizes_of_images_are_told_by_their_headers(tmp_path: Path) -> None:
    small = images.encode(np.zeros((4, 6, 3), np.uint8), "png")
    large = images.encode(np.zeros((40, 60, 3), np.uint8), "jpeg")[:640]  # cut off behind the header
    values = [small, large, "no image", small]
    report = checked(tmp_path, values, contents=("png",), width=(1, 10), height=(5, None))
    assert broken(report) == [
        ("contents", "png", 2, [(1, "JPEG 60×40, 640 bytes"), (2, "'no image'")]),
        ("width", "1…10", 1, [(1, "JPEG 60×40, 640 bytes")]),
        (
            "height",
            "at least 5",
            2,
            [(0, f"PNG 6×4, {len(small)} bytes"), (3, f"PNG 6×4, {len(small)} bytes")],
        ),
    ]


def test_class_ids_of_masks_are_checked_pixel_by_pixel(tmp_path: Path) -> None:
    masks = [images.encode_labels(np.array([[0, i]], np.uint8)) for i in (1, 2, 255)]
    photo = images.encode(np.zeros((2, 2, 3), np.uint8), "jpeg")
    path = saved(tmp_path / "x", [{"x": mask} for mask in [*masks, photo, masks[0][:30], b""]])
    schema = Schema({"x": FeatureRules(mask_ids=(0, 1, 255))})
    ((rule, allowed, records, examples),) = broken(validate(path, schema))
    assert (rule, allowed, records, examples[0]) == ("mask_ids", "0, 1, 255", 4, (1, "id 2"))
    assert [record for record, _ in examples] == [1, 3, 4, 5]
    assert validate(path, schema, masks=False).ok


def test_feature_lists_are_checked_step_by_step(tmp_path: Path) -> None:
    records = [
        tfreel.encode_sequence({"id": 1}, {"t": steps, **more})
        for steps, more in (
            ([[1, 2], [3, 4]], {}),
            ([[1, 2], [3]], {}),
            ([], {}),
            ([[1, 2], [3, 99]], {"odd": [[1]]}),
            ([[1, 2], None], {}),
            ([["a", "b"]], {}),
        )
    ]
    rules = FeatureRules(kind="int64", presence=1.0, shape=(2,), steps=(1, 9), range=(0, 9))
    schema = Schema({"id": FeatureRules()}, {"t": rules}, "refuse")
    report = validate(saved(tmp_path / "x", records), schema)
    assert broken(report) == [
        ("kind", "int64", 1, [(5, "bytes")]),
        ("steps", "1…9", 1, [(2, "0 steps")]),
        ("shape", "[2]", 2, [(1, "1 value"), (4, "0 values")]),
        ("range", "0…9", 1, [(3, "99")]),
        ("unexpected", "only features of the schema", 1, [(3, "is there")]),
    ]
    assert all(one.in_lists for one in report.problems)


def test_features_that_the_schema_does_not_know_are_refused_or_not(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"x": 1}, {"x": 1, "y": 2}])
    rules = {"x": FeatureRules(kind="int64")}
    assert validate(path, Schema(rules)).ok
    report = validate(path, Schema(rules, other_features="refuse"))
    assert [(one.feature, one.rule, one.records) for one in report.problems] == [("y", "unexpected", 1)]


def test_the_number_of_records_is_a_rule(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"x": 1}] * 5)
    assert broken(validate(path, Schema({}, min_records=6))) == [("records", "at least 6 in all", 5, [])]
    assert broken(validate(path, Schema({}, max_records=4))) == [("records", "1…4 in all", 5, [])]


# Bad data ---------------------------------------------------------------------------------------------------


def test_empty_data_is_not_valid(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    report = validate(tmp_path / "x", Schema({"x": FeatureRules(presence=1.0)}))
    assert [one.rule for one in report.problems] == ["records"]


def test_damage_is_a_problem_and_the_rest_is_checked(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"x": i} for i in range(10)])
    data = bytearray(path.read_bytes())
    data[14] ^= 1
    path.write_bytes(data[:-3])
    report = validate(path, Schema({"x": FeatureRules(kind="int64", range=(0, 7))}))
    assert [(one.rule, one.records) for one in report.problems] == [("sound", 2), ("range", 1)]
    assert report.problems[1].examples[0].record == 8  # counted as in the file
    assert report.records == 8


def test_records_that_are_no_examples_are_a_problem(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"x": 1}, b"\xff\xff", {"x": 99}])
    report = validate(path, Schema({"x": FeatureRules(kind="int64", presence=1.0, range=(0, 9))}))
    assert [(one.rule, [ex.record for ex in one.examples]) for one in report.problems] == [
        ("example", [1]),
        ("range", [2]),
    ]


def test_a_feature_named_like_nothing_is_one(tmp_path: Path) -> None:
    report = validate(
        saved(tmp_path / "x", [{"": 5}]), Schema({"": FeatureRules(kind="int64", range=(0, 1))})
    )
    assert [(one.feature, one.rule) for one in report.problems] == [("", "range")]


def test_counter_examples_and_names_are_bounded(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{f"n{i}-{j}": 1 for j in range(300)} for i in range(50)])
    report = validate(path, Schema({}, other_features="refuse"), examples=2)
    assert len(report.problems) <= 10_000
    assert "too many to list" in report.notes[0]
    path = saved(tmp_path / "y", [{"x": 9}] * 1000)
    report = validate(path, Schema({"x": FeatureRules(kind="int64", range=(0, 1))}), examples=3)
    assert (report.problems[0].records, len(report.problems[0].examples)) == (1000, 3)
    assert validate(path, Schema({"x": FeatureRules(presence=1.0)}), examples=0).ok


def test_memory_does_not_grow_with_the_data(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tfreel.Writer(path) as out:
        for _ in range(30):
            out.write_batch({"x": np.arange(20_000), "y": np.zeros((20_000, 16), np.float32)})
    schema = Schema(
        {"x": FeatureRules(kind="int64", range=(0, 5)), "y": FeatureRules(kind="float32", nan=False)}
    )
    tracemalloc.start()
    report = validate(path, schema, threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.problems[0].records == 30 * (20_000 - 6)
    assert peak < 40 << 20


# All at once ------------------------------------------------------------------------------------------------


def test_the_number_of_threads_changes_nothing(tmp_path: Path) -> None:
    paths = []
    for i in range(5):
        examples = [{"x": j % 7, "y": "ab"[j % 2], "z": [0.5] * (1 + j % 3)} for j in range(500)]
        paths.append(saved(tmp_path / f"{i}.tfrecord", examples))
    rules = {
        "x": FeatureRules(kind="int64", range=(0, 5)),
        "y": FeatureRules(allowed=("a",)),
        "z": FeatureRules(kind="float32", shape=(2,)),
    }
    reports = [validate(paths, Schema(rules), threads=threads) for threads in (1, 2, 7)]
    assert reports[0] == reports[1] == reports[2]
    assert [one.records for one in reports[0].problems] == [355, 1250, 1665]


def test_what_a_schema_was_inferred_from_keeps_it(tmp_path: Path) -> None:
    jpeg = images.encode(np.zeros((8, 6, 3), np.uint8), "jpeg")
    rng = np.random.default_rng(5)
    examples: list[dict[str, Any]] = [
        {
            "image": jpeg,
            "label": i % 4,
            "name": ["a", "b"][i % 2],
            "v": rng.normal(size=3),
            "n": [1] * (i % 3 + 1),
        }
        for i in range(300)
    ]
    for example in examples[::5]:
        del example["n"]
    path = saved(tmp_path / "x", examples)
    schema = infer_schema(path, sample=None)
    assert validate(path, schema).ok
    assert validate(path, Schema.from_pbtxt(schema.to_pbtxt())).ok
    examples[7] |= {"label": 4, "name": "c", "image": b"?", "v": [1.0, float("nan"), 0.0], "new": 1}
    report = validate(saved(tmp_path / "y", examples), schema)
    assert sorted((one.feature, one.rule) for one in report.problems) == [
        ("image", "contents"),
        ("label", "range"),
        ("name", "allowed"),
        ("new", "unexpected"),
        ("v", "nan"),
    ]
    assert {example.record for one in report.problems for example in one.examples} == {7}


def test_a_report_is_text_and_json(tmp_path: Path) -> None:
    report = checked(tmp_path, [1, 99], kind="int64", range=(0, 9))
    assert str(report).splitlines() == [
        f"feature 'x': range: 1 record; allowed: 0…9; the first is {tmp_path / 'x'}: record 1: 99",
        "2 records: 1 rule is broken",
    ]
    assert json.loads(json.dumps(report.to_dict()))["problems"][0]["examples"][0]["record"] == 1
    with pytest.raises(ValueError, match="examples must not be negative"):
        validate(tmp_path / "x", Schema({}), examples=-1)


# The command ------------------------------------------------------------------------------------------------


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    return saved(tmp_path / "cats.tfrecord", [{"label": i % 3, "\x1b[31m": 1} for i in range(60)])


def test_the_command_says_yes_or_no(cats: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(run("schema", "--json", cats).stdout)
    good = run("validate", cats, "--schema", schema)
    assert (good.exit_code, rows(good)[0]["ok"]) == (0, True)
    schema.write_text(schema.read_text().replace('"range": [0, 2]', '"range": [0, 1]'))
    bad = run("validate", cats, "--schema", schema)
    assert bad.exit_code == 1
    (found,) = rows(bad)[0]["problems"]
    assert (found["feature"], found["records"], len(found["examples"])) == ("label", 20, 5)


def test_the_command_prints_tables_and_csv(cats: Path, tmp_path: Path) -> None:
    (tmp_path / "s.pbtxt").write_text(
        'feature { name: "label" type: INT int_domain { max: 1 } unique_constraints { } }'
    )
    code, shown = on_terminal("validate", cats, "--schema", tmp_path / "s.pbtxt", COLUMNS="200")
    assert code == 1
    assert "\x1b[31m1" not in shown
    shown = "\n".join(plain(shown))
    assert "not valid: 2 broken rules; 1 file, 60 records" in shown
    assert "note: line 1: feature 'label': unique_constraints is not checked" in shown
    result = run("validate", cats, "--schema", tmp_path / "s.pbtxt", "--csv", "--examples", "1")
    first = next(csv.DictReader(io.StringIO(result.stdout)))
    assert (first["feature"], first["rule"], first["found"], first["record"]) == ("label", "range", "2", "2")
    assert "unique_constraints is not checked" in result.stderr


def test_the_command_refuses_what_makes_no_sense(cats: Path, tmp_path: Path) -> None:
    assert run("validate", cats).exit_code == 2
    assert run("validate", cats, "--against", cats, "--shards").exit_code == 2
    assert run("validate", cats, "--splits").exit_code == 2
    assert run("validate", cats, "--shards").exit_code == 2
    assert run("validate", cats, "--against", cats, "--environment", "X").exit_code == 2
    (tmp_path / "bad.json").write_text("{}")
    result = run("validate", cats, "--schema", tmp_path / "bad.json")
    assert result.exit_code == 2
    assert "bad.json: not a schema" in result.stderr
    assert run("validate", cats, "--schema", tmp_path / "none.json").exit_code == 2


def test_the_command_says_that_damaged_data_is_bad(cats: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(run("schema", "--json", cats).stdout)
    cats.write_bytes(cats.read_bytes()[:-1])
    result = run("validate", cats, "--schema", schema)
    assert (result.exit_code, rows(result)[0]["problems"][0]["rule"]) == (1, "sound")
