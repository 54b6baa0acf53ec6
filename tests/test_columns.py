"""Columns: what parsing accepts and says, and what can be done with what it gives."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfreel
from tfreel.columns import Batch, BytesColumn, Ragged, Sparse, parse, parse_sequence
from tfreel.errors import DecodeError, FeatureMismatchError, MissingFeatureError
from tfreel.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

from columns_equal import strings as column_of
from conformance.parsing import example, feature, ints, sequence_example
from memory import PEAK_BYTES


def floats(*values: float) -> bytes:
    return feature("float32", list(values))


def strings(*values: bytes) -> bytes:
    return feature("bytes", list(values))


RECORDS = [
    example({"n": ints(i), "x": floats(i, i + 0.5), "s": strings(b"s%d" % i), "l": ints(*range(i))})
    for i in range(4)
]
FEATURES = {
    "n": FixedLenFeature([], "int64"),
    "x": FixedLenFeature([2], "float32"),
    "s": FixedLenFeature([], "bytes"),
    "l": RaggedFeature("int64"),
    "words": VarLenFeature("bytes"),
}


@pytest.fixture
def batch() -> Batch:
    return parse(RECORDS, FEATURES)


# What goes in.


class Ordered:
    """Records of every form that parsing takes."""

    as_list = staticmethod(lambda: RECORDS)
    as_tuple = staticmethod(lambda: tuple(RECORDS))
    as_generator = staticmethod(lambda: (record for record in RECORDS))
    as_bytearrays = staticmethod(lambda: [bytearray(record) for record in RECORDS])
    as_views = staticmethod(lambda: [memoryview(record) for record in RECORDS])
    as_array = staticmethod(lambda: np.array(RECORDS, object))
    as_column = staticmethod(lambda: column_of(b"not this one", *RECORDS)[1:])

    @staticmethod
    def as_file() -> Any:
        with tfreel.Writer("records.tfrecord") as out:
            out.write_many(RECORDS)
        return tfreel.read("records.tfrecord")

    @staticmethod
    def as_blocks() -> Any:
        return list(Ordered.as_file().blocks())

    @staticmethod
    def as_block() -> Any:
        return next(Ordered.as_file().blocks())

    @staticmethod
    def as_random_access() -> Any:
        Ordered.as_file()
        return tfreel.open("records.tfrecord")

    @staticmethod
    def as_mixture() -> Any:
        with tfreel.Writer("half.tfrecord") as out:
            out.write_many(RECORDS[:2])
        return [next(tfreel.read("half.tfrecord").blocks()), RECORDS[2], bytearray(RECORDS[3])]


@pytest.mark.parametrize("form", [name for name in vars(Ordered) if name.startswith("as_")])
def test_records_come_in_every_form(form: str, batch: Batch) -> None:
    found = parse(getattr(Ordered, form)(), FEATURES)
    assert found.to_pydict() == batch.to_pydict()


@pytest.mark.parametrize("records", [b"", "records.tfrecord", bytearray(b"x"), memoryview(b"x")])
def test_one_record_is_not_many(records: Any) -> None:
    with pytest.raises(TypeError, match="put a single one into a list"):
        parse(records, FEATURES)


@pytest.mark.parametrize(
    "records", [5, None, ["text"], [None], [np.zeros(4, np.int64)], [b"", 5], [(b"", b"")]]
)
def test_records_must_be_bytes(records: Any) -> None:
    with pytest.raises(TypeError):
        parse(records, FEATURES)


@pytest.mark.parametrize(
    ("features", "error"),
    [
        ({}, ValueError),
        (None, TypeError),
        ([("n", FixedLenFeature([], "int64"))], TypeError),
        ({"n": "int64"}, TypeError),
        ({"n": None}, TypeError),
        ({"n": FixedLenFeature}, TypeError),
        ({5: FixedLenFeature([], "int64")}, TypeError),
        ({b"n": FixedLenFeature([], "int64")}, TypeError),
        ({"n": FixedLenSequenceFeature([], "int64")}, ValueError),
    ],
)
def test_features_must_be_features_by_name(features: Any, error: type) -> None:
    with pytest.raises(error):
        parse(RECORDS, features)


def test_the_number_of_threads_is_asked_for_where_two_have_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFREEL_NUM_THREADS", "many")
    assert parse(RECORDS, FEATURES).num_rows == len(RECORDS)
    some = tfreel.encode({"x": bytes(1 << 20)})
    with pytest.raises(ValueError, match="TFREEL_NUM_THREADS"):
        parse([some], {"x": tfreel.FixedLenFeature([], "bytes")})


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_must_be_at_least_one(threads: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        parse(RECORDS, FEATURES, threads=threads)


def test_sequences_refuse_features_of_the_wrong_place() -> None:
    with pytest.raises(ValueError, match="no features"):
        parse_sequence([b""])
    for context in (
        FixedLenSequenceFeature([], "int64", allow_missing=True),
        SparseFeature("i", "v", int, 3),
    ):
        with pytest.raises(ValueError, match="'c'"):
            parse_sequence([b""], {"c": context})
    for listed in (
        FixedLenFeature([], "int64"),
        SparseFeature("i", "v", int, 3),
        FixedLenSequenceFeature([], "int64", default_value=1),
    ):
        with pytest.raises(ValueError, match="'s'"):
            parse_sequence([b""], None, {"s": listed})


# What is said of records that do not fit.


def test_a_missing_feature_is_named_with_its_nearest() -> None:
    with pytest.raises(MissingFeatureError) as caught:
        parse(
            [*RECORDS, example({"labels": ints(1)})], {"label": FixedLenFeature([], "int64", 0), **FEATURES}
        )
    error = caught.value
    assert (error.record, error.feature, error.kind) == (4, "n", "feature_missing")
    with pytest.raises(
        MissingFeatureError, match="'label' is missing in record 0; it has 'Labels'"
    ) as caught:
        parse([example({"Labels": ints(1)})], {"label": FixedLenFeature([], "int64")})
    assert "did you mean 'Labels'?" in str(caught.value)


def test_a_missing_feature_in_a_column_of_records_is_named_with_its_nearest() -> None:
    records = column_of(b"", *RECORDS)[1:]
    with pytest.raises(MissingFeatureError, match=r"is missing in record 0; .*did you mean 'n'"):
        parse(records, {"N": FixedLenFeature([], "int64")})


def test_offsets_that_do_not_fit_are_refused() -> None:
    column = column_of(*RECORDS)
    with pytest.raises(ValueError, match="offsets"):
        parse(BytesColumn(column.data[:-1], column.offsets), FEATURES)


def test_a_missing_feature_of_an_empty_record_has_no_nearest() -> None:
    with pytest.raises(MissingFeatureError, match="the record has no features"):
        parse([b""], {"label": FixedLenFeature([], "int64")})


def test_a_missing_feature_list_is_named_with_its_nearest() -> None:
    record = sequence_example({"tokens": ints(1)}, {"token": [ints(1)]})
    with pytest.raises(MissingFeatureError, match=r"feature list 'tokens'.* did you mean 'token'"):
        parse_sequence([record], None, {"tokens": FixedLenSequenceFeature([], "int64")})


@pytest.mark.parametrize(
    ("value", "expected", "found"),
    [
        (floats(1, 2), "values of kind int64", "2 values of kind float"),
        (strings(b"x"), "values of kind int64", "1 value of kind bytes"),
        (ints(1), "2 values of kind int64", "1"),
        (ints(1, 2, 3), "2 values of kind int64", "3"),
        (ints(), "2 values of kind int64", "0"),
    ],
)
def test_a_mismatch_says_what_was_expected_and_found(value: bytes, expected: str, found: str) -> None:
    good = example({"a": ints(1, 2)})
    with pytest.raises(FeatureMismatchError) as caught:
        parse([good, good, example({"a": value}), good], {"a": FixedLenFeature([2], "int64")})
    error = caught.value
    assert (error.record, error.feature, error.expected, error.found) == (2, "a", expected, found)
    assert str(error) == f"feature 'a' of record 2: expected {expected}, found {found}"
    again = pickle.loads(pickle.dumps(error))
    assert (again.record, again.feature, again.expected) == (2, "a", expected)


def test_a_mismatch_in_a_feature_list_names_the_step() -> None:
    record = sequence_example({}, {"a": [ints(1), ints(2), ints(3, 4)]})
    with pytest.raises(FeatureMismatchError, match="found 2 in step 2"):
        parse_sequence([record], None, {"a": FixedLenSequenceFeature([], "int64")})
    record = sequence_example({}, {"a": [ints(1), floats(2)]})
    with pytest.raises(FeatureMismatchError, match="found 1 value of kind float in step 1"):
        parse_sequence([record], None, {"a": VarLenFeature("int64")})


def test_a_malformed_record_names_the_byte() -> None:
    with pytest.raises(DecodeError) as caught:
        parse([*RECORDS, RECORDS[3][:-1]], FEATURES)
    assert (caught.value.record, caught.value.kind) == (4, "proto_malformed")
    assert isinstance(caught.value.byte, int)
    with pytest.raises(DecodeError, match="not a valid SequenceExample"):
        parse_sequence([b"\x0a"], {"a": VarLenFeature("int64")})


@pytest.fixture
def eager_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads start for whatever there is to do."""
    monkeypatch.setattr(sys.modules["tfreel.columns.parse"], "_BYTES_PER_THREAD", 1)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_of_many_bad_records_the_first_is_named(threads: int) -> None:
    """A varint that is too long is only found when values are written, after all of a stretch was counted."""
    records = RECORDS * 500
    too_long = example({"n": ints(1), "l": b"\x1a\x0d\x0a\x0b" + b"\x80" * 10 + b"\x00"})
    bad = {700: too_long, 800: b"\x00", 1100: example({}), 1800: too_long}
    features = {"n": FEATURES["n"], "l": FEATURES["l"]}
    for row in sorted(bad, reverse=True):
        records[row] = bad[row]
        with pytest.raises(tfreel.TfreelError) as caught:
            parse(records, features, threads=threads)
        assert caught.value.record == row


# Threads.


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_make_no_difference(threads: int) -> None:
    records = [
        example({"n": ints(i), "x": floats(i, -i), "s": strings(b"x" * (i % 50)), "l": ints(*range(i % 7))})
        if i % 11
        else example({"x": floats(1, 2), "n": ints(i), "s": strings(b"")})
        for i in range(3000)
    ]
    one, several = (parse(records, FEATURES, threads=n) for n in (1, threads))
    assert one.to_pydict() == several.to_pydict()
    steps = [sequence_example({}, {"t": [ints(*range(j)) for j in range(i % 5)]}) for i in range(3000)]
    asked = {"t": RaggedFeature("int64")}
    one, several = (parse_sequence(steps, None, asked, threads=n) for n in (1, threads))
    assert one.sequences.to_pydict() == several.sequences.to_pydict()
    assert one.lengths["t"].tolist() == several.lengths["t"].tolist() == [i % 5 for i in range(3000)]


def test_more_records_than_one_stretch() -> None:
    count = 150_000
    records = [example({"n": ints(i), "l": ints(*range(i % 3))}) for i in range(count)]
    found = parse(records, {"n": FEATURES["n"], "l": FEATURES["l"]})
    assert np.array_equal(found["n"], np.arange(count))
    assert np.array_equal(found["l"].lengths, np.arange(count) % 3)
    assert found["l"][count - 1].tolist() == list(range((count - 1) % 3))


# Batch.


def test_batch_is_a_mapping_of_columns(batch: Batch) -> None:
    assert list(batch) == batch.column_names == list(FEATURES)
    assert len(batch) == 5
    assert batch.num_rows == 4
    assert "n" in batch
    assert batch["n"].tolist() == [0, 1, 2, 3]
    assert batch.nbytes > 0
    with pytest.raises(KeyError):
        batch["missing"]


def test_batch_says_what_it_holds(batch: Batch) -> None:
    assert repr(batch) == (
        "<tfreel.Batch of 4 rows: n int64, x float32 (2,), s bytes, l ragged int64, words sparse (0,)>"
    )
    assert repr(Batch({})) == "<tfreel.Batch of 0 rows: no columns>"


def test_batch_gives_rows(batch: Batch) -> None:
    row = batch.row(2)
    assert row["n"] == 2
    assert row["x"].tolist() == [2.0, 2.5]
    assert row["s"] == b"s2"
    assert row["l"].tolist() == [0, 1]
    assert row["words"].to_list() == []
    assert batch.row(-1)["n"] == 3
    assert [r["s"] for r in batch.rows()] == [b"s0", b"s1", b"s2", b"s3"]
    with pytest.raises(IndexError):
        batch.row(4)


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (1, 3), (2, 2), (3, 1), (-2, 4), (0, 100), (1, -1)])
def test_batch_slices_as_lists_do(batch: Batch, start: int, stop: int) -> None:
    some = batch.slice(start, stop)
    whole = batch.to_pydict()
    assert some.to_pydict() == {name: values[start:stop] for name, values in whole.items()}
    assert some.num_rows == len(range(4)[start:stop])
    assert Batch({}, 4).slice(start, stop).num_rows == some.num_rows


def test_batch_gives_arrays(batch: Batch) -> None:
    arrays = batch.to_numpy()
    assert arrays["n"].dtype == np.int64
    assert arrays["s"].tolist() == [b"s0", b"s1", b"s2", b"s3"]
    assert [row.tolist() for row in arrays["l"]] == [[], [0], [0, 1], [0, 1, 2]]
    assert arrays["words"].shape == (4,)


def test_columns_pickle(batch: Batch) -> None:
    again = pickle.loads(pickle.dumps(batch))
    assert again.to_pydict() == batch.to_pydict()
    assert again["l"].row_splits.dtype == np.int32
    column = words(*[b"x" * 1000] * 100)
    assert len(pickle.dumps(column[:2])) < 5000
    assert pickle.loads(pickle.dumps(column[98:])).to_list() == column[98:].to_list()
    assert len(pickle.dumps(rows(*[1000] * 100)[:2])) < 20_000
    assert pickle.loads(pickle.dumps(nested()[1:])).to_list() == nested()[1:].to_list()
    part = pickle.loads(pickle.dumps(batch.slice(1, 3)))
    assert part.to_pydict() == batch.slice(1, 3).to_pydict()


def test_batch_wants_columns_of_one_length() -> None:
    with pytest.raises(ValueError, match="column 'b' has 3 rows"):
        Batch({"a": np.zeros(2), "b": np.zeros(3)})


def test_sequences_unpack_and_answer_to_names() -> None:
    record = sequence_example({"id": ints(7), "both": ints(1)}, {"t": [ints(1, 2), ints()], "both": []})
    features = {"t": RaggedFeature("int64"), "both": RaggedFeature("int64")}
    found = parse_sequence(
        [record], {"id": FixedLenFeature([], "int64"), "both": VarLenFeature("int64")}, features
    )
    context, sequences, lengths = found
    assert (context["id"].tolist(), sequences["t"].to_list()) == ([7], [[[1, 2], []]])
    assert lengths["t"].tolist() == [2]
    assert found["id"].tolist() == [7]
    assert found["t"].to_list() == [[[1, 2], []]]
    assert found.num_rows == 1
    with pytest.raises(KeyError, match="ask one of them"):
        found["both"]


def test_lengths_go_by_the_name_of_the_feature() -> None:
    record = sequence_example({}, {"v": [ints(1, 2), ints()], "l": [ints(1, 1), ints()]})
    spec = RaggedFeature("int64", value_key="v", partitions=[RaggedFeature.RowLengths("l")])
    found = parse_sequence([record], None, {"r": spec})
    assert {name: lengths.tolist() for name, lengths in found.lengths.items()} == {"r": [2]}
    assert found["r"].to_list() == [[[[1], [2]], []]]


def test_steps_must_match_their_partitions() -> None:
    record = sequence_example({}, {"v": [ints(1, 2), ints()], "l": [ints(1, 1)]})
    spec = RaggedFeature("int64", value_key="v", partitions=[RaggedFeature.RowLengths("l")])
    with pytest.raises(FeatureMismatchError, match="another number of steps") as caught:
        parse_sequence([sequence_example({}, {}), record], None, {"r": spec})
    assert caught.value.record == 1


def test_sequences_without_context_know_their_rows() -> None:
    found = parse_sequence([b"", b""], None, {"t": VarLenFeature("int64")})
    assert (found.num_rows, found.context.num_rows, found.sequences.num_rows) == (2, 2, 2)


# BytesColumn.


def words(*values: bytes, shape: tuple[int, ...] | None = None) -> BytesColumn:
    records = [example({"w": strings(value)}) for value in values]
    column = parse(records, {"w": FixedLenFeature([], "bytes")})["w"]
    assert isinstance(column, BytesColumn)
    return column if shape is None else BytesColumn(column.data, column.offsets, shape)


def test_bytes_are_read_one_by_one() -> None:
    column = words(b"one", b"", b"three\x00")
    assert [column[i] for i in range(3)] == list(column) == column.to_list() == [b"one", b"", b"three\x00"]
    assert column[-1] == column[np.int64(2)] == b"three\x00"
    assert column.lengths.tolist() == [3, 0, 6]
    assert (len(column), column.ndim, column.size, column.shape) == (3, 1, 3, (3,))
    assert repr(column) == "<tfreel.BytesColumn of shape (3,), 9 bytes>"
    for i in (3, -4):
        with pytest.raises(IndexError):
            column[i]


def test_bytes_of_more_dimensions_are_columns_of_columns() -> None:
    column = words(b"a", b"bb", b"c", b"d", b"e", b"ff", shape=(3, 2))
    assert column.to_list() == [[b"a", b"bb"], [b"c", b"d"], [b"e", b"ff"]]
    assert column[1].to_list() == [b"c", b"d"]
    assert [row.to_list() for row in column] == column.to_list()
    assert column[1:].to_list() == [[b"c", b"d"], [b"e", b"ff"]]
    assert column[::-2].to_list() == [[b"e", b"ff"], [b"a", b"bb"]]
    assert column.take([2, 0, -1]).to_list() == [[b"e", b"ff"], [b"a", b"bb"], [b"e", b"ff"]]
    assert column.to_numpy().shape == (3, 2)
    assert column.decode() == [["a", "bb"], ["c", "d"], ["e", "ff"]]
    with pytest.raises(ValueError, match="do not fill"):
        words(b"a", b"b", shape=(3,))


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (0, 0), (2, 0, 3)])
def test_no_bytes_in_any_shape(shape: tuple[int, ...]) -> None:
    column = words(shape=shape)
    assert column.to_list() == np.empty(shape, object).tolist()
    assert column.to_numpy().shape == shape
    assert len(column[:1]) == min(1, shape[0])


@pytest.mark.parametrize(
    "key", [slice(1, 3), slice(None, None, -1), slice(-2, None), slice(3, 1), slice(0, 9, 2)]
)
def test_bytes_slice_as_lists_do(key: slice) -> None:
    values = [b"one", b"", b"three", b"four"]
    assert words(*values)[key].to_list() == values[key]
    again = words(*values)[1:]
    assert again[key].to_list() == values[1:][key]


def test_rows_are_taken_from_both_ends() -> None:
    column = words(b"one", b"two", b"three")
    assert column.take([-1, 0, 0]).to_list() == [b"three", b"one", b"one"]
    assert column[1:].take([-1, 0]).to_list() == [b"three", b"two"]
    assert column.take([]).to_list() == []
    for rows in ([3], [-4]):
        with pytest.raises(IndexError):
            column.take(rows)
    for wrong in ([0.5], 1, [[0]]):
        with pytest.raises(TypeError):
            column.take(wrong)


COLUMNS = {
    "bytes": words(b"one", b"two", b"three"),
    "ragged": Ragged(np.arange(4), np.array([0, 1, 1, 4]), present=np.array([True, False, True])),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_rows_are_picked_as_those_of_arrays_are(column: Any) -> None:
    plain = column.to_list()
    for key in ([2, 0], np.array([2, 0]), np.array([-1, -3]), np.array([2, 0], np.uint8)):
        assert column[key].to_list() == [plain[2], plain[0]]
    for mask in ([True, False, True], np.array([1, 0, 1], np.bool_)):
        assert column[mask].to_list() == column.take(mask).to_list() == [plain[0], plain[2]]
    assert column[np.flatnonzero(np.zeros(3))].to_list() == column[[]].to_list() == []
    assert list(column[np.array(2)]) == list(column[2])
    for key, told in [
        (1.0, "float"),
        ("one", "str"),
        ((0, 1), "indexed by its rows alone"),
        ([0.5], "whole numbers, or a mask"),
        (None, "NoneType"),
    ]:
        with pytest.raises(TypeError, match=told):
            column[key]
    for key in ([True, False], np.ones((3, 1), np.bool_), [3], np.array([-4]), 3, -4):
        with pytest.raises(IndexError):
            column[key]


def test_bytes_become_numbers_without_a_copy() -> None:
    column = words(b"\x01\x00\x02\x00", b"\x03\x00\x04\x00")
    assert column.to_array().tolist() == [[1, 0, 2, 0], [3, 0, 4, 0]]
    assert column.to_array("uint16").tolist() == [[1, 2], [3, 4]]
    assert column.to_array(np.uint8, (2, 2)).shape == (2, 2, 2)
    assert column[1:].to_array("uint16").tolist() == [[3, 4]]
    assert np.shares_memory(column.to_array(), column.data)
    assert words().to_array("uint16").shape == (0, 0)
    with pytest.raises(ValueError, match="do not fill the shape"):
        column.to_array("uint16", (3,))
    with pytest.raises(ValueError, match="not a whole number"):
        words(b"abc").to_array("uint16")
    with pytest.raises(ValueError, match="value 0 has 1 bytes, but value 2 has 2"):
        words(b"a", b"b", b"cc").to_array()


def test_bytes_take_other_forms() -> None:
    column = words(b"a", b"\xc3\xa9", b"ccc")
    assert column.decode() == ["a", "é", "ccc"]
    assert column.decode("latin-1") == ["a", "Ã©", "ccc"]
    assert column.to_fixed().dtype == np.dtype("S3")
    assert np.asarray(column).tolist() == column.to_list()
    assert np.asarray(column, "S1").tolist() == [b"a", b"\xc3", b"c"]
    with pytest.raises(UnicodeDecodeError):
        words(b"\xff").decode()


# Ragged.


def rows(*lengths: int, dtype: str = "int64") -> Ragged:
    records, i = [], 0
    for length in lengths:
        values = [b"v%d" % (i + j) if dtype == "bytes" else i + j for j in range(length)]
        records.append(example({"r": feature(dtype, values)}))
        i += length
    column = parse(records, {"r": RaggedFeature(dtype)})["r"]
    assert isinstance(column, Ragged)
    return column


def test_ragged_rows_are_read_one_by_one() -> None:
    column = rows(2, 0, 3)
    assert column.to_list() == [row.tolist() for row in column] == [[0, 1], [], [2, 3, 4]]
    assert column[-1].tolist() == [2, 3, 4]
    assert column.lengths.tolist() == [2, 0, 3]
    assert column.row_splits.tolist() == [0, 2, 2, 5]
    assert column.row_splits.dtype == np.int32
    assert repr(column) == "<tfreel.Ragged of 3 rows, dtype int64>"
    assert (
        repr(rows(1, dtype="bytes")) == "<tfreel.Ragged of 1 rows, tfreel.BytesColumn of shape (1,), 2 bytes>"
    )
    for i in (3, -4):
        with pytest.raises(IndexError):
            column[i]


@pytest.mark.parametrize("dtype", ["int64", "float32", "bytes"])
@pytest.mark.parametrize(
    "key", [slice(1, 3), slice(None, None, -1), slice(-2, None), slice(3, 1), slice(0, 9, 2)]
)
def test_ragged_slices_as_lists_do(dtype: str, key: slice) -> None:
    column = rows(2, 0, 3, 1, dtype=dtype)
    values = column.to_list()
    assert column[key].to_list() == values[key]
    assert column[1:][key].to_list() == values[1:][key]
    assert column[1:][key].trimmed().to_list() == values[1:][key]


@pytest.mark.parametrize("dtype", ["int64", "bytes"])
def test_ragged_rows_are_taken_from_both_ends(dtype: str) -> None:
    column = rows(2, 0, 3, 1, dtype=dtype)
    values = column.to_list()
    assert column.take([-1, 0, 1, -2]).to_list() == [values[-1], values[0], values[1], values[-2]]
    assert column[1:].take([-1, 0]).to_list() == [values[-1], values[1]]
    assert column.take([]).to_list() == []
    with pytest.raises(IndexError):
        column.take([4])


def test_ragged_rows_are_padded() -> None:
    column = rows(2, 0, 3)
    assert column.to_dense().tolist() == [[0, 1, 0], [0, 0, 0], [2, 3, 4]]
    assert column.to_dense(-1, length=2).tolist() == [[0, 1], [-1, -1], [2, 3]]
    assert column.to_dense(-1, length=4).tolist() == [[0, 1, -1, -1], [-1] * 4, [2, 3, 4, -1]]
    assert column[1:].to_dense().tolist() == [[0, 0, 0], [2, 3, 4]]
    assert column.to_dense(length=0).shape == (3, 0)
    assert rows().to_dense().shape == (0, 0)
    text = rows(2, 0, 1, dtype="bytes")
    assert text.to_dense().to_list() == [[b"v0", b"v1"], [b"", b""], [b"v2", b""]]
    assert text.to_dense(b"--", length=1).to_list() == [[b"v0"], [b"--"], [b"v2"]]
    assert text[1:].to_dense(b"-").to_list() == [[b"-"], [b"v2"]]


@pytest.mark.parametrize("default", [0.5, "x", b"x", [1, 2], 1j])
def test_rows_are_padded_with_their_own_kind(default: Any) -> None:
    for column in (rows(2, 0), Sparse.from_ragged(rows(2, 0))):
        with pytest.raises(TypeError, match="default must be one number of dtype int64"):
            column.to_dense(default)
    with pytest.raises(TypeError):
        rows(2, 0, dtype="bytes").to_dense("text")
    assert rows(1, 0, dtype="float32").to_dense(-0.5).tolist() == [[0.0], [-0.5]]


def test_ragged_remembers_what_was_absent() -> None:
    records = [example({"r": ints(1)}), example({}), example({"r": ints()}), example({"r": b""})]
    column = parse(records, {"r": RaggedFeature("int64")})["r"]
    assert column.to_list() == [[1], [], [], []]
    assert column.present.tolist() == [True, False, True, False]
    assert column[1:3].present.tolist() == [False, True]
    assert column.take([-2, 1]).present.tolist() == [True, False]
    assert rows(1, 2).present is None


def nested() -> Ragged:
    records = [
        example({"v": ints(1, 2, 3), "l": ints(1, 0, 2)}),
        example({}),
        example({"v": ints(4, 5), "l": ints(2)}),
    ]
    spec = RaggedFeature("int64", value_key="v", partitions=[RaggedFeature.RowLengths("l")])
    column = parse(records, {"r": spec})["r"]
    assert isinstance(column, Ragged)
    return column


def test_rows_of_rows() -> None:
    column = nested()
    values = [[[1], [], [2, 3]], [], [[4, 5]]]
    assert column.to_list() == values
    assert column[0].to_list() == values[0]
    assert column[1:].to_list() == values[1:]
    assert column[1:].trimmed().to_list() == values[1:]
    assert column[1:].trimmed().flat_values.tolist() == [4, 5]
    assert column.take([2, 0]).to_list() == [values[2], values[0]]
    assert [row.to_list() for row in column] == values
    assert column.to_numpy()[0][2].tolist() == [2, 3]
    assert column.flat_values.tolist() == [1, 2, 3, 4, 5]
    assert column.nbytes > 0
    with pytest.raises(TypeError, match="one level"):
        column.to_dense()


# Sparse.


def test_sparse_stands_where_it_stands() -> None:
    column = Sparse.from_ragged(rows(2, 0, 3))
    assert column.indices.tolist() == [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
    assert column.dense_shape == (3, 3)
    assert column.to_list() == [[0, 1], [], [2, 3, 4]]
    assert column.to_dense(-1).tolist() == [[0, 1, -1], [-1, -1, -1], [2, 3, 4]]
    assert len(column) == 3
    assert repr(column) == "<tfreel.Sparse of shape (3, 3), 5 values>"
    assert Sparse.from_ragged(rows(2, 0, 3)[1:]).to_dense().tolist() == [[0, 0, 0], [2, 3, 4]]
    text = Sparse.from_ragged(rows(2, 1, dtype="bytes")[1:])
    assert text.to_dense(b"-").to_list() == [[b"v2"]]


def test_sparse_of_rows_of_rows_keeps_its_empty_rows() -> None:
    column = Sparse.from_ragged(nested())
    assert column.indices.tolist() == [[0, 0, 0], [0, 2, 0], [0, 2, 1], [2, 0, 0], [2, 0, 1]]
    assert column.dense_shape == (3, 3, 2)
    assert column.to_list() == nested().to_list()
    record = sequence_example({}, {"t": [ints(1), ints(), ints(2, 3), ints()]})
    found = parse_sequence([record], None, {"t": VarLenFeature("int64")}).sequences
    assert found.to_pydict() == {"t": [[[1], [], [2, 3], []]]}
    assert found.row(0)["t"].to_list() == [[1], [], [2, 3], []]


def test_sparse_features_stand_at_their_positions() -> None:
    records = [example({"i": ints(3, 1), "v": floats(0.5, 1.5)}), example({"i": ints(0), "v": floats(2.5)})]
    column = parse(records, {"s": SparseFeature("i", "v", "float32", 4)})["s"]
    assert column.to_dense().tolist() == [[0, 1.5, 0, 0.5], [2.5, 0, 0, 0]]
    assert column.to_list() == [[1.5, 0.5], [2.5]]
    outside = parse([example({"i": ints(9), "v": floats(1)})], {"s": SparseFeature("i", "v", "float32", 4)})
    with pytest.raises(ValueError, match=r"position \[0, 9\] lies outside of the shape \[1, 4\]"):
        outside["s"].to_dense()


# Memory.

MEASURE = (
    PEAK_BYTES
    + """
import numpy as np
from columns_equal import strings as column_of
from conformance.parsing import example, feature
from tfreel.columns import parse
from tfreel.features import FixedLenFeature, RaggedFeature, VarLenFeature

record = example({{"a": {value}}})
records = [record] * {count}
parse(records[:10], {{"a": {spec}}})
before = peak_bytes()
found = parse(records, {{"a": {spec}}}, threads=2)
after = peak_bytes()
print(after - before, found.nbytes)
"""
)
CASES = {
    "numbers of a fixed shape": (
        "feature('float32', [1.0] * 1000)",
        50_000,
        "FixedLenFeature([1000], 'float32')",
    ),
    "numbers of any number": ("feature('int64', [1] * 1000)", 25_000, "RaggedFeature('int64')"),
    "bytes": ("feature('bytes', [b'x' * 100_000])", 2_000, "FixedLenFeature([], 'bytes')"),
    "sparse numbers": ("feature('float32', [1.0] * 1000)", 10_000, "VarLenFeature('float32')"),
    "many short strings": ("feature('bytes', [b'x' * 12] * 100)", 100_000, "RaggedFeature('bytes')"),
}


@pytest.mark.parametrize("name", CASES)
def test_parsing_takes_no_more_memory_than_its_result(name: str, request: pytest.FixtureRequest) -> None:
    value, count, spec = CASES[name]
    script = MEASURE.format(value=value, count=count, spec=spec)
    tests = str(request.path.parent)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tests, capture_output=True, text=True, check=True, timeout=120
    )
    peak, result = map(int, done.stdout.split())
    assert result > 190_000_000
    assert peak < 1.1 * result + 16_000_000  # what is noted of one stretch of records


def test_a_generator_is_read_once() -> None:
    def records() -> Iterator[bytes]:
        yield from RECORDS

    source = records()
    assert parse(source, FEATURES).num_rows == 4
    assert parse(source, FEATURES).num_rows == 0
