"""`tf.io.parse_example` and its like: the golden file, many rows at once, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel import tf
from tfreel.tf.graphs.rows import Dense, Listed, Strings
from tfreel.tf.ops.readers import reader_of
from tfreel.tf.values import nest
from tfreel.tf.values.handles import wrap

from columns_equal import strings
from conformance.chance import MAKERS, Chance
from conformance.parsing import Case, Verdict, all_cases
from conformance.shaped import features_of, form, read_one_with, read_with

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "conformance" / "golden" / "tensorflow.json").read_text(encoding="utf-8")
)
RECORD = tfreel.encode({"one": 1, "two": [1, 2], "text": "a", "half": 0.5})
INT = tf.io.FixedLenFeature([], tf.int64)


def test_batches_are_read_as_tensorflow_did() -> None:
    for case in all_cases():
        wanted = GOLDEN[case.name].get("wanted", {})
        verdict = Verdict(case, read_with(tf, case, case.records), wanted)
        assert verdict.good, f"{case.name}\nours: {verdict.ours}\nTensorFlow: {verdict.wanted}"


# Many rows at once.


def columns_of(case: Case, records: Any) -> list[Any] | None:
    """What the form for many rows makes of the records of a case: a column for each feature."""
    features = features_of(tf, case.features)
    if case.sequence_features is None:
        return tf.io.parse_single_example.rows(records, features)
    lists = features_of(tf, case.sequence_features)
    return tf.io.parse_single_sequence_example.rows(records, features, lists)


def rows_of(case: Case, columns: list[Any], i: int) -> list[Any]:
    """The forms of one row, by the sorted names of the features."""
    return [form(tf, wrap(column.row(i))) for column in columns]


@pytest.mark.parametrize("make", MAKERS)
def test_many_rows_are_read_as_each_is(make: str) -> None:
    read = 0
    for seed in range(100):
        case = getattr(Chance(seed), make)()
        each = [read_one_with(tf, case, record) for record in case.records]
        columns = columns_of(case, Strings(strings(*case.records)))
        if columns is None:
            assert any("error" in found for found in each)
            continue
        names = [*sorted(case.features), *sorted(case.sequence_features or {})]
        for i, found in enumerate(each):
            assert rows_of(case, columns, i) == [found["columns"][name] for name in names], (seed, i)
        read += len(each)
    assert read > 50


@pytest.mark.parametrize("make", MAKERS)
def test_rows_are_taken_parted_and_joined_as_batches_are_read(make: str) -> None:
    """Also behind each other: what is joined of single examples is the batch, where that is not padded."""
    for seed in range(60):
        case = getattr(Chance(seed), make)()
        columns = columns_of(case, Strings(strings(*case.records)))
        if columns is None or len(case.records) < 2:
            continue
        order = np.random.default_rng(seed).permutation(len(case.records))
        for column in columns:
            taken = column.take(order)
            assert [form(tf, wrap(taken.row(i))) for i in range(len(taken))] == [
                form(tf, wrap(column.row(int(i)))) for i in order
            ]
            part = column.part(1, len(column))
            assert len(part) == len(column) - 1
            assert form(tf, wrap(part.row(0))) == form(tf, wrap(column.row(1)))


def test_varlen_features_of_a_dataset_are_batched_as_parse_example_does() -> None:
    records = [tfreel.encode({"x": np.arange(n), "y": [b"s"] * (4 - n)}) for n in (2, 0, 3, 1)]
    features = {"x": tf.io.VarLenFeature(tf.int64), "y": tf.io.VarLenFeature(tf.string)}
    dataset = tf.data.Dataset.from_tensor_slices(records)
    (batch,) = dataset.map(lambda record: tf.io.parse_single_example(record, features)).batch(4)
    expected = tf.io.parse_example(records, features)
    assert {key: form(tf, value) for key, value in batch.items()} == {
        key: form(tf, value) for key, value in expected.items()
    }


def test_varlen_features_of_different_lengths_become_dense_in_a_dataset() -> None:
    records = [tfreel.encode({"x": np.arange(n)}) for n in (2, 0, 3)]
    features = {"x": tf.io.VarLenFeature(tf.int64)}

    def parse(record: Any) -> Any:
        found = tf.io.parse_single_example(record, features)["x"]
        return tf.sparse.to_dense(found), found.values, found.dense_shape

    dataset = tf.data.Dataset.from_tensor_slices(records).map(parse)
    found = [[each.tolist() for each in row] for row in dataset.as_numpy_iterator()]
    assert found == [[list(range(n)), list(range(n)), [n]] for n in (2, 0, 3)]


def test_rows_of_different_lengths_are_padded() -> None:
    records = [tfreel.encode({"x": np.arange(2 * n), "y": ["s"] * (n + 1)}) for n in (1, 0, 2)]
    features = {
        "x": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "y": tf.io.RaggedFeature(tf.string),
    }
    dataset = tf.data.Dataset.from_tensor_slices(records)
    dataset = dataset.map(lambda record: tf.io.parse_single_example(record, features))
    values = {"x": tf.constant(-1, tf.int64), "y": "-"}
    (batch,) = dataset.padded_batch(3, padding_values=values).as_numpy_iterator()
    assert batch["x"].tolist() == [[[0, 1], [-1, -1]], [[-1, -1]] * 2, [[0, 1], [2, 3]]]
    assert batch["y"].tolist() == [[b"s", b"s", b"-"], [b"s", b"-", b"-"], [b"s"] * 3]
    (batch,) = dataset.padded_batch(3, {"x": [3, 4], "y": [None]}).as_numpy_iterator()
    assert batch["x"].tolist()[0] == [[0, 1, 0, 0], [0] * 4, [0] * 4]
    with pytest.raises(tf.errors.DataLossError):
        list(dataset.padded_batch(3, {"x": [1, 2], "y": [None]}))


def test_the_records_before_a_bad_one_come_first() -> None:
    records = [tfreel.encode({"x": i}) for i in range(5)] + [b"\xff"] + [tfreel.encode({"x": 9})]
    dataset = tf.data.Dataset.from_tensor_slices(records)
    rows = iter(dataset.map(lambda record: tf.io.parse_single_example(record, {"x": INT})))
    assert [int(next(rows)["x"]) for _ in range(5)] == list(range(5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
        next(rows)
    assert int(next(rows)["x"]) == 9


def test_columns_that_hold_no_records_go_row_by_row() -> None:
    features = {"one": INT}
    for column in (Listed([np.array([RECORD], object)]), Dense(np.array([[RECORD]], object))):
        assert tf.io.parse_example.rows(column, features) is None
    (column,) = tf.io.parse_example.rows(Dense(np.array([RECORD], object)), features)
    assert column.row(0) == 1


# What is asked for.


def test_features_are_named_tuples() -> None:
    feature = tf.io.FixedLenFeature([2], tf.int64)
    assert feature == tf.io.FixedLenFeature(shape=[2], dtype=tf.int64, default_value=None)
    assert feature._replace(default_value=[1, 2]).default_value == [1, 2]
    assert repr(tf.io.VarLenFeature(tf.string)) == "VarLenFeature(dtype=tf.string)"
    ragged = tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowLengths("n")])
    assert (ragged.row_splits_dtype, ragged.partitions[0].key, ragged.validate) == (tf.int32, "n", False)
    assert tf.io.SparseFeature("i", "v", tf.int64, 3).already_sorted is False
    assert tf.io.FixedLenSequenceFeature([], tf.int64).allow_missing is False


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((tf.int32,), ValueError),
        ((tf.int64, 5), ValueError),
        ((tf.int64, "a", 5), TypeError),
        ((tf.int64, "a", [5]), TypeError),
        ((tf.int64, "a", (), tf.int8), ValueError),
        ((tf.int64, "a", (), tf.int32, 1), TypeError),
    ],
)
def test_ragged_features_are_checked_when_they_are_made(arguments: Any, error: type) -> None:
    with pytest.raises(error):
        tf.io.RaggedFeature(*arguments)


IO = tf.io
REFUSED: list[tuple[Any, type]] = [
    (None, ValueError),
    ({}, ValueError),
    ({"one": 5}, ValueError),
    ({5: INT}, TypeError),
    ({"two": INT}, tf.errors.InvalidArgumentError),
    ({"one": IO.FixedLenFeature([], tf.int32)}, tf.errors.InvalidArgumentError),
    ({"one": IO.FixedLenFeature([], None)}, ValueError),
    ({"one": IO.FixedLenFeature(None, tf.int64)}, ValueError),
    ({"one": IO.FixedLenFeature([None], tf.int64)}, ValueError),
    ({"one": IO.FixedLenFeature([], tf.int64, 1.5)}, TypeError),
    ({"one": IO.FixedLenFeature([], tf.int64, "x")}, TypeError),
    ({"one": IO.FixedLenFeature([], tf.int64, [1, 2])}, tf.errors.InvalidArgumentError),
    ({"two": IO.FixedLenSequenceFeature([], tf.int64)}, ValueError),
    ({"two": IO.FixedLenSequenceFeature([0], tf.int64, True)}, ValueError),
    ({"two": IO.FixedLenSequenceFeature([3], tf.int64, True)}, tf.errors.InvalidArgumentError),
    ({"two": IO.FixedLenSequenceFeature([], tf.int64, True, [1, 2])}, tf.errors.InvalidArgumentError),
    ({"two": IO.VarLenFeature(tf.float32)}, tf.errors.InvalidArgumentError),
    ({"two": IO.VarLenFeature(tf.uint8)}, tf.errors.InvalidArgumentError),
    ({"s": IO.SparseFeature("two", "two", tf.int64, [4])}, TypeError),
    ({"s": IO.SparseFeature(["two"], "two", tf.int64, 4)}, TypeError),
    ({"s": IO.SparseFeature(["two"], "two", tf.int64, [4, 4])}, ValueError),
    ({"s": IO.SparseFeature("two", "one", tf.int64, 4), "one": INT}, ValueError),
    ({"one": IO.VarLenFeature(tf.int64), "r": IO.RaggedFeature(tf.int64, "one")}, ValueError),
    (
        {
            "q": IO.RaggedFeature(tf.int64, "one"),
            "r": IO.RaggedFeature(tf.int64, "one", row_splits_dtype=tf.int64),
        },
        ValueError,
    ),
    ({"q": IO.RaggedFeature(tf.int64, "one"), "r": IO.RaggedFeature(tf.string, "one")}, ValueError),
]


@pytest.mark.parametrize(("features", "error"), REFUSED)
def test_features_that_cannot_be_read_are_refused(features: Any, error: type) -> None:
    with pytest.raises(error):
        tf.io.parse_single_example(RECORD, features)
    with pytest.raises(error):
        tf.io.parse_example([RECORD], features)


def test_a_missing_feature_is_named_with_its_nearest() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_single_example(RECORD, {"One": INT})
    told = str(caught.value)
    assert told.startswith("Feature: One (data type: int64) is required but could not be found.")
    assert "did you mean 'one'?" in told
    assert "record 0" not in told
    assert caught.value.message == told


def test_examples_are_named_in_errors() -> None:
    features = {"one": INT}
    records = [RECORD, tfreel.encode({"two": 2})]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: second, Feature: one"):
        tf.io.parse_example(records, features, example_names=["first", "second"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: second, Feature: one"):
        tf.compat.v1.parse_example(records, features, None, ["first", "second"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
        tf.io.parse_example(records, features, example_names=["first"])


@pytest.mark.parametrize("serialized", [5, [5], None, [[RECORD]]])
def test_what_is_no_record_is_refused(serialized: Any) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.io.parse_example(serialized, {"one": INT})
    with pytest.raises(ValueError, match=r"scalar|dtype|convert"):
        tf.io.parse_single_example(serialized, {"one": INT})


def test_functions_that_are_traced_refuse_the_same() -> None:
    features = {"one": INT}
    vectors = tf.data.Dataset.from_tensors([RECORD])
    with pytest.raises(ValueError, match="must be a scalar"):
        vectors.map(lambda record: tf.io.parse_single_example(record, features))
    with pytest.raises(TypeError, match="string"):
        tf.data.Dataset.range(3).map(lambda record: tf.io.parse_single_example(record, features))


def test_a_scalar_is_parsed_as_one_example_by_both() -> None:
    for parse in (tf.io.parse_example, tf.io.parse_single_example):
        for record in (RECORD, tf.constant(RECORD), np.array(RECORD, object)):
            assert parse(record, {"one": INT})["one"].shape == []


def test_results_come_in_tensorflows_order() -> None:
    features = {
        "r": tf.io.RaggedFeature(tf.int64),
        "half": tf.io.FixedLenFeature([], tf.float32),
        "one": INT,
        "q": tf.io.RaggedFeature(tf.int64, "two"),
        "v": tf.io.VarLenFeature(tf.int64),
    }
    assert list(tf.io.parse_single_example(RECORD, features)) == ["v", "half", "one", "r", "q"]


def test_keys_may_be_bytes() -> None:
    assert int(tf.io.parse_single_example(RECORD, {b"one": INT})[b"one"]) == 1


def test_defaults_take_the_shape() -> None:
    features = {
        "a": tf.io.FixedLenFeature([2, 1], tf.int64, [5, 6]),
        "b": tf.io.FixedLenFeature([], tf.string, "é"),
        "c": tf.io.FixedLenFeature([], tf.float32, 1),
        "d": tf.io.FixedLenFeature([], tf.int64, True),
        "e": tf.io.FixedLenFeature([1], tf.int64, tf.constant([7], tf.int64)),
    }
    found = tf.io.parse_single_example(b"", features)
    assert found["a"].numpy().tolist() == [[5], [6]]
    assert (found["b"].numpy(), found["c"].numpy(), found["d"].numpy()) == ("é".encode(), 1.0, 1)
    assert found["e"].numpy().tolist() == [7]


def test_readers_are_kept_for_features_that_say_the_same() -> None:
    def features(default: Any = None) -> Any:
        return {"one": tf.io.FixedLenFeature([], tf.int64, default)}

    assert reader_of(features()) is reader_of(features())
    assert reader_of(features(1)) is not reader_of(features(True))
    assert reader_of(features([1])) is reader_of(features([1]))
    assert reader_of(features(np.array([1]))) is not reader_of(features(np.array([2])))


def test_many_features_do_not_fill_the_memory() -> None:
    for i in range(300):
        tf.io.parse_single_example(RECORD, {"one": tf.io.FixedLenFeature([], tf.int64, i)})
    from tfreel.tf.ops import readers

    assert len(readers._BY_ID) <= 64


def test_sequences_give_lengths_of_items() -> None:
    records = [tfreel.encode_sequence({}, {"f": [[1, 2]] * n}) for n in (3, 1)]
    features = {"f": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    context, lists, lengths = tf.io.parse_sequence_example(records, None, features)
    assert (context, lists["f"].shape, lengths["f"].numpy().tolist()) == ({}, [2, 3, 2], [3, 1])
    _, _, lengths = tf.io.parse_sequence_example(records[0], None, features)
    assert lengths["f"].numpy() == 3


@pytest.mark.parametrize(
    ("context", "lists"),
    [
        (None, None),
        ({}, {}),
        (None, {"f": tf.io.FixedLenFeature([], tf.int64)}),
        ({"f": tf.io.FixedLenSequenceFeature([], tf.int64, True)}, None),
        ({"f": tf.io.SparseFeature("i", "v", tf.int64, 4)}, None),
        (None, {"f": tf.io.FixedLenSequenceFeature([], tf.int64, False, 0)}),
    ],
)
def test_sequences_refuse_features_of_the_wrong_place(context: Any, lists: Any) -> None:
    with pytest.raises(ValueError, match=r"features|Unsupported|must be None"):
        tf.io.parse_single_sequence_example(b"", context, lists)


def test_a_missing_list_is_named() -> None:
    record = tfreel.encode_sequence({}, {"frames": [[1]]})
    features = {"frame": tf.io.FixedLenSequenceFeature([], tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Name: a, .*did you mean 'frames'"):
        tf.io.parse_single_sequence_example(record, None, features, example_name="a")


def test_specs_keep_the_structure_of_the_results() -> None:
    features = {"b": INT, "a": tf.io.VarLenFeature(tf.string)}
    dataset = tf.data.Dataset.from_tensor_slices([RECORD])
    found = dataset.map(lambda record: tf.io.parse_single_example(record, features)).element_spec
    assert list(found) == ["a", "b"]
    assert [type(each).__name__ for each in nest.flatten(found)] == ["SparseTensorSpec", "TensorSpec"]


def test_a_sequence_of_unknown_sizes_is_not_told_to_be_what_it_is() -> None:
    feature = tf.io.FixedLenSequenceFeature([None], tf.int64, allow_missing=True)
    with pytest.raises(ValueError, match="Consider using RaggedFeature or VarLenFeature"):
        tf.io.parse_single_example(b"", {"a": feature})
