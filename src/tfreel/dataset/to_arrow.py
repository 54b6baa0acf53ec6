"""A dataset as columns, batch by batch: for files of tables, and for Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tfreel.columns.arrow import Field
from tfreel.columns.arrow_stream import field_of, stream_capsule
from tfreel.columns.batch import Batch, Column, SequenceBatch
from tfreel.columns.objects import uniform
from tfreel.columns.ragged import Ragged
from tfreel.columns.sparse import Sparse, as_rows
from tfreel.columns.strings import BytesColumn
from tfreel.dataset.batch import Collate
from tfreel.dataset.collate import gather, rows_of
from tfreel.dataset.rows import BatchRows

if TYPE_CHECKING:
    from tfreel.dataset.dataset import Dataset

_ROWS_AT_ONCE = 1024
_COLUMNS = (np.ndarray, BytesColumn, Ragged, Sparse)


def portions_of(dataset: Dataset) -> Iterator[Any]:
    """The batches of a dataset; of one of single elements, many at a time, none filled up for others."""
    node = dataset._node
    if node.batched:
        return iter(dataset)
    rows = node.source_rows
    if rows is None:  # a stream, too, fills up rows in batches of its own
        return iter(dataset._of(Collate(node, _ROWS_AT_ONCE, drop_remainder=False, pad=None)))
    # Not by `batch`, which would share out the rows of a rank anew.
    single = replace(rows, elements=rows.elements.one_by_one())
    return iter(dataset._of(BatchRows(single, _ROWS_AT_ONCE, drop_remainder=False, pad=None)))


def columns_of(part: Any) -> Batch:
    """The columns of a batch, whatever was made of it.

    Raises:
        TypeError: It has no features by name.
    """
    if isinstance(part, Batch):
        return part
    if isinstance(part, SequenceBatch):
        return part.merged()
    if isinstance(part, dict) and all(isinstance(column, _COLUMNS) for column in part.values()):
        return Batch(part)
    if isinstance(part, dict):
        rows = rows_of(part)
        gathered = gather(rows) if rows else Batch({}, 0)
        if isinstance(gathered, Batch):
            return gathered
        name = next(name for name, column in gathered.items() if isinstance(column, (Batch, dict, tuple)))
        raise TypeError(f"column {name!r} holds rows or tuples: give each of their values a name, or a list")
    raise TypeError(f"columns need elements that are features by name, not {type(part).__name__}")


def as_features(batch: Batch) -> Batch:
    """The batch with text as bytes, and rows without a value where functions gave None.

    Raises:
        TypeError: A column holds what is no value of a feature.
    """
    columns: dict[str, Column] = {}
    for name, column in batch.items():
        try:
            columns[name] = uniform(as_rows(column))
        except TypeError as error:
            raise TypeError(f"column {name!r} cannot be written: {error}") from None
    return Batch(columns, batch.num_rows)


def batches_of(dataset: Dataset) -> Iterator[Batch]:
    """The elements as columns.

    Raises:
        TypeError: They are not features by name.
    """
    return map(columns_of, portions_of(dataset))


def field_of_elements(dataset: Dataset) -> Field:
    """What Arrow has to know of the columns: the type of the first batch, which all others must have."""
    first = next(batches_of(dataset), None)
    return field_of(Batch({}, 0) if first is None else first)


def capsule_of_elements(dataset: Dataset) -> object:
    """All elements as an Arrow stream. They are made as the consumer asks for them."""
    batches = batches_of(dataset)
    first = next(batches, None)
    if first is None:
        return stream_capsule(field_of(Batch({}, 0)), ())
    return stream_capsule(field_of(first), chain((first,), batches))
