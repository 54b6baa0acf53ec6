"""TFRecords in Spark 4: ``spark.read.format("tfrecord")`` and ``df.write.format("tfrecord")``.

Spark finds the format by itself, through the module ``pyspark_tfreel``. Everything goes through Arrow
batches, to which the core parses records, and from which it encodes them.
"""

from __future__ import annotations

from tfreel.adapters.needs import needs

try:
    import pyarrow  # noqa: F401, ICN001 - Spark's data sources speak Arrow
    from pyspark.sql.datasource import Filter  # noqa: F401 - which Spark 4.1 brought
except ImportError as error:
    raise needs("PySpark 4.1 or newer, and pyarrow", "spark") from error

from tfreel.adapters.spark.source import TFRecordSource

__all__ = ["TFRecordSource"]
