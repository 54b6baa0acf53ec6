"""Scans in the hands of Polars, DuckDB, pandas and pyarrow: what they read, and what they leave out."""

from __future__ import annotations

import doctest
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import tfreel
from tfreel.adapters import polars as tfreel_polars
from tfreel.columns.batch import Batch
from tfreel.scans.question import Question

ROWS = 6000


@pytest.fixture
def path() -> str:
    numbers = np.arange(ROWS)
    columns = {
        "big": np.repeat(numbers, 8).reshape(-1, 8).astype(np.float32),
        "label": numbers % 10,
        "name": [f"no. {i}" for i in numbers],
        "score": np.where(numbers % 7 == 0, np.nan, numbers).astype(np.float32),
    }
    tfreel.save("a.tfrecord", columns, shards=2)
    return "a.tfrecord"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[str, ...], int]]:
    """The columns that were decoded, and of how many rows."""
    seen: list[tuple[tuple[str, ...], int]] = []
    parsed = Question._parsed

    def noted(self: Question, records: Any, names: Any, threads: Any) -> Batch:
        batch = parsed(self, records, names, threads)
        seen.append((tuple(names), batch.num_rows))
        return batch

    monkeypatch.setattr(Question, "_parsed", noted)
    return seen


def rows_of(decoded: list[tuple[tuple[str, ...], int]], name: str) -> int:
    return sum(rows for names, rows in decoded if name in names)


# Polars -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize(
    "query",
    [
        lambda frame: frame,
        lambda frame: frame.select("name"),
        lambda frame: frame.filter(pl.col("label") == 3),
        lambda frame: frame.filter(pl.col("label") == 3).select("name"),
        lambda frame: frame.filter(pl.col("score") > 5000),  # to Polars, NaN is greater than any number
        lambda frame: frame.filter(pl.col("score").is_nan() & (pl.col("name") != b"no. 7")),
        lambda frame: frame.filter(pl.col("big").arr.sum() > 40_000).select("label"),
        lambda frame: frame.filter(pl.col("label") > 100),
        lambda frame: frame.filter(pl.lit(value=True)),
        lambda frame: frame.head(7),
        lambda frame: frame.filter(pl.col("label") == 3).head(7),
        lambda frame: frame.head(17).filter(pl.col("label") == 3),
        lambda frame: frame.head(1500).filter(pl.col("label") == 3).select("name").head(140),
        lambda frame: frame.select(pl.len()),
        lambda frame: frame.group_by("label").agg(pl.len(), pl.col("score").max()).sort("label"),
        lambda frame: frame.with_row_index().filter(pl.col("label") == 3).select("index"),
        lambda frame: frame.join(frame.filter(pl.col("label") == 1), on="name").select(pl.len()),
        lambda frame: frame.tail(3),
    ],
)
def test_a_lazy_frame_gives_what_the_whole_frame_gives(
    query: Callable[[Any], Any], engine: Any, path: str
) -> None:
    lazy = tfreel_polars.scan(path)
    whole = lazy.collect().lazy()
    assert query(lazy).collect(engine=engine).equals(query(whole).collect())


def test_polars_types_are_plain_and_shapes_are_kept() -> None:
    tfreel.save("a.tfrecord", {"x": np.arange(24, dtype=np.float32).reshape(4, 6), "n": range(4)})
    features = {"x": tfreel.FixedLenFeature([2, 3], "float32"), "n": tfreel.RaggedFeature("int64")}
    frame = tfreel_polars.scan("a.tfrecord", features=features)
    assert frame.collect_schema() == {"x": pl.Array(pl.Float32, (2, 3)), "n": pl.List(pl.Int64)}
    assert frame.collect()["x"].to_numpy().tolist() == np.arange(24).reshape(4, 2, 3).tolist()
    assert frame.select(pl.col("x").arr.first().arr.first()).collect().to_series().to_list() == [0, 6, 12, 18]


def test_of_rejected_rows_only_the_columns_of_the_filter_are_decoded(path: str, decoded: list[Any]) -> None:
    frame = tfreel_polars.scan(path).filter(pl.col("label") == 3).select("big", "label")
    assert frame.collect().height == ROWS // 10
    assert rows_of(decoded, "label") == ROWS
    assert rows_of(decoded, "big") == ROWS // 10
    assert rows_of(decoded, "name") == 0


def test_head_decodes_no_more_rows_than_it_gives(path: str, decoded: list[Any]) -> None:
    assert tfreel_polars.scan(path).head(5).collect().height == 5
    assert rows_of(decoded, "label") <= 5 * 3  # what was read ahead


def test_to_count_rows_a_cheap_column_is_decoded(path: str, decoded: list[Any]) -> None:
    frame = tfreel_polars.scan(path)
    assert frame.collect_schema().names() == ["label", "score", "big", "name"]
    assert frame.select(pl.len()).collect().item() == ROWS
    assert rows_of(decoded, "big") == rows_of(decoded, "name") == 0
    asked = tfreel_polars.scan(path, columns=["name", "label"])
    assert asked.collect_schema().names() == ["name", "label"]


def test_a_scan_with_a_condition_becomes_a_frame_of_its_rows(path: str) -> None:
    scan = tfreel.scan(path, columns=["name"], where="label == 3")
    frame = tfreel_polars.scan(scan)
    assert frame.collect().height == ROWS // 10
    assert frame.filter(pl.col("name") == b"no. 13").collect().height == 1
    with pytest.raises(ValueError, match="has its options already"):
        tfreel_polars.scan(scan, columns=["label"])


def test_a_filter_is_asked_of_the_first_rows_of_a_scan(path: str) -> None:
    names = pl.col("name").is_in([b"no. 14", b"no. 44", b"no. 94"])  # all in the first file
    for first in (tfreel.scan(path).head(44), tfreel.scan(path, where="label == 4").head(5)):
        frame = tfreel_polars.scan(first)
        assert frame.filter(names).collect()["name"].to_list() == [b"no. 14", b"no. 44"]
        assert frame.head(3).filter(names).collect().height == (first.condition is not None)


def test_damage_reaches_the_caller_of_collect_with_its_place(path: str) -> None:
    file = tfreel.scan(path).files[1]
    with open(file, "r+b") as out:
        out.seek(os.path.getsize(file) // 2)
        out.write(b"\xff\xff\xff")
    with pytest.raises(Exception, match=rf"{file}: record \d+ at byte \d+: checksum mismatch"):
        tfreel_polars.scan(path).collect()
    with pytest.warns(tfreel.TfreelWarning, match="passed over: .*checksum mismatch"):
        assert tfreel_polars.scan(path, on_corrupt="skip").collect().height >= ROWS - 3


PROGRAM = """
import polars as pl
from tfreel.adapters import polars
frame = polars.scan("a.tfrecord").filter(pl.col("label") == 3)
print(frame.join(polars.scan("a.tfrecord"), on="name").collect().height)
"""


def test_a_polars_with_one_thread_does_not_wait_for_itself(path: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(done.stdout) == ROWS // 10


# DuckDB -----------------------------------------------------------------------------------------------------


def test_duckdb_queries_a_scan_in_scope_as_often_as_it_likes(path: str) -> None:
    scan = tfreel.scan(path)
    counts = duckdb.sql("select label, count(*) from scan group by 1 order by 1").fetchall()
    assert counts == [(i, ROWS // 10) for i in range(10)]
    joined = duckdb.sql("select count(*) from scan a join scan b using (name) where a.label = 3").fetchall()
    assert joined == [(ROWS // 10,)]
    assert len(scan.files) == 2  # it is used, whatever a linter thinks of strings


def test_duckdb_stops_reading_where_its_limit_is(path: str) -> None:
    scan = tfreel.scan(path, batch_rows=100, threads=1)
    file = scan.files[1]
    with open(file, "r+b") as out:
        out.truncate(os.path.getsize(file) // 2)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("photos", scan)
        assert connection.sql("select * from photos limit 3").fetchall()
        with pytest.raises(duckdb.Error, match=rf"TruncatedError: {file}: record \d+ at byte \d+"):
            connection.sql("select count(name) from photos").fetchall()


# pandas and pyarrow -----------------------------------------------------------------------------------------


def test_pandas_and_polars_and_pyarrow_take_a_scan_as_it_is(path: str) -> None:
    scan = tfreel.scan(path, where="label == 3")
    assert pd.DataFrame.from_arrow(scan)["label"].tolist() == [3] * (ROWS // 10)
    assert pl.DataFrame(scan)["label"].to_list() == [3] * (ROWS // 10)
    table = pa.table(scan)
    table.validate(full=True)
    assert table.schema == pa.schema(scan)
    assert table["label"].to_pylist() == [3] * (ROWS // 10)


def test_a_reader_of_pyarrow_takes_one_batch_at_a_time(path: str) -> None:
    reader = tfreel.scan(path, batch_rows=1000).to_arrow_reader()
    assert isinstance(reader, pa.RecordBatchReader)
    assert [batch.num_rows for batch in reader] == [1000] * 6
    with pyarrow.parquet.ParquetWriter("a.parquet", pa.schema(tfreel.scan(path))) as out:
        for batch in tfreel.scan(path).to_arrow_reader():
            out.write_batch(batch)
    assert pyarrow.parquet.read_table("a.parquet").num_rows == ROWS


def test_damage_reaches_pyarrow_in_words(path: str) -> None:
    file = tfreel.scan(path).files[0]
    with open(file, "r+b") as out:
        out.seek(os.path.getsize(file) // 2)
        out.write(b"\xff\xff\xff")
    with pytest.raises(pa.ArrowInvalid, match=rf"ChecksumError: {file}: record \d+ at byte \d+"):
        pa.table(tfreel.scan(path))
    os.remove(file)
    scan = tfreel.scan(tfreel.scan("a-00001-of-00002.tfrecord").files)
    os.rename("a-00001-of-00002.tfrecord", "b.tfrecord")
    with pytest.raises(OSError, match=r"a-00001-of-00002.tfrecord"):
        pa.table(scan)


def test_a_dataset_is_a_reader_of_pyarrow_in_its_order(path: str) -> None:
    ds = tfreel.Dataset(path).shuffle(seed=1)
    reader = ds.to_arrow_reader()
    assert [name for batch in reader for name in batch["name"].to_pylist()] == ds.load()["name"].to_list()
    assert pl.DataFrame(ds.batch(100))["label"].to_list() == ds.load()["label"].tolist()


def test_a_process_of_another_start_method_reads_a_pickled_part(path: str) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    parts = tfreel.scan(path).split(3, index="auto")
    assert pickle.loads(pickle.dumps(parts[0])).num_rows == parts[0].num_rows
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert sum(pool.map(tfreel.Scan.count, parts)) == ROWS


def test_the_examples_run() -> None:
    assert doctest.testmod(tfreel_polars, extraglobs={"tfreel": tfreel}).failed == 0
