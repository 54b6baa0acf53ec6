"""Writing: rows of Spark in, as Arrow batches; a file for each task out, which the driver commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from tfreel.adapters.spark import versions
from tfreel.adapters.spark.columns import Column, columns_of, record_type_of
from tfreel.adapters.spark.options import RecordType, WritingOptions
from tfreel.commits import Part, begin_job
from tfreel.compression import Codec
from tfreel.examples.encode import encode_sequence
from tfreel.features.kinds import DType
from tfreel.records.write import Writer

# Of arrays: what is too large for a float32 must be seen before it is rounded.
_DTYPES: dict[DType, Any] = {"int64": np.int64, "float32": np.float64, "bytes": np.bytes_}
_SUFFIXES: dict[Codec, str] = {"none": ".tfrecord", "gzip": ".tfrecord.gz", "zlib": ".tfrecord.zlib"}


@dataclass
class Written(WriterCommitMessage):
    """What a task tells the driver: what it wrote, if it had any rows."""

    part: Part | None


class RecordWriter(DataSourceArrowWriter):
    """Writes a frame as a folder of record files. It is made on the driver, and sent to all tasks.

    Args:
        schema: Spark's schema of the rows.
        options: What the writer was told.
        overwrite: Replace what is in the folder.
    """

    def __init__(self, schema: Any, options: WritingOptions, *, overwrite: bool) -> None:
        columns = columns_of(schema)
        self._record_type: RecordType = record_type_of(columns, options.record_type)
        self._columns = columns
        self._options = options
        self._version = versions.here()
        self._job = begin_job(options.path, suffix=_SUFFIXES[options.codec], replace=overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Writes the rows of one partition; called in a task, perhaps several times for the same one."""
        versions.check(self._version)
        task = TaskContext.get()
        if task is None:
            raise RuntimeError("rows are written by the tasks of Spark, and this is none")
        number = task.partitionId()
        batches = (batch for batch in iterator if batch.num_rows)
        first = next(batches, None)
        if first is None:
            return Written(None)
        path = self._job.file(number, task.taskAttemptId())
        put = self._put()
        with Writer(path, mode="w", compression=self._options.codec, level=self._options.level) as out:
            put(out, first)
            for batch in batches:
                put(out, batch)
        return Written(self._job.part(number, out))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Makes what the tasks wrote what the folder holds; called on the driver when all are done."""
        written = (message.part for message in messages if isinstance(message, Written))
        tool = {"tool": f"tfreel {self._version}", "source": {"kind": "spark", "path": None}}
        self._job.commit((part for part in written if part is not None), tool)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Removes what the tasks wrote; called on the driver when one has failed for good."""
        del messages  # whatever the tasks wrote lies in one place
        self._job.abort()

    def _put(self) -> Callable[[Writer, pa.RecordBatch], None]:
        if self._record_type == "ByteArray":
            return _put_bytes
        return _put_examples if self._record_type == "Example" else self._put_sequences

    def _put_sequences(self, out: Writer, batch: pa.RecordBatch) -> None:
        """Row by row: the core writes columns of Examples only."""
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            _refuse_nulls(name, column)
        columns = {column.name: column for column in self._columns}
        for row in batch.to_pylist():
            given = {name: value for name, value in row.items() if value is not None}
            context = {n: _typed(v, columns[n]) for n, v in given.items() if columns[n].depth < 2}
            lists = {
                n: [_typed(step, columns[n]) for step in v] for n, v in given.items() if columns[n].depth == 2
            }
            out.write(encode_sequence(context, lists))


def _typed(value: Any, column: Column) -> Any:
    """A value that has a kind also where an array is empty."""
    if not isinstance(value, list) or (value and column.dtype == "bytes"):
        return value
    return np.array(value, _DTYPES[column.dtype])


def _put_examples(out: Writer, batch: pa.RecordBatch) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        _refuse_nulls(name, column)
    out.write_batch(batch)


def _put_bytes(out: Writer, batch: pa.RecordBatch) -> None:
    (column,) = batch.columns
    if column.null_count:
        raise ValueError(f"column {batch.schema.names[0]!r} holds null, which is no record")
    out.write_many(value.encode() if isinstance(value, str) else value for value in column.to_pylist())


def _refuse_nulls(name: str, column: Any) -> None:
    """A null instead of an array is an absent feature; inside of one it would vanish without a trace."""
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.flatten()
        if column.null_count:
            raise ValueError(
                f"column {name!r} holds an array with null in it, which has no place in a record:"
                f" take it out with array_compact({name})"
            )
