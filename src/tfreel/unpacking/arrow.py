"""Columns in, Parquet or Arrow out, batch by batch and with one schema for all.

Text is `string`, other bytes are `binary`. A feature of one value is that value, with null where a record
lacks it; any other is a list, null where it is absent and empty where it is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfreel.columns.batch import Batch
from tfreel.columns.batch import Column as Values
from tfreel.columns.flat import flat_values
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import as_rows
from tfreel.errors import FeatureError
from tfreel.unpacking.schema import Column
from tfreel.unpacking.targets import Sink, TargetFile, Wishes

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class ArrowFile(TargetFile):
    """A file of Parquet, or of Arrow's own format."""

    def __init__(self, wishes: Wishes, columns: Sequence[Column], kind: str) -> None:
        self._pa = _pyarrow()
        super().__init__(wishes, columns)
        self._columns = columns
        self._kind = kind
        self._writer: Any = None
        self._schema: Any = None
        self._waiting: list[Any] = []
        self._waiting_bytes = 0

    def write(self, batch: Batch) -> None:
        """Adds records; they are written when there are enough for a group of rows."""
        table = self._table(batch)
        self._waiting.append(table)
        self._waiting_bytes += table.nbytes
        if self._waiting_bytes >= _GROUP_BYTES or sum(map(len, self._waiting)) >= _GROUP_ROWS:
            self._flush()

    def publish(self) -> None:
        """Writes the rest, and makes the file appear."""
        if self._schema is None:
            self._start(self._pa.table({}).schema)
        self._flush()
        self._writer.close()
        super().publish()

    def abort(self) -> None:
        """Removes what was written."""
        self._writer = None
        super().abort()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(self._pa.concat_tables(self._waiting))
            self._waiting, self._waiting_bytes = [], 0

    def _table(self, batch: Batch) -> Any:
        pa = self._pa
        arrays = {column.name: self._array(column, batch[column.name]) for column in self._columns}
        if self._schema is None:
            table = pa.table(arrays)
            self._start(table.schema)
            return table
        return pa.table({field.name: self._fitting(field, arrays[field.name]) for field in self._schema})

    def _fitting(self, field: Any, array: Any) -> Any:
        """The array with the type that the schema says; it holds for all batches."""
        pa = self._pa
        if array.null_count == len(array):  # no value tells what it would be
            return pa.nulls(len(array), field.type)
        try:
            return array.cast(field.type)  # a batch of more than 2 GiB has wider offsets than others
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise FeatureError(
                f"feature {field.name!r} is {field.type} in the first records, but not in all of them"
            ) from None

    def _array(self, column: Column, values: Values) -> Any:
        pa = self._pa
        rows = as_rows(values)
        array = pa.table(Batch({"": rows}))[""].combine_chunks()
        if isinstance(rows, Ragged) and column.single:
            flat = flat_values(rows)
            picks = pa.array(flat.offsets[:-1], mask=np.diff(flat.offsets) == 0)
            array = array.flatten().take(picks)
        return self._text(column, array) if column.is_text and column.is_bytes else array

    def _text(self, column: Column, array: Any) -> Any:
        pa = self._pa
        try:
            return array.cast(_as_string(pa, array.type))
        except pa.ArrowInvalid:
            raise FeatureError(
                f"feature {column.name!r} is text in the first records, but not in all of them"
            ) from None

    def _start(self, schema: Any) -> None:
        sink = Sink(self.file)
        self._schema = schema
        if self._kind == "parquet":
            import pyarrow.parquet as pq

            self._writer = pq.ParquetWriter(sink, schema, compression="zstd")
        else:
            compression = "lz4" if self._kind == "feather" else None
            options = self._pa.ipc.IpcWriteOptions(compression=compression)
            self._writer = self._pa.ipc.new_file(sink, schema, options=options)


def _as_string(pa: Any, kind: Any) -> Any:
    """The type with text in place of bytes, in lists as well."""
    if pa.types.is_list(kind):
        return pa.list_(_as_string(pa, kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_as_string(pa, kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_as_string(pa, kind.value_type), kind.list_size)
    return pa.large_string() if pa.types.is_large_binary(kind) else pa.string()


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise ImportError("Parquet and Arrow files need pyarrow: pip install 'tfreel[arrow]'") from None
    return pa
