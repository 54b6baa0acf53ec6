"""What is given to a writer, as the bytes of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tfreel.columns.batch import Batch
from tfreel.examples.encode import encode


@runtime_checkable
class SupportsSerializeToString(Protocol):
    """Anything that turns itself into bytes as protobuf messages do."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - protobuf's name
        """The serialized message."""


Record: TypeAlias = bytes | bytearray | memoryview | SupportsSerializeToString | Mapping[str, Any]

_FEWEST_AT_ONCE = 16
_RECORDS_AT_ONCE = 4096
_BYTES_AT_ONCE = 1 << 20


def as_bytes(record: object) -> bytes | bytearray | memoryview:
    """The bytes of a record that is not plain `bytes`.

    Raises:
        TypeError: It has none.
        ValueError: It is a mapping with values that do not fit.
    """
    if type(record) is dict:
        return encode(record)
    if isinstance(record, memoryview) and not (record.itemsize == record.ndim == 1 and record.c_contiguous):
        raise TypeError("a record must be bytes; of a memoryview of something else, bytes(view) makes a copy")
    if isinstance(record, (bytes, bytearray, memoryview)):
        return record
    if isinstance(record, SupportsSerializeToString):
        return record.SerializeToString()
    if isinstance(record, Mapping):
        return encode(record)
    hint = ""
    if isinstance(record, str):
        hint = "; encode text first, as in text.encode()"
    elif hasattr(record, "__array__"):
        hint = '; an array needs a name, as in {"x": array}'
    raise TypeError(
        "a record must be bytes, a mapping of features or have SerializeToString(), "
        f"not {type(record).__name__}{hint}"
    )


def batches(records: Iterable[Record]) -> Iterator[tuple[range, list[Record]]]:
    """The records in lists, each with their numbers.

    Raises:
        TypeError: This is one record, not many.
    """
    if isinstance(records, Batch):
        raise TypeError("write_many takes an iterable of records; the rows of a Batch go to write_batch")
    if isinstance(records, (str, bytes, bytearray, memoryview, Mapping)):
        raise TypeError(
            f"write_many takes an iterable of records, not one {type(records).__name__}; use write"
        )
    if isinstance(records, list):
        yield range(len(records)), records
        return
    iterator = iter(records)
    first, size = 0, _FEWEST_AT_ONCE
    while True:
        batch: list[Record] = []
        failure = None
        try:
            batch.extend(islice(iterator, size))
        except BaseException as error:  # noqa: BLE001 - raised below, when those before it are written
            failure = error
        if batch:
            yield range(first, first + len(batch)), batch
        if failure is not None:
            raise failure
        if len(batch) < size:
            return
        first += len(batch)
        size = min(4 * size, _RECORDS_AT_ONCE, 1 + _BYTES_AT_ONCE // (1 + _bytes_of(batch[-1])))


def _bytes_of(record: object) -> int:
    """About the size of a record, or of a row."""
    if isinstance(record, Mapping):
        return sum(map(_bytes_of, record.values()))
    if isinstance(record, (list, tuple)):
        return len(record) * (_bytes_of(record[0]) if record else 0)
    if isinstance(record, (str, bytes, bytearray)):
        return len(record)
    if hasattr(record, "ByteSize"):  # as messages of protobuf call it
        return int(record.ByteSize())
    return int(getattr(record, "nbytes", 16))


def note_number(error: Exception, number: int) -> None:
    """Lets what is wrong with a record say which of many it is."""
    error.add_note(f"in record {number:,} of those given, counted from 0")
