"""`infer_features`: what is in files that somebody else wrote."""

from __future__ import annotations

import ast
import copy
import io
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel
from tfreel.inference.sample import files_to_sample

from headers import jpeg, png, tensor_proto

Row = dict[str, object]


def infer(*rows: Row, **options) -> tfreel.InferredFeatures:
    tfreel.save("rows.tfrecord", list(rows), mode="w")
    return tfreel.infer_features("rows.tfrecord", **options)


def comment(name: str, found: tfreel.InferredFeatures) -> str:
    """What stands behind a feature in the printed code."""
    (line,) = [line for line in str(found).splitlines() if line.startswith(f'    "{name}":')]
    return line.partition("  # ")[2]


# Which feature ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "feature"),
    [
        ([{"x": 1}, {"x": 2}], tfreel.FixedLenFeature([], "int64")),
        ([{"x": 0.5}, {"x": 2.0}], tfreel.FixedLenFeature([], "float32")),
        ([{"x": "a"}, {"x": b"\xff"}], tfreel.FixedLenFeature([], "bytes")),
        ([{"x": [1, 2, 3]}, {"x": [4, 5, 6]}], tfreel.FixedLenFeature([3], "int64")),
        ([{"x": [1]}, {"x": [1, 2]}], tfreel.RaggedFeature("int64")),
        ([{"x": 1}, {"y": 1}], tfreel.RaggedFeature("int64")),
        ([{"x": 1}, {"x": np.array([], np.int64)}], tfreel.RaggedFeature("int64")),
        ([{"x": np.array([], np.float32)}] * 2, tfreel.RaggedFeature("float32")),
        ([{"x": 1}, {"x": "a"}, {"x": 2}], tfreel.RaggedFeature("int64")),
    ],
)
def test_the_feature_reads_what_was_seen(rows: list[Row], feature: object) -> None:
    assert infer(*rows)["x"] == feature


def test_the_result_is_what_parse_wants() -> None:
    found = infer(*({"label": i, "tokens": list(range(i)) or np.array([], np.int64)} for i in range(4)))
    batch = tfreel.parse(tfreel.read("rows.tfrecord"), found)
    assert batch["label"].tolist() == [0, 1, 2, 3]
    assert batch["tokens"].to_list() == [[], [0], [0, 1], [0, 1, 2]]
    assert (found.records, found.files, found.sequence_features, found.conflicts) == (
        4,
        ["rows.tfrecord"],
        {},
        [],
    )


def test_a_feature_without_a_kind_is_left_out_and_said() -> None:
    example = tfreel.Example()
    example.features.feature["note"].Clear()
    example.features.feature["label"].int64_list.value.append(1)
    with tfreel.Writer("none.tfrecord") as out:
        out.write(example)
    found = tfreel.infer_features("none.tfrecord")
    assert list(found) == ["label"]
    assert found.conflicts == ["feature 'note' has no values in any record: it is left out"]
    assert found.profiles["note"].kinds == {}
    assert json.loads(found.to_json())["features"]["note"]["feature"] is None


def test_a_feature_without_a_kind_somewhere_is_no_fixed_one() -> None:
    bare = tfreel.Example()
    bare.features.feature["x"].Clear()
    with tfreel.Writer("bare.tfrecord") as out:
        out.write_many([tfreel.encode({"x": 1}), bare.SerializeToString()])
    found = tfreel.infer_features("bare.tfrecord")
    assert found["x"] == tfreel.RaggedFeature("int64")
    assert (found.profiles["x"].absent, found.profiles["x"].empty) == (0, 1)


# What was seen ----------------------------------------------------------------------------------------------


def test_a_profile_counts_what_is_absent_and_empty_and_measures_the_rest() -> None:
    found = infer({"x": [3, 1]}, {"x": np.array([], np.int64)}, {"y": 0.5}, {"x": 7})
    profile = found.profiles["x"]
    assert (profile.records, profile.absent, profile.empty) == (4, 1, 1)
    assert (profile.kinds, profile.lengths, profile.values) == ({"int64": 3}, (0, 2), (1, 7))
    assert comment("x", found) == "0 to 2 values, 1…7, absent in 1 of 4, 1 empty"


def test_numbers_that_are_not_finite_stand_apart() -> None:
    found = infer({"x": [0.1, float("nan")]}, {"x": [2.5, float("inf")]}, {"x": [float("nan")] * 2})
    assert (found.profiles["x"].values, found.profiles["x"].not_finite) == ((0.1, 2.5), 4)
    assert comment("x", found) == "0.1…2.5, 4 not finite"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([7, 7], "always 7"),
        ([-(2**63), 2**63 - 1], "-9223372036854775808…9223372036854775807"),
        (["cat", "dog"], "text: 'cat', 'dog'"),
        ([f"a cat with the number {i}" for i in range(5)], "text, 23 bytes each"),
        (["it's", 'a "cat"', "new\nline"], "text: 'a \"cat\"', \"it's\", 'new\\nline'"),
        (["a", "bcd", "e", "f"], "text, 1…3 bytes"),
        ([b"\0" * 5, b"\0\1"], "binary, 2…5 bytes"),
        ([b"\0a", "text"], "binary (1) or text (1), 2…4 bytes"),
        ([jpeg(320, 240), jpeg(640, 480), jpeg(400, 300)], "JPEG, 320×240…640×480"),
        ([jpeg(320, 240), jpeg(100, 500)], "JPEG, 100×240…320×500"),
        ([jpeg(), png()], "JPEG (1) or PNG (1), 640×480"),
        ([tensor_proto(1, [2, 3], bytes(24))] * 2, "serialized tensor, float32 2×3"),
        ([tensor_proto(1, [2], bytes(8)), tensor_proto(1, [3], bytes(12))], "serialized tensor, float32"),
        ([b"\0" * 3072] * 2, "raw pixels 32×32×3? (3,072 bytes each)"),
        ([b"\0" * 784] * 2, "raw pixels 28×28×1? (784 bytes each)"),
        ([b"\0" * 48] * 2, "binary, 48 bytes each"),  # 4×4×3 is too small to be a picture
    ],
)
def test_the_comment_says_what_is_known(values: list[object], words: str) -> None:
    assert comment("x", infer(*({"x": value} for value in values))) == words


def test_a_numpy_file_in_a_feature_is_said_with_its_shape() -> None:
    out = io.BytesIO()
    np.save(out, np.zeros((2, 3), np.float32))
    assert comment("x", infer({"x": out.getvalue()})) == "NumPy array, <f4 2×3"


# Arrays whose shape stands in other features ----------------------------------------------------------------


def test_the_three_features_of_a_tensor_are_known_again() -> None:
    found = infer(*({"image": tfreel.tensor(np.zeros((n, 28), np.uint8))} for n in (5, 7)))
    assert comment("image", found) == "uint8 array, shape in 'image/shape'"
    profile = found.profiles["image"]
    assert (profile.array_dtype, profile.array_shape, profile.shape_from) == ("uint8", None, ("image/shape",))
    found = infer({"x": tfreel.tensor(np.zeros((2, 3)))}, {"x": tfreel.tensor(np.ones((2, 3)))})
    assert comment("x", found) == "float64 array 2×3, shape in 'x/shape'"
    assert (
        comment("x", infer({"x": tfreel.tensor(np.float32(7))})) == "float32 array scalar, shape in 'x/shape'"
    )


def test_features_with_such_names_that_do_not_fit_are_no_tensor() -> None:
    found = infer({"x": b"\0" * 5, "x/shape": [2, 3], "x/dtype": "uint8"})
    assert comment("x", found) == "binary, 5 bytes each"
    assert "x" in infer({"x": b"\0", "x/shape": [1], "x/dtype": "no dtype"})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"image/raw": bytes(60), "image/height": 4, "image/width": 5, "image/depth": 3},
            "uint8 array 4×5×3, shape in 'image/height', 'image/width', 'image/depth'",
        ),
        (
            {"image_raw": bytes(20), "height": 4, "width": 5, "depth": 1},
            "uint8 array 4×5×1, shape in 'height', 'width', 'depth'",
        ),
        (
            {"image": bytes(60), "rows": 4, "cols": 5},
            "uint8 array 4×5×3, shape in 'rows', 'cols'",
        ),
        ({"x": bytes(48), "x_shape": [2, 3]}, "raw array 2×3, shape in 'x_shape'"),
        ({"x": bytes(48), "shape": [6, 8]}, "uint8 array 6×8, shape in 'shape'"),
        (
            {"a/x": bytes(6), "a/shape": [2, 3], "shape": [6]},
            "uint8 array 2×3, shape in 'a/shape'",
        ),
        ({"x": bytes(7), "shape": [2, 3]}, "binary, 7 bytes each"),
        ({"x": bytes(7), "shape": [0, 3]}, "binary, 7 bytes each"),
    ],
)
def test_a_shape_that_other_features_say_is_believed_if_it_fits(row: Row, words: str) -> None:
    name = next(iter(row))
    assert comment(name, infer(row, row)) == words


def test_a_shape_must_fit_in_every_record() -> None:
    found = infer({"x": bytes(6), "shape": [2, 3]}, {"x": bytes(8), "shape": [2, 3]})
    assert comment("x", found) == "binary, 6…8 bytes"


# Conflicts --------------------------------------------------------------------------------------------------


def test_a_conflict_of_kinds_names_a_record_of_each() -> None:
    found = infer({"x": 1}, {"x": 2}, {"x": "three"}, {"x": 4.0})
    (sentence,) = found.conflicts
    assert sentence == (
        "feature 'x' is of several kinds: int64 2× (first in rows.tfrecord: record 0), bytes 1× (first in"
        " rows.tfrecord: record 2), float32 1× (first in rows.tfrecord: record 3); int64 is taken"
    )
    assert f"# Conflict: {sentence}." in found.to_python().splitlines()


def test_something_else_among_images_is_a_conflict() -> None:
    found = infer(*({"image": jpeg()} for _ in range(3)), {"image": "404 Not Found"})
    assert found.conflicts == [
        "feature 'image' holds images 3×, but also text 1× (first in rows.tfrecord: record 3)"
    ]


def test_a_feature_that_only_some_files_have_is_a_conflict() -> None:
    for i, more in enumerate([{"new": 1}, {}, {}]):
        tfreel.save(f"part-{i}.tfrecord", [{"x": 1, **more}] * 3)
    found = tfreel.infer_features("part-*.tfrecord")
    assert found.conflicts == [
        "feature 'new' is in every record of part-0.tfrecord that was looked at, and in none of"
        " part-1.tfrecord and 1 more"
    ]
    assert found["new"] == tfreel.RaggedFeature("int64")


def test_lengths_that_differ_only_between_files_are_a_conflict() -> None:
    tfreel.save("a.tfrecord", [{"box": [0.0] * 4}] * 3)
    tfreel.save("b.tfrecord", [{"box": [0.0] * 5}] * 3)
    (sentence,) = tfreel.infer_features(["a.tfrecord", "b.tfrecord"]).conflicts
    assert sentence.endswith("but not the same: 4 in a.tfrecord, 5 in b.tfrecord")


def test_what_is_merely_ragged_or_rare_is_no_conflict() -> None:
    tfreel.save("a.tfrecord", [{"x": [0] * i, "rare": 1} if i == 2 else {"x": [0] * i} for i in range(1, 5)])
    tfreel.save("b.tfrecord", [{"x": [0] * i} for i in range(2, 6)])
    assert tfreel.infer_features(["a.tfrecord", "b.tfrecord"]).conflicts == []


# Which records ----------------------------------------------------------------------------------------------


def test_the_sample_is_spread_over_all_files_and_made_up_for_by_later_ones() -> None:
    for i, count in enumerate([2, 100, 100]):
        tfreel.save(f"part-{i}.tfrecord", [{"file": i, f"f{i}": 1}] * count)
    found = tfreel.infer_features("part-*.tfrecord", sample=30)
    assert found.records == 30
    assert [found.profiles[f"f{i}"].absent for i in range(3)] == [28, 16, 16]
    assert tfreel.infer_features("part-*.tfrecord", sample=None).records == 202
    assert tfreel.infer_features("part-*.tfrecord", sample=1).files == ["part-0.tfrecord"]


def test_of_very_many_files_some_are_chosen_evenly() -> None:
    names = [str(i) for i in range(1001)]
    chosen = files_to_sample(names, 1000)
    assert (len(chosen), len(set(chosen)), chosen[0], chosen[-1]) == (200, 200, "0", "1000")
    assert files_to_sample(names, 3) == ["0", "500", "1000"]
    assert files_to_sample(names, None) == names


def test_what_comes_after_the_sample_is_not_read() -> None:
    tfreel.save("cut.tfrecord", [{"x": i} for i in range(100)])
    data = Path("cut.tfrecord").read_bytes()
    Path("cut.tfrecord").write_bytes(data[:-1])
    assert tfreel.infer_features("cut.tfrecord", sample=50).records == 50
    with pytest.raises(tfreel.TruncatedError):
        tfreel.infer_features("cut.tfrecord", sample=None)


def test_damage_is_passed_over_when_asked_and_places_stay_right() -> None:
    tfreel.save("bad.tfrecord", [{"x": 1}, {"x": 2}, {"x": "three"}])
    data = bytearray(Path("bad.tfrecord").read_bytes())
    data[14] ^= 1  # in the first record
    Path("bad.tfrecord").write_bytes(data)
    with pytest.raises(tfreel.ChecksumError):
        tfreel.infer_features("bad.tfrecord")
    found = tfreel.infer_features("bad.tfrecord", on_corrupt="skip")
    assert found.records == 2
    assert "(first in bad.tfrecord: record 2)" in found.conflicts[0]


def test_streams_and_compressed_files_are_read_too() -> None:
    tfreel.save("rows.tfrecord.gz", [{"x": 1}, {"x": 2}])
    with open("rows.tfrecord.gz", "rb") as file:
        found = tfreel.infer_features(file)
    assert (found.files, found["x"]) == (["<stream>"], tfreel.FixedLenFeature([], "int64"))
    assert 'compression_type="GZIP"' in tfreel.infer_features("rows.tfrecord.gz").to_tensorflow()


@pytest.mark.parametrize("sample", [0, -1])
def test_a_sample_of_nothing_is_refused(sample: int) -> None:
    with pytest.raises(ValueError, match="sample must be at least 1"):
        infer({"x": 1}, sample=sample)


# Records that are something else ----------------------------------------------------------------------------


def test_a_record_that_is_no_example_is_named_with_advice() -> None:
    with tfreel.Writer("other.tfrecord") as out:
        out.write_many([tfreel.encode({"x": 1}), b"record 1"])
    with pytest.raises(tfreel.DecodeError, match=r"other\.tfrecord: record 1: .*any kind") as caught:
        tfreel.infer_features("other.tfrecord")
    assert (caught.value.path, caught.value.record, caught.value.kind) == (
        "other.tfrecord",
        1,
        "proto_malformed",
    )


def test_no_records_are_no_features_and_a_sentence() -> None:
    found = infer()
    assert (found, found.records, found.conflicts) == ({}, 0, ["there are no records, and so no features"])
    assert str(found).endswith("features = {}")


def test_records_without_features_are_said() -> None:
    assert infer({}, {}).conflicts == [
        "no record has a feature: the files may hold other messages than Examples"
    ]


# SequenceExamples -------------------------------------------------------------------------------------------


def test_sequence_examples_have_features_for_context_and_lists() -> None:
    with tfreel.Writer("seq.tfrecord") as out:
        out.write(tfreel.encode_sequence({"id": 7}, {"tokens": [[1, 2], [3]], "frames": np.zeros((2, 4))}))
        out.write(
            tfreel.encode_sequence({"id": 8}, {"tokens": [[4]], "frames": np.ones((3, 4)), "late": [[1]]})
        )
    found = tfreel.infer_features("seq.tfrecord")
    assert found == {"id": tfreel.FixedLenFeature([], "int64")}
    assert found.sequence_features == {
        "frames": tfreel.FixedLenSequenceFeature([4], "float32"),
        "late": tfreel.FixedLenSequenceFeature([], "int64", allow_missing=True),
        "tokens": tfreel.RaggedFeature("int64"),
    }
    assert comment("tokens", found) == "1 to 2 steps, 1 to 2 values, 1…4"
    assert found.sequence_profiles["tokens"].steps == (1, 2)
    context, lists, _ = tfreel.parse_sequence(tfreel.read("seq.tfrecord"), found, found.sequence_features)
    assert context["id"].tolist() == [7, 8]
    assert lists["tokens"].to_list() == [[[1, 2], [3]], [[4]]]
    names: dict[str, object] = {}
    exec(found.to_python(), names)
    assert (names["context_features"], names["sequence_features"]) == (found, found.sequence_features)
    ast.parse(found.to_tensorflow())
    assert "tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)" in found.to_tensorflow()


# The law ----------------------------------------------------------------------------------------------------

LISTS = {
    "int64": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda x: np.array(x, np.int64)),
    "float32": st.lists(st.floats(width=32), max_size=3).map(lambda x: np.array(x, np.float32)),
    "bytes": st.lists(st.binary(max_size=40), max_size=3).map(lambda x: np.array([*x, None], object)[:-1]),
}


@st.composite
def sets_of_rows(draw: st.DrawFn) -> list[Row]:
    """Rows in which a name is always of the same kind, if it is there."""
    kinds = draw(st.dictionaries(st.text(max_size=3), st.sampled_from(list(LISTS)), min_size=1, max_size=4))
    row = st.fixed_dictionaries({}, optional={name: LISTS[kind] for name, kind in kinds.items()})
    return draw(st.lists(row, min_size=1, max_size=5))


@given(sets_of_rows())
def test_what_was_inferred_reads_all_it_was_inferred_from(rows: list[Row]) -> None:
    records = [
        tfreel.encode(
            {k: v if v.size or v.dtype != object else np.array([], np.bytes_) for k, v in row.items()}
        )
        for row in rows
    ]
    stream = io.BytesIO()
    with tfreel.Writer(stream) as out:
        out.write_many(records)
    stream.seek(0)
    found = tfreel.infer_features(stream, sample=None)
    names: dict[str, object] = {}
    exec(found.to_python(), names)
    ast.parse(found.to_tensorflow())
    json.loads(found.to_json())
    assert names["features"] == found
    assert set(found) == {name for row in rows for name in row}
    batch = tfreel.parse(records, found) if found else {}
    for name in found:
        for i, row in enumerate(rows):
            values = batch[name][i]
            expected = list(row.get(name, []))
            seen = [values] if isinstance(values, bytes) else list(np.atleast_1d(np.asarray(values)))
            assert np.array_equal(seen, expected) or repr(seen) == repr(expected)


# Printed ----------------------------------------------------------------------------------------------------

NASTY = ['"', "'", "\\", "\n", "a\nimport os", "é 猫", "\u202e", "#", "\u2028", '"""', "{x}", "[bold]", ""]


def test_the_printed_code_runs_and_gives_the_same_features() -> None:
    row = {name: [name, "x\n# y"] for name in NASTY}
    found = infer(row, {**row, "\n": 7, "more": 0.5}, {**row, "box": [0.5] * 4})
    for text in (str(found), found.to_tensorflow()):
        ast.parse(text)
        assert all(c.isprintable() or c == "\n" for c in text)
    names: dict[str, object] = {}
    exec(found.to_python(), names)
    assert names["features"] == found


def test_tensorflow_code_names_its_types() -> None:
    text = infer(
        {"i": 1, "f": [0.5, 1.5], "b": "x"}, {"i": 1, "f": [0.5, 1.5], "b": ["y", "z"]}
    ).to_tensorflow()
    assert text.startswith("import tensorflow as tf\n")
    assert '"i": tf.io.FixedLenFeature([], tf.int64),' in text
    assert '"f": tf.io.FixedLenFeature([2], tf.float32),' in text
    assert '"b": tf.io.RaggedFeature(tf.string),' in text
    assert "# dataset = dataset.map(lambda records: tf.io.parse_example(records, features))" in text


def test_json_has_the_documented_keys() -> None:
    found = json.loads(infer({"image": jpeg(), "label": 3}).to_json())
    assert list(found) == ["records", "files", "features", "sequence_features", "conflicts"]
    assert found["features"]["image"] == {
        "feature": {"type": "FixedLenFeature", "dtype": "bytes", "shape": []},
        "absent": 0,
        "empty": 0,
        "kinds": {"bytes": 1},
        "lengths": [1, 1],
        "steps": None,
        "values": None,
        "not_finite": 0,
        "sizes": [len(jpeg())] * 2,
        "contents": {"jpeg": 1},
        "image_sizes": [[640, 480], [640, 480]],
        "words": [],
        "array_dtype": None,
        "array_shape": None,
        "shape_from": [],
    }
    assert found["features"]["label"]["values"] == [3, 3]


def test_a_file_name_of_any_bytes_can_be_printed() -> None:
    tfreel.save(b"\xff\n.tfrecord", [{"x": 1}])
    found = tfreel.infer_features(b"\xff\n.tfrecord")
    names: dict[str, object] = {}
    exec(found.to_python(), names)
    assert names["features"] == found
    assert json.loads(found.to_json().encode())["files"] == found.files


def test_inferred_features_copy_and_pickle_whole() -> None:
    found = infer({"x": 1})
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert (other, other.records, str(other)) == (found, 1, str(found))


def test_inferred_features_of_nothing_are_still_whole() -> None:
    found = tfreel.InferredFeatures()
    assert (found.records, found.files, found.conflicts, found.profiles) == (0, [], [], {})
    assert str(found).endswith("features = {}")


def test_inference_warns_about_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infer({"x": [float("nan"), float("inf")]}, {"x": "conflict"})


def test_load_finds_out_itself_what_is_there() -> None:
    infer({"x": 1, "tokens": [1]}, {"x": 2, "tokens": [2, 3]})
    batch = tfreel.load("rows.tfrecord")
    assert batch["x"].tolist() == [1, 2]
    assert batch["tokens"].to_list() == [[1], [2, 3]]
