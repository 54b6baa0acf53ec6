"""Tables of pyarrow, pandas and polars, and the files of Arrow and Parquet, as sources."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tfreel
from tfreel.packing.tables import arrow_files, arrow_table

from streams import made_of

TABLE = pa.table(
    {
        "i": pa.array([1, None, 3], pa.int32()),
        "x": pa.array([0.5, 1.5, 2.5], pa.float64()),
        "s": ["a", "", None],
        "l": [[1, 2], [], None],
        "v": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), 2)),
        "t": pa.array([dt.datetime(2020, 1, 1), None, dt.datetime(2021, 1, 1)]),
        "c": pa.array(["u", "v", "u"]).dictionary_encode(),
    }
)


def opened(source: Any, **options: Any) -> arrow_table.ArrowTable:
    return arrow_table.opened(source, arrow_table.Options(**options))


def opened_file(path: Path, **options: Any) -> arrow_table.ArrowTable:
    assert arrow_files.recognised(str(path))
    return arrow_files.opened(str(path), arrow_files.Options(**options))


def check(source: arrow_table.ArrowTable) -> None:
    made = made_of(source)
    rows = [tfreel.decode(record) for record in made.records]
    assert sorted(rows[1]) == ["c", "l", "s", "v", "x"]
    assert rows[0]["s"] == [b"a"]
    assert rows[1]["s"] == [b""]
    assert rows[0]["t"].tolist() == [1577836800 * 10**9]
    assert "s" not in rows[2]
    assert source.features == {
        "i": tfreel.RaggedFeature("int64"),
        "x": tfreel.FixedLenFeature([], "float32"),
        "s": tfreel.RaggedFeature("bytes"),
        "l": tfreel.RaggedFeature("int64"),
        "v": tfreel.FixedLenFeature([2], "float32"),
        "t": tfreel.RaggedFeature("int64"),
        "c": tfreel.FixedLenFeature([], "bytes"),
    }
    tfreel.parse(made.records, source.features)


def test_a_table_of_pyarrow() -> None:
    check(opened(TABLE))
    check(opened(pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=1))))
    check(opened(TABLE.to_batches()[0]))


def test_a_frame_of_polars() -> None:
    check(opened(pl.from_arrow(TABLE)))


def test_a_frame_of_pandas() -> None:
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", None], "f": [0.5, np.nan]})
    source = opened(frame)
    rows = [tfreel.decode(record) for record in made_of(source).records]
    assert rows[0]["s"] == [b"x"]
    assert "s" not in rows[1]
    assert source.features is not None
    assert source.features["a"] == tfreel.FixedLenFeature([], "int64")


@pytest.mark.parametrize("compression", ["none", "zstd", "snappy"])
def test_a_parquet_file(tmp_path: Path, compression: str) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", compression=compression, row_group_size=2)
    check(opened_file(tmp_path / "t.parquet"))


def test_feather_and_ipc_files(tmp_path: Path) -> None:
    pa.feather.write_feather(TABLE, str(tmp_path / "t.feather"), compression="zstd")
    check(opened_file(tmp_path / "t.feather"))
    with pa.OSFile(str(tmp_path / "t.arrows"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as out:
        out.write_table(TABLE, max_chunksize=1)
    check(opened_file(tmp_path / "t.arrows"))


def test_large_tables_come_in_pieces(tmp_path: Path) -> None:
    table = pa.table({"i": np.arange(1_000_000), "s": ["some text"] * 1_000_000})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (opened(table), opened_file(tmp_path / "t.parquet")):
        pieces = [work() for work in source.chunks()]
        assert len(pieces) > 5
        assert sum(len(piece.records) for piece in pieces) == 1_000_000


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    source = opened_file(tmp_path / "t.parquet", columns=["x", "i"])
    assert [sorted(tfreel.decode(record)) for record in made_of(source).records][1] == ["x"]
    with pytest.raises(ValueError, match="there is no column 'y'"):
        opened(TABLE, columns=["y"])


def test_labels_become_classes(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    for source in (opened(TABLE, label="c"), opened_file(tmp_path / "t.parquet", label="c")):
        made = made_of(source)
        assert source.classes == {0: "u", 1: "v"}
        assert tfreel.decode(made.records[1])["c"].tolist() == [1]
    numbers = opened(pa.table({"y": [5, 3, 5]}), label="y")
    assert numbers.classes == {3: "3", 5: "5"}


def test_text_labels_that_can_be_read_once_need_classes() -> None:
    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())

    with pytest.raises(ValueError, match="classes= names them"):
        opened(reader(), label="c")
    made = made_of(opened(reader(), label="c", classes=["v", "u"]))
    assert tfreel.decode(made.records[0])["c"].tolist() == [1]


def test_rows_without_a_label_are_rejected() -> None:
    made = made_of(opened(TABLE, label="s"))
    assert [(reject.name, reject.text) for reject in made.rejects] == [("row 2", "its label 's' is empty")]


def test_extension_types_are_refused(tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([b"0" * 16], pa.uuid())})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (opened, lambda table: opened_file(tmp_path / "t.parquet")):
        with pytest.raises(ValueError, match=r"column 'id' is of the extension type 'arrow\.uuid'"):
            source(table)


def test_structs_are_refused() -> None:
    with pytest.raises(TypeError, match="column 's' cannot come from Arrow: it is of the type struct"):
        made_of(opened(pa.table({"s": [{"a": 1}]})))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[:-20])
    with pytest.raises(ValueError, match=r"t\.parquet"):
        opened_file(tmp_path / "t.parquet")
    (tmp_path / "t.feather").write_bytes(b"ARROW1\0\0" + bytes(100))
    with pytest.raises(ValueError, match=r"t\.feather"):
        opened_file(tmp_path / "t.feather")


def test_files_that_a_column_names_are_embedded(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"hello")
    pq.write_table(pa.table({"path": ["a.txt", "b.txt"]}), tmp_path / "t.parquet")
    made = made_of(opened_file(tmp_path / "t.parquet", embed={"text": "path"}))
    assert tfreel.decode(made.records[0])["text"] == [b"hello"]
    assert made.rejects[0].text == "'b.txt': 'b.txt' is not there"


def test_a_frame_becomes_a_data_set(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": range(100), "y": ["a", "b"] * 50})
    report = tfreel.pack(
        frame, tmp_path / "out", label="y", split={"train": 0.9, "test": 0.1}, stratify="label"
    )
    assert report.written == 100
    assert report.splits["test"].classes == {"a": 5, "b": 5}
