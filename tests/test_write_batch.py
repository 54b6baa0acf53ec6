"""Columns written row by row: the records must be those that `encode` makes of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfreel
from tfreel.columns import BytesColumn, Ragged, Sparse
from tfreel.columns.table import encode_block, encode_columns

if TYPE_CHECKING:
    from pathlib import Path


def encoded(columns: Any) -> list[bytes]:
    return [record for block in encode_columns(columns) for record in block.to_list()]


def i64(*values: int) -> Any:
    return np.array(values, np.int64)


# Each column, and its value in every row as `encode` would take it.
COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "ints": ([1, -2, 3], [1, -2, 3]),
    "bools": ([True, False, True], [1, 0, 1]),
    "floats": ([0.5, -0.0, 1e30], [0.5, -0.0, 1e30]),
    "text": (["a", "é", ""], ["a", "é", ""]),
    "bytes": ([b"a", bytearray(b"\0\xff"), memoryview(b"c")], [b"a", b"\0\xff", b"c"]),
    "numpy scalars": ([np.int8(1), np.uint16(2), np.bool_(True)], [1, 2, 1]),
    "numpy floats": ([np.float16(1.5), np.float64(2.5), 3.5], [1.5, 2.5, 3.5]),
    "lists": ([[1], [2, 3], [4, 5, 6]], [[1], [2, 3], [4, 5, 6]]),
    "tuples of text": ([("a",), ("b", "c"), ("d",)], [["a"], ["b", "c"], ["d"]]),
    "nested lists": ([[[1, 2], [3]], [[4]], [[5], [6]]], [[1, 2, 3], [4], [5, 6]]),
    "lists, some empty": ([[1], [], [2]], [[1], np.array([], np.int64), [2]]),
    "arrays of any length": (
        [np.ones(1), np.ones(2), np.ones(0)],
        [[1.0], [1.0, 1.0], np.array([], np.float32)],
    ),
    "arrays of any shape": (
        [np.ones((2, 2), int), np.ones(1, int), np.ones((1, 3), int)],
        [[1] * 4, [1], [1] * 3],
    ),
    "None among scalars": ([1, None, 3], [1, None, 3]),
    "None among lists": ([[0.5], None, [1.5, 2.5]], [[0.5], None, [1.5, 2.5]]),
    "None among text": (["a", None, None], ["a", None, None]),
    "only None": ([None, None, None], [None, None, None]),
    "int32 array": (np.array([1, 2, 3], np.int32), [1, 2, 3]),
    "big-endian array": (np.array([1, 2, 3], ">i8"), [1, 2, 3]),
    "strided array": (np.arange(6)[::2], [0, 2, 4]),
    "matrix": (np.arange(6, dtype=np.float64).reshape(3, 2), [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]),
    "cube in Fortran order": (
        np.asfortranarray(np.arange(12).reshape(3, 2, 2)),
        [list(range(i, i + 4)) for i in (0, 4, 8)],
    ),
    "matrix without columns": (np.empty((3, 0), np.float32), [np.array([], np.float32)] * 3),
    "bool array": (np.array([True, False, True]), [1, 0, 1]),
    "uint64 array": (np.array([1, 2, 2**63 - 1], np.uint64), [1, 2, 2**63 - 1]),
    "half floats": (np.array([0.5, 1.5, np.inf], np.float16), [0.5, 1.5, np.inf]),
    "text array": (np.array(["a", "bb", "é"]), ["a", "bb", "é"]),
    "bytes array": (np.array([b"a", b"bb", b"c"]), [b"a", b"bb", b"c"]),
    "object array": (np.array(["a", b"b", None], object), ["a", b"b", None]),
    "object matrix": (
        np.array([["a", "b"], ["c", "d"], ["e", "f"]], object),
        [["a", "b"], ["c", "d"], ["e", "f"]],
    ),
    "times": (
        np.array(["2026-01-01", "1970-01-01", "1969-12-31"], "M8[D]"),
        [1767225600 * 10**9, 0, -86400 * 10**9],
    ),
    "range": (range(3), [0, 1, 2]),
    "generator": ((i for i in (7, 8, 9)), [7, 8, 9]),
    "Ragged": (Ragged(i64(1, 2, 3), i64(0, 1, 1, 3)), [[1], np.array([], np.int64), [2, 3]]),
    "Ragged, some absent": (
        Ragged(i64(1, 2, 3), i64(0, 1, 1, 3), present=np.array([True, False, True])),
        [[1], None, [2, 3]],
    ),
    "Ragged of Ragged": (
        Ragged(Ragged(i64(1, 2, 3), i64(0, 1, 3)), i64(0, 2, 2, 2)),
        [[1, 2, 3], i64(), i64()],
    ),
    "Ragged of vectors": (Ragged(np.arange(6).reshape(3, 2), i64(0, 2, 2, 3)), [[0, 1, 2, 3], i64(), [4, 5]]),
    "slice of a Ragged": (Ragged(i64(9, 1, 2, 3), i64(0, 1, 2, 2, 4))[1:], [[1], i64(), [2, 3]]),
    "BytesColumn": (BytesColumn(np.frombuffer(b"abc", np.uint8), i64(0, 1, 1, 3)), [b"a", b"", b"bc"]),
    "BytesColumn of pairs": (
        BytesColumn(np.frombuffer(b"abcdef", np.uint8), i64(0, 1, 2, 3, 4, 5, 6), (3, 2)),
        [[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]],
    ),
    "Sparse": (Sparse(np.array([[0, 0], [2, 0], [2, 1]]), i64(1, 2, 3), (3, 2)), [[1], i64(), [2, 3]]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_row_is_encoded_as_encode_does(name: str) -> None:
    column, rows = COLUMNS[name]
    if name == "generator":
        column = (i for i in (7, 8, 9))
    label = np.arange(3)
    expected = [tfreel.encode({"x": row, "label": i}) for i, row in enumerate(rows)]
    assert encoded({"x": column, "label": label}) == expected


def test_names_are_sorted_by_their_bytes() -> None:
    columns = {name: [i] for i, name in enumerate(["b", "é", "a", "", "aa", "Z"])}
    assert encoded(columns) == [tfreel.encode({name: column[0] for name, column in columns.items()})]


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "mixed kinds": ([1, 0.5, 2], TypeError, "column 'x' must hold values of one kind, not float, int"),
    "mixed text": (["a", 1, "b"], TypeError, "column 'x' must hold values of one kind"),
    "mixed arrays": ([np.ones(1), np.ones(1, int), np.ones(1)], TypeError, "column 'x' mixes arrays"),
    "objects": ([{}, {}, {}], TypeError, "feature 'x': a value cannot be of type dict"),
    "complex": (np.ones(3, complex), TypeError, "'x'.*complex"),
    "masked": (np.ma.masked_array([1, 2, 3], [0, 1, 0]), TypeError, "'x'.*masked"),
    "no kind": ([[], [], []], TypeError, "column 'x' has no values, and so no kind"),
    "a str": ("abc", TypeError, "column 'x' must have a value for each row, not str"),
    "a number": (7, TypeError, "column 'x' must have a value for each row, not int"),
    "a 0-d array": (np.array(7), TypeError, "column 'x' must have a value for each row"),
    "too large an int": ([1, 2**63, 3], ValueError, "column 'x': a value does not fit int64"),
    "too large a uint64": (
        np.array([1, 2**63, 3], np.uint64),
        ValueError,
        "9223372036854775808 does not fit int64",
    ),
    "too large a float": ([0.5, 1e39, 1.5], ValueError, "column 'x': 1e.39 does not fit float32"),
    "lone surrogates": (["a", "\udc80", "b"], ValueError, "column 'x': text with lone surrogates"),
    "not a time": (np.array([["NaT"]] * 3, "M8[s]"), ValueError, "'x'.*NaT"),
    "another length": ([1, 2], ValueError, "columns differ in length: 'x' has 2, 'label' has 3"),
    "offsets past the end": (Ragged(i64(1), i64(0, 1, 2, 3)), ValueError, "offsets that do not fit"),
    "offsets backwards": (Ragged(i64(1, 2), i64(0, 2, 1, 2)), ValueError, "offsets that do not fit"),
    "offsets below zero": (Ragged(i64(1, 2), i64(-1, 0, 1, 2)), ValueError, "offsets that do not fit"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_a_column_is_refused_by_name_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    column, error, message = WRONG[name]
    with tfreel.Writer(tmp_path / "a") as out:
        with pytest.raises(error, match=message):
            out.write_batch({"x": column, "label": [0, 1, 2]})
        assert out.records_written == 0
        out.write_batch({"x": [1, 2, 3], "label": [0, 1, 2]})
    assert len(tfreel.open(tmp_path / "a")) == 3


@pytest.mark.parametrize("wrong", [[1, 2], 7, "text", None])
def test_what_has_no_columns_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match="columns must be a mapping"):
        encoded(wrong)
    with pytest.raises(TypeError, match="columns are named by str, not int"):
        encoded({7: [1]})


def test_no_columns_and_no_rows_write_nothing() -> None:
    assert encoded({}) == []
    assert encoded({"x": np.empty(0), "y": []}) == []


def test_tensors_keep_their_shape_and_dtype() -> None:
    images = np.arange(24, dtype=np.uint16).reshape(2, 3, 4)
    rows = [tfreel.decode(record) for record in encoded({"image": tfreel.tensor(images), "label": [0, 1]})]
    for row, image in zip(rows, images, strict=True):
        assert row["image"].dtype == np.uint16
        assert np.array_equal(row["image"], image)
    with pytest.raises(ValueError, match="'image/shape': the name is needed for the tensor 'image'"):
        encoded({"image": tfreel.tensor(images), "image/shape": [1, 2]})


def test_many_rows_and_large_ones_come_in_several_blocks() -> None:
    columns = {"x": np.arange(200_000), "text": ["word"] * 200_000}
    blocks = list(encode_columns(columns))
    assert len(blocks) > 1
    assert sum(map(len, blocks)) == 200_000
    batch = tfreel.parse(blocks, {"x": tfreel.FixedLenFeature([], "int64")})
    assert np.array_equal(batch["x"], columns["x"])
    large = {"x": [b"a" * (5 << 20), b"b", b"c" * (9 << 20)]}
    assert [tfreel.decode(record)["x"] for record in encoded(large)] == [[value] for value in large["x"]]


def test_blocks_are_framed_soundly(tmp_path: Path) -> None:
    with tfreel.Writer(tmp_path / "a") as out:
        out.write_batch({"x": np.arange(1000), "y": [["a"], ["b", "c"]] * 500})
        out.write({"x": 1000})
    with tfreel.Writer(tmp_path / "b.gz") as out:
        out.write_batch({"x": np.arange(1000), "y": [["a"], ["b", "c"]] * 500})
        out.write({"x": 1000})
    assert tfreel.verify(tmp_path / "a").ok
    assert list(tfreel.read(tmp_path / "a")) == list(tfreel.read(tmp_path / "b.gz"))


def test_shards_share_the_rows_of_a_batch(tmp_path: Path) -> None:
    with tfreel.ShardedWriter(tmp_path / "a.tfrecord", shards=3) as out:
        out.write_batch({"x": np.arange(100)})
    features = {"x": tfreel.FixedLenFeature([], "int64")}
    found = [tfreel.load(path, features)["x"] for path in sorted(tmp_path.glob("a-*"))]
    assert [len(x) for x in found] == [34, 33, 33]
    assert sorted(np.concatenate(found).tolist()) == list(range(100))


def test_a_parsed_batch_writes_the_same_records_again() -> None:
    rows = [{"x": [0.5, i], "ids": list(range(int(i))) or None, "name": f"no. {i}"} for i in (1.0, 2.0, 0.0)]
    records = [tfreel.encode(row) for row in rows]
    features = {
        "x": tfreel.FixedLenFeature([2], "float32"),
        "ids": tfreel.RaggedFeature("int64"),
        "name": tfreel.FixedLenFeature([], "bytes"),
    }
    assert encoded(tfreel.parse(records, features)) == records
    sparse = {**features, "ids": tfreel.VarLenFeature("int64")}
    assert encoded(tfreel.parse(records, sparse)) == records


@given(
    st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.lists(st.floats(width=32), max_size=5),
            st.binary(max_size=200),
            st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=5)),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_any_rows_are_encoded_as_encode_does(rows: list[Any]) -> None:
    names = ("int", "floats", "bytes", "text")
    floats = [np.array(row[1], np.float32) for row in rows]
    columns = dict(
        zip(
            names, ([row[0] for row in rows], floats, [r[2] for r in rows], [r[3] for r in rows]), strict=True
        )
    )
    expected = [
        tfreel.encode(dict(zip(names, (row[0], f, row[2], row[3]), strict=True)))
        for row, f in zip(rows, floats, strict=True)
    ]
    assert encoded(columns) == expected


def test_one_block_holds_all_rows_however_large_they_get() -> None:
    columns = {
        "k" * 300: np.full((500, 3), -1),  # each of ten bytes
        "f": np.ones(500, np.float32),
        "s": [b""] * 499 + [b"x" * 100_000],
        "r": [[b""] * (i % 7) or None for i in range(500)],
    }
    block = encode_block(columns)
    assert len(block) == 500
    assert block.to_list() == [record for part in encode_columns(columns) for record in part.to_list()]
    assert len(encode_block({})) == 0


def test_offsets_of_other_types_are_held_until_they_are_written() -> None:
    values = np.arange(6)
    columns = {
        "a": tfreel.Ragged(values, np.array([0, 1, 3, 6], np.int32)),
        "b": tfreel.Ragged(values[::-1], np.array([0, 4, 5, 6], np.int32)),
        "c": tfreel.BytesColumn(np.frombuffer(b"a-b-c-", np.uint8)[::2], np.array([0, 1, 2, 3], np.int32)),
    }
    rows = [tfreel.decode(record) for record in encoded(columns)]
    assert [row["a"].tolist() for row in rows] == [[0], [1, 2], [3, 4, 5]]
    assert [row["b"].tolist() for row in rows] == [[5, 4, 3, 2], [1], [0]]
    assert [row["c"] for row in rows] == [[b"a"], [b"b"], [b"c"]]


def test_columns_of_records_that_do_not_lie_together_are_parsed() -> None:
    records = [tfreel.encode({"x": i, "pad": bytes(1000)}) for i in range(3000)]
    joined = np.frombuffer(b"".join(records), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(record) for record in records])])
    wide = np.empty(2 * len(joined), np.uint8)
    wide[::2] = joined
    features = {"x": tfreel.FixedLenFeature([], "int64")}
    for data, places in [(wide[::2], offsets), (joined, offsets.astype(np.int32)), (joined, offsets)]:
        assert tfreel.parse([(data, places)], features)["x"].tolist() == list(range(3000))
