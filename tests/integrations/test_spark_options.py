"""What Spark says to a data source, without a session: options, and filters that mean the same here."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import datasource as spark
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

import tfreel
from tfreel.adapters.spark.columns import columns_of
from tfreel.adapters.spark.filters import condition_for
from tfreel.adapters.spark.options import reading_options, writing_options

COLUMNS = columns_of(
    T.StructType(
        [
            T.StructField("i", T.LongType()),
            T.StructField("f", T.FloatType()),
            T.StructField("d", T.DoubleType()),
            T.StructField("s", T.StringType()),
            T.StructField("b", T.BooleanType()),
            T.StructField("a", T.ArrayType(T.LongType())),
            T.StructField("image/format", T.StringType()),
        ]
    )
)


def test_names_of_options_have_no_case_and_values_are_typed() -> None:
    options = reading_options(
        {
            "PATHS": '["/a", "file:///b"]',
            "recordtype": "sequenceexample",
            "Columns": '["a, b", "c"]',
            "verify": "FALSE",
            "oncorrupt": "skip",
            "RowsPerPartition": "7",
        }
    )
    assert options.paths == ("/a", "/b")
    assert options.record_type == "SequenceExample"
    assert options.columns == ("a, b", "c")
    assert (options.verify, options.on_corrupt, options.rows_per_partition) == (False, "skip", 7)
    assert reading_options({"path": "/a", "columns": "a, b"}).columns == ("a", "b")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "a", "codec": "gzip"}, "the option 'codec' is for writing only"),
        ({"path": "a", "colums": "x"}, "no option is called 'colums'; .* did you mean 'columns'"),
        ({"path": "a", "filter": "x"}, "did you mean 'where'"),
        ({"path": "a", "verify": "maybe"}, "option verify: expected true or false, not 'maybe'"),
        ({"path": "a", "rowsPerPartition": "0"}, "option rowsPerPartition: expected a number from 1 on"),
        ({"path": "a", "onCorrupt": "ignore"}, "expected raise, tail or skip"),
        ({"path": "a", "recordType": "Row"}, "expected Example, SequenceExample, ByteArray, not 'Row'"),
        ({"path": "a", "columns": "x,x"}, "expected names, each once"),
        ({"path": "a", "features": "[1]"}, "option features: expected a JSON object of features"),
        ({"path": "a", "features": '{"x": {"type": "Odd"}}'}, "no feature is of the type 'Odd'"),
        ({"path": "a", "features": "{"}, "option features: "),
        ({}, "say what to read or write"),
    ],
)
def test_bad_options_of_a_reader_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        reading_options(options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "a", "where": "x"}, "the option 'where' is for reading only"),
        ({"path": "a", "codec": "snappy"}, "option codec: unknown compression 'snappy'"),
        ({"path": "a", "level": "10"}, "option level: expected a number from 0 to 9"),
        ({"paths": '["a", "b"]'}, "one folder can be written at a time, not 2"),
        ({"path": "s3://bucket/a"}, "which object stores cannot do"),
    ],
)
def test_bad_options_of_a_writer_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        writing_options(options)


def test_codecs_have_the_names_of_hadoop_too() -> None:
    named = writing_options({"path": "a", "codec": "org.apache.hadoop.io.compress.GzipCodec"})
    assert named.codec == "gzip"


@pytest.mark.parametrize(
    ("pushed", "condition"),
    [
        (spark.EqualTo(("i",), 3), "`i` == 3"),
        (spark.In(("i",), (1, -2)), "`i` in [1, -2]"),
        (spark.LessThanOrEqual(("f",), 0.5), "`f` <= 0.5"),
        (spark.EqualTo(("s",), 'a"\\\n'), '`s` == "a\\"\\\\\n"'),
        (spark.GreaterThan(("image/format",), "jpeg"), '`image/format` > "jpeg"'),
        (spark.IsNotNull(("s",)), '`s` >= ""'),
        (spark.IsNull(("i",)), f"not `i` >= {-(1 << 63)}"),
        (spark.GreaterThan(("f",), 0.5), None),  # NaN
        (spark.IsNotNull(("f",)), None),
        (spark.LessThan(("d",), 0.1), None),  # between two float32
        (spark.LessThan(("f",), float("nan")), None),
        (spark.EqualTo(("b",), True), None),
        (spark.EqualTo(("a",), 3), None),
        (spark.EqualTo(("other",), 3), None),
        (spark.EqualTo(("i", "j"), 3), None),
        (spark.Not(spark.EqualTo(("i",), 3)), None),
        (spark.StringStartsWith(("s",), "a"), None),
    ],
)
def test_filters_become_conditions_where_both_mean_the_same(pushed: Any, condition: str | None) -> None:
    assert condition_for(pushed, COLUMNS) == condition


def test_conditions_tell_null_from_values_also_where_lists_are_empty() -> None:
    import numpy as np

    rows = [{"i": 1, "s": "a"}, {"i": np.array([], np.int64), "s": 'a"\\\n'}, {"s": ""}, {"i": -(1 << 63)}]
    tfreel.save("rows.tfrecord", rows)
    features = {"i": tfreel.RaggedFeature("int64"), "s": tfreel.RaggedFeature("bytes")}
    scan = tfreel.scan("rows.tfrecord", features=features)

    def count(pushed: Any) -> int:
        return scan.where(condition_for(pushed, COLUMNS) or "").count()

    assert count(spark.IsNull(("i",))) == 2
    assert count(spark.IsNotNull(("i",))) == 2
    assert count(spark.IsNotNull(("s",))) == 3
    assert count(spark.EqualTo(("s",), 'a"\\\n')) == 1
