"""What Spark says to a data source, without a session: options."""

from __future__ import annotations

import pytest

import tfreel
from tfreel.adapters.spark.options import reading_options, writing_options
from tfreel.adapters.spark.reading import found_schema


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
        ({"path": "a", "pushdown": "true"}, "no option is called 'pushdown'.* did you mean 'where'"),
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
    ],
)
def test_bad_options_of_a_writer_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        writing_options(options)


def test_a_url_keeps_its_password_to_itself() -> None:
    (path,) = reading_options({"path": "s3://key:secret@bucket/a"}).paths
    assert path == "s3://bucket/a"
    assert path.user == ("key", "secret")
    assert "secret" not in repr(writing_options({"path": "s3://key:secret@bucket/a"}))
    with pytest.raises(ValueError, match=r"^option paths: expected a JSON list of strings$"):
        reading_options({"paths": '"s3://key:secret@bucket/a"'})


def test_codecs_have_the_names_of_hadoop_too() -> None:
    named = writing_options({"path": "a", "codec": "org.apache.hadoop.io.compress.GzipCodec"})
    assert named.codec == "gzip"


def test_columns_that_spark_cannot_tell_apart_are_chosen_by_name() -> None:
    tfreel.save("a.tfrecord", {"a": [1], "A": [2], "b": [3]})
    with pytest.raises(ValueError, match="'A' is there twice, perhaps in another case"):
        found_schema(reading_options({"path": "a.tfrecord"}))
    with pytest.raises(ValueError, match="'a' is there twice"):
        found_schema(reading_options({"path": "a.tfrecord", "columns": "a, b, A"}))
    assert found_schema(reading_options({"path": "a.tfrecord", "columns": "b, A"})).names == ["b", "A"]
