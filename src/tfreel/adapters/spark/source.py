"""The data source itself: what Spark asks for a schema, a reader or a writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from tfreel.adapters.spark.options import reading_options, writing_options

if TYPE_CHECKING:
    from tfreel.adapters.spark.reading import RecordReader
    from tfreel.adapters.spark.writing import RecordWriter


class TFRecordSource(DataSource):
    """The format ``tfrecord``.

    Where Spark does not find it by itself, as in a notebook that installed tfreel after the session began,
    ``spark.dataSource.register(TFRecordSource)`` makes it known.
    """

    @classmethod
    def name(cls) -> str:
        return "tfrecord"

    def schema(self) -> Any:
        from tfreel.adapters.spark.reading import found_schema

        return found_schema(reading_options(self.options))

    def reader(self, schema: Any) -> RecordReader:
        from tfreel.adapters.spark.reading import RecordReader

        return RecordReader(schema, reading_options(self.options))

    def writer(self, schema: Any, overwrite: bool) -> RecordWriter:  # noqa: FBT001 - Spark's signature
        from tfreel.adapters.spark.writing import RecordWriter

        return RecordWriter(schema, writing_options(self.options), overwrite=overwrite)
