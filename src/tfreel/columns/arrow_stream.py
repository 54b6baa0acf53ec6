"""Batch after batch as an Arrow stream: what other libraries pull from, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tfreel import _core
from tfreel.columns.arrow import Data, Field
from tfreel.columns.arrow_export import export_data, export_field
from tfreel.columns.batch import Batch


def field_of(batch: Batch, like: Field | None = None) -> Field:
    """The type of a batch, in Arrow's words; that of columns of nothing but None as in `like`."""
    return export_field(dict(batch), like)


def stream_capsule(field: Field, batches: Iterable[Batch]) -> object:
    """A capsule with a stream of batches, which are taken from the iterable as the consumer asks for them.

    Offsets have the width that `field` has: a batch that is too large for them is given in parts.
    """
    return _core.arrow_stream(field, _data_of(field, batches))


def arrow_reader(stream: object) -> Any:
    """A `pyarrow.RecordBatchReader` of an object with `__arrow_c_stream__`.

    Raises:
        ImportError: There is no pyarrow.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError("to_arrow_reader needs pyarrow: pip install 'tfreel[arrow]'") from error
    return pa.RecordBatchReader.from_stream(stream)


def _data_of(field: Field, batches: Iterable[Batch]) -> Iterator[Data]:
    for batch in batches:
        for part in _fitting(field, batch):
            yield export_data(dict(part), field, part.num_rows)


def _fitting(field: Field, batch: Batch) -> Iterator[Batch]:
    """The batch in parts that are of the type of the stream.

    Raises:
        TypeError: It is of another type, and not because of its size.
    """
    found = field_of(batch, field)
    if found == field:
        yield batch
        return
    if batch.num_rows > 1:
        middle = batch.num_rows // 2
        yield from _fitting(field, batch.slice(0, middle))
        yield from _fitting(field, batch.slice(middle, batch.num_rows))
        return
    expected = {child.name: child for child in field.children}
    differ = [child.name for child in found.children if expected.get(child.name) != child]
    raise TypeError(
        f"column {(differ or list(expected))[0]!r} is of another type than in the batches before; an Arrow"
        " stream has one type from its beginning to its end"
    )
