"""Features are checked when they are made, and say what is wrong with them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from tfreel.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    dtype_named,
)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("int64", "int64"),
        (int, "int64"),
        (np.int64, "int64"),
        (np.dtype("int64"), "int64"),
        ("float32", "float32"),
        (float, "float32"),
        (np.float32, "float32"),
        ("bytes", "bytes"),
        ("string", "bytes"),
        ("str", "bytes"),
        (bytes, "bytes"),
        (str, "bytes"),
        (object, "bytes"),
        (np.bytes_, "bytes"),
    ],
)
def test_dtypes_have_many_names(given: Any, name: str) -> None:
    assert dtype_named(given) == name
    assert VarLenFeature(given).dtype == name


@pytest.mark.parametrize(
    "given", ["float64", np.float64, "int32", bool, np.uint8, None, "what", complex, 5, [], object()]
)
def test_other_dtypes_are_refused_with_those_there_are(given: Any) -> None:
    with pytest.raises(ValueError, match="int64, float32 or bytes"):
        dtype_named(given)


def test_dtypes_of_tensorflow_are_known_by_what_they_say() -> None:
    class LikeTensorFlow:
        as_numpy_dtype = np.float32

    assert dtype_named(LikeTensorFlow()) == "float32"


@pytest.mark.parametrize("shape", [[2, 3], (2, 3), np.array([2, 3]), iter([2, 3])])
def test_shapes_are_any_numbers_in_a_row(shape: Any) -> None:
    assert FixedLenFeature(shape, "int64").shape == (2, 3)


def test_a_single_number_is_a_shape() -> None:
    assert FixedLenFeature(3, "int64").shape == (3,)
    assert FixedLenFeature([], "int64").shape == ()
    assert FixedLenFeature([0], "int64").shape == (0,)


@pytest.mark.parametrize("shape", [None, [None], [1.5], [-1], "ab", [2, None]])
def test_shapes_must_be_known(shape: Any) -> None:
    with pytest.raises(ValueError, match="shape"):
        FixedLenFeature(shape, "int64")


@pytest.mark.parametrize("shape", [[1 << 31], [1 << 16, 1 << 16], [1 << 40, 1 << 40]])
def test_shapes_that_no_record_can_fill_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="no example can hold"):
        FixedLenFeature(shape, "int64")


@pytest.mark.parametrize("shape", [[0], [2, 0], [-1]])
def test_items_of_a_sequence_cannot_be_empty(shape: Any) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        FixedLenSequenceFeature(shape, "int64", allow_missing=True)


@pytest.mark.parametrize(
    ("shape", "dtype", "given", "kept"),
    [
        ([], "int64", 5, 5),
        ([], "int64", True, 1),
        ([], "int64", np.int8(5), 5),
        ([], "int64", [5], 5),
        ([2], "int64", [1, 2], (1, 2)),
        ([2], "int64", np.array([[1], [2]]), (1, 2)),
        ([2, 1], "int64", [1, 2], ((1,), (2,))),
        ([], "int64", -(1 << 63), -(1 << 63)),
        ([], "int64", (1 << 63) - 1, (1 << 63) - 1),
        ([], "float32", 1, 1.0),
        ([], "float32", 0.1, float(np.float32(0.1))),
        ([], "float32", 1e300, float("inf")),
        ([], "bytes", b"a", b"a"),
        ([], "bytes", "é", b"\xc3\xa9"),
        ([], "bytes", bytearray(b"ab"), b"ab"),
        ([], "bytes", memoryview(b"ab"), b"ab"),
        ([], "bytes", b"a\x00", b"a\x00"),
        ([2], "bytes", ["a", b"b"], (b"a", b"b")),
        ([0], "int64", [], None),
        ([0, 2], "bytes", [], None),
    ],
)
def test_defaults_are_kept_as_plain_values_in_their_shape(
    shape: list[int], dtype: str, given: Any, kept: Any
) -> None:
    assert FixedLenFeature(shape, dtype, given).default_value == kept


@pytest.mark.parametrize(
    ("shape", "dtype", "given", "error"),
    [
        ([2], "int64", 1, ValueError),
        ([2], "int64", [1, 2, 3], ValueError),
        ([], "int64", [], ValueError),
        ([], "int64", 1.5, TypeError),
        ([], "int64", "1", TypeError),
        ([], "int64", 1 << 63, ValueError),
        ([], "int64", 1 << 64, TypeError),
        ([], "float32", "1", TypeError),
        ([], "float32", 1j, TypeError),
        ([], "bytes", 1, TypeError),
        ([], "bytes", [None], TypeError),
        ([0], "int64", [1], ValueError),
    ],
)
def test_defaults_that_do_not_fit_are_refused(shape: Any, dtype: str, given: Any, error: type) -> None:
    with pytest.raises(error, match="default_value"):
        FixedLenFeature(shape, dtype, given)


def test_a_sequence_pads_with_one_value() -> None:
    assert FixedLenSequenceFeature([2], "int64", allow_missing=True, default_value=[7]).default_value == 7
    with pytest.raises(ValueError, match="default_value"):
        FixedLenSequenceFeature([2], "int64", allow_missing=True, default_value=[7, 8])


def test_one_partition_is_no_list_of_them() -> None:
    with pytest.raises(TypeError, match="partitions must be a list of them"):
        RaggedFeature("int64", partitions=RaggedFeature.RowLengths("n"))


def test_sparse_takes_one_key_or_several() -> None:
    one = SparseFeature("i", "v", "int64", 5)
    assert (one.index_keys, one.sizes) == (("i",), (5,))
    two = SparseFeature(["i", "j"], "v", "int64", [5, 6])
    assert (two.index_keys, two.sizes) == (("i", "j"), (5, 6))


@pytest.mark.parametrize(
    ("keys", "size", "error"),
    [
        ("i", [5], TypeError),
        (["i"], 5, TypeError),
        (["i"], [5, 6], ValueError),
        ([], [], ValueError),
        ("i", 1.5, TypeError),
        ("i", None, TypeError),
    ],
)
def test_sparse_keys_and_sizes_must_go_together(keys: Any, size: Any, error: type) -> None:
    with pytest.raises(error):
        SparseFeature(keys, "v", "int64", size)


def test_ragged_checks_its_partitions() -> None:
    with pytest.raises(TypeError, match="partition"):
        RaggedFeature("int64", partitions=["lengths"])
    with pytest.raises(ValueError, match="at least 1"):
        RaggedFeature.UniformRowLength(0)
    with pytest.raises(TypeError):
        RaggedFeature.UniformRowLength(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("splits", ["int32", "int64", np.int32, np.dtype("int64")])
def test_row_splits_are_int32_or_int64(splits: Any) -> None:
    assert RaggedFeature("int64", row_splits_dtype=splits).row_splits_dtype == np.dtype(splits).name


@pytest.mark.parametrize("splits", ["float32", "int16", None])
def test_row_splits_are_nothing_else(splits: Any) -> None:
    with pytest.raises(ValueError, match="row_splits_dtype"):
        RaggedFeature("int64", row_splits_dtype=splits)


EVERY_KIND = [
    lambda: FixedLenFeature([2], "bytes", ["a", "b"]),
    lambda: VarLenFeature("int64"),
    lambda: FixedLenSequenceFeature([], "float32", allow_missing=True, default_value=-1),
    lambda: SparseFeature(["i", "j"], "v", "int64", [5, 6]),
    lambda: RaggedFeature(
        "int64", partitions=[RaggedFeature.RowSplits("s"), RaggedFeature.UniformRowLength(2)]
    ),
]


@pytest.mark.parametrize("make", EVERY_KIND)
def test_features_are_values(make: Any) -> None:
    made = make()
    assert made == make()
    assert hash(made) == hash(make())
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(made).__name__ in repr(made)
    with pytest.raises(AttributeError):
        made.dtype = "bytes"


def test_partitions_of_two_kinds_are_not_equal() -> None:
    assert RaggedFeature.RowSplits("a") != RaggedFeature.RowLengths("a")
    assert RaggedFeature.RowSplits("a") == RaggedFeature.RowSplits("a")
