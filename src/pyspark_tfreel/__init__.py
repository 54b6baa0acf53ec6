"""How Spark finds the format ``tfrecord``: it looks for modules of such names, and imports all of them.

So nothing is imported here that is not needed to say the name.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.datasource import DataSource

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """The format ``tfrecord``, which is `tfreel.adapters.spark.TFRecordSource`, imported when it is used."""

    @classmethod
    def name(cls) -> str:
        return "tfrecord"

    def schema(self) -> Any:
        return self._source().schema()

    def reader(self, schema: Any) -> Any:
        return self._source().reader(schema)

    def writer(self, schema: Any, overwrite: bool) -> Any:  # noqa: FBT001 - Spark's signature
        return self._source().writer(schema, overwrite)

    def _source(self) -> Any:
        from tfreel.adapters.spark import TFRecordSource

        return TFRecordSource(self.options)
