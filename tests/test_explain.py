"""`tfreel.profile.explain` and ``tfreel explain``: will these features parse, and if not, why not?"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfreel
from test_cli import on_terminal, rows, run
from tfreel import tf
from tfreel.profile import explain
from tfreel.profile.spec_file import read_features, run_features

INT, FLOAT, BYTES = (tfreel.FixedLenFeature([], dtype) for dtype in ("int64", "float32", "bytes"))


def saved(path: Path, examples: list[dict[str, Any]]) -> Path:
    with tfreel.Writer(path, mode="w") as out:
        out.write_many(examples)
    return path


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    examples: list[dict[str, Any]] = [
        {"label": i, "name": f"cat {i}", "box": [0.5] * (4 if i else 3)} for i in range(10)
    ]
    del examples[7]["name"]
    return saved(tmp_path / "cats.tfrecord", examples)


def problem(path: Path, feature: Any, name: str = "label") -> str:
    """The one thing that is wrong."""
    (found,) = explain(path, {name: feature}).features
    (text,) = found.problems
    assert not found.ok
    return text.replace(str(path), path.name)


# What is wrong ----------------------------------------------------------------------------------------------


def test_features_that_parse_are_said_to(cats: Path) -> None:
    found = explain(cats, {"label": INT, "box": tfreel.VarLenFeature("float32")})
    assert found.ok
    assert (found.records, found.everything, found.files) == (10, True, [str(cats)])
    assert [feature.found for feature in found.features] == ["int64", "float32 [3…4]"]
    assert found.unused == {"name": "bytes [1], absent in 1 of 10"}
    assert found.fixed == {"label": INT, "box": tfreel.VarLenFeature("float32")}


def test_a_missing_feature_names_the_first_record_without_it(cats: Path) -> None:
    assert (
        problem(cats, BYTES, "name") == "is missing in 1 of 10 records; the first is cats.tfrecord: record 7"
    )
    assert explain(cats, {"name": tfreel.FixedLenFeature([], "bytes", "")}).ok


def test_a_wrong_kind_is_named_with_the_right_one(cats: Path) -> None:
    text = "is int64 in all records, not float32; the first is cats.tfrecord: record 0"
    assert problem(cats, FLOAT) == text


def test_a_wrong_number_of_values_is_counted(cats: Path) -> None:
    text = "has 3 values in 1 of 10 records, not 4; the first is cats.tfrecord: record 0"
    assert problem(cats, tfreel.FixedLenFeature([4], "float32"), "box") == text
    shaped = problem(cats, tfreel.FixedLenFeature([3, 2], "float32"), "box")
    assert shaped.startswith("has 3 values in all records, not 6 (for [3, 2])")
    steps = tfreel.FixedLenSequenceFeature([2], "float32", allow_missing=True)
    assert problem(cats, steps, "box").startswith("has 3 values in 1 of 10 records, not 2;")


def test_partitions_are_tried_out(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"v": [1, 2, 3], "n": [3]}, {"v": [1, 2, 3], "n": [1]}])
    feature = tfreel.RaggedFeature("int64", "v", [tfreel.RaggedFeature.RowLengths("n")])
    found = explain(path, {"rows": feature})
    assert not found.ok
    assert "do not go together in 1 of 2 records" in found.features[0].problems[0]
    assert "record 1" in found.features[0].problems[0]
    sparse = tfreel.SparseFeature("n", "v", "int64", 9)
    assert "do not go together in all records" in explain(path, {"s": sparse}).features[0].problems[0]


def test_features_that_cannot_be_are_said_to(cats: Path) -> None:
    asked = {
        "label": tf.io.FixedLenFeature([], tf.int32),
        "box": tf.io.FixedLenSequenceFeature([], tf.float32),
    }
    found = explain(cats, asked)
    assert "dtype must be int64, float32 or bytes" in found.features[0].problems[0]
    assert "needs allow_missing=True" in found.features[1].problems[0]
    assert found.fixed["label"] == INT
    assert tfreel.parse(tfreel.read(cats), found.fixed).num_rows == 10
    assert "is no feature" in explain(cats, {"label": 7}).features[0].problems[0]
    with pytest.raises(TypeError, match="must be a dict"):
        explain(cats, ["label"])  # type: ignore[arg-type]


def test_two_features_that_ask_for_one_key_are_told_apart(cats: Path) -> None:
    found = explain(cats, {"label": INT, "labels": tfreel.RaggedFeature("int64", "label")})
    assert [feature.ok for feature in found.features] == [True, False]
    assert found.fixed == {"label": INT}


def test_near_names_are_offered(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"image/class/label": 7, "image/encoded": b"?", "height": 3}])
    found = explain(path, {"image/class/lable": INT, "img/encoded": BYTES, "Height": INT, "zebra": INT})
    assert [one.meant for one in found.features] == ["image/class/label", "image/encoded", "height", None]
    assert list(found.fixed) == ["image/class/label", "image/encoded", "height"]
    assert '    # "zebra": no record has it' in found.to_python().splitlines()


def test_a_name_that_is_asked_for_is_not_offered_for_another(cats: Path) -> None:
    found = explain(cats, {"label": INT, "labels": INT})
    assert found.features[1].meant is None


def test_feature_lists_asked_for_as_features_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tfreel.Writer(path) as out:
        out.write(tfreel.encode_sequence({"id": 1}, {"tokens": [[1], [2]]}))
    found = explain(path, {"tokens": tfreel.VarLenFeature("int64"), "id": INT})
    assert "it is a feature list" in found.features[0].problems[0]


def test_sequences_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with tfreel.Writer(path) as out:
        out.write(tfreel.encode_sequence({"id": 1}, {"a": [[1], [2]], "b": [[0.5], [0.5, 0.5]]}))
        out.write(tfreel.encode_sequence({"id": 1}, {"a": [[1], [2]], "b": [[0.5]]}))
    lists = {
        "a": tfreel.FixedLenSequenceFeature([2], "int64"),
        "b": tfreel.FixedLenSequenceFeature([], "float32"),
        "c": tfreel.VarLenFeature("int64"),
    }
    found = explain(path, {"id": FLOAT}, lists)
    texts = [one.problems[0].partition(";")[0] for one in found.features[:3]]
    assert texts == [
        "is int64 in all records, not float32",
        "has 1 value in all records, not 2",
        "has 2 values in 1 of 2 records, not 1",
    ]
    assert (found.features[3].ok, found.features[3].found) == (True, "nothing")
    assert found.fixed_sequence_features["b"] == tfreel.RaggedFeature("float32")
    tfreel.parse_sequence(tfreel.read(path), found.fixed, found.fixed_sequence_features)
    assert "sequence_features = {" in found.to_python()


def test_several_kinds_have_no_fix(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"a": 1}, {"a": "one"}])
    (found,) = explain(path, {"a": INT}).features
    assert (found.fixed, found.note) == (None, "of several kinds: bytes, int64; write the records anew")


def test_records_that_are_no_examples_are_counted(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"a": 1}])
    with tfreel.Writer(path, mode="a") as out:
        out.write(b"\xff\xff")
    found = explain(path, {"a": INT})
    assert not found.ok
    assert found.features[0].ok
    assert found.problems[0].startswith("1 of 2 records are no Examples; the first is")


def test_an_empty_file_parses_with_anything(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    found = explain(tmp_path / "x", {"a": INT})
    assert (found.ok, found.records, found.unused) == (True, 0, {})


def test_a_sample_says_that_it_is_one(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"a": i} for i in range(20)] + [{"a": "?"}])
    found = explain(path, {"a": INT}, sample=20)
    assert (found.ok, found.records, found.everything) == (True, 20, False)
    assert "the others may differ" in str(found)
    assert not explain(path, {"a": INT}, sample=None).ok


def test_damage_is_an_error_unless_it_is_forgiven(cats: Path) -> None:
    data = bytearray(cats.read_bytes())
    data[20] ^= 1
    cats.write_bytes(data)
    with pytest.raises(tfreel.CorruptError):
        explain(cats, {"label": INT})
    assert explain(cats, {"label": INT}, on_corrupt="skip").records == 9


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{f"n{i}": 1 for i in range(5000)} | {"\x1b[31m\n": 1, "x" * 100_000: 1}])
    found = explain(path, {"label": INT})
    assert len(found.unused) <= 1000
    path = saved(tmp_path / "y", [{"\x1b[31m\n # ": 1}])
    text = str(explain(path, {"\x1b[31m": INT})) + explain(path, {"\x1b[31m": INT}).to_python()
    assert "\x1b" not in text


def test_fixes_go_together_with_what_parses_already(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"b": [1, 2, 3], "c": [1, 2]}])
    parted = tfreel.RaggedFeature("int64", "b", [tfreel.RaggedFeature.RowLengths("c")])
    found = explain(path, {"a": parted, "c": tfreel.FixedLenFeature([2], "int64")})
    assert [each.ok for each in found.features] == [True, False]
    assert found.fixed == {"a": parted, "c": tfreel.RaggedFeature("int64")}
    assert parses(list(tfreel.read(path)), found.fixed)


def test_a_fix_never_takes_the_place_of_what_parses(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", [{"b": [1, 2, 3]}])
    plain = tfreel.FixedLenFeature([3], "int64")
    found = explain(path, {"b": plain, "a": tfreel.RaggedFeature("float32", "b")})
    assert found.fixed == {"b": plain}
    assert "# \"a\": 'b' is asked for already" in found.to_python()


# The law: what it says is what parsing does -----------------------------------------------------------------

DTYPES = st.sampled_from(["int64", "float32", "bytes"])
SHAPES = st.lists(st.integers(0, 3), max_size=2)
FEATURES = st.one_of(
    st.builds(tfreel.FixedLenFeature, SHAPES, DTYPES),
    st.builds(lambda shape: tfreel.FixedLenFeature(shape, "int64", [0] * math.prod(shape)), SHAPES),
    st.builds(tfreel.VarLenFeature, DTYPES),
    st.builds(tfreel.RaggedFeature, DTYPES),
    st.builds(
        lambda size, dtype: tfreel.FixedLenSequenceFeature([size], dtype, allow_missing=True),
        st.integers(1, 3),
        DTYPES,
    ),
    st.builds(lambda: tfreel.RaggedFeature("int64", "b", [tfreel.RaggedFeature.RowLengths("c")])),
)
VALUES = st.one_of(
    st.none(),
    st.lists(st.integers(0, 2), max_size=4).map(lambda one: np.array(one, np.int64)),
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=4),
    st.lists(st.binary(max_size=3), min_size=1, max_size=3),
)
NAMES = st.sampled_from(["a", "b", "c"])
ROWS = st.lists(st.dictionaries(NAMES, VALUES, max_size=3), min_size=1, max_size=4)


def parses(records: list[bytes], features: dict[str, Any]) -> bool:
    try:
        tfreel.parse(records, features)
    except (tfreel.FeatureError, ValueError):
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(ROWS, st.dictionaries(NAMES, FEATURES, min_size=1, max_size=3))
def test_it_is_ok_just_if_it_parses_and_the_fix_always_does(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], features: dict[str, Any]
) -> None:
    path = saved(tmp_path_factory.mktemp("law") / "x", rows)
    records = list(tfreel.read(path))
    found = explain(path, features)
    assert found.ok == parses(records, features), (found, rows)
    assert not found.fixed or parses(records, found.fixed), (found, rows)
    namespace: dict[str, Any] = {"tfreel": tfreel}
    exec(found.to_python(), namespace)
    assert namespace["features"] == found.fixed


# Python files -----------------------------------------------------------------------------------------------

SCRIPT = """
import tensorflow as tf, missing_package
SIZE = 2
WIDTHS = [SIZE, SIZE * 3 - 1]
print("running")

def parse(record):
    more = {"m": tf.VarLenFeature(tf.int64)}
    feature_description = {
        "a": tf.io.FixedLenFeature((), tf.int64, default_value=-1),
        'b': tf.io.FixedLenFeature(shape=WIDTHS, dtype=tf.float32, default_value=compute()),
        "c": tf.io.RaggedFeature(tf.string, partitions=[tf.io.RaggedFeature.RowLengths("n")]),
        **more,
    }
    return tf.io.parse_single_example(record, feature_description)
"""


def spec(tmp_path: Path, text: str) -> str:
    path = tmp_path / "spec.py"
    path.write_text(text)
    return str(path)


def test_a_script_is_read_and_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = read_features(spec(tmp_path, SCRIPT), name="feature_description")
    assert (found.name, found.line) == ("feature_description", 9)
    asked = explain(saved(tmp_path / "x", [{"n": [0]}]), found.features)
    assert [feature.asked for feature in asked.features] == [
        'FixedLenFeature([], "int64", default_value=-1)',
        'FixedLenFeature([2, 5], "float32", default_value=[0.0] * 10)',
        'RaggedFeature("bytes", partitions=[tfreel.RaggedFeature.RowLengths("n")])',
        'VarLenFeature("int64")',
    ]
    assert capsys.readouterr().out == ""


def test_a_dict_inside_of_a_call_is_found(tmp_path: Path) -> None:
    text = "parse_example(x, {'a': FixedLenFeature([], int64)})"
    assert list(read_features(spec(tmp_path, text)).features) == ["a"]


def test_context_and_sequence_features_belong_together(tmp_path: Path) -> None:
    text = (
        "context_features = {'a': tf.io.FixedLenFeature([], tf.int64)}\n"
        "sequence_features = {'b': tf.io.VarLenFeature(tf.int64)}\n"
    )
    for read in (read_features, run_features):
        path = spec(tmp_path, "from tfreel import tf\n" + text)
        found = read(path)
        assert (list(found.features), list(found.sequence_features or ())) == (["a"], ["b"])
    assert read_features(spec(tmp_path, text.splitlines()[1])).features == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1", "no dict of features"),
        ("a = {'x': VarLenFeature(int)}\nb = {'y': VarLenFeature(int)}", "there are a (line 1), b (line 2)"),
        ("f = {'x': VarLenFeature(kind())}", "kind() can be known only by running"),
        ("f = {'x': FixedLenFeature([9 // 0], int)}", "9 // 0 can be known only by running"),
        ("f = {'x': FixedLenFeature([2 ** 99], int)}", "can be known only by running"),
        ("a = a\nf = {'x': FixedLenFeature(a, int)}", "can be known only by running"),
        ("f = {'x': VarLenFeature(int, 1, 2)}", "can be known only by running"),
        ("f = {**g, 'x': VarLenFeature(int)}", "g can be known only by running"),
        ("f = {", "line 1: not Python"),
        ("(" * 5000, "not Python"),
        ("x = " + "-" * 100_000 + "1", "not Python"),
        ("\0", "not Python"),
        ("n = 1" + "+1" * 2000 + "\nf = {'x': FixedLenFeature([n], int)}", "can be known only"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        read_features(spec(tmp_path, text))


def test_a_file_can_be_run_with_our_tensorflow(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\n"
        "features = {f'x{i}': tf.io.FixedLenFeature([], tf.int64) for i in range(3)}\n"
        "features['y'] = tf1.VarLenFeature(tf1.string)\n"
    )
    import sys

    before = sys.modules.get("tensorflow")
    found = run_features(spec(tmp_path, text), tensorflow=True)
    assert list(found.features) == ["x0", "x1", "x2", "y"]
    assert sys.modules.get("tensorflow") is before
    with pytest.raises(ValueError, match="running it failed: ZeroDivisionError"):
        run_features(spec(tmp_path, "1 / 0"))


# The command ------------------------------------------------------------------------------------------------


def test_the_command_says_what_is_wrong_and_what_parses(cats: Path, tmp_path: Path) -> None:
    path = spec(tmp_path, "features = {'labels': tf.io.FixedLenFeature([], tf.int64)}")
    result = run("explain", cats, "--tf", path, "--table")
    assert result.exit_code == 1
    assert "did you mean 'label'?" in result.stdout
    assert "\"label\": tf.io.FixedLenFeature([], tf.int64),  # was 'labels'" in result.stdout
    assert "looked at 10 records of 1 file, all there are" in result.stdout
    assert '"label": tfreel.FixedLenFeature' in run("explain", cats, "--features", path, "--table").stdout


def test_the_command_gives_json_and_csv(cats: Path, tmp_path: Path) -> None:
    path = spec(tmp_path, "features = {'label': tf.io.FixedLenFeature([], tf.int64)}")
    result = run("explain", cats, "--features", path)
    assert result.exit_code == 0
    (found,) = rows(result)
    assert (found["ok"], found["records"], found["features"][0]["name"]) == (True, 10, "label")
    table = csv.DictReader(io.StringIO(run("explain", cats, "--features", path, "--csv").stdout))
    assert next(table)["ok"] == "true"
    code, shown = on_terminal("explain", cats, "--features", path)
    assert code == 0
    assert "this parses" not in shown


def test_the_command_takes_the_features_of_other_data(cats: Path, tmp_path: Path) -> None:
    other = saved(tmp_path / "other.tfrecord", [{"label": 1.5}])
    result = run("explain", cats, "--like", other)
    assert result.exit_code == 1
    assert "is int64 in all records" in json.loads(result.stdout)["features"][0]["problems"][0]


def test_the_command_wants_just_one_source_of_features(cats: Path, tmp_path: Path) -> None:
    assert run("explain", cats).exit_code == 2
    assert run("explain", cats, "--like", cats, "--run").exit_code == 2
    assert run("explain", cats, "--like", cats, "--features", "x.py").exit_code == 2
    missing = run("explain", cats, "--features", tmp_path / "none.py")
    assert missing.exit_code == 2
    assert "No such file" in missing.stderr
    several = spec(tmp_path, "a = {'x': VarLenFeature(int)}\nb = {'y': VarLenFeature(int)}")
    result = run("explain", cats, "--features", several)
    assert result.exit_code == 2
    assert "say which with --name" in result.stderr
    assert run("explain", cats, "--features", several, "--name", "b").exit_code == 0


def test_the_command_runs_a_file_only_if_it_is_asked_to(cats: Path, tmp_path: Path) -> None:
    text = "import tensorflow as tf\nfeatures = {n: tf.io.VarLenFeature(tf.int64) for n in ['label']}"
    path = spec(tmp_path, text)
    assert run("explain", cats, "--tf", path).exit_code == 2
    assert run("explain", cats, "--tf", path, "--run").exit_code == 0
