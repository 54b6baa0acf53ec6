"""Schemas: inferred, edited as JSON, read and written as text of tf.Metadata; hostile ones refused."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from test_cli import in_shell, rows, run
from tfreel import images
from tfreel.inference.content import IMAGES
from tfreel.profile import FeatureRules, Schema, infer_schema
from tfreel.profile.text_format import Message, parse_text, quoted

# Inference --------------------------------------------------------------------------------------------------


def inferred(tmp_path: Path, examples: list[dict[str, Any]], **options: Any) -> Schema:
    path = tmp_path / "x.tfrecord"
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(examples)
    return infer_schema(path, **options)


def test_kinds_shapes_and_presence_become_rules(tmp_path: Path) -> None:
    examples: list[dict[str, Any]] = [
        {"one": i, "four": [0.5] * 4, "some": [1] * (1 + i % 2), "now_and_then": 1} for i in range(20)
    ]
    del examples[3]["now_and_then"]
    rules = inferred(tmp_path, examples).rules
    assert rules["one"].to_json() == {"kind": "int64", "presence": 1.0, "shape": []}
    assert rules["four"].to_json() == {
        "kind": "float32",
        "presence": 1.0,
        "shape": [4],
        "nan": False,
        "inf": False,
    }
    assert (rules["some"].shape, rules["now_and_then"].presence) == (None, None)


@pytest.mark.parametrize(
    ("numbers", "range_"),
    [
        ([0, 1, 2] * 10, (0, 2)),
        ([1, 2] * 10, (1, 2)),
        ([0, 1, 2] * 2, None),  # who knows
        ([480, 640] * 20, None),  # measures
        ([0, 100] * 20, None),
        ([7] * 40, None),
        (list(range(3000)), None),
        ([-1, 0, 1] * 20, None),
    ],
)
def test_ids_get_a_range_and_measures_do_not(
    tmp_path: Path, numbers: list[int], range_: tuple[int, int] | None
) -> None:
    assert inferred(tmp_path, [{"x": n} for n in numbers], sample=None).rules["x"].range == range_


def test_texts_that_come_again_are_the_ones_allowed(tmp_path: Path) -> None:
    few = inferred(tmp_path, [{"x": ["", "b", "ä"][i % 3]} for i in range(60)]).rules["x"]
    assert (few.allowed, few.contents) == (("", "b", "ä"), None)
    many = inferred(tmp_path, [{"x": f"cat {i}"} for i in range(60)]).rules["x"]
    assert (many.allowed, many.contents) == (None, ("text",))
    long = inferred(tmp_path, [{"x": "x" * 100}] * 60).rules["x"]
    assert (long.allowed, long.contents) == (None, ("text",))
    binary = inferred(tmp_path, [{"x": b"\0\1"}] * 60).rules["x"]
    assert (binary.allowed, binary.contents) == (None, None)


def test_images_get_rules_for_their_formats_and_one_size(tmp_path: Path) -> None:
    jpeg = images.encode(np.zeros((8, 6, 3), np.uint8), "jpeg")
    png = images.encode(np.zeros((4, 6, 3), np.uint8), "png")
    rules = inferred(tmp_path, [{"a": jpeg, "b": png if i else jpeg} for i in range(3)]).rules
    assert (rules["a"].contents, rules["a"].width, rules["a"].height) == (("jpeg",), (6, 6), (8, 8))
    assert (rules["b"].contents, rules["b"].width, rules["b"].height) == (("jpeg", "png"), None, None)


def test_class_ids_of_masks_are_looked_at_only_if_that_is_asked(tmp_path: Path) -> None:
    mask = images.encode_labels(np.array([[0, 2], [255, 2]], np.uint8))
    photo = images.encode(np.zeros((2, 2, 3), np.uint8), "png")
    examples = [{"mask": mask, "photo": photo, "jpeg": images.encode(np.zeros((2, 2, 1), np.uint8), "jpeg")}]
    assert inferred(tmp_path, examples).rules["mask"].mask_ids is None
    rules = inferred(tmp_path, examples, masks=True).rules
    assert [rules[name].mask_ids for name in ("mask", "photo", "jpeg")] == [(0, 2, 255), None, None]


def test_feature_lists_get_rules_too(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tfreel.Writer(path) as out:
        for i in range(30):
            out.write(tfreel.encode_sequence({"id": i}, {"tokens": [[i % 3], [1]], "words": [["a"]] * 2}))
    schema = infer_schema(path)
    assert schema.sequence_rules["tokens"].to_json() == {
        "kind": "int64",
        "presence": 1.0,
        "shape": [],
        "range": [0, 2],
    }
    assert schema.sequence_rules["words"].allowed == ("a",)


def test_conflicting_and_empty_data_have_schemas_too(tmp_path: Path) -> None:
    assert inferred(tmp_path, [{"x": 1}, {"x": "one"}, {"x": None}]).rules["x"].kind in ("int64", "bytes")
    assert inferred(tmp_path, []).rules == {}
    many = inferred(tmp_path, [{f"n{i}": 1 for i in range(11_000)}])
    assert len(many.rules) == 11_000


def test_a_schema_comes_from_a_stream(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x.tfrecord", [{"x": i % 3} for i in range(100)])
    done = in_shell("tfreel schema - < x.tfrecord", cwd=tmp_path)
    assert json.loads(done.stdout)["rules"]["x"]["range"] == [0, 2]


# JSON -------------------------------------------------------------------------------------------------------


def schema_of(rules: object, **more: object) -> Schema:
    return Schema.from_json(json.dumps({"schema_version": 1, "rules": rules, **more}))


FULL = {
    "number": {
        "kind": "int64",
        "presence": 0.5,
        "min_present": 3,
        "count": [1, None],
        "range": [None, 9],
        "allowed": [1, 2],
        "allowed_share": 0.9,
        "drift": 0.1,
        "divergence": 0.2,
    },
    "float": {"kind": "float32", "shape": [2, 2], "range": [0.5, 1], "nan": False, "inf": True},
    "bytes": {
        "kind": "bytes",
        "contents": ["jpeg", "png"],
        "value_bytes": [1, 100],
        "width": [1, 2],
        "height": [None, 2],
        "mask_ids": [0, 255],
    },
    "text": {"kind": "bytes", "allowed": ["a", "\ud800"]},
}


def test_all_rules_go_to_json_and_back(tmp_path: Path) -> None:
    schema = schema_of(FULL, sequence_rules={"x": {"steps": [1, 5]}}, other_features="refuse", max_records=7)
    assert {name: rules.to_json() for name, rules in schema.rules.items()} == FULL
    again = Schema.from_json(schema.to_json())
    assert again == schema
    (tmp_path / "schema.json").write_text(schema.to_json())
    assert Schema.load(tmp_path / "schema.json") == schema
    assert (again.min_records, again.max_records, again.other_features) == (1, 7, "refuse")


def test_what_is_null_or_missing_is_not_checked() -> None:
    schema = schema_of({"x": {"kind": None, "range": None}})
    assert schema.rules["x"] == FeatureRules()
    assert schema.other_features == "allow"


def test_the_kind_is_told_from_other_rules() -> None:
    kinds = {
        name: rules.kind
        for name, rules in schema_of(
            {
                "a": {"contents": ["jpeg"]},
                "b": {"allowed": ["x"]},
                "c": {"allowed": [1]},
                "d": {"mask_ids": []},
                "e": {"count": [1, 1]},
            }
        ).rules.items()
    }
    assert kinds == {"a": "bytes", "b": "bytes", "c": "int64", "d": "bytes", "e": None}


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ({"x": {"rnage": [0, 1]}}, "rules of 'x': there is no rule 'rnage' — did you mean 'range'?"),
        ({"x": {"zebra": 1}}, "there is no rule 'zebra'; known are kind,"),
        ({"x": 7}, "rules of 'x': expected an object, not 7"),
        ([], "rules must be an object"),
        ({"x": {"kind": "int32"}}, "kind must be one of int64, float32, bytes, not 'int32'"),
        ({"x": {"presence": 2}}, "presence must be a number from 0 to 1, not 2"),
        ({"x": {"presence": True}}, "presence must be a number from 0 to 1"),
        ({"x": {"min_present": -1}}, "min_present must be a whole number"),
        ({"x": {"shape": [-1]}}, "shape must be"),
        ({"x": {"shape": [1 << 20, 1 << 20]}}, "a shape that an example can hold"),
        ({"x": {"shape": [1] * 300}}, "shape must be a list of sizes"),
        ({"x": {"count": [2, 1]}}, "count must be [least, most]"),
        ({"x": {"count": [1]}}, "count must be [least, most]"),
        ({"x": {"count": [0.5, 1]}}, "count must be [least, most], whole numbers or null"),
        ({"x": {"kind": "int64", "range": ["a", "b"]}}, "range must be [least, most], numbers or null"),
        ({"x": {"kind": "int64", "range": [1 << 70, None]}}, "range must be"),
        ({"x": {"range": [0, 1]}}, 'a rule for numbers needs a kind: "int64" or "float32"'),
        ({"x": {"nan": 0}}, "nan must be true or false"),
        ({"x": {"allowed": [0.5]}}, "allowed must be a list of texts or whole numbers"),
        ({"x": {"allowed": ["a", 1]}}, "allowed are texts or numbers, not both"),
        ({"x": {"kind": "int64", "allowed": ["a"]}}, "rules for bytes values, but the kind is int64"),
        ({"x": {"kind": "bytes", "allowed": [1]}}, "rules for int64 values, but the kind is bytes"),
        ({"x": {"kind": "bytes", "range": [0, 1]}}, "there is a range, but the kind is bytes"),
        ({"x": {"contents": ["jpg"]}}, "contents must be a list of some of jpeg, png"),
        ({"x": {"mask_ids": ["0"]}}, "mask_ids must be a list of whole numbers"),
        ({"x": {"shape": [1], "count": [1, 1]}}, "shape and count say the same"),
    ],
)
def test_rules_that_are_none_are_refused_by_name(rules: object, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        schema_of(rules)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a schema"),
        ("{", "not JSON"),
        ('{\n"a": }', "line 2: not JSON"),
        ("[1]", "expected the name of a field"),
        ('{"a": 1}', "not a schema"),
        ('{"features": {}}', "not a schema"),
        ('{"rules": {}}', "schema_version None is not known"),
        ('{"rules": {}, "schema_version": 2}', "schema_version 2 is not known"),
        ('{"rules": {}, "schema_version": 1, "other_features": "no"}', "other_features must be"),
        ('{"rules": {}, "schema_version": 1, "min_records": -1}', "min_records must be"),
        ('{"rules": {"x": {"kind": "float32", "range": [NaN, 1]}}, "schema_version": 1}', "range must be"),
        ('{"rules": {"x": {"kind": "float32", "range": [-Infinity, 1]}}, "schema_version": 1}', "range must"),
        ('{"rules": ' + "[" * 100_000, "lists in lists"),
        ("\0\0\0", "is no part of a schema"),
        ("hello", "expected : or {"),
    ],
    ids=lambda text: text[:40],
)
def test_files_that_are_no_schemas_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "schema").write_text(text)
    with pytest.raises(ValueError, match=re.escape(why)) as caught:
        Schema.load(tmp_path / "schema")
    assert str(caught.value).startswith(str(tmp_path / "schema"))


def test_a_file_that_is_no_text_or_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not text in UTF-8"):
        Schema.load(tmp_path / "x")
    with (tmp_path / "y.json").open("wb") as file:
        file.truncate(1 << 28)
    with pytest.raises(ValueError, match="a schema of more than"):
        Schema.load(tmp_path / "y.json")
    with pytest.raises(FileNotFoundError):
        Schema.load(tmp_path / "none")


# The text format --------------------------------------------------------------------------------------------


def plain(message: Message) -> list[tuple[str, Any]]:
    return [
        (name, plain(value) if isinstance(value, Message) else value) for name, value, _ in message.fields
    ]


def test_the_text_format_is_read_in_all_its_forms() -> None:
    text = """
    # a comment
    a: 1  b { c: "x" 'y' "\\n\\x41\\101\\u00e4" };  # texts side by side are one
    d < e: -1.5e3f, f: true >
    g: [1, 2, 3] h: [{ i: 0x1F }, { i: - 5 }]
    j: inf k: -inf l: BYTES
    """
    assert plain(parse_text(text)) == [
        ("a", 1.0),
        ("b", [("c", "xy\nAAä")]),
        ("d", [("e", -1500.0), ("f", "true")]),
        ("g", 1.0),
        ("g", 2.0),
        ("g", 3.0),
        ("h", [("i", 31.0)]),
        ("h", [("i", -5.0)]),
        ("j", float("inf")),
        ("k", float("-inf")),
        ("l", "BYTES"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a", "line 1: expected : or {, not 'the end'"),
        ("\n\na: ", "line 3: expected a value"),
        ("a: {", "expected the name of a field, not 'the end'"),
        ("a {{", "expected the name of a field"),
        ("a }", "expected : or {"),
        ('a: "x', "is no part of a schema"),
        ('a: "\\q"', "is no escape of a text"),
        ('a: "\\U00110000"', "is no escape of a text"),
        ("a: [1 2]", "expected , or ]"),
        ("a: 1.2.3", "is no part of a schema"),
        ("a {" * 1000, "nested more than 32 deep"),
        ("a: @", "is no part of a schema"),
        ("feature { type: INT }", "a feature without a name"),
        ("feature { name: 7 }", "name must be a text"),
        ("feature: 7", "feature must be a message"),
        ('feature { name: "x" type: DOUBLE }', "there is no type DOUBLE"),
        ('feature { name: "x" domain: "y" }', "there is no domain 'y'"),
        ('feature { name: "x" presence { min_fraction: 2 } }', "min_fraction must be from 0 to 1"),
        ('feature { name: "x" presence { min_count: 1.5 } }', "min_count must be a whole number"),
        ('feature { name: "x" value_count { min: 3 max: 2 } }', "there is nothing"),
        ('feature { name: "x" value_count { min: ' + "9" * 5000 + " } }", "must be a whole number"),
        ('feature { name: "x" float_domain { disallow_nan: maybe } }', "must be true or false"),
        ('feature { name: "x" int_domain { min: 1 } }', "a rule for numbers needs a kind"),
        ("default_environment: 'x'", "there is no feature"),
        ("a: " + "0x" + "f" * 5000, "there is no feature"),
    ],
    ids=lambda text: text[:40],
)
def test_text_that_is_no_schema_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        Schema.from_pbtxt(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.binary(max_size=30))
def test_texts_go_into_quotes_and_out_again(text: str, data: bytes) -> None:
    text = text.encode("utf-8", "replace").decode()
    for each in (text, data.decode("utf-8", "surrogateescape")):
        ((_, value, _),) = parse_text(f"a: {quoted(each)}").fields
        assert value == each


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab {}<>[]:;,\"'\\#\n01.-xe", max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with suppress(ValueError):  # and nothing else
        parse_text(text)


# Schemas of tf.Metadata -------------------------------------------------------------------------------------

TAXI = """
feature {
  name: "payment_type"
  value_count { min: 1 max: 1 }
  type: BYTES
  domain: "payment_type"
  presence { min_fraction: 1.0 min_count: 1 }
}
feature {
  name: "fare"
  type: FLOAT
  presence { min_fraction: 0.9 }
  shape { dim { size: 1 } }
  float_domain { min: 0 max: 1000.5 disallow_nan: true }
  drift_comparator { jensen_shannon_divergence { threshold: 0.1 } }
}
feature { name: "trip_start_month" type: INT int_domain { min: 1 max: 12 is_categorical: true }
          skew_comparator { infinity_norm { threshold: 0.01 } } }
feature { name: "tips" type: FLOAT not_in_environment: "SERVING" presence { min_count: 1 } shape { } }
feature { name: "company" type: BYTES string_domain { value: "a" value: "b" }
          distribution_constraints { min_domain_mass: 0.9 } value_count { min: 1 } }
feature { name: "old" type: INT presence { min_fraction: 1 } lifecycle_stage: DEPRECATED }
feature { name: "flag" type: INT bool_domain { } }
feature { name: "word" type: BYTES bool_domain { true_value: "yes" false_value: "no" } }
feature { name: "photo" type: BYTES image_domain { } annotation { tag: "x" } }
feature { name: "url" type: BYTES url_domain { } unique_constraints { min: 1 } }
feature { name: "coded" type: BYTES int_domain { min: 0 max: 9 } }
feature {
  name: "##SEQUENCE##"
  type: STRUCT
  struct_domain {
    feature { name: "tokens" type: INT value_counts { value_count { min: 1 } value_count { min: 2 max: 2 } } }
  }
}
string_domain { name: "payment_type" value: "Cash" value: "Credit Card" }
default_environment: "TRAINING"
default_environment: "SERVING"
dataset_constraints { min_examples_count: 10 max_examples_count: 20 }
"""


def test_a_schema_of_tensorflow_data_validation_is_read() -> None:
    schema = Schema.from_pbtxt(TAXI)
    found = {name: rules.to_json() for name, rules in schema.rules.items()}
    assert found == {
        "payment_type": {
            "kind": "bytes",
            "presence": 1.0,
            "min_present": 1,
            "count": [1, 1],
            "allowed": ["Cash", "Credit Card"],
        },
        "fare": {
            "kind": "float32",
            "presence": 0.9,
            "shape": [1],
            "range": [0.0, 1000.5],
            "nan": False,
            "divergence": 0.1,
        },
        "trip_start_month": {"kind": "int64", "range": [1, 12], "drift": 0.01},
        "tips": {"kind": "float32", "min_present": 1, "shape": []},
        "company": {"kind": "bytes", "count": [1, None], "allowed": ["a", "b"], "allowed_share": 0.9},
        "old": {},
        "flag": {"kind": "int64", "allowed": [0, 1]},
        "word": {"kind": "bytes", "allowed": ["no", "yes"]},
        "photo": {"kind": "bytes", "contents": sorted(IMAGES)},
        "url": {"kind": "bytes"},
        "coded": {"kind": "bytes"},
    }
    assert schema.sequence_rules["tokens"].to_json() == {"kind": "int64", "count": [2, 2], "steps": [1, None]}
    assert (schema.min_records, schema.max_records, schema.other_features) == (10, 20, "refuse")


def test_what_is_not_checked_is_noted() -> None:
    notes = Schema.from_pbtxt(TAXI + "weighted_feature { name: 'w' }").notes
    assert [re.sub(r"^line \d+: ", "", note) for note in notes] == [
        "feature 'url': url_domain is not checked",
        "feature 'url': unique_constraints is not checked",
        "feature 'coded': a domain of numbers, for texts, is not checked",
        "schema: weighted_feature is not checked",
    ]
    many = Schema.from_pbtxt('feature { name: "x" ' + "odd: 1 " * 5000 + "}")
    assert len(many.notes) == 100


def test_environments_leave_features_out() -> None:
    assert Schema.from_pbtxt(TAXI, environment="TRAINING").rules["tips"].min_present == 1
    assert Schema.from_pbtxt(TAXI, environment="SERVING").rules["tips"] == FeatureRules()
    with pytest.raises(ValueError, match="there is no environment 'TEST'; there are: SERVING, TRAINING"):
        Schema.from_pbtxt(TAXI, environment="TEST")


def test_a_schema_is_written_as_text_and_read_again() -> None:
    schema = Schema(
        {
            'a "name"\n': FeatureRules(kind="int64", presence=1.0, shape=(), range=(0, 9)),
            "b": FeatureRules(kind="float32", presence=0.5, count=(2, 2), range=(None, 0.1), nan=False),
            "c": FeatureRules(kind="bytes", allowed=("ä", "\udcff"), allowed_share=0.5, drift=0.25),
            "d": FeatureRules(kind="bytes", contents=tuple(sorted(IMAGES)), min_present=3),
            "e": FeatureRules(kind="int64", presence=1.0, shape=(2, 3), divergence=0.5),
        },
        {"t": FeatureRules(kind="int64", steps=(1, None), count=(2, 2))},
        "refuse",
        3,
        9,
    )
    assert Schema.from_pbtxt(schema.to_pbtxt()) == schema


def test_rules_that_the_text_cannot_say_are_comments() -> None:
    rules = FeatureRules(kind="bytes", contents=("jpeg",), width=(1, 9), value_bytes=(0, 99), mask_ids=(0,))
    text = Schema({"x": rules, "y": FeatureRules(kind="int64", allowed=(1, 5))}).to_pbtxt()
    for rule in (
        'contents ["jpeg"]',
        "width [1, 9]",
        "value_bytes [0, 99]",
        "mask_ids [0]",
        "allowed [1, 5]",
    ):
        assert f"  # not in this format: {rule}\n" in text
    assert "image_domain { }" in text


# The command ------------------------------------------------------------------------------------------------


def test_the_command_writes_schemas_of_both_kinds(tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    tfreel.save(path, [{"label": i % 3} for i in range(99)])
    (tmp_path / "s.json").write_text(run("schema", "--json", path).stdout)
    (tmp_path / "s.pbtxt").write_text(run("schema", "--pbtxt", path).stdout)
    expected = {"label": FeatureRules(kind="int64", presence=1.0, shape=(), range=(0, 2))}
    assert Schema.load(tmp_path / "s.json").rules == expected
    assert Schema.load(tmp_path / "s.pbtxt").rules == expected
    assert len(rows(run("schema", path))) == 1


def test_the_command_looks_into_masks_if_it_is_asked_to(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "x", [{"mask": images.encode_labels(np.array([[0, 7]], np.uint8))}])
    assert rows(run("schema", "--masks", tmp_path / "x"))[0]["rules"]["mask"]["mask_ids"] == [0, 7]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ({"kind": "int"}, "kind must be one of int64, float32, bytes, not 'int'"),
        ({"presence": 5}, "presence must be a number from 0 to 1, not 5"),
        ({"allowed": "c0"}, "allowed must be a list of texts or whole numbers, not 'c0'"),
        ({"range": (9, 0), "kind": "int64"}, r"range must be \[least, most\], numbers or null"),
    ],
)
def test_rules_made_in_python_are_checked_as_those_of_a_file(rules: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        FeatureRules(**rules)


def test_rules_may_have_numbers_of_numpy_and_lists() -> None:
    rules = FeatureRules(kind="int64", range=(np.int64(0), np.int64(9)), presence=np.float32(0.5))
    assert rules == FeatureRules(kind="int64", range=(0, 9), presence=0.5)
    assert FeatureRules(allowed=["a", "b"]) == FeatureRules(allowed=("a", "b"))  # type: ignore[arg-type]


def test_schemas_made_in_python_are_checked() -> None:
    with pytest.raises(ValueError, match='other_features must be "allow" or "refuse", not \'alow\''):
        Schema({}, other_features="alow")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rules of 'x' must be FeatureRules, not dict"):
        Schema({"x": {"kind": "int64"}})  # type: ignore[dict-item]
