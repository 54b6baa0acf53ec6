"""Batches of tfreel in, batches of exactly the types that Spark expects out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as everybody calls it

from tfreel.columns.batch import Batch, Column
from tfreel.columns.plan import mismatch
from tfreel.columns.ragged import Ragged
from tfreel.columns.strings import BytesColumn

_TYPES: dict[type[Any], pa.DataType] = {
    T.BooleanType: pa.bool_(),
    T.ByteType: pa.int8(),
    T.ShortType: pa.int16(),
    T.IntegerType: pa.int32(),
    T.LongType: pa.int64(),
    T.FloatType: pa.float32(),
    T.DoubleType: pa.float64(),
    T.StringType: pa.utf8(),
    T.BinaryType: pa.binary(),
}


def arrow_schema(schema: Any) -> pa.Schema:
    """The Arrow types of a schema of Spark, which compares them to the last bit."""
    return pa.schema([pa.field(f.name, _type(f.dataType), f.nullable) for f in schema.fields])


def _type(of: Any) -> pa.DataType:
    if isinstance(of, T.ArrayType):
        return pa.list_(pa.field("element", _type(of.elementType), of.containsNull))
    return _TYPES[type(of)]


def spark_batch(batch: Batch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the schema, as it has them.

    Raises:
        FeatureMismatchError: A value does not fit its type; the record is that of some row, not of this one.
    """
    flat = Batch({name: _flat(column) for name, column in batch.items()}, batch.num_rows)
    found = pa.record_batch(flat)
    arrays = [_column(found.column(field.name), field) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _flat(column: Column) -> Column:
    """The column with its tensors as lists: Spark knows no shapes."""
    if isinstance(column, (np.ndarray, BytesColumn)) and len(column.shape) > 1:
        offsets = np.arange(len(column) + 1, dtype=np.int64) * math.prod(column.shape[1:])
        if isinstance(column, BytesColumn):
            return Ragged(BytesColumn(column.data, column.offsets), offsets)
        return Ragged(column.reshape(-1), offsets)
    return column


def _column(column: Any, field: pa.Field) -> Any:
    if pa.types.is_list(column.type) and not pa.types.is_list(field.type):
        column = _singles(column, field)
    if column.null_count and not field.nullable:
        raise mismatch(field.name, 0, "a value, for its column is not null", "none")
    _refuse_booleans(column, field)
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise mismatch(field.name, 0, f"what fits {field.type}", str(error)) from None


def _singles(column: Any, field: pa.Field) -> Any:
    """Rows of no or one value as values; rows of none are null."""
    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    if len(lengths) and lengths.max() > 1:
        raise mismatch(field.name, 0, "one value", f"{lengths.max()}; array<…> in the schema takes them")
    values = column.flatten()
    if len(values) == len(column):
        return values
    places = np.cumsum(lengths) - 1
    return values.take(pa.array(places, pa.int64(), mask=lengths == 0))


def _refuse_booleans(column: Any, field: pa.Field) -> None:
    """Integers are booleans if they are 0 or 1: to take others for true would lose them."""
    wanted, values = field.type, column
    while pa.types.is_list(wanted):
        wanted, values = wanted.value_type, values.flatten()
    if not pa.types.is_boolean(wanted) or pa.types.is_boolean(values.type):
        return
    ends = pc.min_max(values).as_py()
    wrong = next((end for end in (ends["min"], ends["max"]) if end not in (None, 0, 1)), None)
    if wrong is not None:
        raise mismatch(field.name, 0, "0 or 1, for its column is boolean", str(wrong))
