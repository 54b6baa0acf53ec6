"""Batches in the hands of pyarrow, polars, pandas and DuckDB, and their tables as batches."""

from __future__ import annotations

import datetime as dt
import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import tfreel
from tfreel.columns import Batch, Ragged, parse
from tfreel.examples import encode
from tfreel.features import FixedLenFeature, RaggedFeature, VarLenFeature

from columns_equal import assert_same, assert_same_batch, strings

INT64 = np.iinfo(np.int64)
SOME_ABSENT = np.array([False, True, True, True])


def flat_kinds() -> dict[str, Any]:
    """Columns that every library keeps as they are."""
    return {
        "int": np.array([INT64.min, -1, 0, INT64.max]),
        "small": np.array([1, 2, 3, 255], np.uint8),
        "bool": np.array([True, False, True, True]),
        "bytes": strings(b"", b"\0\xff", b"a string that is too long to lie in its view", b"c"),
        "rows": Ragged(np.arange(3), np.array([0, 0, 0, 1, 3]), present=SOME_ABSENT),
        "string rows": Ragged(strings(b"a", b"" * 20), np.array([0, 0, 2, 2, 2]), present=SOME_ABSENT),
        "rows of rows": Ragged(
            Ragged(np.arange(4.0), np.array([0, 1, 1, 4])), np.array([0, 0, 0, 2, 3]), present=SOME_ABSENT
        ),
    }


def every_kind() -> Batch:
    """With what some libraries treat in ways of their own: NaN, and shapes."""
    payloads = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 1], np.uint32).view(np.float32)
    return Batch(
        {
            **flat_kinds(),
            "float": payloads,
            "half": np.array([0, -0.0, np.inf, np.nan], np.float16),
            "time": np.array([1, "NaT", -1, 0], "M8[us]"),
            "tensor": np.arange(24, dtype=np.float32).reshape(4, 2, 3),
            "bytes tensor": strings(*(bytes([i]) * i for i in range(16)), shape=(4, 2, 2)),
            "tensor rows": Ragged(np.arange(12).reshape(3, 2, 2), np.array([0, 2, 2, 2, 3])),
        }
    )


def parsed() -> Batch:
    rows = ({"x": [1, 2], "label": 1}, {"x": np.array([], np.int64), "label": 2}, {"label": 3})
    records = [encode(row) for row in rows]
    return parse(
        records,
        {
            "x": RaggedFeature("int64"),
            "label": FixedLenFeature([], "int64"),
            "again": VarLenFeature("bytes"),
        },
    )


# pyarrow --------------------------------------------------------------------------------------------------


def test_pyarrow_makes_a_valid_table_with_the_schema_that_we_say() -> None:
    table = pa.table(every_kind())
    table.validate(full=True)
    assert table.schema == pa.schema(every_kind())
    assert pa.record_batch(every_kind()).schema == table.schema
    assert table.schema.field("int").type == pa.int64()
    assert table.schema.field("bytes").type == pa.binary()
    assert table.schema.field("rows").type == pa.list_(pa.int64())
    assert table.schema.field("tensor").type == pa.fixed_shape_tensor(pa.float32(), [2, 3])
    assert table.schema.field("bytes tensor").type == pa.list_(pa.list_(pa.binary(), 2), 2)


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (1, 3), (3, 4), (2, 2)])
def test_pyarrow_sees_the_values_of_every_slice(start: int, stop: int) -> None:
    part = every_kind().slice(start, stop)
    table = pa.table(part)
    table.validate(full=True)
    for name in ("int", "bool", "bytes", "bytes tensor", "tensor rows"):
        found = table[name].to_pylist()
        if name == "tensor rows":
            found = [[np.reshape(item, (2, 2)).tolist() for item in row] for row in found]
        assert found == part.to_pydict()[name], name
    assert table["rows"].to_pylist() == [None, [], [0], [1, 2]][start:stop]
    assert table["rows of rows"].to_pylist() == [None, [], [[0.0], []], [[1.0, 2.0, 3.0]]][start:stop]


def test_pyarrow_sees_tensors_in_their_shape() -> None:
    tensors = pa.table(every_kind())["tensor"].combine_chunks().to_numpy_ndarray()
    assert_same(tensors, every_kind()["tensor"])


def test_absent_is_null_and_empty_is_empty_from_a_parsed_batch() -> None:
    table = pa.table(parsed())
    assert table["x"].to_pylist() == [[1, 2], [], None]
    assert table["again"].to_pylist() == [None, None, None]
    assert_same(Batch.from_arrow(table)["x"], parsed()["x"])


def test_pyarrow_reads_our_memory_and_keeps_it() -> None:
    values = np.arange(1000)
    address, alive = values.ctypes.data, weakref.ref(values)
    column = pa.table(Batch({"x": values}))["x"]
    del values
    gc.collect()
    assert column.chunk(0).buffers()[1].address == address
    assert column.to_pylist()[999] == 999
    del column
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "through",
    [
        pa.table,
        pa.record_batch,
        pa.RecordBatchReader.from_stream,
        lambda batch: pa.concat_tables([pa.table(batch).slice(0, 1), pa.table(batch).slice(1)]),
        lambda batch: pa.concat_tables([pa.table(batch.slice(i, i + 1)) for i in range(4)]),
        lambda batch: pa.Table.from_batches([pa.record_batch(batch), pa.record_batch(batch)]).slice(4),
        lambda batch: pa.table(batch).take([0, 1, 2, 3]),
        pl.DataFrame,
        lambda batch: pl.concat([pl.DataFrame(batch)[:1], pl.DataFrame(batch)[1:]], rechunk=False),
        lambda batch: pl.DataFrame(batch).lazy().slice(0, 4).collect(),
        lambda batch: pa.table(batch).to_pandas(types_mapper=pd.ArrowDtype),
    ],
    ids=[
        "table", "record batch", "reader", "chunks with offsets", "chunks", "later chunk", "take",
        "polars", "polars chunks", "polars lazy", "pandas of Arrow",
    ],
)  # fmt: skip
def test_the_way_through_is_exact(through: Callable[[Batch], Any]) -> None:
    assert_same_batch(Batch.from_arrow(through(every_kind())), every_kind())


def test_parquet_keeps_everything() -> None:
    pyarrow.parquet.write_table(pa.table(every_kind()), "all.parquet")
    back = Batch.from_arrow(pyarrow.parquet.read_table("all.parquet"))
    assert_same_batch(back, every_kind())


def test_a_table_without_chunks_has_columns_without_rows() -> None:
    table = pa.Table.from_batches([], pa.schema(every_kind()))
    assert_same_batch(Batch.from_arrow(table), every_kind().slice(0, 0))


DAY = dt.date(2020, 2, 29)
ARRAYS: dict[str, tuple[list[Any], pa.DataType]] = {
    **{str(t): ([1, None, 3], t) for t in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float64())},
    "bool": ([True, None, False] * 7, pa.bool_()),
    "string": (["é", None, ""], pa.string()),
    "large_string": (["é", None, ""], pa.large_string()),
    "string_view": (["é" * 30, None, "", "short"], pa.string_view()),
    "large_binary": ([b"\xff", None, b""], pa.large_binary()),
    "binary_view": ([b"\xff" * 13, None, b"x" * 12], pa.binary_view()),
    "fixed_size_binary": ([b"ab", None, b"cd"], pa.binary(2)),
    "dictionary": (["a", None, "b", "a"], pa.dictionary(pa.int8(), pa.string())),
    "dictionary of numbers": ([5, None, 6, 5], pa.dictionary(pa.uint32(), pa.int64())),
    "list": ([[1, 2], None, [], [3]], pa.list_(pa.int32())),
    "large_list": ([[1, 2], None, [], [3]], pa.large_list(pa.int32())),
    "list_view": ([[1, 2], None, [], [3]], pa.list_view(pa.int32())),
    "large_list_view": ([[1, 2], None, [], [3]], pa.large_list_view(pa.int32())),
    "fixed_size_list": ([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)),
    "list of strings": ([["a", "bb"], None, [], ["é"]], pa.list_(pa.string())),
    "list of lists": ([[[1], []], None, [], [[2, 3]]], pa.list_(pa.list_(pa.int64()))),
    "list of dictionary": ([["a", "a"], None, ["b"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "null": ([None, None], pa.null()),
    "list of null": ([[], [], None], pa.list_(pa.null())),
}


def expected_rows(values: list[Any], kind: pa.DataType) -> list[Any]:
    """As our columns with nulls have them: rows of no or one value, or lists."""
    lists = pa.types.is_nested(kind) and not pa.types.is_fixed_size_list(kind)
    rows: list[Any] = [[] if v is None else v if lists else [v] for v in values]
    return encoded(rows)


def encoded(value: Any) -> Any:
    if isinstance(value, list):
        return [encoded(one) for one in value]
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("name", ARRAYS)
def test_nulls_of_every_type_are_absent(name: str) -> None:
    values, kind = ARRAYS[name]
    array = pa.array(values, kind)
    for chunks in (
        [array],
        [array.slice(0, 1), array.slice(1)],
        [array.slice(i, 1) for i in range(len(array))],
    ):
        table = pa.table({"x": pa.chunked_array(chunks, kind)})
        column = Batch.from_arrow(table)["x"]
        assert column.to_list() == expected_rows(values, kind)
        assert column.present.tolist() == [value is not None for value in values]


@pytest.mark.parametrize("name", [name for name in ARRAYS if "null" not in name])
def test_columns_without_nulls_are_dense_and_slices_are_exact(name: str) -> None:
    values, kind = ARRAYS[name]
    there = [value for value in values if value is not None] * 7
    array = pa.array([*values, *there, *values], kind).slice(len(values), len(there))
    column = Batch.from_arrow(pa.table({"x": array}))["x"]
    found = column.tolist() if isinstance(column, np.ndarray) else column.to_list()
    assert found == encoded(there)
    nested = pa.types.is_nested(kind) and not pa.types.is_fixed_size_list(kind)
    assert isinstance(column, Ragged) == nested


@pytest.mark.parametrize("name", ARRAYS)
def test_no_rows_of_any_type_are_a_column_without_rows(name: str) -> None:
    _, kind = ARRAYS[name]
    schema = pa.schema({"x": kind})
    for table in (schema.empty_table(), pa.Table.from_batches([], schema)):
        assert len(Batch.from_arrow(table)["x"]) == 0


def test_a_chunk_of_nulls_may_have_an_empty_dictionary() -> None:
    kind = pa.dictionary(pa.int32(), pa.string())
    chunks = [pa.DictionaryArray.from_arrays(pa.array([None], pa.int32()), pa.array([], pa.string()))]
    chunks += [pa.array(["a", "b"], kind)]
    column = Batch.from_arrow(pa.table({"x": pa.chunked_array(chunks, kind)}))["x"]
    assert column.to_list() == [[], [b"a"], [b"b"]]


def test_nulls_in_the_entries_of_a_dictionary_are_nulls() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["a", None]))
    column = Batch.from_arrow(pa.table({"x": array}))["x"]
    assert column.to_list() == [[b"a"], [], [], [b"a"]]


def test_nulls_inside_of_lists_are_absent_values() -> None:
    column = Batch.from_arrow(pa.table({"x": [[1, None], None, []]}))["x"]
    assert column.to_list() == [[[1], []], [], []]
    assert column.values.present.tolist() == [True, False]


def test_nulls_in_one_chunk_make_the_whole_column_rows() -> None:
    chunks = pa.chunked_array([[1, 2], [None, 3]])
    assert Batch.from_arrow(pa.table({"x": chunks}))["x"].to_list() == [[1], [2], [], [3]]


def test_times_become_numpy_times() -> None:
    moment = dt.datetime(2020, 2, 29, 1, 2, 3, tzinfo=dt.UTC)
    table = pa.table(
        {
            "day": pa.array([DAY, None], pa.date32()),
            "date64": pa.array([DAY, None], pa.date64()),
            "zone": pa.array([moment, None], pa.timestamp("ms", "Europe/Vienna")),
            "clock": pa.array([dt.time(1, 2), None], pa.time32("s")),
            "span": pa.array([dt.timedelta(1), None], pa.duration("us")),
        }
    )
    found = Batch.from_arrow(table)
    assert_same(found["day"], np.array(["2020-02-29", "NaT"], "M8[D]"))
    assert_same(found["date64"], np.array(["2020-02-29", "NaT"], "M8[ms]"))
    assert_same(found["zone"], np.array(["2020-02-29T01:02:03", "NaT"], "M8[ms]"))
    assert_same(found["clock"], np.array([3720, "NaT"], "m8[s]"))
    assert_same(found["span"], np.array([86_400_000_000, "NaT"], "m8[us]"))


def test_a_permuted_tensor_is_what_pyarrow_says_it_is() -> None:
    kind = pa.fixed_shape_tensor(pa.int64(), [2, 3, 4], permutation=[2, 1, 0])
    storage = pa.array([list(range(24)), list(range(24, 48))], kind.storage_type)
    tensors = pa.ExtensionArray.from_storage(kind, storage)
    found = Batch.from_arrow(pa.table({"x": tensors}))["x"]
    assert found.shape == (2, 4, 3, 2)
    assert found.tolist() == tensors.to_numpy_ndarray().tolist()


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (pa.array([{"a": 1}]), r"struct \(\+s\)"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), r"map \(\+m\)"),
        (pa.array([1], pa.decimal128(5, 2)), r"decimal \(d:5,2\)"),
        (pa.array([[{"a": 1}]]), r"struct \(\+s\)"),
    ],
)
def test_types_without_column_are_named(values: pa.Array, name: str) -> None:
    with pytest.raises(TypeError, match=f"column 'x' cannot come from Arrow: it is of the type {name}"):
        Batch.from_arrow(pa.table({"fine": [1], "x": values}))


def test_an_error_of_the_producer_arrives_with_its_words() -> None:
    schema = pa.schema({"x": pa.int64()})

    def rows() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": [1]})
        raise ValueError("the well is dry")

    reader = pa.RecordBatchReader.from_batches(schema, rows())
    with pytest.raises(RuntimeError, match="the well is dry"):
        Batch.from_arrow(reader)


def test_imported_memory_is_kept_and_let_go() -> None:
    gc.collect()
    before = pa.total_allocated_bytes()
    array = pa.array(np.arange(100_000)).take(pa.array([1] * 100_000))
    column = Batch.from_arrow(pa.table({"x": array}))["x"]
    del array
    gc.collect()
    assert pa.total_allocated_bytes() >= before + 700_000
    assert column.sum() == 100_000
    del column
    gc.collect()
    assert pa.total_allocated_bytes() <= before


# polars ---------------------------------------------------------------------------------------------------


def test_polars_makes_a_frame_of_the_columns() -> None:
    frame = pl.DataFrame(Batch(flat_kinds()))
    assert frame.schema["int"] == pl.Int64
    assert frame.schema["rows"] == pl.List(pl.Int64)
    assert frame["rows"].to_list() == [None, [], [0], [1, 2]]
    assert frame["bytes"].to_list() == flat_kinds()["bytes"].to_list()
    assert frame.filter(pl.col("int") < 0)["small"].to_list() == [1, 2]


def test_polars_strings_with_nulls_are_rows_of_no_or_one() -> None:
    frame = pl.DataFrame({"x": ["short", None, "longer than twelve bytes", ""], "n": [1, None, 2, 3]})
    found = Batch.from_arrow(frame)
    assert found["x"].to_list() == [[b"short"], [], [b"longer than twelve bytes"], [b""]]
    assert found["n"].to_list() == [[1], [], [2], [3]]


def test_polars_categories_are_strings() -> None:
    frame = pl.DataFrame({"x": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
    assert Batch.from_arrow(frame)["x"].to_list() == [b"a", b"b", b"a"]


# pandas ---------------------------------------------------------------------------------------------------


def test_pandas_makes_a_frame_of_the_columns() -> None:
    frame = pd.DataFrame.from_arrow(Batch(flat_kinds()))
    assert frame["int"].tolist() == flat_kinds()["int"].tolist()
    assert frame["bytes"].tolist() == flat_kinds()["bytes"].to_list()
    assert frame["rows"][0] is None
    assert frame["rows"][1].tolist() == []
    assert frame["rows"][3].tolist() == [1, 2]


def test_pandas_gives_back_what_it_keeps() -> None:
    batch = Batch(flat_kinds())
    assert_same_batch(Batch.from_arrow(pd.DataFrame.from_arrow(batch)), batch)


def test_what_pandas_calls_its_rows_is_a_column_only_if_it_has_a_name() -> None:
    frame = pd.DataFrame({"a": range(5)})
    for some in (frame, frame[frame.a != 3], frame.sample(frac=1, random_state=1)):
        assert list(Batch.from_arrow(some)) == ["a"]
        assert Batch.from_arrow(some)["a"].tolist() == some["a"].tolist()
    assert sorted(Batch.from_arrow(frame.assign(b=1).set_index("b"))) == ["a", "b"]


def test_pandas_has_null_for_nan() -> None:
    found = Batch.from_arrow(pd.DataFrame({"x": [1.0, np.nan]}))["x"]
    assert found.to_list() == [[1.0], []]


# DuckDB ---------------------------------------------------------------------------------------------------


def test_duckdb_asks_a_batch_by_its_name() -> None:
    batch = Batch({name: column for name, column in every_kind().items() if name != "half"})
    found = duckdb.sql('select count(*), sum(small), count("rows"), max(len("rows")) from batch')
    assert found.fetchall() == [(4, 261, 3, 2)]
    assert duckdb.sql("select tensor[6] from batch").fetchall() == [(5,), (11,), (17,), (23,)]
    assert duckdb.sql('select small from batch where "rows" is null').fetchall() == [(1,)]
    assert "half" not in batch  # DuckDB has no such numbers


def test_duckdb_gives_back_exact_columns() -> None:
    batch = Batch({**flat_kinds(), "float": every_kind()["float"]})
    assert_same_batch(Batch.from_arrow(duckdb.sql("select * from batch")), batch)


def test_duckdb_takes_many_rows_in_many_pieces() -> None:
    numbers = Batch({"x": np.arange(300_000), "name": strings(*(b"%d" % i for i in range(300_000)))})
    back = Batch.from_arrow(duckdb.sql("select * from numbers order by x"))
    assert_same_batch(back, numbers)


def test_text_and_objects_go_to_arrow_as_what_they_are() -> None:
    day = dt.date(1969, 1, 2)
    objects: dict[str, list[Any]] = {
        "text": [np.array(["é", "", "b"]), ["é", "", "b"]],
        "rows of text": [Ragged(np.array(["a", "b"]), np.array([0, 1, 1, 2])), [["a"], [], ["b"]]],
        "texts or none": [np.array(["a", None, "b"], object), ["a", None, "b"]],
        "bytes or none": [np.array([b"a", None, bytearray(b"b")], object), [b"a", None, b"b"]],
        "numbers or none": [np.array([1, None, 2], object), [1, None, 2]],
        "nothing": [np.array([None] * 3), [None] * 3],
        "days": [np.array([day, None, day]), [day, None, day]],
    }
    table = pa.table(Batch({name: column for name, (column, _) in objects.items()}))
    assert table.to_pydict() == {name: expected for name, (_, expected) in objects.items()}
    assert [str(kind) for kind in table.schema.types[:4]] == [
        "string",
        "list<item: string>",
        "string",
        "binary",
    ]


def test_a_column_of_paths_is_no_table(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", {"x": range(3)})
    paths = [str(tmp_path / "a")]
    for column in (pd.Series(paths), pl.Series(paths)):
        assert len(list(tfreel.read(column))) == 3
    for table in (pd.DataFrame({"x": paths}), pl.DataFrame({"x": paths}), pa.table({"x": paths})):
        with pytest.raises(TypeError, match="expected paths, not a"):
            tfreel.read(table)


def test_batches_in_which_a_column_has_nothing_are_of_the_type_of_the_others(tmp_path: Path) -> None:
    tfreel.save(tmp_path / "a", {"n": range(3000)})
    values = {
        "number": 7,
        "text": "é",
        "bytes": b"\xff",
        "flag": True,
        "day": dt.date(2020, 1, 1),
        "list": [1, 2, 3],
        "texts": ["a", "b"],
        "tensor": np.ones((2, 2)),
    }

    def made(row: Any, first: int) -> Any:
        gone = first <= row["n"] < first + 2000
        return {"n": row["n"], **{name: None if gone else value for name, value in values.items()}}

    data = tfreel.Dataset(tmp_path / "a").map(lambda row: made(row, 1000))
    table = pa.table(data)
    table.validate(full=True)
    names = [name for name in values if name != "tensor"]
    assert {table[name].null_count for name in values} == {2000}
    assert {pl.DataFrame(data)[name].null_count() for name in names} == {2000}
    assert table.slice(999, 2).select(["number", "text", "day", "list", "texts"]).to_pylist() == [
        {"number": 7, "text": "é", "day": dt.date(2020, 1, 1), "list": [1, 2, 3], "texts": ["a", "b"]},
        dict.fromkeys(["number", "text", "day", "list", "texts"]),
    ]
    tfreel.unpack(data, tmp_path / "a.parquet")
    kept = pa.parquet.read_table(tmp_path / "a.parquet")
    assert {kept[name].null_count for name in values} == {2000}
    late = tfreel.Dataset(tmp_path / "a").map(lambda row: made(row, 0))
    with pytest.raises(tfreel.FeatureError, match="'text' is float in the first records, but not in all"):
        tfreel.unpack(late, tmp_path / "late.parquet", columns=["n", "text"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: pa.table({"a": [[9], [8]], "x": [[1], [2, None, 3]]}),
        lambda: pa.table({"a": [[9], [8]], "x": [["a"], ["b", None]]}),
        lambda: pa.table({"a": [[9], [8]], "x": [[[1]], [[2], None]]}),
        lambda: pl.DataFrame({"a": [[9], [8]], "x": [[1.0], [2.0, None]]}),
        lambda: pd.DataFrame({"a": [9, 8], "x": [np.float32([1]), np.float32([2, np.nan, 3])]}),
    ],
)
def test_null_among_the_values_of_a_row_is_refused_and_moves_nothing_up(make: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="column 'x' holds null among the values of row 1"):
        tfreel.save(tmp_path / "a.tfrecord", make())
    assert list(tmp_path.iterdir()) == []
    tfreel.save(tmp_path / "a.tfrecord", pa.table(make())[:1] if isinstance(make(), pa.Table) else make()[:1])


def test_python_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="column 'x': it holds Python objects"):
        tfreel.save(tmp_path / "a.tfrecord", pl.DataFrame({"x": pl.Series([object()])}))
